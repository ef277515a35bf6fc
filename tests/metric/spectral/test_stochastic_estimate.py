"""Estimates: within what they say of the exact score."""

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


def krylov(A: np.ndarray, b: int, steps: int, seed: int = 0) -> tuple[KrylovBasis, np.ndarray]:
    Z = np.random.default_rng(seed).choice([-1.0, 1.0], (len(A), b))
    result = KrylovBasis(lambda V: A @ V, Z, steps)
    result.extend(steps)
    return result, Z


def test_a_basis_is_orthonormal_and_shows_the_matrix_in_it():
    A = normalized_similarity_matrix(make_rbf_similarity(120))
    result, _ = krylov(A, 6, 8)
    Q = result.basis[: 6 * 8]
    np.testing.assert_allclose(Q @ Q.T, np.eye(48), atol=1e-12)
    np.testing.assert_allclose(Q @ A @ Q.T, result.matrix(), atol=1e-12)


def test_a_basis_ends_with_the_space():
    result, _ = krylov(normalized_similarity_matrix(make_rbf_similarity(30)), 8, 100)
    assert result.steps == 3


@pytest.mark.parametrize("rank", [1, 3, 16, 40])
def test_a_matrix_of_low_rank_is_exact(rank):
    X = np.random.default_rng(rank).standard_normal((200, rank))
    weighted = weight_similarity(FeatureSimilarity(X).normalized(), None)
    for q in (0.5, 1.0, 3.0):
        exact = compute_vendi_scores(weighted, [q]).values[0]
        (result,) = estimate_by_lanczos(weighted, [q], EstimateOptions(2e-4), math.inf)
        assert result.value == pytest.approx(exact, rel=1e-6)
        assert result.error < 1e-4 * exact


def test_samples_that_have_nothing_in_common_are_exact():
    weighted = weight_similarity(MatrixSimilarity(np.eye(300), psd=True), None)
    (result,) = estimate_by_lanczos(weighted, [1.0], EstimateOptions(), math.inf)
    assert result.value == pytest.approx(300, rel=1e-9)


NEARLY_EYE = np.eye(400)
NEARLY_EYE[0, 1] = NEARLY_EYE[1, 0] = 0.5


@pytest.mark.parametrize("q", [12.0, 30.0, 100.0, 1e4])
@pytest.mark.parametrize("kind", ["nearly the identity", "float32", "normals", "repeated"])
def test_sums_of_powers_below_rounding_are_not_lost(kind, q):
    rng = np.random.default_rng(0)
    K = {
        "nearly the identity": NEARLY_EYE,
        "float32": NEARLY_EYE.astype(np.float32),
        "normals": np.corrcoef(rng.standard_normal((300, 900))),
        "repeated": np.kron(np.eye(40), np.full((10, 10), 0.5) + np.eye(10) / 2),
    }[kind]
    weighted = weight_similarity(MatrixSimilarity(K, psd=True), None)
    exact = effective_number(np.linalg.eigvalsh(np.asarray(weighted.dense())), q)
    for seed in range(3):
        try:
            (result,) = estimate_by_lanczos(weighted, [q], EstimateOptions(0.05, seed), math.inf)
        except stochastic_estimate.ConvergenceError:
            continue
        assert abs(result.value - exact) <= 5 * max(result.error, 1e-7 * exact)
        assert result.error <= 0.05 * result.value


def test_an_order_out_of_reach_is_refused_with_what_the_exact_score_takes(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "MAX_STEPS", 2)
    K = np.corrcoef(np.random.default_rng(0).standard_normal((600, 900)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_500_000)
    with pytest.raises(TooLargeError, match=r"did not converge: .* Exact scores need 0\.0 GB"):
        compute_vendi_scores(
            MatrixSimilarity(K, psd=True), [1e4], estimate_options=EstimateOptions()
        )


def test_estimates_are_off_by_what_they_say():
    """All orders of a draw share its products, as they do where several are asked for."""
    similarity, off = weight_similarity(make_rbf_similarity(), None), []
    exact = compute_vendi_scores(similarity, ORDERS).values
    for seed in range(12):
        result = estimate_by_lanczos(similarity, ORDERS, EstimateOptions(3e-3, seed), math.inf)
        assert all(one.error <= 3e-3 * one.value for one in result)
        wrong = np.array([one.value for one in result]) - exact
        off.append(wrong / np.maximum([one.error for one in result], 1e-6 * np.array(exact)))
    # None of 12 draws with 12 degrees of freedom is beyond 6, and most are within 2.
    assert np.abs(off).max() < 6
    assert (np.mean(np.abs(off) <= 2, axis=0) >= 0.8).all()


def test_several_sets_of_vectors_reach_what_one_does_not(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "EIGENPAIR_STEPS", (1,))
    similarity = weight_similarity(make_rbf_similarity(500, sigma=1.5), None)
    exact = compute_vendi_scores(similarity, [1.0]).values[0]
    (one,) = estimate_by_lanczos(similarity, [1.0], EstimateOptions(0.02))
    (several,) = estimate_by_lanczos(similarity, [1.0], EstimateOptions(0.005))
    assert int(one.reason.split()[0]) == 16 < int(several.reason.split()[0]) <= 128
    assert abs(several.value - exact) < 4 * several.error


def test_a_tolerance_out_of_reach_is_said_to_be(monkeypatch):
    monkeypatch.setattr(stochastic_estimate, "MAX_STEPS", 4)
    similarity = weight_similarity(make_rbf_similarity(500, sigma=2.0), None)
    with pytest.warns(UserWarning, match=r"errors of the estimate are .* more than `rtol=1e-05`"):
        estimate_by_lanczos(similarity, [1.0], EstimateOptions(1e-5), math.inf)
    with pytest.raises(
        stochastic_estimate.ConvergenceError, match=r"the relative standard error is"
    ):
        estimate_by_lanczos(similarity, [1.0], EstimateOptions(1e-5), 1e12)


def test_a_parabola_leaves_nothing_to_chance():
    A = normalized_similarity_matrix(make_rbf_similarity(200, sigma=1.0))
    read = GaussQuadrature(krylov(A, 16, 12)[0])
    moments = np.array([200, 1.0, np.sum(A**2)])
    value, error = read.estimate_trace(3 * read.nodes - 5 * read.nodes**2, moments)
    assert value == pytest.approx(3 - 5 * moments[2], abs=1e-12)
    assert error < 1e-12


def test_pairs_that_have_converged_are_eigenpairs_and_orthonormal():
    A = normalized_similarity_matrix(make_rbf_similarity(300, sigma=2.0))
    pairs = krylov(A, 8, 12)[0].converged_eigenpairs(0.0)
    k = len(pairs.values)
    assert k > 3
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-10)
    exact = np.linalg.eigvalsh(A)
    gaps = np.abs(pairs.values[:, None] - exact).min(axis=1)
    assert (gaps <= 1e-5 * pairs.values).all()
    basis = pairs.build_complement_basis(lambda V: A @ V, pairs.vectors, 1)
    outside = basis.multiply(pairs.vectors)
    assert np.abs(outside).max() < 2e-3 * exact[-1]


@pytest.mark.parametrize("copies", [5, 16, 17, 40])
def test_eigenvalues_that_are_many_are_counted(copies):
    A = scipy.linalg.block_diag(*[np.full((3, 3), 1.0)] * copies, np.eye(300 - 3 * copies))
    weighted = weight_similarity(MatrixSimilarity(A, psd=True), None)
    exact = compute_vendi_scores(weighted, [1.0]).values[0]
    for seed in range(4):
        (read,) = estimate_by_lanczos(weighted, [1.0], EstimateOptions(1e-3, seed))
        assert abs(read.value - exact) <= 3 * max(read.error, 1e-9 * exact)


def test_an_indefinite_matrix_is_no_similarity():
    K = np.eye(100)
    K[:50, :50] = 1.0
    K[0, 1] = K[1, 0] = -0.5
    weighted = weight_similarity(MatrixSimilarity(K), None)
    with pytest.raises(NotPSDError):
        estimate_by_lanczos(weighted, [1.0], EstimateOptions(), math.inf)


def test_products_of_the_kernel_are_those_that_lapack_would_see():
    """The reference: a naive quadrature of every vector by itself agrees with the block's."""
    A = normalized_similarity_matrix(
        as_similarity(make_gaussian_mixture(1500, 24)[:150], k="rbf", sigma=3.0)
    )
    _, Z = krylov(A, 4, 1)
    exact = np.einsum("ij,ij->j", Z, scipy.linalg.logm(A + 1e-9 * np.eye(150)) @ (-A) @ Z)
    read = GaussQuadrature(krylov(A, 4, 37)[0])
    result = (-read.nodes * np.log(np.maximum(read.nodes, 1e-300))) @ read.weights
    np.testing.assert_allclose(result, exact, rtol=1e-4)
