"""The mean of some values, its standard error and Student's interval."""

from __future__ import annotations

import math

import numpy as np
import scipy


def mean_error(values: np.ndarray) -> tuple[float, float]:
    """The mean of two values or more, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def student(values: np.ndarray, level: float) -> tuple[float, float, float, float]:
    """The mean, its standard error, and both ends of Student's interval.

    >>> mean, se, low, high = student(np.array([1.0, 2.0, 3.0]), 0.95)
    >>> mean, round(se, 3), round(high - mean, 3)  # 4.303 errors, with 2 degrees of freedom
    (2.0, 0.577, 2.484)
    """
    mean, error = mean_error(values)
    reach = float(scipy.special.stdtrit(len(values) - 1, (1 + level) / 2)) * error
    return mean, error, mean - reach, mean + reach
