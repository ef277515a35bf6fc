"""The smallest difference of two sets that a comparison detects in 80 % of cases."""

import math

import scipy

from ...scoring.subsampling import MIN_VALUES, t_critical_value
from .pair_inference import EQUALITY_TOLERANCE, can_sign_flips_reach

POWER = 0.8  # the usual proportion of cases (Cohen 1988)
# Of more groups, p of their signs changes in steps of 2⁻⁴⁹ at most, near the precision of a level.
_MAX_DISCRETE = 50


def detectable_standard_errors(n_groups: int, level: float, signed: bool) -> float:
    """Return how many standard errors of a mean difference are detected in 80 % of cases.

    A difference is detected if Student's interval at `level` excludes 0 and, if p is that of
    exchanged signs, if p is 1 − level at most. NaN for so few groups that none is.
    """
    if n_groups < MIN_VALUES:
        return math.nan
    alpha = 1 - level
    of_equal_signs = 0.0
    if signed and can_sign_flips_reach(level, n_groups) and n_groups <= _MAX_DISCRETE:
        count = 2.0 ** (n_groups - 1)  # equally probable p-values
        rarest = math.floor(alpha * count + 1e-6)
        alpha = rarest / count
        if rarest == 1:  # all differences have one sign
            quantile = float(scipy.special.ndtri(POWER ** (1 / n_groups)))
            of_equal_signs = math.sqrt(n_groups) * quantile
    reach = t_critical_value(1 - alpha, n_groups)
    return max(float(scipy.special.nctdtrinc(n_groups - 1, 1 - POWER, reach)), of_equal_signs)


def estimate_paired_detectable(error: float, n_groups: int, level: float, signed: bool) -> float:
    """Return the detectable mean difference over groups, from its standard error.

    The error is scaled to be as often too small as too large for the source's. NaN for an error of
    0, which does not show how differences vary, and for too few groups.
    """
    if not error > EQUALITY_TOLERANCE:
        return math.nan
    freedom = n_groups - 1
    error *= math.sqrt(freedom / scipy.special.chdtri(freedom, 0.5))
    return error * detectable_standard_errors(n_groups, level, signed)


def scale_detectable(
    difference: float, n_groups: int, more_groups: int, level: float, signed: bool
) -> float:
    """Return what more groups detect, from what some detect: ∝ 1/√groups, and to Student's t."""
    errors = [detectable_standard_errors(count, level, signed) for count in (n_groups, more_groups)]
    return difference * errors[1] / errors[0] * math.sqrt(n_groups / more_groups)


def estimate_unpaired_detectable(difference: float, low: float, high: float, error: float) -> float:
    """Return the detectable difference of scores of two sets, from an interval that contains one.

    `error` is the standard error of the difference. The interval of a true difference excludes 0
    in 80 % of cases if the difference is its reach towards 0, and 0.84 standard errors.
    """
    if not high - low > EQUALITY_TOLERANCE:
        return math.nan
    reach = high - difference if difference < 0 else difference - low
    return reach + float(scipy.special.ndtri(POWER)) * error
