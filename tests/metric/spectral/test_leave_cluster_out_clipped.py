"""Leave-one-out values with psd="clip" equal the scores of the other samples, clipped again."""

import math

import numpy as np
import pytest

from vendiscore import as_similarity, compute, effective_number, explain, group_rewards, growth
from vendiscore.scoring.jackknife import influence, jackknife
from vendiscore.spectral.leave_cluster_out import leave_cluster_out
from vendiscore.spectral.leave_one_out import leave_one_out
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.spectral.vendi_scores import compute_spectrum

CHAIN = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
ORDERS = [0.05, 0.5, 1, 1 + 1e-7, 1.5, 2, 2.001, 8, math.inf]
CASES = [(n, q) for n in (3, 64, 66) for q in (1, 2, 2.001)]


def indefinite_matrix(n, seed=0, has_duplicate=False):
    """Return a 0/1 similarity matrix with eigenvalues far below zero."""
    if n == 3:
        return CHAIN
    upper = np.triu(np.random.default_rng(seed).integers(2, size=(n, n)), 1)
    K = (upper + upper.T + np.eye(n)).astype(float)
    if has_duplicate:
        indices = np.arange(n)
        indices[n // 2] = 0
        K = K[np.ix_(indices, indices)]
    return K


def clipped_score(K, q, p=None):
    """Return the score by definition, from the positive eigenvalues of K."""
    root = np.sqrt(np.full(len(K), 1 / len(K)) if p is None else p / p.sum())
    values = np.linalg.eigvalsh(K * root * root[:, None])
    positive = values[values > 1e-12]
    return effective_number(positive / positive.sum(), q)


def leave_one_out_scores(K, q, p=None):
    """Return the scores of n matrices that each omit one sample."""
    remaining_indices = [np.delete(np.arange(len(K)), i) for i in range(len(K))]
    remaining_weights = [None if p is None else p[rows] for rows in remaining_indices]
    pairs = zip(remaining_indices, remaining_weights, strict=True)
    return np.array([clipped_score(K[np.ix_(rows, rows)], q, weights) for rows, weights in pairs])


def test_rewards_and_explanation_of_three_samples_match_known_values():
    options = {"score_K": True, "psd": "clip"}
    expected = [0.831, -0.169, 0.831]
    rewards = group_rewards(CHAIN, credit="leave_one_out", **options)
    result = explain(CHAIN, **options)
    assert rewards.round(3).tolist() == expected
    assert (result.score * -np.expm1(-result.adds)).round(3).tolist() == expected


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
@pytest.mark.parametrize("has_duplicate", [False, True])
def test_explain_removes_samples_before_clipping(n, q, has_duplicate):
    K = indefinite_matrix(n, has_duplicate=has_duplicate)
    result = explain(K, score_K=True, psd="clip", q=q)
    expected = np.log(clipped_score(K, q) / leave_one_out_scores(K, q))
    assert result.adds == pytest.approx(expected, abs=1e-10)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_explain_with_weights_removes_samples_before_clipping(n, q):
    p = np.random.default_rng(1).dirichlet(np.ones(n))
    K = indefinite_matrix(n)
    result = explain(K, score_K=True, psd="clip", q=q, p=p)
    expected = np.log(clipped_score(K, q, p) / leave_one_out_scores(K, q, p))
    assert result.adds == pytest.approx(expected, abs=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_group_rewards_remove_samples_before_clipping(n, q):
    """Score two indefinite groups and a positive definite group in one stack."""
    blocks = [indefinite_matrix(n), indefinite_matrix(n, seed=1), np.eye(n)]
    K = np.zeros((3 * n, 3 * n))
    for i, block in enumerate(blocks):
        K[i * n : (i + 1) * n, i * n : (i + 1) * n] = block
    rewards = group_rewards(
        K,
        groups=np.repeat([0, 1, 2], n),
        score_K=True,
        psd="clip",
        credit="leave_one_out",
        q=q,
    )
    expected = [clipped_score(block, q) - leave_one_out_scores(block, q) for block in blocks]
    assert rewards == pytest.approx(np.concatenate(expected), abs=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_standard_error_removes_samples_before_clipping(n, q):
    """`VS_se` is VS times the delete-one jackknife error of log VS."""
    K = indefinite_matrix(n)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    log_scores = np.log(leave_one_out_scores(K, q))
    expected = math.sqrt((n - 1) * log_scores.var())
    assert jackknife(spectrum, q).error == pytest.approx(expected, abs=1e-10)
    if n > 3:  # `ci` needs more samples
        result = compute(K, score_K=True, psd="clip", q=[q], ci=0.95)
        value, error = list(result.values())[:2]
        assert error == pytest.approx(value * expected, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("n", [12, 66, 150])
def test_leave_one_out_matches_clipped_scores_for_all_orders_and_sizes(n, q):
    K = indefinite_matrix(n, has_duplicate=True)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    expected = np.log(leave_one_out_scores(K, q))
    assert leave_one_out(spectrum, q) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("q", ORDERS)
def test_leave_cluster_out_removes_clusters_before_clipping(q):
    K = indefinite_matrix(100)
    clusters = np.r_[np.zeros(40, int), np.repeat(np.arange(1, 31), 2)]  # one large, thirty pairs
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    remaining_indices = [np.flatnonzero(clusters != c) for c in range(31)]
    expected = [math.log(clipped_score(K[np.ix_(rows, rows)], q)) for rows in remaining_indices]
    assert leave_cluster_out(spectrum, clusters, q) == pytest.approx(expected, abs=1e-10)


def test_leave_one_out_is_accurate_for_a_sample_with_nearly_all_weight():
    """The remaining weight is so small that the integral loses all digits."""
    K = indefinite_matrix(70)
    p = np.r_[1 - 1e-7, np.full(69, 1e-7 / 69)]
    spectrum = compute_spectrum(as_similarity(K, score_K=True), p, "clip", vectors=True)
    for q in (1, 2, 3, math.inf):
        expected = math.log(leave_one_out_scores(K, q, p)[0])
        assert leave_one_out(spectrum, q)[0] == pytest.approx(expected, abs=1e-6)


def test_clipping_changes_nothing_without_negative_eigenvalues():
    texts = ["a b c", "a b d", "a x y", "u v w", "u v x", "b c d"]
    for q in (0.5, 1, 2, 3):
        expected = explain(texts, q=q).adds
        assert explain(texts, q=q, psd="clip").adds == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("q", [0.7, 1, 2, math.inf])
def test_influence_matches_finite_differences_of_clipped_scores(q):
    """Compare derivatives with respect to the weights, also for stacks."""
    n = 9
    K = indefinite_matrix(n, seed=3)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    influences = influence(spectrum, q)
    stack = StackedSpectra(K[None], None, [q], "clip", vectors=True)
    assert stack.compute_influence(q)[0] == pytest.approx(influences, abs=1e-9)
    h = 1e-6
    for i in range(n):
        perturbed = [np.full(n, 1 / n) + sign * h * (np.eye(n)[i] - 1 / n) for sign in (1, -1)]
        above, below = (math.log(clipped_score(K, q, p)) for p in perturbed)
        assert influences[i] == pytest.approx((above - below) / (2 * h), abs=1e-5)


def test_growth_with_clipping_has_finite_intervals():
    curve = growth(indefinite_matrix(40), score_K=True, psd="clip", sizes=[10, 20, 40])
    lower, upper = np.array(curve.low), np.array(curve.high)
    assert np.isfinite(lower).all()
    assert (lower <= upper).all()
