"""Pair search of large sets in single precision gives the results of double precision."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, Similarity, as_similarity
from vendiscore.similarity import tiles
from vendiscore.similarity.tiles import SimilarityTiles
from vendiscore.tools.analysis import pair_search
from vendiscore.tools.analysis.duplicates import find_duplicates

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(330, 12)) * np.exp(-np.arange(12) / 4)
ROWS[300:] = ROWS[:30] + 0.05 * RNG.normal(size=(30, 12))  # near-duplicates
ROWS[40:44] = ROWS[5]  # copies
TEXTS = [" ".join(RNG.choice(list("abcdefgh"), 6)) for _ in range(300)] + ["a b", "A  b", "a b"]
BITS = (RNG.random((200, 40)) < 0.3).astype(np.uint8)
SIMILARITIES = {
    "cosine": as_similarity(ROWS, k="cosine"),
    "cosine, float32": as_similarity(ROWS.astype(np.float32), k="cosine"),
    "rbf": as_similarity(ROWS, k="rbf", sigma=1.0),
    "laplacian": as_similarity(ROWS[:, :3], k="laplacian"),
    "n-grams": as_similarity(TEXTS, k="ngram_overlap", ns=[1, 2]),
    "bits": as_similarity(BITS, k="tanimoto"),
    "a matrix": as_similarity(as_similarity(ROWS, k="rbf").dense(), score_K=True),
    "a mixture": as_similarity(ROWS, k={"cosine": 0.5, "rbf": 0.5}),
    "orthogonal": FeatureSimilarity(np.eye(70)),
    "only copies": FeatureSimilarity(np.ones((90, 1))),
}


@pytest.fixture
def treat_sets_as_large(monkeypatch):
    """Treat every set as large, with small tiles."""
    monkeypatch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
    monkeypatch.setattr(tiles, "TILE_SIZE", 64)


def find_small_and_large(similarity, monkeypatch, **options):
    """Find duplicates as for a small set and as for a large set."""
    with monkeypatch.context() as as_small:
        as_small.setattr(pair_search, "MAX_DOUBLE_PRECISION", similarity.n)
        small = find_duplicates(similarity, **options)
    return small, find_duplicates(similarity, **options)


@pytest.mark.parametrize("similarity_name", SIMILARITIES)
@pytest.mark.parametrize("threshold", [0.9, 0.95])
def test_large_set_gives_pairs_and_neighbours_of_double_precision(
    similarity_name, threshold, treat_sets_as_large, monkeypatch
):
    similarity = SIMILARITIES[similarity_name]
    forms = (
        [text.lower().replace(" ", "") for text in TEXTS] if similarity_name == "n-grams" else None
    )
    (neighbours, result), (neighbours_large, result_large) = find_small_and_large(
        similarity, monkeypatch, threshold=threshold, forms=forms
    )
    assert result_large.threshold == result.threshold
    np.testing.assert_array_equal(result_large.representatives, result.representatives)
    np.testing.assert_allclose(neighbours_large.similarity, neighbours.similarity, atol=1e-12)
    K = similarity.dense() - np.eye(similarity.n)
    nearest_similarity = K[np.arange(similarity.n), neighbours_large.nearest]
    assert (neighbours_large.nearest != np.arange(similarity.n)).all()
    np.testing.assert_allclose(nearest_similarity, neighbours.similarity, atol=1e-12)
    assert result_large.count_repeats() == result.count_repeats()


def test_nearest_of_equally_similar_samples_is_the_first(treat_sets_as_large, monkeypatch):
    X = np.repeat(RNG.normal(size=(40, 3)), 3, axis=0)[RNG.permutation(120)]
    (neighbours, _), (neighbours_large, _) = find_small_and_large(
        as_similarity(X, k="cosine"), monkeypatch, threshold=0.9
    )
    np.testing.assert_array_equal(neighbours_large.nearest, neighbours.nearest)


def test_zero_weight_copies_refer_to_copies_with_weight(treat_sets_as_large, monkeypatch):
    p = np.full(330, 1 / 329)
    p[5] = 0  # a copy of sample 40
    (_, small), (_, result) = find_small_and_large(
        SIMILARITIES["cosine"], monkeypatch, threshold=0.9, p=p
    )
    np.testing.assert_array_equal(result.representatives, small.representatives)
    assert result.representatives[5] == 40


def test_too_many_pairs_raise_the_floor(treat_sets_as_large, monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 3_000)
    (_, small), (_, result) = find_small_and_large(
        SIMILARITIES["cosine"], monkeypatch, threshold=0.95, floor=0.2
    )
    for duplicates in (small, result):
        assert 0.2 < duplicates.floor < 0.95
    assert len(result._pairs[0]) <= 5_000
    K = np.triu(SIMILARITIES["cosine"].dense(), 1)
    distinct = result._first_copy == np.arange(330)
    K[~distinct] = K[:, ~distinct] = -1
    assert len(result._pairs[0]) == np.count_nonzero(result.floor <= K)


@pytest.mark.parametrize("similarity_name", SIMILARITIES)
def test_tiles_and_pairs_match_the_matrix(similarity_name, treat_sets_as_large):
    similarity: Similarity = SIMILARITIES[similarity_name]
    result, K = SimilarityTiles(similarity), similarity.dense()
    tiled = np.full(K.shape, np.nan)
    for rows, columns in result.tiles:
        tiled[rows, columns] = result(rows, columns)
    upper = np.triu_indices(similarity.n, 1)
    np.testing.assert_allclose(tiled[upper], K[upper], atol=tiles.FLOAT32_ERROR)
    i, j = RNG.integers(0, similarity.n, (2, 150))
    i, j = i[i != j], j[i != j]
    np.testing.assert_allclose(result.compute_pairs(i, j), K[i, j], atol=1e-12)


def test_tensor_rows_match_numpy_rows(treat_sets_as_large):
    torch = pytest.importorskip("torch")
    similarity = as_similarity(torch.as_tensor(ROWS.astype(np.float32)), k="cosine")
    neighbours, result = find_duplicates(similarity)
    expected_neighbours, expected = find_duplicates(SIMILARITIES["cosine, float32"])
    np.testing.assert_array_equal(neighbours.nearest, expected_neighbours.nearest)
    np.testing.assert_allclose(neighbours.similarity, expected_neighbours.similarity, atol=1e-12)
    np.testing.assert_array_equal(result.representatives, expected.representatives)
