"""Spectra: eigenvectors reconstruct the matrix; all orders use one decomposition."""

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
from vendiscore.spectral import eigendecomposition, lanczos, two_stage_eigensolver
from vendiscore.spectral.spectrum import Spectrum, compute_spectrum_from_covariance
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores

PROFILE = [0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf]


def unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def rows_with_duplicates():
    return unit_rows(30, 50)[np.random.default_rng(1).integers(0, 12, 30)]


WORDS = sp.csr_array(
    np.hstack([np.random.default_rng(2).random((25, 59)) < 0.15, np.ones((25, 1))]).astype(float)
)
SIMILARITIES = {
    "tall features": lambda: FeatureSimilarity(unit_rows(40, 6)),
    "wide features": lambda: FeatureSimilarity(unit_rows(20, 70)),
    "single precision": lambda: FeatureSimilarity(unit_rows(40, 6).astype(np.float32)).normalized(),
    "sparse, wide": lambda: FeatureSimilarity(WORDS).normalized(),
    "sparse, tall": lambda: FeatureSimilarity(WORDS[:, 45:]).normalized(),
    "dense": lambda: MatrixSimilarity(unit_rows(20, 70) @ unit_rows(20, 70).T),
    "dense, low rank": lambda: MatrixSimilarity(unit_rows(30, 4) @ unit_rows(30, 4).T),
    "repeated rows": lambda: FeatureSimilarity(rows_with_duplicates()),
    "repeated matrix": lambda: MatrixSimilarity(rows_with_duplicates() @ rows_with_duplicates().T),
    "repeats of distinct": lambda: RepeatedSimilarity(
        FeatureSimilarity(unit_rows(8, 20)), np.arange(24) % 8
    ),
    "sum": lambda: SumSimilarity(
        [FeatureSimilarity(unit_rows(20, 3)), FeatureSimilarity(unit_rows(20, 4, 1))], [0.3, 0.7]
    ),
    "identity": lambda: MatrixSimilarity(np.eye(9)),
    "classes": lambda: FeatureSimilarity(np.eye(4)[np.arange(12) % 3]),
    "identical samples": lambda: MatrixSimilarity(np.ones((5, 5))),
    "one sample": lambda: MatrixSimilarity(np.ones((1, 1))),
}


def make_weights(n, weighting):
    if weighting == "uniform":
        return None
    p = np.random.default_rng(3).dirichlet(np.full(n, 0.7))
    if weighting == "zeros" and n > 2:
        p[::3] = 0
    return p / p.sum()


def weighted_matrix(similarity, p):
    n = similarity.n
    root = np.full(n, n**-0.5) if p is None else np.sqrt(p)
    return root[:, None] * similarity.dense() * root


@pytest.mark.parametrize("weighting", ["uniform", "weighted", "zeros"])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_eigenvectors_are_orthonormal_and_reconstruct_the_matrix(name, weighting):
    similarity = SIMILARITIES[name]()
    p = make_weights(similarity.n, weighting)
    result = compute_spectrum(similarity, p, vectors=True)
    U, eigenvalues = result.vectors, result.values[result.values > 0]
    assert U.shape == (similarity.n, len(eigenvalues))
    atol = 1e-7 if name == "single precision" else 1e-12  # rounding of float32 rows
    np.testing.assert_allclose(U.T @ U, np.eye(len(eigenvalues)), atol=1e-9)
    np.testing.assert_allclose((U * eigenvalues) @ U.T, weighted_matrix(similarity, p), atol=atol)
    values_only = spectrum(similarity, p)  # possibly by another route with more zeros
    np.testing.assert_allclose(eigenvalues, values_only[values_only > 0], atol=1e-14)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_weighted_surprises_sum_to_the_log_score(name):
    # −Σ_j log λ_j λ_j u_ij² is the contribution of sample i; contributions sum to log VS.
    similarity = SIMILARITIES[name]()
    p = make_weights(similarity.n, "weighted")
    result = compute_spectrum(similarity, p, vectors=True)
    eigenvalues = result.values[result.values > 0]
    contributions = -(result.vectors**2) @ (eigenvalues * np.log(eigenvalues))
    assert contributions.sum() == pytest.approx(
        math.log(compute_vendi_scores(similarity, [1], p).values[0]), abs=1e-10
    )


@pytest.mark.parametrize("seed", range(20))
def test_spectrum_matches_prescribed_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    eigenvalues = np.sort(rng.dirichlet(np.full(n, 2.0)))[::-1]
    eigenvalues = np.maximum(eigenvalues, 1e-5) / np.maximum(eigenvalues, 1e-5).sum()
    K = random_correlation.rvs(eigenvalues * n, random_state=rng, tol=1e-10, diag_tol=1e-9)
    K = (K + K.T) / 2
    result = compute_spectrum(MatrixSimilarity(K), vectors=True)
    np.testing.assert_allclose(result.values, eigenvalues, atol=1e-8)
    np.testing.assert_allclose(K @ result.vectors / n, result.vectors * eigenvalues, atol=1e-8)


def test_spectrum_of_constructed_features_has_their_eigenvectors():
    n, d = 64, 4
    H = np.array([[1.0]])
    for _ in range(6):
        H = np.block([[H, H], [H, -H]])
    U = H[:, :d] / math.sqrt(n)  # entries ±1/√n: every row of features has one length
    eigenvalues = np.array([0.5, 0.25, 0.15, 0.1])
    X = U * np.sqrt(n * eigenvalues)
    for similarity in (FeatureSimilarity(X), FeatureSimilarity(X.astype(np.float32)).normalized()):
        result = compute_spectrum(similarity, vectors=True)
        assert result.route == "covariance"
        np.testing.assert_allclose(result.values, eigenvalues, rtol=1e-6)
        np.testing.assert_allclose(np.abs(result.vectors.T @ U), np.eye(d), atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 2**32 - 1), st.booleans())
def test_eigenvectors_of_merged_samples_reconstruct_the_matrix(m, d, seed, is_low_rank):
    rng = np.random.default_rng(seed)
    distinct = unit_rows(m, d if is_low_rank else d + 40, seed % 1000)
    inverse = np.concatenate([np.arange(m), rng.integers(0, m, rng.integers(0, 20))])
    p = rng.dirichlet(np.ones(len(inverse)))
    p[rng.random(len(p)) < 0.2] = 0
    if p.sum() == 0:
        return
    p /= p.sum()
    X = distinct[inverse]
    for similarity in (FeatureSimilarity(X), MatrixSimilarity(X @ X.T)):
        result = compute_spectrum(similarity, p, vectors=True)
        U, eigenvalues = result.vectors, result.values[result.values > 0]
        K = np.sqrt(np.outer(p, p)) * (X @ X.T)
        np.testing.assert_allclose((U * eigenvalues) @ U.T, K, atol=1e-12)
        np.testing.assert_allclose(U.T @ U, np.eye(len(eigenvalues)), atol=1e-6)


def test_decomposition_in_place_keeps_the_matrix_of_the_caller(monkeypatch):
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 10)
    for name in ("wide features", "dense", "tall features", "repeated matrix"):
        similarity = SIMILARITIES[name]()
        K = similarity.dense()
        result = compute_spectrum(similarity, vectors=True)
        eigenvalues = result.values[result.values > 0]
        np.testing.assert_allclose(
            (result.vectors * eigenvalues) @ result.vectors.T, K / len(K), atol=1e-12
        )
        np.testing.assert_array_equal(similarity.dense(), K)  # is not modified


def test_clipped_eigenvalues_have_no_eigenvector():
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(NotPSDError):
        compute_spectrum(MatrixSimilarity(K), vectors=True)
    result = compute_spectrum(MatrixSimilarity(K), psd="clip", vectors=True)
    assert result.vectors.shape == (3, 2)
    assert result.negative_mass == pytest.approx((0.9 * math.sqrt(2) - 1) / 3)


def test_too_large_eigenvectors_raise_before_allocation(monkeypatch):
    X = np.random.default_rng(0).random((1000, 2000))
    similarity = FeatureSimilarity(sp.csr_array(np.where(X < 0.01, X, 0.0)))
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 20 * 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"the eigenvectors of a 1000 × 1000 .*40,000,000"):
        compute_spectrum(similarity, vectors=True)


# Number of decompositions


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ["tall features", "wide features", "dense", "repeated rows"])
def test_matrix_is_decomposed_once_for_all_orders(name, large, monkeypatch):
    if large:
        monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 3)
        monkeypatch.setattr(
            two_stage_eigensolver, "load_eigensolver", lambda: None
        )  # two-stage calls are not recorded
    similarity = SIMILARITIES[name]()
    with record_decompositions() as decompositions:
        result = compute_vendi_scores(similarity, [0.5, 1, 2, math.inf])
        profile = result.spectrum.profile(PROFILE)
        rescored = compute_vendi_scores(similarity, PROFILE, spectrum=result.spectrum)
    assert len(decompositions) == 1
    assert rescored.values == profile.tolist()
    assert rescored.spectrum is result.spectrum
    assert result.values == [profile[PROFILE.index(q)] for q in (0.5, 1, 2, math.inf)]


def test_eigenvectors_and_all_orders_use_one_decomposition():
    similarity = SIMILARITIES["wide features"]()
    with record_decompositions() as decompositions:
        result = compute_spectrum(similarity, vectors=True)
        scores = compute_vendi_scores(similarity, PROFILE, spectrum=result).values
    assert decompositions == [("eigh", (20, 20))]
    assert scores == pytest.approx(
        [compute_vendi_scores(similarity, [q]).values[0] for q in PROFILE], rel=1e-12
    )


def test_orders_two_and_infinity_need_no_decomposition_of_the_matrix():
    similarity = FeatureSimilarity(unit_rows(700, 800))
    with record_decompositions() as decompositions:
        result = compute_vendi_scores(similarity, [2.0, math.inf])
    # Lanczos iteration decomposes small matrices that represent the matrix in its basis.
    assert all(shape[0] <= max(lanczos.STEPS) for _, shape in decompositions)
    assert result.spectrum is None


def test_torch_matrix_is_decomposed_once():
    torch = pytest.importorskip("torch")
    similarity = FeatureSimilarity(torch.tensor(unit_rows(20, 6)))
    compute_spectrum(similarity)  # imports the functions that are recorded
    with record_decompositions() as decompositions:
        profile = compute_vendi_scores(similarity, [1.0, 3.0]).spectrum.profile(PROFILE)
    assert len(decompositions) == 1
    expected = compute_spectrum(FeatureSimilarity(unit_rows(20, 6))).profile(PROFILE)
    np.testing.assert_allclose(profile.numpy(), expected, rtol=1e-10)


def test_spectrum_of_another_number_of_samples_is_rejected():
    result = compute_spectrum(SIMILARITIES["dense"]())
    with pytest.raises(ValueError, match="from the 40 samples, got the spectrum of 20"):
        compute_vendi_scores(SIMILARITIES["tall features"](), spectrum=result)


# Covariance matrices


def test_spectrum_from_covariance_equals_spectrum_of_the_samples():
    X = unit_rows(50, 6)
    expected = compute_spectrum(FeatureSimilarity(X))
    C = X.T @ X
    for factor in (1.0, 1 / 50, 1e-200):
        result = compute_spectrum_from_covariance(factor * C, n=50)
        np.testing.assert_allclose(result.values, expected.values, rtol=1e-12)
        assert [e.value for e in result.estimates([1, 2])] == pytest.approx(
            compute_vendi_scores(FeatureSimilarity(X), [1, 2]).values, rel=1e-12
        )
    np.testing.assert_array_equal(C, X.T @ X)


def test_spectrum_from_covariance_of_few_samples_has_their_rank():
    X = unit_rows(5, 30)
    result = compute_spectrum_from_covariance(X.T @ X, n=5)
    assert result.effective_number(0) == 5
    assert result.effective_number(1) == pytest.approx(
        compute_vendi_scores(FeatureSimilarity(X)).values[0]
    )


def test_spectrum_from_tensor_covariance_is_differentiable():
    torch = pytest.importorskip("torch")
    X = torch.tensor(unit_rows(9, 4), requires_grad=True)

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
def test_spectrum_from_covariance_rejects_invalid_matrices(C, message):
    with pytest.raises(ValueError, match=message):
        compute_spectrum_from_covariance(C, n=10)


# Torch


@pytest.mark.parametrize("shape", [(12, 5), (5, 12)], ids=["tall", "wide"])
def test_torch_eigenvectors_match_numpy_and_have_correct_gradients(shape):
    torch = pytest.importorskip("torch")
    X = torch.tensor(unit_rows(*shape), requires_grad=True)
    p = torch.tensor(make_weights(shape[0], "weighted"))
    expected = compute_spectrum(FeatureSimilarity(X.detach().numpy()), p.numpy(), vectors=True)
    result = compute_spectrum(FeatureSimilarity(X), p, vectors=True)
    np.testing.assert_allclose(result.vectors.detach().abs(), np.abs(expected.vectors), atol=1e-10)

    def compute_surprises(X):
        result = compute_spectrum(FeatureSimilarity(X).normalized(), p, vectors=True)
        eigenvalues = result.values[: result.vectors.shape[1]]
        return (result.vectors**2) @ torch.log(eigenvalues)

    assert torch.autograd.gradcheck(compute_surprises, X)


def test_gradient_of_eigenvectors_of_equal_eigenvalues_raises():
    torch = pytest.importorskip("torch")
    K = torch.eye(4, dtype=torch.float64, requires_grad=True)
    result = compute_spectrum(MatrixSimilarity(K), vectors=True)
    with pytest.raises(
        ValueError, match="derivatives of eigenvectors require distinct eigenvalues"
    ):
        result.vectors[0].sum().backward()


# Attributes


def test_profile_returns_the_effective_number_of_each_order():
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


def test_spectrum_is_immutable():
    result = compute_spectrum(SIMILARITIES["dense"]())
    with pytest.raises(AttributeError):
        result.largest_threshold = 0.0
