"""Single-precision tiles cover the upper triangle of K; pairs are in double precision."""

import numpy as np
import pytest
import scipy.sparse

import vendiscore
from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.similarity import features, tiles
from vendiscore.similarity.tiles import FLOAT32_ERROR, SimilarityTiles

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
X /= np.linalg.norm(X, axis=1, keepdims=True)
COUNTS = np.where(RNG.random((40, 30)) < 0.2, RNG.integers(1, 4, (40, 30)), 0)
COUNTS[:, 0] = 1
SIMILARITIES = {
    "features": lambda: FeatureSimilarity(X),
    "single": lambda: FeatureSimilarity(X.astype(np.float32)),
    "scaled": lambda: FeatureSimilarity(X * 3).normalized(),
    "sparse": lambda: FeatureSimilarity(scipy.sparse.csr_array(COUNTS)).normalized(),
    "matrix": lambda: MatrixSimilarity(X @ X.T),
    "scaled matrix": lambda: MatrixSimilarity(X @ X.T * 4).scaled(np.full(40, 0.5)),
    "exponential": lambda: vendiscore.as_similarity(X, k="rbf", sigma=1.0),
    "scaled exponential": lambda: vendiscore.as_similarity(X, k="rbf", sigma=1.0).scaled(
        np.linspace(0.5, 1, 40)
    ),
}


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("tile_size", [7, 1024])
def test_tiles_cover_the_upper_triangle_once(name, tile_size, monkeypatch):
    monkeypatch.setattr(tiles, "TILE_SIZE", tile_size)
    monkeypatch.setattr(features, "MIN_COMMON_FREQUENCY", 0.3)
    similarity = SIMILARITIES[name]()
    K = similarity.dense()
    similarity_tiles = SimilarityTiles(similarity)
    count = np.zeros(K.shape, int)
    for rows, columns in similarity_tiles.tiles:
        tile = similarity_tiles(rows, columns)
        assert tile.dtype == np.float32
        np.testing.assert_allclose(tile, K[rows, columns], atol=FLOAT32_ERROR)
        count[rows, columns] += 1
    upper = np.triu(np.ones_like(count)).astype(bool)
    assert (count[upper] == 1).all()
    tile[:] = 7  # a new array
    np.testing.assert_allclose(
        similarity_tiles(rows, columns), K[rows, columns], atol=FLOAT32_ERROR
    )


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("pairs_per_block", [3, 4096])
def test_compute_pairs_is_in_double_precision(name, pairs_per_block, monkeypatch):
    monkeypatch.setattr(tiles, "FEATURE_PAIRS_PER_BLOCK", pairs_per_block)
    monkeypatch.setattr(tiles, "PAIRS_PER_BLOCK", pairs_per_block)
    similarity = SIMILARITIES[name]()
    i, j = RNG.integers(0, 40, (2, 10))
    result = SimilarityTiles(similarity).compute_pairs(i, j)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, similarity.dense()[i, j], rtol=1e-12, atol=1e-13)
    assert SimilarityTiles(similarity).compute_pairs(i[:0], j[:0]).shape == (0,)


def test_tiles_of_a_matrix_start_with_full_rows(monkeypatch):
    monkeypatch.setattr(tiles, "row_blocks", lambda n, size: [slice(0, 15), slice(15, n)])
    similarity_tiles = SimilarityTiles(MatrixSimilarity(X @ X.T))
    assert similarity_tiles.tiles == [(slice(0, 15), slice(0, 40)), (slice(15, 40), slice(15, 40))]
