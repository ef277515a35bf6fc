"""Vendi Scores: mathematical properties, and agreement of all routes with the definition."""

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import random_correlation

from vendiscore import FeatureSimilarity, MatrixSimilarity, NotPSDError, effective_number, spectrum
from vendiscore.spectral.lanczos import compute_largest_eigenvalue
from vendiscore.spectral.vendi_scores import compute_vendi_scores

ORDERS = [0.0, 0.1, 0.5, 0.999999, 1.0, 1.000001, 1.5, 2.0, 3.0, 10.0, 100.0, math.inf]


def matrix_with_known_eigenvalues(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix with unit diagonal, and its normalized eigenvalues, some of them zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    rank = int(rng.integers(2, n + 1))
    eigenvalues = np.zeros(n)
    eigenvalues[:rank] = rng.dirichlet(np.full(rank, rng.choice([0.3, 1.0, 10.0])))
    eigenvalues[:rank] = np.maximum(eigenvalues[:rank], 1e-6)
    eigenvalues /= eigenvalues.sum()
    K = random_correlation.rvs(eigenvalues * n, random_state=rng, tol=1e-10, diag_tol=1e-9)
    return (K + K.T) / 2, eigenvalues


def score_by_definition(K: np.ndarray, q: float, p: np.ndarray | None = None) -> float:
    """Return the Hill number of order q of the eigenvalues of diag(√p) K diag(√p)."""
    n = len(K)
    p = np.full(n, 1 / n) if p is None else p
    eigenvalues = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * K)
    eigenvalues = eigenvalues[eigenvalues > 1e-12]
    eigenvalues /= eigenvalues.sum()
    if q == 1:
        return float(np.exp(-(eigenvalues * np.log(eigenvalues)).sum()))
    if math.isinf(q):
        return float(1 / eigenvalues.max())
    return float((eigenvalues**q).sum() ** (1 / (1 - q)))


def scores(similarity, orders=(1.0,), p=None):
    # Single orders may use different routes.
    return [compute_vendi_scores(similarity, [q], p).values[0] for q in orders]


@pytest.mark.parametrize("seed", range(40))
def test_scores_of_prescribed_spectra_have_known_properties(seed):
    K, eigenvalues = matrix_with_known_eigenvalues(seed)
    n, rank = len(K), int((eigenvalues > 0).sum())
    values = scores(MatrixSimilarity(K), ORDERS)
    assert values[0] == rank
    assert values[ORDERS.index(1.0)] == pytest.approx(
        math.exp(-(eigenvalues[:rank] * np.log(eigenvalues[:rank])).sum()), rel=1e-9
    )
    assert values[-1] == pytest.approx(1 / eigenvalues.max(), rel=1e-9)
    assert all(1 <= value <= n * (1 + 1e-12) for value in values)
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(values))


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_order_one_is_the_limit_of_nearby_orders(seed):
    K, _ = matrix_with_known_eigenvalues(seed)
    eigenvalues = spectrum(MatrixSimilarity(K))
    exact = effective_number(eigenvalues, 1.0)
    for eps in (1e-3, 1e-6, 1e-9, 1e-12):
        for q in (1 - eps, 1 + eps):
            # d log VS_q / dq at 1 is half the variance of log λ, here below 100.
            assert effective_number(eigenvalues, q) == pytest.approx(exact, rel=100 * eps + 1e-12)
    assert effective_number(eigenvalues, 1 + 1e-7) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_features_matrix_and_weighted_duplicates_have_equal_scores(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 12)), int(rng.integers(1, 8))
    X = rng.standard_normal((m, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    counts = rng.integers(1, 5, m)
    repeated = np.repeat(X, counts, axis=0)[rng.permutation(counts.sum())]
    p = counts / counts.sum()
    for q in (0.5, 1.0, 2.0, 3.0, math.inf):
        expected = score_by_definition(X @ X.T, q, p)
        assert scores(FeatureSimilarity(X), [q], p)[0] == pytest.approx(expected, rel=1e-10)
        assert scores(MatrixSimilarity(X @ X.T), [q], p)[0] == pytest.approx(expected, rel=1e-10)
        assert scores(FeatureSimilarity(sp.csr_array(X)), [q], p)[0] == pytest.approx(
            expected, 1e-10
        )
        for similarity in (
            FeatureSimilarity(repeated),  # covariance, d < n
            FeatureSimilarity(np.hstack([repeated, np.zeros((len(repeated), 60))])),  # merged rows
            MatrixSimilarity(repeated @ repeated.T),
        ):
            assert scores(similarity, [q])[0] == pytest.approx(expected, rel=1e-10)


def test_score_of_order_0_of_wide_features_is_the_rank():
    X = np.random.default_rng(0).standard_normal((20, 200))
    similarity = FeatureSimilarity(X).normalized()
    assert scores(similarity, [0.0]) == [20.0]
    assert scores(similarity, [0.1])[0] <= 20


def test_sparse_identity_scores_the_number_of_rows():
    identity = sp.identity(30, format="csr")
    assert scores(FeatureSimilarity(identity), ORDERS) == pytest.approx([30.0] * len(ORDERS))


# Properties of Friedman & Dieng, Theorem 3.1.

vectors = st.integers(1, 6).flatmap(
    lambda d: st.lists(
        st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=d, max_size=d).filter(any),
        min_size=1,
        max_size=10,
    )
)


def normalize_rows(rows) -> np.ndarray:
    X = np.array(rows, dtype=float)
    return X / np.linalg.norm(X, axis=1)[:, None]


@given(st.integers(1, 30), st.sampled_from(ORDERS))
def test_theorem_a_scores_of_identical_and_dissimilar_samples_are_1_and_n(n, q):
    assert scores(MatrixSimilarity(np.eye(n)), [q])[0] == pytest.approx(n)
    assert scores(MatrixSimilarity(np.ones((n, n))), [q])[0] == pytest.approx(1)


@given(vectors, st.data())
def test_theorem_b_identical_samples_merge_into_their_weight(rows, data):
    X = normalize_rows(rows)
    n = len(X)
    p = np.array(data.draw(st.lists(st.integers(1, 9), min_size=n + 1, max_size=n + 1)), float)
    p /= p.sum()
    doubled = np.vstack([X, X[:1]])
    merged = p[:-1].copy()
    merged[0] += p[-1]
    q = data.draw(st.sampled_from([0.5, 1.0, 2.0, math.inf]))
    K = MatrixSimilarity
    assert scores(K(doubled @ doubled.T), [q], p)[0] == pytest.approx(
        scores(K(X @ X.T), [q], merged)[0], rel=1e-7
    )


@given(vectors, vectors)
def test_theorem_c_scores_of_dissimilar_groups_multiply(first, second):
    A, B = normalize_rows(first), normalize_rows(second)
    K = np.zeros((len(A) + len(B),) * 2)
    K[: len(A), : len(A)], K[len(A) :, len(A) :] = A @ A.T, B @ B.T
    proportions = np.array([len(A), len(B)]) / len(K)
    expected = math.exp(-(proportions * np.log(proportions)).sum())
    for proportion, group in zip(proportions, (A, B), strict=True):
        expected *= scores(MatrixSimilarity(group @ group.T))[0] ** proportion
    assert scores(MatrixSimilarity(K))[0] == pytest.approx(expected, rel=1e-9)


@given(vectors, st.data())
def test_theorem_d_score_does_not_depend_on_sample_order(rows, data):
    X = normalize_rows(rows)
    order = data.draw(st.permutations(range(len(X))))
    q = data.draw(st.sampled_from([0.5, 1.0, 2.0, math.inf]))
    assert scores(FeatureSimilarity(X[order]), [q])[0] == pytest.approx(
        scores(FeatureSimilarity(X), [q])[0], rel=1e-7
    )


def test_several_orders_use_one_spectrum():
    K, _ = matrix_with_known_eigenvalues(3)
    result = compute_vendi_scores(MatrixSimilarity(K), ORDERS)
    assert result.values == pytest.approx(scores(MatrixSimilarity(K), ORDERS), rel=1e-9)
    assert {estimate.route for estimate in result.estimates} == {"eigenvalues"}


@pytest.mark.parametrize("name", ["decaying", "flat", "two equal", "exactly low rank"])
def test_lanczos_returns_the_largest_eigenvalue(name):
    rng = np.random.default_rng(1)
    n = 600
    eigenvalues = {
        "decaying": 1 / np.arange(1, n + 1) ** 2,
        "flat": np.linspace(1, 1.5, n),
        "two equal": np.r_[2.0, 2.0, np.ones(n - 2)],
        "exactly low rank": np.r_[np.ones(5), np.zeros(n - 5)],
    }[name]
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    result = compute_largest_eigenvalue(MatrixSimilarity((Q * eigenvalues) @ Q.T))
    assert result is not None
    assert result == pytest.approx(eigenvalues.max(), rel=1e-8)


def test_lanczos_finds_eigenvectors_orthogonal_to_the_ones_vector():
    # The top eigenvector (1, −1, 0, …)/√2 is orthogonal to the vector of ones.
    K = np.eye(700)
    K[0, 1] = K[1, 0] = -0.9
    assert scores(MatrixSimilarity(K), [math.inf])[0] == pytest.approx(700 / 1.9, rel=1e-8)


def test_unconverged_lanczos_falls_back_to_eigenvalues_with_a_reason(monkeypatch):
    monkeypatch.setattr("vendiscore.spectral.lanczos.MAX_RESTARTS", 1)
    X = np.random.default_rng(0).standard_normal((600, 900))
    result = compute_vendi_scores(FeatureSimilarity(X).normalized(), [2.0, math.inf])
    assert [estimate.route for estimate in result.estimates] == ["norm", "eigenvalues"]
    assert result.estimates[1].reason == "Lanczos iteration did not converge"
    K = FeatureSimilarity(X).normalized().dense()
    assert result.values[1] == pytest.approx(score_by_definition(K, math.inf), rel=1e-9)


def test_rounding_errors_do_not_increase_low_order_scores():
    X = np.random.default_rng(0).standard_normal((50, 3))
    K = FeatureSimilarity(X).normalized().dense()
    assert scores(MatrixSimilarity(K), [0.0]) == [3.0]
    assert scores(MatrixSimilarity(K), [0.1])[0] <= 3


def test_small_negative_eigenvalues_are_clipped_and_rescaled_to_sum_1():
    K = np.array([[1.0, 1 + 1e-8], [1 + 1e-8, 1.0]])
    eigenvalues = spectrum(MatrixSimilarity(K))
    assert eigenvalues.sum() == pytest.approx(1, abs=1e-15)
    assert eigenvalues.min() == 0


def test_error_about_indefinite_similarity_suggests_psd_clip():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(NotPSDError, match=r"smallest eigenvalue is -0\.0909.*psd='clip'") as caught:
        spectrum(MatrixSimilarity(K))
    assert caught.value.smallest == pytest.approx((1 - 0.9 * math.sqrt(2)) / 3)
    clipped = spectrum(MatrixSimilarity(K), psd="clip")
    assert clipped.min() == 0
    assert clipped.sum() == pytest.approx(1)


def test_lanczos_raises_for_negative_eigenvalues():
    K = np.eye(600)
    K[:3, :3] = [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]
    with pytest.raises(NotPSDError, match=r"smallest eigenvalue is -0\.0013"):
        compute_vendi_scores(MatrixSimilarity(K), [math.inf])
    # Three eigenvalues are −0.8, 1.9 and 1.9; clipping −0.8 increases the trace to 600.8.
    clipped = compute_vendi_scores(MatrixSimilarity(K), [math.inf], psd="clip").values[0]
    assert clipped == pytest.approx(600.8 / 1.9)


def test_too_large_exact_score_raises_before_allocation(monkeypatch):
    from vendiscore import TooLargeError

    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"8,000,000 bytes.*q=2 or q=float\('inf'\)"):
        compute_vendi_scores(FeatureSimilarity(sp.identity(1000, format="csr")))


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("shape", [(12, 5), (5, 12)], ids=["tall", "wide"])
def test_torch_scores_match_numpy_and_have_correct_gradients(q, shape):
    torch = pytest.importorskip("torch")
    X = torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    X.requires_grad_()

    def score(X):
        return compute_vendi_scores(FeatureSimilarity(X).normalized(), [q]).values[0]

    expected = scores(FeatureSimilarity(X.detach().numpy()).normalized(), [q])[0]
    assert score(X).item() == pytest.approx(expected, rel=1e-10)
    assert torch.autograd.gradcheck(score, X)
    K = FeatureSimilarity(X).normalized().dense()
    assert compute_vendi_scores(MatrixSimilarity(K), [q]).values[0].item() == pytest.approx(
        expected, rel=1e-10
    )


def test_torch_computes_order_infinity_without_lanczos():
    torch = pytest.importorskip("torch")
    K = torch.eye(600, dtype=torch.float64)
    assert compute_vendi_scores(MatrixSimilarity(K), [math.inf]).values[0].item() == pytest.approx(
        600
    )
