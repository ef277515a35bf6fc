"""All pairs of large sets, in single precision or by an index, say what double precision says."""

import numpy as np
import pytest

from vendiscore import as_similarity, explain
from vendiscore.analysis import pair_search
from vendiscore.analysis.duplicates import compare_samples
from vendiscore.analysis.pair_search import LARGE, compare_all
from vendiscore.similarity import tiles
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.features import FeatureSimilarity
from vendiscore.similarity.tiles import Tiles

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
    monkeypatch.setattr(pair_search, "SMALL", 0)
    monkeypatch.setattr(tiles, "SIDE", 64)


def both(similarity, monkeypatch, **options):
    """Compare as a small set, and as a large one."""
    with monkeypatch.context() as as_small:
        as_small.setattr(pair_search, "SMALL", similarity.n)
        small = compare_samples(similarity, **options)
    return small, compare_samples(similarity, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [0.9, None])
def test_a_large_set_has_the_pairs_and_neighbours_of_double_precision(
    kind, threshold, large, monkeypatch
):
    similarity = KINDS[kind]
    forms = [text.lower().replace(" ", "") for text in TEXTS] if kind == "n-grams" else None
    (near, found), (near_large, found_large) = both(
        similarity, monkeypatch, threshold=threshold, forms=forms
    )
    assert found_large.threshold == found.threshold
    np.testing.assert_array_equal(found_large.redundant_of, found.redundant_of)
    np.testing.assert_array_equal(found_large.clusters, found.clusters)
    np.testing.assert_allclose(near_large.similarity, near.similarity, atol=1e-12)
    K = similarity.dense() - np.eye(similarity.n)
    others = K[np.arange(similarity.n), near_large.nearest]
    assert (near_large.nearest != np.arange(similarity.n)).all()
    np.testing.assert_allclose(others, near.similarity, atol=1e-12)
    assert found_large.false_share == pytest.approx(found.false_share, abs=1e-12)


def test_the_nearest_of_several_that_are_equal_is_the_first(large, monkeypatch):
    X = np.repeat(RNG.normal(size=(40, 3)), 3, axis=0)[RNG.permutation(120)]
    (near, _), (near_large, _) = both(as_similarity(X, k="cosine"), monkeypatch, threshold=0.9)
    np.testing.assert_array_equal(near_large.nearest, near.nearest)


def test_samples_of_weight_zero_are_repeats_of_those_with_weight(large, monkeypatch):
    p = np.full(330, 1 / 329)
    p[5] = 0  # a copy of 40
    (_, small), (_, found) = both(KINDS["cosine"], monkeypatch, threshold=0.9, p=p)
    np.testing.assert_array_equal(found.redundant_of, small.redundant_of)
    assert found.redundant_of[5] == 40


def test_the_floor_rises_where_there_are_too_many_pairs(large, monkeypatch):
    (_, small), (_, found) = both(
        KINDS["cosine"], monkeypatch, threshold=0.95, floor=0.2, most=3_000
    )
    for each in (small, found):
        assert 0.2 < each.floor < 0.95
    assert len(found._i) <= 5_000
    K = np.triu(KINDS["cosine"].dense(), 1)
    distinct = found._first == np.arange(330)
    K[~distinct] = K[:, ~distinct] = -1
    assert len(found._i) == np.count_nonzero(found.floor <= K)


def test_an_index_finds_what_all_pairs_find(monkeypatch):
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(3000, 24)) * np.exp(-np.arange(24) / 6)).astype(np.float32)
    X[2700:] = X[:300] + 0.02 * rng.normal(size=(300, 24)).astype(np.float32)
    X[100:140] = X[99] + 0.01 * rng.normal(size=(40, 24)).astype(np.float32)  # a crowd
    exact = explain(X, k="cosine", threshold=0.97, index="exact")
    found = explain(X, k="cosine", threshold=0.97, index="approximate")
    same = np.mean(found.nearest == exact.nearest)
    there, met = (
        {(i, j) for i, j, k in zip(of._i, of._j, of._similarity, strict=True) if k >= 0.97}
        for of in (exact.duplicates, found.duplicates)
    )
    assert met <= there
    true = len(met) / len(there)
    assert exact.recall == 1
    assert true >= 0.98
    assert found.recall == pytest.approx(true, abs=0.03)
    assert found.duplicates.search.nearest == pytest.approx(same, abs=0.03)
    assert f"found {found.recall:.1%}" in found.sentence
    assert "index" not in exact.sentence


def test_recall_is_unknown_where_there_was_nothing_to_find():
    X = np.random.default_rng(0).standard_normal((600, 32)).astype(np.float32)
    found = explain(X, k="cosine", threshold=0.999, index="approximate")
    assert np.isnan(found.recall)
    assert found.to_dict()["recall"] is None
    assert "none has a near-duplicate, so that its recall is unknown" in found.sentence
    assert "nan" not in found.sentence + found.to_json().replace("NaN", "nan")


def test_an_index_is_asked_for_more_pairs_than_take_a_minute(large, monkeypatch):
    similarity, first = KINDS["cosine"], np.arange(330)
    assert compare_all(similarity, first, 0.9).search.index == "exact"
    monkeypatch.setattr(pair_search, "LARGE", 1.0)
    assert compare_all(similarity, first, 0.9).search.index == "approximate"
    assert compare_all(similarity, first, 0.9, index="exact").search.index == "exact"
    assert compare_all(KINDS["rbf"], first, 0.9).search.index == "exact"
    assert LARGE > 384 * 100_000**2


def test_an_index_takes_dense_features():
    with pytest.raises(ValueError, match="index='approximate' takes dense features whose dot prod"):
        explain(TEXTS, k="ngram_overlap", index="approximate")
    with pytest.raises(ValueError, match="`index` must be 'auto', 'exact' or 'approximate'"):
        explain(ROWS, k="cosine", index="exakt")


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_and_pairs_are_parts_of_the_matrix(kind, large):
    similarity: Similarity = KINDS[kind]
    found, K = Tiles(similarity), similarity.dense()
    whole = np.full(K.shape, np.nan)
    for rows, columns in found.tiles:
        whole[rows, columns] = found(rows, columns)
    upper = np.triu_indices(similarity.n, 1)
    np.testing.assert_allclose(whole[upper], K[upper], atol=tiles.SINGLE_ERROR)
    i, j = RNG.integers(0, similarity.n, (2, 150))
    i, j = i[i != j], j[i != j]
    np.testing.assert_allclose(found.pairs(i, j), K[i, j], atol=1e-12)
