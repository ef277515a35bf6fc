"""The map of a set is kernel PCA: a naive one agrees, from features and from a matrix alike."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity
from vendiscore.spectral.vendi_scores import compute_spectrum
from vendiscore.tools.analysis.layout import MIN_SIGN_DISTANCE, kernel_pca_coordinates


def of(similarity, p=None) -> np.ndarray:
    return kernel_pca_coordinates(compute_spectrum(similarity, p, vectors=True), p)


def slow(K: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """Return eigenvectors of the centred K, times the roots of their eigenvalues; signs as they
    come."""
    n = len(K)
    p = np.full(n, 1 / n) if p is None else p
    centre = np.eye(n) - p  # rows less their weighted mean
    root = np.sqrt(p)[:, None]
    values, U = np.linalg.eigh(root * (centre @ K @ centre.T) * root.T)
    return (U[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0)))[:, :2] / root


def close(ours: np.ndarray, right: np.ndarray) -> None:
    assert np.abs(ours) == pytest.approx(np.abs(right), abs=1e-6)
    assert np.abs(ours.sum(axis=0)) == pytest.approx(np.abs(right.sum(axis=0)), abs=1e-6)


@pytest.mark.parametrize("n", [3, 20, 260])
@pytest.mark.parametrize("kernel", ["cosine", "rbf", "laplacian"])
def test_it_is_that_of_the_centred_matrix(n, kernel):
    X = np.random.default_rng(n).normal(size=(n, 4)) * [4, 2, 1, 0.5] + [1, 0, 0, 0]
    similarity = as_similarity(X, k=kernel)
    close(of(similarity), slow(similarity.dense()))


def test_weights_are_those_of_the_mean_and_of_the_directions():
    rng = np.random.default_rng(0)
    K = as_similarity(rng.normal(size=(30, 3)) * [3, 2, 1], k="rbf").dense()
    p = rng.random(30) + 0.1
    p /= p.sum()
    result = of(MatrixSimilarity(K), p)
    close(result, slow(K, p))
    assert p @ result == pytest.approx(0, abs=1e-9)
    p[4] = 0
    assert not of(MatrixSimilarity(K), p / p.sum())[4].any()


def test_distances_on_the_map_are_at_most_those_of_the_kernel():
    similarity = as_similarity(np.random.default_rng(1).normal(size=(40, 6)), k="rbf")
    XY, K = of(similarity), similarity.dense()
    apart = np.linalg.norm(XY[:, None] - XY, axis=2)
    assert (apart <= np.sqrt(np.maximum(2 - 2 * K, 0)) + 1e-9).all()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_samples_that_are_the_same_are_in_one_place(n):
    assert not of(FeatureSimilarity(np.ones((n, 1)))).any()
    result = of(FeatureSimilarity(np.eye(2)[[0] * n + [1] * n]))
    assert np.ptp(result[:n], axis=0) == pytest.approx(0, abs=1e-9)
    assert result[0, 0] == pytest.approx(np.sqrt(0.5), abs=1e-9)
    assert not result[:, 1].any()


def test_the_first_that_is_far_out_is_on_the_positive_side():
    result = of(as_similarity(np.random.default_rng(2).normal(size=(25, 3)), k="rbf"))
    for column in result.T:
        assert column[np.abs(column) >= MIN_SIGN_DISTANCE * np.abs(column).max()][0] > 0


@pytest.mark.parametrize("n", [30, 300])
def test_samples_that_all_differ_alike_have_a_map_that_is_always_the_same(n):
    one, two = (of(MatrixSimilarity(np.eye(n))) for _ in range(2))
    assert np.isfinite(one).all()
    np.testing.assert_array_equal(one, two)
