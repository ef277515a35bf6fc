"""Validation of similarity matrices and their diagonals."""

import numpy as np
import pytest

from vendiscore import SampleError
from vendiscore.core import checks


def test_check_matrix_rejects_invalid_small_matrices():
    for row, column, entry in ((0, 1, 0.1), (0, 0, np.nan), (0, 2, -2.0)):
        K = np.eye(3)
        K[row, column] = entry
        with pytest.raises(ValueError, match="must"):
            checks.check_matrix(K)
    for diagonal, off_diagonal in (
        (1.0, 1.1),
        (1.0, -1.1),
        (0.9, 0.0),
        (1.1, 0.0),
    ):  # symmetric matrices
        with pytest.raises(ValueError, match="must"):
            checks.check_matrix(np.array([[diagonal, off_diagonal], [off_diagonal, diagonal]]))
    for n in (2, checks.MAX_ENTRYWISE_SIZE, checks.MAX_ENTRYWISE_SIZE + 1):
        K = np.eye(n)
        K[0, 1] = K[1, 0] = -1.0
        assert checks.check_matrix(K)[0] is K


@pytest.mark.parametrize("n", [3, 200, 700])
def test_compute_asymmetry_returns_maximum_and_rejects_larger(n):
    K = np.eye(n)
    assert checks.compute_asymmetry(K, None, 1e-5, "K") <= checks.ROUNDING
    K[n - 1, 0] = 1e-6
    assert checks.compute_asymmetry(K, None, 1e-5, "K") == 1e-6
    assert checks.compute_asymmetry(K * 4, np.full(n, 0.5), 1e-5, "K") == 1e-6
    with pytest.raises(ValueError, match=rf"got K\[0, {n - 1}\] = 0 and K\[{n - 1}, 0\] = 1e-06"):
        checks.compute_asymmetry(K, None, 1e-7, "K")
    K[0, n - 1] = K[n - 1, 0] = -1.1
    with pytest.raises(ValueError, match=rf"got K\[0, {n - 1}\] = -1\.1"):
        checks.compute_asymmetry(K, None, 1e-5, "K")


def test_diagonal_checks_accept_values_within_precision():
    checks.check_unit_diagonal(np.array([1.0, 1 + 9e-6]))
    checks.check_unit_diagonal(np.array([1.0, 1.001]), precision=1e-3)
    with pytest.raises(SampleError, match=r"sample 1 must have similarity 1 .* got 1\.001; pass"):
        checks.check_unit_diagonal(np.array([1.0, 1.001]))
    with pytest.raises(SampleError, match=r"sample 7 .*if the values are distances D, pass"):
        checks.check_unit_diagonal(np.zeros(1), indices=[7])
    with pytest.raises(SampleError, match="pass normalize=True"):
        checks.check_unit_diagonal(np.zeros(1), has_features=True)
    with pytest.raises(SampleError, match=r"similarity with itself must be positive, got 0"):
        checks.check_positive_diagonal(np.array([1.0, 0.0]))
    with pytest.raises(SampleError, match=r"similarity with itself must be positive, got inf"):
        checks.check_positive_diagonal(np.array([1.0, np.inf]))


def test_check_no_distances_rejects_distances():
    checks.check_no_distances(np.eye(2), np.ones(2), "K")
    checks.check_no_distances(np.zeros((2, 2)), np.zeros(2), "K")
    with pytest.raises(ValueError, match="probably contains distances D; pass np"):
        checks.check_no_distances(np.array([[0, 1.0], [1, 0]]), np.zeros(2), "K")
    with pytest.raises(ValueError, match="`K` must be a square similarity matrix"):
        checks.check_square(np.ones((1, 2)), "K")


def test_check_matrix_averages_small_asymmetries():
    K = np.eye(200)
    K[0, 1] = 1e-6
    symmetric, diagonal = checks.check_matrix(K)
    assert symmetric[0, 1] == symmetric[1, 0] == 5e-7
    assert diagonal.tolist() == [1.0] * 200
    assert K[1, 0] == 0
