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
        self.n, d = X.shape
        what = f"rows of {self.n} samples and references in double precision"
        memory.require(16 * self.n * (d + 2), what, "compare fewer samples")
        self.floor = floor
        self.shift: int = exponent_of(X)
        self.X = np.ldexp(X.astype(np.float64, copy=False), -self.shift) if self.shift else X
        # Upper bound, in squared norms, on the error of a product of d + 2 columns and its sums.
        self.error: float = (4 * d + 16) * EPS
        self.rows: np.ndarray = np.empty((self.n, d + 2))
        own = self.rows[:, :d]
        np.subtract(self.X, centre_of(self.X), out=own)
        self.squares: np.ndarray = np.vecdot(own, own)
        self.rows[:, d], self.rows[:, d + 1] = self.squares * (1 - self.error), 1.0

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Return ‖x‖² + ‖y‖² − 2 x·y less its largest rounding error, by one matrix product."""
        own = self.rows[rows]
        left = own * -2.0
        left[:, -2], left[:, -1] = 1.0, own[:, -2]
        return np.asarray(left @ self.rows[columns].T)

    def reach(self, r: np.ndarray) -> np.ndarray:
        return np.maximum(super().reach(np.ldexp(r, -self.shift)), self.floor)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        squares = np.empty(len(i))
        for part in row_blocks(len(i), 8 * self.X.shape[1]):
            gap = np.subtract(self.X[i[part]], self.X[j[part]], dtype=np.float64)
            squares[part] = np.einsum("ij,ij->i", gap, gap)
        squares[squares < self.floor] = 0.0
        out = np.sqrt(squares)
        lost = np.flatnonzero((squares < VANISHING) & (squares >= self.floor))
        out[lost] = lengths(self.X, i[lost], j[lost])
        return np.ldexp(out, self.shift) if self.shift else out

    def within(self, i: np.ndarray, j: np.ndarray, found: np.ndarray, r: np.ndarray) -> np.ndarray:
        most = found + 2 * self.error * (self.squares[i] + self.squares[j])
        inside = most < np.ldexp(r, -self.shift) ** 2 * (1 - 8 * EPS)
        doubt = np.flatnonzero(~inside)
        inside[doubt] = self.lengths(i[doubt], j[doubt], found[doubt]) <= r[doubt]
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
        self.groups: np.ndarray | None = groups if groups.max() + 1 < self.n else None
        self.options: Record = dict(options)
        self.exponent: float = math.inf
        self.shift: int = 0
        if metric == "minkowski":
            self.shift = math.frexp(float(np.abs(X).max()))[1] + 1
            self.exponent = self.options.pop("exponent", 2.0)
            self.options["p"] = self.exponent
        elif metric in HOMOGENEOUS:
            self.shift = exponent_of(X)
        # Powers of distances below this, far below the largest too, have lost digits.
        least = min(LOST ** (1 / self.exponent) / EPS, 4.0)
        self.least: float = math.ldexp(least, self.shift)
        self.X = np.ldexp(X.astype(np.float64, copy=False), -self.shift) if self.shift else X

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        by = "cityblock" if self.metric == "manhattan" else self.metric
        A, B = self.X[rows], self.X[columns]
        D = np.asarray(scipy.spatial.distance.cdist(A, B, by, **self.options))
        if by == "jensenshannon":  # the only metric with asymmetric rounding
            D = (D + np.asarray(scipy.spatial.distance.cdist(B, A, by)).T) / 2
        if self.groups is not None:
            D[self.groups[rows, None] == self.groups[columns]] = 0.0
        own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        D[own - rows.start, own - columns.start] = 0.0
        check_defined(D, self.metric, lambda i, j: self.pair(rows.start + i, columns.start + j))
        return np.ldexp(D, self.shift, out=D) if self.shift else D

    def reach(self, r: np.ndarray) -> np.ndarray:
        return r if not math.isfinite(self.exponent) else r * (1 + BEYOND)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        if not math.isfinite(self.exponent):
            return found
        out, lost = found.copy(), np.flatnonzero(found < self.least)
        again = lengths(self.X, i[lost], j[lost], self.exponent)
        out[lost] = np.ldexp(again, self.shift)
        return out


class MatrixPairs(Pairs):
    """Distances D of distinct points in memory; `inverse` (n,) is the row in D of each point."""

    def __init__(self, D: np.ndarray, inverse: np.ndarray) -> None:
        self.D, self.n = D, len(inverse)
        self.inverse = inverse

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        return np.asarray(self.D[self.inverse[rows]][:, self.inverse[columns]])


def nearest(pairs: Pairs, own: slice, counts: np.ndarray, k: int, description: str) -> np.ndarray:
    """Return sorted distances (size, k) of `own` points to k neighbours; i has counts[i] copies."""
    distinct = min(k, len(counts) - 1)

    def look(block: slice) -> np.ndarray:
        if not distinct:
            return np.zeros((len(counts), k))
        with np.errstate(all="ignore"):
            D = pairs.block(block, own)
            here = np.arange(len(D))
            D[here, here + block.start - own.start] = np.inf
            lengths, others = _nearest(pairs, D, block.start, own.start, distinct)
        inside = slice(block.start - own.start, block.stop - own.start)
        lengths = np.concatenate([np.zeros((len(D), 1)), lengths], axis=1)
        many = np.concatenate([counts[inside, None] - 1, counts[others]], axis=1)
        # Cumulative counts show which point holds the first, the second, …, the k-th neighbour.
        which = (np.cumsum(many, axis=1)[:, None] <= np.arange(k)[:, None]).sum(axis=2)
        return np.asarray(np.take_along_axis(lengths, which, axis=1))

    found = np.concatenate(list(_looked(pairs, look, own, own, description)))
    if not np.isfinite(found).all():
        raise ValueError(
            "distances between rows are too large for double precision; divide all rows by the "
            "largest number in them"
        )
    return found


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
    of_rows = np.zeros((len(radii), rows.stop - rows.start), int)
    of_columns = np.zeros((len(radii), columns.stop - columns.start), int)

    def look(block: slice) -> tuple[slice, list[np.ndarray], list[np.ndarray]]:
        own = slice(block.start - rows.start, block.stop - rows.start)
        by_row, by_column = [], []
        with np.errstate(all="ignore"):
            D = pairs.block(block, columns)
            for r, most in zip(radii, reaches, strict=True):
                around = own if len(r) > 1 else slice(None)
                i, j = np.divmod(np.flatnonzero(most[around] >= D), D.shape[1])
                radius = np.broadcast_to(r[around], D.shape)[i, j]
                inside = pairs.within(block.start + i, columns.start + j, D[i, j], radius)
                i, j = i[inside], j[inside]
                by_row.append(np.bincount(i, counts[1][j], len(D)).astype(int))
                by_column.append(np.bincount(j, counts[0][own][i], D.shape[1]).astype(int))
        return own, by_row, by_column

    for own, by_row, by_column in _looked(pairs, look, rows, columns, description):
        of_rows[:, own] += by_row
        of_columns += by_column
    return of_rows, of_columns


def _looked(
    pairs: Pairs, look: Any, rows: slice, columns: slice, description: str
) -> Iterator[Any]:
    """Yield the results of `look` for blocks of rows, in order, with a progress bar."""
    size = max(LEAST_ROWS, BLOCK // (columns.stop - columns.start))
    blocks = [slice(at, min(at + size, rows.stop)) for at in range(rows.start, rows.stop, size)]
    found: Iterable[Any] = in_order(look, blocks) if pairs.threaded else map(look, blocks)
    return track(found, len(blocks), description)


def _nearest(pairs: Pairs, D: np.ndarray, i: int, j: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest distances of rows of a block that begins at (i, j); their columns."""
    bound = _bound(D, k)
    bound += BEYOND * np.abs(bound)
    todo, kept, columns = np.arange(len(D)), np.empty((len(D), k)), np.empty((len(D), k), int)
    while len(todo):
        rows = D if len(todo) == len(D) else D[todo]
        near, other = np.divmod(np.flatnonzero(rows <= bound[todo, None]), D.shape[1])
        length = pairs.lengths(i + todo[near], j + other, rows[near, other])
        order = np.lexsort((length, near))
        starts = np.searchsorted(near, np.arange(len(todo)))
        first = order[starts[:, None] + np.arange(k)]
        kept[todo], columns[todo] = length[first], other[first]
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
        minima = D[:, :whole].reshape(len(D), -1, groups).min(axis=1)
        D = np.concatenate([minima, D[:, whole:]], axis=1)
    return np.asarray(np.partition(D, k - 1, axis=1)[:, k - 1])
