"""Permutation p-values with early stopping, and intervals of differences and ratios."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.pair_inference import (
    adjust_p_values,
    can_sign_flips_reach,
    difference_level,
    estimate_difference,
    estimate_paired_difference,
    estimate_paired_ratio,
    estimate_ratio,
    exact_p_value,
    min_permutations,
    permutation_test_steps,
    ratio_level,
    refine_near_threshold,
    student_p_value,
)


def run_normal_permutation_test(observed, rng, permutations):
    """Return p and the number of permutations for standard normal permutation statistics."""
    return run_steps(
        permutation_test_steps(observed, lambda count: rng.normal(size=count), permutations)
    )


def test_permutations_stop_early_if_p_is_clearly_large():
    rng = np.random.default_rng(0)
    p, permutations = run_normal_permutation_test(0.1, rng, 9999)
    assert permutations == 99
    assert p > 0.5
    assert 99 <= run_normal_permutation_test(1.3, rng, 9999)[1] < 200
    assert run_normal_permutation_test(3.2, rng, 999)[1] == 999


def test_p_with_early_stopping_is_valid():
    rng = np.random.default_rng(0)
    p_values = np.array(
        [run_normal_permutation_test(rng.normal(), rng, 999)[0] for _ in range(500)]
    )
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p_values <= level) <= level + 3 * math.sqrt(level / 500)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.9, 5.0])
@pytest.mark.parametrize("scale", [0.7, 1.0, 1.5])
def test_refined_statistics_match_exact_ones_at_the_threshold(threshold, scale):
    rng = np.random.default_rng(0)
    exact_values = np.abs(rng.normal(size=999))
    approximate = np.abs(exact_values * (1 + 0.05 * rng.normal(size=999))) / scale
    computed_indices = []

    def compute_exact(indices):
        computed_indices.extend(indices)
        return exact_values[indices]

    result = refine_near_threshold(approximate, compute_exact, threshold)
    assert abs(int((result >= threshold).sum()) - int((exact_values >= threshold).sum())) <= 1
    assert len(computed_indices) == len(set(computed_indices)) <= 250


def test_adjust_p_values_matches_holm():
    p = [0.01, 0.04, 0.03, 0.005]
    assert adjust_p_values(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust_p_values([0.7]) == [0.7]
    assert adjust_p_values([0.6, 0.5]) == [1.0, 1.0]


def test_min_permutations_reach_significance():
    for level, n_pairs in itertools.product((0.5, 0.9, 0.95, 0.99), (1, 3, 28)):
        count = min_permutations(level, n_pairs)
        assert n_pairs / (count + 1) <= 1 - level + 1e-9 < n_pairs / count + 2e-9


def test_exact_p_value_counts_equally_extreme_values_despite_rounding():
    assert exact_p_value(2.0, np.array([1.0, -2.0 * (1 - 1e-12), 3.0])) == 3 / 4
    assert exact_p_value(-4.0, np.array([1.0, 2.0, 3.0])) == 1 / 4


def test_student_p_value_matches_scipy_except_for_equal_or_two_differences():
    rng = np.random.default_rng(0)
    for count in (3, 4, 5, 9):
        differences = rng.normal(0.5, size=count)
        assert student_p_value(differences) == pytest.approx(ttest_1samp(differences, 0).pvalue)
        assert student_p_value(np.full(count, 0.1 + 0.2)) == 2.0 ** (1 - count)
        assert student_p_value(np.zeros(count)) == 1.0
    assert student_p_value(np.array([3.0, 3.1])) == 1.0


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.999])
def test_sign_flips_reach_a_level_if_the_smallest_p_does(level):
    for groups in range(2, 16):
        expected = exact_p_value(1.0, np.zeros(2 ** (groups - 1) - 1)) <= 1 - level
        assert can_sign_flips_reach(level, groups) == expected


def test_difference_level_of_a_single_pair_is_the_level():
    for level in (0.5, 0.9, 0.95, 0.99, 0.999):
        assert difference_level(level, 1) == level
        assert 0 <= ratio_level(level, 1) < level
    assert ratio_level(0.5, 1) == 0


def test_difference_interval_adds_squared_interval_arms():
    assert estimate_difference((5.0, 2.0, 6.0), (1.0, 0.0, 5.0)) == pytest.approx(
        (4.0, 4 - 5.0, 4 + math.sqrt(2))
    )
    assert estimate_difference((5.0, 5.0, 5.0), (5.0 + 1e-12, 5.0, 5.0))[0] == 0
    low, high = estimate_ratio((4.0, 2.0, 8.0), (2.0, 2.0, 2.0))
    assert (low, high) == pytest.approx((1.0, 4.0))


def test_paired_intervals_match_student():
    a, b = np.array([3.0, 5.0, 4.0]), np.array([2.0, 2.0, 2.0])
    half_width = 4.302652729749464 / math.sqrt(3)  # scipy.stats.t.ppf(0.975, 2) standard errors
    assert estimate_paired_difference(a, b, 0.95) == pytest.approx(
        (2.0, 2 - half_width, 2 + half_width)
    )
    low, high = estimate_paired_ratio(a, b, 0.95)
    assert math.sqrt(low * high) == pytest.approx(2.0)
    assert math.log(high / low) / 2 == pytest.approx(half_width / 4)
    assert estimate_paired_difference(a, a + 1e-13, 0.95) == (0, 0, 0)
