"""All pairs of large sets, in single precision, say what double precision says."""

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
KINDS = {
    "cosine": as_similarity(ROWS, k="cosine"),
    "cosine, float32": as_similarity(ROWS.astype(np.float32), k="cosine"),
    "rbf": as_similarity(ROWS, k="rbf", sigma=1.0),
    "laplacian": as_similarity(ROWS[:, :3], k="laplacian"),
    "n-grams": as_similarity(TEXTS, k="ngram_overlap", ns=[1, 2]),
    "bits": as_similarity(BITS, k="tanimoto"),
    "a matrix": as_similarity(as_similarity(ROWS, k="rbf").dense(), score_K=True),
    "a mixture": as_similarity(ROWS, k={"cosine": 0.5, "rbf": 0.5}),
    "orthogonal": FeatureSimilarity(np.eye(70)),
    "copies alone": FeatureSimilarity(np.ones((90, 1))),
}


@pytest.fixture
def large(monkeypatch):
    """Treat every set as a large one, in small tiles."""
    monkeypatch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
    monkeypatch.setattr(tiles, "TILE_SIZE", 64)


def both(similarity, monkeypatch, **options):
    """Compare as a small set, and as a large one."""
    with monkeypatch.context() as as_small:
        as_small.setattr(pair_search, "MAX_DOUBLE_PRECISION", similarity.n)
        small = find_duplicates(similarity, **options)
    return small, find_duplicates(similarity, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [0.9, 0.95])
def test_a_large_set_has_the_pairs_and_neighbours_of_double_precision(
    kind, threshold, large, monkeypatch
):
    similarity = KINDS[kind]
    forms = [text.lower().replace(" ", "") for text in TEXTS] if kind == "n-grams" else None
    (near, result), (near_large, found_large) = both(
        similarity, monkeypatch, threshold=threshold, forms=forms
    )
    assert found_large.threshold == result.threshold
    np.testing.assert_array_equal(found_large.representatives, result.representatives)
    np.testing.assert_allclose(near_large.similarity, near.similarity, atol=1e-12)
    K = similarity.dense() - np.eye(similarity.n)
    others = K[np.arange(similarity.n), near_large.nearest]
    assert (near_large.nearest != np.arange(similarity.n)).all()
    np.testing.assert_allclose(others, near.similarity, atol=1e-12)
    assert found_large.count_repeats() == result.count_repeats()


def test_the_nearest_of_several_that_are_equal_is_the_first(large, monkeypatch):
    X = np.repeat(RNG.normal(size=(40, 3)), 3, axis=0)[RNG.permutation(120)]
    (near, _), (near_large, _) = both(as_similarity(X, k="cosine"), monkeypatch, threshold=0.9)
    np.testing.assert_array_equal(near_large.nearest, near.nearest)


def test_samples_of_weight_zero_are_repeats_of_those_with_weight(large, monkeypatch):
    p = np.full(330, 1 / 329)
    p[5] = 0  # a copy of 40
    (_, small), (_, result) = both(KINDS["cosine"], monkeypatch, threshold=0.9, p=p)
    np.testing.assert_array_equal(result.representatives, small.representatives)
    assert result.representatives[5] == 40


def test_the_floor_rises_where_there_are_too_many_pairs(large, monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 3_000)
    (_, small), (_, result) = both(KINDS["cosine"], monkeypatch, threshold=0.95, floor=0.2)
    for each in (small, result):
        assert 0.2 < each.floor < 0.95
    assert len(result._pairs[0]) <= 5_000
    K = np.triu(KINDS["cosine"].dense(), 1)
    distinct = result._first_copy == np.arange(330)
    K[~distinct] = K[:, ~distinct] = -1
    assert len(result._pairs[0]) == np.count_nonzero(result.floor <= K)


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_and_pairs_are_parts_of_the_matrix(kind, large):
    similarity: Similarity = KINDS[kind]
    result, K = SimilarityTiles(similarity), similarity.dense()
    whole = np.full(K.shape, np.nan)
    for rows, columns in result.tiles:
        whole[rows, columns] = result(rows, columns)
    upper = np.triu_indices(similarity.n, 1)
    np.testing.assert_allclose(whole[upper], K[upper], atol=tiles.FLOAT32_ERROR)
    i, j = RNG.integers(0, similarity.n, (2, 150))
    i, j = i[i != j], j[i != j]
    np.testing.assert_allclose(result.compute_pairs(i, j), K[i, j], atol=1e-12)


def test_rows_of_a_tensor_are_compared_as_rows_of_numpy(large):
    torch = pytest.importorskip("torch")
    K = as_similarity(torch.as_tensor(ROWS.astype(np.float32)), k="cosine")
    near, result = find_duplicates(K)
    expected_near, expected = find_duplicates(KINDS["cosine, float32"])
    np.testing.assert_array_equal(near.nearest, expected_near.nearest)
    np.testing.assert_allclose(near.similarity, expected_near.similarity, atol=1e-12)
    np.testing.assert_array_equal(result.representatives, expected.representatives)
