"""Intervals and p-values of a pair of sets, from their scores and from those of permutations.

The statistic of a test is a difference over its standard error, such as
T = (log VS_a − log VS_b)/√(se_a² + se_b²), so that p also holds for sources that differ in other
ways.
"""

import math
from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ...scoring.subsampling import MIN_VALUES, student_interval

# Permutations are drawn in batches until so many are at least as extreme as the observed sets.
PERMUTATION_BATCH = 99
MAX_EXTREME = 20
EQUALITY_TOLERANCE = 1e-9  # scores and statistics that differ by less are equal but for rounding
_MIN_ERROR = 1e-12  # replaces a standard error of 0
_REFINE_BATCH = (
    10  # approximate statistics on either side of the threshold that are refined at once
)

# A score or a difference with both ends of its interval.
Interval: TypeAlias = tuple[float, float, float]


def difference_level(level: float, n_pairs: int) -> float:
    """Return the level of each difference's interval at which all hold together at `level`."""
    return 1 - (1 - level) / n_pairs


def ratio_level(level: float, n_pairs: int) -> float:
    """Return the level of the interval that two one-sided tests of equivalence amount to."""
    return 1 - 2 * (1 - level) / n_pairs


def estimate_paired_difference(a: np.ndarray, b: np.ndarray, level: float) -> Interval:
    """Return the mean of a − b, scores (groups,) of two sets, with Student's interval."""
    mean, _, low, high = student_interval(a - b, level)
    if abs(mean) < EQUALITY_TOLERANCE:
        mean = 0.0
        if high - low < EQUALITY_TOLERANCE:
            low = high = 0.0
    return mean, low, high


def estimate_paired_ratio(a: np.ndarray, b: np.ndarray, level: float) -> tuple[float, float]:
    """Return the interval of the ratio of mean scores, by the delta method for its logarithm."""
    mean_a = a.mean()
    mean_b = b.mean()
    log_ratio = math.log(mean_a / mean_b)
    _, _, low, high = student_interval(a / mean_a - b / mean_b, level)
    return math.exp(low + log_ratio), math.exp(high + log_ratio)


def estimate_difference(a: Interval, b: Interval) -> Interval:
    """Return a − b with its interval, from those of independent scores (Zou & Donner 2008)."""
    x, x_low, x_high = a
    y, y_low, y_high = b
    difference = x - y
    if abs(difference) <= EQUALITY_TOLERANCE * abs(x):
        difference = 0.0
    distance_below = math.hypot(x - x_low, y_high - y)
    distance_above = math.hypot(x_high - x, y - y_low)
    return difference, difference - distance_below, difference + distance_above


def estimate_ratio(a: Interval, b: Interval) -> tuple[float, float]:
    """Return the interval of a/b, from those of independent scores above 0."""
    _, low, high = estimate_difference(*np.log([a, b]).tolist())
    return math.exp(low), math.exp(high)


def studentized_difference(difference: ArrayLike, error: ArrayLike) -> np.ndarray:
    """Return differences over their standard errors, 0 for those that are 0 but for rounding."""
    statistics = difference / np.maximum(error, _MIN_ERROR)
    return np.where(np.abs(difference) < EQUALITY_TOLERANCE, 0.0, statistics)


def extreme_threshold(observed: float) -> float:
    """Return the absolute value from which a statistic is as extreme as the observed one."""
    return abs(observed) * (1 - EQUALITY_TOLERANCE)


def exact_p_value(observed: float, permuted_statistics: np.ndarray) -> float:
    """Return p of a statistic among those of all other permutations."""
    extreme = np.count_nonzero(np.abs(permuted_statistics) >= extreme_threshold(observed))
    return float((extreme + 1) / (len(permuted_statistics) + 1))


def can_sign_flips_reach(level: float, n_groups: int) -> bool:
    """Return whether some signs of the differences of groups are as rare as 1 − level."""
    return 2.0 ** (1 - n_groups) <= 1 - level + EQUALITY_TOLERANCE


def student_p_value(differences: np.ndarray) -> float:
    """Return p of Student's t of the mean of a few differences.

    Differences that are all equal do not show how others vary: p is that of their signs. Two
    differences show it hardly, and p is 1.
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
    """Yield the number of permutations so far; return p in (0, 1] and the number used.

    `draw(count)` returns the statistics of `count` random permutations. Once 20 are as extreme as
    the observed one, no more are drawn, which keeps p valid (Besag & Clifford, Biometrika 1991).
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
    """Return statistics whose number above the threshold is that of the exact ones.

    The first are exact, and scale the approximations of the others. Those nearest to the threshold
    are replaced in batches, until none of a batch changes sides.
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
    """Return how many permutations an adjusted p of 1 − level takes."""
    return math.ceil(n_pairs / (1 - level) - 1e-6) - 1


def adjust_p_values(p: Sequence[float]) -> list[float]:
    """Adjust p-values for the chance that any pair is falsely found to differ (Holm 1979)."""
    adjusted = np.empty(len(p))
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    ascending = np.asarray(p)[order]
    monotone = np.maximum.accumulate(ascending * factors)
    adjusted[order] = np.minimum(1.0, monotone)
    return adjusted.tolist()
