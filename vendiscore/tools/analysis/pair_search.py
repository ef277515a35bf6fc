"""One pass over all pairs of samples, which finds near-duplicates and nearest neighbours.

Small sets are compared in double precision, a block of rows at a time, large sets in single
precision; near pairs are then recomputed in double.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ...similarity.base import Similarity
from ...similarity.features import FeatureSimilarity
from ...similarity.tiles import FLOAT32_ERROR, SimilarityTiles, Tile
from ...support.namespace import is_torch, row_blocks, to_host
from ...support.parallel import map_ordered
from ...support.progress import announce_duration, track
from .near_pairs import ROUNDING, NearPairs, Neighbours

# Largest number of pairs that are kept; beyond it the least similar go, and the floor rises.
MAX_PAIRS = 4_000_000
# Pairs this far below the threshold are kept too, so that `rethreshold` can lower it.
FLOOR_MARGIN = 0.2
# Up to SMALL samples, all pairs are in double precision.
MAX_DOUBLE_PRECISION = 4096
# Rows that are compared with all others at once: a product of fewer waits for memory.
BLOCK_ROWS = 256
# Samples i, samples j and their similarity.
SimilarPairs: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
# Operations for an entry of K from any other kernel than products of dense features.
ENTRY_OPERATIONS = 200.0


def search_pairs(
    similarity: Similarity,
    first_copies: np.ndarray,
    threshold: float,
    floor: float | None = None,
) -> tuple[Neighbours, float, SimilarPairs]:
    """Return the nearest of each of n samples, a floor, and the pairs at least as similar.

    Pairs are of samples that are their own `first` (n,): one per copy.
    """
    indices = np.arange(similarity.n)
    # One sample of each group of identical ones is compared: its `first`, if the group has one.
    representatives = first_in_group(similarity.groups(), first_copies != indices)
    distinct_indices, distinct_codes = np.unique(representatives, return_inverse=True)
    distinct = similarity
    if len(distinct_indices) < len(indices):
        distinct = similarity.take(distinct_indices)
    if isinstance(distinct, FeatureSimilarity) and is_torch(distinct.X):
        distinct = FeatureSimilarity(to_host(distinct.features()))  # n × d, where pairs are n²
    n = distinct.n
    if floor is None:
        floor = threshold - FLOOR_MARGIN
    if n <= MAX_DOUBLE_PRECISION:
        pairs = NearPairs(floor, MAX_PAIRS, threshold)
        blocks = [(rows, slice(rows.start, n)) for rows in row_blocks(n, 8 * n, BLOCK_ROWS)]

        def compute_block(rows: slice, columns: slice) -> np.ndarray:
            K = to_host(distinct.rows(rows))
            return np.array(K[:, columns], dtype=np.float64)

        neighbours = _search_tiles(distinct, compute_block, blocks, pairs)
        if n == 1:
            neighbours.similarity = to_host(distinct.diagonal())
        floor = pairs.floor
        i, j, values = pairs.arrays
    else:
        pairs = NearPairs(floor, MAX_PAIRS, threshold, FLOAT32_ERROR)
        tiles = SimilarityTiles(distinct)
        operations_per_entry = ENTRY_OPERATIONS if tiles.rows is None else tiles.rows.shape[1]
        flops = float(n) * n * operations_per_entry
        with announce_duration(f"Comparing {n:,} samples", flops, 4 * n, single_precision=True):
            neighbours = _search_tiles(distinct, tiles, tiles.tiles, pairs)
        i, j, _ = pairs.arrays
        values = tiles.compute_pairs(i, j)  # in double precision
        neighbours.similarity = tiles.compute_pairs(np.arange(n), neighbours.nearest)
        neighbours.add_pairs(i, j, values)
        floor = max(floor, pairs.floor + FLOAT32_ERROR)
    i = distinct_indices[i]
    j = distinct_indices[j]
    are_first = (first_copies[i] == i) & (first_copies[j] == j)
    is_selected = are_first & (values >= floor - 2 * ROUNDING)
    _expand_to_copies(neighbours, distinct, distinct_codes)
    return neighbours, floor, (i[is_selected], j[is_selected], values[is_selected])


def first_in_group(groups: np.ndarray | None, is_later: np.ndarray) -> np.ndarray:
    """Return the first sample of each sample's group, (n,), of which `later` ones come last."""
    first = np.arange(len(is_later))
    if groups is not None:
        order = np.argsort(is_later, kind="stable")
        _, start, inverse = np.unique(groups[order], return_index=True, return_inverse=True)
        first[order] = order[start[inverse]]
    return first


def _expand_to_copies(
    neighbours: Neighbours, distinct: Similarity, distinct_codes: np.ndarray
) -> None:
    """Expand neighbours of distinct samples to all samples, each of one of the `kinds`."""
    _, earliest = np.unique(distinct_codes, return_index=True)
    nearest = earliest[neighbours.nearest]
    neighbours.nearest = nearest[distinct_codes]
    neighbours.similarity = neighbours.similarity[distinct_codes]
    # The nearest neighbour of a sample with copies is the first of these copies.
    copies = np.setdiff1d(np.arange(len(distinct_codes)), earliest)
    codes_with_copies, first_positions = np.unique(distinct_codes[copies], return_index=True)
    has_copies = np.isin(distinct_codes, codes_with_copies)
    neighbours.nearest[has_copies] = earliest[distinct_codes[has_copies]]
    neighbours.nearest[earliest[codes_with_copies]] = copies[first_positions]
    diagonal = to_host(distinct.diagonal())
    neighbours.similarity[has_copies] = diagonal[distinct_codes[has_copies]]


def _search_tiles(
    similarity: Similarity,
    entries: Callable[[slice, slice], np.ndarray],
    tiles: Sequence[Tile],
    near_pairs: NearPairs,
) -> Neighbours:
    """Compute tiles of K in threads, and add their near pairs in the order of the tiles."""
    neighbours = Neighbours(similarity.n)

    def select_closer(
        K: np.ndarray,
        maxima: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
    ) -> SimilarPairs:
        """Return the nearest column of rows that are nearer to it than to their neighbour so far.

        Other tiles may raise similarities meanwhile; `add` compares once more.
        """
        i = np.flatnonzero(maxima > neighbours.similarity[rows])
        nearest = K[i].argmax(axis=1)
        return rows[i], columns[nearest], maxima[i]

    def process_tile(tile: Tile) -> tuple[SimilarPairs, SimilarPairs, SimilarPairs]:
        K = entries(*tile)
        rows, columns = (np.arange(part.start, part.stop) for part in tile)
        if rows[0] == columns[0]:  # samples of the columns come first
            np.fill_diagonal(K, -np.inf)
        of_rows = K.max(axis=1)
        by_row = select_closer(K, of_rows, rows, columns)
        by_column = select_closer(K.T, K.max(axis=0), columns, rows)
        near = np.flatnonzero(of_rows >= near_pairs.min_similarity)
        a, b = np.nonzero(K[near] >= near_pairs.min_similarity)
        a = near[a]
        i = rows[a]
        j = columns[b]
        once = i < j
        return by_row, by_column, (i[once], j[once], K[a, b][once])

    tile_results = map_ordered(process_tile, tiles, similarity.in_threads)
    for by_row, by_column, near in track(tile_results, len(tiles), "comparing samples"):
        neighbours.add(*by_row)
        neighbours.add(*by_column)
        near_pairs.add(*near)
    return neighbours
