"""The largest eigenvalue by Lanczos iteration, and by ARPACK after its first steps."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, NotPSDError
from vendiscore.spectral import lanczos
from vendiscore.spectral.lanczos import compute_largest_eigenvalue

RNG = np.random.default_rng(0)
Q = np.linalg.qr(RNG.standard_normal((60, 60)))[0]


def matrix_with_eigenvalues(values, psd=False):
    return MatrixSimilarity(Q * np.asarray(values) @ Q.T, psd=psd)


def test_largest_eigenvalue_is_accurate_to_ten_digits():
    values = np.r_[0.7, np.linspace(0, 0.3, 59)]
    assert compute_largest_eigenvalue(matrix_with_eigenvalues(values)) == pytest.approx(
        0.7, rel=1e-10
    )
    X = RNG.standard_normal((200, 5))
    expected = np.linalg.eigvalsh(X.T @ X)[-1]
    assert compute_largest_eigenvalue(FeatureSimilarity(X)) == pytest.approx(expected, rel=1e-10)


def test_largest_eigenvalue_ignores_larger_negative_eigenvalues():
    values = np.r_[-2.0, 1.0, np.zeros(58)]
    assert compute_largest_eigenvalue(matrix_with_eigenvalues(values)) == pytest.approx(
        1.0, rel=1e-8
    )


def test_largest_eigenvalue_is_found_if_orthogonal_to_the_start_vector():
    # The top eigenvector is orthogonal to √diagonal, which is constant.
    top = np.r_[np.ones(30), -np.ones(30)] / 60**0.5
    K = np.eye(60) + 5 * np.outer(top, top)
    assert compute_largest_eigenvalue(MatrixSimilarity(K)) == pytest.approx(6.0, rel=1e-8)


@pytest.mark.parametrize("steps", [(2,), lanczos.STEPS])
@pytest.mark.parametrize("gap", [1e-12, 1e-6, 1e-3, 0.5])
def test_error_stays_below_the_tolerance_for_every_gap(monkeypatch, steps, gap):
    monkeypatch.setattr(lanczos, "STEPS", steps)  # with two steps, ARPACK continues
    values = np.r_[1.0, 1.0 - gap, np.linspace(0, 1 - gap, 58)]
    largest = compute_largest_eigenvalue(matrix_with_eigenvalues(values))
    assert largest == pytest.approx(1.0, rel=2 * lanczos.TOLERANCE)


def test_nonfinite_products_return_none():
    K = np.eye(30)
    K[3, 4] = K[4, 3] = np.nan
    assert compute_largest_eigenvalue(MatrixSimilarity(K)) is None


def test_eigenvalues_below_min_valid_eigenvalue_raise():
    values = np.r_[1.0, -0.5, np.zeros(58)]
    with pytest.raises(NotPSDError) as caught:
        compute_largest_eigenvalue(matrix_with_eigenvalues(values), min_valid_eigenvalue=-1e-6)
    assert caught.value.smallest == pytest.approx(-0.5, rel=1e-6)
    assert caught.value.negative_mass == -caught.value.smallest
    assert compute_largest_eigenvalue(
        matrix_with_eigenvalues(values), min_valid_eigenvalue=-0.6
    ) == pytest.approx(1.0)
    assert compute_largest_eigenvalue(
        matrix_with_eigenvalues(values, psd=True), min_valid_eigenvalue=-1e-6
    ) == pytest.approx(1.0)


def test_slow_convergence_returns_none(monkeypatch):
    monkeypatch.setattr(lanczos, "MAX_RESTARTS", 1)
    monkeypatch.setattr(lanczos, "BASIS_SIZE", 3)
    monkeypatch.setattr(lanczos, "STEPS", (3,))
    values = 1 - np.linspace(0, 1e-6, 60)
    assert compute_largest_eigenvalue(matrix_with_eigenvalues(values)) is None
