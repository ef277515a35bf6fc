"""The functions of vendi_score.vendi give the numbers of that package, and of their definitions."""

import math

import numpy as np
import pytest
from vendi_score import vendi as theirs

from vendiscore import SampleError
from vendiscore.compat import vendi

pytestmark = pytest.mark.filterwarnings("ignore:Please import `csr_matrix`")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
P = RNG.dirichlet(np.ones(30))


def near(a, b):
    return np.exp(-abs(a - b))


CALLS = {
    "weight_K": lambda v: v.weight_K(K),
    "weight_K of weights": lambda v: v.weight_K(K, P),
    "normalize_K": lambda v: v.normalize_K(3 * K),
    "entropy_q": lambda v: [v.entropy_q(P, q) for q in (0, 0.5, 1, 2, "inf")],
    "score_K": lambda v: [v.score_K(K, q) for q in (0.5, 1, 2, "inf")],
    "score_K of weights": lambda v: v.score_K(3 * K, p=P, normalize=True),
    "score_X": lambda v: v.score_X(X, p=P),
    "score_dual": lambda v: [v.score_dual(X, q) for q in (0.5, 1, 2)],
    "score": lambda v: v.score(list(X[:, 0]), near, q=2),
    "intdiv_K": lambda v: [v.intdiv_K(K, q, p) for q in (1, 2) for p in (None, P)],
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_of_matrices_are_equal(name):
    np.testing.assert_allclose(CALLS[name](vendi), CALLS[name](theirs), rtol=1e-9, atol=1e-12)


def test_intdiv_of_samples_and_of_rows_is_that_of_their_matrix():
    """There both raise a NameError."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert vendi.intdiv_X(X, 2, P) == pytest.approx(theirs.intdiv_K(unit @ unit.T, 2, P), 1e-9)
    assert vendi.intdiv(list(X[:, 0]), near) == pytest.approx(theirs.intdiv_K(K), 1e-9)


@pytest.mark.parametrize("p", [None, P], ids=["uniform", "weights"])
def test_a_score_is_that_of_the_eigenvalues_of_weight_k(p):
    eigenvalues = np.linalg.eigvalsh(vendi.weight_K(K, p))
    assert eigenvalues.sum() == pytest.approx(1)
    assert vendi.score_K(K, p=p) == pytest.approx(math.exp(vendi.entropy_q(eigenvalues)))
    assert vendi.score_K(K, 2, p=p) == pytest.approx(1 / (eigenvalues**2).sum())


def test_normalized_similarities_have_a_diagonal_of_1_and_the_same_cosines():
    scaled = K * np.outer(np.arange(1, 31), np.arange(1, 31))
    np.testing.assert_allclose(vendi.normalize_K(scaled), K, rtol=1e-12)


def test_intdiv_of_identical_samples_is_0_and_of_unrelated_ones_1_minus_1_over_n():
    assert vendi.intdiv_K(np.ones((4, 4))) == pytest.approx(0)
    assert vendi.intdiv_K(np.eye(4), 3) == pytest.approx(0.75)
    assert vendi.intdiv_X(np.eye(4) * 5) == pytest.approx(0.75)
    rows = np.array([[0.6, 0.8], [1.0, 0.0]])
    assert vendi.intdiv_X(rows * 3) == pytest.approx(0.2)
    assert vendi.intdiv_X(rows, 2, normalize=False) == pytest.approx((1 - 0.36) / 2)


def test_entropy_ignores_shares_of_0():
    assert vendi.entropy_q([0.5, 0.5, 0.0], 0) == pytest.approx(math.log(2))
    assert vendi.entropy_q(np.array([0.25] * 4), "inf") == pytest.approx(math.log(4))


def test_zero_rows_are_refused_where_cosines_are_asked_for():
    with pytest.raises(SampleError, match="sample 1"):
        vendi.intdiv_X(np.array([[1.0, 0.0], [0.0, 0.0]]))
