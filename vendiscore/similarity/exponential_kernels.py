"""The kernels exp(−‖x − y‖² / 2σ²) and exp(−Σ|x_j − y_j| / σ) of two vectors x and y.

By default, the bandwidth σ is the median distance between distinct samples.
"""

import copy
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import numpy as np

from ..support import memory
from ..support.namespace import Array, is_numpy, is_torch, row_blocks, to_float
from ..support.types import DType, Number, Tensor
from .duplicate_rows import group_identical_rows
from .matrix import MatrixSimilarity
from .row_distances import (
    ExponentialKernel,
    Index,
    RowDistances,
    distinct_row_indices,
    largest_entry,
    scale_by_power_of_two,
    split_into_pair_blocks,
)

# Minimum bandwidth, relative to the largest entry.
MIN_RELATIVE_BANDWIDTH = 2.0**-300
# Maximum of log2(largest entry / σ): rows divided by σ must not overflow.
MAX_RATIO_EXPONENT = 1000
# Maximum of |log2 σ| for rows that need no scaling.
MAX_UNSCALED_EXPONENT = 16
# Number of pairs sampled to bracket the median: one in SAMPLED_PAIR_INTERVAL, at least
# MIN_SAMPLED_PAIRS and at most MAX_SAMPLED_PAIRS.
SAMPLED_PAIR_INTERVAL = 1 << 9
MIN_SAMPLED_PAIRS = 1 << 12
MAX_SAMPLED_PAIRS = 1 << 20
# The rank of the median of all pairs among m sampled distances is m/2, with a standard error of
# √m/2. The median is searched within these numbers of standard errors, in turn.
RANK_DEVIATIONS = (4.0, 40.0, math.inf)
# Maximum relative difference of a distance computed in two ways.
DISTANCE_TOLERANCE = 1e-6

DistanceBlocks = Callable[[slice, slice], np.ndarray]  # (rows, columns) -> new array of distances


def compute_tensor_similarities(X: Tensor, sigma: Number, kernel: ExponentialKernel) -> Tensor:
    """Compute the similarities (n, n) of the n rows of X under an exponential kernel.

    The kernel is exp(−‖x − y‖² / 2σ²) for "gaussian" and exp(−Σ|x_j − y_j| / σ) for "laplace". The
    result is differentiable in X and in the bandwidth σ = `sigma`.
    """
    entries = ExponentialEntries(X, sigma, kernel)
    all_rows = slice(0, entries.n)
    D: Tensor = entries.distances(all_rows, all_rows)
    if entries.distances.uses_matrix_product:
        D.fill_diagonal_(0.0)  # rounding errors of the product make it nonzero
    return (D * entries.factor).exp()


class ExponentialMatrix(MatrixSimilarity):
    """The matrix of `compute_tensor_similarities`, whose symmetry and diagonal need no check."""

    is_symmetric = True  # by construction, like the diagonal
    has_unit_diagonal = True


def _check_ratio(X: Array, sigma: float, exponent: int) -> None:
    """Raise a ValueError if rows X divided by the bandwidth, `sigma` or 2^`exponent`, overflow."""
    largest = largest_entry(X)
    if largest and math.frexp(largest)[1] - exponent > MAX_RATIO_EXPONENT:
        raise ValueError(
            f"`sigma` is {sigma:.6g} and the largest entry of the samples {largest:.6g}: their "
            "ratio exceeds the range of double precision; rescale the samples or pass a larger "
            "`sigma`"
        )


class ExponentialEntries:
    """Entries of an exponential kernel between rows of X, computed on demand.

    The kernel is exp(−‖x − y‖² / 2σ²) for "gaussian" and exp(−Σ|x_j − y_j| / σ) for "laplace". Rows
    and the bandwidth σ = `sigma` are divided by a power of two near σ, so that squares do not
    overflow. `sigma` may be a tensor that requires a gradient.
    """

    in_threads = True

    def __init__(self, X: Array, sigma: object, kernel: ExponentialKernel) -> None:
        exponent = math.frexp(to_float(sigma))[1]
        if abs(exponent) <= MAX_UNSCALED_EXPONENT:
            exponent = 0  # saves a copy of the rows; results are the same
        if not is_torch(X):
            _check_ratio(X, to_float(sigma), exponent)
        bandwidth = scale_by_power_of_two(sigma, -exponent)
        rows = scale_by_power_of_two(X, -exponent)
        self.distances: RowDistances = RowDistances(rows, kernel, to_float(bandwidth))
        # Reading a tensor waits for its device. If the squared norms, which have been read, are
        # finite, its entries are in the range.
        if is_torch(X) and not math.isfinite(self.distances.largest_squared_norm):
            _check_ratio(X, to_float(sigma), exponent)
        self.n: int = len(X)
        self.width: int = X.shape[1]
        self._float32_factors: tuple[np.ndarray, np.ndarray] | None = None
        # K = exp(factor · distance), where distances of the Gaussian kernel are squared.
        self.factor = -0.5 / bandwidth**2
        if kernel == "laplace":
            self.factor = -1 / bandwidth

    def __call__(self, index: Index, columns: Index, dtype: DType = np.float64) -> Array:
        """Compute the kernel values of the rows `index` with the rows `columns` of X.

        The result is a new array of type `dtype`.
        """
        with np.errstate(all="ignore"):
            if dtype == np.float32 and self.distances.can_use_float32:
                left, right = self._factors_of_exponents()
                exponents = left[index] @ right[columns].T
                return np.exp(exponents, out=exponents)
            K = np.asarray(self.distances(index, columns))
            for block in row_blocks(len(K), 8 * K.shape[1], min_rows=1):  # in the cache, in place
                rows = K[block]
                rows *= self.factor
                np.exp(rows, out=rows)
            return K.astype(dtype, copy=False)

    def _factors_of_exponents(self) -> tuple[np.ndarray, np.ndarray]:
        """Return float32 matrices L and R for which the kernel matrix is exp(L Rᵀ), and cache them.

        Used only if distances are computed by a matrix product and float32 is accurate enough.
        """
        if self._float32_factors is None:
            centred = self.distances.centred
            squares = self.distances.squared_norms
            left, right = (np.empty((self.n, self.width + 2), np.float32) for _ in range(2))
            # Two additional columns add the squared norms ‖x‖² + ‖y‖² to −2 x·y.
            np.multiply(centred, -2 * self.factor, out=left[:, :-2], casting="same_kind")
            left[:, -2], left[:, -1] = squares * self.factor, self.factor
            right[:, :-2] = centred
            right[:, -2], right[:, -1] = 1.0, squares
            self._float32_factors = left, right
        return self._float32_factors

    def take(self, index: np.ndarray) -> Self:
        """Return an object of this class for the rows X[index]."""
        subset = copy.copy(self)
        subset._float32_factors = None
        subset.n = len(index)
        subset.distances = self.distances.take(index)
        return subset

    def groups(self) -> np.ndarray | None:
        return group_identical_rows(self.distances.X)


def median_distance(X: Array, kernel: ExponentialKernel) -> Array:
    """Compute the median distance between distinct rows of X; 1 if all rows are identical.

    It is the default bandwidth of the kernels. Distances of rows x and y are ‖x − y‖ for the kernel
    "gaussian", and Σ|x_j − y_j| for "laplace".
    """
    rows = X[distinct_row_indices(X)]
    if len(rows) < 2:
        return 1.0
    # Scale the rows to avoid overflow and underflow of squares.
    exponent = math.frexp(largest_entry(X))[1]
    rows = scale_by_power_of_two(rows, -exponent)
    compute_median = _median_distance_numpy if is_numpy(rows) else _median_distance_torch
    median = compute_median(rows, kernel)
    if not to_float(median) >= MIN_RELATIVE_BANDWIDTH:
        raise ValueError(
            "the median distance between distinct samples is at most 2^-300 times the largest "
            "entry, which is too small for a bandwidth in double precision; pass `sigma`"
        )
    with np.errstate(over="ignore"):
        median = scale_by_power_of_two(median, exponent)
    if not math.isfinite(to_float(median)):
        raise ValueError(
            "the median distance between distinct samples exceeds the range of double precision; "
            "divide the samples by a large number"
        )
    return median


def _median_distance_numpy(X: np.ndarray, kernel: ExponentialKernel) -> float:
    """Compute the median distance between the rows of X, without storing all distances.

    Distances of rows x and y are ‖x − y‖ for "gaussian", and Σ|x_j − y_j| for "laplace".
    """
    i, j = sample_pairs(len(X))
    sampled_distances = np.empty(len(i))
    for block in row_blocks(len(i), X[0].nbytes):
        differences = X[i[block]] - X[j[block]]
        sampled_distances[block] = _reduce_differences(differences, kernel)
    lower, upper = find_middle_distances(len(X), RowDistances(X, kernel), sampled_distances)
    if kernel == "laplace":
        return (lower + upper) / 2
    return (math.sqrt(lower) + math.sqrt(upper)) / 2  # distances of "gaussian" are squared


def sample_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return index arrays i and j of all pairs i ≠ j of n rows, or of random pairs if n is large.

    Used to bracket the median distance.
    """
    n_pairs = n * (n - 1) // 2
    max_pairs = min(max(n_pairs // SAMPLED_PAIR_INTERVAL, MIN_SAMPLED_PAIRS), MAX_SAMPLED_PAIRS)
    if n_pairs <= max_pairs:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, max_pairs)
    return i, (i + rng.integers(1, n, max_pairs)) % n  # an offset below n, so i ≠ j


def find_middle_distances(
    n: int, distances: DistanceBlocks, sampled_distances: np.ndarray
) -> tuple[float, float]:
    """Return the two middle values of the distances of all pairs i < j of n samples.

    The mean of these two values is the median; they are equal if the number of pairs is odd.
    `distances(rows, columns)` computes the distances for two slices of samples.
    `sampled_distances`, the distances of random pairs, bracket the median, so that only distances
    near it are sorted.
    """
    n_pairs = n * (n - 1) // 2
    middle_ranks = (n_pairs - 1) // 2, n_pairs // 2
    m = len(sampled_distances)
    sampled_distances = np.sort(sampled_distances)
    # Sort only the distances in an interval [low, high] around the median. Its limits are sampled
    # distances whose rank differs from m/2 by a number of standard errors, √m/2 each. If the
    # interval does not contain both middle values, repeat this with a wider one.
    for deviations in RANK_DEVIATIONS:
        low = -math.inf
        high = math.inf
        half_width = deviations * math.sqrt(m) / 2 + 1
        if half_width < m / 2:
            first = math.floor(m / 2 - half_width)
            last = math.ceil(m / 2 + half_width) - 1
            low = float(sampled_distances[first]) * (1 - DISTANCE_TOLERANCE)
            high = float(sampled_distances[last]) * (1 + DISTANCE_TOLERANCE)
        n_below, values, counts = _tabulate_between(_iter_upper_triangle(n, distances), low, high)
        # The number of distances up to and including each of the sorted values.
        cumulative_counts = n_below + np.cumsum(counts)
        if n_below <= middle_ranks[0] and len(values) and middle_ranks[1] < cumulative_counts[-1]:
            positions = np.searchsorted(cumulative_counts, middle_ranks, side="right")
            lower, upper = values[positions]
            return float(lower), float(upper)
    raise AssertionError("unreachable: the last interval, from −∞ to ∞, contains the median")


def _iter_upper_triangle(n: int, distances: DistanceBlocks) -> Iterator[np.ndarray]:
    """Yield the distances of all pairs i < j of n samples in arrays of varying shape.

    `distances(rows, columns)` computes the distances for two slices of samples.
    """
    for block in split_into_pair_blocks(n):
        rows = distances(block, slice(block.start, n))
        size = block.stop - block.start
        square = rows[:, :size]  # pairs within the block
        yield square[np.triu_indices(size, 1)]
        for row_slice in row_blocks(size, 8 * n, min_rows=1):  # pairs with later samples
            yield rows[row_slice, size:]


def _tabulate_between(
    blocks: Iterable[np.ndarray], low: float, high: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """Count the values in `blocks` below `low`, and tabulate the values in [low, high].

    Returns the number of values below `low`, the sorted values in [low, high], and how often each
    of these occurs. A value that occurs in several blocks is listed once for each of them.
    """
    n_below = 0
    n_listed = 0
    values_of_blocks = []
    counts_of_blocks = []
    for block in blocks:
        is_in_range = block >= low
        n_below += block.size - int(np.count_nonzero(is_in_range))
        is_in_range &= block <= high
        # Equal distances, frequent for points on a lattice, are stored once per block.
        values, counts = np.unique(block[is_in_range], return_counts=True)
        values_of_blocks.append(values)
        counts_of_blocks.append(counts)
        n_listed += len(values)
    memory.require(
        40 * n_listed,
        f"the median distance (with {n_listed} distances close to it)",
        "pass `sigma`",
    )
    all_values = np.concatenate(values_of_blocks)
    order = np.argsort(all_values)
    return n_below, all_values[order], np.concatenate(counts_of_blocks)[order]


def _median_distance_torch(X: Tensor, kernel: ExponentialKernel) -> Tensor:
    """Compute the median distance between the rows of X, with a gradient.

    Distances of rows x and y are ‖x − y‖ for "gaussian", and Σ|x_j − y_j| for "laplace". The median
    is the mean distance of the two pairs of rows in the middle of the sorted distances, and is
    differentiable in these rows.
    """
    torch = sys.modules["torch"]
    n = len(X)
    all_rows = slice(0, n)
    D = RowDistances(X.detach(), kernel)(all_rows, all_rows)
    i, j = torch.triu_indices(n, n, 1, device=X.device)
    pair_distances = D[i, j]
    n_pairs = n * (n - 1) // 2
    # `kthvalue` counts from 1. The two middle pairs are the same if the number of pairs is odd.
    lower = pair_distances.kthvalue((n_pairs - 1) // 2 + 1).indices
    upper = pair_distances.kthvalue(n_pairs // 2 + 1).indices
    middle_pairs = torch.stack([lower, upper])
    # Recompute their distances with gradient.
    differences = X[i[middle_pairs]] - X[j[middle_pairs]]
    middle_distances: Tensor = _reduce_differences(differences, kernel)
    if kernel == "gaussian":
        middle_distances = middle_distances.sqrt()
    return middle_distances.mean()


def _reduce_differences(differences: Array, kernel: ExponentialKernel) -> Array:
    """Compute ‖x − y‖² ("gaussian") or Σ|x_j − y_j| ("laplace") from differences x − y of rows.

    The last axis of `differences` contains the entries of a difference.
    """
    if kernel == "gaussian":
        return (differences * differences).sum(-1)
    return abs(differences).sum(-1)
