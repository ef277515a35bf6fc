"""Confidence intervals and p-values for the difference of two sets, a and b.

The test statistic is a difference divided by its standard error, such as
(log VS_a − log VS_b)/√(se_a² + se_b²). Its p-value is therefore also valid for populations that are
equally diverse but differ in other ways.
"""

import math
from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ...scoring.subsampling import MIN_VALUES, student_interval

# Permutations are drawn in batches of PERMUTATION_BATCH, until MAX_EXTREME of them have a statistic
# at least as extreme as the observed one.
PERMUTATION_BATCH = 99
MAX_EXTREME = 20
EQUALITY_TOLERANCE = 1e-9  # scores and statistics that differ by less are treated as equal
_MIN_ERROR = 1e-12  # replaces a standard error of 0
# Number of approximate statistics, on one side of a threshold, that are computed exactly at a time.
_REFINE_BATCH = 10

# A score or a difference, the lower end of its interval, and the upper end.
Interval: TypeAlias = tuple[float, float, float]


def difference_level(level: float, n_pairs: int) -> float:
    """Return the level of the interval of one difference, adjusted for the number of pairs.

    All intervals of differences then cover the true values simultaneously with probability `level`.
    """
    return 1 - (1 - level) / n_pairs


def ratio_level(level: float, n_pairs: int) -> float:
    """Return the level of the interval of a ratio in a test of equivalence.

    It corresponds to two one-sided tests, adjusted for the number of pairs.
    """
    return 1 - 2 * (1 - level) / n_pairs


def estimate_paired_difference(a: np.ndarray, b: np.ndarray, level: float) -> Interval:
    """Return the mean of a − b with its Student's t interval.

    `a` and `b`, shape (g,), are the scores of two sets in g groups.
    """
    mean, _, low, high = student_interval(a - b, level)
    if abs(mean) < EQUALITY_TOLERANCE:
        mean = 0.0
        if high - low < EQUALITY_TOLERANCE:
            low = high = 0.0
    return mean, low, high


def estimate_paired_ratio(a: np.ndarray, b: np.ndarray, level: float) -> tuple[float, float]:
    """Return both ends of the interval of mean(a) / mean(b), by the delta method for its logarithm.

    `a` and `b`, shape (g,), are the scores of two sets in g groups.
    """
    mean_a = a.mean()
    mean_b = b.mean()
    log_ratio = math.log(mean_a / mean_b)
    _, _, low, high = student_interval(a / mean_a - b / mean_b, level)
    return math.exp(low + log_ratio), math.exp(high + log_ratio)


def estimate_difference(a: Interval, b: Interval) -> Interval:
    """Return the difference of two independent scores with its interval (Zou & Donner 2008).

    `a` and `b` are scores with their intervals.
    """
    x, x_low, x_high = a
    y, y_low, y_high = b
    difference = x - y
    if abs(difference) <= EQUALITY_TOLERANCE * abs(x):
        difference = 0.0
    distance_below = math.hypot(x - x_low, y_high - y)
    distance_above = math.hypot(x_high - x, y - y_low)
    return difference, difference - distance_below, difference + distance_above


def estimate_ratio(a: Interval, b: Interval) -> tuple[float, float]:
    """Return both ends of the interval of the ratio of two independent positive scores.

    `a` and `b` are scores with their intervals.
    """
    _, low, high = estimate_difference(*np.log([a, b]).tolist())
    return math.exp(low), math.exp(high)


def studentized_difference(difference: ArrayLike, error: ArrayLike) -> np.ndarray:
    """Divide differences by their standard errors; differences within rounding of 0 give 0."""
    statistics = difference / np.maximum(error, _MIN_ERROR)
    return np.where(np.abs(difference) < EQUALITY_TOLERANCE, 0.0, statistics)


def extreme_threshold(observed: float) -> float:
    """Return the minimum absolute value of statistics that are as extreme as the observed one."""
    return abs(observed) * (1 - EQUALITY_TOLERANCE)


def exact_p_value(observed: float, permuted_statistics: np.ndarray) -> float:
    """Return the p-value of the observed statistic, given those of all other permutations."""
    extreme = np.count_nonzero(np.abs(permuted_statistics) >= extreme_threshold(observed))
    return float((extreme + 1) / (len(permuted_statistics) + 1))


def can_sign_flips_reach(level: float, n_groups: int) -> bool:
    """Return whether flipping the signs of the differences can give a p-value of 1 − level."""
    return 2.0 ** (1 - n_groups) <= 1 - level + EQUALITY_TOLERANCE


def student_p_value(differences: np.ndarray) -> float:
    """Return the p-value of Student's t-test for the mean of g differences.

    If all differences are equal, their variation is unknown; the result is then the smallest
    p-value of sign flips, 2^(1 − g). With one or two differences, the result is 1.
    """
    count = len(differences)
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    if count < MIN_VALUES or abs(mean) < EQUALITY_TOLERANCE:
        return 1.0
    if error < EQUALITY_TOLERANCE:
        return 2.0 ** (1 - count)
    return 2 * float(scipy.special.stdtr(count - 1, -abs(mean) / error))


def permutation_test_steps(
    observed: float,
    draw: Callable[[int], np.ndarray],
    permutations: int,
    level: float = 0.95,
    batch: int = PERMUTATION_BATCH,
) -> Generator[int, None, tuple[float, int]]:
    """Run a permutation test: yield the number of permutations so far, return p and that number.

    `draw(count)` returns the statistics of `count` random permutations; `permutations` is the
    maximum number. The test stops earlier once 20 statistics are at least as extreme as the
    observed one, which keeps p valid (Besag & Clifford, Biometrika 1991), but not before the number
    that a p-value of 1 − level requires.
    """
    threshold = extreme_threshold(observed)
    min_count = max(PERMUTATION_BATCH, min_permutations(level))
    n_done = n_extreme = 0
    while n_done < permutations and not (n_extreme >= MAX_EXTREME and n_done >= min_count):
        count = min(batch if n_done else min_count, permutations - n_done)
        n_extreme_after = n_extreme + np.cumsum(np.abs(draw(count)) >= threshold)
        n_done_after = n_done + np.arange(1, count + 1)
        stopping_points = np.flatnonzero(
            (n_extreme_after >= MAX_EXTREME) & (n_done_after >= min_count)
        )
        stop = stopping_points[0] if len(stopping_points) else -1
        n_done = int(n_done_after[stop])
        n_extreme = int(n_extreme_after[stop])
        yield n_done
    return (n_extreme + 1) / (n_done + 1), n_done


def refine_near_threshold(
    approximate: np.ndarray, compute_exact: Callable[[np.ndarray], np.ndarray], threshold: float
) -> np.ndarray:
    """Replace approximate statistics by exact ones if they are near the threshold.

    The number of returned statistics above the threshold then equals that of exact statistics.
    `compute_exact(indices)` returns exact statistics. The first 20 are computed exactly, and give a
    factor that scales all other approximations. On either side of the threshold, batches of the
    nearest statistics are then computed exactly until no statistic of a batch is on the other side.
    """
    count = min(2 * _REFINE_BATCH, len(approximate))
    values = approximate.astype(float)
    values[:count] = compute_exact(np.arange(count))
    exact_approximations = approximate[:count]
    square = max(float(exact_approximations @ exact_approximations), 1e-300)
    scale = float(exact_approximations @ values[:count]) / square
    values[count:] *= scale
    distances = np.abs(values[count:] - threshold)
    order = count + np.argsort(distances, kind="stable")
    are_above = values[order] >= threshold
    for above in (True, False):
        side = order[are_above == above]
        for start in range(0, len(side), _REFINE_BATCH):
            indices = side[start : start + _REFINE_BATCH]
            values[indices] = compute_exact(indices)
            if ((values[indices] >= threshold) == above).all():
                break
    return values


def min_permutations(level: float, n_pairs: int = 1) -> int:
    """Return the minimum number of permutations for an adjusted p-value of 1 − level."""
    return math.ceil(n_pairs / (1 - level) - 1e-6) - 1


def adjust_p_values(p: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of pairs by the method of Holm (1979)."""
    adjusted = np.empty(len(p))
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    ascending = np.asarray(p)[order]
    monotone = np.maximum.accumulate(ascending * factors)
    adjusted[order] = np.minimum(1.0, monotone)
    return adjusted.tolist()
