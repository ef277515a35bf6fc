"""The nearest neighbours of n points, and pairs within radii, decided by exact distances."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from ..arrays import memory
from ..arrays.identical import identical_rows
from ..arrays.threads import in_order
from ..core.namespace import row_blocks
from ..core.types import Record
from ..progress import track
from .metrics import HOMOGENEOUS
from .pairs import PairName, centre_of, check_defined, exponent_of, lengths

# Numbers in a block, of this many rows at least: fewer make a slow product.
BLOCK, LEAST_ROWS = 1 << 20, 16
# The k-th smallest entry of a row is at most the k-th smallest of the minima of groups of columns,
# found at the speed of memory. With so many groups, the smallest entries seldom share one.
GROUPS, GROUPS_EACH = 256, 16
# Relative margin beyond that bound for entries that rounding has moved.
BEYOND = 1e-6
# Distances that differ by this share count as equal: on a lattice many differ by rounding only.
TIES = 1e-12
EPS = float(np.finfo(np.float64).eps)
# Powers below this have lost digits or vanished.
LOST = 1e-290
# Below this share of the largest, squares of distances lose digits or vanish.
VANISHING = 1e-140


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


class Squared(Pairs):
    """Distances computed from their squares."""

    def reach(self, r: np.ndarray) -> np.ndarray:
        return np.asarray(r * r * (1 + 8 * EPS))


class RowPairs(Squared):
    """Euclidean distances of rows of X (n, d); rows with a square below `floor` are identical."""

    def __init__(self, X: np.ndarray, floor: float = 0.0) -> None:
        n, d = X.shape
        what = f"rows of {n} samples and references in double precision"
        memory.require(16 * n * (d + 2), what, "compare fewer samples")
        self.n = n
        self.floor = floor
        self.shift: int = exponent_of(X)
        self.X = _scaled(X, self.shift)
        # Upper bound, in squared norms, on the error of a product of d + 2 columns and its sums.
        self.error: float = (4 * d + 16) * EPS
        self.rows: np.ndarray = np.empty((n, d + 2))
        centred = self.rows[:, :d]
        np.subtract(self.X, centre_of(self.X), out=centred)
        self.squares: np.ndarray = np.vecdot(centred, centred)
        self.rows[:, d] = self.squares * (1 - self.error)
        self.rows[:, d + 1] = 1.0

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Return ‖x‖² + ‖y‖² − 2 x·y less its largest rounding error, by one matrix product."""
        right = self.rows[columns]
        left = self.rows[rows] * -2.0
        left[:, -2] = 1.0
        left[:, -1] = self.rows[rows, -2]
        return np.asarray(left @ right.T)

    def reach(self, r: np.ndarray) -> np.ndarray:
        squares = super().reach(np.ldexp(r, -self.shift))
        return np.maximum(squares, self.floor)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        squares = np.empty(len(i))
        for part in row_blocks(len(i), 8 * self.X.shape[1]):
            left, right = self.X[i[part]], self.X[j[part]]
            gap = np.subtract(left, right, dtype=np.float64)
            squares[part] = np.einsum("ij,ij->i", gap, gap)
        is_lost = (squares < VANISHING) & (squares >= self.floor)
        lost = np.flatnonzero(is_lost)
        squares[squares < self.floor] = 0.0
        out = np.sqrt(squares)
        out[lost] = lengths(self.X, i[lost], j[lost])
        return np.ldexp(out, self.shift) if self.shift else out

    def within(self, i: np.ndarray, j: np.ndarray, found: np.ndarray, r: np.ndarray) -> np.ndarray:
        error = 2 * self.error * (self.squares[i] + self.squares[j])
        radius = np.ldexp(r, -self.shift)
        inside = found + error < radius**2 * (1 - 8 * EPS)
        doubt = np.flatnonzero(~inside)
        exact = self.lengths(i[doubt], j[doubt], found[doubt])
        inside[doubt] = exact <= r[doubt]
        return np.asarray(inside)


class MetricPairs(Pairs):
    """Distances of rows of X (n, d) by a metric of SciPy; 0 for identical rows."""

    def __init__(
        self, X: np.ndarray, metric: str, options: Mapping[str, Any], pair: PairName
    ) -> None:
        self.n = len(X)
        self.metric = metric
        self.pair = pair
        groups = np.asarray(identical_rows(X))
        some_are_identical = groups.max() + 1 < self.n
        self.groups: np.ndarray | None = groups if some_are_identical else None
        self.options: Record = dict(options)
        self.exponent: float = math.inf
        self.shift: int = 0
        if metric == "minkowski":
            largest = float(np.abs(X).max())
            self.shift = math.frexp(largest)[1] + 1
            self.exponent = self.options.pop("exponent", 2.0)
            self.options["p"] = self.exponent
        elif metric in HOMOGENEOUS:
            self.shift = exponent_of(X)
        # Powers of distances below this, far below the largest too, have lost digits.
        least = LOST ** (1 / self.exponent) / EPS
        self.least: float = math.ldexp(min(least, 4.0), self.shift)
        self.X = _scaled(X, self.shift)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        by = "cityblock" if self.metric == "manhattan" else self.metric
        A = self.X[rows]
        B = self.X[columns]
        D = np.asarray(scipy.spatial.distance.cdist(A, B, by, **self.options))
        if by == "jensenshannon":  # the only metric with asymmetric rounding
            mirrored = np.asarray(scipy.spatial.distance.cdist(B, A, by))
            D = (D + mirrored.T) / 2
        if self.groups is not None:
            identical = self.groups[rows, None] == self.groups[columns]
            D[identical] = 0.0
        first = max(rows.start, columns.start)
        last = min(rows.stop, columns.stop)
        itself = np.arange(first, last)
        D[itself - rows.start, itself - columns.start] = 0.0

        def pair(i: int, j: int) -> str:
            return self.pair(rows.start + i, columns.start + j)

        check_defined(D, self.metric, pair)
        return np.ldexp(D, self.shift, out=D) if self.shift else D

    def reach(self, r: np.ndarray) -> np.ndarray:
        return r if not math.isfinite(self.exponent) else r * (1 + BEYOND)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        if not math.isfinite(self.exponent):
            return found
        out = found.copy()
        lost = np.flatnonzero(found < self.least)
        again = lengths(self.X, i[lost], j[lost], self.exponent)
        out[lost] = np.ldexp(again, self.shift)
        return out


class MatrixPairs(Pairs):
    """Distances D of distinct points in memory; `inverse` (n,) is the row in D of each point."""

    def __init__(self, D: np.ndarray, inverse: np.ndarray) -> None:
        self.D = D
        self.n = len(inverse)
        self.inverse = inverse

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        some = self.D[self.inverse[rows]]
        return np.asarray(some[:, self.inverse[columns]])


def _scaled(X: np.ndarray, shift: int) -> np.ndarray:
    """Return rows divided by a power of two."""
    return np.ldexp(X.astype(np.float64, copy=False), -shift) if shift else X


def nearest(pairs: Pairs, own: slice, counts: np.ndarray, k: int, description: str) -> np.ndarray:
    """Return sorted distances (size, k) of `own` points to k neighbours; i has counts[i] copies."""
    distinct = min(k, len(counts) - 1)

    def look(block: slice) -> np.ndarray:
        if not distinct:
            return np.zeros((len(counts), k))
        with np.errstate(all="ignore"):
            D = pairs.block(block, own)
            rows = np.arange(len(D))
            itself = rows + block.start - own.start
            D[rows, itself] = np.inf
            lengths, others = _nearest(pairs, D, block.start, own.start, distinct)
        copies = counts[itself, None] - 1  # of the point itself, at distance 0
        zeros = np.zeros((len(D), 1))
        lengths = np.concatenate([zeros, lengths], axis=1)
        many = np.concatenate([copies, counts[others]], axis=1)
        # Cumulative counts show which point holds the first, the second, …, the k-th neighbour.
        until = np.cumsum(many, axis=1)
        nearer = until[:, None] <= np.arange(k)[:, None]
        which = nearer.sum(axis=2)
        return np.asarray(np.take_along_axis(lengths, which, axis=1))

    blocks = _looked(pairs, look, own, own, description)
    distances = np.concatenate(list(blocks))
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
    """Count the points within each of the radii of each row, and of each column."""
    radii = [r * (1 + TIES) for r in radii]
    reaches = [pairs.reach(r) for r in radii]
    height = rows.stop - rows.start
    width = columns.stop - columns.start
    of_rows = np.zeros((len(radii), height), int)
    of_columns = np.zeros((len(radii), width), int)

    def look(block: slice) -> tuple[slice, list[np.ndarray], list[np.ndarray]]:
        own = slice(block.start - rows.start, block.stop - rows.start)
        by_row = []
        by_column = []
        with np.errstate(all="ignore"):
            D = pairs.block(block, columns)
            for r, most in zip(radii, reaches, strict=True):
                around = own if len(r) > 1 else slice(None)
                places = np.flatnonzero(most[around] >= D)
                i, j = np.divmod(places, D.shape[1])
                radius = np.broadcast_to(r[around], D.shape)[i, j]
                numbers = D[i, j]
                inside = pairs.within(block.start + i, columns.start + j, numbers, radius)
                i = i[inside]
                j = j[inside]
                of_row = np.bincount(i, counts[1][j], len(D))
                of_column = np.bincount(j, counts[0][own][i], D.shape[1])
                by_row.append(of_row.astype(int))
                by_column.append(of_column.astype(int))
        return own, by_row, by_column

    for own, by_row, by_column in _looked(pairs, look, rows, columns, description):
        of_rows[:, own] += by_row
        of_columns += by_column
    return of_rows, of_columns


def _looked(
    pairs: Pairs, look: Any, rows: slice, columns: slice, description: str
) -> Iterator[Any]:
    """Yield the results of `look` for blocks of rows, in order, with a progress bar."""
    width = columns.stop - columns.start
    size = max(LEAST_ROWS, BLOCK // width)
    starts = range(rows.start, rows.stop, size)
    blocks = [slice(start, min(start + size, rows.stop)) for start in starts]
    results: Iterable[Any] = map(look, blocks)
    if pairs.threaded:
        results = in_order(look, blocks)
    return track(results, len(blocks), description)


def _nearest(pairs: Pairs, D: np.ndarray, i: int, j: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest distances of rows of a block that begins at (i, j); their columns."""
    bound = _bound(D, k)
    bound += BEYOND * np.abs(bound)
    todo = np.arange(len(D))
    kept = np.empty((len(D), k))
    columns = np.empty((len(D), k), int)
    while len(todo):
        rows = D if len(todo) == len(D) else D[todo]
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
        # Any pair as near as the last of these has a number within this reach.
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
    ordered = np.partition(D, k - 1, axis=1)
    return np.asarray(ordered[:, k - 1])
