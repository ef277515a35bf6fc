"""Conjugate gradients on matrices of prescribed spectrum: exact once all directions are there."""

import math

import numpy as np
import pytest

from vendiscore.gradients import conjugate_gradients

SPECTRUM = np.array([0.3, 0.5, 1.0, 1.5, 2.0, 4.0, 9.0])


def with_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    return (Q * values) @ Q.T


@pytest.mark.parametrize("seed", range(5))
def test_as_many_steps_as_eigenvalues_solve_and_find_the_least(seed):
    A, b = with_spectrum(SPECTRUM, seed), np.random.default_rng(seed + 9).standard_normal(7)
    x, steps, least = conjugate_gradients(lambda p: A @ p, b, 1e-10, 20)
    assert x == pytest.approx(np.linalg.solve(A, b), rel=1e-8)
    assert steps == 7
    assert least == pytest.approx(0.3, rel=1e-6)


def test_two_eigenvalues_take_two_steps():
    A = with_spectrum(np.repeat([1.0, 5.0], [30, 10]))
    _, steps, least = conjugate_gradients(lambda p: A @ p, np.ones(40), 1e-10, 40)
    assert steps == 2
    assert least == pytest.approx(1, rel=1e-10)


def test_the_inverse_as_preconditioner_takes_one_step():
    A = with_spectrum(SPECTRUM)
    inverse = np.linalg.inv(A)
    x, steps, _ = conjugate_gradients(lambda p: A @ p, np.ones(7), 1e-9, 7, lambda r: inverse @ r)
    assert x == pytest.approx(inverse.sum(axis=1), rel=1e-8)
    assert steps == 1


def test_nothing_to_solve_takes_no_step():
    x, steps, least = conjugate_gradients(lambda p: p, np.zeros(3), 0.0, 5)
    assert x.tolist() == [0, 0, 0]
    assert (steps, least) == (0, math.inf)


def test_too_few_steps_and_an_indefinite_matrix_give_no_solution():
    A = with_spectrum(SPECTRUM)
    assert conjugate_gradients(lambda p: A @ p, np.ones(7), 1e-10, 3)[0] is None
    indefinite = with_spectrum(np.array([-1.0, 1.0, 2.0]))
    assert conjugate_gradients(lambda p: indefinite @ p, np.ones(3), 1e-10, 9)[0] is None
