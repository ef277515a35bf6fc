import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from vendiscore.tools.streams.betting import (
    BET_FRACTIONS,
    MAX_LOSS,
    MIN_BET,
    MIN_VARIANCE,
    PRIOR_SHORTFALL,
    PRIOR_VARIANCE,
    ChangeTest,
    ConfidenceSequence,
    MeanTest,
)

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def compute_wealth(values, null_mean):
    """Compute the wealth of `MeanTest` with loops over bets and values."""
    wealths = []
    for fraction in BET_FRACTIONS:
        wealth = 1.0
        shortfalls = [PRIOR_SHORTFALL]
        squares = PRIOR_VARIANCE
        for x in values:
            mean = max(sum(shortfalls) / len(shortfalls), 0)
            variance = max(squares / len(shortfalls), MIN_VARIANCE)
            bet = fraction * max(mean / (variance + mean**2), MIN_BET * fraction)
            bet = min(bet, MAX_LOSS / max(1 - null_mean, 1e-12))
            wealth *= 1 + bet * (null_mean - x)
            shortfalls.append(null_mean - x)
            squares += (null_mean - x - sum(shortfalls) / len(shortfalls)) ** 2
        wealths.append(wealth)
    return sum(wealths) / len(wealths)


@given(VALUES, st.floats(0, 1))
def test_wealth_matches_loops(values, null_mean):
    test = MeanTest()
    for x in values:
        test.update(x, null_mean)
    assert float(test.log_wealth) == pytest.approx(
        math.log(compute_wealth(values, null_mean)), abs=1e-9
    )


@pytest.mark.parametrize("test_class", [MeanTest, ChangeTest])
@pytest.mark.parametrize("null_mean", [0.0, 0.3, 0.5, 1.0])
def test_expected_wealth_is_at_most_one(test_class, null_mean):
    # The expectation over all sequences of 0 and 1 is exact: their probabilities have mean
    # `null_mean`.
    length = 8
    sequences = (np.arange(2**length)[:, None] >> np.arange(length)) & 1
    test = test_class()
    for column in sequences.T:
        test.update(column, null_mean)
    n_ones = sequences.sum(axis=1)
    probabilities = null_mean**n_ones * (1 - null_mean) ** (length - n_ones)
    assert np.sum(probabilities * np.exp(test.log_wealth)) == pytest.approx(1)


@pytest.mark.parametrize("test_class", [MeanTest, ChangeTest])
def test_runs_in_an_array_equal_single_runs(test_class):
    runs = np.random.default_rng(0).random((25, 4))
    null_means = np.array([0.6, 0.6, 0.9, 0.2])
    together = test_class()
    single_runs = [test_class() for _ in range(4)]
    assert together.log_wealth == 0
    for row in runs:
        together.update(row, null_means)
        for test, x, null_mean in zip(single_runs, row, null_means, strict=True):
            test.update(x, null_mean)
        assert_allclose(together.log_wealth, [test.log_wealth for test in single_runs])


def test_late_change_is_detected_sooner_than_by_the_mean():
    rng = np.random.default_rng(0)
    change_test, mean_test = ChangeTest(), MeanTest()
    delays = {}
    values = np.concatenate([rng.uniform(0.6, 1, 500), rng.uniform(0.4, 0.8, 500)])
    for i, x in enumerate(values):
        for test in (change_test, mean_test):
            test.update(x, 0.8)
            if test.log_wealth >= math.log(20):
                delays.setdefault(type(test), i - 500)
    assert 0 < delays[ChangeTest] < 0.5 * delays[MeanTest]


@given(VALUES)
def test_intervals_are_nested(values):
    sequence = ConfidenceSequence(0.95)
    low, high = 0.0, 1.0
    for x in values:
        sequence.update(x)
        assert low <= sequence.low < sequence.high <= high
        low, high = sequence.low, sequence.high


def test_interval_mirrors_with_the_values():
    sequence, mirrored = ConfidenceSequence(0.9), ConfidenceSequence(0.9)
    for x in np.random.default_rng(0).beta(2, 5, 60):
        sequence.update(x)
        mirrored.update(1 - x)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - sequence.high, 1 - sequence.low))


def test_intervals_cover_the_mean_at_all_times():
    rng = np.random.default_rng(0)
    n_covered = 0
    for _ in range(60):
        sequence = ConfidenceSequence(0.8)
        covers = True
        for x in rng.beta(2, 1, 100):
            sequence.update(x)
            covers &= sequence.low <= 2 / 3 <= sequence.high
        n_covered += covers
    # 48 of 60 are expected at least; fewer than 40 have a probability below 0.5 %.
    assert n_covered >= 40


def test_interval_becomes_narrow():
    sequence = ConfidenceSequence(0.95)
    for x in np.random.default_rng(0).normal(0.7, 0.02, 200):
        sequence.update(x)
    assert 0 < sequence.high - sequence.low < 0.05
    assert sequence.low < 0.7 < sequence.high
