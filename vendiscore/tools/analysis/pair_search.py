"""One pass over all pairs of samples, which finds near-duplicates and nearest neighbours.

Small sets are compared in double precision, one block of rows at a time. Large sets are compared in
single precision; the similarities of near pairs are then recomputed in double precision.
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

# Maximum number of stored pairs. If there are more, the less similar ones are removed, which raises
# the floor.
MAX_PAIRS = 4_000_000
# Pairs are stored down to this distance below the threshold, so that `rethreshold` can lower it.
FLOOR_MARGIN = 0.2
# Up to this number of samples, all pairs are compared in double precision.
MAX_DOUBLE_PRECISION = 4096
# Number of rows that are compared with all samples at once. The speed of the memory would limit
# products of fewer rows.
BLOCK_ROWS = 256
# Pairs of samples as three arrays of equal length: indices i, indices j, and similarities.
SimilarPairs: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
# Assumed number of operations per similarity, for kernels without dense features.
ENTRY_OPERATIONS = 200.0


def search_pairs(
    similarity: Similarity,
    first_copies: np.ndarray,
    threshold: float,
    floor: float | None = None,
) -> tuple[Neighbours, float, SimilarPairs]:
    """Find the nearest neighbours of n samples, and pairs with a similarity of at least `floor`.

    `first_copies`, shape (n,), is the index of the first sample that is identical to each sample.
    Only samples that are their own first copy occur in pairs. The default floor is slightly below
    the threshold. Return the neighbours, the floor (raised if there are too many pairs), and the
    pairs.
    """
    indices = np.arange(similarity.n)
    # Only one of several identical samples is compared, if possible their first copy.
    representatives = first_in_group(similarity.groups(), first_copies != indices)
    distinct_indices, distinct_codes = np.unique(representatives, return_inverse=True)
    distinct = similarity
    if len(distinct_indices) < len(indices):
        distinct = similarity.take(distinct_indices)
    if isinstance(distinct, FeatureSimilarity) and is_torch(distinct.X):
        distinct = FeatureSimilarity(
            to_host(distinct.features())
        )  # d numbers per sample, few compared with n pairs
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
        operations_per_entry = ENTRY_OPERATIONS
        if tiles.features is not None:  # the number of features per dot product
            operations_per_entry = tiles.features.shape[1]
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
    """Return the index of the first sample in the group of each of n samples, shape (n,).

    `groups`, shape (n,), are group codes; None means that each sample is a group. Within a group,
    samples where the mask `is_later`, shape (n,), is True come after all other samples.
    """
    first = np.arange(len(is_later))
    if groups is not None:
        order = np.argsort(is_later, kind="stable")
        _, start, inverse = np.unique(groups[order], return_index=True, return_inverse=True)
        first[order] = order[start[inverse]]
    return first


def _expand_to_copies(
    neighbours: Neighbours, distinct: Similarity, distinct_codes: np.ndarray
) -> None:
    """Convert the neighbours of distinct samples to those of all n samples, in place.

    `distinct_codes`, shape (n,), are the positions in `distinct` of samples identical to them.
    """
    _, earliest = np.unique(distinct_codes, return_index=True)
    nearest = earliest[neighbours.nearest]
    neighbours.nearest = nearest[distinct_codes]
    neighbours.similarity = neighbours.similarity[distinct_codes]
    # The nearest neighbour of a sample with copies is the first other copy.
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
    """Compute the tiles of K in threads, and return the nearest neighbours.

    `entries(rows, columns)` computes the similarities of a tile. Near pairs are added to
    `near_pairs`, in the order of the tiles.
    """
    neighbours = Neighbours(similarity.n)

    def select_closer(
        K: np.ndarray,
        maxima: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray,
    ) -> SimilarPairs:
        """Return rows of a tile K that have a column more similar than their current neighbour.

        `maxima` are the maxima of the rows of K; `rows` and `columns` are sample indices. The most
        similar column and its similarity are also returned. Other threads may find more similar
        neighbours in the meantime, so `Neighbours.add` compares again.
        """
        i = np.flatnonzero(maxima > neighbours.similarity[rows])
        nearest = K[i].argmax(axis=1)
        return rows[i], columns[nearest], maxima[i]

    def process_tile(tile: Tile) -> tuple[SimilarPairs, SimilarPairs, SimilarPairs]:
        """Return closer neighbours of the rows and of the columns of a tile, and its near pairs."""
        K = entries(*tile)
        rows, columns = (np.arange(block.start, block.stop) for block in tile)
        if rows[0] == columns[0]:  # the diagonal of K: a sample is not its own neighbour
            np.fill_diagonal(K, -np.inf)
        row_maxima = K.max(axis=1)
        by_row = select_closer(K, row_maxima, rows, columns)
        by_column = select_closer(K.T, K.max(axis=0), columns, rows)
        near = np.flatnonzero(row_maxima >= near_pairs.min_similarity)
        a, b = np.nonzero(K[near] >= near_pairs.min_similarity)
        a = near[a]
        i = rows[a]
        j = columns[b]
        is_ordered = i < j
        return by_row, by_column, (i[is_ordered], j[is_ordered], K[a, b][is_ordered])

    tile_results = map_ordered(process_tile, tiles, similarity.in_threads)
    for by_row, by_column, near in track(tile_results, len(tiles), "comparing samples"):
        neighbours.add(*by_row)
        neighbours.add(*by_column)
        near_pairs.add(*near)
    return neighbours
