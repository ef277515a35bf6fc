"""Intervals of the mean of a bounded population: quantiles of a Dirichlet mean, and coverage."""

import numpy as np
import pytest
from scipy.stats import beta

from vendiscore.scoring import bayesian_bootstrap
from vendiscore.scoring.bayesian_bootstrap import PSEUDO_WEIGHT, estimate_mean_quantile
from vendiscore.scoring.subsampling import bounded_mean_interval, logit_interval, student_interval


def estimate_quantile_by_sampling(values, bound, probability, weight, rng, n_draws=100_000):
    """Return limits of the quantile, estimated with random Dirichlet weights."""
    gammas = rng.gamma(np.append(np.ones(len(values)), weight), size=(n_draws, len(values) + 1))
    means = gammas @ np.append(values, bound) / gammas.sum(axis=1)
    return np.quantile(means, [probability - 0.004, probability + 0.004])


@pytest.mark.parametrize("n", [3, 9, 200])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_quantile_of_zeros_and_ones_equals_clopper_pearson_limit(n, level):
    for n_ones in (0, 1, n // 2, n):
        x = np.r_[np.ones(n_ones), np.zeros(n - n_ones)]
        low = estimate_mean_quantile(x, 0.0, (1 - level) / 2, weight=1.0)
        high = estimate_mean_quantile(x, 1.0, (1 + level) / 2, weight=1.0)
        expected = [
            beta.ppf((1 - level) / 2, n_ones, n - n_ones + 1) if n_ones else 0.0,
            beta.ppf((1 + level) / 2, n_ones + 1, n - n_ones) if n_ones < n else 1.0,
        ]
        assert [low, high] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("weight", [PSEUDO_WEIGHT, 1.0])
@pytest.mark.parametrize("n", [3, 12, 60])
def test_quantile_matches_random_weights(n, weight):
    rng = np.random.default_rng(n)
    for values in (rng.uniform(1, 8, n), 8 - rng.exponential(0.1, n), rng.integers(1, 4, n)):
        for bound, probability in ((1.0, 0.025), (8.0, 0.975), (1.0, 0.3)):
            result = estimate_mean_quantile(np.clip(values, 1, 8), bound, probability, weight)
            low, high = estimate_quantile_by_sampling(
                np.clip(values, 1, 8), bound, probability, weight, rng
            )
            assert low - 1e-6 <= result <= high + 1e-6


@pytest.mark.parametrize("n", [3, 7, 40, 300])
def test_quantile_is_monotone_in_probability_and_symmetric(n):
    rng = np.random.default_rng(n)
    for values in (rng.uniform(size=n), 1 - 10.0 ** -rng.uniform(0, 14, n), np.full(n, 0.7)):
        for bound in (0.0, 1.0):
            levels = (0.0005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.9995)
            quantiles = [estimate_mean_quantile(values, bound, p) for p in levels]
            mirrored = [estimate_mean_quantile(1 - values, 1 - bound, 1 - p) for p in levels]
            assert (np.diff(quantiles) >= -1e-6).all()
            # Many values are merged in runs from the lower end, so symmetry is approximate.
            tolerance = 1e-6 if n <= bayesian_bootstrap.MAX_VALUES else 1e-3
            assert quantiles == pytest.approx([1 - x for x in mirrored], abs=tolerance)
            assert min(values.min(), bound) - 1e-9 <= quantiles[0]
            assert quantiles[-1] <= max(values.max(), bound) + 1e-9


@pytest.mark.parametrize("n", [300, 4000])
def test_merging_many_values_changes_quantile_little(n, monkeypatch):
    rng = np.random.default_rng(0)
    rare = rng.random(n) < 0.05
    for values in (
        5 - np.minimum(rng.exponential(0.1, n) ** 2, 4),
        1 + 4 * rng.beta(2, 2, n),
        np.where(rare, 1 + rng.random(n), 4.5 + rng.random(n) / 2),
    ):
        ends = (1.0, 0.025), (5.0, 0.975)
        merged = [
            estimate_mean_quantile(values, *bound_and_probability) for bound_and_probability in ends
        ]
        with monkeypatch.context() as patch:
            patch.setattr(bayesian_bootstrap, "MAX_VALUES", 10_000)
            exact = [
                estimate_mean_quantile(values, *bound_and_probability)
                for bound_and_probability in ends
            ]
        assert np.abs(np.subtract(merged, exact)).max() < 0.03 * values.std() / n**0.5


def test_quantile_of_values_at_the_bound_equals_the_bound():
    assert estimate_mean_quantile(np.full(4, 8.0), 8.0, 0.975) == 8.0


def test_bounded_interval_contains_logit_interval_and_lies_in_bounds():
    rng = np.random.default_rng(0)
    for n in (3, 5, 30, 400):
        values = 8 - np.minimum(rng.exponential(1.0, n), 7)
        mean, _, low, high = bounded_mean_interval(values, 0.95, 1.0, 8.0)
        leave_one_out_means = (n * mean - values) / (n - 1)
        logit_ends = logit_interval(mean, leave_one_out_means, 0.95, 1.0, 8.0)
        assert 1 <= low <= logit_ends[0] < mean < logit_ends[1] <= high <= 8


def test_bounded_interval_with_infinite_bounds_equals_student_interval():
    values = np.array([1.0, 2.0, 4.0])
    mean, error, low, high = student_interval(values, 0.95)
    assert bounded_mean_interval(values, 0.95, -np.inf, np.inf) == (mean, error, low, high)
    assert bounded_mean_interval(values, 0.95, 0.0, np.inf) == (mean, error, 0.0, high)
    assert np.isnan(bounded_mean_interval(values[:2], 0.95, 0.0, 5.0)[2:]).all()


def test_bounded_interval_covers_means_with_rare_low_values():
    """8 % of the population have low scores, which small samples often miss."""
    rng = np.random.default_rng(0)
    population = np.r_[rng.uniform(4.8, 5, 92), rng.uniform(2, 4, 8)]
    mean = population.mean()
    for n in (4, 6, 12, 30):
        samples = population[rng.integers(100, size=(300, n))]
        ends = np.array([bounded_mean_interval(values, 0.95, 1.0, 5.0)[2:] for values in samples])
        leave_one_out_means = (n * samples.mean(axis=1)[:, None] - samples) / (n - 1)
        logits = [
            logit_interval(values.mean(), means, 0.95, 1.0, 5.0)
            for values, means in zip(samples, leave_one_out_means, strict=True)
        ]
        coverage, logit_coverage = (
            np.mean((low <= mean) & (mean <= high)) for low, high in (ends.T, np.array(logits).T)
        )
        assert coverage >= 0.92
        assert logit_coverage < coverage
        assert logit_coverage < 0.85 or n > 12, (n, logit_coverage)
