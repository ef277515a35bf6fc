"""Groups of near-duplicates, against a greedy choice over all pairs."""

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


def found_at(threshold, similarity=None, **options):
    return find_duplicates(similarity or FeatureSimilarity(X), threshold, **options)[1]


@pytest.mark.parametrize("threshold", [0.8, 0.95, 0.99, 1.0])
def test_every_near_duplicate_is_similar_to_the_kept_one(threshold):
    of = found_at(threshold).representatives
    kept = np.flatnonzero(of < 0)
    for i in np.flatnonzero(of >= 0):
        assert of[of[i]] == -1  # no chains
        assert K[i, of[i]] >= threshold - 1e-9
        others = kept[K[i, kept] >= threshold - 1e-9]
        assert K[i, of[i]] >= K[i, others].max() - 1e-6  # the most similar kept one
    # Kept samples are not near-duplicates of each other.
    between = K[np.ix_(kept, kept)] - np.eye(len(kept))
    assert between.max() < threshold


def test_the_sample_with_most_near_duplicates_is_kept():
    star = np.eye(5)
    star[0, 1:] = star[1:, 0] = 0.96
    star[np.ix_(range(1, 5), range(1, 5))] += 0.9 * (1 - np.eye(4))
    result = found_at(0.95, MatrixSimilarity(star[::-1, ::-1].copy()))
    assert result.representatives.tolist() == [4, 4, 4, 4, -1]
    assert result.retained.tolist() == [4]
    assert result.groups() == [(4, [0, 1, 2, 3])]


def test_copies_repeat_the_first_of_them_at_any_threshold():
    of = found_at(1.0).representatives
    assert (of[7], of[21]) == (5, 20)
    assert (of >= 0).sum() == 2


def test_samples_without_weight_are_kept_last():
    pair = MatrixSimilarity(np.array([[1, 0.99, 0], [0.99, 1, 0], [0, 0, 1]]))
    assert found_at(0.95, pair).representatives.tolist() == [-1, 0, -1]
    p = np.array([0, 0.5, 0.5])
    assert found_at(0.95, pair, p=p).representatives.tolist() == [1, -1, -1]


def test_texts_of_one_form_are_near_duplicates_whatever_the_kernel():
    apart = MatrixSimilarity(np.eye(3))
    result = found_at(0.95, apart, forms=["a cat", "dog", "a cat"])
    assert result.representatives.tolist() == [-1, -1, 0]


def test_samples_of_other_codes_are_not_compared():
    codes = np.arange(30) % 2
    near, result = find_duplicates(FeatureSimilarity(X), 0.9, codes=codes)
    of = result.representatives
    some = np.flatnonzero(of >= 0)
    assert len(some) > 3
    assert (codes[some] == codes[of[some]]).all()
    within = np.where(codes[:, None] == codes, K, -2) - 4 * np.eye(30)
    np.testing.assert_allclose(near.similarity, within.max(axis=1), atol=1e-6)
    assert (codes[near.nearest] == codes).all()


def test_nearest_samples_are_those_of_all_pairs():
    near, _ = find_duplicates(FeatureSimilarity(X), 0.95)
    others = K - 2 * np.eye(30)
    np.testing.assert_allclose(near.similarity, others.max(axis=1), atol=1e-6)
    np.testing.assert_allclose(others[np.arange(30), near.nearest], near.similarity, atol=1e-6)


def test_another_threshold_needs_no_new_comparison():
    low = found_at(0.9, floor=0.7)
    for threshold in (0.7, 0.8, 0.99):
        again = low.rethreshold(threshold)
        assert again.representatives.tolist() == found_at(threshold).representatives.tolist()
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.7, got 0\.6"):
        low.rethreshold(0.6)
    with pytest.raises(ValueError, match="`threshold` must be a similarity, at most 1"):
        low.rethreshold(1.1)


def test_repeats_are_counted_at_each_level_that_was_searched():
    result = found_at(0.95, floor=0.9)
    counts = result.count_repeats()
    assert [*counts] == [*REPEAT_THRESHOLDS]
    assert counts[0.8] is None
    for level in (0.9, 0.95, 0.99):
        assert counts[level] == (found_at(level).representatives >= 0).sum()


def test_the_boundary_has_the_pairs_next_to_the_threshold():
    places = np.arange(30) + 100
    above, below = found_at(0.95, floor=0.5).boundary(3, places)
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
        result = found_at(0.5)
    assert result.threshold > 0.5


def test_forms_are_those_of_texts_only():
    texts = ["A  cat!", "a cat", "dog"]
    similarity = as_similarity(texts, k="ngram_overlap")
    forms = normalize_texts(similarity, texts, np.array([0, 1, 2]))
    assert forms[0] == forms[1] != forms[2]
    assert normalize_texts(similarity, texts, np.array([2])) == [forms[2]]
    assert normalize_texts(as_similarity(texts, k="labels"), texts, np.arange(3)) is None
    assert normalize_texts(similarity, np.array(texts), np.arange(3)) is None
