"""Compute distances between rows of NumPy arrays and torch tensors, in blocks."""

import copy
import math
import sys
from collections.abc import Callable, Iterator
from typing import Literal, Self

import numpy as np
import scipy

from ..support import memory
from ..support.namespace import Array, detach, is_numpy, is_torch, namespace, row_blocks, to_float
from ..support.parallel import slices
from ..support.types import Rows
from .duplicate_rows import group_identical_rows

Index = slice | np.ndarray
# exp(−‖x − y‖² / 2σ²) or exp(−Σ|x_j − y_j| / σ); functions of distances use only the distance.
ExponentialKernel = Literal["gaussian", "laplace"]
PairFormatter = Callable[[int, int], str]  # describes rows i and j in error messages

# Up to this number of columns, computing distances from differences of rows is as fast as from a
# matrix product, and more accurate.
MAX_DIRECT_COLUMNS = 16
# Maximum rounding error of ‖x‖² + ‖y‖² − 2 x·y, relative to ‖x‖² + ‖y‖².
PRODUCT_ROUNDING = 4 * float(np.finfo(float).eps)
PRODUCT_ROUNDING_FLOAT32 = 3.3e-7
# Maximum accepted error of an exponent d²/2σ², and so of K.
MAX_EXPONENT_ERROR = 1e-13
MAX_EXPONENT_ERROR_FLOAT32 = 1e-5
# Pairs with a squared distance below this fraction of ‖x‖² + ‖y‖² are close: their distances are
# recomputed from the differences of their rows.
CLOSE_PAIR_RATIO = 1e-3
# Blocks with a larger fraction of close pairs are computed entirely from differences.
MAX_CLOSE_FRACTION = 1 / 8
# Number of rows whose median is subtracted before the matrix product, to reduce rounding errors.
CENTRE_ROWS = 64
# Rows per block: at most n/MIN_BLOCKS, because pairs within a block are computed twice, and at most
# BLOCK_BYTES of results; but at least MIN_BLOCK_ROWS, for fast products.
MIN_BLOCKS = 16
MIN_BLOCK_ROWS = 128
BLOCK_BYTES = 1 << 26
# Rows with entries up to this size need not be rescaled before squaring.
MAX_UNSCALED_ENTRY = 1e50
# Squares of distances below this fraction of the largest entry may lose digits or underflow.
UNDERFLOW_RATIO = 1e-140


class RowDistances:
    """Distances ‖x − y‖² ("gaussian") or Σ|x_j − y_j| ("laplace") between float64 rows of X.

    If the bandwidth `sigma` of the kernel is passed, errors of distances are accepted to save time,
    as long as they are so small compared with `sigma` that they hardly change the kernel.
    """

    @np.errstate(over="ignore")  # after an overflow, distances are computed from differences
    def __init__(self, X: Array, kernel: ExponentialKernel, sigma: float | None = None) -> None:
        self.X = X
        self.kernel = kernel
        has_few_columns = is_numpy(X) and X.shape[1] <= MAX_DIRECT_COLUMNS
        # Whether distances are computed as ‖x‖² + ‖y‖² − 2 x·y by a matrix product.
        self.uses_matrix_product: bool = kernel == "gaussian" and not has_few_columns
        self.can_use_float32: bool = False
        self.largest_squared_norm: float = math.inf  # unknown
        if not self.uses_matrix_product:
            return
        xp = namespace(X)
        # Subtracting a vector from all rows does not change distances. Shorter rows have smaller
        # rounding errors.
        self.centred: Array = X - median_of_rows(X)
        self.squared_norms: Array = xp.linalg.vecdot(self.centred, self.centred)
        self.largest_squared_norm = largest = to_float(detach(self.squared_norms).max())
        bandwidth = sigma or 0.0  # with 0, no error is accepted
        # Whether the rounding error of the product may be too large for close pairs.
        self.is_lossy: bool = not PRODUCT_ROUNDING * largest <= MAX_EXPONENT_ERROR * bandwidth**2
        self.can_use_float32 = (
            PRODUCT_ROUNDING_FLOAT32 * largest <= MAX_EXPONENT_ERROR_FLOAT32 * bandwidth**2
        )

    def __call__(self, index: Index, columns: Index) -> Array:
        """Compute the distances between the rows `index` and the rows `columns` of X.

        The result is a new array with one row per element of `index`. Distances of the kernel
        "gaussian" are squared.
        """
        X = self.X[index]
        Y = self.X[columns]
        if not self.uses_matrix_product:
            return distances_by_differences(X, Y, self.kernel)
        D = self._expand_squares(index, columns)
        # If rounding errors are too large, recompute the distances of close rows from differences,
        # or all distances if many rows are close.
        if self.is_lossy and not self._recompute_close_pairs(D, X, Y, index, columns):
            return distances_by_differences(X, Y, self.kernel)
        if is_numpy(D):  # rounding errors may be negative
            return np.maximum(D, 0.0, out=D)
        return sys.modules["torch"].clamp(D, min=0.0)

    def _expand_squares(self, index: Index, columns: Index) -> Array:
        """Compute ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y for the rows `index` and `columns` of X."""
        products = self.centred[index] @ self.centred[columns].T
        row_squares = self.squared_norms[index][:, None]
        column_squares = self.squared_norms[columns]
        if not is_numpy(products):
            return (row_squares + column_squares) - 2 * products
        for block in row_blocks(len(products), 8 * products.shape[1], min_rows=1):
            D = products[block]  # stays in the cache
            D *= -2
            D += row_squares[block]
            D += column_squares
        return products

    def _recompute_close_pairs(
        self, D: Rows, X: Array, Y: Array, index: Index, columns: Index
    ) -> bool:
        """Recompute the distances D of close rows of X and Y from their differences, in place.

        Returns True, or returns False without changing D if too many pairs are close. X and Y are
        the rows `index` and `columns` of `self.X`.
        """
        n_rows, n_columns = D.shape
        scaled_norms = CLOSE_PAIR_RATIO * detach(self.squared_norms)
        thresholds = scaled_norms[index][:, None] + scaled_norms[columns]
        is_close = ~(detach(D) >= thresholds)  # True for NaN
        close_pairs = namespace(D).nonzero(is_close.reshape(-1))[0]
        if len(close_pairs) > MAX_CLOSE_FRACTION * n_rows * n_columns:
            return False
        close_rows = close_pairs // n_columns
        close_columns = close_pairs % n_columns
        for block in row_blocks(len(close_pairs), 8 * X.shape[1]):
            i = close_rows[block]
            j = close_columns[block]
            differences = X[i] - Y[j]
            D[i, j] = (differences * differences).sum(-1)
        return True

    def take(self, index: np.ndarray) -> Self:
        """Return an object of this class for the rows X[index]."""
        subset = copy.copy(self)
        subset.X = self.X[index]
        if self.uses_matrix_product:
            subset.centred = self.centred[index]
            subset.squared_norms = self.squared_norms[index]
        return subset


def distances_by_differences(X: Array, Y: Array, kernel: ExponentialKernel) -> Array:
    """Compute ‖x − y‖² ("gaussian") or Σ|x_j − y_j| ("laplace") for all rows x of X and y of Y."""
    if is_numpy(X):
        metric = "cityblock"
        if kernel == "gaussian":
            metric = "sqeuclidean"
        return scipy.spatial.distance.cdist(X, Y, metric)
    torch = sys.modules["torch"]
    if kernel == "laplace":
        return torch.cdist(X, Y, p=1.0)
    return torch.cdist(X, Y, compute_mode="donot_use_mm_for_euclid_dist").square()


def median_of_rows(X: Array) -> Array:
    """Compute the median of each column of X, from up to CENTRE_ROWS evenly spaced rows.

    It is subtracted from rows to reduce rounding errors. Unlike the mean, it is robust to outliers.
    """
    xp = namespace(X)
    step = -(-len(X) // CENTRE_ROWS)  # rounded up
    sorted_columns = xp.sort(detach(X)[::step], axis=0)
    return xp.astype(sorted_columns[len(sorted_columns) // 2], xp.float64)


def split_into_pair_blocks(n: int) -> list[slice]:
    """Split n rows into blocks, from which the upper triangle of an n × n matrix is computed.

    For each block, the caller computes K[block, block.start:]: the entries for pairs of a row of
    the block with a row of the same or a later block.
    """
    rows = -(-n // MIN_BLOCKS)  # rounded up
    max_rows = min(rows, BLOCK_BYTES // (8 * n))
    return slices(n, max(MIN_BLOCK_ROWS, max_rows))


def fill_symmetric(K: np.ndarray, blocks: Iterator[tuple[slice, np.ndarray]]) -> np.ndarray:
    """Fill a symmetric matrix K from pairs (rows, K[rows, rows.start:]), and return K.

    `rows` is a slice. The first columns of each array form a square block on the diagonal of K, of
    which only the upper triangle is used.
    """
    for rows, entries in blocks:
        size = len(entries)
        block = K[rows, rows.start :]  # a view of K
        block[:] = entries
        below_diagonal = np.tril_indices(size, -1)
        block[below_diagonal] = block[:, :size].T[below_diagonal]
        K[rows.stop :, rows] = block[:, size:].T
    return K


def find_asymmetry(D: np.ndarray, tolerance: float) -> tuple[int, int] | None:
    """Return an index (i, j) with |D_ij − D_ji| > tolerance · max(D_ij, D_ji), or None.

    None means that the matrix D (n, n) is symmetric up to the relative tolerance.
    """
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        columns = D[:, block].T
        larger = np.maximum(rows, columns)
        is_asymmetric = np.abs(rows - columns) > tolerance * larger
        if is_asymmetric.any():
            i, j = divmod(int(np.argmax(is_asymmetric)), len(D))
            return block.start + i, j
    return None


def symmetrize(A: Array, description: str) -> Array:
    """Compute (A + Aᵀ)/2 of a square matrix A as a new array.

    Raises a TooLargeError that mentions `description` if the new array does not fit in memory.
    """
    memory.require(8 * A.shape[0] ** 2, description, "pass (A + A.T) / 2 of it")
    if not is_numpy(A):
        return (A + A.T) / 2
    out = np.empty(A.shape, A.dtype)
    for rows in row_blocks(len(A), 8 * len(A)):
        columns = A[:, rows].T
        np.add(A[rows] * 0.5, columns * 0.5, out=out[rows])
    return out


def check_finite_distances(D: np.ndarray, metric: str, format_pair: PairFormatter) -> None:
    """Raise a ValueError if a distance D_ij is not finite.

    The message mentions the metric and describes samples i and j by `format_pair(i, j)`.
    """
    for block in row_blocks(len(D), 8 * D.shape[1]):
        is_finite = np.isfinite(D[block])
        if not is_finite.all():
            i, j = divmod(int(np.argmin(is_finite)), D.shape[1])
            i += block.start
            raise ValueError(
                f"metric {metric!r} is undefined (got {D[i, j]}) for {format_pair(i, j)}; remove "
                f"such rows, or use another metric"
            )


def largest_entry(X: Array) -> float:
    """Return the maximum absolute value of the entries of X."""
    X = detach(X)
    if is_torch(X):
        return to_float(abs(X).max())  # a single read from the device
    return max(to_float(X.max()), -to_float(X.min()))


def scaling_exponent(X: np.ndarray) -> int:
    """Return an exponent e such that X / 2^e can be squared without overflow; 0 for most data."""
    largest = largest_entry(X)
    if not largest or 1 / MAX_UNSCALED_ENTRY < largest < MAX_UNSCALED_ENTRY:
        return 0
    return math.frexp(largest)[1]


def scale_by_power_of_two(X: Rows, exponent: int) -> Array:
    """Compute X · 2^exponent in float64, which is exact except for underflow."""
    if hasattr(X, "dtype"):
        xp = namespace(X)
        X = xp.astype(X, xp.float64, copy=False)
    while exponent:  # in steps, because 2^exponent may overflow although the result does not
        step = max(-1000, min(1000, exponent))
        X = X * 2.0**step
        exponent -= step
    return X


def recompute_close_pairs(
    D: np.ndarray,
    threshold: float,
    compute_distances: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Replace distances D_ij below `threshold` by more accurate ones, in place.

    `compute_distances(i, j)` takes two arrays of m row and m column indices, and returns the new
    distances of these m pairs.
    """
    for block in row_blocks(len(D), 8 * D.shape[1]):
        close_pairs = np.flatnonzero(D[block] < threshold)
        i, j = np.divmod(close_pairs, D.shape[1])
        i += block.start
        D[i, j] = compute_distances(i, j)


def minkowski_distances(
    X: np.ndarray, i: np.ndarray, j: np.ndarray, exponent: float = 2.0
) -> np.ndarray:
    """Compute the distance (Σ_l |x_l − y_l|^p)^(1/p), p = `exponent`, for m pairs of rows of X.

    x = X[i[0]] and y = X[j[0]] are the first pair, and so on; the result has shape (m,). The
    differences of a pair are first scaled by a power of two, to avoid overflow and underflow.
    """
    distances = np.empty(len(i))
    for block in row_blocks(len(i), 8 * X.shape[1]):
        differences = np.subtract(X[i[block]], X[j[block]], dtype=np.float64)
        differences = np.abs(differences)
        _, binary_exponents = np.frexp(differences.max(axis=1))
        powers = np.ldexp(differences, -binary_exponents[:, None]) ** exponent
        root = powers.sum(axis=1) ** (1 / exponent)
        distances[block] = np.ldexp(root, binary_exponents)
    return distances


def check_distance_memory(X: np.ndarray) -> None:
    """Raise a TooLargeError if the distances of all pairs of rows of X do not fit in memory."""
    n, d = X.shape
    columns = n
    if d > MAX_DIRECT_COLUMNS:  # a matrix product uses a copy of X
        columns += d
    description = f"the distances of all pairs of {n} samples"
    memory.require(8 * n * columns, description, "compare fewer samples")


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Compute squared Euclidean distances (n, n) between the n rows of X.

    The relative error of small distances is small as well.
    """
    check_distance_memory(X)
    n = len(X)
    # The distances of the Gaussian kernel are squared Euclidean distances.
    row_distances = RowDistances(X.astype(np.float64, copy=False), "gaussian")
    if not row_distances.uses_matrix_product:
        all_rows = slice(0, n)
        return row_distances(all_rows, all_rows)
    blocks = split_into_pair_blocks(n)
    upper = ((block, row_distances(block, slice(block.start, n))) for block in blocks)
    D = fill_symmetric(np.empty((n, n)), upper)
    np.fill_diagonal(D, 0.0)
    return D


def distinct_row_indices(X: Array) -> Array:
    """Return the sorted index of the first occurrence of each distinct row of X, on X's device."""
    if is_numpy(X):
        groups = np.asarray(group_identical_rows(X))
        return np.unique(groups, return_index=True)[1]
    torch = sys.modules["torch"]
    # + 0.0 turns −0.0 into 0.0
    distinct_rows, groups = torch.unique(detach(X) + 0.0, dim=0, return_inverse=True)
    # torch.unique does not return first occurrences: compute the smallest index of each group.
    indices = torch.arange(len(X), device=groups.device)
    first = groups.new_full((len(distinct_rows),), len(X))
    first = first.scatter_reduce(0, groups, indices, "amin")
    return first.sort().values
