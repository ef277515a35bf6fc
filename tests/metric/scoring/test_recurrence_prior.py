"""The prior of recurrence rates over groups, compared with sums and loops."""

import numpy as np
import pytest
from scipy.stats import binom, gamma, nbinom, poisson

from vendiscore.scoring import recurrence_prior
from vendiscore.scoring.recurrence_prior import estimate_upper_pair_counts, fit_recurrence_prior

SIGMA = recurrence_prior._SIGMA


def compute_likelihoods(count: float, n: int, conservative_tails: bool) -> np.ndarray:
    """Return the likelihoods of the module from SciPy's distributions."""
    mean = SIGMA * n * (n - 1) / 2
    excess_variance = n * (n - 1) * (n - 2) * (SIGMA**1.5 - SIGMA**2)
    overdispersed = nbinom.pmf(count, mean**2 / excess_variance, mean / (mean + excess_variance))
    return overdispersed if conservative_tails else overdispersed + poisson.pmf(count, mean)


@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("proportion", [0.05, 0.3, 0.7])
def test_largest_variance_of_pair_count_occurs_with_one_frequent_answer(n, proportion):
    """Among k copies of one answer there are k(k − 1)/2 pairs."""
    counts = np.arange(n + 1)
    chances = binom.pmf(counts, n, proportion)
    pairs = counts * (counts - 1) / 2
    mean = chances @ pairs
    variance = chances @ (pairs - mean) ** 2
    sigma = proportion**2
    assert mean == pytest.approx(sigma * n * (n - 1) / 2)
    extra = n * (n - 1) * (n - 2) * (sigma**1.5 - sigma**2)
    assert variance - mean == pytest.approx(extra - n * (n - 1) / 2 * sigma**2)


def test_prior_masses_are_shared_and_read_only():
    prior = fit_recurrence_prior([0, 1, 0], [8, 8, 8])
    assert prior.masses is fit_recurrence_prior([3], [5]).masses
    with pytest.raises(ValueError, match="read-only"):
        prior.masses[0] = 1.0


@pytest.mark.parametrize("conservative_tails", [False, True])
def test_upper_pair_counts_match_loops(conservative_tails):
    counts = [0, 0, 1, 0, 6, 0, 3]
    sizes = [8, 4, 8, 8, 20, 5, 8]
    prior = fit_recurrence_prior(counts, sizes, conservative_tails)
    result = estimate_upper_pair_counts(prior, counts, sizes, 0.95)
    weights = []
    masses = []
    for mean in recurrence_prior._MEANS:
        for shape in recurrence_prior._SHAPES:
            # The points of the grid are even in log σ.
            mass = gamma.pdf(SIGMA, shape, scale=mean / shape) * SIGMA
            masses.append(mass / mass.sum())
            chances = [
                masses[-1] @ compute_likelihoods(*x, conservative_tails)
                for x in zip(counts, sizes, strict=True)
            ]
            weights.append(np.prod(chances))
    weights = np.array(weights) / np.sum(weights)
    assert prior.weights == pytest.approx(weights, rel=1e-6, abs=1e-12)
    for count, n, upper in zip(counts, sizes, result, strict=True):
        likelihood = compute_likelihoods(count, n, conservative_tails)
        posterior = sum(
            w * mass * likelihood / (mass @ likelihood)
            for w, mass in zip(weights, masses, strict=True)
        )
        below = np.cumsum(posterior)
        index = np.searchsorted(below, 0.975)
        assert abs(below[index - 1 : index + 1] - 0.975).min() > 1e-9  # not within rounding
        assert upper == pytest.approx(SIGMA[index] * n * (n - 1) / 2, rel=1e-9)


def test_upper_pair_count_falls_with_more_groups_without_pairs():
    ends = []
    for groups in (6, 12, 30, 100):
        prior = fit_recurrence_prior([0] * groups, [8] * groups)
        ends.append(estimate_upper_pair_counts(prior, [0], [8], 0.95)[0])
    assert ends == sorted(ends, reverse=True)
    assert ends[-1] < 0.2 < ends[0] < 3.69  # 3.69 is the exact upper limit of a set without pairs


@pytest.mark.parametrize("conservative_tails", [False, True])
def test_upper_pair_count_grows_with_pairs_of_a_group(conservative_tails):
    counts = np.array([0, 1, 3, 6, 10, 28])
    prior = fit_recurrence_prior([0, 1, 0, 3, 6, 0, 1, 28], [8] * 8, conservative_tails)
    ends = estimate_upper_pair_counts(prior, counts, [8] * 6, 0.95)
    assert (np.diff(ends) > 0).all()
    assert ends[-1] <= 28
    lower_level_ends = estimate_upper_pair_counts(prior, counts, [8] * 6, 0.8)
    assert (lower_level_ends <= ends).all()
    assert (lower_level_ends < ends).any()


def test_upper_pair_counts_do_not_depend_on_order_of_groups():
    counts = [0, 3, 1, 0, 0, 6, 2]
    sizes = [4, 8, 8, 5, 20, 9, 8]
    order = [3, 0, 6, 1, 5, 2, 4]
    expected = estimate_upper_pair_counts(fit_recurrence_prior(counts, sizes), counts, sizes, 0.95)
    counts, sizes = ([x[i] for i in order] for x in (counts, sizes))
    result = estimate_upper_pair_counts(fit_recurrence_prior(counts, sizes), counts, sizes, 0.95)
    assert result == pytest.approx(expected[order])
