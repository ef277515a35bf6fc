"""Sequential tests of a mean by betting, which remain valid however often they are inspected.

Values are in [0, 1]. To test whether their mean is at least m, one bets that the next value x is
smaller: a bet λ multiplies the wealth by 1 + λ (m − x). If the conditional mean of each value,
given the earlier ones, is at least m, the wealth is a non-negative supermartingale, whatever rule
chooses λ from the earlier values. By Ville's inequality, the probability that a wealth that starts
at 1 ever reaches 1/α is then at most α.

Reference: Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, JRSS B
86:1 (2024), arXiv 2010.09686.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

# Bets of `MeanTest`, as fractions of the growth-optimal (Kelly) bet for the mean and variance of
# the earlier values. The wealth is the mean over these bets, so no fraction has to be chosen.
BET_FRACTIONS = (1.0, 0.5, 0.25)
# Smallest bet of `MeanTest`, relative to the fraction, so that wealth can be gained from the first
# values on.
MIN_BET = 0.1
# Largest fraction of the wealth that a single value can cost, so that the wealth remains positive.
MAX_LOSS = 0.99
# The first bets are made as if one earlier value had this shortfall (null mean − value), and
# shortfalls this variance: decreases that users want to detect are of this size.
PRIOR_SHORTFALL = 1 / 8
PRIOR_VARIANCE = 1 / 64
MIN_VARIANCE = 1e-4
# Numbers of recent values that determine the bets of `ChangeTest`.
WINDOWS = (30, 100)
# Fraction of the optimal bet in `ChangeTest`: the mean of a few values is inaccurate.
WINDOW_BET_FRACTION = 0.5
# Number of intervals between the candidate means of `ConfidenceSequence`.
GRID_SIZE = 500


class MeanTest:
    """Test, after each value, whether the mean of values in [0, 1] is at least a null mean.

    Values and null means may be arrays, of one test for each element.
    """

    def __init__(self) -> None:
        self._log_wealth: np.ndarray = np.zeros(1)  # one row for each of BET_FRACTIONS
        self._n = 1  # the prior counts as one value
        # Sum and sum of squared deviations of the shortfalls: null mean − value.
        self._sum: np.ndarray = np.array(PRIOR_SHORTFALL)
        self._sum_squares: np.ndarray = np.array(PRIOR_VARIANCE)

    def update(self, x: ArrayLike, null_mean: ArrayLike) -> None:
        """Add a value in [0, 1], and the null mean, which must not depend on the value."""
        shortfall = np.subtract(null_mean, x)
        fractions = np.array(BET_FRACTIONS).reshape(-1, *(1,) * shortfall.ndim)
        bets = _optimal_bets(self._sum / self._n, self._sum_squares / self._n)
        bets = fractions * np.maximum(bets, MIN_BET * fractions)
        self._log_wealth = self._log_wealth + _log_growth(bets, null_mean, shortfall)
        self._n += 1
        self._sum = self._sum + shortfall
        self._sum_squares = self._sum_squares + (shortfall - self._sum / self._n) ** 2

    @property
    def log_wealth(self) -> np.ndarray:
        """Logarithm of the wealth of each test, the mean over its bets; 0 before any value."""
        if self._n == 1:
            return np.zeros(())
        total: np.ndarray = np.logaddexp.reduce(self._log_wealth, axis=0)
        return total - math.log(len(BET_FRACTIONS))


class ChangeTest:
    """Test, after each value, whether the mean of values in [0, 1] is still at least a null mean.

    Half of the wealth is that of a `MeanTest`, which detects a mean that was too small from the
    start. The other half bets on changes at any time, with bets that depend on recent values. A
    part of it, proportional to 1 / (t log² t), is staked at each time t, so enough remains for late
    changes.

    Values and null means may be arrays, of one test for each element.
    """

    def __init__(self) -> None:
        """Start with all wealth in reserve, except for that of the `MeanTest`."""
        self._test = MeanTest()
        # For each window: mean and variance of recent shortfalls, and logarithm of the wealth at
        # stake. The shape is (windows,), and from the first update on (windows, *shape of values).
        self._mean: np.ndarray = np.full(len(WINDOWS), PRIOR_SHORTFALL)
        self._variance: np.ndarray = np.full(len(WINDOWS), PRIOR_VARIANCE)
        self._log_staked: np.ndarray = np.full(len(WINDOWS), -np.inf)
        self._reserve = 1.0  # wealth that is not at stake yet
        self._n = 0

    def update(self, x: ArrayLike, null_mean: ArrayLike) -> None:
        """Add a value in [0, 1], and the null mean, which must not depend on the value."""
        self._test.update(x, null_mean)
        shortfall = np.subtract(null_mean, x)
        windows = np.array(WINDOWS, dtype=float).reshape(-1, *(1,) * shortfall.ndim)
        if self._n == 0:
            self._mean = self._mean.reshape(windows.shape)
            self._variance = self._variance.reshape(windows.shape)
            self._log_staked = self._log_staked.reshape(windows.shape)
        time = self._n + 2
        # The stakes add up to less than 1, because the sum of 1 / (t log² t) over t ≥ 3 is 1.07.
        stake = 0.5 if self._n == 0 else 0.46 / (time * math.log(time) ** 2)
        self._reserve -= stake
        bets = WINDOW_BET_FRACTION * _optimal_bets(self._mean, self._variance)
        growth = _log_growth(bets, null_mean, shortfall)
        self._log_staked = np.logaddexp(self._log_staked, math.log(stake)) + growth
        rate = np.maximum(1 / windows, 1 / time)
        difference = shortfall - self._mean
        self._mean = self._mean + rate * difference
        self._variance = (1 - rate) * (self._variance + rate * difference**2)
        self._n += 1

    @property
    def log_wealth(self) -> np.ndarray:
        """Logarithm of the total wealth of each test; 0 before any value."""
        if self._n == 0:
            return np.zeros(())
        # The wealth of each window is what is at stake plus the reserve. The total is the mean of
        # two halves: the wealth of the `MeanTest`, and the mean wealth over the windows.
        log_window_wealth = np.logaddexp(self._log_staked, math.log(self._reserve))
        log_change_wealth = np.logaddexp.reduce(log_window_wealth, axis=0) - math.log(len(WINDOWS))
        return np.asarray(np.logaddexp(self._test.log_wealth, log_change_wealth) - math.log(2))


class ConfidenceSequence:
    """Intervals for the mean of values in [0, 1], all of which cover it with probability `level`.

    The interval contains the candidate means that were not rejected by either of two one-sided
    tests, at (1 − level)/2 each. Candidates are on a grid; the interval extends to the next
    rejected candidate, or to 0 or 1.

    Parameters
    ----------
    level : float
        Probability that all intervals cover the mean.

    Attributes
    ----------
    low, high : float
        Ends of the current interval, 0 and 1 before the first value.
    """

    def __init__(self, level: float) -> None:
        """Start with the interval [0, 1], and no rejected candidate means."""
        self.low: float = 0.0
        self.high: float = 1.0
        self._log_threshold: float = math.log(2 / (1 - level))
        self._grid: np.ndarray = np.linspace(0, 1, GRID_SIZE + 1)
        self._candidates: np.ndarray = self._grid[1:-1]
        self._test_lower = MeanTest()  # is the mean at least the candidate?
        self._test_upper = MeanTest()  # is it at most the candidate?
        self._is_rejected: np.ndarray = np.zeros(len(self._candidates), dtype=bool)

    def update(self, x: float) -> None:
        """Add a value in [0, 1]."""
        self._test_lower.update(x, self._candidates)
        self._test_upper.update(1 - x, 1 - self._candidates)
        log_wealth = np.maximum(self._test_lower.log_wealth, self._test_upper.log_wealth)
        self._is_rejected = self._is_rejected | (log_wealth >= self._log_threshold)
        retained = np.flatnonzero(~self._is_rejected)
        if len(retained):  # otherwise the mean changed, and the last interval is kept
            self.low = float(self._grid[retained[0]])
            self.high = float(self._grid[retained[-1] + 2])


def _optimal_bets(shortfall: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the growth-optimal bets for the mean and the variance of shortfalls.

    Bets are 0 if the mean shortfall is not positive.
    """
    shortfall = np.maximum(shortfall, 0)
    return np.asarray(shortfall / (np.maximum(variance, MIN_VARIANCE) + shortfall**2))


def _log_growth(bets: np.ndarray, null_mean: ArrayLike, shortfall: np.ndarray) -> np.ndarray:
    """Return the logarithm of the factors of the wealth.

    Bets are limited so that the wealth remains positive even for a value of 1.
    """
    max_bets = MAX_LOSS / np.maximum(np.subtract(1, null_mean), 1e-12)
    return np.asarray(np.log1p(np.minimum(bets, max_bets) * shortfall))
