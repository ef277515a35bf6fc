"""Conjugate gradients and the Lanczos method for matrices with a given spectrum."""

import numpy as np
import pytest

from vendiscore.magnitude.conjugate_gradients import (
    conjugate_gradients,
    estimate_extreme_eigenvalue,
)

SPECTRUM = np.array([0.3, 0.5, 1.0, 1.5, 2.0, 4.0, 9.0])


def make_matrix_with_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("seed", range(5))
def test_steps_do_not_exceed_number_of_eigenvalues(seed):
    A, b = (
        make_matrix_with_spectrum(SPECTRUM, seed),
        np.random.default_rng(seed + 9).standard_normal(7),
    )
    x, steps = conjugate_gradients(lambda p: A @ p, b, 1e-10, 20)
    assert x == pytest.approx(np.linalg.solve(A, b), rel=1e-8)
    assert steps == 7


def test_two_distinct_eigenvalues_take_two_steps():
    A = make_matrix_with_spectrum(np.repeat([1.0, 5.0], [30, 10]))
    assert conjugate_gradients(lambda p: A @ p, np.ones(40), 1e-10, 40)[1] == 2


def test_inverse_as_preconditioner_takes_single_step():
    A = make_matrix_with_spectrum(SPECTRUM)
    inverse = np.linalg.inv(A)
    x, steps = conjugate_gradients(lambda p: A @ p, np.ones(7), 1e-9, 7, lambda r: inverse @ r)
    assert x == pytest.approx(inverse.sum(axis=1), rel=1e-8)
    assert steps == 1


def test_tolerance_applies_to_weighted_residual():
    A, b = make_matrix_with_spectrum(SPECTRUM), np.ones(7)
    residual_weights = np.array([1e4, 1, 1, 1, 1, 1, 1e-4])
    x, _ = conjugate_gradients(lambda p: A @ p, b, 1e-3, 20, residual_weights=residual_weights)
    residual = b - A @ x
    assert residual @ (residual_weights * residual) <= 1e-6
    assert (
        conjugate_gradients(lambda p: A @ p, b, 1e3, 20, residual_weights=residual_weights)[1] == 0
    )


def test_zero_right_hand_side_takes_no_step():
    x, steps = conjugate_gradients(lambda p: p, np.zeros(3), 0.0, 5)
    assert x.tolist() == [0, 0, 0]
    assert steps == 0


def test_too_few_steps_and_indefinite_matrix_return_none():
    A = make_matrix_with_spectrum(SPECTRUM)
    assert conjugate_gradients(lambda p: A @ p, np.ones(7), 1e-10, 3)[0] is None
    indefinite = make_matrix_with_spectrum(np.array([-1.0, 1.0, 2.0]))
    assert conjugate_gradients(lambda p: indefinite @ p, np.ones(3), 1e-10, 9)[0] is None


@pytest.mark.parametrize("smallest", [-1.0, 1e-6, 0.3])
@pytest.mark.parametrize("n", [2, 30, 500])
def test_smallest_eigenvalue_is_estimated(n, smallest):
    values = np.random.default_rng(n).uniform(0.9, 1.1, n)
    values[0] = smallest
    A = make_matrix_with_spectrum(values)
    assert estimate_extreme_eigenvalue(lambda v: A @ v, n, largest=False) == pytest.approx(
        smallest, abs=1e-3
    )


@pytest.mark.parametrize("ratio", [1.001, 1.1, 100.0])
def test_largest_eigenvalue_is_estimated_within_factor_two(ratio):
    values = ratio ** -np.arange(300.0)
    A = make_matrix_with_spectrum(values)
    assert 0.5 < estimate_extreme_eigenvalue(lambda v: A @ v, 300, largest=True) <= 1 + 1e-12


def test_eigenvalue_orthogonal_to_constant_vector_is_estimated():
    # The constant vector is nearly an eigenvector, as for many similarity matrices.
    A = np.ones((40, 40)) + np.diag(np.r_[np.ones(20), 5 * np.ones(20)])
    assert estimate_extreme_eigenvalue(lambda v: A @ v, 40, largest=False) == pytest.approx(
        1, rel=1e-3
    )
