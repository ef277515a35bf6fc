"""The spectral engine: laws of the score, and agreement of every route with the definition."""

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


def prescribed(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix of unit diagonal with known eigenvalue shares, some of them zero, and the
    shares."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    rank = int(rng.integers(2, n + 1))
    shares = np.zeros(n)
    shares[:rank] = rng.dirichlet(np.full(rank, rng.choice([0.3, 1.0, 10.0])))
    shares[:rank] = np.maximum(shares[:rank], 1e-6)
    shares /= shares.sum()
    K = random_correlation.rvs(shares * n, random_state=rng, tol=1e-10, diag_tol=1e-9)
    return (K + K.T) / 2, shares


def definition(K: np.ndarray, q: float, p: np.ndarray | None = None) -> float:
    """Return the score word for word: eigenvalues of diag(√p) K diag(√p), Hill number of order
    q."""
    n = len(K)
    p = np.full(n, 1 / n) if p is None else p
    lam = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * K)
    lam = lam[lam > 1e-12]
    lam /= lam.sum()
    if q == 1:
        return float(np.exp(-(lam * np.log(lam)).sum()))
    if math.isinf(q):
        return float(1 / lam.max())
    return float((lam**q).sum() ** (1 / (1 - q)))


def scores(similarity, orders=(1.0,), p=None):
    # One order at a time, so that each takes its own route.
    return [compute_vendi_scores(similarity, [q], p).values[0] for q in orders]


@pytest.mark.parametrize("seed", range(40))
def test_the_orders_obey_their_laws_on_prescribed_spectra(seed):
    K, shares = prescribed(seed)
    n, rank = len(K), int((shares > 0).sum())
    values = scores(MatrixSimilarity(K), ORDERS)
    assert values[0] == rank
    assert values[ORDERS.index(1.0)] == pytest.approx(
        math.exp(-(shares[:rank] * np.log(shares[:rank])).sum()), rel=1e-9
    )
    assert values[-1] == pytest.approx(1 / shares.max(), rel=1e-9)
    assert all(1 <= value <= n * (1 + 1e-12) for value in values)
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(values))


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_order_one_is_the_limit_of_its_neighbours(seed):
    K, _ = prescribed(seed)
    lam = spectrum(MatrixSimilarity(K))
    exact = effective_number(lam, 1.0)
    for eps in (1e-3, 1e-6, 1e-9, 1e-12):
        for q in (1 - eps, 1 + eps):
            # d log VS_q / dq at 1 is half the variance of log λ, here below 100.
            assert effective_number(lam, q) == pytest.approx(exact, rel=100 * eps + 1e-12)
    assert effective_number(lam, 1 + 1e-7) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_primal_dual_and_weighted_duplicates_agree(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(2, 12)), int(rng.integers(1, 8))
    X = rng.standard_normal((m, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    counts = rng.integers(1, 5, m)
    repeated = np.repeat(X, counts, axis=0)[rng.permutation(counts.sum())]
    p = counts / counts.sum()
    for q in (0.5, 1.0, 2.0, 3.0, math.inf):
        want = definition(X @ X.T, q, p)
        assert scores(FeatureSimilarity(X), [q], p)[0] == pytest.approx(want, rel=1e-10)
        assert scores(MatrixSimilarity(X @ X.T), [q], p)[0] == pytest.approx(want, rel=1e-10)
        assert scores(FeatureSimilarity(sp.csr_array(X)), [q], p)[0] == pytest.approx(want, 1e-10)
        for similarity in (
            FeatureSimilarity(repeated),  # covariance, d < n
            FeatureSimilarity(np.hstack([repeated, np.zeros((len(repeated), 60))])),  # merged rows
            MatrixSimilarity(repeated @ repeated.T),
        ):
            assert scores(similarity, [q])[0] == pytest.approx(want, rel=1e-10)


def test_wide_features_have_the_rank_of_their_rows():
    X = np.random.default_rng(0).standard_normal((20, 200))
    similarity = FeatureSimilarity(X).normalized()
    assert scores(similarity, [0.0]) == [20.0]
    assert scores(similarity, [0.1])[0] <= 20


def test_a_sparse_identity_has_as_many_samples_as_rows():
    identity = sp.identity(30, format="csr")
    assert scores(FeatureSimilarity(identity), ORDERS) == pytest.approx([30.0] * len(ORDERS))


# Friedman & Dieng, Theorem 3.1, as properties.

vectors = st.integers(1, 6).flatmap(
    lambda d: st.lists(
        st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=d, max_size=d).filter(any),
        min_size=1,
        max_size=10,
    )
)


def unit(rows) -> np.ndarray:
    X = np.array(rows, dtype=float)
    return X / np.linalg.norm(X, axis=1)[:, None]


@given(st.integers(1, 30), st.sampled_from(ORDERS))
def test_theorem_a_effective_number_of_equal_or_different_samples(n, q):
    assert scores(MatrixSimilarity(np.eye(n)), [q])[0] == pytest.approx(n)
    assert scores(MatrixSimilarity(np.ones((n, n))), [q])[0] == pytest.approx(1)


@given(vectors, st.data())
def test_theorem_b_identical_samples_merge_into_their_weight(rows, data):
    X = unit(rows)
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
    A, B = unit(first), unit(second)
    K = np.zeros((len(A) + len(B),) * 2)
    K[: len(A), : len(A)], K[len(A) :, len(A) :] = A @ A.T, B @ B.T
    shares = np.array([len(A), len(B)]) / len(K)
    want = math.exp(-(shares * np.log(shares)).sum())
    for share, group in zip(shares, (A, B), strict=True):
        want *= scores(MatrixSimilarity(group @ group.T))[0] ** share
    assert scores(MatrixSimilarity(K))[0] == pytest.approx(want, rel=1e-9)


@given(vectors, st.data())
def test_theorem_d_the_order_of_samples_does_not_matter(rows, data):
    X = unit(rows)
    order = data.draw(st.permutations(range(len(X))))
    q = data.draw(st.sampled_from([0.5, 1.0, 2.0, math.inf]))
    assert scores(FeatureSimilarity(X[order]), [q])[0] == pytest.approx(
        scores(FeatureSimilarity(X), [q])[0], rel=1e-7
    )


def test_several_orders_share_one_spectrum():
    K, _ = prescribed(3)
    together = compute_vendi_scores(MatrixSimilarity(K), ORDERS)
    assert together.values == pytest.approx(scores(MatrixSimilarity(K), ORDERS), rel=1e-9)
    assert {estimate.route for estimate in together.estimates} == {"eigenvalues"}


@pytest.mark.parametrize("kind", ["decaying", "flat", "two equal", "exactly low rank"])
def test_lanczos_finds_the_largest_eigenvalue(kind):
    rng = np.random.default_rng(1)
    n = 600
    lam = {
        "decaying": 1 / np.arange(1, n + 1) ** 2,
        "flat": np.linspace(1, 1.5, n),
        "two equal": np.r_[2.0, 2.0, np.ones(n - 2)],
        "exactly low rank": np.r_[np.ones(5), np.zeros(n - 5)],
    }[kind]
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    result = compute_largest_eigenvalue(MatrixSimilarity((Q * lam) @ Q.T))
    assert result is not None
    assert result == pytest.approx(lam.max(), rel=1e-8)


def test_lanczos_is_not_blind_to_what_its_start_does_not_contain():
    # The top eigenvector (1, −1, 0, …)/√2 is orthogonal to the vector of ones.
    K = np.eye(700)
    K[0, 1] = K[1, 0] = -0.9
    assert scores(MatrixSimilarity(K), [math.inf])[0] == pytest.approx(700 / 1.9, rel=1e-8)


def test_a_slow_lanczos_is_replaced_by_the_spectrum_and_says_so(monkeypatch):
    monkeypatch.setattr("vendiscore.spectral.lanczos.MAX_RESTARTS", 1)
    X = np.random.default_rng(0).standard_normal((600, 900))
    result = compute_vendi_scores(FeatureSimilarity(X).normalized(), [2.0, math.inf])
    assert [estimate.route for estimate in result.estimates] == ["norm", "eigenvalues"]
    assert result.estimates[1].reason == "Lanczos iteration did not converge"
    K = FeatureSimilarity(X).normalized().dense()
    assert result.values[1] == pytest.approx(definition(K, math.inf), rel=1e-9)


def test_rounding_is_not_diversity():
    X = np.random.default_rng(0).standard_normal((50, 3))
    K = FeatureSimilarity(X).normalized().dense()
    assert scores(MatrixSimilarity(K), [0.0]) == [3.0]
    assert scores(MatrixSimilarity(K), [0.1])[0] <= 3


def test_small_negative_eigenvalues_are_clipped_and_the_trace_restored():
    K = np.array([[1.0, 1 + 1e-8], [1 + 1e-8, 1.0]])
    lam = spectrum(MatrixSimilarity(K))
    assert lam.sum() == pytest.approx(1, abs=1e-15)
    assert lam.min() == 0


def test_an_indefinite_similarity_is_an_error_that_names_the_way_out():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(NotPSDError, match=r"smallest eigenvalue is -0\.0909.*psd='clip'") as caught:
        spectrum(MatrixSimilarity(K))
    assert caught.value.smallest == pytest.approx((1 - 0.9 * math.sqrt(2)) / 3)
    clipped = spectrum(MatrixSimilarity(K), psd="clip")
    assert clipped.min() == 0
    assert clipped.sum() == pytest.approx(1)


def test_lanczos_reports_a_negative_eigenvalue_that_it_meets():
    K = np.eye(600)
    K[:3, :3] = [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]
    with pytest.raises(NotPSDError, match=r"smallest eigenvalue is -0\.0013"):
        compute_vendi_scores(MatrixSimilarity(K), [math.inf])
    # The three are −0.8, 1.9 and 1.9; clipping −0.8 leaves a trace of 600.8.
    clipped = compute_vendi_scores(MatrixSimilarity(K), [math.inf], psd="clip").values[0]
    assert clipped == pytest.approx(600.8 / 1.9)


def test_exact_is_refused_before_it_is_allocated(monkeypatch):
    from vendiscore import TooLargeError

    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"8,000,000 bytes.*q=2 or q=float\('inf'\)"):
        compute_vendi_scores(FeatureSimilarity(sp.identity(1000, format="csr")))


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("shape", [(12, 5), (5, 12)], ids=["tall", "wide"])
def test_torch_scores_are_the_same_and_have_the_right_gradient(q, shape):
    torch = pytest.importorskip("torch")
    X = torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    X.requires_grad_()

    def score(X):
        return compute_vendi_scores(FeatureSimilarity(X).normalized(), [q]).values[0]

    want = scores(FeatureSimilarity(X.detach().numpy()).normalized(), [q])[0]
    assert score(X).item() == pytest.approx(want, rel=1e-10)
    assert torch.autograd.gradcheck(score, X)
    K = FeatureSimilarity(X).normalized().dense()
    assert compute_vendi_scores(MatrixSimilarity(K), [q]).values[0].item() == pytest.approx(
        want, rel=1e-10
    )


def test_torch_needs_no_lanczos():
    torch = pytest.importorskip("torch")
    K = torch.eye(600, dtype=torch.float64)
    assert compute_vendi_scores(MatrixSimilarity(K), [math.inf]).values[0].item() == pytest.approx(
        600
    )
