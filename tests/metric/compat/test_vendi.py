"""`compat.vendi` returns the results of `vendi_score.vendi` and matches the definitions."""

import math

import numpy as np
import pytest
from vendi_score import vendi as reference

from vendiscore import SampleError
from vendiscore.compat import vendi

pytestmark = pytest.mark.filterwarnings("ignore:Please import `csr_matrix`")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
P = RNG.dirichlet(np.ones(30))


def exponential_similarity(a, b):
    return np.exp(-abs(a - b))


CALLS = {
    "weight_K": lambda v: v.weight_K(K),
    "weight_K with weights": lambda v: v.weight_K(K, P),
    "normalize_K": lambda v: v.normalize_K(3 * K),
    "entropy_q": lambda v: [v.entropy_q(P, q) for q in (0, 0.5, 1, 2, "inf")],
    "score_K": lambda v: [v.score_K(K, q) for q in (0.5, 1, 2, "inf")],
    "score_K with weights": lambda v: v.score_K(3 * K, p=P, normalize=True),
    "score_X": lambda v: v.score_X(X, p=P),
    "score_dual": lambda v: [v.score_dual(X, q) for q in (0.5, 1, 2)],
    "score": lambda v: v.score(list(X[:, 0]), exponential_similarity, q=2),
    "intdiv_K": lambda v: [v.intdiv_K(K, q, p) for q in (1, 2) for p in (None, P)],
}


@pytest.mark.parametrize("name", CALLS)
def test_results_match_vendi_score(name):
    np.testing.assert_allclose(CALLS[name](vendi), CALLS[name](reference), rtol=1e-9, atol=1e-12)


def test_intdiv_and_intdiv_x_match_intdiv_k():
    """In vendi_score, both functions raise a NameError."""
    unit_rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert vendi.intdiv_X(X, 2, P) == pytest.approx(
        reference.intdiv_K(unit_rows @ unit_rows.T, 2, P), 1e-9
    )
    assert vendi.intdiv(list(X[:, 0]), exponential_similarity) == pytest.approx(
        reference.intdiv_K(K), 1e-9
    )


@pytest.mark.parametrize("p", [None, P], ids=["uniform", "weights"])
def test_score_k_uses_eigenvalues_of_weighted_matrix(p):
    eigenvalues = np.linalg.eigvalsh(vendi.weight_K(K, p))
    assert eigenvalues.sum() == pytest.approx(1)
    assert vendi.score_K(K, p=p) == pytest.approx(math.exp(vendi.entropy_q(eigenvalues)))
    assert vendi.score_K(K, 2, p=p) == pytest.approx(1 / (eigenvalues**2).sum())


def test_normalize_k_returns_cosines():
    scaled = K * np.outer(np.arange(1, 31), np.arange(1, 31))
    np.testing.assert_allclose(vendi.normalize_K(scaled), K, rtol=1e-12)


def test_intdiv_has_known_values():
    assert vendi.intdiv_K(np.ones((4, 4))) == pytest.approx(0)
    assert vendi.intdiv_K(np.eye(4), 3) == pytest.approx(0.75)
    assert vendi.intdiv_X(np.eye(4) * 5) == pytest.approx(0.75)
    rows = np.array([[0.6, 0.8], [1.0, 0.0]])
    assert vendi.intdiv_X(rows * 3) == pytest.approx(0.2)
    assert vendi.intdiv_X(rows, 2, normalize=False) == pytest.approx((1 - 0.36) / 2)


def test_entropy_q_ignores_zero_probabilities():
    assert vendi.entropy_q([0.5, 0.5, 0.0], 0) == pytest.approx(math.log(2))
    assert vendi.entropy_q(np.array([0.25] * 4), "inf") == pytest.approx(math.log(4))


def test_intdiv_x_rejects_zero_rows():
    with pytest.raises(SampleError, match="sample 1"):
        vendi.intdiv_X(np.array([[1.0, 0.0], [0.0, 0.0]]))
