"""The smallest difference of two sets that a comparison detects in 80 % of cases."""

import math

import scipy

from ...scoring.subsampling import MIN_VALUES, t_critical_value
from .pair_inference import EQUALITY_TOLERANCE, can_sign_flips_reach

POWER = 0.8  # the usual power of a test: the proportion of cases with a detection (Cohen 1988)
# With more groups, the p-values of sign flips are multiples of at most 2⁻⁴⁹, so they are treated as
# continuous.
_MAX_DISCRETE = 50


def detectable_standard_errors(n_groups: int, level: float, flips_signs: bool) -> float:
    """Return the mean difference over groups that is detected in 80 % of cases, in standard errors.

    A difference is detected if its Student's t interval at `level` excludes 0. If `flips_signs` is
    True, the p-value from random signs of the differences must also be at most 1 − level. The
    result is NaN if there are too few groups for an interval.
    """
    if n_groups < MIN_VALUES:
        return math.nan
    alpha = 1 - level
    errors_for_equal_signs = 0.0
    if flips_signs and can_sign_flips_reach(level, n_groups) and n_groups <= _MAX_DISCRETE:
        n_p_values = 2.0 ** (n_groups - 1)  # number of equally probable p-values
        n_significant = math.floor(alpha * n_p_values + 1e-6)
        alpha = n_significant / n_p_values
        if n_significant == 1:  # p is small enough only if all differences have the same sign
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
    """Estimate the mean difference over groups that is detected in 80 % of cases.

    `error` is the standard error of the observed mean difference. It is multiplied by a factor that
    makes it a median-unbiased estimate. The result is NaN if the error is 0, because the variation
    of differences is then unknown, and if there are too few groups.
    """
    if not error > EQUALITY_TOLERANCE:
        return math.nan
    degrees_of_freedom = n_groups - 1
    error *= math.sqrt(degrees_of_freedom / scipy.special.chdtri(degrees_of_freedom, 0.5))
    return error * detectable_standard_errors(n_groups, level, flips_signs)


def scale_detectable(
    difference: float, n_groups: int, more_groups: int, level: float, flips_signs: bool
) -> float:
    """Return the difference that `more_groups` groups detect in 80 % of cases.

    `difference` is the one that `n_groups` groups detect. The standard error is assumed to be
    proportional to 1/√groups.
    """
    standard_errors = [
        detectable_standard_errors(count, level, flips_signs) for count in (n_groups, more_groups)
    ]
    return difference * standard_errors[1] / standard_errors[0] * math.sqrt(n_groups / more_groups)


def estimate_unpaired_detectable(difference: float, low: float, high: float, error: float) -> float:
    """Estimate the difference in score of two sets that is detected in 80 % of cases.

    `difference` is the observed difference, [low, high] its confidence interval, and `error` its
    standard error. The interval excludes 0 in 80 % of cases if the true difference is 0.84 standard
    errors larger than the distance from the observed difference to the lower end (if the difference
    is negative, to the upper end). The result is NaN if the interval has width 0.
    """
    if not high - low > EQUALITY_TOLERANCE:
        return math.nan
    distance_to_end = high - difference if difference < 0 else difference - low
    return distance_to_end + float(scipy.special.ndtri(POWER)) * error
