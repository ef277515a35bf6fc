"""Estimates: within what they say of the exact score, from random vectors or from some rows."""

import math
from functools import partial

import numpy as np
import pytest
import scipy.linalg
from mixtures import dense, mixture, rbf

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    NotPSDError,
    TooLargeError,
    as_similarity,
)
from vendiscore.arrays import memory
from vendiscore.spectral import estimators
from vendiscore.spectral.cholesky import Factor, aim_of, bounds, certified, filled_up
from vendiscore.spectral.estimate import Estimating
from vendiscore.spectral.estimators import estimate_by_lanczos
from vendiscore.spectral.hill import effective_number
from vendiscore.spectral.stochastic import Krylov, Quadrature, random_signs
from vendiscore.spectral.vendi import vendi
from vendiscore.spectral.weighted_similarity import weighted_by

entropy = partial(estimators._entropy, q=1.0)
ORDERS = (0.3, 0.5, 1.0, 1.5, 1.9, 3.0)


def krylov(A: np.ndarray, b: int, steps: int, seed: int = 0) -> tuple[Krylov, np.ndarray]:
    Z = random_signs(len(A), b, np.random.SeedSequence(seed), A)
    found = Krylov(lambda V: A @ V, Z, steps)
    found.extend(steps)
    return found, Z


def test_a_basis_is_orthonormal_and_shows_the_matrix_in_it():
    A = dense(rbf(120))
    found, _ = krylov(A, 6, 8)
    Q = found.basis[: 6 * 8]
    np.testing.assert_allclose(Q @ Q.T, np.eye(48), atol=1e-12)
    np.testing.assert_allclose(Q @ A @ Q.T, found.matrix(), atol=1e-12)


def test_a_basis_ends_with_the_space():
    found, _ = krylov(dense(rbf(30)), 8, 100)
    assert found.steps == 3


@pytest.mark.parametrize("q", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("steps", [2, 4, 9])
def test_both_rules_enclose_every_form(q, steps):
    A, f = dense(rbf(200)), partial(estimators._entropy, q=q)
    found, Z = krylov(A, 4, steps)
    read = Quadrature(found, float(np.sum(A**2)))
    values, U = np.linalg.eigh(A)
    exact = f(np.maximum(values, 0)) @ (U.T @ Z) ** 2
    upper, lower = (f(nodes) @ forms for nodes, forms in (read._gauss, read._radau))
    assert (lower <= exact + 1e-12).all()
    assert (exact <= upper + 1e-12).all()


@pytest.mark.parametrize("q", [7.5, 30.0, 100.0])
def test_both_rules_enclose_powers_beyond_their_degree(q):
    A = dense(rbf(200))
    found, Z = krylov(A, 4, 3)
    read = Quadrature(found, float(np.sum(A**2)))
    values, U = np.linalg.eigh(A / read.top)
    exact = np.maximum(values, 0) ** q @ (U.T @ Z) ** 2
    lower, upper = ((nodes / read.top) ** q @ forms for nodes, forms in (read._gauss, read._beyond))
    assert (lower <= exact * (1 + 1e-12)).all()
    assert (exact <= upper * (1 + 1e-12)).all()


def test_known_moments_leave_nothing_to_chance_of_a_parabola():
    A = dense(rbf(300))
    squares = float(np.sum(A**2))
    read = Quadrature(krylov(A, 8, 6)[0], squares)
    found = read.trace(lambda x: 2 * x + 5 * x**2)
    assert found.value == pytest.approx(2 + 5 * squares, rel=1e-10)
    assert found.error < 1e-10


def test_a_norm_that_is_doubtful_is_not_leant_on():
    A = dense(rbf(400, sigma=4.0))
    squares, found = float(np.sum(A**2)), krylov(A, 16, 16)[0]
    exact = entropy(np.maximum(np.linalg.eigvalsh(A), 0)).sum()
    off = squares * (1 + 1e-4)
    wrong = Quadrature(found, off).trace(entropy)
    told = Quadrature(found, off, doubt=1e-4).trace(entropy)
    assert abs(wrong.value - exact) > 4 * wrong.error
    assert abs(told.value - exact) < 4 * told.error


@pytest.mark.parametrize("rank", [1, 3, 16, 40])
def test_a_matrix_of_low_rank_is_exact(rank):
    X = np.random.default_rng(rank).standard_normal((200, rank))
    weighted = weighted_by(FeatureSimilarity(X).normalized(), None)
    for q in (0.5, 1.0, 3.0):
        exact = vendi(weighted, [q]).values[0]
        (found,) = estimate_by_lanczos(weighted, [q], Estimating(2e-4), math.inf)
        assert found.value == pytest.approx(exact, rel=1e-6)
        assert found.error < 1e-4 * exact


def test_samples_that_have_nothing_in_common_are_exact():
    weighted = weighted_by(MatrixSimilarity(np.eye(300), psd=True), None)
    (found,) = estimate_by_lanczos(weighted, [1.0], Estimating(), math.inf)
    assert found.value == pytest.approx(300, rel=1e-9)


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
    weighted = weighted_by(MatrixSimilarity(K, psd=True), None)
    exact = effective_number(np.linalg.eigvalsh(np.asarray(weighted.dense())), q)
    for seed in range(3):
        try:
            (found,) = estimate_by_lanczos(weighted, [q], Estimating(0.05, seed), math.inf)
        except estimators.StalledError:
            continue
        assert abs(found.value - exact) <= 5 * max(found.error, 1e-7 * exact)
        assert found.error <= 0.05 * found.value


def test_an_order_out_of_reach_is_refused_with_what_the_exact_score_takes(monkeypatch):
    monkeypatch.setattr(estimators, "CHECKS", (2,))
    K = np.corrcoef(np.random.default_rng(0).standard_normal((600, 900)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_500_000)
    with pytest.raises(TooLargeError, match=r"found no score: .* Exact scores need 0\.0 GB"):
        vendi(MatrixSimilarity(K, psd=True), [1e4], estimating=Estimating())


@pytest.mark.parametrize("copies", [5, 16, 17, 40])
def test_eigenvalues_that_are_many_are_counted(copies):
    """Classes of one size: a vector finds but one eigenvector of as many as there are classes."""
    labels = np.r_[np.repeat(np.arange(copies), 20), 100 + np.arange(1000 - 20 * copies)]
    weighted = weighted_by(as_similarity(labels.tolist(), k="labels"), None)
    weighted = weighted_by(MatrixSimilarity(np.asarray(weighted.dense()) * 1000, psd=True), None)
    exact = vendi(weighted, [1.0]).values[0]
    off = []
    for seed in range(8):
        (found,) = estimate_by_lanczos(weighted, [1.0], Estimating(seed=seed), math.inf)
        off.append((found.value - exact) / max(found.error, 1e-6 * exact))
    assert np.abs(off).max() < 5


def test_eigenvalues_of_which_not_all_have_converged_are_not_split_off():
    """Classes of some sizes, of each fewer than random vectors: the basis is nearly full, and what
    it has found of an eigenvalue are the vectors nearest to the random ones."""
    many = [12, 13, 12, 3, 3, 9, 11, 3, 16]
    labels = np.repeat(np.arange(sum(many)), np.repeat(np.arange(1, 10), many))
    K = (labels[:, None] == labels).astype(float)
    weighted = weighted_by(MatrixSimilarity(K, psd=True), None)
    exact = effective_number(np.bincount(labels) / len(labels))
    off = []
    for seed in range(20):
        (found,) = estimate_by_lanczos(weighted, [1.0], Estimating(3e-2, seed), math.inf)
        off.append((found.value - exact) / max(found.error, 1e-6 * exact))
    assert np.abs(off).max() < 5
    assert np.mean(np.abs(off) <= 2) >= 0.8


@pytest.mark.parametrize("q", ORDERS)
def test_estimates_are_off_by_what_they_say(q):
    similarity = weighted_by(rbf(), None)
    exact, off = vendi(similarity, [q]).values[0], []
    for seed in range(12):
        (found,) = estimate_by_lanczos(similarity, [q], Estimating(3e-3, seed), math.inf)
        assert found.error <= 3e-3 * found.value
        off.append((found.value - exact) / max(found.error, 1e-6 * exact))
    # None of 12 draws with 12 degrees of freedom is beyond 6, and most are within 2.
    assert np.abs(off).max() < 6
    assert np.mean(np.abs(off) <= 2) >= 0.8


def test_several_sets_of_vectors_reach_what_one_does_not(monkeypatch):
    monkeypatch.setattr(estimators, "CHECKS", (16,))
    similarity = weighted_by(rbf(500, sigma=1.5), None)
    exact = vendi(similarity, [1.0]).values[0]
    (one,) = estimate_by_lanczos(similarity, [1.0], Estimating(0.5), math.inf)
    rtol = 1.6 * one.error / one.value
    (several,) = estimate_by_lanczos(similarity, [1.0], Estimating(rtol), math.inf)
    assert int(one.why.split()[0]) == 16 < int(several.why.split()[0]) <= 64
    assert abs(several.value - exact) < 4 * several.error <= 2 * rtol * several.value


def test_a_bound_of_quadrature_counts_as_two_standard_errors():
    found = estimators.Found(0.0, error=3e-3, quadrature=8e-3)
    assert found.off == pytest.approx(5e-3)
    assert found.is_enough(5e-3)
    assert not found.is_enough(4.9e-3)
    assert found.is_enough(4.9e-3, sets=2)


@pytest.mark.parametrize(("rtol", "vectors"), [(3e-2, {16}), (1e-3, {32, 48, 64})])
def test_many_samples_take_as_many_vectors_as_some_of_them_need(rtol, vectors, monkeypatch):
    monkeypatch.setattr(estimators, "MANY", 100)
    monkeypatch.setattr(estimators, "SOME", 300)
    monkeypatch.setattr("vendiscore.similarity.rows.KEPT_SHARE", 0.0)
    similarity = weighted_by(rbf(600, sigma=1.5), None)
    exact = vendi(similarity, [1.0]).values[0]
    for seed in range(2):
        (found,) = estimate_by_lanczos(similarity, [1.0], Estimating(rtol, seed), math.inf)
        assert int(found.why.split()[0]) in vectors
        assert 2 * found.error <= rtol * found.value
        assert abs(found.value - exact) <= 2 * rtol * exact


def test_a_tolerance_out_of_reach_is_said_to_be(monkeypatch):
    monkeypatch.setattr(estimators, "CHECKS", (2,))
    similarity = weighted_by(rbf(500, sigma=1.0), None)
    with pytest.warns(UserWarning, match=r"the estimate is sure to .*`rtol=1e-05` is less than"):
        estimate_by_lanczos(similarity, [1.0], Estimating(1e-5), math.inf)
    with pytest.raises(estimators.StalledError, match=r"products left an error of"):
        estimate_by_lanczos(similarity, [1.0], Estimating(1e-5), 1e12)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_at_every_order(seed):
    weighted = weighted_by(rbf(300, d=3, seed=seed), None)
    factor = Factor(weighted, 128, seed)
    exact = np.maximum(np.linalg.eigvalsh(np.asarray(weighted.dense())), 0)
    for _ in range(4):
        factor.extend()
        least, even = factor.shares()
        assert least.sum() == pytest.approx(1, abs=1e-12)
        assert even.sum() == pytest.approx(1, abs=1e-12)
        for q in (0.1, 0.5, 1, 2, 5, math.inf):
            low, value, high = (effective_number(s / s.sum(), q) for s in (least, exact, even))
            assert low <= value * (1 + 1e-10)
            assert value <= high * (1 + 1e-10)


def test_rounding_is_no_part_of_a_lower_bound():
    """At small orders shares of 1e-17 count, of which an exact spectrum has none."""
    X = np.random.default_rng(0).standard_normal((700, 2))
    similarity = as_similarity(X, k="rbf", sigma=5.0)
    factor = Factor(weighted_by(similarity, None), 175)
    while factor.size < 64:
        factor.extend()
    least, even = factor.shares()
    with pytest.warns(UserWarning, match="may be rounding"):
        exact = vendi(similarity, [0.3]).values[0]
    assert effective_number(least, 0.3) <= exact <= effective_number(even, 0.3)


def test_where_nothing_is_left_bounds_are_given_up():
    labels = np.arange(256) % 16
    K = (labels[:, None] == labels).astype(float)
    factor = Factor(weighted_by(MatrixSimilarity(K, psd=True), None), 64)
    assert certified(factor, lambda least, even: False, 1e-6) is None
    assert factor.left == 0


def test_what_is_left_is_the_trace_of_the_residual():
    weighted = weighted_by(rbf(200, d=2), None)
    factor = Factor(weighted, 100)
    factor.extend()
    L = factor._L[: factor.size]
    residual = np.asarray(weighted.dense()) - L.T @ L
    assert factor.left == pytest.approx(np.trace(residual), rel=1e-9)
    assert np.linalg.eigvalsh(residual)[0] > -1e-12


def test_bounds_of_a_matrix_of_low_rank_are_the_score():
    weighted = weighted_by(FeatureSimilarity(mixture(800, 5)).normalized(), None)
    (found,) = bounds(weighted, [1.0], Estimating(1e-6), 1e12)
    exact = vendi(weighted, [1.0]).values[0]
    assert found.low <= exact * (1 + 1e-12)
    assert exact <= found.high * (1 + 1e-12)
    assert found.high / found.low < 1 + 2.1e-6
    assert found.value == pytest.approx(exact, rel=2e-6)


def test_bounds_are_given_up_early_where_they_are_out_of_reach():
    factor = Factor(weighted_by(rbf(1000, d=50, sigma=1.0), None), 250)
    assert certified(factor, lambda least, even: True, 1e-6) is None
    assert factor.size <= 2 * 64


def test_an_indefinite_matrix_is_no_similarity():
    K = np.eye(100)
    K[:50, :50] = 1.0
    K[0, 1] = K[1, 0] = -0.5
    weighted = weighted_by(MatrixSimilarity(K), None)
    with pytest.raises(NotPSDError):
        estimate_by_lanczos(weighted, [1.0], Estimating(), math.inf)
    factor = Factor(weighted, 100)
    with pytest.raises(NotPSDError):
        certified(factor, lambda least, even: False, 0.0)


@pytest.mark.parametrize("more", [0.0, 0.05, 0.2, 3.0])
def test_water_fills_the_smallest_first(more):
    shares = np.sort(np.random.default_rng(0).random(20))[::-1] * 0.05
    filled = filled_up(shares, more)
    assert filled.sum() == pytest.approx(shares.sum() + more)
    assert (filled >= shares - 1e-15).all()
    assert (np.diff(filled) <= 1e-15).all()
    risen = filled > shares + 1e-12
    assert np.ptp(filled[risen]) < 1e-12 if risen.any() else more == 0


def test_the_bound_that_is_aimed_at_is_the_one_that_is_needed():
    for rtol in (1e-2, 1e-3, 1e-5):
        aim = aim_of(rtol, 5000)
        assert aim * math.log(5000 / aim) == pytest.approx(2 * rtol, rel=0.05)


def test_products_of_the_kernel_are_those_that_lapack_would_see():
    """The reference: a naive quadrature of every vector by itself agrees with the block's."""
    A = dense(as_similarity(mixture(1500, 24)[:150], k="rbf", sigma=3.0))
    _, Z = krylov(A, 4, 1)
    exact = np.einsum("ij,ij->j", Z, scipy.linalg.logm(A + 1e-9 * np.eye(150)) @ (-A) @ Z)
    read = Quadrature(krylov(A, 4, 37)[0], float(np.sum(A**2)))
    found = entropy(read._gauss[0]) @ read._gauss[1]
    np.testing.assert_allclose(found, exact, rtol=1e-4)
