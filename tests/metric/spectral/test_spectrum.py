"""A spectrum: eigenvectors that give the matrix back, one decomposition for all orders."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from decompositions import record_decompositions
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import random_correlation

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    NotPSDError,
    SumSimilarity,
    TooLargeError,
    effective_number,
    spectrum,
)
from vendiscore.similarity.composite import RepeatedSimilarity
from vendiscore.spectral import eigendecomposition, two_stage_eigensolver
from vendiscore.spectral.spectrum import Spectrum, compute_spectrum_from_covariance
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores

PROFILE = [0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf]


def rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def some_repeated():
    return rows(30, 50)[np.random.default_rng(1).integers(0, 12, 30)]


WORDS = sp.csr_array(
    np.hstack([np.random.default_rng(2).random((25, 59)) < 0.15, np.ones((25, 1))]).astype(float)
)
SIMILARITIES = {
    "tall features": lambda: FeatureSimilarity(rows(40, 6)),
    "wide features": lambda: FeatureSimilarity(rows(20, 70)),
    "single precision": lambda: FeatureSimilarity(rows(40, 6).astype(np.float32)).normalized(),
    "sparse, wide": lambda: FeatureSimilarity(WORDS).normalized(),
    "sparse, tall": lambda: FeatureSimilarity(WORDS[:, 45:]).normalized(),
    "dense": lambda: MatrixSimilarity(rows(20, 70) @ rows(20, 70).T),
    "dense, low rank": lambda: MatrixSimilarity(rows(30, 4) @ rows(30, 4).T),
    "repeated rows": lambda: FeatureSimilarity(some_repeated()),
    "repeated matrix": lambda: MatrixSimilarity(some_repeated() @ some_repeated().T),
    "repeats of distinct": lambda: RepeatedSimilarity(
        FeatureSimilarity(rows(8, 20)), np.arange(24) % 8
    ),
    "sum": lambda: SumSimilarity(
        [FeatureSimilarity(rows(20, 3)), FeatureSimilarity(rows(20, 4, 1))], [0.3, 0.7]
    ),
    "identity": lambda: MatrixSimilarity(np.eye(9)),
    "classes": lambda: FeatureSimilarity(np.eye(4)[np.arange(12) % 3]),
    "alike": lambda: MatrixSimilarity(np.ones((5, 5))),
    "one sample": lambda: MatrixSimilarity(np.ones((1, 1))),
}


def weights(n, kind):
    if kind == "uniform":
        return None
    p = np.random.default_rng(3).dirichlet(np.full(n, 0.7))
    if kind == "zeros" and n > 2:
        p[::3] = 0
    return p / p.sum()


def weighted_matrix(similarity, p):
    n = similarity.n
    root = np.full(n, n**-0.5) if p is None else np.sqrt(p)
    return root[:, None] * similarity.dense() * root


@pytest.mark.parametrize("kind", ["uniform", "weighted", "zeros"])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_eigenvectors_are_orthonormal_and_give_the_weighted_matrix_back(name, kind):
    similarity = SIMILARITIES[name]()
    p = weights(similarity.n, kind)
    result = compute_spectrum(similarity, p, vectors=True)
    U, shares = result.vectors, result.values[result.values > 0]
    assert U.shape == (similarity.n, len(shares))
    atol = 1e-7 if name == "single precision" else 1e-12  # of float32 rows, as they were rounded
    np.testing.assert_allclose(U.T @ U, np.eye(len(shares)), atol=1e-9)
    np.testing.assert_allclose((U * shares) @ U.T, weighted_matrix(similarity, p), atol=atol)
    alone = spectrum(similarity, p)  # perhaps by another route, of more zeros
    np.testing.assert_allclose(shares, alone[alone > 0], atol=1e-14)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_surprises_average_to_the_score(name):
    # −Σ_j log λ_j λ_j u_ij² is what sample i adds to log VS: an attribution that adds up.
    similarity = SIMILARITIES[name]()
    p = weights(similarity.n, "weighted")
    result = compute_spectrum(similarity, p, vectors=True)
    shares = result.values[result.values > 0]
    added = -(result.vectors**2) @ (shares * np.log(shares))
    assert added.sum() == pytest.approx(
        math.log(compute_vendi_scores(similarity, [1], p).values[0]), abs=1e-10
    )


@pytest.mark.parametrize("seed", range(20))
def test_prescribed_eigenvectors_are_found(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    lam = np.sort(rng.dirichlet(np.full(n, 2.0)))[::-1]
    lam = np.maximum(lam, 1e-5) / np.maximum(lam, 1e-5).sum()
    K = random_correlation.rvs(lam * n, random_state=rng, tol=1e-10, diag_tol=1e-9)
    K = (K + K.T) / 2
    result = compute_spectrum(MatrixSimilarity(K), vectors=True)
    np.testing.assert_allclose(result.values, lam, atol=1e-8)
    np.testing.assert_allclose(K @ result.vectors / n, result.vectors * lam, atol=1e-8)


def test_features_built_from_eigenvectors_have_those():
    n, d = 64, 4
    H = np.array([[1.0]])
    for _ in range(6):
        H = np.block([[H, H], [H, -H]])
    U = H[:, :d] / math.sqrt(n)  # entries ±1/√n: every row of features has one length
    lam = np.array([0.5, 0.25, 0.15, 0.1])
    X = U * np.sqrt(n * lam)
    for similarity in (FeatureSimilarity(X), FeatureSimilarity(X.astype(np.float32)).normalized()):
        result = compute_spectrum(similarity, vectors=True)
        assert result.route == "covariance"
        np.testing.assert_allclose(result.values, lam, rtol=1e-6)
        np.testing.assert_allclose(np.abs(result.vectors.T @ U), np.eye(d), atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 2**32 - 1), st.booleans())
def test_merged_samples_share_their_eigenvectors_by_weight(m, d, seed, flat):
    rng = np.random.default_rng(seed)
    distinct = rows(m, d if flat else d + 40, seed % 1000)
    inverse = np.concatenate([np.arange(m), rng.integers(0, m, rng.integers(0, 20))])
    p = rng.dirichlet(np.ones(len(inverse)))
    p[rng.random(len(p)) < 0.2] = 0
    if p.sum() == 0:
        return
    p /= p.sum()
    X = distinct[inverse]
    for similarity in (FeatureSimilarity(X), MatrixSimilarity(X @ X.T)):
        result = compute_spectrum(similarity, p, vectors=True)
        U, shares = result.vectors, result.values[result.values > 0]
        K = np.sqrt(np.outer(p, p)) * (X @ X.T)
        np.testing.assert_allclose((U * shares) @ U.T, K, atol=1e-12)
        np.testing.assert_allclose(U.T @ U, np.eye(len(shares)), atol=1e-6)


def test_large_matrices_are_decomposed_in_place_with_vectors(monkeypatch):
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 10)
    for name in ("wide features", "dense", "tall features", "repeated matrix"):
        similarity = SIMILARITIES[name]()
        K = similarity.dense()
        result = compute_spectrum(similarity, vectors=True)
        shares = result.values[result.values > 0]
        np.testing.assert_allclose(
            (result.vectors * shares) @ result.vectors.T, K / len(K), atol=1e-12
        )
        np.testing.assert_array_equal(similarity.dense(), K)  # the caller's is left alone


def test_negative_eigenvalues_that_are_clipped_have_no_vector():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(NotPSDError):
        compute_spectrum(MatrixSimilarity(K), vectors=True)
    result = compute_spectrum(MatrixSimilarity(K), psd="clip", vectors=True)
    assert result.vectors.shape == (3, 2)
    assert result.negative_mass == pytest.approx((0.9 * math.sqrt(2) - 1) / 3)


def test_eigenvectors_are_refused_before_they_are_allocated(monkeypatch):
    X = np.random.default_rng(0).random((1000, 2000))
    similarity = FeatureSimilarity(sp.csr_array(np.where(X < 0.01, X, 0.0)))
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 20 * 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"the eigenvectors of a 1000 × 1000 .*40,000,000"):
        compute_spectrum(similarity, vectors=True)


# one decomposition


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ["tall features", "wide features", "dense", "repeated rows"])
def test_one_matrix_is_decomposed_once(name, large, monkeypatch):
    if large:
        monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 3)
        monkeypatch.setattr(
            two_stage_eigensolver, "load_eigensolver", lambda: None
        )  # it is not counted
    similarity = SIMILARITIES[name]()
    with record_decompositions() as decompositions:
        result = compute_vendi_scores(similarity, [0.5, 1, 2, math.inf])
        profile = result.spectrum.profile(PROFILE)
        again = compute_vendi_scores(similarity, PROFILE, spectrum=result.spectrum)
    assert len(decompositions) == 1
    assert again.values == profile.tolist()
    assert again.spectrum is result.spectrum
    assert result.values == [profile[PROFILE.index(q)] for q in (0.5, 1, 2, math.inf)]


def test_eigenvectors_and_all_orders_come_from_one_decomposition():
    similarity = SIMILARITIES["wide features"]()
    with record_decompositions() as decompositions:
        result = compute_spectrum(similarity, vectors=True)
        scores = compute_vendi_scores(similarity, PROFILE, spectrum=result).values
    assert decompositions == [("eigh", (20, 20))]
    assert scores == pytest.approx(
        [compute_vendi_scores(similarity, [q]).values[0] for q in PROFILE], rel=1e-12
    )


def test_orders_two_and_infinity_alone_decompose_nothing():
    similarity = FeatureSimilarity(rows(700, 800))
    with record_decompositions() as decompositions:
        result = compute_vendi_scores(similarity, [2.0, math.inf])
    assert not decompositions
    assert result.spectrum is None


def test_torch_decomposes_once_too():
    torch = pytest.importorskip("torch")
    similarity = FeatureSimilarity(torch.tensor(rows(20, 6)))
    compute_spectrum(similarity)  # brings in what the spy looks for
    with record_decompositions() as decompositions:
        profile = compute_vendi_scores(similarity, [1.0, 3.0]).spectrum.profile(PROFILE)
    assert len(decompositions) == 1
    want = compute_spectrum(FeatureSimilarity(rows(20, 6))).profile(PROFILE)
    np.testing.assert_allclose(profile.numpy(), want, rtol=1e-10)


def test_a_spectrum_of_other_samples_is_refused():
    result = compute_spectrum(SIMILARITIES["dense"]())
    with pytest.raises(ValueError, match="from the 40 samples, got the spectrum of 20"):
        compute_vendi_scores(SIMILARITIES["tall features"](), spectrum=result)


# a covariance


def test_a_covariance_has_the_spectrum_of_its_samples():
    X = rows(50, 6)
    direct = compute_spectrum(FeatureSimilarity(X))
    C = X.T @ X
    for factor in (1.0, 1 / 50, 1e-200):
        result = compute_spectrum_from_covariance(factor * C, n=50)
        np.testing.assert_allclose(result.values, direct.values, rtol=1e-12)
        assert [e.value for e in result.estimates([1, 2])] == pytest.approx(
            compute_vendi_scores(FeatureSimilarity(X), [1, 2]).values, rel=1e-12
        )
    np.testing.assert_array_equal(C, X.T @ X)


def test_a_covariance_of_fewer_samples_than_features_has_their_rank():
    X = rows(5, 30)
    result = compute_spectrum_from_covariance(X.T @ X, n=5)
    assert result.effective_number(0) == 5
    assert result.effective_number(1) == pytest.approx(
        compute_vendi_scores(FeatureSimilarity(X)).values[0]
    )


def test_a_covariance_that_is_a_tensor_has_a_gradient():
    torch = pytest.importorskip("torch")
    X = torch.tensor(rows(9, 4), requires_grad=True)

    def score(X):
        return compute_spectrum_from_covariance(X.T @ X, n=9).effective_number(1.0)

    assert torch.autograd.gradcheck(score, X)


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (np.zeros((2, 2)), "`C` must have a finite, positive trace, got 0"),
        (np.diag([np.nan, 1.0]), "`C` must have a finite, positive trace, got nan"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "check the added samples for NaN and overflow"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue is -0.5"),
        (np.diag([3.0, -1.0]), "smallest eigenvalue is -0.5"),
    ],
)
def test_what_is_no_covariance_is_refused(C, message):
    with pytest.raises(ValueError, match=message):
        compute_spectrum_from_covariance(C, n=10)


# torch


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)], ids=["tall", "wide"])
def test_torch_vectors_are_the_same_and_have_the_right_gradient(shape):
    torch = pytest.importorskip("torch")
    X = torch.tensor(rows(*shape), requires_grad=True)
    p = torch.tensor(weights(shape[0], "weighted"))
    want = compute_spectrum(FeatureSimilarity(X.detach().numpy()), p.numpy(), vectors=True)
    result = compute_spectrum(FeatureSimilarity(X), p, vectors=True)
    np.testing.assert_allclose(result.vectors.detach().abs(), np.abs(want.vectors), atol=1e-10)

    def surprises(X):
        result = compute_spectrum(FeatureSimilarity(X).normalized(), p, vectors=True)
        shares = result.values[: result.vectors.shape[1]]
        return (result.vectors**2) @ torch.log(shares)

    assert torch.autograd.gradcheck(surprises, X)


def test_vectors_of_equal_eigenvalues_have_no_gradient_and_that_is_said():
    torch = pytest.importorskip("torch")
    K = torch.eye(4, dtype=torch.float64, requires_grad=True)
    result = compute_spectrum(MatrixSimilarity(K), vectors=True)
    with pytest.raises(
        ValueError, match="derivatives of eigenvectors require distinct eigenvalues"
    ):
        result.vectors[0].sum().backward()


# reading


def test_a_profile_is_the_effective_number_of_each_order():
    values = np.array([0.6, 0.3, 0.1, 0.0])
    result = Spectrum(values=values, computed=values, n=4, route="eigenvalues", reason="")
    assert result.profile(PROFILE).tolist() == [effective_number(values, q) for q in PROFILE]
    assert result.profile([]).tolist() == []
    estimate = result.estimates([2.0])[0]
    assert (estimate.value, estimate.error, estimate.route) == (
        effective_number(values, 2.0),
        0.0,
        "eigenvalues",
    )


def test_a_spectrum_cannot_be_changed():
    result = compute_spectrum(SIMILARITIES["dense"]())
    with pytest.raises(AttributeError):
        result.largest_threshold = 0.0
