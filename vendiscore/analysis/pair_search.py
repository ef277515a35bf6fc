"""One pass over all pairs of samples, which finds near-duplicates and nearest neighbours.

Small sets are compared in double precision, a block of rows at a time, large sets in single
precision; near pairs are then recomputed in double.
"""

from __future__ import annotations

import numpy as np

from ..arrays.threads import in_order
from ..core.namespace import row_blocks, to_host
from ..progress import foretell, track
from ..similarity.base import Similarity
from ..similarity.tiles import SINGLE_ERROR, Tile, Tiles
from .near_pairs import NearPairs, Neighbours

# Largest number of pairs that are kept; beyond it the least similar go, and the floor rises.
MOST_PAIRS = 4_000_000
# Pairs this far below the threshold are kept too, so that `rethreshold` can lower it.
MARGIN = 0.2
# Up to SMALL samples, all pairs are in double precision.
SMALL = 4096
# Rows that are compared with all others at once: a product of fewer waits for memory.
ROWS = 256
# Operations for an entry of K from any other kernel than products of dense features.
ENTRY = 200.0


def compare_all(
    similarity: Similarity,
    first: np.ndarray,
    threshold: float,
    floor: float | None = None,
    most: int = MOST_PAIRS,
) -> tuple[Neighbours, NearPairs]:
    """Compare n samples; keep pairs of samples that are their own `first` (n,): one per copy."""
    n = similarity.n
    floor = threshold - MARGIN if floor is None else floor
    if n <= SMALL:
        return _in_double(similarity, first, NearPairs(floor, most, threshold))
    rough = NearPairs(floor, most, threshold, SINGLE_ERROR)
    distinct = _Distinct(similarity, first)
    tiles = Tiles(distinct.similarity)
    flops = float(n) * n * (ENTRY if tiles.rows is None else tiles.rows.shape[1])
    with foretell(f"Comparing {n:,} samples", flops, 4 * n, single=True):
        neighbours = _by_tiles(tiles, rough)
    pairs = _checked(tiles, max(floor, rough.floor + SINGLE_ERROR), rough, neighbours)
    return distinct.expanded(neighbours, pairs)


def _in_double(
    similarity: Similarity, first: np.ndarray, pairs: NearPairs
) -> tuple[Neighbours, NearPairs]:
    """Compare each block of rows of K with all samples, in double precision."""
    n = similarity.n
    neighbours, is_first = Neighbours(n), first == np.arange(n)
    blocks = list(row_blocks(n, 8 * n, ROWS))
    for block in track(blocks, len(blocks), "comparing samples"):
        K = np.array(to_host(similarity.rows(block)), dtype=np.float64)
        here = np.arange(len(K))
        alone = K[here, here + block.start].copy()
        K[here, here + block.start] = -np.inf
        neighbours.nearest[block] = K.argmax(axis=1)
        closest = K[here, neighbours.nearest[block]]
        neighbours.similarity[block] = closest if n > 1 else alone
        rows, columns = np.nonzero(pairs.least <= K)
        values = K[rows, columns]
        rows += block.start
        chosen = is_first[rows] & is_first[columns] & (columns > rows)
        pairs.add(rows[chosen], columns[chosen], values[chosen])
    return neighbours, pairs


class _Distinct:
    """One sample of each group of identical ones: its `first`, if the group has one."""

    def __init__(self, similarity: Similarity, first: np.ndarray) -> None:
        n, groups = similarity.n, similarity.groups()
        self._is_first = first == np.arange(n)
        self.kinds = self.places = self._earliest = np.arange(n)
        self.similarity = similarity
        if groups is None:
            return
        order = np.argsort(~self._is_first, kind="stable")
        start = order[np.unique(groups[order], return_index=True)[1]]
        if len(start) == n:
            return
        self.places = np.sort(start)
        self.similarity = similarity.take(self.places)
        number = np.empty(n, dtype=np.int64)  # of each group, in the order of places
        number[groups[self.places]] = np.arange(len(self.places))
        self.kinds = number[groups]
        self._earliest = np.unique(self.kinds, return_index=True)[1]

    def expanded(self, neighbours: Neighbours, pairs: NearPairs) -> tuple[Neighbours, NearPairs]:
        """Expand results for one sample of each group to all samples."""
        i, j, similarity = pairs.arrays
        i, j = self.places[i], self.places[j]
        of_first = self._is_first[i] & self._is_first[j]
        every, n = NearPairs(pairs.floor, len(i)), len(self.kinds)
        every.add(i[of_first], j[of_first], similarity[of_first])
        found = Neighbours(n)
        found.nearest = self._earliest[neighbours.nearest][self.kinds]
        found.similarity = neighbours.similarity[self.kinds]
        if len(self.places) == n:
            return found, every
        # The nearest neighbour of a sample with copies is the first of these copies.
        order = np.argsort(self.kinds, kind="stable")
        second = np.full(len(self.places), -1)
        starts = np.searchsorted(self.kinds[order], np.arange(len(self.places)))
        several = np.bincount(self.kinds) > 1
        second[several] = order[starts[several] + 1]
        copied = several[self.kinds]
        earliest = self._earliest[self.kinds]
        other = np.where(earliest == np.arange(n), second[self.kinds], earliest)
        found.nearest[copied] = other[copied]
        found.similarity[copied] = to_host(self.similarity.diagonal())[self.kinds[copied]]
        return found, every


def _by_tiles(tiles: Tiles, pairs: NearPairs) -> Neighbours:
    """Compute tiles of K in threads, and add their near pairs in the order of the tiles."""
    neighbours = Neighbours(tiles.n)

    def look(tile: Tile) -> tuple[tuple[np.ndarray, ...], ...]:
        K = tiles(*tile)
        rows, columns = (np.arange(some.start, some.stop) for some in tile)
        if rows[0] == columns[0]:  # samples of the columns come first
            np.fill_diagonal(K, -np.inf)
        # Other tiles may raise these values meanwhile; `add` compares once more.
        top, low = K.max(axis=1), K.max(axis=0)
        i = np.flatnonzero(top > neighbours.similarity[rows])
        j = np.flatnonzero(low > neighbours.similarity[columns])
        by_row = rows[i], columns[K[i].argmax(axis=1)], top[i]
        by_column = columns[j], rows[K[:, j].argmax(axis=0)], low[j]
        near = np.flatnonzero(top >= pairs.least)
        a, b = np.nonzero(K[near] >= pairs.least)
        once = rows[near[a]] < columns[b]
        a, b = near[a[once]], b[once]
        return by_row, by_column, (rows[a], columns[b], K[a, b])

    places = tiles.tiles
    found = in_order(look, places, tiles.similarity.in_threads)
    for by_row, by_column, near in track(found, len(places), "comparing samples"):
        neighbours.add(*by_row)
        neighbours.add(*by_column)
        pairs.add(*near)
    return neighbours


def _checked(tiles: Tiles, floor: float, rough: NearPairs, neighbours: Neighbours) -> NearPairs:
    """Recompute pairs in double precision; update the nearest neighbours in place."""
    i, j, _ = rough.arrays
    values = tiles.pairs(i, j)
    neighbours.similarity[:] = tiles.pairs(np.arange(tiles.n), neighbours.nearest)
    neighbours.add_pairs(i, j, values)
    pairs = NearPairs(floor, len(i))
    pairs.add(i, j, values)
    return pairs
