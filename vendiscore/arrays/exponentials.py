"""exp(−‖x − y‖² / 2σ²) and exp(−Σ|x_j − y_j| / σ) of all pairs of rows, exact where it matters.

What decides about a similarity is a distance beside σ, not beside the spread of the samples: an
outlier, or clusters far from each other, must not cost the digits of the distances within a
cluster. Squared distances from one matrix product do (their error is ε times the squared norms),
so pairs that this could be seen in are computed from differences again. Coordinates are brought
near 1 by powers of two before anything is squared.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..arrays import memory
from .distances import median_distance
from .namespace import Array, is_numpy, is_torch, namespace, row_blocks, scalar
from .squares import DIRECT_COLUMNS, product_squares

# Coordinates between 2^±LEVEL are squared as they are.
LEVEL = 300
# exp(−x) above this x is 0, beside 1 in double precision.
FAR = 40.0
# The error of an exponent d²/2σ² that is let pass; in K it is no more.
ERROR = 1e-13
# ‖x‖² + ‖y‖² − 2 x·y is off by about this share of ‖x‖² + ‖y‖² (seen: half of it).
ROUNDING = 4 * float(np.finfo(float).eps)
# Squares of which the product leaves less than this many times their error are computed again
# before a median is taken.
DIGITS = 1e6


def gaussian(X: Array, sigma: float | None = None) -> tuple[Array, Array | float]:
    """exp(−‖x − y‖² / 2σ²) of all rows of X (n, d), and σ, the median distance unless given.

    Parameters
    ----------
    X : array (n, d), NumPy or torch
    sigma : float, optional

    Returns
    -------
    K : array (n, n)
        float64, with a diagonal of exactly 1.
    sigma : float, or 0-d tensor where it followed from a torch X
        Which K depends on: it can be differentiated.

    Raises
    ------
    ValueError
        If σ and the samples are further apart in scale than double precision reaches, or the
        median distance is 0.
    TooLargeError
        If K and one half of it do not fit in memory.

    Notes
    -----
    Time O(n² d), memory 8 n² bytes for K and half of that for the median.
    """
    _require(X, sigma)
    exponent = _exponent(X, sigma)
    rows, X = X, _times_power(X, -exponent)
    given = None if sigma is None else _shifted(sigma, -exponent)
    # A σ beyond all distances makes no demands on them, and its square is to be a number.
    D, width = _squares(X, None if given is None else min(given, 2.0**LEVEL), rows)
    width = _not_too_small(width) if given is None else given
    K = _exp_of_ratio(D, -2 * width, width)
    return K, _fitted(width, exponent) if sigma is None else sigma


def laplace(X: Array, sigma: float | None = None) -> tuple[Array, Array | float]:
    """exp(−Σ|x_j − y_j| / σ), as `gaussian` with the Manhattan distance."""
    _require(X, sigma)
    exponent = _exponent(X, sigma)
    rows, X = X, _times_power(X, -exponent)
    D = sys.modules["torch"].cdist(X, X, p=1.0) if is_torch(X) else cdist(X, X, "cityblock")
    if sigma is None:
        width = _not_too_small(median_distance(D, rows))
    else:
        width = _shifted(sigma, -exponent)
    K = _exp_of_ratio(D, -width, 1.0)
    return K, _fitted(width, exponent) if sigma is None else sigma


def _not_too_small(width: Array | float) -> Array | float:
    if scalar(width) < 2.0**-LEVEL:
        raise ValueError(
            f"the median distance between distinct samples is 2^-{LEVEL} times the largest entry, "
            f"or less, which is no bandwidth in double precision; pass `sigma`"
        )
    return width


def _fitted(width: Array | float, exponent: int) -> Array | float:
    width = _shifted(width, exponent)
    if not math.isfinite(scalar(width)):
        raise ValueError(
            "the median distance between distinct samples is beyond double precision; rescale them"
        )
    return width


def _require(X: Array, sigma: float | None) -> None:
    n, d = X.shape
    # K, its half for the median, and two copies of X.
    needed = 8 * n * n + (4 * n * n if sigma is None else 0) + 16 * n * d
    memory.require(needed, f"the similarity matrix of {n} samples", "compare fewer samples")


def _exponent(X: Array, sigma: float | None) -> int:
    """The power of two that X and σ are divided by: 0 for numbers of a usual size."""
    largest = scalar(abs(X).max())
    exponent = math.frexp(largest)[1] if largest else 0
    if sigma is not None and largest:
        apart = exponent - math.frexp(sigma)[1]
        if apart > 1000:
            raise ValueError(
                f"`sigma` is {sigma:.6g} and the largest entry of the samples {largest:.6g}: their "
                f"ratio is beyond double precision; rescale the samples or pass a larger `sigma`"
            )
        if apart > LEVEL:
            return math.frexp(sigma)[1]  # so that distances like σ can be squared
    return exponent if abs(exponent) > LEVEL else 0


def _times_power(X: Array, exponent: int) -> Array:
    """X · 2^exponent in float64, which is exact."""
    if is_numpy(X):
        X = X.astype(np.float64, copy=False)
        return X if exponent == 0 else np.ldexp(X, exponent)
    X = X.double()
    while exponent:  # 2^exponent itself may be beyond the range
        step = max(-1000, min(1000, exponent))
        X, exponent = X * 2.0**step, exponent - step
    return X


def _shifted(width: Array | float, exponent: int) -> Array | float:
    """σ · 2^exponent, infinite where that is beyond the range."""
    if is_torch(width):
        return _times_power(width, exponent)
    try:
        return math.ldexp(float(width), exponent)
    except OverflowError:
        return math.inf


def _exp_of_ratio(D: Array, a: Array | float, b: Array | float) -> Array:
    """exp(D / a / b), in place where that is allowed; what overflows is 0."""
    if not is_numpy(D):
        return (D / a / b).exp()
    with np.errstate(all="ignore"):
        product = a * b
        usual = 2.0**-LEVEL < abs(product) < 2.0**LEVEL
        for block in row_blocks(len(D), 8 * len(D)):
            rows = D[block]
            rows /= product if usual else a
            if not usual:
                rows /= b
            np.exp(rows, out=rows)
        return D


def _squares(X: Array, sigma: float | None, rows: Array) -> tuple[Array, Array | float]:
    """‖x − y‖² for all rows of a float64 X, in digits that are enough beside σ², and σ.

    `rows` are those of X as they came, which tell what is distinct: scaled ones may have vanished.
    """
    wide = scalar(abs(X).max()) > 2.0**LEVEL  # then σ is near 1, and what is far is infinite
    if wide or (is_numpy(X) and X.shape[1] <= DIRECT_COLUMNS):
        D = _from_differences(X)
        return D, median_distance(D, rows, power=2) if sigma is None else sigma
    centred = X - namespace(X).mean(X, axis=0)
    D, squares = product_squares(centred)
    width = _median_or_zero(D, rows) if sigma is None else sigma
    if 2 * ROUNDING * scalar(squares.max()) <= 2 * ERROR * scalar(width) ** 2:
        return D, width
    if sigma is None or _count_lost(D, squares, sigma) > len(X) ** 2 // 16:
        # The mean is where an outlier draws it; the median of each column is among most samples.
        del D
        centred = X - _column_medians(X)
        D, squares = product_squares(centred)
    if sigma is not None:
        return _recomputed(D, X, squares, sigma), sigma
    D = _recomputed(D, X, squares, None)
    D = _recomputed(D, X, squares, scalar(median_distance(D, rows, power=2)))
    return D, median_distance(D, rows, power=2)


def _from_differences(X: Array) -> Array:
    if is_numpy(X):
        return np.asarray(cdist(X, X, "sqeuclidean"))
    torch = sys.modules["torch"]
    blocks = row_blocks(len(X), 8 * X.numel(), least=1)
    return torch.cat([(X[block, None] - X[None]).square().sum(dim=2) for block in blocks])


def _median_or_zero(D: Array, rows: Array) -> Array | float:
    try:
        return median_distance(D, rows, power=2)
    except ValueError:
        return 0.0  # to be found from exact distances


def _column_medians(X: Array) -> Array:
    return np.median(X, axis=0) if is_numpy(X) else X.detach().median(dim=0).values


def _lost(D: Array, squares: Array, sigma: float | None) -> Iterator[tuple[slice, Any, Any]]:
    """Pairs whose exponent may be off by more than ERROR, by blocks of rows.

    Without σ those that have lost all but a few digits.
    """
    values = D if is_numpy(D) else D.detach()
    for block in row_blocks(len(squares), 8 * len(squares)):
        error = ROUNDING * (squares[block, None] + squares)
        if sigma is None:
            lost = values[block] < DIGITS * error
        else:
            lost = values[block] < 2 * FAR * sigma**2 + 2 * error
            lost &= error > 2 * ERROR * sigma**2
        yield block, *(np.nonzero(lost) if is_numpy(D) else lost.nonzero(as_tuple=True))


def _count_lost(D: Array, squares: Array, sigma: float) -> int:
    return sum(len(rows) for _, rows, _ in _lost(D, squares, sigma))


def _recomputed(D: Array, X: Array, squares: Array, sigma: float | None) -> Array:
    """D with the squared distances of `_lost` pairs from differences; in place for NumPy.

    Of X as it came: rows that are centred may have lost digits already.
    """
    found: list[tuple[Any, Any, Any]] = []
    for block, rows, columns in _lost(D, squares, sigma):
        for part in row_blocks(len(rows), 8 * X.shape[1]):
            a, b = rows[part] + block.start, columns[part]
            if is_numpy(D):
                gap = X[a] - X[b]
                D[a, b] = np.einsum("ij,ij->i", gap, gap)
            else:
                found.append((a, b, (X[a] - X[b]).square().sum(dim=1)))
    if not found:
        return D
    a, b, values = (namespace(D).concat(list(part)) for part in zip(*found, strict=True))
    return D.index_put((a, b), values)
