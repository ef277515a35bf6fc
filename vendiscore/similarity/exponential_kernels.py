"""The kernels exp(−‖x − y‖² / 2σ²) and exp(−Σ|x_j − y_j| / σ), and the median bandwidth σ."""

import copy
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import numpy as np

from ..support import memory
from ..support.namespace import Array, is_numpy, row_blocks, to_float
from ..support.types import DType, Number, Tensor
from .duplicate_rows import group_identical_rows
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
# Maximum of log2(largest entry / σ).
MAX_RATIO_EXPONENT = 1000
# Number of pairs sampled to bracket the median: one in SAMPLED_PAIR_INTERVAL, at least
# MIN_SAMPLED_PAIRS and at most MAX_SAMPLED_PAIRS.
SAMPLED_PAIR_INTERVAL = 1 << 9
MIN_SAMPLED_PAIRS = 1 << 12
MAX_SAMPLED_PAIRS = 1 << 20
# The rank of the median among m sampled distances has a standard error of √m/2. The median is
# searched within these numbers of standard errors, in turn.
RANK_DEVIATIONS = (4.0, 40.0, math.inf)
# Maximum relative difference of a distance computed in two ways.
DISTANCE_TOLERANCE = 1e-6

DistanceBlocks = Callable[[slice, slice], np.ndarray]  # (rows, columns) -> new array of distances


def compute_tensor_similarities(X: Tensor, sigma: Number, kernel: ExponentialKernel) -> Tensor:
    """Compute the similarities of all pairs of rows of X, differentiable in X and sigma."""
    entries = ExponentialEntries(X, sigma, kernel)
    everything = slice(0, entries.n)
    D: Tensor = entries.distances(everything, everything)
    if entries.distances.by_product:
        D.fill_diagonal_(0.0)
    return (D * entries.factor).exp()


class ExponentialEntries:
    """Entries of an exponential kernel between rows of X; `sigma` may require a gradient.

    Rows and σ are divided by a power of two near σ, so squares do not overflow.
    """

    in_threads = True

    def __init__(self, X: Array, sigma: object, kernel: ExponentialKernel) -> None:
        exponent = math.frexp(to_float(sigma))[1]
        largest = largest_entry(X)
        if largest and math.frexp(largest)[1] - exponent > MAX_RATIO_EXPONENT:
            raise ValueError(
                f"`sigma` is {to_float(sigma):.6g} and the largest entry of the samples "
                f"{largest:.6g}: their ratio exceeds the range of double precision; rescale the "
                "samples or pass a larger `sigma`"
            )
        width = scale_by_power_of_two(sigma, -exponent)
        rows = scale_by_power_of_two(X, -exponent)
        self.n: int = len(X)
        self.width: int = X.shape[1]
        self.distances: RowDistances = RowDistances(rows, kernel, to_float(width))
        self._factors: tuple[np.ndarray, np.ndarray] | None = None
        self.factor = -0.5 / width**2
        if kernel == "laplace":
            self.factor = -1 / width

    def __call__(self, index: Index, columns: Index, dtype: DType = np.float64) -> Array:
        """Compute K[index][:, columns], see `similarity.rows.KernelEntries`."""
        with np.errstate(all="ignore"):
            if dtype == np.float32 and self.distances.can_use_float32:
                left, right = self._single_precision_factors()
                E = left[index] @ right[columns].T
                return np.exp(E, out=E)
            D = np.asarray(self.distances(index, columns))
            for block in row_blocks(len(D), 8 * D.shape[1], min_rows=1):
                rows = D[block]
                rows *= self.factor
                np.exp(rows, out=rows)
            return D.astype(dtype, copy=False)

    def _single_precision_factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return two matrices in float32 whose product is the exponents; cached."""
        if self._factors is None:
            left = self.distances.left * self.factor
            right = self.distances.right
            self._factors = left.astype(np.float32), right.astype(np.float32)
        return self._factors

    def take(self, index: np.ndarray) -> Self:
        subset = copy.copy(self)
        subset._factors = None
        subset.n = len(index)
        subset.distances = self.distances.take(index)
        return subset

    def groups(self) -> np.ndarray | None:
        return group_identical_rows(self.distances.X)


def median_distance(X: Array, kernel: ExponentialKernel) -> Array:
    """Compute the median distance between distinct rows of X; 1 if all rows are identical."""
    rows = X[distinct_row_indices(X)]
    if len(rows) < 2:
        return 1.0
    exponent = math.frexp(largest_entry(X))[1]
    rows = scale_by_power_of_two(rows, -exponent)
    median = _median_distance_numpy if is_numpy(rows) else _median_distance_torch
    width = median(rows, kernel)
    if not to_float(width) >= MIN_RELATIVE_BANDWIDTH:
        raise ValueError(
            "the median distance between distinct samples is at most 2^-300 times the largest "
            "entry, which is too small for a bandwidth in double precision; pass `sigma`"
        )
    with np.errstate(over="ignore"):
        width = scale_by_power_of_two(width, exponent)
    if not math.isfinite(to_float(width)):
        raise ValueError(
            "the median distance between distinct samples exceeds the range of double precision; "
            "divide the samples by a large number"
        )
    return width


def _median_distance_numpy(X: np.ndarray, kernel: ExponentialKernel) -> float:
    i, j = sample_pairs(len(X))
    sampled = np.empty(len(i))
    for block in row_blocks(len(i), X[0].nbytes):
        gap = X[i[block]] - X[j[block]]
        sampled[block] = _reduce_differences(gap, kernel)
    low, high = find_middle_distances(len(X), RowDistances(X, kernel), sampled)
    if kernel == "laplace":
        return (low + high) / 2
    return (math.sqrt(low) + math.sqrt(high)) / 2


def sample_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices i ≠ j of all pairs of n rows, or of a random sample of pairs."""
    size = n * (n - 1) // 2
    max_pairs = min(max(size // SAMPLED_PAIR_INTERVAL, MIN_SAMPLED_PAIRS), MAX_SAMPLED_PAIRS)
    if size <= max_pairs:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, max_pairs)
    return i, (i + rng.integers(1, n, max_pairs)) % n


def find_middle_distances(
    n: int, distances: DistanceBlocks, sampled: np.ndarray
) -> tuple[float, float]:
    """Return the two middle values of the distances of all pairs i < j of n samples.

    They determine the median. `sampled` are the distances of random pairs; they show where it lies.
    """
    size = n * (n - 1) // 2
    indices = (size - 1) // 2, size // 2
    m = len(sampled)
    sampled = np.sort(sampled)
    for deviations in RANK_DEVIATIONS:
        low = -math.inf
        high = math.inf
        half_width = deviations * math.sqrt(m) / 2 + 1
        if half_width < m / 2:
            first = math.floor(m / 2 - half_width)
            last = math.ceil(m / 2 + half_width) - 1
            low = float(sampled[first]) * (1 - DISTANCE_TOLERANCE)
            high = float(sampled[last]) * (1 + DISTANCE_TOLERANCE)
        n_below, values, counts = _tabulate_between(_iter_upper_triangle(n, distances), low, high)
        ranks = n_below + np.cumsum(counts)
        if n_below <= indices[0] and len(ranks) and indices[1] < ranks[-1]:
            lower, upper = values[np.searchsorted(ranks, indices, side="right")]
            return float(lower), float(upper)
    raise AssertionError("all numbers are between −∞ and ∞")


def _iter_upper_triangle(n: int, distances: DistanceBlocks) -> Iterator[np.ndarray]:
    """Yield the distances of all pairs i < j in blocks."""
    for block in split_into_pair_blocks(n):
        rows = distances(block, slice(block.start, n))
        size = block.stop - block.start
        square = rows[:, :size]
        yield square[np.triu_indices(size, 1)]
        for part in row_blocks(size, 8 * n, min_rows=1):
            yield rows[part, size:]


def _tabulate_between(
    blocks: Iterable[np.ndarray], low: float, high: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of values below `low`, and the distinct values in [low, high] with counts.

    The distinct values are sorted.
    """
    n_below = 0
    size = 0
    values = []
    counts = []
    for block in blocks:
        is_in_range = block >= low
        n_below += block.size - int(np.count_nonzero(is_in_range))
        is_in_range &= block <= high
        # Equal distances, frequent for points on a lattice, are stored once.
        distinct, repeats = np.unique(block[is_in_range], return_counts=True)
        values.append(distinct)
        counts.append(repeats)
        size += len(distinct)
    memory.require(
        40 * size, f"the median distance (with {size} distances close to it)", "pass `sigma`"
    )
    all_values = np.concatenate(values)
    order = np.argsort(all_values)
    return n_below, all_values[order], np.concatenate(counts)[order]


def _median_distance_torch(X: Tensor, kernel: ExponentialKernel) -> Tensor:
    """Compute the median distance, differentiable in the rows of the middle pairs."""
    torch = sys.modules["torch"]
    n = len(X)
    everything = slice(0, n)
    D = RowDistances(X.detach(), kernel)(everything, everything)
    i, j = torch.triu_indices(n, n, 1, device=X.device)
    values = D[i, j]
    size = n * (n - 1) // 2
    lower = values.kthvalue((size - 1) // 2 + 1).indices
    upper = values.kthvalue(size // 2 + 1).indices
    indices = torch.stack([lower, upper])
    gap = X[i[indices]] - X[j[indices]]
    lengths: Tensor = _reduce_differences(gap, kernel)
    if kernel == "gaussian":
        lengths = lengths.sqrt()
    return lengths.mean()


def _reduce_differences(gap: Array, kernel: ExponentialKernel) -> Array:
    if kernel == "gaussian":
        return (gap * gap).sum(-1)
    return abs(gap).sum(-1)
