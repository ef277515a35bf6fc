"""Standard errors and intervals of means, and standard errors of any score by subsampling."""

import math
from collections.abc import Callable

import numpy as np
import scipy

from .bayesian_bootstrap import estimate_mean_quantile
from .jackknife import Values, delete_one_error

# With fewer samples or clusters, there are no intervals: a random half would contain a single
# sample, and all single samples have the same score.
MIN_SAMPLES = 4
N_DRAWS = 20  # number of pairs of random halves
# With fewer values, a mean has no interval: two values that are equal by chance would have an
# interval of width 0.
MIN_VALUES = 3
# Minimum distance of a mean from its bounds, relative to the range, when its logit is computed. A
# smaller distance is a rounding error, and 0 would have an infinite logit.
_MIN_BOUND_DISTANCE = 1e-9


def compute_mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of at least two values, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def t_critical_value(level: float, n_units: int) -> float:
    """Return the half-width of Student's interval divided by the standard error.

    `level` is the confidence level, and `n_units` the number of independent samples or clusters; it
    determines the degrees of freedom, `n_units` − 1.
    """
    return float(scipy.special.stdtrit(n_units - 1, (1 + level) / 2))


def student_interval(values: np.ndarray, level: float) -> tuple[float, float, float, float]:
    """Return the mean, its standard error, and the lower and upper limit of Student's interval.

    The limits are NaN for fewer than `MIN_VALUES` values.
    """
    mean, error = compute_mean_and_error(values)
    if len(values) < MIN_VALUES:
        return mean, error, math.nan, math.nan
    half_width = t_critical_value(level, len(values)) * error
    return mean, error, mean - half_width, mean + half_width


def bounded_mean_interval(
    values: np.ndarray, level: float, lower: float, upper: float
) -> tuple[float, float, float, float]:
    """Return the mean, its standard error, and the limits of an interval within [lower, upper].

    `values` are independent values, such as the scores of groups, and [lower, upper] is the range
    of their mean. Two intervals are computed, and each limit is taken from the interval in which it
    is farther from the mean. A jackknife of the logit of the mean accounts for the number of
    values. The Bayesian bootstrap accounts for skewness and for rare values that were not observed.
    Single values may lie outside [lower, upper], for example if groups differ in size. If the
    bounds are infinite or equal, the interval is Student's, restricted to [lower, upper].
    """
    if len(values) < MIN_VALUES:
        return student_interval(values, level)
    if not 0 < upper - lower < math.inf:
        mean, error, low, high = student_interval(values, level)
        return mean, error, max(low, lower), min(high, upper)
    mean, error = compute_mean_and_error(values)
    n = len(values)
    leave_one_out_values = (n * mean - values) / (n - 1)
    low, high = logit_interval(mean, leave_one_out_values, level, lower, upper)
    tail = (1 - level) / 2
    # All values must lie on the same side of the bound that represents unobserved values.
    lower_bound = min(lower, float(values.min()))
    upper_bound = max(upper, float(values.max()))
    low = min(low, estimate_mean_quantile(values, lower_bound, tail))
    high = max(high, estimate_mean_quantile(values, upper_bound, 1 - tail))
    return mean, error, max(low, lower), min(high, upper)


def logit_interval(
    value: float, leave_one_out_values: np.ndarray, level: float, lower: float, upper: float
) -> tuple[float, float]:
    """Return an interval of a value in [lower, upper]: Student's interval of its logit.

    The value is scaled to [0, 1] before the logit is taken, and the limits are scaled back. The
    standard error of the logit is computed by the jackknife from `leave_one_out_values`, the value
    of the remaining samples after leaving out each sampling unit (a sample or a cluster).
    """
    width = upper - lower
    proportions = (np.append(leave_one_out_values, value) - lower) / width
    logits = scipy.special.logit(np.clip(proportions, _MIN_BOUND_DISTANCE, 1 - _MIN_BOUND_DISTANCE))
    half_width = t_critical_value(level, len(leave_one_out_values)) * delete_one_error(logits[:-1])
    limits = logits[-1] + half_width * np.array([-1, 1])
    low, high = (lower + width * scipy.special.expit(limits)).tolist()
    return min(low, value), max(high, value)


def describe_missing_interval(
    count: int, low: float, high: float, keys: str, units: str = "groups"
) -> str:
    """Describe why the interval of a mean is missing or has width 0; "" if neither applies.

    The mean is over `count` values, one for each of the `units`, such as "groups". `low` and `high`
    are the limits of the interval, and `keys` are their keys in the result, as text.
    """
    if count < MIN_VALUES:
        return (
            f"The mean over {count} {units} has no interval, so {keys} are NaN. An interval "
            f"requires at least {MIN_VALUES} {units}."
        )
    if high <= low:
        return (
            f"The interval of the mean over {count} {units} has width 0, because all of them have "
            f"the same value. {keys} do not cover the values of other {units}."
        )
    return ""


def half_sampling_error(
    n: int, score: Callable[[np.ndarray], Values], m: int, n_pairs: int, rng: np.random.Generator
) -> np.ndarray:
    """Estimate the standard errors of scores of n samples from scores of random subsets.

    `n_pairs` pairs of disjoint subsets of m ≤ n/2 samples are drawn. `score` returns the scores of
    a subset, given the indices of its samples in ascending order. The variance of a score of m
    samples is estimated from the differences within pairs, and multiplied by m/n for n samples.
    This is valid for independent samples of equal weight (Politis & Romano 1994), but the errors
    are too small if nearly all samples differ.

    >>> x = np.random.default_rng(0).normal(size=400)
    >>> rng = np.random.default_rng(0)
    >>> error = half_sampling_error(400, lambda indices: x[indices].mean(), 200, 200, rng)
    >>> round(float(error), 3), round(float(x.std()) / 20, 3)
    (0.051, 0.05)
    """
    sum_of_variances = np.array(0.0)
    for _ in range(n_pairs):
        permuted = rng.permutation(n)
        a = score(np.sort(permuted[:m]))
        b = score(np.sort(permuted[-m:]))
        sum_of_variances = sum_of_variances + (a - b) ** 2 / 2  # the variance of two values
    return np.sqrt(sum_of_variances / n_pairs * m / n)
