"""The smallest difference of two sets that a comparison detects in 80 % of cases."""

import math

import scipy

from ...scoring.subsampling import MIN_VALUES, t_critical_value
from .pair_inference import EQUALITY_TOLERANCE, can_sign_flips_reach

POWER = 0.8  # the usual proportion of cases (Cohen 1988)
# Of more groups, p of their signs changes in steps of 2⁻⁴⁹ at most, near the precision of a level.
_MAX_DISCRETE = 50


def detectable_standard_errors(n_groups: int, level: float, flips_signs: bool) -> float:
    """Return how many standard errors of a mean difference are detected in 80 % of cases.

    A difference is detected if Student's interval at `level` excludes 0 and, if p is that of
    exchanged signs, if p is 1 − level at most. NaN for so few groups that none is.
    """
    if n_groups < MIN_VALUES:
        return math.nan
    alpha = 1 - level
    errors_for_equal_signs = 0.0
    if flips_signs and can_sign_flips_reach(level, n_groups) and n_groups <= _MAX_DISCRETE:
        n_p_values = 2.0 ** (n_groups - 1)  # equally probable p-values
        n_significant = math.floor(alpha * n_p_values + 1e-6)
        alpha = n_significant / n_p_values
        if n_significant == 1:  # all differences have one sign
            quantile = float(scipy.special.ndtri(POWER ** (1 / n_groups)))
            errors_for_equal_signs = math.sqrt(n_groups) * quantile
    critical_value = t_critical_value(1 - alpha, n_groups)
    return max(
        float(scipy.special.nctdtrinc(n_groups - 1, 1 - POWER, critical_value)),
        errors_for_equal_signs,
    )


def estimate_paired_detectable(
    error: float, n_groups: int, level: float, flips_signs: bool
) -> float:
    """Return the detectable mean difference over groups, from its standard error.

    The error is scaled to be as often too small as too large for the source's. NaN for an error of
    0, which does not show how differences vary, and for too few groups.
    """
    if not error > EQUALITY_TOLERANCE:
        return math.nan
    degrees_of_freedom = n_groups - 1
    error *= math.sqrt(degrees_of_freedom / scipy.special.chdtri(degrees_of_freedom, 0.5))
    return error * detectable_standard_errors(n_groups, level, flips_signs)


def scale_detectable(
    difference: float, n_groups: int, more_groups: int, level: float, flips_signs: bool
) -> float:
    """Return what more groups detect, from what some detect: ∝ 1/√groups, and to Student's t."""
    standard_errors = [
        detectable_standard_errors(count, level, flips_signs) for count in (n_groups, more_groups)
    ]
    return difference * standard_errors[1] / standard_errors[0] * math.sqrt(n_groups / more_groups)


def estimate_unpaired_detectable(difference: float, low: float, high: float, error: float) -> float:
    """Return the detectable difference of scores of two sets, from an interval that contains one.

    `error` is the standard error of the difference. The interval of a true difference excludes 0
    in 80 % of cases if the difference is its reach towards 0, and 0.84 standard errors.
    """
    if not high - low > EQUALITY_TOLERANCE:
        return math.nan
    distance_to_end = high - difference if difference < 0 else difference - low
    return distance_to_end + float(scipy.special.ndtri(POWER)) * error
