"""Leave-one-out scores, gains, surprise and residual fractions agree with n decompositions."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity
from vendiscore.scoring.jackknife import jackknife
from vendiscore.spectral.leave_one_out import (
    compute_log_score,
    compute_residual_fractions,
    compute_surprise,
    leave_one_out,
    log_score_drops,
    log_score_gains,
)
from vendiscore.spectral.quadrature import (
    compute_quadrature_nodes,
    compute_quadrature_step,
    compute_trace_term,
)
from vendiscore.spectral.vendi_scores import compute_spectrum

ORDERS = [0.2, 0.5, 1.0, 1.5, 1.9, 2.0, 2.5, 5.0, math.inf]
# At n <= 300; orders just below 2 are differences of large numbers, see MAX_NODE_RATIO.
# The error depends on the BLAS library: 3.4e-9 occurred if one sample has half of the weight.
TOLERANCES = {1.9: 1e-8}


def unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[n // 2] = X[0]  # a copy
    return X / np.linalg.norm(X, axis=1)[:, None]


def rbf(X):
    return np.exp(-2 * (2 - 2 * np.clip(X @ X.T, -1, 1)))


def log_score_by_definition(K, p, q):
    """Return log VS_q by the definition."""
    eigenvalues = np.linalg.eigvalsh(np.sqrt(p)[:, None] * K * np.sqrt(p))
    eigenvalues = eigenvalues[eigenvalues > len(K) * 2e-16 * eigenvalues[-1]]
    eigenvalues = eigenvalues / eigenvalues.sum()
    if q == 1:
        return -float(np.sum(eigenvalues * np.log(eigenvalues)))
    return (
        -math.log(eigenvalues[-1]) if math.isinf(q) else math.log(np.sum(eigenvalues**q)) / (1 - q)
    )


def log_scores_leaving_one_out(K, p, q):
    """Return log VS_q without each sample, from n separate decompositions."""
    result = []
    for i in range(len(K)):
        remaining = np.delete(np.arange(len(K)), i)
        result.append(
            log_score_by_definition(
                K[np.ix_(remaining, remaining)], p[remaining] / p[remaining].sum(), q
            )
        )
    return np.array(result)


def iter_cases():
    for n, d in [(2, 3), (10, 4), (60, 5), (90, 120)]:
        X = unit_rows(n, d)
        for weighted in (False, True):
            p = np.random.default_rng(1).dirichlet(np.ones(n)) if weighted else None
            name = f"{n}x{d}{'-weighted' * weighted}"
            yield pytest.param(FeatureSimilarity(X), X @ X.T, p, id=f"features-{name}")
            yield pytest.param(MatrixSimilarity(rbf(X), psd=True), rbf(X), p, id=f"rbf-{name}")


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(("similarity", "K", "p"), list(iter_cases()))
def test_leave_one_out_matches_separate_decompositions(similarity, K, p, q):
    result = leave_one_out(compute_spectrum(similarity, p, vectors=True), q)
    weights = np.full(len(K), 1 / len(K)) if p is None else p
    np.testing.assert_allclose(
        result, log_scores_leaving_one_out(K, weights, q), atol=TOLERANCES.get(q, 1e-10), rtol=0
    )


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.5, 1, 1.5, 2, math.inf])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_100_samples_matches_separate_decompositions(q, weighted):
    X = unit_rows(100, 32)
    p = np.random.default_rng(1).dirichlet(np.ones(100)) if weighted else np.full(100, 1 / 100)
    for similarity, K in [
        (FeatureSimilarity(X), X @ X.T),
        (MatrixSimilarity(rbf(X), psd=True), rbf(X)),
    ]:
        result = leave_one_out(compute_spectrum(similarity, p, vectors=True), q)
        np.testing.assert_allclose(result, log_scores_leaving_one_out(K, p, q), atol=1e-9, rtol=0)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10, 1e-12])
@pytest.mark.parametrize("q", [0.3, 1.0, 1.5])
def test_quadrature_error_is_within_the_tolerance(tolerance, q):
    for x in (0.3, 0.01, 1e-5):
        t, w = compute_quadrature_nodes(q, 1e-5, 0.3, tolerance, sample_weight=1e-5)
        b = x / 2
        integral = float(w @ (np.log1p(x / t) - x / (t + b)))
        expected = -x * math.log(x) if q == 1 else (x**q - x) / (1 - q)
        result = x * float(compute_trace_term(q, b)) + integral
        assert result == pytest.approx(expected, abs=tolerance * max(x, x**q))


def test_smaller_tolerance_uses_more_quadrature_nodes():
    counts = [
        len(compute_quadrature_nodes(1.0, 1e-6, 0.5, tolerance)[0])
        for tolerance in (1e-4, 1e-8, 1e-12)
    ]
    assert counts == sorted(set(counts))
    assert compute_quadrature_step(1e-4) > 2 * compute_quadrature_step(1e-12)


def candidate_coordinates(spectrum, cross):
    """Return coordinates of candidates along the eigenvectors, from similarities to the set."""
    r = spectrum.vectors.shape[1]
    return cross @ spectrum.vectors / np.sqrt(spectrum.n * spectrum.values[:r])


@pytest.mark.parametrize("q", [q for q in ORDERS if q <= 2])
@pytest.mark.parametrize("is_rbf", [True, False], ids=["rbf", "features"])
def test_log_score_gains_match_scores_with_the_candidate_added(q, is_rbf):
    X = unit_rows(40, 60)
    K = rbf(X) if is_rbf else X @ X.T
    members, candidates = (
        np.arange(25),
        np.arange(20, 40),
    )  # candidates 20 to 24 are already members
    subset = MatrixSimilarity(K[:25, :25], psd=True)
    spectrum = compute_spectrum(subset, vectors=True)
    result = log_score_gains(
        spectrum, candidate_coordinates(spectrum, K[np.ix_(candidates, members)]), q, 1 / 25
    )
    expected = [
        log_score_by_definition(K[np.ix_(extended, extended)], np.full(26, 1 / 26), q)
        - log_score_by_definition(K[:25, :25], np.full(25, 1 / 25), q)
        for extended in (np.append(members, i) for i in candidates)
    ]
    np.testing.assert_allclose(result, expected, atol=TOLERANCES.get(q, 1e-10), rtol=0)


def test_drop_of_a_sample_equals_the_gain_of_adding_the_sample():
    X = unit_rows(30, 50)
    K = rbf(X)
    full_spectrum = compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
    subset_spectrum = compute_spectrum(MatrixSimilarity(K[:29, :29], psd=True), vectors=True)
    gains = log_score_gains(
        subset_spectrum, candidate_coordinates(subset_spectrum, K[29:, :29]), 1.0, 1 / 29
    )
    assert gains[0] == pytest.approx(log_score_drops(full_spectrum)[29], abs=1e-11)


@pytest.mark.parametrize(("similarity", "K", "p"), list(iter_cases()))
def test_weighted_mean_surprise_equals_the_log_score(similarity, K, p):
    spectrum = compute_spectrum(similarity, p, vectors=True)
    weights = np.full(len(K), 1 / len(K)) if p is None else p
    assert weights @ compute_surprise(spectrum) == pytest.approx(
        compute_log_score(spectrum, 1), abs=1e-12
    )


@pytest.mark.parametrize("q", [0.3, 0.999999, 1.000001, 2.0, 7.0])
def test_power_mean_of_surprises_equals_the_score_for_any_order(q):
    X = unit_rows(50, 8)
    spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
    power_mean = np.log(np.mean(np.exp((1 - q) * compute_surprise(spectrum, q)))) / (1 - q)
    assert power_mean == pytest.approx(compute_log_score(spectrum, q), abs=1e-8)


def test_surprise_at_large_orders_approaches_order_infinity():
    X = unit_rows(20, 5)
    spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
    large_order = compute_surprise(spectrum, 1e5)
    np.testing.assert_allclose(large_order, compute_surprise(spectrum, math.inf), atol=1e-3)
    assert np.isfinite(compute_surprise(spectrum, 1e-9)).all()


def test_residual_fractions_match_the_diagonal_of_the_inverse():
    X = unit_rows(30, 60)[:15]  # without the copy
    K = rbf(X)
    result = compute_residual_fractions(
        compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
    )
    np.testing.assert_allclose(result, 1 / np.diag(np.linalg.inv(K)), rtol=1e-6)


def test_ridge_parameter_is_added_to_the_diagonal():
    X = np.array([[1, 0, 0], [1, 1e-4, 0], [0, 0.8, 0.6]])  # the first two rows are almost equal
    similarity = FeatureSimilarity(X).normalized()
    result = compute_residual_fractions(compute_spectrum(similarity, vectors=True))
    inverse = np.linalg.inv(similarity.dense() + 1e-9 * np.eye(3))
    np.testing.assert_allclose(result, 1 / np.diag(inverse) - 1e-9, rtol=1e-6)
    assert result[2] == pytest.approx(0.4667, rel=1e-4)  # 0.36 without the ridge parameter


def test_residual_fraction_is_zero_for_duplicates_and_dependent_features():
    X = unit_rows(30, 60)
    result = compute_residual_fractions(compute_spectrum(FeatureSimilarity(X), vectors=True))
    assert result[[0, 15]].max() < 1e-8
    assert np.delete(result, [0, 15]).min() > 0.1
    assert (
        compute_residual_fractions(
            compute_spectrum(FeatureSimilarity(unit_rows(30, 6)), vectors=True)
        ).max()
        < 1e-6
    )


@pytest.mark.parametrize("seed", range(3))
def test_mean_residual_fraction_of_labels_is_the_fraction_of_singletons(seed):
    labels = np.random.default_rng(seed).geometric(0.08, 500)
    is_singleton = np.bincount(labels)[labels] == 1
    similarity = as_similarity(labels.tolist(), k="labels")
    result = compute_residual_fractions(compute_spectrum(similarity, vectors=True))
    assert 1 - result.mean() == pytest.approx(1 - is_singleton.mean(), abs=1e-6)


def test_samples_with_zero_weight_have_no_contribution():
    X = unit_rows(12, 30)
    p = np.full(12, 0.1)
    p[[3, 4]] = 0
    spectrum = compute_spectrum(FeatureSimilarity(X), p, vectors=True)
    for q in ORDERS:
        np.testing.assert_allclose(log_score_drops(spectrum, q)[[3, 4]], 0, atol=1e-12)
    assert np.isnan(compute_surprise(spectrum)).tolist() == (p == 0).tolist()
    assert compute_residual_fractions(spectrum)[[3, 4]].tolist() == [0, 0]


def test_identical_samples_have_equal_score_drops():
    X = unit_rows(20, 40)[[*range(20), 3, 3]]
    for similarity in (FeatureSimilarity(X), MatrixSimilarity(rbf(X), psd=True)):
        result = log_score_drops(compute_spectrum(similarity, vectors=True))
        np.testing.assert_allclose(result[[20, 21]], result[3], rtol=0, atol=1e-12)
        assert result[3] < 0


def test_float32_eigenvectors_are_used_with_sufficient_accuracy(monkeypatch):
    X = np.random.default_rng(0).standard_normal((4000, 40)) / np.arange(1, 41) ** 0.5
    X /= np.linalg.norm(X, axis=1)[:, None]
    expected = log_score_drops(compute_spectrum(FeatureSimilarity(X).normalized(), vectors=True))
    monkeypatch.setattr("vendiscore.similarity.covariance.MIN_FLOAT32_PRODUCTS", 0)
    spectrum = compute_spectrum(FeatureSimilarity(X.astype(np.float32)).normalized(), vectors=True)
    assert spectrum.vectors.dtype == np.float32
    # The contribution of a sample is about 1/n.
    np.testing.assert_allclose(log_score_drops(spectrum), expected, atol=2e-6 / 4000, rtol=0)


def test_leave_one_out_of_a_tensor_matches_numpy():
    torch = pytest.importorskip("torch")
    X = unit_rows(12, 5)
    expected = leave_one_out(compute_spectrum(FeatureSimilarity(X), vectors=True))
    spectrum = compute_spectrum(FeatureSimilarity(torch.as_tensor(X)), vectors=True)
    np.testing.assert_allclose(leave_one_out(spectrum), expected, atol=1e-10)


def test_leave_one_out_rejects_invalid_input():
    X = unit_rows(5, 3)
    spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
    with pytest.raises(ValueError, match="`q` must be an order above 0, got 0; use a small o"):
        leave_one_out(spectrum, 0)
    with pytest.raises(ValueError, match="must contain eigenvectors; pass compute_spectrum"):
        log_score_drops(compute_spectrum(FeatureSimilarity(X)))
    with pytest.raises(ValueError, match="leave-one-out scores require at least 2 samples"):
        log_score_drops(compute_spectrum(FeatureSimilarity(X[:1]), vectors=True))
    p = np.array([1.0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="cannot leave out sample 0"):
        log_score_drops(compute_spectrum(FeatureSimilarity(X), p, vectors=True))


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, 3.0, math.inf])
def test_jackknife_error_matches_separate_decompositions(q):
    K = rbf(unit_rows(30, 8))
    result = jackknife(compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True), q)
    leave_one_out_scores = log_scores_leaving_one_out(K, np.full(30, 1 / 30), q)
    assert result.error == pytest.approx(
        math.sqrt(29 / 30 * np.sum((leave_one_out_scores - leave_one_out_scores.mean()) ** 2))
    )
