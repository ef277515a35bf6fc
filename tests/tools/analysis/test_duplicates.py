"""Groups of near-duplicates satisfy their definition, checked over all pairs."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity
from vendiscore.tools.analysis import pair_search
from vendiscore.tools.analysis.duplicates import REPEAT_THRESHOLDS, find_duplicates, normalize_texts

RNG = np.random.default_rng(0)
X = np.repeat(RNG.standard_normal((6, 4)), 5, axis=0) + 0.1 * RNG.standard_normal((30, 4))
X[7] = X[5]
X[21] = X[20]
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T


def find_duplicates_at(threshold, similarity=None, **options):
    return find_duplicates(similarity or FeatureSimilarity(X), threshold, **options)[1]


@pytest.mark.parametrize("threshold", [0.8, 0.95, 0.99, 1.0])
def test_near_duplicates_refer_to_the_most_similar_retained_sample(threshold):
    representatives = find_duplicates_at(threshold).representatives
    retained = np.flatnonzero(representatives < 0)
    for i in np.flatnonzero(representatives >= 0):
        assert representatives[representatives[i]] == -1  # no chains
        assert K[i, representatives[i]] >= threshold - 1e-9
        candidates = retained[K[i, retained] >= threshold - 1e-9]
        assert (
            K[i, representatives[i]] >= K[i, candidates].max() - 1e-6
        )  # the most similar retained sample
    # Retained samples are not near-duplicates of each other.
    off_diagonal = K[np.ix_(retained, retained)] - np.eye(len(retained))
    assert off_diagonal.max() < threshold


def test_sample_with_most_near_duplicates_is_retained():
    star = np.eye(5)
    star[0, 1:] = star[1:, 0] = 0.96
    star[np.ix_(range(1, 5), range(1, 5))] += 0.9 * (1 - np.eye(4))
    result = find_duplicates_at(0.95, MatrixSimilarity(star[::-1, ::-1].copy()))
    assert result.representatives.tolist() == [4, 4, 4, 4, -1]
    assert result.retained.tolist() == [4]
    assert result.groups() == [(4, [0, 1, 2, 3])]


def test_exact_copies_refer_to_the_first_copy_at_threshold_1():
    representatives = find_duplicates_at(1.0).representatives
    assert (representatives[7], representatives[21]) == (5, 20)
    assert (representatives >= 0).sum() == 2


def test_zero_weight_samples_are_retained_last():
    pair = MatrixSimilarity(np.array([[1, 0.99, 0], [0.99, 1, 0], [0, 0, 1]]))
    assert find_duplicates_at(0.95, pair).representatives.tolist() == [-1, 0, -1]
    p = np.array([0, 0.5, 0.5])
    assert find_duplicates_at(0.95, pair, p=p).representatives.tolist() == [1, -1, -1]


def test_texts_with_equal_normalized_form_are_near_duplicates():
    similarity = MatrixSimilarity(np.eye(3))
    result = find_duplicates_at(0.95, similarity, forms=["a cat", "dog", "a cat"])
    assert result.representatives.tolist() == [-1, -1, 0]


def test_samples_with_different_codes_are_not_compared():
    codes = np.arange(30) % 2
    neighbours, result = find_duplicates(FeatureSimilarity(X), 0.9, codes=codes)
    representatives = result.representatives
    repeated = np.flatnonzero(representatives >= 0)
    assert len(repeated) > 3
    assert (codes[repeated] == codes[representatives[repeated]]).all()
    same_code_K = np.where(codes[:, None] == codes, K, -2) - 4 * np.eye(30)
    np.testing.assert_allclose(neighbours.similarity, same_code_K.max(axis=1), atol=1e-6)
    assert (codes[neighbours.nearest] == codes).all()


def test_neighbours_match_brute_force():
    neighbours, _ = find_duplicates(FeatureSimilarity(X), 0.95)
    K_without_diagonal = K - 2 * np.eye(30)
    np.testing.assert_allclose(neighbours.similarity, K_without_diagonal.max(axis=1), atol=1e-6)
    np.testing.assert_allclose(
        K_without_diagonal[np.arange(30), neighbours.nearest], neighbours.similarity, atol=1e-6
    )


def test_rethreshold_equals_new_search():
    duplicates = find_duplicates_at(0.9, floor=0.7)
    for threshold in (0.7, 0.8, 0.99):
        result = duplicates.rethreshold(threshold)
        assert (
            result.representatives.tolist()
            == find_duplicates_at(threshold).representatives.tolist()
        )
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.7, got 0\.6"):
        duplicates.rethreshold(0.6)
    with pytest.raises(ValueError, match="`threshold` must be a similarity, at most 1"):
        duplicates.rethreshold(1.1)


def test_count_repeats_is_none_below_the_lowest_searched_similarity():
    result = find_duplicates_at(0.95, floor=0.9)
    counts = result.count_repeats()
    assert [*counts] == [*REPEAT_THRESHOLDS]
    assert counts[0.8] is None
    for level in (0.9, 0.95, 0.99):
        assert counts[level] == (find_duplicates_at(level).representatives >= 0).sum()


def test_boundary_returns_pairs_nearest_to_the_threshold():
    indices = np.arange(30) + 100
    above, below = find_duplicates_at(0.95, floor=0.5).boundary(3, indices)
    i, j = np.triu_indices(30, 1)
    distinct = np.array([a not in (7, 21) and b not in (7, 21) for a, b in zip(i, j, strict=True)])
    values = K[i, j][distinct]
    expected = np.sort(values[values >= 0.95])[:3]
    np.testing.assert_allclose([pair.similarity for pair in above], expected, atol=1e-9)
    expected = np.sort(values[values < 0.95])[::-1][:3]
    np.testing.assert_allclose([pair.similarity for pair in below], expected, atol=1e-9)


def test_too_many_pairs_raise_the_threshold_with_a_warning(monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 20)
    with pytest.warns(UserWarning, match=r"more than 20 pairs have a similarity of at least 0\.5"):
        result = find_duplicates_at(0.5)
    assert result.threshold > 0.5


def test_normalize_texts_returns_forms_only_for_lists_of_texts():
    texts = ["A  cat!", "a cat", "dog"]
    similarity = as_similarity(texts, k="ngram_overlap")
    forms = normalize_texts(similarity, texts, np.array([0, 1, 2]))
    assert forms[0] == forms[1] != forms[2]
    assert normalize_texts(similarity, texts, np.array([2])) == [forms[2]]
    assert normalize_texts(as_similarity(texts, k="labels"), texts, np.arange(3)) is None
    assert normalize_texts(similarity, np.array(texts), np.arange(3)) is None
