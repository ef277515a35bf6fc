"""Find nearest neighbours and count neighbours within radii, from blocks of distances."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy

from ..core.eigenvalues import EPS
from ..support import memory
from ..support.parallel import Value, map_ordered, slices
from ..support.progress import track
from ..support.types import Options, Record
from .duplicate_rows import group_identical_rows
from .metrics import HOMOGENEOUS
from .row_distances import (
    CLOSE_PAIR_RATIO,
    PairFormatter,
    check_finite_distances,
    largest_entry,
    median_of_rows,
    minkowski_distances,
    recompute_close_pairs,
    scale_by_power_of_two,
    scaling_exponent,
)

# Number of entries of a block, and minimum number of rows, because flat products are slow.
BLOCK_SIZE = 1 << 20
MIN_BLOCK_ROWS = 16
# An upper bound of the k-th smallest entry of a row is the k-th smallest of the minima of groups of
# columns, which is fast to compute. With this number of groups, the bound is rarely loose.
MIN_COLUMN_GROUPS = 256
GROUPS_PER_NEIGHBOUR = 16
# Relative margin of that bound for rounding errors.
BOUND_MARGIN = 1e-6
# Relative difference up to which distances are equal; on a lattice, many differ only by rounding.
TIE_TOLERANCE = 1e-12
# Smaller powers may have lost digits or underflowed.
MIN_RELIABLE_POWER = 1e-290


class BlockDistances(ABC):
    """Distances of n points, computed in blocks.

    The entries of a block are fast to compute and increase with the distance; they may be lower
    bounds of squared distances. `block_bound` converts a distance to an upper bound of entries, and
    `exact_distances` computes the distances of selected pairs.
    """

    n: int
    threaded = True  # whether to compute blocks in threads

    @abstractmethod
    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute the entries of a block, each at most `block_bound(distance of the pair)`."""

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        """Return the maximum block entry of pairs at distance at most r."""
        return r

    def exact_distances(self, i: np.ndarray, j: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Compute the distances of points i and j, whose block entries are `values`."""
        return values

    def is_within(
        self, i: np.ndarray, j: np.ndarray, values: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        """Return whether distances of points i and j are at most r; `values` are block entries."""
        return self.exact_distances(i, j, values) <= r


class EuclideanDistances(BlockDistances):
    """Euclidean distances between rows of X; distances below `min_distance` become 0."""

    def __init__(self, X: np.ndarray, min_distance: float = 0.0) -> None:
        self.n, d = X.shape
        description = f"rows of {self.n} samples and references in double precision"
        memory.require(16 * self.n * (d + 2), description, "compare fewer samples")
        self.min_distance = min_distance
        self.shift = scaling_exponent(X)
        self.X = scale_by_power_of_two(X, -self.shift)
        # Upper bound of the rounding error of the product in `block`, relative to ‖x‖² + ‖y‖².
        self.error = (4 * d + 16) * EPS
        centred = self.X - median_of_rows(self.X)
        self.squares = np.vecdot(centred, centred)
        lowered = self.squares * (1 - self.error)
        self.rows = np.column_stack([centred, lowered, np.ones(self.n)])

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute ‖x‖² + ‖y‖² − 2 x·y minus its maximum rounding error in one matrix product."""
        left_factor = self.rows[rows] * -2.0
        left_factor[:, -2] = 1.0
        left_factor[:, -1] = self.rows[rows, -2]
        return left_factor @ self.rows[columns].T

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        r = np.ldexp(r, -self.shift)
        radius = np.maximum(r, self.min_distance)
        return radius * radius * (1 + 8 * EPS)

    def exact_distances(self, i: np.ndarray, j: np.ndarray, values: np.ndarray) -> np.ndarray:
        squares = self.squares[i] + self.squares[j]
        out = np.sqrt(values + self.error * squares)
        close = np.flatnonzero(values < CLOSE_PAIR_RATIO * squares)
        out[close] = minkowski_distances(self.X, i[close], j[close])
        out[out < self.min_distance] = 0.0
        return np.ldexp(out, self.shift)


class MetricDistances(BlockDistances):
    """Distances between rows of X by a SciPy metric; exactly 0 for identical rows."""

    def __init__(
        self, X: np.ndarray, metric: str, options: Options, format_pair: PairFormatter
    ) -> None:
        self.n: int = len(X)
        self.metric = metric
        self.format_pair = format_pair
        self.groups: np.ndarray = np.asarray(group_identical_rows(X), np.int32)
        self.options: Record = dict(options)
        self.exponent: float = math.inf
        self.shift = 0
        if metric == "minkowski":
            self.shift = math.frexp(largest_entry(X))[1] + 1
            self.exponent = self.options.pop("exponent", 2.0)
            self.options["p"] = self.exponent
        elif metric in HOMOGENEOUS:
            self.shift = scaling_exponent(X)
        self.X = scale_by_power_of_two(X, -self.shift)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        metric = self.metric
        if metric == "manhattan":
            metric = "cityblock"
        A = self.X[rows]
        B = self.X[columns]
        cdist = scipy.spatial.distance.cdist
        D: np.ndarray = cdist(A, B, metric, **self.options)
        if metric == "jensenshannon":  # the only metric that is asymmetric due to rounding
            D = (D + cdist(B, A, metric).T) / 2
        identical = self.groups[rows, None] == self.groups[columns]
        np.put(D, np.flatnonzero(identical), 0.0)  # faster than D[identical] = 0

        check_finite_distances(
            D,
            self.metric,
            lambda i, j: self.format_pair(rows.start + i, columns.start + j),
        )
        if math.isfinite(self.exponent):
            recompute_close_pairs(
                D,
                # Below this threshold, the powers of differences may have lost digits.
                MIN_RELIABLE_POWER ** (1 / self.exponent) / EPS,
                lambda i, j: minkowski_distances(
                    self.X, rows.start + i, columns.start + j, self.exponent
                ),
            )
        if self.shift:
            return np.ldexp(D, self.shift, out=D)
        return D


class PrecomputedDistances(BlockDistances):
    """Distances in a matrix D of distinct points; `inverse` contains the row of D of each point."""

    def __init__(self, D: np.ndarray, inverse: np.ndarray) -> None:
        self.D = D
        self.n: int = len(inverse)
        self.inverse = inverse

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        rows_of_D = self.D[self.inverse[rows]]
        return rows_of_D[:, self.inverse[columns]]


def k_nearest_distances(
    block_distances: BlockDistances, points: slice, counts: np.ndarray, k: int, description: str
) -> np.ndarray:
    """Compute the sorted distances of each of the `points` to its k nearest neighbours.

    Point i has counts[i] copies, which are neighbours at distance 0.
    """
    n_distinct = min(k, len(counts) - 1)
    if not n_distinct:
        return np.zeros((1, k))

    def process_block(block: slice) -> np.ndarray:
        with np.errstate(all="ignore"):
            D = block_distances.block(block, points)
            rows = np.arange(len(D))
            self_columns = rows + block.start - points.start
            D[rows, self_columns] = np.inf
            lengths, neighbours = _select_nearest(
                block_distances, D, block.start, points.start, n_distinct
            )
        copies = counts[self_columns] - 1  # of the point itself
        neighbour_counts = np.column_stack([copies, counts[neighbours]])
        lengths = np.column_stack([np.zeros(len(D)), lengths])
        # Cumulative counts show which point provides the first, the second, …, the k-th neighbour.
        cumulative_counts = np.cumsum(neighbour_counts, axis=1)
        is_nearer = cumulative_counts[:, None] <= np.arange(k)[:, None]
        columns = is_nearer.sum(axis=2)
        return np.take_along_axis(lengths, columns, axis=1)

    blocks = list(_iter_blocks(block_distances, process_block, points, points, description))
    distances = np.concatenate(blocks)
    if not np.isfinite(distances).all():
        raise ValueError(
            "distances between rows are too large for double precision; divide all rows by their "
            "largest entry"
        )
    return distances


def count_within_radii(
    block_distances: BlockDistances,
    rows: slice,
    columns: slice,
    counts: tuple[np.ndarray, np.ndarray],
    radii: Sequence[np.ndarray],
    description: str,
) -> tuple[np.ndarray, np.ndarray]:
    """For each radius, count the pairs within it: of each row, and of each column.

    Return arrays of shape (number of radii, number of rows) and (number of radii, number of
    columns). Each element of `radii` has shape (rows, 1) or (1, columns). `rows` starts at 0.
    `counts` are the numbers of copies of the points in rows and in columns.
    """
    counts_of_rows, counts_of_columns = counts
    radii = [r * (1 + TIE_TOLERANCE) for r in radii]
    block_bounds = [block_distances.block_bound(r) for r in radii]
    row_counts = np.zeros((len(radii), len(counts_of_rows)), int)
    column_counts = np.zeros((len(radii), len(counts_of_columns)), int)

    def process_block(block: slice) -> tuple[slice, list[np.ndarray], list[np.ndarray]]:
        by_row = []
        by_column = []
        with np.errstate(all="ignore"):
            D = block_distances.block(block, columns)
            for r, bound in zip(radii, block_bounds, strict=True):
                radius_rows = block if len(r) > 1 else slice(None)
                indices = np.flatnonzero(bound[radius_rows] >= D)
                i, j = np.divmod(indices, D.shape[1])
                radius = np.broadcast_to(r[radius_rows], D.shape)[i, j]
                entries = D[i, j]
                is_inside = block_distances.is_within(
                    block.start + i, columns.start + j, entries, radius
                )
                i = i[is_inside]
                j = j[is_inside]
                row_count = np.bincount(i, counts_of_columns[j], len(D))
                column_count = np.bincount(j, counts_of_rows[block][i], D.shape[1])
                by_row.append(row_count.astype(int))
                by_column.append(column_count.astype(int))
        return block, by_row, by_column

    for block, by_row, by_column in _iter_blocks(
        block_distances, process_block, rows, columns, description
    ):
        row_counts[:, block] += by_row
        column_counts += by_column
    return row_counts, column_counts


def _iter_blocks(
    block_distances: BlockDistances,
    process_block: Callable[[slice], Value],
    rows: slice,
    columns: slice,
    description: str,
) -> Iterator[Value]:
    """Yield `process_block(rows)` for all blocks of rows in order, with a progress bar."""
    width = columns.stop - columns.start
    size = max(MIN_BLOCK_ROWS, BLOCK_SIZE // width)
    blocks = slices(rows.stop, size, rows.start)
    return track(
        map_ordered(process_block, blocks, block_distances.threaded), len(blocks), description
    )


def _select_nearest(
    block_distances: BlockDistances, D: np.ndarray, i: int, j: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest distances of each row of a block D at (i, j), and their columns."""
    bound = _bound_kth_smallest(D, k)
    bound += BOUND_MARGIN * np.abs(bound)
    remaining = np.arange(len(D))
    nearest = np.empty((len(D), k))
    columns = np.empty((len(D), k), int)
    while len(remaining):
        rows = D
        if len(remaining) != len(D):
            rows = D[remaining]
        indices = np.flatnonzero(rows <= bound[remaining, None])
        near_rows, near_columns = np.divmod(indices, D.shape[1])
        entries = rows[near_rows, near_columns]
        length = block_distances.exact_distances(
            i + remaining[near_rows], j + near_columns, entries
        )
        order = np.lexsort((length, near_rows))
        starts = np.searchsorted(near_rows, np.arange(len(remaining)))
        nearest_k = starts[:, None] + np.arange(k)
        first = order[nearest_k]
        nearest[remaining] = length[first]
        columns[remaining] = near_columns[first]
        # All pairs at most as far as the k-th neighbour have numbers up to this bound.
        new_bound = block_distances.block_bound(nearest[:, -1])
        remaining = np.flatnonzero(new_bound > bound)
        bound = np.maximum(bound, new_bound)
    return nearest, columns


def _bound_kth_smallest(D: np.ndarray, k: int) -> np.ndarray:
    """Return an upper bound of the k-th smallest entry of each row."""
    groups = max(MIN_COLUMN_GROUPS, GROUPS_PER_NEIGHBOUR * k)
    n_grouped = D.shape[1] // groups * groups
    if n_grouped > 2 * groups:
        grouped = D[:, :n_grouped].reshape(len(D), -1, groups)
        remaining = D[:, n_grouped:]
        D = np.concatenate([grouped.min(axis=1), remaining], axis=1)
    return np.partition(D, k - 1, axis=1)[:, k - 1]
