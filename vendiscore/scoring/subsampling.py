"""Standard errors of means, and of any score by subsampling without replacement."""

import math
from collections.abc import Callable

import numpy as np
import scipy

from .bayesian_bootstrap import estimate_mean_quantile
from .jackknife import Values, delete_one_error

# With fewer samples or clusters, intervals are unreliable: halves have a single sample, and all
# have the same score.
MIN_SAMPLES = 4
N_DRAWS = 20
# With fewer values a mean has no interval: two values that agree by chance would have an interval
# of zero width.
MIN_VALUES = 3
# A mean closer to a bound than this proportion of the range equals the bound up to rounding. Its
# distance is set to this value, since its logit would be infinite.
_MIN_BOUND_DISTANCE = 1e-9


def compute_mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of at least two values, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def t_critical_value(level: float, units: int) -> float:
    """Return the half-width of Student's interval in standard errors."""
    return float(scipy.special.stdtrit(units - 1, (1 + level) / 2))


def student_interval(values: np.ndarray, level: float) -> tuple[float, float, float, float]:
    """Return the mean, its standard error, and both ends of Student's interval.

    The ends are NaN for fewer than `MIN_VALUES` values.
    """
    mean, error = compute_mean_and_error(values)
    if len(values) < MIN_VALUES:
        return mean, error, math.nan, math.nan
    reach = t_critical_value(level, len(values)) * error
    return mean, error, mean - reach, mean + reach


def bounded_mean_interval(
    values: np.ndarray, level: float, lower: float, upper: float
) -> tuple[float, float, float, float]:
    """Return mean, standard error and interval of values whose mean lies in [lower, upper].

    Each end is the farther one of two methods. A jackknife of the logit accounts for the number of
    values; the Bayesian bootstrap accounts for skewness and for rare values that were not observed.
    Single values may lie outside of [lower, upper] if groups differ in size; the interval is
    clipped to it.
    """
    if len(values) < MIN_VALUES:
        return student_interval(values, level)
    if not 0 < upper - lower < math.inf:
        mean, error, low, high = student_interval(values, level)
        return mean, error, max(low, lower), min(high, upper)
    mean, error = compute_mean_and_error(values)
    n = len(values)
    without_each = (n * mean - values) / (n - 1)
    low, high = logit_interval(mean, without_each, level, lower, upper)
    tail = (1 - level) / 2
    low = min(low, estimate_mean_quantile(values, min(lower, float(values.min())), tail))
    high = max(high, estimate_mean_quantile(values, max(upper, float(values.max())), 1 - tail))
    return mean, error, max(low, lower), min(high, upper)


def logit_interval(
    value: float, without_each: np.ndarray, level: float, lower: float, upper: float
) -> tuple[float, float]:
    """Return Student's interval of the logit of a bounded value, transformed back.

    Its standard error is that of the jackknife, from the leave-one-out values.
    """
    width = upper - lower
    proportions = (np.append(without_each, value) - lower) / width
    logits = scipy.special.logit(np.clip(proportions, _MIN_BOUND_DISTANCE, 1 - _MIN_BOUND_DISTANCE))
    reach = t_critical_value(level, len(without_each)) * delete_one_error(logits[:-1])
    ends = logits[-1] + reach * np.array([-1, 1])
    low, high = (lower + width * scipy.special.expit(ends)).tolist()
    return min(low, value), max(high, value)


def describe_missing_interval(
    count: int, low: float, high: float, keys: str, units: str = "groups"
) -> str:
    """Describe why the interval of a mean is missing or uninformative; "" if it is neither."""
    if count < MIN_VALUES:
        return (
            f"The mean over {count} {units} has no interval, and {keys} are NaN: two values do not "
            f"show how much others vary; {MIN_VALUES} {units} or more have one."
        )
    if high <= low:
        return (
            f"The interval of the mean over {count} {units} has no width: all of them have the "
            "same "
            f"value, and {keys} do not cover what other {units} may have."
        )
    return ""


def half_sampling_error(
    n: int, score: Callable[[np.ndarray], Values], m: int, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Estimate errors from `draws` pairs of m ≤ n/2 samples: Var(score_n) = Var(score_m) m/n.

    Valid for independent samples of equal weight (Politis & Romano 1994); too small if nearly all
    differ.

    >>> x = np.random.default_rng(0).normal(size=400)
    >>> rng = np.random.default_rng(0)
    >>> error = half_sampling_error(400, lambda indices: x[indices].mean(), 200, 200, rng)
    >>> round(float(error), 3), round(float(x.std()) / 20, 3)
    (0.051, 0.05)
    """
    squares = np.array(0.0)
    for _ in range(draws):
        mixed = rng.permutation(n)
        a = score(np.sort(mixed[:m]))
        b = score(np.sort(mixed[-m:]))
        squares = squares + (a - b) ** 2 / 2
    return np.sqrt(squares / draws * m / n)
