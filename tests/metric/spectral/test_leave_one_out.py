"""Leave-one-out scores, gains, surprise and what is unexplained agree with n decompositions."""

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
# At n <= 300; orders just below 2 are differences of large numbers, see quadrature.FARTHEST.
# Rounding of the BLAS at hand decides: 3.4e-9 was seen where one sample has half of the weight.
CLOSE = {1.9: 1e-8}


def unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[n // 2] = X[0]  # a copy
    return X / np.linalg.norm(X, axis=1)[:, None]


def rbf(X):
    return np.exp(-2 * (2 - 2 * np.clip(X @ X.T, -1, 1)))


def log_score_of(K, p, q):
    """Return log VS_q by the definition."""
    shares = np.linalg.eigvalsh(np.sqrt(p)[:, None] * K * np.sqrt(p))
    shares = shares[shares > len(K) * 2e-16 * shares[-1]]
    shares = shares / shares.sum()
    if q == 1:
        return -float(np.sum(shares * np.log(shares)))
    return -math.log(shares[-1]) if math.isinf(q) else math.log(np.sum(shares**q)) / (1 - q)


def without_each(K, p, q):
    """Return log VS_q without each sample, from a decomposition each."""
    result = []
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        result.append(log_score_of(K[np.ix_(rest, rest)], p[rest] / p[rest].sum(), q))
    return np.array(result)


def cases():
    for n, d in [(2, 3), (10, 4), (60, 5), (90, 120)]:
        X = unit_rows(n, d)
        for weighted in (False, True):
            p = np.random.default_rng(1).dirichlet(np.ones(n)) if weighted else None
            name = f"{n}x{d}{'-weighted' * weighted}"
            yield pytest.param(FeatureSimilarity(X), X @ X.T, p, id=f"features-{name}")
            yield pytest.param(MatrixSimilarity(rbf(X), psd=True), rbf(X), p, id=f"rbf-{name}")


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(("similarity", "K", "p"), list(cases()))
def test_leaving_one_out_is_what_a_decomposition_without_it_finds(similarity, K, p, q):
    result = leave_one_out(compute_spectrum(similarity, p, vectors=True), q)
    weights = np.full(len(K), 1 / len(K)) if p is None else p
    np.testing.assert_allclose(
        result, without_each(K, weights, q), atol=CLOSE.get(q, 1e-10), rtol=0
    )


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.5, 1, 1.5, 2, math.inf])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_one_out_of_a_hundred(q, weighted):
    X = unit_rows(100, 32)
    p = np.random.default_rng(1).dirichlet(np.ones(100)) if weighted else np.full(100, 1 / 100)
    for similarity, K in [
        (FeatureSimilarity(X), X @ X.T),
        (MatrixSimilarity(rbf(X), psd=True), rbf(X)),
    ]:
        result = leave_one_out(compute_spectrum(similarity, p, vectors=True), q)
        np.testing.assert_allclose(result, without_each(K, p, q), atol=1e-9, rtol=0)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10, 1e-12])
@pytest.mark.parametrize("q", [0.3, 1.0, 1.5])
def test_the_error_of_the_quadrature_is_the_one_asked_for(tolerance, q):
    for x in (0.3, 0.01, 1e-5):
        t, w = compute_quadrature_nodes(q, 1e-5, 0.3, tolerance, sample_weight=1e-5)
        b = x / 2
        whole = float(w @ (np.log1p(x / t) - x / (t + b)))
        expected = -x * math.log(x) if q == 1 else (x**q - x) / (1 - q)
        result = x * float(compute_trace_term(q, b)) + whole
        assert result == pytest.approx(expected, abs=tolerance * max(x, x**q))


def test_a_smaller_error_takes_more_nodes():
    counts = [
        len(compute_quadrature_nodes(1.0, 1e-6, 0.5, tolerance)[0])
        for tolerance in (1e-4, 1e-8, 1e-12)
    ]
    assert counts == sorted(set(counts))
    assert compute_quadrature_step(1e-4) > 2 * compute_quadrature_step(1e-12)


def coordinates(spectrum, cross):
    """Return coordinates (m, r) of other samples along the eigenvectors, from similarities to the
    set."""
    r = spectrum.vectors.shape[1]
    return cross @ spectrum.vectors / np.sqrt(spectrum.n * spectrum.values[:r])


@pytest.mark.parametrize("q", [q for q in ORDERS if q <= 2])
@pytest.mark.parametrize("dense", [True, False], ids=["rbf", "features"])
def test_a_gain_is_the_score_with_the_candidate_minus_that_without(q, dense):
    X = unit_rows(40, 60)
    K = rbf(X) if dense else X @ X.T
    members, others = np.arange(25), np.arange(20, 40)  # some candidates are members already
    part = MatrixSimilarity(K[:25, :25], psd=True)
    spectrum = compute_spectrum(part, vectors=True)
    result = log_score_gains(spectrum, coordinates(spectrum, K[np.ix_(others, members)]), q, 1 / 25)
    expected = [
        log_score_of(K[np.ix_(with_it, with_it)], np.full(26, 1 / 26), q)
        - log_score_of(K[:25, :25], np.full(25, 1 / 25), q)
        for with_it in (np.append(members, i) for i in others)
    ]
    np.testing.assert_allclose(result, expected, atol=CLOSE.get(q, 1e-10), rtol=0)


def test_leaving_out_undoes_adding():
    X = unit_rows(30, 50)
    K = rbf(X)
    whole = compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
    part = compute_spectrum(MatrixSimilarity(K[:29, :29], psd=True), vectors=True)
    gained = log_score_gains(part, coordinates(part, K[29:, :29]), 1.0, 1 / 29)
    assert gained[0] == pytest.approx(log_score_drops(whole)[29], abs=1e-11)


@pytest.mark.parametrize(("similarity", "K", "p"), list(cases()))
def test_the_mean_surprise_is_the_log_of_the_score(similarity, K, p):
    spectrum = compute_spectrum(similarity, p, vectors=True)
    weights = np.full(len(K), 1 / len(K)) if p is None else p
    assert weights @ compute_surprise(spectrum) == pytest.approx(
        compute_log_score(spectrum, 1), abs=1e-12
    )


@pytest.mark.parametrize("q", [0.3, 0.999999, 1.000001, 2.0, 7.0])
def test_surprises_of_other_orders_make_up_the_score_of_that_order(q):
    X = unit_rows(50, 8)
    spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
    power_mean = np.log(np.mean(np.exp((1 - q) * compute_surprise(spectrum, q)))) / (1 - q)
    assert power_mean == pytest.approx(compute_log_score(spectrum, q), abs=1e-8)


def test_surprise_at_large_orders_goes_to_that_at_infinity():
    X = unit_rows(20, 5)
    spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
    far = compute_surprise(spectrum, 1e5)
    np.testing.assert_allclose(far, compute_surprise(spectrum, math.inf), atol=1e-3)
    assert np.isfinite(compute_surprise(spectrum, 1e-9)).all()


def test_what_is_unexplained_is_the_inverse_of_the_diagonal_of_the_inverse():
    X = unit_rows(30, 60)[:15]  # without the copy
    K = rbf(X)
    result = compute_residual_fractions(
        compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
    )
    np.testing.assert_allclose(result, 1 / np.diag(np.linalg.inv(K)), rtol=1e-6)


def test_the_unexplained_part_of_a_copy_is_nothing_and_so_it_is_with_fewer_features_than_samples():
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
def test_mean_unexplained_of_labels_is_the_share_of_those_seen_once(seed):
    labels = np.random.default_rng(seed).geometric(0.08, 500)
    once = np.bincount(labels)[labels] == 1
    similarity = as_similarity(labels.tolist(), k="labels")
    result = compute_residual_fractions(compute_spectrum(similarity, vectors=True))
    assert 1 - result.mean() == pytest.approx(1 - once.mean(), abs=1e-6)


def test_samples_of_no_weight_change_nothing():
    X = unit_rows(12, 30)
    p = np.full(12, 0.1)
    p[[3, 4]] = 0
    spectrum = compute_spectrum(FeatureSimilarity(X), p, vectors=True)
    for q in ORDERS:
        np.testing.assert_allclose(log_score_drops(spectrum, q)[[3, 4]], 0, atol=1e-12)
    assert np.isnan(compute_surprise(spectrum)).tolist() == (p == 0).tolist()
    assert compute_residual_fractions(spectrum)[[3, 4]].tolist() == [0, 0]


def test_identical_samples_add_the_same():
    X = unit_rows(20, 40)[[*range(20), 3, 3]]
    for similarity in (FeatureSimilarity(X), MatrixSimilarity(rbf(X), psd=True)):
        result = log_score_drops(compute_spectrum(similarity, vectors=True))
        np.testing.assert_allclose(result[[20, 21]], result[3], rtol=0, atol=1e-12)
        assert result[3] < 0


def test_single_precision_is_used_where_it_is_good_enough(monkeypatch):
    X = np.random.default_rng(0).standard_normal((4000, 40)) / np.arange(1, 41) ** 0.5
    X /= np.linalg.norm(X, axis=1)[:, None]
    double = log_score_drops(compute_spectrum(FeatureSimilarity(X).normalized(), vectors=True))
    monkeypatch.setattr("vendiscore.similarity.covariance.MIN_FLOAT32_PRODUCTS", 0)
    spectrum = compute_spectrum(FeatureSimilarity(X.astype(np.float32)).normalized(), vectors=True)
    assert spectrum.vectors.dtype == np.float32
    # An error of 1e-7 of what a sample adds, which is about 1/n.
    np.testing.assert_allclose(log_score_drops(spectrum), double, atol=2e-6 / 4000, rtol=0)


def test_a_tensor_has_the_same_scores_without_each():
    torch = pytest.importorskip("torch")
    X = unit_rows(12, 5)
    expected = leave_one_out(compute_spectrum(FeatureSimilarity(X), vectors=True))
    spectrum = compute_spectrum(FeatureSimilarity(torch.as_tensor(X)), vectors=True)
    np.testing.assert_allclose(leave_one_out(spectrum), expected, atol=1e-10)


def test_what_cannot_be_answered_is_refused():
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
def test_the_jackknife_is_that_of_n_decompositions(q):
    K = rbf(unit_rows(30, 8))
    result = jackknife(compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True), q)
    left = without_each(K, np.full(30, 1 / 30), q)
    assert result.error == pytest.approx(math.sqrt(29 / 30 * np.sum((left - left.mean()) ** 2)))
