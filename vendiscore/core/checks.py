"""Validation of a similarity matrix K and its diagonal, before any eigenvalue is computed.

The diagonal entry of a sample x is k(x, x), its similarity with itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..support.errors import SampleError
from ..support.namespace import Array, asarray_like, detach, is_numpy, row_blocks, to_float
from ..support.types import Rows

# Maximum deviation of a diagonal entry from 1 due to rounding in single precision.
DIAGONAL_TOLERANCE = 1e-5
# Maximum asymmetry of a matrix with unit diagonal due to rounding in single precision.
SYMMETRY_TOLERANCE = 1e-5
# Maximum rounding error of an entry of a matrix with unit diagonal in double precision.
ROUNDING = 64 * float(np.finfo(float).eps)
# Up to this size, comparing K with its transpose is faster than multiplying K by a vector.
MAX_ENTRYWISE_SIZE = 128


def check_square(K: Rows, name: str) -> None:
    """Raise a ValueError if K is not square; `name` is the argument in the message."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"`{name}` must be a square similarity matrix, got shape {tuple(K.shape)}; use "
            f"`score_X` for rows of features"
        )


def check_sample_values(
    values: Array, is_valid: Array, problem: str, indices: Sequence[int] | None = None
) -> None:
    """Raise a SampleError that lists all samples with an invalid value, such as a weight.

    `values` has one value for each of n samples, and the mask `is_valid` is False for invalid ones.
    `problem` is a format string that describes an invalid value. `indices` are the sample indices
    to report, by default 0, …, n − 1.
    """
    if bool(is_valid.all()):
        return
    problems = {}
    for i in np.flatnonzero(~np.asarray(is_valid.tolist(), dtype=bool)).tolist():
        sample_index = i if indices is None else indices[i]
        problems[sample_index] = problem.format(to_float(values[i]))
    SampleError.check(problems)


def check_positive_diagonal(
    diagonal: Array, prefix: str = "", indices: Sequence[int] | None = None
) -> None:
    """Raise a SampleError for samples x that cannot be normalized, as k(x, x) is not positive.

    `diagonal` contains the similarity with itself, k(x, x), of every sample. `prefix` precedes the
    problem in the message, for example "of `K` ". `indices` are the sample indices to report, by
    default 0, …, n − 1.
    """
    problem = (
        "cannot be normalized: its similarity with itself must be positive, got {:.3g}; remove "
        "this sample, which may be a zero vector"
    )
    is_valid = (diagonal > 0) & (diagonal < math.inf)
    check_sample_values(diagonal, is_valid, f"{prefix}{problem}", indices)


def check_unit_diagonal(
    diagonal: Array,
    precision: float = 0.0,
    *,
    has_features: bool = False,
    prefix: str = "",
    indices: Sequence[int] | None = None,
) -> None:
    """Raise a SampleError unless k(x, x) = 1, up to rounding, for every sample x.

    `diagonal` contains k(x, x) of every sample. `precision` is the machine epsilon of the input if
    it has lower precision than float64, otherwise 0. With `has_features`, similarities are dot
    products of features, so the message does not suggest that they may be distances. `prefix`
    precedes the problem in the message, for example "of `K` ". `indices` are the sample indices to
    report, by default 0, …, n − 1.
    """
    deviation = diagonal - 1
    if is_numpy(deviation) and np.vdot(deviation, deviation) <= DIAGONAL_TOLERANCE**2:
        return  # fast check of most inputs: the norm bounds the largest entry
    is_valid = abs(deviation) <= max(DIAGONAL_TOLERANCE, 2 * precision)  # False for NaN
    if bool(is_valid.all()):
        return
    hint = "pass normalize=True to divide k(x, y) by √(k(x, x) k(y, y))"
    if not has_features and bool((diagonal == 0).all()):
        hint = "if the values are distances D, pass np.exp(-D)"
    problem = f"must have similarity 1 with itself, got {{:.6g}}; {hint}"
    check_sample_values(diagonal, is_valid, f"{prefix}{problem}", indices)


def check_no_distances(K: Array, diagonal: Array, name: str) -> None:
    """Raise a ValueError if the diagonal of K is 0, so that K probably contains distances.

    Does nothing if all entries of K are close to 0. `name` is the argument in the message.
    """
    largest = float(abs(diagonal).max())
    # The second condition excludes matrices of which all entries are close to 0.
    if largest < DIAGONAL_TOLERANCE and largest < DIAGONAL_TOLERANCE * float(abs(K).max()):
        raise ValueError(
            f"`{name}` must be similarities with a diagonal of 1, got a diagonal of 0, so it "
            f"probably contains distances D; pass np.exp(-D), or 1 - D if no distance exceeds 1, "
            f"or use measures of distances such as 'MagArea' with metric='precomputed'"
        )


def compute_asymmetry(K: Array, scale: Array | None, tolerance: float, name: str) -> float:
    """Compute the asymmetry max |A_ij − A_ji| of A = diag(s) K diag(s), where s is `scale` (n,).

    If `scale` is None, A is K. Returns ROUNDING, the rounding error of entries in float64, if the
    asymmetry is smaller. Raises a ValueError if the asymmetry exceeds `tolerance`, or if the
    absolute value of an entry of A exceeds 1 by more than `tolerance`. `name` is the name of the
    matrix in the message.
    """
    n = K.shape[0]

    def is_in_range(entries: Array) -> bool:
        # Also False for NaN. Maximum and minimum need no copy, which |K| would.
        return float(entries.max()) <= 1 + tolerance and float(entries.min()) >= -1 - tolerance

    # A small valid matrix needs no blocks. An invalid one is checked again below, for the message.
    if n <= MAX_ENTRYWISE_SIZE and scale is None and is_numpy(K) and is_in_range(K):
        differences = K - K.T
        if np.vdot(differences, differences) <= ROUNDING**2:  # the norm bounds the largest entry
            return ROUNDING
        asymmetry = float(differences.max())
        if asymmetry <= tolerance:
            return max(asymmetry, ROUNDING)
    K, scale = detach(K), detach(scale)
    scale = None if scale is None or bool((scale == 1).all()) else scale

    def scaled_block(rows: slice, columns: slice) -> Array:
        entries = K[rows, columns]
        return entries if scale is None else entries * scale[rows, None] * scale[None, columns]

    # Check the range of the entries.
    for rows in row_blocks(n, 8 * n):
        entries = scaled_block(rows, slice(None))
        if not is_in_range(entries):
            a, b = divmod(int(abs(entries).argmax()), n)
            raise ValueError(
                f"{name} must have entries between -1 and 1, as its diagonal is 1, got "
                f"K[{rows.start + a}, {b}] = {float(entries[a, b]):.6g}; correct the similarities, "
                f"because no sample is more similar to another one than to itself"
            )
    # Check the symmetry. In float64, most matrices are symmetric up to rounding.
    if K.itemsize == 8:
        # If (K − Kᵀ) g = 0 up to rounding for an irregular vector g, K is symmetric. This takes the
        # time of two products with a vector. Drawing a random g would take as long as three.
        g = asarray_like(np.cos(np.arange(n) ** 2), K)
        g = g if scale is None else g * scale
        differences = K @ g - g @ K
        differences = differences if scale is None else differences * scale
        if float(abs(differences).max()) <= ROUNDING * math.sqrt(n):
            return ROUNDING
    # Otherwise compare each block of the upper triangle with its transpose.
    max_asymmetry = 0.0
    block_size = 512  # two blocks and their difference fit in a core's cache
    for i in range(0, n, block_size):
        for j in range(i, n, block_size):
            rows = slice(i, i + block_size)
            columns = slice(j, j + block_size)
            upper = scaled_block(rows, columns)
            lower = scaled_block(columns, rows).T
            differences = abs(upper - lower)
            max_asymmetry = max(max_asymmetry, float(differences.max()))
            if max_asymmetry > tolerance:
                a, b = divmod(int(differences.argmax()), differences.shape[1])
                raise ValueError(
                    f"{name} must be a symmetric matrix, got K[{i + a}, {j + b}] = "
                    f"{float(upper[a, b]):.6g} and K[{j + b}, {i + a}] = {float(lower[a, b]):.6g}; "
                    f"pass (K + K.T) / 2 to average both"
                )
    return max_asymmetry


def is_symmetric(
    K: Array, scale: Array | None = None, precision: float = 0.0, name: str = "`K`"
) -> bool:
    """Return whether A = diag(s) K diag(s), s = `scale` (n,), is symmetric in double precision.

    If `scale` is None, A is K. If the result is False, the caller replaces K by the mean of K and
    Kᵀ. Raises a ValueError if A_ij and A_ji differ, or |A_ij| exceeds 1, by more than rounding
    errors; `name` is the name of the matrix in the message. `precision` is the machine epsilon of
    the input if it has lower precision than float64, otherwise 0.
    """
    tolerance = max(SYMMETRY_TOLERANCE, 2 * precision)
    return compute_asymmetry(K, scale, tolerance, name) <= ROUNDING


def check_matrix(
    K: np.ndarray, normalize: bool = False, precision: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Validate similarities K (n, n) of n samples; return a symmetric matrix and its diagonal.

    The diagonal must be 1 up to rounding. With `normalize`, it need only be positive, and the
    caller divides the entries K_ij of the returned matrix by √(K_ii K_jj). `precision` is the
    machine epsilon of the input if it has lower precision than float64, otherwise 0.
    """
    check_square(K, "K")
    diagonal = K.diagonal()
    scale = None
    prefix = "of `K` "
    try:
        if normalize:
            check_positive_diagonal(diagonal, prefix)
            scale = 1 / np.sqrt(diagonal)
        else:
            check_unit_diagonal(diagonal, precision, prefix=prefix)
    except SampleError:
        check_no_distances(K, diagonal, "K")
        raise
    if not is_symmetric(K, scale, precision):
        K = K * 0.5 + K.T * 0.5
    return K, diagonal
