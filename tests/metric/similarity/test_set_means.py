"""Mean similarities of sets, compared with sums over all pairs."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.similarity import set_means
from vendiscore.similarity.set_means import (
    exclude_self_similarity,
    mean_feature_cosines,
    mean_similarities,
    sum_between_sets,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T
CODES = np.array([2, 0, 1, 0, 2, 2, 1, 0, 0])
SUMS = np.array([[K[a == CODES][:, b == CODES].sum() for b in range(3)] for a in range(3)])
COUNTS = np.bincount(CODES)


@pytest.mark.parametrize(
    "make_similarity", [lambda: MatrixSimilarity(K), lambda: FeatureSimilarity(X)]
)
@pytest.mark.parametrize("max_sets", [1, 2, 64])
def test_sums_match_sums_over_all_pairs_of_samples(make_similarity, max_sets, monkeypatch):
    monkeypatch.setattr(set_means, "MAX_SETS_AT_ONCE", max_sets)
    result = sum_between_sets(make_similarity(), CODES, 3)
    np.testing.assert_allclose(result, SUMS, rtol=1e-10)
    np.testing.assert_array_equal(result, result.T)


def test_sums_of_single_sample_sets_equal_the_matrix():
    np.testing.assert_allclose(
        sum_between_sets(FeatureSimilarity(X), np.arange(9), 9), K, rtol=1e-12
    )
    order = np.array([1, 0, *range(2, 9)])
    np.testing.assert_allclose(
        sum_between_sets(FeatureSimilarity(X), order, 9), K[np.ix_(order, order)], rtol=1e-10
    )


def test_sums_of_tensors_are_numpy_arrays():
    torch = pytest.importorskip("torch")
    result = sum_between_sets(FeatureSimilarity(torch.tensor(X)), CODES, 3)
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, SUMS, rtol=1e-10)


def test_means_divide_by_pair_counts_and_are_zero_for_empty_sets():
    expected = SUMS / np.outer(COUNTS, COUNTS)
    np.testing.assert_allclose(mean_similarities(SUMS, COUNTS), expected, rtol=1e-12)
    stack = mean_similarities(np.stack([SUMS, SUMS]), np.array([COUNTS, [4, 0, 3]]))
    np.testing.assert_allclose(stack[0], expected, rtol=1e-12)
    assert stack[1, 1].tolist() == [0, 0, 0]
    assert stack[1, 0, 2] == pytest.approx(SUMS[0, 2] / 12)
    single = mean_similarities(np.full((2, 2), 3.0), np.array([1, 3]))
    np.testing.assert_allclose(single, [[3, 1], [1, 1 / 3]])


def test_exclude_self_similarity_averages_different_samples():
    means = SUMS.diagonal() / COUNTS**2
    expected = [
        np.mean([K[i, j] for i in members for j in members if i != j])
        for members in (np.flatnonzero(code == CODES) for code in range(3))
    ]
    np.testing.assert_allclose(exclude_self_similarity(means, COUNTS), expected, rtol=1e-10)
    assert np.isnan(exclude_self_similarity(np.array([1.0]), np.array([1])))


def test_mean_feature_cosines_match_cosines_of_mean_vectors():
    F = np.array([X[code == CODES].mean(axis=0) for code in range(3)])
    self_sums = np.repeat(SUMS.diagonal()[:, None], 3, axis=1)
    unit = F / np.linalg.norm(F, axis=1, keepdims=True)
    result = mean_feature_cosines(SUMS, self_sums)
    np.testing.assert_allclose(result, unit @ unit.T, rtol=1e-10)
    assert result.diagonal().tolist() == [1, 1, 1]


def test_mean_feature_cosines_use_pairwise_self_sums():
    sums, self_sums = np.array([[1.0, 6.0], [6.0, 1.0]]), np.array([[5.0, 4.0], [9.0, 5.0]])
    assert mean_feature_cosines(sums, self_sums).tolist() == [[1, 1], [1, 1]]
