"""κ is constant where it should be, its steps continue, and limits are named where they show."""

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

# Small sets that are extrapolated on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.* are too few to predict the score")

# Spiders below girdled hemlocks, by species (Chao et al. 2014, Table 2).
GIRDLED = np.array([46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, *[1] * 12])
LABELS = np.repeat(np.arange(len(GIRDLED)), GIRDLED)


def kappas(*logs: float, n: int = 40, change: float = 0.0) -> list[RedundancyEstimate]:
    changes = change * np.random.default_rng(0).normal(size=n)
    return [RedundancyEstimate(log, changes) for log in logs]


def test_steps_continue_by_their_ratio():
    assert extrapolate_redundancy(kappas(-1.0, -1.8, -2.44, -2.952), 1).log == pytest.approx(
        -2.952 - 0.4096
    )
    flat = extrapolate_redundancy(kappas(-1.0, -1.0, -1.0, -1.0), 1)
    assert (flat.log, flat.model_error) == (-1.0, 0.0)
    # They shrink by half at most, and do not grow.
    assert extrapolate_redundancy(kappas(-1.0, -2.0, -2.5, -2.6), 1).log == pytest.approx(-2.65)
    assert extrapolate_redundancy(kappas(-1.0, -1.1, -1.2, -1.5), 1).log == pytest.approx(-1.8)


def test_a_ratio_that_falls_falls_once_more_and_adds_an_error():
    result = extrapolate_redundancy(kappas(0.0, -1.0, -1.9, -2.5), 1)  # 0.9, then 2/3
    fall = 0.6 * (0.9 - 2 / 3)
    assert result.log == pytest.approx(-2.5 - 0.6 * 2 / 3 + fall)
    assert result.model_error == pytest.approx(2 * fall)
    assert result.error == pytest.approx(result.model_error)


def test_no_doubling_changes_nothing_and_two_halves_are_one():
    result = kappas(-1.0, -1.8, -2.44, -2.952)
    assert extrapolate_redundancy(result, 0).log == -2.952
    even = kappas(-1.0, -2.0, -3.0, -4.0)
    assert extrapolate_redundancy(even, 0.5).log == pytest.approx(-4.5)
    assert extrapolate_redundancy(even, 1).log == pytest.approx(-5)


def test_kappa_of_nothing_in_common_is_0():
    result = redundancy_estimate(np.zeros(9))
    assert result.log == -math.inf
    assert result.scores(8, make_log_deficit(1), 0.95, None)[::2] == pytest.approx((8, 8))
    # A sample whose absence leaves hardly any similarity counts by its share, not its logarithm.
    assert np.isfinite(redundancy_estimate(np.array([0.1, 0.0, *[0.11] * 7])).changes).all()


def test_what_has_nothing_in_common_does_not_continue():
    nothing = [RedundancyEstimate(-math.inf, np.zeros(40))] * 4
    assert extrapolate_redundancy(nothing, 1).log == -math.inf


@pytest.mark.parametrize(
    ("q", "half", "all_of_them", "doubled", "limit"),
    [(0, 18.91, 26.00, 34.73, 43.89), (1, 10.96, 12.06, 12.91, 13.83), (2, 7.53, 7.84, 8.00, 8.17)],
)
def test_spiders_grow_as_inext_says(q, half, all_of_them, doubled, limit):
    """Chao et al. 2014, and iNEXT 3.0 of the same counts."""
    result = growth(LABELS, [84, 168, 336], q=q, k="labels")
    scores = [*result.scores, result.asymptote[0]]
    assert scores == pytest.approx([half, all_of_them, doubled, limit], abs=0.005)
    ends = [*zip(result.low, result.high, strict=True), result.asymptote[1:]]
    for score, (low, high) in zip(scores, ends, strict=True):
        assert low < score < high
    assert growth(LABELS, [84], q=q, k="labels").asymptote == result.asymptote


def test_coverage_of_spiders_is_as_inext_says():
    result = growth(LABELS, [1, 84, 168, 336], k="labels")
    assert result.coverage[2] == pytest.approx(0.92886, abs=5e-6)
    assert result.coverage[0] == pytest.approx(np.sum(GIRDLED * (GIRDLED - 1)) / (168 * 167))
    unseen = 12 / 168 * (167 * 12 / (167 * 12 + 8)) ** 169
    assert result.coverage[3] == pytest.approx(1 - unseen)
    assert result.to_frame()["coverage"].tolist() == list(result.coverage)
    assert result.to_dict()["coverage"] == list(result.coverage)
    assert growth(np.eye(26)[LABELS], [84], score_X=True).coverage is None


@pytest.mark.parametrize(("q", "limit"), [(0, "44"), (1, "13.8")])
def test_limits_below_order_2_are_lower_bounds(q, limit):
    assert f"would be at least about {limit} (" in growth(LABELS, q=q, k="labels").sentence
    assert "at least" not in growth(LABELS, q=2, k="labels").sentence


def choose(a, b):
    return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)


def rarefied(counts: np.ndarray, m: int, q: float) -> float:
    """Return the diversity of m individuals from the expected number of classes met k times."""
    n, k = counts.sum(), np.arange(1, m + 1)[:, None]
    possible = (k <= counts) & (m - k <= n - counts)
    with np.errstate(all="ignore"):
        logs = choose(counts, k) + choose(n - counts, m - k) - choose(n, m)
    times = np.where(possible, np.exp(np.where(possible, logs, 0)), 0).sum(axis=1)
    shares = k[:, 0] / m
    if q == 1:
        return math.exp(-np.sum(shares * np.log(shares) * times))
    return np.sum(shares**q * times) ** (1 / (1 - q))


def beyond(counts: np.ndarray, m: float, q: int) -> float:
    """Return richness (Chao1) or exponential entropy (Chao, Wang & Jost) of m > n individuals."""
    n, once, twice = counts.sum(), np.sum(counts == 1), np.sum(counts == 2)
    pairs = once**2 / (2 * twice) if twice else once * (once - 1) / 2
    unseen = (n - 1) / n * pairs
    A = once / (n * unseen + once) if once else 1.0
    if q == 0:
        return len(counts) + unseen * (1 - (1 - A) ** (m - n))
    entropy = np.sum(counts / n * (digamma(n) - digamma(counts)))
    entropy += once / n * sum((1 - A) ** (j + 1) / (n + j) for j in range(20_000))
    return math.exp(n / m * math.log(rarefied(counts, n, 1)) + (1 - n / m) * entropy)


def naive_kappa(counts: np.ndarray, m: float, q: float) -> float:
    n = counts.sum()
    if m <= n:
        return (m / rarefied(counts, m, q) - 1) / (m - 1)
    return (1 / beyond(counts, m, q) - 1 / m) / (1 - 1 / m)


@pytest.mark.parametrize("counts", [[9, 5, 5, 3, 2, 2, 1, 1, 1], [4, 4, 2], [7, 3, 3, 1, 1, 1]])
@pytest.mark.parametrize(
    ("m", "q"),
    [*itertools.product([2, 5, 9], [0, 0.5, 1, 3]), *itertools.product([70, math.inf], [0, 1])],
)
def test_classes_are_summed_and_left_out_as_naively(counts, m, q):
    counts = np.array(counts)
    result = Abundances(np.repeat(np.arange(len(counts)), counts)).kappas(m, q)
    expected = [naive_kappa(counts, m, q)]
    for i in range(len(counts)):
        left = counts - np.eye(len(counts), dtype=int)[i]
        expected += [naive_kappa(left[left > 0], m, q)] * counts[i]
    assert result == pytest.approx(expected, rel=1e-9)


def test_many_individuals_take_no_time():
    classes = np.minimum(np.random.default_rng(0).zipf(1.5, 100_000), 10**6)
    result = growth(classes, q=1, k="labels")
    assert result.n == 100_000
    assert (np.diff(result.scores) > 0).all()
    assert result.scores[-1] < result.asymptote[0]


@pytest.mark.parametrize(
    "how", [{"k": "cosine"}, {"k": "rbf", "sigma": 1.0}], ids=["cosine", "rbf"]
)
def test_scores_hardly_depend_on_which_subsets_are_drawn(how):
    """Twenty orders of the samples draw other subsets: two or three in a thousand at most."""
    X = np.random.default_rng(0).normal(size=(48, 5)) + 0.5
    orders = [np.random.default_rng(seed).permutation(48) for seed in range(20)]
    scores = np.array([growth(X[order], **how).scores for order in orders])
    spread = scores.std(axis=0) / scores.mean(axis=0)
    assert spread.max() < 5e-4


def clumps(k: str, q: float):
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(20), 2)
    points = rng.normal(size=(20, 3))[codes] + 0.1 * rng.normal(size=(40, 3))
    samples = codes if k == "labels" else points
    return growth(samples, [40, 60], q=q, k=k)


@pytest.mark.parametrize("k", ["cosine", "rbf", "labels"])
@pytest.mark.parametrize("q", [0.5, 1, 2, 3, math.inf])
def test_no_limit_is_below_the_score_of_twice_the_samples(q, k):
    result = clumps(k, q)
    identified = q == 2 or (k == "labels" and q == 1)
    assert bool(result.asymptote) == identified
    if identified:
        score, low, high = result.asymptote
        assert score * (1 + 1e-9) >= max(result.scores[-1], low)
        assert high * (1 + 1e-9) >= score


def test_a_limit_above_the_number_of_features_is_not_identified():
    X = np.random.default_rng(0).normal(size=(12, 3))
    result = growth(X, q=2, k="cosine")
    kappa = (np.sum(as_similarity(X, k="cosine").dense() ** 2) - 12) / (12 * 11)
    assert (result.asymptote is None) == (1 / kappa > 3)
