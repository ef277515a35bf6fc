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
# `_bound_kth_smallest` divides the columns of a block into groups: the k-th smallest group minimum
# of a row is an upper bound of its k-th smallest entry, and fast to compute. With the larger of
# these numbers of groups, the bound is rarely loose.
MIN_COLUMN_GROUPS = 256
GROUPS_PER_NEIGHBOUR = 16
# Relative margin of that bound for rounding errors.
BOUND_MARGIN = 1e-6
# Relative difference up to which distances are equal; on a lattice, many differ only by rounding.
TIE_TOLERANCE = 1e-12
# Powers of differences below this value may have lost digits or underflowed.
MIN_RELIABLE_POWER = 1e-290


class BlockDistances(ABC):
    """Distances of n points, computed in blocks.

    A block contains one entry for each pair of a point in the slice `rows` and a point in the slice
    `columns`. Entries are fast to compute, but need not be distances: subclasses may use lower
    bounds of squared distances. `block_bound` returns the largest possible entry of a pair at a
    given distance, so that all pairs within this distance can be selected by their entries.
    `exact_distances` then computes the distances of the selected pairs.
    """

    n: int
    threaded = True  # whether to compute blocks in threads

    @abstractmethod
    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute one entry for each pair of a point in `rows` and a point in `columns`.

        An entry is the distance of the pair, or another number of at most `block_bound(distance)`.
        """

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        """Return the largest value that `block` can compute for a pair of points at distance ≤ r.

        All pairs at distance ≤ r can therefore be found by this limit of their values. r is an
        array of distances, and the result has the same shape.
        """
        return r

    def exact_distances(self, i: np.ndarray, j: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Compute the distances of the m pairs of points (i[0], j[0]), …, shape (m,).

        `entries` (m,) are the numbers that `block` returns for these pairs.
        """
        return entries

    def is_within(
        self, i: np.ndarray, j: np.ndarray, entries: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        """Return for each of m pairs of points whether its distance is at most r, shape (m,).

        The first pair consists of the points i[0] and j[0], and its limit is r[0]. `entries` (m,)
        are the numbers that `block` returns for these pairs.
        """
        return self.exact_distances(i, j, entries) <= r


class EuclideanDistances(BlockDistances):
    """Euclidean distances between the rows of X (n, d), computed in blocks.

    Distances below `min_distance` become 0, because they may be rounding errors. Entries of blocks
    are lower bounds of squared distances.
    """

    def __init__(self, X: np.ndarray, min_distance: float = 0.0) -> None:
        self.n, d = X.shape
        description = f"rows of {self.n} samples and references in double precision"
        memory.require(16 * self.n * (d + 2), description, "compare fewer samples")
        self.min_distance = min_distance
        # X is stored divided by 2^scale_exponent, so that squares do not overflow.
        self.scale_exponent: int = scaling_exponent(X)
        self.X = scale_by_power_of_two(X, -self.scale_exponent)
        # Upper bound of the rounding error of the product in `block`, relative to ‖x‖² + ‖y‖².
        self.relative_error: float = (4 * d + 16) * EPS
        centred = self.X - median_of_rows(self.X)  # short rows have smaller rounding errors
        self.squared_norms: np.ndarray = np.vecdot(centred, centred)
        reduced_norms = self.squared_norms * (1 - self.relative_error)
        # The columns x, ‖x‖² minus its rounding error, and 1, from which `block` computes all terms
        # of squared distances by one matrix product.
        self.factor: np.ndarray = np.column_stack([centred, reduced_norms, np.ones(self.n)])

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute ‖x‖² + ‖y‖² − 2 x·y minus its maximum rounding error for points x and y.

        It is the dot product (−2x, 1, ‖x‖²) · (y, ‖y‖², 1), with the maximum rounding error
        subtracted from the squared norms, so all pairs take one matrix product.
        """
        left_factor = self.factor[rows] * -2.0
        left_factor[:, -2] = 1.0
        left_factor[:, -1] = self.factor[rows, -2]
        return left_factor @ self.factor[columns].T

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        """Return the largest value that `block` can compute for a pair of points at distance ≤ r.

        It is r², slightly increased because of rounding errors. r is an array of distances, and the
        result has the same shape.
        """
        r = np.ldexp(r, -self.scale_exponent)
        r = np.maximum(r, self.min_distance)  # smaller distances count as 0
        return r * r * (1 + 8 * EPS)

    def exact_distances(self, i: np.ndarray, j: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Compute the distances of the m pairs of points (i[0], j[0]), …, shape (m,).

        `entries` (m,) are the numbers that `block` returns for these pairs: squared distances minus
        their maximum rounding error.
        """
        norm_sums = self.squared_norms[i] + self.squared_norms[j]
        # `block` subtracted the maximum rounding error; add it again.
        distances = np.sqrt(entries + self.relative_error * norm_sums)
        # ‖x‖² + ‖y‖² − 2 x·y of close points is inaccurate, so use their differences.
        close = np.flatnonzero(entries < CLOSE_PAIR_RATIO * norm_sums)
        distances[close] = minkowski_distances(self.X, i[close], j[close])
        distances[distances < self.min_distance] = 0.0
        return np.ldexp(distances, self.scale_exponent)


class MetricDistances(BlockDistances):
    """Distances between rows of X by a SciPy metric; exactly 0 for identical rows.

    `options` are options of the metric, and `format_pair(i, j)` describes rows i and j in error
    messages.
    """

    def __init__(
        self, X: np.ndarray, metric: str, options: Options, format_pair: PairFormatter
    ) -> None:
        self.n: int = len(X)
        self.metric = metric
        self.format_pair = format_pair
        # Codes that are equal for identical rows.
        self.row_codes: np.ndarray = np.asarray(group_identical_rows(X), np.int32)
        self.options: Record = dict(options)
        self.minkowski_exponent: float = math.inf  # infinite for other metrics
        # X is stored divided by 2^scale_exponent, and distances are multiplied by it, to avoid
        # overflow and underflow.
        self.scale_exponent = 0
        if metric == "minkowski":
            # Entries then are below 1/2 and differences below 1, so their powers do not overflow.
            self.scale_exponent = math.frexp(largest_entry(X))[1] + 1
            self.minkowski_exponent = self.options.pop("exponent", 2.0)
            self.options["p"] = self.minkowski_exponent  # the name of this option in SciPy
        elif metric in HOMOGENEOUS:  # multiplying all rows by c > 0 multiplies distances by c
            self.scale_exponent = scaling_exponent(X)
        self.X = scale_by_power_of_two(X, -self.scale_exponent)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute the distances between the points in `rows` and the points in `columns`."""
        metric = self.metric
        if metric == "manhattan":
            metric = "cityblock"
        X = self.X[rows]
        Y = self.X[columns]
        cdist = scipy.spatial.distance.cdist
        D: np.ndarray = cdist(X, Y, metric, **self.options)
        if metric == "jensenshannon":  # the only metric that is asymmetric due to rounding
            D = (D + cdist(Y, X, metric).T) / 2
        is_identical = self.row_codes[rows, None] == self.row_codes[columns]
        np.put(D, np.flatnonzero(is_identical), 0.0)  # faster than D[is_identical] = 0
        check_finite_distances(
            D,
            self.metric,
            lambda i, j: self.format_pair(rows.start + i, columns.start + j),
        )
        if math.isfinite(self.minkowski_exponent):
            recompute_close_pairs(
                D,
                # Below this threshold, the powers of differences may have lost digits.
                MIN_RELIABLE_POWER ** (1 / self.minkowski_exponent) / EPS,
                lambda i, j: minkowski_distances(
                    self.X, rows.start + i, columns.start + j, self.minkowski_exponent
                ),
            )
        if self.scale_exponent:
            return np.ldexp(D, self.scale_exponent, out=D)
        return D


class PrecomputedDistances(BlockDistances):
    """Distances of n points, some of them duplicates, from the matrix D of the distinct points.

    `inverse` (n,) contains the row of D that belongs to each point.
    """

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
    """Compute the distances of each of m points to its k nearest neighbours, shape (m, k), sorted.

    `block_distances` computes distances between distinct points, of which the slice `points`
    selects m. counts[i] is how often the i-th selected point occurs in the data. All occurrences of
    a point but one are neighbours of the point at distance 0, and neighbours that occur several
    times count as several neighbours. `description` labels the progress bar.
    """
    n_distinct = min(k, len(counts) - 1)
    if not n_distinct:  # a single point: all neighbours are its copies
        return np.zeros((1, k))

    def process_block(block: slice) -> np.ndarray:
        """Compute the sorted distances of the points in `block` to their k nearest neighbours."""
        with np.errstate(all="ignore"):
            entries = block_distances.block(block, points)
            rows = np.arange(len(entries))
            self_columns = rows + block.start - points.start
            entries[rows, self_columns] = np.inf  # a point is not its own neighbour
            distances, neighbours = _select_nearest(
                block_distances, entries, block.start, points.start, n_distinct
            )
        # How often each neighbour counts: first the other copies of the point itself, at distance
        # 0, then its distinct neighbours.
        own_copies = counts[self_columns] - 1
        neighbour_counts = np.column_stack([own_copies, counts[neighbours]])
        distances = np.column_stack([np.zeros(len(entries)), distances])
        # Repeat each distance as often as its neighbour counts, and return the first k. Neighbour
        # number 0 ≤ i < k, counting copies, is preceded by all distinct neighbours whose cumulative
        # count is at most i.
        cumulative_counts = np.cumsum(neighbour_counts, axis=1)
        is_preceding = cumulative_counts[:, None] <= np.arange(k)[:, None]
        positions = is_preceding.sum(axis=2)  # in `distances`, of neighbours 0 to k − 1
        return np.take_along_axis(distances, positions, axis=1)

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
    """Count for each point the points of another set whose distance is within given radii.

    The slices `rows` and `columns` select two sets of m and l distinct points of `block_distances`;
    `rows` starts at 0. The two arrays in `counts` are how often each of the m points, and each of
    the l points, occurs in the data. Each of the R arrays in `radii` has shape (m, 1), with a
    radius for each of the m points, or (1, l), with a radius for each of the l points.

    Returns two arrays. For each array of radii, the first contains the number of column points
    within the radius of each row point, shape (R, m), and the second the number of row points
    within the radius of each column point, shape (R, l). Each occurrence of a point is counted.
    `description` labels the progress bar.
    """
    counts_of_rows, counts_of_columns = counts
    radii = [r * (1 + TIE_TOLERANCE) for r in radii]
    block_bounds = [block_distances.block_bound(r) for r in radii]
    row_counts = np.zeros((len(radii), len(counts_of_rows)), int)
    column_counts = np.zeros((len(radii), len(counts_of_columns)), int)

    def process_block(block: slice) -> tuple[slice, list[np.ndarray], list[np.ndarray]]:
        """Count the pairs within each radius between the row points in `block` and all columns.

        Returns `block`, and for each array of radii the counts for each row point in `block` and
        the counts for each column point.
        """
        by_row = []
        by_column = []
        with np.errstate(all="ignore"):
            entries = block_distances.block(block, columns)
            for r, bound in zip(radii, block_bounds, strict=True):
                # Radii of the row points have one row for each point, those of the column points a
                # single row.
                radius_rows = block if len(r) > 1 else slice(None)
                # Select candidate pairs by their entries, then compute their exact distances.
                candidates = np.flatnonzero(bound[radius_rows] >= entries)
                i, j = np.divmod(candidates, entries.shape[1])
                radius = np.broadcast_to(r[radius_rows], entries.shape)[i, j]
                is_inside = block_distances.is_within(
                    block.start + i, columns.start + j, entries[i, j], radius
                )
                i = i[is_inside]
                j = j[is_inside]
                row_count = np.bincount(i, counts_of_columns[j], len(entries))
                column_count = np.bincount(j, counts_of_rows[block][i], entries.shape[1])
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
    """Divide `rows` into blocks and yield `process_block(block)` of each, with a progress bar.

    The number of rows of a block is chosen so that a block of the distances to all `columns` has
    about BLOCK_SIZE entries. `description` labels the progress bar.
    """
    width = columns.stop - columns.start
    size = max(MIN_BLOCK_ROWS, BLOCK_SIZE // width)
    blocks = slices(rows.stop, size, rows.start)
    return track(
        map_ordered(process_block, blocks, block_distances.threaded), len(blocks), description
    )


def _select_nearest(
    block_distances: BlockDistances,
    entries: np.ndarray,
    first_row: int,
    first_column: int,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted k smallest distances in each of m rows of a block, and their columns.

    `entries` is the block that `block_distances` computed, shape (m, l). Row i of `entries` belongs
    to point first_row + i, and column j to point first_column + j. Both results have shape (m, k).
    """
    # Pairs whose entry is at most an upper bound of the k-th smallest entry of their row are
    # candidates. The margin allows for rounding errors.
    bound = _bound_kth_smallest(entries, k)
    bound += BOUND_MARGIN * np.abs(bound)
    distances = np.empty((len(entries), k))
    columns = np.empty((len(entries), k), int)
    remaining = np.arange(len(entries))  # rows without a final result
    while len(remaining):
        remaining_entries = entries
        if len(remaining) != len(entries):
            remaining_entries = entries[remaining]
        candidates = np.flatnonzero(remaining_entries <= bound[remaining, None])
        i, j = np.divmod(candidates, entries.shape[1])
        candidate_distances = block_distances.exact_distances(
            first_row + remaining[i], first_column + j, remaining_entries[i, j]
        )
        # Sort the candidates by row, then by distance. Each row has at least k of them.
        order = np.lexsort((candidate_distances, i))
        starts = np.searchsorted(i, np.arange(len(remaining)))
        nearest = order[starts[:, None] + np.arange(k)]
        distances[remaining] = candidate_distances[nearest]
        columns[remaining] = j[nearest]
        # A pair that is no candidate may be nearer than the k-th candidate, if the largest possible
        # entry at that distance exceeds the bound of the row. Such rows are processed again, with
        # this largest entry as their bound.
        new_bound = block_distances.block_bound(distances[:, -1])
        remaining = np.flatnonzero(new_bound > bound)
        bound = np.maximum(bound, new_bound)
    return distances, columns


def _bound_kth_smallest(entries: np.ndarray, k: int) -> np.ndarray:
    """Return an upper bound of the k-th smallest entry of each row of `entries`.

    It is the k-th smallest of the minima of groups of columns, which is faster to compute.
    """
    n_groups = max(MIN_COLUMN_GROUPS, GROUPS_PER_NEIGHBOUR * k)
    n_grouped = entries.shape[1] // n_groups * n_groups  # columns that fill groups of equal size
    if n_grouped > 2 * n_groups:
        groups = entries[:, :n_grouped].reshape(len(entries), -1, n_groups)
        ungrouped = entries[:, n_grouped:]
        entries = np.concatenate([groups.min(axis=1), ungrouped], axis=1)
    return np.partition(entries, k - 1, axis=1)[:, k - 1]
