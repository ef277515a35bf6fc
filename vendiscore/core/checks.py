"""Checks of a similarity matrix and its diagonal, before any eigenvalue is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..support.errors import SampleError
from ..support.namespace import Array, asarray_like, detach, is_numpy, row_blocks, to_float
from ..support.types import Rows

# Largest distance of a diagonal from 1 by rounding in single precision.
DIAGONAL_TOLERANCE = 1e-5
# Largest asymmetry of a matrix of unit diagonal by rounding in single precision.
SYMMETRY_TOLERANCE = 1e-5
# Largest number that counts as rounding, for a matrix of unit diagonal in double precision.
ROUNDING = 64 * float(np.finfo(float).eps)
# Up to this size comparing all entries with their mirrors is faster than a product with a vector.
MAX_ENTRYWISE_SIZE = 128


def check_square(K: Rows, name: str) -> None:
    """Raise a ValueError if a matrix is not square."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"`{name}` must be a square similarity matrix, got shape {tuple(K.shape)}; rows of "
            f"features go with `score_X`"
        )


def check_samples(
    diagonal: Array, is_valid: Array, problem: str, indices: Sequence[int] | None = None
) -> None:
    """Raise a SampleError for samples that are not `is_valid`; {} in `problem` is k(x, x)."""
    if bool(is_valid.all()):
        return
    bad = np.flatnonzero(~np.asarray(is_valid.tolist(), dtype=bool)).tolist()
    SampleError.check(
        {i if indices is None else indices[i]: problem.format(to_float(diagonal[i])) for i in bad}
    )


def check_positive(diagonal: Array, prefix: str = "", indices: Sequence[int] | None = None) -> None:
    """Raise a SampleError for samples that are not similar to themselves, by 0 or less."""
    problem = "cannot be normalized: its similarity with itself is {:.3g}, expected more than 0"
    good = (diagonal > 0) & (diagonal < math.inf)
    check_samples(diagonal, good, f"{prefix}{problem}; remove it (a zero vector?)", indices)


def check_unit_diagonal(
    diagonal: Array,
    precision: float = 0.0,
    *,
    has_features: bool = False,
    prefix: str = "",
    indices: Sequence[int] | None = None,
) -> None:
    """Raise a SampleError unless k(x, x) = 1 for every sample; features cannot be distances."""
    distance = diagonal - 1
    if is_numpy(distance) and np.vdot(distance, distance) <= DIAGONAL_TOLERANCE**2:
        return  # the norm bounds the largest entry
    good = abs(distance) <= max(DIAGONAL_TOLERANCE, 2 * precision)  # NaN is not
    if bool(good.all()):
        return
    hint = "pass normalize=True to divide k(x, y) by √(k(x, x) k(y, y))"
    if not has_features and bool((diagonal == 0).all()):
        hint = "for a distance d pass exp(−d)"
    problem = f"must have similarity 1 with itself, got {{:.6g}}; {hint}"
    check_samples(diagonal, good, f"{prefix}{problem}", indices)


def check_no_distances(K: Array, diagonal: Array, name: str) -> None:
    """Raise a ValueError for a matrix that looks like distances: zeros on the diagonal."""
    largest = float(abs(diagonal).max())
    if largest < DIAGONAL_TOLERANCE and largest < DIAGONAL_TOLERANCE * float(abs(K).max()):
        raise ValueError(
            f"`{name}` must be similarities, 1 on the diagonal, but this looks like distances, 0 "
            f"there; pass 1 - D (of distances up to 1) or np.exp(-D), or measure them by magnitude "
            f"with metric='precomputed'"
        )


def compute_asymmetry(K: Array, scale: Array | None, tolerance: float, name: str) -> float:
    """Return the largest |K_ij − K_ji| of diag(s) K diag(s), or ROUNDING if it is less.

    It raises a ValueError for one that exceeds the tolerance, and for entries beyond 1.
    """
    n = K.shape[0]
    if n <= MAX_ENTRYWISE_SIZE and scale is None and is_numpy(K) and abs(K).max() <= 1 + tolerance:
        gap = K - K.T
        if np.vdot(gap, gap) <= ROUNDING**2:  # which bounds the largest entry
            return ROUNDING
        asymmetry = float(gap.max())
        if asymmetry <= tolerance:
            return max(asymmetry, ROUNDING)
    K, scale = detach(K), detach(scale)
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
                f"{name} must have no entry that can exceed its diagonal of 1, but "
                f"K[{rows.start + a}, {b}] = {float(part[a, b]):.6g}; such a matrix is not "
                f"positive semidefinite"
            )
    if K.itemsize == 8:
        # (K − Kᵀ) g shows an entry of any row, but for rounding, in two products, where g has no
        # pattern; a random one takes as long as three of them.
        g = asarray_like(np.cos(np.arange(n) ** 2), K)
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
                    f"{name} must be a symmetric matrix, got K[{i + a}, {j + b}] = "
                    f"{float(one[a, b]):.6g} and K[{j + b}, {i + a}] = {float(other[a, b]):.6g}; "
                    f"pass (K + K.T) / 2 if that is meant"
                )
    return worst


def is_symmetric(
    K: Array, scale: Array | None = None, precision: float = 0.0, name: str = "`K`"
) -> bool:
    """Return whether the matrix diag(s) K diag(s) is symmetric up to rounding in double precision.

    It raises a ValueError for an asymmetry, or an entry beyond 1, that no rounding of entries of
    this relative precision explains; a smaller asymmetry is to be averaged away.
    """
    tolerance = max(SYMMETRY_TOLERANCE, 2 * precision)
    return compute_asymmetry(K, scale, tolerance, name) <= ROUNDING


def check_matrix(
    K: np.ndarray, normalize: bool = False, precision: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return symmetric similarities and their diagonal, or raise for what is wrong with them.

    `precision` is the relative rounding error of the entries, if they came in less than float64.
    """
    check_square(K, "K")
    diagonal = K.diagonal()
    scale = None
    of = "of `K` "
    try:
        if normalize:
            check_positive(diagonal, of)
            scale = 1 / np.sqrt(diagonal)
        else:
            check_unit_diagonal(diagonal, precision, prefix=of)
    except SampleError:
        check_no_distances(K, diagonal, "K")
        raise
    if not is_symmetric(K, scale, precision):
        K = K * 0.5 + K.T * 0.5
    return K, diagonal
