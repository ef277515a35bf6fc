"""Comparison of sets that did not answer all prompts, by an additive model.

The model is log VS = set + prompt, fitted by least squares to the scores of all prompts. It
predicts missing scores, and sets are compared by their means over the same prompts. Standard errors
come from the jackknife that leaves out one prompt at a time, with all of its scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ...scoring.jackknife import delete_one_error
from ...scoring.subsampling import MIN_VALUES, logit_interval, t_critical_value
from .pair_inference import EQUALITY_TOLERANCE, Interval


@dataclass(frozen=True, eq=False)
class AdjustedMeans:
    """Mean scores of S sets over all P prompts, with predictions for missing scores.

    Attributes
    ----------
    means : array of shape (S,)
        Mean of the observed and predicted scores of each set.
    without_each : array of shape (P, S)
        The same after leaving out each prompt.
    counts : array of shape (S,)
        Number of prompts that each set answered.
    """

    means: np.ndarray
    without_each: np.ndarray
    counts: np.ndarray

    def estimate_difference(self, i: int, j: int, level: float) -> tuple[Interval, float, float]:
        """Return the difference of sets i and j with its interval, standard error and p-value.

        The p-value is that of Student's t-test. With fewer than three prompts of a set, the ends
        of the interval are NaN and p is 1.
        """
        n_prompts = self._count_prompts(i, j)
        difference = float(self.means[i] - self.means[j])
        error = float(delete_one_error(self.without_each[:, i] - self.without_each[:, j]))
        if abs(difference) < EQUALITY_TOLERANCE:
            difference = 0.0
        if n_prompts < MIN_VALUES:
            return (difference, math.nan, math.nan), error, 1.0
        reach = t_critical_value(level, n_prompts) * error
        interval = difference, difference - reach, difference + reach
        if difference == 0:
            return interval, error, 1.0
        if error < EQUALITY_TOLERANCE:  # equal differences do not show how others vary
            return interval, error, 2.0 ** (1 - n_prompts)
        p = 2 * float(scipy.special.stdtr(n_prompts - 1, -abs(difference) / error))
        return interval, error, p

    def estimate_ratio(self, i: int, j: int, level: float) -> tuple[float, float]:
        """Return the ends of the interval of the ratio of the means of sets i and j."""
        n_prompts = self._count_prompts(i, j)
        if n_prompts < MIN_VALUES:
            return math.nan, math.nan
        logs = np.log(self.without_each)
        reach = t_critical_value(level, n_prompts) * delete_one_error(logs[:, i] - logs[:, j])
        log_ratio = math.log(self.means[i] / self.means[j])
        return math.exp(log_ratio - reach), math.exp(log_ratio + reach)

    def estimate_mean(
        self, i: int, level: float, upper: float
    ) -> tuple[float, float, float, float]:
        """Return the mean of set i, its standard error and interval; scores are 1 to `upper`."""
        mean = float(self.means[i])
        error = float(delete_one_error(self.without_each[:, i]))
        if self.counts[i] < MIN_VALUES:
            return mean, error, math.nan, math.nan
        low, high = logit_interval(mean, self.without_each[:, i], level, 1.0, upper)
        return mean, error, low, high

    def _count_prompts(self, i: int, j: int) -> int:
        """Return the number of prompts of the set that answered fewer."""
        return int(min(self.counts[i], self.counts[j]))


def estimate_adjusted_means(scores: np.ndarray, names: Sequence[str]) -> AdjustedMeans:
    """Estimate the mean score of each set over all prompts.

    `scores` (S, P) are the scores of S sets for P prompts, NaN if missing. Raise a ValueError if
    the prompts do not connect all sets, also without any single prompt.
    """
    n_prompts = scores.shape[1]
    remaining = np.array([np.delete(np.arange(n_prompts), p) for p in range(n_prompts)])
    is_present = np.isfinite(scores)
    for indices in remaining:
        is_connected = find_connected_sets(is_present[:, indices])
        if not is_connected.all():
            separate = min((is_connected, ~is_connected), key=np.count_nonzero)
            name = names[int(np.flatnonzero(separate)[0])]
            raise ValueError(
                f"`{name}` must share at least two prompts with sets that the others can be "
                f"compared with; add answers to prompts that other sets answer, or remove this set"
            )
    without_each = np.array([_complete(scores[:, indices]).mean(axis=1) for indices in remaining])
    counts = is_present.sum(axis=1)
    return AdjustedMeans(_complete(scores).mean(axis=1), without_each, counts)


def find_connected_sets(is_present: np.ndarray) -> np.ndarray:
    """Return which sets are connected with the first one by prompts that they share, shape (sets,).

    `is_present`, shape (sets, prompts), is True where a set has answers to a prompt.
    """
    is_connected = np.zeros(len(is_present), dtype=bool)
    is_connected[0] = True
    for _ in range(len(is_present)):
        shared = is_present[is_connected].any(axis=0)
        is_connected |= is_present[:, shared].any(axis=1)
    return is_connected


def fit_additive_model(logs: np.ndarray) -> np.ndarray:
    """Fit a sum of an effect of the set and an effect of the prompt to log scores.

    `logs`, shape (S, P), are the log scores of S sets for P prompts, with NaN for missing values.
    Prompts must connect all sets. Return the fitted values, shape (S, P).

    >>> fit_additive_model(np.array([[1.0, 2.0, np.nan], [2.0, 3.0, 5.0]])).round(6).tolist()
    [[1.0, 2.0, 4.0], [2.0, 3.0, 5.0]]
    """
    present = np.isfinite(logs)
    values = np.where(present, logs, 0.0)
    weights = present.astype(float)
    counts = weights.sum(axis=0)  # of each prompt
    prompt_means = values.sum(axis=0) / counts
    # Normal equations of the effects of sets, after the effects of prompts are eliminated.
    A = np.diag(weights.sum(axis=1)) - (weights / counts) @ weights.T
    b = (weights * (values - prompt_means)).sum(axis=1)
    # The effects are determined up to a constant; choose those that sum to 0.
    set_effects = np.linalg.solve(A + 1 / len(A), b)
    prompt_effects = (weights * (values - set_effects[:, None])).sum(axis=0) / counts
    return np.asarray(set_effects[:, None] + prompt_effects)


def _complete(scores: np.ndarray) -> np.ndarray:
    """Return the scores of S sets for P prompts, shape (S, P), with predictions for missing ones.

    The exponential of a fitted log score is smaller than the mean score, so predictions are
    multiplied by a factor for each set: the ratio of its observed and fitted scores (Duan 1983).
    """
    present = np.isfinite(scores)
    if present.all():
        return scores
    fitted = np.exp(fit_additive_model(np.log(scores)))
    observed = np.where(present, scores, 0.0).sum(axis=1)
    factors = observed / np.where(present, fitted, 0.0).sum(axis=1)
    return np.where(present, scores, factors[:, None] * fitted)
