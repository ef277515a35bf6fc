"""exp(−‖x − y‖² / 2σ²) and exp(−Σ|x_j − y_j| / σ) of pairs of rows, exact where it matters.

What decides about a similarity is a distance beside σ, not beside the spread of the samples: an
outlier, or clusters far from each other, must not cost the digits of the distances within a
cluster. Squared distances from one matrix product do (their error is ε times the squared norms),
so pairs that this could be seen in are computed from differences again. Coordinates are brought
near 1 by powers of two before anything is squared.

Of NumPy rows similarities are computed when asked, some rows at a time; `tensors` has all of them
for torch.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..arrays.identical import identical_rows
from ..arrays.namespace import Array, is_numpy, is_torch, row_blocks, scalar
from .float32 import Band, NarrowRows
from .pairs import distinct_places, draw_pairs, middle_pair
from .squares import DIRECT_COLUMNS

Index = slice | np.ndarray

# Coordinates between 2^±LEVEL are squared as they are.
LEVEL = 300
# exp(−x) above this x is 0, beside 1 in double precision.
FAR = 40.0
# The error of an exponent d²/2σ² that is let pass; in K it is no more.
ERROR = 1e-13
# ‖x‖² + ‖y‖² − 2 x·y is off by about this share of ‖x‖² + ‖y‖² (seen: half of it).
ROUNDING = 4 * float(np.finfo(float).eps)
# Where more than this share of the pairs have lost digits, another centre is tried; of a few rows,
# since they say enough.
LOST_SHARE, TRIED_ROWS = 1 / 16, 64
# Of rows that have lost digits in more than this share of pairs, all are computed from differences.
DIFFERENCES_SHARE = 1 / 8
# How often a median may send back to distances that are exact for another one.
ROUNDS = 4


class Exponentials:
    """exp(D / a / b) of pairs of rows of X, for some distance or its square D.

    What `similarity.rows.RowsSimilarity` is made from.
    """

    def __init__(self, X: np.ndarray, distances: Squares | Sums, a: float, b: float) -> None:
        self.n, self.X, self.distances, self.a, self.b = len(X), X, distances, a, b

    def __call__(self, index: Index, columns: slice) -> np.ndarray:
        return _exp_of_ratio(self.distances(index, columns), self.a, self.b)

    def single(self, rows: slice) -> Band:
        """As of `similarity.rows.Entries`."""

        def exact(columns: slice) -> np.ndarray:
            return self(rows, columns).astype(np.float32)

        return exact if self._narrow is None else self._narrow.similarities(rows, exact)

    @cached_property
    def _narrow(self) -> NarrowRows | None:
        if isinstance(self.distances, Sums) or self.distances.huge:
            return None
        with np.errstate(all="ignore"):
            return NarrowRows(self.distances.X, math.sqrt(self.a / -2 * self.b))

    def take(self, index: np.ndarray) -> Exponentials:
        return Exponentials(self.X[index], self.distances.take(index), self.a, self.b)

    def groups(self) -> np.ndarray | None:
        return identical_rows(self.X)


def gaussian(X: np.ndarray, sigma: float) -> Exponentials:
    """exp(−‖x − y‖² / 2σ²) of the rows of X (n, d).

    Notes
    -----
    Memory O(n d) and time for all pairs O(n² d). The diagonal is 1 up to rounding.
    """
    exponent = common_exponent(X, sigma)
    width = shifted(sigma, -exponent)
    # A σ beyond all distances makes no demands on them, and its square is to be a number.
    squares = Squares(times_power(X, -exponent), min(width, 2.0**LEVEL))
    return Exponentials(X, squares, -2 * width, width)


def laplace(X: np.ndarray, sigma: float) -> Exponentials:
    """exp(−Σ|x_j − y_j| / σ), as `gaussian` with the Manhattan distance."""
    exponent = common_exponent(X, sigma)
    return Exponentials(X, Sums(times_power(X, -exponent)), -shifted(sigma, -exponent), 1.0)


def gaussian_width(X: np.ndarray) -> float:
    """The median distance of distinct rows of X (n, d), 1 if there is one only.

    Repeating a sample does not change it, so that duplicates and weights agree.

    Notes
    -----
    Exact. Time O(n² d), memory O(n d) and some percent of n².
    """
    return _width(X, _median_of_squares)


def laplace_width(X: np.ndarray) -> float:
    """As `gaussian_width`, of Manhattan distances."""
    return _width(X, _median_of_sums)


def _width(X: np.ndarray, median: Callable[[np.ndarray], float]) -> float:
    exponent = common_exponent(X)
    first = distinct_places(X)
    distinct = X if len(first) == len(X) else X[first]
    width = median(times_power(distinct, -exponent)) if len(first) > 1 else 1.0
    return float(usable_width(width, exponent))


def _median_of_squares(X: np.ndarray) -> float:
    drawn = drawn_distances(X, "sqeuclidean")
    width = math.sqrt(float(np.median(drawn)))
    found = width
    for _ in range(ROUNDS):
        low, high = middle_pair(len(X), Squares(X, width), drawn)
        found = (math.sqrt(check_positive(low)) + math.sqrt(high)) / 2
        if width / 2 <= found <= 2 * width:
            break
        width = found
    return found


def _median_of_sums(X: np.ndarray) -> float:
    low, high = middle_pair(len(X), Sums(X), drawn_distances(X, "cityblock"))
    return (check_positive(low) + high) / 2


def drawn_distances(X: np.ndarray, metric: str) -> np.ndarray:
    """Distances of some pairs of rows, from differences: of all if they are few."""
    i, j = draw_pairs(len(X))
    found = np.empty(len(i))
    for part in row_blocks(len(i), 8 * X.shape[1]):
        gap = X[i[part]] - X[j[part]]
        found[part] = np.vecdot(gap, gap) if metric == "sqeuclidean" else np.abs(gap).sum(axis=1)
    return found


def check_positive(median: float) -> float:
    """The median, if it is not 0."""
    if not median > 0:
        raise ValueError(
            "the median distance between distinct samples is 0 in double precision, which is no "
            "bandwidth; pass `sigma`"
        )
    return median


def usable_width(width: Array | float, exponent: int) -> Array | float:
    """A median of rows that were divided by 2^exponent as a bandwidth of those that came."""
    if scalar(width) < 2.0**-LEVEL:
        raise ValueError(
            f"the median distance between distinct samples is 2^-{LEVEL} times the largest entry, "
            f"or less, which is no bandwidth in double precision; pass `sigma`"
        )
    width = shifted(width, exponent)
    if not math.isfinite(scalar(width)):
        raise ValueError(
            "the median distance between distinct samples is beyond double precision; rescale them"
        )
    return width


def common_exponent(X: Array, sigma: float | None = None) -> int:
    """The power of two that X and σ are divided by: 0 for numbers of a usual size."""
    largest = max(scalar(X.max()), -scalar(X.min()))
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


def times_power(X: Any, exponent: int) -> Any:
    """X · 2^exponent in float64, which is exact."""
    if is_numpy(X):
        X = X.astype(np.float64, copy=False)
        return X if exponent == 0 else np.ldexp(X, exponent)
    X = X.double()
    while exponent:  # 2^exponent itself may be beyond the range
        step = max(-1000, min(1000, exponent))
        X, exponent = X * 2.0**step, exponent - step
    return X


def shifted(width: Any, exponent: int) -> Any:
    """σ · 2^exponent, infinite where that is beyond the range."""
    if is_torch(width):
        return times_power(width, exponent)
    try:
        return math.ldexp(float(width), exponent)
    except OverflowError:
        return math.inf


def _exp_of_ratio(D: np.ndarray, a: float, b: float) -> np.ndarray:
    """exp(D / a / b), in place; what overflows is 0."""
    with np.errstate(all="ignore"):
        product = a * b
        usual = 2.0**-LEVEL < abs(product) < 2.0**LEVEL
        for block in row_blocks(len(D), 8 * D.shape[1], least=1):
            rows = D[block]
            rows /= product if usual else a
            if not usual:
                rows /= b
            np.exp(rows, out=rows)
        return D


class Sums:
    """Σ|x_j − y_j| of pairs of rows of a float64 X."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __call__(self, index: Index, columns: slice) -> np.ndarray:
        return np.asarray(scipy.spatial.distance.cdist(self.X[index], self.X[columns], "cityblock"))

    def take(self, index: np.ndarray) -> Sums:
        return Sums(self.X[index])


class Squares:
    """‖x − y‖² of pairs of rows of a float64 X, in digits that are enough beside σ²."""

    def __init__(self, X: np.ndarray, sigma: float) -> None:
        self.X, self.sigma = X, sigma
        # Where entries are that large, σ is near 1, and what is far is infinite.
        self.huge = max(X.max(), -X.min()) > 2.0**LEVEL
        self.direct = X.shape[1] <= DIRECT_COLUMNS or self.huge
        self.lossy = False
        if not self.direct:
            self._centre(X.mean(axis=0))
            if self.lossy and self._lost_share() > LOST_SHARE:
                # The mean is where an outlier draws it; the median is among most samples.
                self._centre(np.median(X, axis=0))

    centred: np.ndarray
    norms: np.ndarray

    def _centre(self, centre: np.ndarray) -> None:
        self.centred = self.X - centre
        self.norms = np.vecdot(self.centred, self.centred)
        self.lossy = not 2 * ROUNDING * self.norms.max() <= 2 * ERROR * self.sigma**2

    def _lost_share(self) -> float:
        some = np.arange(0, len(self.X), -(-len(self.X) // TRIED_ROWS))
        return float(self._lost(self._product(some, slice(None)), some, slice(None)).mean())

    def __call__(self, index: Index, columns: slice) -> np.ndarray:
        if self.direct:
            return np.asarray(
                scipy.spatial.distance.cdist(self.X[index], self.X[columns], "sqeuclidean")
            )
        D = self._product(index, columns)
        return self._mended(D, index, columns) if self.lossy else D

    def take(self, index: np.ndarray) -> Squares:
        part = copy.copy(self)
        part.X = self.X[index]
        if not self.direct:
            part.centred, part.norms = self.centred[index], self.norms[index]
        return part

    def _product(self, index: Index, columns: slice) -> np.ndarray:
        D: np.ndarray = (-2 * self.centred[index]) @ self.centred[columns].T
        norms, others = self.norms[index], self.norms[columns]
        for block in row_blocks(len(D), 8 * D.shape[1], least=1):
            rows = D[block]
            rows += norms[block, None]
            rows += others
            np.maximum(rows, 0.0, out=rows)
        return D

    def _lost(self, D: np.ndarray, index: Index, columns: slice) -> np.ndarray:
        """Pairs whose exponent may be off by more than ERROR."""
        error = ROUNDING * (self.norms[index][:, None] + self.norms[columns])
        lost: np.ndarray = np.less(D, 2 * FAR * self.sigma**2 + 2 * error)
        lost &= error > 2 * ERROR * self.sigma**2
        return lost

    def _mended(self, D: np.ndarray, index: Index, columns: slice) -> np.ndarray:
        """D with the lost pairs from differences, in place.

        Of X as it came: rows that are centred may have lost digits already.
        """
        lost = self._lost(D, index, columns)
        rows, others = self.X[index], self.X[columns]
        many = np.flatnonzero(lost.mean(axis=1) > DIFFERENCES_SHARE)
        if len(many):
            D[many] = scipy.spatial.distance.cdist(rows[many], others, "sqeuclidean")
            lost[many] = False
        near, far = np.nonzero(lost)
        for part in row_blocks(len(near), 8 * self.X.shape[1]):
            gap = rows[near[part]] - others[far[part]]
            D[near[part], far[part]] = np.vecdot(gap, gap)
        return D
