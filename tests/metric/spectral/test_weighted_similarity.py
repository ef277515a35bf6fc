"""Weighted similarity matrices with trace 1, and merging of identical samples."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.spectral.weighted_similarity import (
    describe_invalid_similarity,
    find_identical_samples,
    merge_identical,
    weight_similarity,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 4))
X /= np.linalg.norm(X, axis=1, keepdims=True)
X[4] = X[1]
X[6] = X[1]
K = X @ X.T
P = RNG.dirichlet(np.ones(7))


@pytest.mark.parametrize("p", [None, P], ids=["uniform", "weights"])
def test_weight_similarity_scales_the_matrix_to_trace_1(p):
    weights = np.full(7, 1 / 7) if p is None else p
    weighted = weight_similarity(FeatureSimilarity(X), p)
    expected = K * np.sqrt(np.outer(weights, weights))
    np.testing.assert_allclose(weighted.dense(), expected, rtol=1e-12, atol=1e-15)
    assert np.trace(weighted.dense()) == pytest.approx(1, abs=1e-15)


def test_weight_similarity_of_a_rounded_diagonal_has_trace_1():
    rounded = MatrixSimilarity(np.eye(3) * (1 + 1e-6))
    assert np.trace(weight_similarity(rounded, None).dense()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("p", [None, P, np.r_[0.5, 0, 0.5, 0, 0, 0, 0]])
def test_merge_identical_keeps_the_spectrum(p):
    similarity = FeatureSimilarity(X)
    merged = merge_identical(similarity, p)
    assert merged.weighted.n == 5
    expected = weight_similarity(similarity, p).dense()
    values, U = np.linalg.eigh(merged.weighted.dense())
    np.testing.assert_allclose(values, np.linalg.eigvalsh(expected)[2:], atol=1e-12)
    V = merged.expand_vectors(U)
    is_positive = values > 1e-9
    np.testing.assert_allclose(
        V.T[is_positive] @ V[:, is_positive], np.eye(is_positive.sum()), atol=1e-9
    )
    np.testing.assert_allclose(V * values @ V.T, expected, atol=1e-12)


def test_merge_identical_keeps_distinct_samples():
    similarity = FeatureSimilarity(X[:4])
    merged = merge_identical(similarity, None)
    assert merged.inverse is merged.root_fractions is None
    assert merged.weighted.n == 4
    assert find_identical_samples(similarity) is None
    groups = find_identical_samples(FeatureSimilarity(X))
    assert groups[1] == groups[4] == groups[6]


@pytest.mark.parametrize(("i", "j", "value"), [(1, 3, 1.5), (5, 0, -2.0), (2, 6, np.nan)])
def test_message_names_the_pair_with_an_impossible_similarity(i, j, value):
    invalid = K.copy()
    invalid[i, j] = invalid[j, i] = value
    message = describe_invalid_similarity(weight_similarity(MatrixSimilarity(invalid), None))
    first, second = sorted((i, j))
    assert f"returns {value:g} for samples {first} and {second}" in message


def test_message_suggests_psd_clip_if_all_entries_are_valid():
    assert "psd='clip'" in describe_invalid_similarity(weight_similarity(MatrixSimilarity(K), None))
    within_rounding = K.copy()
    within_rounding[0, 1] = within_rounding[1, 0] = 1.0005
    assert "psd='clip'" in describe_invalid_similarity(MatrixSimilarity(within_rounding))
