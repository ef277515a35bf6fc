"""Stochastic estimates agree with exact scores within their standard errors."""

import math

import numpy as np
import pytest
import scipy.linalg
from gaussian_mixtures import (
    make_gaussian_mixture,
    make_rbf_similarity,
    normalized_similarity_matrix,
)

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    NotPSDError,
    TooLargeError,
    as_similarity,
    effective_number,
)
from vendiscore.spectral import stochastic_estimate
from vendiscore.spectral.block_lanczos import GaussQuadrature, KrylovBasis
from vendiscore.spectral.estimate import EstimateOptions
from vendiscore.spectral.stochastic_estimate import estimate_by_lanczos
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.spectral.weighted_similarity import weight_similarity
from vendiscore.support import memory

ORDERS = (0.3, 0.5, 1.0, 1.5, 1.9, 3.0)


def build_krylov_basis(
    A: np.ndarray, b: int, steps: int, seed: int = 0
) -> tuple[KrylovBasis, np.ndarray]:
    Z = np.random.default_rng(seed).choice([-1.0, 1.0], (len(A), b))
    result = KrylovBasis(lambda V: A @ V, Z, steps)
    result.extend(steps)
    return result, Z


@pytest.mark.parametrize("rank", [1, 3, 16, 40])
def test_estimate_of_a_low_rank_matrix_is_exact(rank):
    X = np.random.default_rng(rank).standard_normal((200, rank))
    weighted = weight_similarity(FeatureSimilarity(X).normalized(), None)
    for q in (0.5, 1.0, 3.0):
        exact = compute_vendi_scores(weighted, [q]).values[0]
        (result,) = estimate_by_lanczos(weighted, [q], EstimateOptions(2e-4), math.inf)
        assert result.value == pytest.approx(exact, rel=1e-6)
        assert result.error < 1e-4 * exact


def test_estimate_of_the_identity_matrix_is_exact():
    weighted = weight_similarity(MatrixSimilarity(np.eye(300), psd=True), None)
    (result,) = estimate_by_lanczos(weighted, [1.0], EstimateOptions(), math.inf)
    assert result.value == pytest.approx(300, rel=1e-9)


NEAR_IDENTITY = np.eye(400)
NEAR_IDENTITY[0, 1] = NEAR_IDENTITY[1, 0] = 0.5


@pytest.mark.parametrize("q", [12.0, 30.0, 100.0, 1e4])
@pytest.mark.parametrize("name", ["nearly the identity", "float32", "normals", "repeated"])
def test_estimates_of_high_orders_are_accurate_or_do_not_converge(name, q):
    rng = np.random.default_rng(0)
    K = {
        "nearly the identity": NEAR_IDENTITY,
        "float32": NEAR_IDENTITY.astype(np.float32),
        "normals": np.corrcoef(rng.standard_normal((300, 900))),
        "repeated": np.kron(np.eye(40), np.full((10, 10), 0.5) + np.eye(10) / 2),
    }[name]
    weighted = weight_similarity(MatrixSimilarity(K, psd=True), None)
    exact = effective_number(np.linalg.eigvalsh(np.asarray(weighted.dense())), q)
    for seed in range(3):
        try:
            (result,) = estimate_by_lanczos(weighted, [q], EstimateOptions(0.05, seed), math.inf)
        except stochastic_estimate.ConvergenceError:
            continue
        assert abs(result.value - exact) <= 5 * max(result.error, 1e-7 * exact)
        assert result.error <= 0.05 * result.value


def test_unconverged_estimate_raises_with_the_memory_of_exact_scores(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "MAX_STEPS", 2)
    K = np.corrcoef(np.random.default_rng(0).standard_normal((600, 900)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_500_000)
    with pytest.raises(TooLargeError, match=r"did not converge: .* Exact scores need 0\.0 GB"):
        compute_vendi_scores(
            MatrixSimilarity(K, psd=True), [1e4], estimate_options=EstimateOptions()
        )


def test_estimation_errors_match_their_standard_errors():
    """Several orders are estimated from the same random vectors."""
    similarity, ratios = weight_similarity(make_rbf_similarity(), None), []
    exact = compute_vendi_scores(similarity, ORDERS).values
    for seed in range(12):
        result = estimate_by_lanczos(similarity, ORDERS, EstimateOptions(3e-3, seed), math.inf)
        assert all(estimate.error <= 3e-3 * estimate.value for estimate in result)
        errors = np.array([estimate.value for estimate in result]) - exact
        ratios.append(
            errors / np.maximum([estimate.error for estimate in result], 1e-6 * np.array(exact))
        )
    # With 12 degrees of freedom, no ratio of 12 draws exceeds 6, and most are within 2.
    assert np.abs(ratios).max() < 6
    assert (np.mean(np.abs(ratios) <= 2, axis=0) >= 0.8).all()


def test_smaller_tolerance_uses_several_sets_of_vectors(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "EIGENPAIR_STEPS", (1,))
    similarity = weight_similarity(make_rbf_similarity(500, sigma=1.5), None)
    exact = compute_vendi_scores(similarity, [1.0]).values[0]
    (loose,) = estimate_by_lanczos(similarity, [1.0], EstimateOptions(0.02))
    (tight,) = estimate_by_lanczos(similarity, [1.0], EstimateOptions(0.005))
    assert int(loose.reason.split()[0]) == 16 < int(tight.reason.split()[0]) <= 128
    assert abs(tight.value - exact) < 4 * tight.error


def test_unreachable_tolerance_warns_or_raises(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "MAX_STEPS", 4)
    similarity = weight_similarity(make_rbf_similarity(500, sigma=2.0), None)
    with pytest.warns(UserWarning, match=r"errors of the estimate are .* more than `rtol=1e-05`"):
        estimate_by_lanczos(similarity, [1.0], EstimateOptions(1e-5), math.inf)
    with pytest.raises(
        stochastic_estimate.ConvergenceError, match=r"the relative standard error is"
    ):
        estimate_by_lanczos(similarity, [1.0], EstimateOptions(1e-5), 1e12)


def test_converged_eigenpairs_are_orthonormal_and_accurate():
    A = normalized_similarity_matrix(make_rbf_similarity(300, sigma=2.0))
    pairs = build_krylov_basis(A, 8, 12)[0].converged_eigenpairs(0.0)
    n_pairs = len(pairs.values)
    assert n_pairs > 3
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(n_pairs), atol=1e-10)
    exact = np.linalg.eigvalsh(A)
    gaps = np.abs(pairs.values[:, None] - exact).min(axis=1)
    assert (gaps <= 1e-5 * pairs.values).all()
    basis = pairs.build_complement_basis(lambda V: A @ V, pairs.vectors, 1)
    residual_products = basis.multiply(pairs.vectors)
    assert np.abs(residual_products).max() < 2e-3 * exact[-1]


@pytest.mark.parametrize("n_blocks", [5, 16, 17, 40])
def test_repeated_eigenvalues_are_estimated_accurately(n_blocks):
    A = scipy.linalg.block_diag(*[np.full((3, 3), 1.0)] * n_blocks, np.eye(300 - 3 * n_blocks))
    weighted = weight_similarity(MatrixSimilarity(A, psd=True), None)
    exact = compute_vendi_scores(weighted, [1.0]).values[0]
    for seed in range(4):
        (estimate,) = estimate_by_lanczos(weighted, [1.0], EstimateOptions(1e-3, seed))
        assert abs(estimate.value - exact) <= 3 * max(estimate.error, 1e-9 * exact)


def test_indefinite_matrix_is_rejected():
    K = np.eye(100)
    K[:50, :50] = 1.0
    K[0, 1] = K[1, 0] = -0.5
    weighted = weight_similarity(MatrixSimilarity(K), None)
    with pytest.raises(NotPSDError):
        estimate_by_lanczos(weighted, [1.0], EstimateOptions(), math.inf)


def test_block_quadrature_matches_quadratic_forms_of_a_dense_logarithm():
    """The reference value is zᵀ f(A) z for each start vector z, with a dense matrix logarithm."""
    A = normalized_similarity_matrix(
        as_similarity(make_gaussian_mixture(1500, 24)[:150], k="rbf", sigma=3.0)
    )
    _, Z = build_krylov_basis(A, 4, 1)
    exact = np.einsum("ij,ij->j", Z, scipy.linalg.logm(A + 1e-9 * np.eye(150)) @ (-A) @ Z)
    quadrature = GaussQuadrature(build_krylov_basis(A, 4, 37)[0])
    result = (-quadrature.nodes * np.log(np.maximum(quadrature.nodes, 1e-300))) @ quadrature.weights
    np.testing.assert_allclose(result, exact, rtol=1e-4)
