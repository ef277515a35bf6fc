"""The map of a set is kernel PCA and matches a naive implementation."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity
from vendiscore.spectral.vendi_scores import compute_spectrum
from vendiscore.tools.analysis.layout import MIN_SIGN_DISTANCE, kernel_pca_coordinates


def compute_map(similarity, p=None) -> np.ndarray:
    return kernel_pca_coordinates(compute_spectrum(similarity, p, vectors=True), p)


def naive_kernel_pca(K: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """Return eigenvectors of the centred K times √eigenvalues, with arbitrary signs."""
    n = len(K)
    p = np.full(n, 1 / n) if p is None else p
    centering = np.eye(n) - p  # subtracts the weighted mean
    root = np.sqrt(p)[:, None]
    values, U = np.linalg.eigh(root * (centering @ K @ centering.T) * root.T)
    return (U[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0)))[:, :2] / root


def assert_equal_up_to_sign(result: np.ndarray, expected: np.ndarray) -> None:
    assert np.abs(result) == pytest.approx(np.abs(expected), abs=1e-6)
    assert np.abs(result.sum(axis=0)) == pytest.approx(np.abs(expected.sum(axis=0)), abs=1e-6)


@pytest.mark.parametrize("n", [3, 20, 260])
@pytest.mark.parametrize("kernel", ["cosine", "rbf", "laplacian"])
def test_map_matches_naive_kernel_pca(n, kernel):
    X = np.random.default_rng(n).normal(size=(n, 4)) * [4, 2, 1, 0.5] + [1, 0, 0, 0]
    similarity = as_similarity(X, k=kernel)
    assert_equal_up_to_sign(compute_map(similarity), naive_kernel_pca(similarity.dense()))


def test_map_uses_weights():
    rng = np.random.default_rng(0)
    K = as_similarity(rng.normal(size=(30, 3)) * [3, 2, 1], k="rbf").dense()
    p = rng.random(30) + 0.1
    p /= p.sum()
    result = compute_map(MatrixSimilarity(K), p)
    assert_equal_up_to_sign(result, naive_kernel_pca(K, p))
    assert p @ result == pytest.approx(0, abs=1e-9)
    p[4] = 0
    assert not compute_map(MatrixSimilarity(K), p / p.sum())[4].any()


def test_map_distances_are_at_most_kernel_distances():
    similarity = as_similarity(np.random.default_rng(1).normal(size=(40, 6)), k="rbf")
    XY, K = compute_map(similarity), similarity.dense()
    map_distances = np.linalg.norm(XY[:, None] - XY, axis=2)
    assert (map_distances <= np.sqrt(np.maximum(2 - 2 * K, 0)) + 1e-9).all()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_identical_samples_have_the_same_coordinates(n):
    assert not compute_map(FeatureSimilarity(np.ones((n, 1)))).any()
    result = compute_map(FeatureSimilarity(np.eye(2)[[0] * n + [1] * n]))
    assert np.ptp(result[:n], axis=0) == pytest.approx(0, abs=1e-9)
    assert result[0, 0] == pytest.approx(np.sqrt(0.5), abs=1e-9)
    assert not result[:, 1].any()


def test_first_distant_sample_has_positive_coordinates():
    result = compute_map(as_similarity(np.random.default_rng(2).normal(size=(25, 3)), k="rbf"))
    for column in result.T:
        assert column[np.abs(column) >= MIN_SIGN_DISTANCE * np.abs(column).max()][0] > 0


@pytest.mark.parametrize("n", [30, 300])
def test_map_of_equidistant_samples_is_deterministic(n):
    first, second = (compute_map(MatrixSimilarity(np.eye(n))) for _ in range(2))
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)
