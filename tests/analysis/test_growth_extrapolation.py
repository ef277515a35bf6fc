"""κ is constant where it should be, its steps continue, and limits are named where they show."""

import math

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from vendiscore import growth
from vendiscore.analysis.growth import Kappa, asymptote, continued, geometric, kappa_of

# Spiders below girdled hemlocks, by species (Chao et al. 2014, Table 2).
GIRDLED = np.array([46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, *[1] * 12])
LABELS = np.repeat(np.arange(len(GIRDLED)), GIRDLED)


def kappas(*logs: float, n: int = 40, change: float = 0.0) -> list[Kappa]:
    changes = change * np.random.default_rng(0).normal(size=n)
    return [Kappa(log, changes) for log in logs]


def rarefied(m: int) -> tuple[float, float]:
    """Return richness and exponential entropy of m individuals, averaged over all subsets."""
    n, k = GIRDLED.sum(), np.arange(1, m + 1)[:, None]
    possible = (k <= GIRDLED) & (m - k <= n - GIRDLED)

    def choose(a, b):
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    with np.errstate(all="ignore"):
        logs = choose(GIRDLED, k) + choose(n - GIRDLED, m - k) - choose(n, m)
    counts = np.where(possible, np.exp(np.where(possible, logs, 0)), 0).sum(axis=1)
    shares = k[:, 0] / m
    return counts.sum(), math.exp(-np.sum(shares * np.log(shares) * counts))


def test_steps_continue_by_their_ratio():
    assert continued(kappas(-1.0, -1.8, -2.44, -2.952), 1).log == pytest.approx(-2.952 - 0.4096)
    flat = continued(kappas(-1.0, -1.0, -1.0, -1.0), 1)
    assert (flat.log, flat.missed) == (-1.0, 0.0)
    # They shrink by half at most, and do not grow.
    assert continued(kappas(-1.0, -2.0, -2.5, -2.6), 1).log == pytest.approx(-2.65)
    assert continued(kappas(-1.0, -1.1, -1.2, -1.5), 1).log == pytest.approx(-1.8)


def test_a_ratio_that_falls_falls_once_more_and_adds_an_error():
    found = continued(kappas(0.0, -1.0, -1.9, -2.5), 1)  # 0.9, then 2/3
    fall = 0.6 * (0.9 - 2 / 3)
    assert found.log == pytest.approx(-2.5 - 0.6 * 2 / 3 + fall)
    assert found.missed == pytest.approx(2 * fall)
    assert found.error == pytest.approx(found.missed)


def test_no_doubling_changes_nothing_and_two_halves_are_one():
    found = kappas(-1.0, -1.8, -2.44, -2.952)
    assert continued(found, 0).log == -2.952
    assert geometric(0.8, 1) == pytest.approx(1)
    assert geometric(0.8, 2) == pytest.approx(1.8)
    assert geometric(1.0, 0.5) == pytest.approx(0.5)


def test_a_limit_is_identified_where_the_last_step_is_surely_small():
    small = kappas(-3.0, -3.08, -3.12, -3.14)
    for q in (0.5, 1, 1.9):
        found = asymptote(small, q)
        assert found is not None
        assert found.log == pytest.approx(-3.16)  # the last step once more
        assert found.missed == pytest.approx(0.01)
    assert asymptote(small, 0) is None
    unsure = kappas(-3.0, -3.08, -3.12)
    unsure.append(Kappa(-3.14, unsure[0].changes + 0.02 * np.arange(40)))
    assert asymptote(unsure, 1) is None
    large = kappas(-1.0, -1.8, -2.4, -2.9)
    assert asymptote(large, 1) is None
    assert asymptote(large, 3) is not None


def test_kappa_of_nothing_in_common_is_0():
    found = kappa_of(np.zeros(9))
    assert found.log == -math.inf
    assert found.scores(8, 1, 0.95, None)[::2] == pytest.approx((8, 8))
    # A sample whose absence leaves hardly any similarity counts by its share, not its logarithm.
    assert np.isfinite(kappa_of(np.array([0.1, 0.0, *[0.11] * 7])).changes).all()


@pytest.mark.parametrize("q", [0, 1])
def test_rarefied_labels_agree_with_ecology(q):
    """Orders 0 and 1 of m individuals, as iNEXT has them; order 0 is the mean of its logarithm."""
    found = growth(LABELS, [84, 168], q=q, k="labels", draws=100)
    assert found.scores[0] == pytest.approx(rarefied(84)[q], rel=0.01)
    assert found.scores[1] == pytest.approx(rarefied(168)[q])


@pytest.mark.parametrize(("q", "published"), [(0, 34.73), (1, 12.91)])
def test_twice_the_spiders_score_about_what_inext_says(q, published):
    found = growth(LABELS, [336], q=q, k="labels")
    assert found.scores[0] == pytest.approx(published, rel=0.03)
    assert found.low[0] < published < found.high[0]


def test_the_limit_of_order_2_is_the_published_one():
    found = growth(LABELS, [168], q=2, k="labels")
    score, low, high = found.asymptote
    assert score == pytest.approx(8.1748, abs=1e-4)
    assert low < 7.84 < score < high


def test_the_limit_of_order_1_holds_the_published_one():
    entropy = np.sum(GIRDLED / 168 * (digamma(168) - digamma(GIRDLED)))
    found = growth(LABELS, q=1, k="labels")
    assert found.asymptote[1] < math.exp(entropy) < 13.826 < found.asymptote[2]
    assert growth(LABELS, q=0, k="labels").asymptote is None
    assert growth(LABELS, [84, 168], q=1, k="labels").asymptote is None  # not asked for
