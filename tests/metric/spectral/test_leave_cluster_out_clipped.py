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


def indefinite(n, seed=0, repeated=False):
    """Return a similarity matrix of zeros and ones; some eigenvalues are far below zero."""
    if n == 3:
        return CHAIN
    upper = np.triu(np.random.default_rng(seed).integers(2, size=(n, n)), 1)
    K = (upper + upper.T + np.eye(n)).astype(float)
    if repeated:
        indices = np.arange(n)
        indices[n // 2] = 0
        K = K[np.ix_(indices, indices)]
    return K


def clipped_score(K, q, p=None):
    """Return the score by its definition, from the positive eigenvalues of all of K."""
    root = np.sqrt(np.full(len(K), 1 / len(K)) if p is None else p / p.sum())
    values = np.linalg.eigvalsh(K * root * root[:, None])
    shares = values[values > 1e-12]
    return effective_number(shares / shares.sum(), q)


def scores_without_each(K, q, p=None):
    """Return the scores of n separate matrices, each without one sample."""
    others = [np.delete(np.arange(len(K)), i) for i in range(len(K))]
    parts = [None if p is None else p[rows] for rows in others]
    pairs = zip(others, parts, strict=True)
    return np.array([clipped_score(K[np.ix_(rows, rows)], q, part) for rows, part in pairs])


def test_rewards_and_explanation_of_three_samples_follow_the_definition():
    options = {"score_K": True, "psd": "clip"}
    expected = [0.831, -0.169, 0.831]
    rewards = group_rewards(CHAIN, credit="leave_one_out", **options)
    result = explain(CHAIN, **options)
    assert rewards.round(3).tolist() == expected
    assert (result.score * -np.expm1(-result.adds)).round(3).tolist() == expected


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
@pytest.mark.parametrize("repeated", [False, True])
def test_explain_takes_each_sample_out_before_it_clips(n, q, repeated):
    K = indefinite(n, repeated=repeated)
    result = explain(K, score_K=True, psd="clip", q=q)
    expected = np.log(clipped_score(K, q) / scores_without_each(K, q))
    assert result.adds == pytest.approx(expected, abs=1e-10)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_explain_with_weights_takes_each_sample_out_before_it_clips(n, q):
    p = np.random.default_rng(1).dirichlet(np.ones(n))
    K = indefinite(n)
    result = explain(K, score_K=True, psd="clip", q=q, p=p)
    expected = np.log(clipped_score(K, q, p) / scores_without_each(K, q, p))
    assert result.adds == pytest.approx(expected, abs=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_group_rewards_take_each_sample_out_before_they_clip(n, q):
    """Two indefinite groups, and one with no negative eigenvalue in the same stack."""
    blocks = [indefinite(n), indefinite(n, seed=1), np.eye(n)]
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
    expected = [clipped_score(block, q) - scores_without_each(block, q) for block in blocks]
    assert rewards == pytest.approx(np.concatenate(expected), abs=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize(("n", "q"), CASES)
def test_the_standard_error_takes_each_sample_out_before_it_clips(n, q):
    """`VS_se` is VS times the delete-one jackknife error of log VS, in the compute and below it."""
    K = indefinite(n)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    logs = np.log(scores_without_each(K, q))
    expected = math.sqrt((n - 1) * logs.var())
    assert jackknife(spectrum, q).error == pytest.approx(expected, abs=1e-10)
    if n > 3:  # `ci` needs more samples
        result = compute(K, score_K=True, psd="clip", q=[q], ci=0.95)
        value, error = list(result.values())[:2]
        assert error == pytest.approx(value * expected, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("n", [12, 66, 150])
def test_every_order_and_size_leaves_one_out(n, q):
    K = indefinite(n, repeated=True)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    expected = np.log(scores_without_each(K, q))
    assert leave_one_out(spectrum, q) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("q", ORDERS)
def test_clusters_are_taken_out_before_the_others_are_clipped(q):
    K = indefinite(100)
    clusters = np.r_[np.zeros(40, int), np.repeat(np.arange(1, 31), 2)]  # one large, thirty pairs
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    others = [np.flatnonzero(clusters != c) for c in range(31)]
    expected = [math.log(clipped_score(K[np.ix_(rows, rows)], q)) for rows in others]
    assert leave_cluster_out(spectrum, clusters, q) == pytest.approx(expected, abs=1e-10)


def test_a_sample_with_almost_all_the_weight_is_left_out():
    """So little is left that the integral has no digits of it."""
    K = indefinite(70)
    p = np.r_[1 - 1e-7, np.full(69, 1e-7 / 69)]
    spectrum = compute_spectrum(as_similarity(K, score_K=True), p, "clip", vectors=True)
    for q in (1, 2, 3, math.inf):
        expected = math.log(scores_without_each(K, q, p)[0])
        assert leave_one_out(spectrum, q)[0] == pytest.approx(expected, abs=1e-6)


def test_clipping_changes_nothing_where_no_eigenvalue_is_negative():
    texts = ["a b c", "a b d", "a x y", "u v w", "u v x", "b c d"]
    for q in (0.5, 1, 2, 3):
        checked = explain(texts, q=q).adds
        assert explain(texts, q=q, psd="clip").adds == pytest.approx(checked, abs=1e-9)


@pytest.mark.parametrize("q", [0.7, 1, 2, math.inf])
def test_slopes_in_weights_are_those_of_the_clipped_score(q):
    """By differences of scores whose weights differ a little; in stacks too."""
    n = 9
    K = indefinite(n, seed=3)
    spectrum = compute_spectrum(as_similarity(K, score_K=True), psd="clip", vectors=True)
    slopes = influence(spectrum, q)
    stack = StackedSpectra(K[None], None, [q], "clip", vectors=True)
    assert stack.compute_influence(q)[0] == pytest.approx(slopes, abs=1e-9)
    h = 1e-6
    for i in range(n):
        moved = [np.full(n, 1 / n) + sign * h * (np.eye(n)[i] - 1 / n) for sign in (1, -1)]
        above, below = (math.log(clipped_score(K, q, p)) for p in moved)
        assert slopes[i] == pytest.approx((above - below) / (2 * h), abs=1e-5)


def test_growth_of_a_clipped_similarity_has_finite_intervals():
    curve = growth(indefinite(40), score_K=True, psd="clip", sizes=[10, 20, 40])
    low, high = np.array(curve.low), np.array(curve.high)
    assert np.isfinite(low).all()
    assert (low <= high).all()
