"""The largest eigenvalue by ARPACK."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, NotPSDError
from vendiscore.spectral import lanczos
from vendiscore.spectral.lanczos import compute_largest_eigenvalue

RNG = np.random.default_rng(0)
Q = np.linalg.qr(RNG.standard_normal((60, 60)))[0]


def matrix(values, psd=False):
    return MatrixSimilarity(Q * np.asarray(values) @ Q.T, psd=psd)


def test_the_largest_eigenvalue_is_found_to_ten_digits():
    values = np.r_[0.7, np.linspace(0, 0.3, 59)]
    assert compute_largest_eigenvalue(matrix(values)) == pytest.approx(0.7, rel=1e-10)
    X = RNG.standard_normal((200, 5))
    expected = np.linalg.eigvalsh(X.T @ X)[-1]
    assert compute_largest_eigenvalue(FeatureSimilarity(X)) == pytest.approx(expected, rel=1e-10)


def test_the_largest_in_value_is_found_not_in_size():
    values = np.r_[-2.0, 1.0, np.zeros(58)]
    assert compute_largest_eigenvalue(matrix(values)) == pytest.approx(1.0, rel=1e-8)


def test_a_vector_that_the_diagonal_misses_is_found():
    # The top eigenvector is orthogonal to √diagonal, which is constant.
    top = np.r_[np.ones(30), -np.ones(30)] / 60**0.5
    K = np.eye(60) + 5 * np.outer(top, top)
    assert compute_largest_eigenvalue(MatrixSimilarity(K)) == pytest.approx(6.0, rel=1e-8)


def test_a_negative_eigenvalue_below_the_floor_is_an_error():
    values = np.r_[1.0, -0.5, np.zeros(58)]
    with pytest.raises(NotPSDError) as caught:
        compute_largest_eigenvalue(matrix(values), min_eigenvalue=-1e-6)
    assert caught.value.smallest == pytest.approx(-0.5, rel=1e-6)
    assert caught.value.negative_mass == -caught.value.smallest
    assert compute_largest_eigenvalue(matrix(values), min_eigenvalue=-0.6) == pytest.approx(1.0)
    assert compute_largest_eigenvalue(
        matrix(values, psd=True), min_eigenvalue=-1e-6
    ) == pytest.approx(1.0)


def test_slow_convergence_gives_none(monkeypatch):
    monkeypatch.setattr(lanczos, "MAX_RESTARTS", 1)
    monkeypatch.setattr(lanczos, "BASIS_SIZE", 3)
    values = 1 - np.linspace(0, 1e-6, 60)
    assert compute_largest_eigenvalue(matrix(values)) is None
