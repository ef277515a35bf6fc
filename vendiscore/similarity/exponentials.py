"""The kernels exp(−‖x − y‖² / 2σ²) and exp(−Σ|x_j − y_j| / σ) of rows, and their bandwidths σ."""

import copy
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Self

import numpy as np

from ..support import memory
from ..support.namespace import Array, is_numpy, row_blocks, to_float
from ..support.types import DType, Number, Tensor
from .identical import identical_rows
from .pairs import (
    Index,
    Law,
    RowDistances,
    distinct_places,
    largest_entry,
    pair_blocks,
    times_power,
)

# A median below this share of the largest entry is invalid as a bandwidth.
LEAST_WIDTH = 2.0**-300
# Largest ratio, in powers of two, of the largest entry to σ.
MOST_APART = 1000
# Number of drawn pairs: one in DRAWN, at least LEAST_DRAWN and at most MOST_DRAWN.
DRAWN = 1 << 9
LEAST_DRAWN = 1 << 12
MOST_DRAWN = 1 << 20
# The rank of the median among m drawn numbers has a standard error of √m/2; these multiples of it
# are tried in turn.
DEVIATIONS = (4.0, 40.0, math.inf)
# The same distance, computed in two ways, may differ by this share.
SLACK = 1e-6

Part = Callable[[slice, slice], np.ndarray]  # rows and columns to distances, a new array


def of_tensor(X: Tensor, sigma: Number, law: Law) -> Tensor:
    """Return the similarities (n, n) of rows of a tensor X (n, d); both may have a gradient."""
    entries = Exponentials(X, sigma, law)
    everything = slice(0, entries.n)
    D: Tensor = entries.distances(everything, everything)
    if entries.distances.by_product:
        D.fill_diagonal_(0.0)
    return (D * entries.factor).exp()


class Exponentials:
    """Similarities of rows of X (n, d), over a power of two near σ; `sigma` may have a gradient."""

    in_threads = True

    def __init__(self, X: Array, sigma: object, law: Law) -> None:
        exponent = math.frexp(to_float(sigma))[1]
        largest = largest_entry(X)
        if largest and math.frexp(largest)[1] - exponent > MOST_APART:
            raise ValueError(
                f"`sigma` is {to_float(sigma):.6g} and the largest entry of the samples "
                f"{largest:.6g}: their ratio is beyond double precision; rescale the samples or "
                f"pass a larger `sigma`"
            )
        width = times_power(sigma, -exponent)
        rows = times_power(X, -exponent)
        self.n: int = len(X)
        self.width: int = X.shape[1]
        self.distances: RowDistances = RowDistances(rows, law, to_float(width))
        self._factors: tuple[np.ndarray, np.ndarray] | None = None
        self.factor = -0.5 / width**2
        if law == "laplace":
            self.factor = -1 / width

    def __call__(self, index: Index, columns: Index, dtype: DType = np.float64) -> Array:
        """Compute entries of K, as `similarity.rows.Entries` defines."""
        with np.errstate(all="ignore"):
            if dtype == np.float32 and self.distances.is_fit_for_single:
                left, right = self._single()
                E = left[index] @ right[columns].T
                return np.exp(E, out=E)
            D = np.asarray(self.distances(index, columns))
            for block in row_blocks(len(D), 8 * D.shape[1], min_rows=1):
                rows = D[block]
                rows *= self.factor
                np.exp(rows, out=rows)
            return D.astype(dtype, copy=False)

    def _single(self) -> tuple[np.ndarray, np.ndarray]:
        """Return factors of the exponents, scaled once: to scale products took a fifth of time."""
        if self._factors is None:
            left = self.distances.left * self.factor
            right = self.distances.right
            self._factors = left.astype(np.float32), right.astype(np.float32)
        return self._factors

    def take(self, index: np.ndarray) -> Self:
        part = copy.copy(self)
        part._factors = None
        part.n = len(index)
        part.distances = self.distances.take(index)
        return part

    def groups(self) -> np.ndarray | None:
        return identical_rows(self.distances.X)


def median_width(X: Array, law: Law) -> Array:
    """Return the median distance of distinct rows of X (n, d), 1 if there is one only."""
    rows = X[distinct_places(X)]
    if len(rows) < 2:
        return 1.0
    exponent = math.frexp(largest_entry(X))[1]
    rows = times_power(rows, -exponent)
    median = _median if is_numpy(rows) else _median_of_tensor
    width = median(rows, law)
    if not to_float(width) >= LEAST_WIDTH:
        raise ValueError(
            "the median distance between distinct samples is 2^-300 times the largest entry, or "
            "less, which is too small for a bandwidth in double precision; pass `sigma`"
        )
    with np.errstate(over="ignore"):
        width = times_power(width, exponent)
    if not math.isfinite(to_float(width)):
        raise ValueError(
            "the median distance between distinct samples is beyond double precision; rescale them"
        )
    return width


def _median(X: np.ndarray, law: Law) -> float:
    i, j = draw_pairs(len(X))
    drawn = np.empty(len(i))
    for part in row_blocks(len(i), X[0].nbytes):
        gap = X[i[part]] - X[j[part]]
        drawn[part] = _squares_or_sums(gap, law)
    low, high = middle_pair(len(X), RowDistances(X, law), drawn)
    if law == "laplace":
        return (low + high) / 2
    return (math.sqrt(low) + math.sqrt(high)) / 2


def draw_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places i ≠ j of all pairs of n rows, or of some, drawn with replacement."""
    size = n * (n - 1) // 2
    most = min(max(size // DRAWN, LEAST_DRAWN), MOST_DRAWN)
    if size <= most:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n


def middle_pair(n: int, part: Part, drawn: np.ndarray) -> tuple[float, float]:
    """Return the two middle numbers of all pairs i < j of n samples."""
    size = n * (n - 1) // 2
    places = (size - 1) // 2, size // 2
    m = len(drawn)
    drawn = np.sort(drawn)
    for deviations in DEVIATIONS:
        low = -math.inf
        high = math.inf
        off = deviations * math.sqrt(m) / 2 + 1
        if off < m / 2:
            first = math.floor(m / 2 - off)
            last = math.ceil(m / 2 + off) - 1
            low = float(drawn[first]) * (1 - SLACK)
            high = float(drawn[last]) * (1 + SLACK)
        below, numbers, counts = _between(_upper(n, part), low, high)
        ranks = below + np.cumsum(counts)
        if below <= places[0] and len(ranks) and places[1] < ranks[-1]:
            lower, upper = numbers[np.searchsorted(ranks, places, side="right")]
            return float(lower), float(upper)
    raise AssertionError("all numbers are between −∞ and ∞")


def _upper(n: int, part: Part) -> Iterator[np.ndarray]:
    """Yield the numbers of all pairs i < j, by blocks."""
    for block in pair_blocks(n):
        rows = part(block, slice(block.start, n))
        size = block.stop - block.start
        square = rows[:, :size]
        yield square[np.triu_indices(size, 1)]
        for some in row_blocks(size, 8 * n, min_rows=1):
            yield rows[some, size:]


def _between(
    parts: Iterable[np.ndarray], low: float, high: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """Count numbers below `low`; tabulate those in [low, high], sorted, and how often each is."""
    below = 0
    size = 0
    values = []
    counts = []
    for part in parts:
        late = part >= low
        below += part.size - int(np.count_nonzero(late))
        late &= part <= high
        # Equal distances, frequent on a lattice, are kept once.
        found, often = np.unique(part[late], return_counts=True)
        values.append(found)
        counts.append(often)
        size += len(found)
    memory.require(40 * size, f"the median of distances, {size} of them close,", "pass `sigma`")
    numbers = np.concatenate(values)
    order = np.argsort(numbers)
    often = np.concatenate(counts)
    return below, numbers[order], often[order]


def _median_of_tensor(X: Tensor, law: Law) -> Tensor:
    """Return the median distance, differentiable in the two rows that it lies between."""
    torch = sys.modules["torch"]
    n = len(X)
    everything = slice(0, n)
    D = RowDistances(X.detach(), law)(everything, everything)
    i, j = torch.triu_indices(n, n, 1, device=X.device)
    values = D[i, j]
    size = n * (n - 1) // 2
    lower = values.kthvalue((size - 1) // 2 + 1).indices
    upper = values.kthvalue(size // 2 + 1).indices
    places = torch.stack([lower, upper])
    gap = X[i[places]] - X[j[places]]
    lengths: Tensor = _squares_or_sums(gap, law)
    if law == "gaussian":
        lengths = lengths.sqrt()
    return lengths.mean()


def _squares_or_sums(gap: Array, law: Law) -> Array:
    if law == "gaussian":
        return (gap * gap).sum(-1)
    return abs(gap).sum(-1)
