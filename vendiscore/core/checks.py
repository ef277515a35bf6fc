"""Checks of a similarity matrix, its diagonal, and weights, before any eigenvalue is found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..support.errors import SampleError
from ..support.namespace import Array, as_kind_of, detached, namespace, row_blocks, scalar
from ..support.types import Rows

# Largest distance from 1 of a diagonal, and of a sum of weights, by rounding in single precision.
DIAGONAL_TOLERANCE = WEIGHT_TOLERANCE = 1e-5
# Largest asymmetry of a matrix of unit diagonal by rounding in single precision.
SYMMETRY_TOLERANCE = 1e-5
# Largest number that counts as rounding, for a matrix of unit diagonal in double precision.
ROUNDING = 64 * float(np.finfo(float).eps)
# Up to here all entries and their mirrors are compared in less time than a vector is drawn.
SMALL = 128


def is_sound(K: object) -> bool:
    """Return whether a small matrix passes every check; what is not finite is in no range."""
    if type(K) is not np.ndarray or K.ndim != 2 or K.dtype != np.float64:
        return False
    if not 0 < len(K) == K.shape[1] <= SMALL:
        return False
    if not abs(K).max() <= 1 + SYMMETRY_TOLERANCE:
        return False
    # Norms bound the largest entry, and take a third of the time.
    off, gap = K.diagonal() - 1, K - K.T
    unit = off @ off <= DIAGONAL_TOLERANCE**2
    return bool(unit and np.vdot(gap, gap) <= ROUNDING**2 * len(K))


def check_square(K: Rows, name: str) -> None:
    """Raise a ValueError if a matrix is not square."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"`{name}` must be a square similarity matrix, got shape {tuple(K.shape)}; rows of "
            f"features go with `score_X`"
        )


def check_samples(
    diagonal: Array, good: Array, problem: str, places: Sequence[int] | None = None
) -> None:
    """Raise a SampleError for samples that are not `good`; {} in `problem` is k(x, x)."""
    if bool(good.all()):
        return
    bad = np.flatnonzero(~np.asarray(good.tolist(), dtype=bool)).tolist()
    SampleError.check(
        {i if places is None else places[i]: problem.format(scalar(diagonal[i])) for i in bad}
    )


def check_positive(diagonal: Array, of: str = "", places: Sequence[int] | None = None) -> None:
    """Raise a SampleError for samples that are not similar to themselves, by 0 or less."""
    problem = "cannot be normalized: its similarity with itself is {:.3g}, expected more than 0"
    good = (diagonal > 0) & (diagonal < math.inf)
    check_samples(diagonal, good, f"{of}{problem}; remove it (a zero vector?)", places)


def check_unit_diagonal(
    diagonal: Array,
    spacing: float = 0.0,
    *,
    rows: bool = False,
    of: str = "",
    places: Sequence[int] | None = None,
) -> None:
    """Raise a SampleError unless k(x, x) = 1 for every sample; `rows` cannot be distances."""
    good = abs(diagonal - 1) <= max(DIAGONAL_TOLERANCE, 2 * spacing)  # NaN is not
    if bool(good.all()):
        return
    remedy = "pass normalize=True to divide k(x, y) by √(k(x, x) k(y, y))"
    if not rows and bool((diagonal == 0).all()):
        remedy = "for a distance d pass exp(−d)"
    problem = f"must have similarity 1 with itself, got {{:.6g}}; {remedy}"
    check_samples(diagonal, good, f"{of}{problem}", places)


def check_no_distances(K: Array, diagonal: Array, name: str) -> None:
    """Raise a ValueError for a matrix that looks like distances: zeros on the diagonal."""
    largest = float(abs(diagonal).max())
    if largest < DIAGONAL_TOLERANCE and largest < DIAGONAL_TOLERANCE * float(abs(K).max()):
        raise ValueError(
            f"`{name}` must be similarities, 1 on the diagonal, but this looks like distances, 0 "
            f"there; pass 1 - D (of distances up to 1) or np.exp(-D), or measure them by magnitude "
            f"with metric='precomputed'"
        )


def asymmetry(K: Array, scale: Array | None, tolerance: float, what: str) -> float:
    """Return the largest |K_ij − K_ji| of diag(s) K diag(s), or ROUNDING if it is less.

    It raises a ValueError for a larger one than the tolerance, and for entries beyond 1.
    """
    K, scale = detached(K), detached(scale)
    n = K.shape[0]
    scale = None if scale is None or bool((scale == 1).all()) else scale

    def block(rows: slice, columns: slice) -> Array:
        part = K[rows, columns]
        return part if scale is None else part * scale[rows, None] * scale[None, columns]

    for rows in row_blocks(n, 8 * n):
        part = block(rows, slice(None))
        size = abs(part)
        if not float(size.max()) <= 1 + tolerance:
            a, b = divmod(int(size.argmax()), n)
            raise ValueError(
                f"{what} must have no entry that can exceed its diagonal of 1, but "
                f"K[{rows.start + a}, {b}] = {float(part[a, b]):.6g}; such a matrix is not "
                f"positive semidefinite"
            )
    if K.itemsize == 8:
        # (K − Kᵀ) g shows an entry of any row, but for rounding, in two products, where g has no
        # pattern; a random one takes as long as three of them.
        g = as_kind_of(np.cos(np.arange(n) ** 2), K)
        g = g if scale is None else g * scale
        gap = K @ g - g @ K
        gap = gap if scale is None else gap * scale
        if float(abs(gap).max()) <= ROUNDING * math.sqrt(n):
            return ROUNDING
    worst = 0.0
    size = 512  # two blocks and their difference fit in a core's cache
    for i in range(0, n, size):
        for j in range(i, n, size):
            rows = slice(i, i + size)
            columns = slice(j, j + size)
            one = block(rows, columns)
            other = block(columns, rows).T
            gap = abs(one - other)
            worst = max(worst, float(gap.max()))
            if worst > tolerance:
                a, b = divmod(int(gap.argmax()), gap.shape[1])
                raise ValueError(
                    f"{what} must be a symmetric matrix, got K[{i + a}, {j + b}] = "
                    f"{float(one[a, b]):.6g} and K[{j + b}, {i + a}] = {float(other[a, b]):.6g}; "
                    f"pass (K + K.T) / 2 if that is meant"
                )
    return worst


def checked_matrix(K: np.ndarray, normalize: bool, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return symmetric similarities and their diagonal, or raise for what is wrong with them."""
    check_square(K, "K")
    diagonal = K.diagonal().astype(float)
    scale = None
    of = "of `K` "
    try:
        if normalize:
            check_positive(diagonal, of)
            scale = 1 / np.sqrt(diagonal)
        else:
            check_unit_diagonal(diagonal, spacing, of=of)
    except SampleError:
        check_no_distances(K, diagonal, "K")
        raise
    if asymmetry(K, scale, max(SYMMETRY_TOLERANCE, 2 * spacing), "`K`") > ROUNDING:
        K = K * 0.5 + K.T * 0.5
    return K, diagonal


def unit_sum(weights: Array, spacing: float) -> Array:
    """Return weights over their sum, which must be 1; readers of weights call it, core does not."""
    xp = namespace(weights)
    with np.errstate(all="ignore"):  # weights that vanish in double precision, or overflow in a sum
        total = xp.sum(weights)
        if not abs(scalar(total) - 1) <= max(WEIGHT_TOLERANCE, 2 * spacing):
            raise ValueError(f"`p` must sum to 1, got {scalar(total):.6g}; pass p / p.sum()")
        return weights / total
