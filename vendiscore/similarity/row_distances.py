"""Compute distances between rows of NumPy arrays and torch tensors, in blocks."""

import copy
import math
import sys
from collections.abc import Callable, Iterator
from typing import Literal, Self

import numpy as np
import scipy

from ..support import memory
from ..support.namespace import Array, detach, is_numpy, namespace, row_blocks, to_float
from ..support.parallel import slices
from ..support.types import Rows
from .duplicate_rows import group_identical_rows

Index = slice | np.ndarray
ExponentialKernel = Literal["gaussian", "laplace"]
PairFormatter = Callable[[int, int], str]  # describes rows i and j in error messages

# Up to this number of columns, computing differences is as fast as a matrix product, and exact.
MAX_DIRECT_COLUMNS = 16
# Maximum rounding error of ‖x‖² + ‖y‖² − 2 x·y, relative to ‖x‖² + ‖y‖².
PRODUCT_ROUNDING = 4 * float(np.finfo(float).eps)
PRODUCT_ROUNDING_FLOAT32 = 3.3e-7
# Maximum accepted error of an exponent d²/2σ², and so of K.
MAX_EXPONENT_ERROR = 1e-13
MAX_EXPONENT_ERROR_FLOAT32 = 1e-5
# Squared distances below this fraction of ‖x‖² + ‖y‖² are recomputed from differences.
CLOSE_PAIR_RATIO = 1e-3
# Blocks with a larger fraction of such pairs are computed entirely from differences.
MAX_CLOSE_FRACTION = 1 / 8
# Number of rows whose median is subtracted before the matrix product.
CENTRE_ROWS = 64
# Rows per block: at most n/MIN_BLOCKS, because pairs within a block are computed twice, and at most
# BLOCK_BYTES of results; but at least MIN_BLOCK_ROWS, for fast products.
MIN_BLOCKS = 16
MIN_BLOCK_ROWS = 64
BLOCK_BYTES = 1 << 26
# Rows with entries up to this size need not be rescaled before squaring.
MAX_UNSCALED_ENTRY = 1e50
# Squares of distances below this fraction of the largest entry may lose digits or underflow.
UNDERFLOW_RATIO = 1e-140


class RowDistances:
    """Distances ‖x − y‖² ("gaussian") or Σ|x_j − y_j| ("laplace") between float64 rows of X."""

    @np.errstate(over="ignore")  # after an overflow, distances are computed from differences
    def __init__(self, X: Array, kernel: ExponentialKernel, sigma: float | None = None) -> None:
        self.X = X
        self.kernel = kernel
        few_columns = is_numpy(X) and X.shape[1] <= MAX_DIRECT_COLUMNS
        self.by_product: bool = kernel == "gaussian" and not few_columns
        self.can_use_float32: bool = False
        if not self.by_product:
            return
        xp = namespace(X)
        C = X - median_of_rows(X)
        squares = xp.linalg.vecdot(C, C)[:, None]
        ones = xp.ones_like(squares)
        # Two additional columns add ‖x‖² + ‖y‖² in the same product.
        left = [-2 * C, squares, ones]
        right = [C, ones, squares]
        self.left: Array = xp.concat(left, axis=1)
        self.right: Array = xp.concat(right, axis=1)
        self.squares: Array = detach(squares)[:, 0]
        largest = to_float(self.squares.max())
        width = sigma or 0.0
        self.is_lossy: bool = not PRODUCT_ROUNDING * largest <= MAX_EXPONENT_ERROR * width**2
        self.can_use_float32 = (
            PRODUCT_ROUNDING_FLOAT32 * largest <= MAX_EXPONENT_ERROR_FLOAT32 * width**2
        )

    def __call__(self, index: Index, columns: Index) -> Array:
        """Compute the distances between rows `index` and rows `columns`, as a new array."""
        X = self.X[index]
        Y = self.X[columns]
        if not self.by_product:
            return distances_by_differences(X, Y, self.kernel)
        D = self.left[index] @ self.right[columns].T
        if self.is_lossy and not self._recompute_close_pairs(D, X, Y, index, columns):
            return distances_by_differences(X, Y, self.kernel)
        if is_numpy(D):
            return np.maximum(D, 0.0, out=D)
        return sys.modules["torch"].clamp(D, min=0.0)

    def _recompute_close_pairs(
        self, D: Rows, X: Array, Y: Array, index: Index, columns: Index
    ) -> bool:
        """Recompute close pairs from differences, in place; return False if there are too many."""
        rows, width = D.shape
        thresholds = CLOSE_PAIR_RATIO * self.squares
        sums = thresholds[index][:, None] + thresholds[columns]
        is_close = ~(detach(D) >= sums)  # True for NaN
        indices = namespace(D).nonzero(is_close.reshape(-1))[0]
        if len(indices) > MAX_CLOSE_FRACTION * rows * width:
            return False
        close_rows = indices // width
        close_columns = indices % width
        for block in row_blocks(len(indices), 8 * X.shape[1]):
            i = close_rows[block]
            j = close_columns[block]
            gap = X[i] - Y[j]
            D[i, j] = (gap * gap).sum(-1)
        return True

    def take(self, index: np.ndarray) -> Self:
        """Return the RowDistances of the rows in `index`."""
        subset = copy.copy(self)
        subset.X = self.X[index]
        if self.by_product:
            subset.left = self.left[index]
            subset.right = self.right[index]
            subset.squares = self.squares[index]
        return subset


def distances_by_differences(X: Array, Y: Array, kernel: ExponentialKernel) -> Array:
    """Compute ‖x − y‖² or Σ|x_j − y_j| for all rows x and y from their differences."""
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
    """Compute the median of up to CENTRE_ROWS rows; unlike the mean, it is robust to outliers."""
    xp = namespace(X)
    step = -(-len(X) // CENTRE_ROWS)
    ordered = xp.sort(detach(X)[::step], axis=0)
    return xp.astype(ordered[len(ordered) // 2], xp.float64)


def split_into_pair_blocks(n: int) -> list[slice]:
    """Split n rows into blocks; each is compared with itself and all later blocks."""
    rows = -(-n // MIN_BLOCKS)
    max_rows = min(rows, BLOCK_BYTES // (8 * n))
    return slices(n, max(MIN_BLOCK_ROWS, max_rows))


def fill_symmetric(K: np.ndarray, blocks: Iterator[tuple[slice, np.ndarray]]) -> np.ndarray:
    """Fill a symmetric matrix K from blocks (rows, K[rows, rows.start:]), and return it."""
    for block, entries in blocks:
        size = len(entries)
        upper = K[block, block.start :]
        upper[:] = entries
        below = np.tril_indices(size, -1)
        upper[below] = upper[:, :size].T[below]
        K[block.stop :, block] = upper[:, size:].T
    return K


def find_asymmetry(D: np.ndarray, tolerance: float) -> tuple[int, int] | None:
    """Return an index (i, j) with |D_ij − D_ji| > tolerance · max(D_ij, D_ji), or None."""
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        columns = D[:, block].T
        larger = np.maximum(rows, columns)
        wrong = np.abs(rows - columns) > tolerance * larger
        if wrong.any():
            i, j = divmod(int(np.argmax(wrong)), len(D))
            return block.start + i, j
    return None


def symmetrize(A: Array, description: str) -> Array:
    """Compute (A + Aᵀ)/2 as a new array; `description` is used in an error about memory."""
    memory.require(8 * A.shape[0] ** 2, description, "pass (A + A.T) / 2 of it")
    if not is_numpy(A):
        return (A + A.T) / 2
    out = np.empty(A.shape, A.dtype)
    for rows in row_blocks(len(A), 8 * len(A)):
        columns = A[:, rows].T
        np.add(A[rows] * 0.5, columns * 0.5, out=out[rows])
    return out


def check_finite_distances(D: np.ndarray, metric: str, format_pair: PairFormatter) -> None:
    """Raise a ValueError if a distance is not finite."""
    for block in row_blocks(len(D), 8 * D.shape[1]):
        finite = np.isfinite(D[block])
        if not finite.all():
            i, j = divmod(int(np.argmin(finite)), D.shape[1])
            i += block.start
            raise ValueError(
                f"metric {metric!r} is undefined (got {D[i, j]}) for {format_pair(i, j)}; remove "
                f"such rows, or use another metric"
            )


def largest_entry(X: Array) -> float:
    """Return the maximum absolute value of an array."""
    X = detach(X)
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
    while exponent:  # 2^exponent may overflow
        step = max(-1000, min(1000, exponent))
        X = X * 2.0**step
        exponent -= step
    return X


def recompute_close_pairs(
    D: np.ndarray,
    threshold: float,
    compute_distances: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Replace distances below `threshold` by `compute_distances(i, j)`, in place."""
    for block in row_blocks(len(D), 8 * D.shape[1]):
        indices = np.flatnonzero(D[block] < threshold)
        near, other = np.divmod(indices, D.shape[1])
        near += block.start
        D[near, other] = compute_distances(near, other)


def minkowski_distances(
    X: np.ndarray, i: np.ndarray, j: np.ndarray, exponent: float = 2.0
) -> np.ndarray:
    """Compute (Σ |x − y|^p)^(1/p) for rows i and j of X.

    Each difference is first scaled by a power of two, to avoid overflow and underflow.
    """
    out = np.empty(len(i))
    for block in row_blocks(len(i), 8 * X.shape[1]):
        left = X[i[block]]
        right = X[j[block]]
        gap = np.subtract(left, right, dtype=np.float64)
        gap = np.abs(gap)
        _, binary_exponents = np.frexp(gap.max(axis=1))
        powers = np.ldexp(gap, -binary_exponents[:, None]) ** exponent
        root = powers.sum(axis=1) ** (1 / exponent)
        out[block] = np.ldexp(root, binary_exponents)
    return out


def check_distance_memory(X: np.ndarray) -> None:
    n, d = X.shape
    columns = n
    if d > MAX_DIRECT_COLUMNS:
        columns += d
    description = f"the distances of all pairs of {n} samples"
    memory.require(8 * n * columns, description, "compare fewer samples")


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Compute squared distances (n, n) between all rows, with small relative errors."""
    check_distance_memory(X)
    n = len(X)
    row_distances = RowDistances(X.astype(np.float64, copy=False), "gaussian")
    if not row_distances.by_product:
        everything = slice(0, n)
        return row_distances(everything, everything)
    blocks = split_into_pair_blocks(n)
    upper = ((block, row_distances(block, slice(block.start, n))) for block in blocks)
    D = fill_symmetric(np.empty((n, n)), upper)
    np.fill_diagonal(D, 0.0)
    return D


def distinct_row_indices(X: Array) -> Array:
    """Return the sorted indices of the first occurrences of distinct rows, on X's device."""
    if is_numpy(X):
        groups = np.asarray(group_identical_rows(X))
        return np.unique(groups, return_index=True)[1]
    torch = sys.modules["torch"]
    # + 0.0 turns −0.0 into 0.0
    rows, group = torch.unique(detach(X) + 0.0, dim=0, return_inverse=True)
    first = group.new_full((len(rows),), len(X))
    indices = torch.arange(len(X), device=group.device)
    first = first.scatter_reduce(0, group, indices, "amin")
    return first.sort().values
