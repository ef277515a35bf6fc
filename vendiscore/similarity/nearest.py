"""The nearest neighbours of n points, and pairs within radii, by distances of blocks of pairs."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy

from ..core.eigenvalues import EPS
from ..support import memory
from ..support.progress import track
from ..support.threads import Value, map_ordered, slices
from ..support.types import Options, Record
from .identical import identical_rows
from .metrics import HOMOGENEOUS
from .pairs import (
    CLOSE,
    PairName,
    centre_of,
    check_defined,
    exponent_of,
    largest_entry,
    lengths,
    mend_close,
    times_power,
)

# Numbers in a block, of this many rows at least: fewer make a slow product.
BLOCK = 1 << 20
LEAST_ROWS = 16
# The k-th smallest entry of a row is at most the k-th smallest of the minima of groups of columns,
# found at the speed of memory. With so many groups, the smallest entries seldom share one.
GROUPS = 256
GROUPS_EACH = 16
# Relative margin beyond that bound for entries that rounding has moved.
BEYOND = 1e-6
# Distances that differ by this share count as equal: on a lattice many differ by rounding only.
TIES = 1e-12
# Powers below this have lost digits or vanished.
LOST = 1e-290


class Pairs(ABC):
    """Distances of n points, in blocks of numbers that are lower bounds up to rounding."""

    n: int
    threaded = True  # whether threads can compute blocks, and faster

    @abstractmethod
    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Return a new array of numbers, each at most `reach` of the distance of its pair."""

    def reach(self, r: np.ndarray) -> np.ndarray:
        """Return the largest number that a pair at distance r, or less, may have in a block."""
        return r

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Return the distances of points i and j whose numbers in blocks are `found`."""
        return found

    def within(self, i: np.ndarray, j: np.ndarray, found: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Return whether the distances of pairs whose numbers are within reach are at most r."""
        return self.lengths(i, j, found) <= r


class RowPairs(Pairs):
    """Euclidean distances of rows of X (n, d); rows nearer than `least` are identical."""

    def __init__(self, X: np.ndarray, least: float = 0.0) -> None:
        self.n, d = X.shape
        what = f"rows of {self.n} samples and references in double precision"
        memory.require(16 * self.n * (d + 2), what, "compare fewer samples")
        self.least = least
        self.shift = exponent_of(X)
        self.X = times_power(X, -self.shift)
        # Upper bound, in squared norms, on the error of a product of d + 2 columns and its sums.
        self.error = (4 * d + 16) * EPS
        centred = self.X - centre_of(self.X)
        self.squares = np.vecdot(centred, centred)
        lowered = self.squares * (1 - self.error)
        self.rows = np.column_stack([centred, lowered, np.ones(self.n)])

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Return ‖x‖² + ‖y‖² − 2 x·y less its largest rounding error, by one matrix product."""
        left = self.rows[rows] * -2.0
        left[:, -2] = 1.0
        left[:, -1] = self.rows[rows, -2]
        return left @ self.rows[columns].T

    def reach(self, r: np.ndarray) -> np.ndarray:
        r = np.ldexp(r, -self.shift)
        radius = np.maximum(r, self.least)
        return radius * radius * (1 + 8 * EPS)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        squares = self.squares[i] + self.squares[j]
        out = np.sqrt(found + self.error * squares)
        close = np.flatnonzero(found < CLOSE * squares)
        out[close] = lengths(self.X, i[close], j[close])
        out[out < self.least] = 0.0
        return np.ldexp(out, self.shift)


class MetricPairs(Pairs):
    """Distances of rows of X (n, d) by a metric of SciPy; 0 for identical rows."""

    def __init__(self, X: np.ndarray, metric: str, options: Options, pair: PairName) -> None:
        self.n: int = len(X)
        self.metric = metric
        self.pair = pair
        self.groups: np.ndarray = np.asarray(identical_rows(X), np.int32)
        self.options: Record = dict(options)
        self.exponent: float = math.inf
        self.shift = 0
        if metric == "minkowski":
            self.shift = math.frexp(largest_entry(X))[1] + 1
            self.exponent = self.options.pop("exponent", 2.0)
            self.options["p"] = self.exponent
        elif metric in HOMOGENEOUS:
            self.shift = exponent_of(X)
        self.X = times_power(X, -self.shift)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        by = self.metric
        if by == "manhattan":
            by = "cityblock"
        A = self.X[rows]
        B = self.X[columns]
        cdist = scipy.spatial.distance.cdist
        D: np.ndarray = cdist(A, B, by, **self.options)
        if by == "jensenshannon":  # the only metric with asymmetric rounding
            D = (D + cdist(B, A, by).T) / 2
        identical = self.groups[rows, None] == self.groups[columns]
        np.put(D, np.flatnonzero(identical), 0.0)  # faster than by a mask

        check_defined(
            D,
            self.metric,
            lambda i, j: self.pair(rows.start + i, columns.start + j),
        )
        if math.isfinite(self.exponent):
            mend_close(
                D,
                # Powers of distances below this, far below the largest too, have lost digits.
                LOST ** (1 / self.exponent) / EPS,
                lambda i, j: lengths(self.X, rows.start + i, columns.start + j, self.exponent),
            )
        if self.shift:
            return np.ldexp(D, self.shift, out=D)
        return D


class MatrixPairs(Pairs):
    """Distances D of distinct points in memory; `inverse` (n,) is the row in D of each point."""

    def __init__(self, D: np.ndarray, inverse: np.ndarray) -> None:
        self.D = D
        self.n: int = len(inverse)
        self.inverse = inverse

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        some = self.D[self.inverse[rows]]
        return some[:, self.inverse[columns]]


def nearest(pairs: Pairs, own: slice, counts: np.ndarray, k: int, description: str) -> np.ndarray:
    """Return sorted distances (size, k) of `own` points to k neighbours; i has counts[i] copies."""
    distinct = min(k, len(counts) - 1)
    if not distinct:
        return np.zeros((1, k))

    def look(block: slice) -> np.ndarray:
        with np.errstate(all="ignore"):
            D = pairs.block(block, own)
            rows = np.arange(len(D))
            itself = rows + block.start - own.start
            D[rows, itself] = np.inf
            lengths, others = _nearest(pairs, D, block.start, own.start, distinct)
        copies = counts[itself] - 1  # of the point itself, at distance 0
        many = np.column_stack([copies, counts[others]])
        lengths = np.column_stack([np.zeros(len(D)), lengths])
        # Cumulative counts show which point holds the first, the second, …, the k-th neighbour.
        until = np.cumsum(many, axis=1)
        nearer = until[:, None] <= np.arange(k)[:, None]
        which = nearer.sum(axis=2)
        return np.take_along_axis(lengths, which, axis=1)

    blocks = list(_looked(pairs, look, own, own, description))
    distances = np.concatenate(blocks)
    if not np.isfinite(distances).all():
        raise ValueError(
            "distances between rows are too large for double precision; divide all rows by the "
            "largest number in them"
        )
    return distances


def members(
    pairs: Pairs,
    rows: slice,
    columns: slice,
    counts: tuple[np.ndarray, np.ndarray],
    radii: Sequence[np.ndarray],
    description: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Count the points within each of the radii of each row, from 0 on, and of each column."""
    counts_of_rows, counts_of_columns = counts
    radii = [r * (1 + TIES) for r in radii]
    reaches = [pairs.reach(r) for r in radii]
    of_rows = np.zeros((len(radii), len(counts_of_rows)), int)
    of_columns = np.zeros((len(radii), len(counts_of_columns)), int)

    def look(block: slice) -> tuple[slice, list[np.ndarray], list[np.ndarray]]:
        by_row = []
        by_column = []
        with np.errstate(all="ignore"):
            D = pairs.block(block, columns)
            for r, most in zip(radii, reaches, strict=True):
                around = block if len(r) > 1 else slice(None)
                places = np.flatnonzero(most[around] >= D)
                i, j = np.divmod(places, D.shape[1])
                radius = np.broadcast_to(r[around], D.shape)[i, j]
                numbers = D[i, j]
                inside = pairs.within(block.start + i, columns.start + j, numbers, radius)
                i = i[inside]
                j = j[inside]
                of_row = np.bincount(i, counts_of_columns[j], len(D))
                of_column = np.bincount(j, counts_of_rows[block][i], D.shape[1])
                by_row.append(of_row.astype(int))
                by_column.append(of_column.astype(int))
        return block, by_row, by_column

    for block, by_row, by_column in _looked(pairs, look, rows, columns, description):
        of_rows[:, block] += by_row
        of_columns += by_column
    return of_rows, of_columns


def _looked(
    pairs: Pairs, look: Callable[[slice], Value], rows: slice, columns: slice, description: str
) -> Iterator[Value]:
    """Yield the results of `look` for blocks of rows, in order, with a progress bar."""
    width = columns.stop - columns.start
    size = max(LEAST_ROWS, BLOCK // width)
    blocks = slices(rows.stop, size, rows.start)
    return track(map_ordered(look, blocks, pairs.threaded), len(blocks), description)


def _nearest(pairs: Pairs, D: np.ndarray, i: int, j: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest distances of rows of a block that begins at (i, j); their columns."""
    bound = _bound(D, k)
    bound += BEYOND * np.abs(bound)
    todo = np.arange(len(D))
    kept = np.empty((len(D), k))
    columns = np.empty((len(D), k), int)
    while len(todo):
        rows = D
        if len(todo) != len(D):
            rows = D[todo]
        places = np.flatnonzero(rows <= bound[todo, None])
        near, other = np.divmod(places, D.shape[1])
        numbers = rows[near, other]
        length = pairs.lengths(i + todo[near], j + other, numbers)
        order = np.lexsort((length, near))
        starts = np.searchsorted(near, np.arange(len(todo)))
        nearest_k = starts[:, None] + np.arange(k)
        first = order[nearest_k]
        kept[todo] = length[first]
        columns[todo] = other[first]
        # Every pair as near as the last of these has a number within this reach.
        most = pairs.reach(kept[:, -1])
        todo = np.flatnonzero(most > bound)
        bound = np.maximum(bound, most)
    return kept, columns


def _bound(D: np.ndarray, k: int) -> np.ndarray:
    """Return an upper bound (rows,) on the k-th smallest entry of each row."""
    groups = max(GROUPS, GROUPS_EACH * k)
    whole = D.shape[1] // groups * groups
    if whole > 2 * groups:
        grouped = D[:, :whole].reshape(len(D), -1, groups)
        rest = D[:, whole:]
        D = np.concatenate([grouped.min(axis=1), rest], axis=1)
    return np.partition(D, k - 1, axis=1)[:, k - 1]
