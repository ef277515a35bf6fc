"""Extrapolation of redundancy κ, checked against iNEXT and naive sums; asymptotes."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from vendiscore import as_similarity, growth
from vendiscore.scoring.recurrence_intervals import make_log_deficit
from vendiscore.tools.analysis.abundances import Abundances
from vendiscore.tools.analysis.growth import (
    RedundancyEstimate,
    extrapolate_redundancy,
    redundancy_estimate,
)

# These small sets are extrapolated on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.* are too few to predict the score")

# Spiders below girdled hemlocks, by species (Chao et al. 2014, Table 2).
GIRDLED = np.array([46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, *[1] * 12])
LABELS = np.repeat(np.arange(len(GIRDLED)), GIRDLED)


def make_estimates(
    *logs: float, n: int = 40, change_scale: float = 0.0
) -> list[RedundancyEstimate]:
    changes = change_scale * np.random.default_rng(0).normal(size=n)
    return [RedundancyEstimate(log, changes) for log in logs]


def test_extrapolation_continues_steps_by_their_ratio():
    assert extrapolate_redundancy(
        make_estimates(-1.0, -1.8, -2.44, -2.952), 1
    ).log == pytest.approx(-2.952 - 0.4096)
    constant = extrapolate_redundancy(make_estimates(-1.0, -1.0, -1.0, -1.0), 1)
    assert (constant.log, constant.model_error) == (-1.0, 0.0)
    # The ratio is clipped to [0.5, 1].
    assert extrapolate_redundancy(make_estimates(-1.0, -2.0, -2.5, -2.6), 1).log == pytest.approx(
        -2.65
    )
    assert extrapolate_redundancy(make_estimates(-1.0, -1.1, -1.2, -1.5), 1).log == pytest.approx(
        -1.8
    )


def test_falling_ratio_falls_further_and_adds_model_error():
    result = extrapolate_redundancy(make_estimates(0.0, -1.0, -1.9, -2.5), 1)  # 0.9, then 2/3
    drop = 0.6 * (0.9 - 2 / 3)
    assert result.log == pytest.approx(-2.5 - 0.6 * 2 / 3 + drop)
    assert result.model_error == pytest.approx(2 * drop)
    assert result.error == pytest.approx(result.model_error)


def test_zero_doublings_change_nothing_and_half_a_doubling_is_half_a_step():
    result = make_estimates(-1.0, -1.8, -2.44, -2.952)
    assert extrapolate_redundancy(result, 0).log == -2.952
    equal_steps = make_estimates(-1.0, -2.0, -3.0, -4.0)
    assert extrapolate_redundancy(equal_steps, 0.5).log == pytest.approx(-4.5)
    assert extrapolate_redundancy(equal_steps, 1).log == pytest.approx(-5)


def test_kappa_is_0_without_any_similarity():
    result = redundancy_estimate(np.zeros(9))
    assert result.log == -math.inf
    assert result.scores(8, make_log_deficit(1), 0.95, None)[::2] == pytest.approx((8, 8))
    # Leaving out the only similar sample must not give an infinite change.
    assert np.isfinite(redundancy_estimate(np.array([0.1, 0.0, *[0.11] * 7])).changes).all()


def test_extrapolation_of_zero_kappa_stays_zero():
    estimates = [RedundancyEstimate(-math.inf, np.zeros(40))] * 4
    assert extrapolate_redundancy(estimates, 1).log == -math.inf


@pytest.mark.parametrize(
    ("q", "half_n", "full_n", "double_n", "limit"),
    [(0, 18.91, 26.00, 34.73, 43.89), (1, 10.96, 12.06, 12.91, 13.83), (2, 7.53, 7.84, 8.00, 8.17)],
)
def test_growth_of_spider_counts_matches_inext(q, half_n, full_n, double_n, limit):
    """Chao et al. 2014, and iNEXT 3.0 of the same counts."""
    result = growth(LABELS, [84, 168, 336], q=q, k="labels")
    scores = [*result.scores, result.asymptote[0]]
    assert scores == pytest.approx([half_n, full_n, double_n, limit], abs=0.005)
    intervals = [*zip(result.low, result.high, strict=True), result.asymptote[1:]]
    for score, (low, high) in zip(scores, intervals, strict=True):
        assert low < score < high
    assert growth(LABELS, [84], q=q, k="labels").asymptote == result.asymptote


def test_coverage_of_spider_counts_matches_inext():
    result = growth(LABELS, [1, 84, 168, 336], k="labels")
    assert result.coverage[2] == pytest.approx(0.92886, abs=5e-6)
    assert result.coverage[0] == pytest.approx(np.sum(GIRDLED * (GIRDLED - 1)) / (168 * 167))
    unseen = 12 / 168 * (167 * 12 / (167 * 12 + 8)) ** 169
    assert result.coverage[3] == pytest.approx(1 - unseen)
    assert result.to_frame()["coverage"].tolist() == list(result.coverage)
    assert result.to_dict()["coverage"] == list(result.coverage)
    assert growth(np.eye(26)[LABELS], [84], score_X=True).coverage is None


@pytest.mark.parametrize(("q", "limit"), [(0, "44"), (1, "13.8")])
def test_asymptote_below_order_2_is_called_a_lower_bound(q, limit):
    assert f"at least about {limit} (" in growth(LABELS, q=q, k="labels").sentence
    assert "at least" not in growth(LABELS, q=2, k="labels").sentence


def log_binomial(a, b):
    return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)


def rarefied_diversity(counts: np.ndarray, m: int, q: float) -> float:
    """Return the diversity of m individuals from expected numbers of classes per abundance."""
    n, occurrences = counts.sum(), np.arange(1, m + 1)[:, None]
    possible = (occurrences <= counts) & (m - occurrences <= n - counts)
    with np.errstate(all="ignore"):
        logs = (
            log_binomial(counts, occurrences)
            + log_binomial(n - counts, m - occurrences)
            - log_binomial(n, m)
        )
    expected_classes = np.where(possible, np.exp(np.where(possible, logs, 0)), 0).sum(axis=1)
    proportions = occurrences[:, 0] / m
    if q == 1:
        return math.exp(-np.sum(proportions * np.log(proportions) * expected_classes))
    return np.sum(proportions**q * expected_classes) ** (1 / (1 - q))


def extrapolated_diversity(counts: np.ndarray, m: float, q: int) -> float:
    """Return richness (Chao1) or exponential entropy (Chao, Wang & Jost) of m > n individuals."""
    n, singletons, doubletons = counts.sum(), np.sum(counts == 1), np.sum(counts == 2)
    pairs = singletons**2 / (2 * doubletons) if doubletons else singletons * (singletons - 1) / 2
    unseen = (n - 1) / n * pairs
    A = singletons / (n * unseen + singletons) if singletons else 1.0
    if q == 0:
        return len(counts) + unseen * (1 - (1 - A) ** (m - n))
    entropy = np.sum(counts / n * (digamma(n) - digamma(counts)))
    entropy += singletons / n * sum((1 - A) ** (j + 1) / (n + j) for j in range(20_000))
    return math.exp(n / m * math.log(rarefied_diversity(counts, n, 1)) + (1 - n / m) * entropy)


def naive_kappa(counts: np.ndarray, m: float, q: float) -> float:
    n = counts.sum()
    if m <= n:
        return (m / rarefied_diversity(counts, m, q) - 1) / (m - 1)
    return (1 / extrapolated_diversity(counts, m, q) - 1 / m) / (1 - 1 / m)


@pytest.mark.parametrize("counts", [[9, 5, 5, 3, 2, 2, 1, 1, 1], [4, 4, 2], [7, 3, 3, 1, 1, 1]])
@pytest.mark.parametrize(
    ("m", "q"),
    [*itertools.product([2, 5, 9], [0, 0.5, 1, 3]), *itertools.product([70, math.inf], [0, 1])],
)
def test_kappas_match_naive_sums_and_leave_one_out(counts, m, q):
    counts = np.array(counts)
    result = Abundances(np.repeat(np.arange(len(counts)), counts)).kappas(m, q)
    expected = [naive_kappa(counts, m, q)]
    for i in range(len(counts)):
        remaining = counts - np.eye(len(counts), dtype=int)[i]
        expected += [naive_kappa(remaining[remaining > 0], m, q)] * counts[i]
    assert result == pytest.approx(expected, rel=1e-9)


def test_growth_handles_100_000_labels():
    classes = np.minimum(np.random.default_rng(0).zipf(1.5, 100_000), 10**6)
    result = growth(classes, q=1, k="labels")
    assert result.n == 100_000
    assert (np.diff(result.scores) > 0).all()
    assert result.scores[-1] < result.asymptote[0]


@pytest.mark.parametrize(
    "options", [{"k": "cosine"}, {"k": "rbf", "sigma": 1.0}], ids=["cosine", "rbf"]
)
def test_scores_hardly_depend_on_the_sample_order(options):
    """Twenty sample orders, and thus different subsets, change scores by less than 0.05 %."""
    X = np.random.default_rng(0).normal(size=(48, 5)) + 0.5
    orders = [np.random.default_rng(seed).permutation(48) for seed in range(20)]
    scores = np.array([growth(X[order], **options).scores for order in orders])
    spread = scores.std(axis=0) / scores.mean(axis=0)
    assert spread.max() < 5e-4


def grow_pairs_of_clusters(k: str, q: float):
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(20), 2)
    points = rng.normal(size=(20, 3))[codes] + 0.1 * rng.normal(size=(40, 3))
    samples = codes if k == "labels" else points
    return growth(samples, [40, 60], q=q, k=k)


@pytest.mark.parametrize("k", ["cosine", "rbf", "labels"])
@pytest.mark.parametrize("q", [0.5, 1, 2, 3, math.inf])
def test_asymptote_is_at_least_the_score_of_twice_the_samples(q, k):
    result = grow_pairs_of_clusters(k, q)
    identified = q == 2 or (k == "labels" and q == 1)
    assert bool(result.asymptote) == identified
    if identified:
        score, low, high = result.asymptote
        assert score * (1 + 1e-9) >= max(result.scores[-1], low)
        assert high * (1 + 1e-9) >= score


def test_asymptote_above_the_number_of_features_is_not_identified():
    X = np.random.default_rng(0).normal(size=(12, 3))
    result = growth(X, q=2, k="cosine")
    kappa = (np.sum(as_similarity(X, k="cosine").dense() ** 2) - 12) / (12 * 11)
    assert (result.asymptote is None) == (1 / kappa > 3)
