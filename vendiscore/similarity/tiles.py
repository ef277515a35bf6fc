"""Compute blocks of a similarity matrix in float32, and entries of selected pairs in float64."""

from itertools import combinations_with_replacement

import numpy as np

from ..support.namespace import is_numpy, row_blocks, to_host
from ..support.parallel import map_ordered, slices
from ..support.types import Rows
from . import sparse as sp
from .base import Similarity
from .features import FeatureSimilarity, add_sparse, row_dot_products
from .rows import RowsSimilarity

# Rows and columns of a square tile. A product takes about 20 ms, and its result fits in the cache.
TILE_SIZE = 1024
# Maximum relative error of entries in single precision.
FLOAT32_ERROR = 1e-5
# Number of pairs per block, for features and for other similarities.
FEATURE_PAIRS_PER_BLOCK = 4096
PAIRS_PER_BLOCK = 64

Tile = tuple[slice, slice]


class SimilarityTiles:
    """Tiles (blocks) of the upper triangle of a similarity matrix K, used to find similar pairs.

    Calling the object computes a tile in float32. Tiles are squares if K is computed from feature
    rows or on demand, otherwise blocks of rows of K.
    """

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity
        self.n: int = similarity.n
        self.scale: np.ndarray | None = None
        if similarity.scale is not None:
            self.scale = to_host(similarity.scale)
        # Scaled features (n, d) in float32, whose dot products are the similarities.
        self.features: np.ndarray | None = None
        # Sparse features are split: `features` contains the frequent columns as a dense array,
        # because dense products are faster, and `_rare_columns` (n, d') the others. `_rare_by_tile`
        # contains the transposed rare columns of the samples of a tile, by its first sample.
        self._rare_columns: sp.csr_array | None = None
        self._rare_by_tile: dict[int, sp.csr_array] = {}
        if not isinstance(similarity, FeatureSimilarity):
            return
        X = similarity.X
        if is_numpy(X):
            self.features = X
            if X.dtype != np.float32 or self.scale is not None:
                self.features = np.empty(X.shape, np.float32)
                for block, scaled_rows in similarity.iter_scaled_blocks(self.scale):
                    self.features[block] = scaled_rows
        elif sp.issparse(X):
            common, rare = similarity.split_common_columns()  # multiplied by `scale`
            self.features = common.astype(np.float32)
            self._rare_columns = rare.astype(np.float32)
            for samples in slices(self.n, TILE_SIZE):
                self._rare_by_tile[samples.start] = self._rare_columns[samples].T.tocsr()

    @property
    def tiles(self) -> list[Tile]:
        """The slices (rows, columns) of all tiles that cover the upper triangle of K."""
        n = self.n
        if self.features is not None or isinstance(self.similarity, RowsSimilarity):
            sides = slices(n, TILE_SIZE)
            return list(combinations_with_replacement(sides, 2))
        blocks = row_blocks(n, 8 * n)
        return [(rows, slice(rows.start, n)) for rows in blocks]

    def __call__(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute K[rows, columns] as a new float32 array, with errors up to FLOAT32_ERROR."""
        if self.features is not None:
            K: np.ndarray = self.features[rows] @ self.features[columns].T
            if self._rare_columns is None:
                return K
            return add_sparse(K, self._rare_columns[rows] @ self._rare_by_tile[columns.start])
        similarity = self.similarity
        if not isinstance(similarity, RowsSimilarity):
            K = to_host(similarity.rows(rows))
            return np.array(K[:, columns], dtype=np.float32)
        entries = similarity.entries(rows, columns, np.float32)
        K = np.array(entries, dtype=np.float32)
        if self.scale is not None:
            K *= np.outer(self.scale[rows], self.scale[columns])
        return K

    def compute_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Compute the similarities of m pairs of samples (i[0], j[0]), … in float64, shape (m,)."""
        size = PAIRS_PER_BLOCK
        if isinstance(self.similarity, FeatureSimilarity):
            size = FEATURE_PAIRS_PER_BLOCK
        values = map_ordered(
            lambda block: self._compute_pair_block(i[block], j[block]),
            slices(len(i), size),
            self.similarity.in_threads,
        )
        return np.concatenate([np.empty(0), *values])  # also if there are no pairs

    def _compute_pair_block(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Compute the similarities of one block of pairs of samples (i[0], j[0]), … in float64."""
        if self.features is None:
            # The subset contains the samples i[0], i[1], … and then j[0], j[1], …, so the pairs are
            # on a diagonal.
            m = len(i)
            subset = self.similarity.part(np.concatenate([i, j]))
            K = to_host(subset.rows(slice(0, m)))
            return K.diagonal(m).astype(np.float64)
        X: Rows = self.similarity.X  # type: ignore[attr-defined]
        left = X[i].astype(np.float64, copy=False)
        right = X[j].astype(np.float64, copy=False)
        values = row_dot_products(left, right)
        if self.scale is None:
            return values
        values = values * self.scale[i]
        return values * self.scale[j]
