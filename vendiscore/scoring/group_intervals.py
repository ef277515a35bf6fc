"""Confidence intervals of the Vendi Score for each of many groups, such as answers per prompt.

Small groups of equal size are computed as one stack. With at least six groups, the rate at which
samples recur is estimated from all groups, which makes intervals narrower; see `recurrence_prior`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import PSD, EigenvalueTolerance
from ..core.score import compute_hill_numbers
from ..measures.stacked_groups import MAX_STACKED_SIZE
from ..similarity.base import Similarity
from ..spectral.leave_one_out import compute_log_score
from ..spectral.spectrum import Spectrum
from ..spectral.stacked_spectra import MIN_WEIGHT, StackedSpectra
from ..spectral.vendi_scores import compute_spectrum
from ..support.namespace import row_blocks, to_host
from .jackknife import JackknifeEstimate, jackknife, jackknife_from_leave_one_out
from .recurrence_intervals import (
    compute_log_score_interval,
    count_recurrences,
    count_recurrences_stacked,
    has_many_similar_pairs,
    make_log_deficit,
)
from .recurrence_prior import MIN_GROUPS, estimate_upper_pair_counts, fit_recurrence_prior
from .subsampling import MIN_SAMPLES, t_critical_value


class Tails(NamedTuple):
    """The confidence level of an interval, and whether its tails are conservative.

    Conservative tails each have a probability of at most (1 − level)/2. Otherwise only both tails
    together have a probability of about 1 − level.
    """

    level: float
    conservative: bool = False


@dataclass(frozen=True)
class GroupIntervals:
    """Scores of groups with standard errors and interval limits, each of shape (orders, groups).

    Errors and limits are NaN for groups with fewer than four samples, and if order 0 is requested.
    `pooled` is the number of groups from which the rate of recurrence was estimated, or 0 if each
    interval is computed only from its own group.
    """

    score: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pooled: int = 0


class LogScores(NamedTuple):
    """log VS of groups, its standard error and interval limits, each of shape (orders, groups).

    Three further attributes are used to estimate the rate of recurrence from all groups:

    - `lower_distance`, shape (orders, groups): distance from log VS to the lower limit of the
      jackknife
    - `drop_per_copy`, shape (orders, groups): decrease of log VS if a sample becomes a copy of
      another one; NaN for groups with near-copies
    - `recurring_pairs`, shape (groups,): number of pairs of copies or near-copies

    For groups without an interval, all attributes except `log` are NaN. The three further
    attributes are also NaN for groups that are too large for stacking.
    """

    log: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lower_distance: np.ndarray
    drop_per_copy: np.ndarray
    recurring_pairs: np.ndarray


def estimate_group_intervals(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    level: float,
    psd: PSD = "check",
    pool_repeats: bool = True,
    conservative_tails: bool = False,
) -> GroupIntervals:
    """Estimate a confidence interval of VS_q for each group.

    `groups` holds the indices of the samples of each group. With `conservative_tails`, the
    probability of each tail is at most (1 − level)/2, as required for intervals of differences.
    With `pool_repeats`, the rate of recurrence is estimated from all groups if there are enough.
    """
    tails = [Tails(level, conservative_tails)]
    return estimate_several_intervals(similarity, groups, orders, tails, psd, pool_repeats)[0]


def estimate_several_intervals(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD = "check",
    pool_repeats: bool = True,
) -> list[GroupIntervals]:
    """Estimate intervals as `estimate_group_intervals`, for several levels and types of tails."""
    sizes = np.array(list(map(len, groups)), dtype=int)
    results = []
    scores_by_tails = _estimate_for_tails(similarity, groups, orders, tails, psd)
    for (level, conservative_tails), scores in zip(tails, scores_by_tails, strict=True):
        n_pooled = 0
        if pool_repeats:
            n_pooled = int(np.isfinite(scores.recurring_pairs).sum())
            if n_pooled >= MIN_GROUPS:
                scores = scores._replace(
                    low=pool_lower_limits(scores, sizes, level, conservative_tails)
                )
            else:
                n_pooled = 0
        score = np.exp(scores.log)
        low = np.minimum(score, np.exp(scores.low))
        high = np.maximum(score, np.exp(scores.high))
        results.append(GroupIntervals(score, score * scores.error, low, high, n_pooled))
    return results


def pool_lower_limits(
    scores: LogScores, sizes: np.ndarray, level: float, conservative_tails: bool = False
) -> np.ndarray:
    """Return lower limits of log VS, (orders, groups), using the rate of recurrence in all groups.

    The limits are never below those computed from each group separately. The distance of the
    jackknife and the distance due to unobserved pairs are added in quadrature.
    """
    low = scores.low.copy()
    pooled = np.flatnonzero(np.isfinite(scores.recurring_pairs))
    pairs = scores.recurring_pairs[pooled]
    prior = fit_recurrence_prior(pairs, sizes[pooled], conservative_tails)
    upper = estimate_upper_pair_counts(prior, pairs, sizes[pooled], level)
    unobserved = np.maximum(0.0, upper - pairs)
    distance = np.hypot(
        scores.lower_distance[:, pooled], scores.drop_per_copy[:, pooled] * unobserved
    )
    low[:, pooled] = np.fmax(low[:, pooled], scores.log[:, pooled] - distance)
    return low


def estimate_log_scores(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    level: float,
    psd: PSD = "check",
    conservative_tails: bool = False,
) -> LogScores:
    """Estimate log VS_q of each group, with a confidence interval from only this group."""
    tails = [Tails(level, conservative_tails)]
    return _estimate_for_tails(similarity, groups, orders, tails, psd)[0]


def _estimate_for_tails(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD,
) -> list[LogScores]:
    """Return the log VS_q of all groups for each of `tails`, from the same spectra."""
    sizes = np.array(list(map(len, groups)), dtype=int)
    empty = _log_scores_without_intervals(np.full((len(orders), len(groups)), np.nan))
    results = [LogScores(*map(np.copy, empty)) for _ in tails]
    blocks = _estimate_by_size(similarity, groups, sizes, orders, tails, psd)
    for group_indices, block_results in blocks:
        for scores, block_scores in zip(results, block_results, strict=True):
            for array, values in zip(scores, block_scores, strict=True):
                array[..., group_indices] = values
    return results


def _estimate_by_size(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    sizes: np.ndarray,
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD,
) -> Iterable[tuple[np.ndarray, list[LogScores]]]:
    """Iterate over blocks of groups of equal size.

    Yield the indices of the groups of a block, and their scores for each of `tails`. A group that
    stacking cannot handle is yielded again on its own, which replaces its scores.
    """
    for n in np.unique(sizes).tolist():
        groups_of_size = np.flatnonzero(sizes == n)
        single_groups = groups_of_size
        has_intervals = n >= MIN_SAMPLES and 0 not in orders
        if n <= MAX_STACKED_SIZE:
            unusual_groups = []
            for rows in row_blocks(len(groups_of_size), 8 * n * n):
                block = groups_of_size[rows]
                K = to_host(similarity.stack(np.array([groups[i] for i in block])))
                spectra = StackedSpectra(K, None, orders, psd, has_intervals, similarity)
                unusual_groups.append(block[spectra.unusual])
                results = [_log_scores_without_intervals(np.log(spectra.values))] * len(tails)
                if has_intervals:
                    results = _estimate_stack(K, spectra, similarity, orders, tails)
                yield block, results
            single_groups = np.concatenate(unusual_groups)
        for i in single_groups.tolist():
            subset = similarity.take(groups[i])
            spectrum = compute_spectrum(subset, psd=psd, vectors=True)
            logs = np.array([[compute_log_score(spectrum, q)] for q in orders])
            results = [_log_scores_without_intervals(logs)] * len(tails)
            if has_intervals:
                results = _estimate_group(subset, spectrum, orders, tails)
            yield np.array([i]), results


def _log_scores_without_intervals(logs: np.ndarray) -> LogScores:
    """Return LogScores with these log VS, (orders, groups), and NaN for all other attributes."""
    none = np.full_like(logs, np.nan)
    return LogScores(logs, none, none, none, none, none, none[0])


def _estimate_group(
    similarity: Similarity, spectrum: Spectrum, orders: Sequence[float], tails: Sequence[Tails]
) -> list[LogScores]:
    """Return the log VS and interval of a single group, for each of `tails`."""
    n = similarity.n
    recurrences = count_recurrences(similarity)
    estimates = [jackknife(spectrum, q) for q in orders]
    results = []
    for level, conservative_tails in tails:
        if recurrences is not None:
            recurrences = recurrences._replace(conservative_tails=conservative_tails)
        rows = [
            (x.log_score, x.error, *compute_log_score_interval(x, n, q, level, recurrences))
            for x, q in zip(estimates, orders, strict=True)
        ]
        log, error, low, high = np.array(rows).T[:, :, None]
        results.append(_log_scores_without_intervals(log)._replace(error=error, low=low, high=high))
    return results


def _estimate_stack(
    K: np.ndarray,
    spectra: StackedSpectra,
    similarity: Similarity,
    orders: Sequence[float],
    tails: Sequence[Tails],
) -> list[LogScores]:
    """Return the log VS and intervals of g groups of equal size n, for each of `tails`.

    K, shape (g, n, n), contains the similarities within each group.
    """
    n = K.shape[1]
    recurrences_with_first = count_recurrences_stacked(K, similarity.roundoff)
    equal_pairs = np.array([recurrences.equal_pairs for recurrences, _ in recurrences_with_first])
    recurring_pairs = np.array(
        [
            (recurrences.merged or recurrences).equal_pairs
            for recurrences, _ in recurrences_with_first
        ]
    )
    logs = np.log(spectra.values)
    leave_one_out_logs = np.array([spectra.log_scores_leaving_each_out(q) for q in orders])
    estimate = jackknife_from_leave_one_out(logs, leave_one_out_logs)
    errors = np.asarray(estimate.error)
    spreads = np.asarray(estimate.log_deficit_error)
    gains = np.asarray(estimate.mean_drop)
    # If many pairs contribute to the deficit, the jackknife is valid for log(log n − log VS).
    use_log_deficit = (equal_pairs == 0) & has_many_similar_pairs(K) & np.isfinite(spreads)
    drop_per_copy = estimate_drop_by_copy(spectra.K, logs, leave_one_out_logs, orders, equal_pairs)
    drop_per_copy[
        :, [recurrences.merged is not None for recurrences, _ in recurrences_with_first]
    ] = np.nan
    results = []
    for level, conservative_tails in tails:
        group_repeats = [
            recurrences._replace(conservative_tails=conservative_tails)
            for recurrences, _ in recurrences_with_first
        ]
        # Proportions of items are passed as weights of the first sample of each item, so scores
        # for the extreme proportions of all groups are computed at once.
        proportions = [
            recurrences.compute_extreme_proportions(level) for recurrences in group_repeats
        ]
        weights = np.zeros((2, *K.shape[:2]))
        for i, (_, first) in enumerate(recurrences_with_first):
            weights[:, i, first] = proportions[i]
        weights[weights < MIN_WEIGHT] = 0.0
        extreme_scores = [
            StackedSpectra(K, w, orders, "clip", similarity=similarity).values for w in weights
        ]
        limits = np.empty((2, *logs.shape))
        for k, q in enumerate(orders):
            for i, recurrences in enumerate(group_repeats):
                group_estimate = JackknifeEstimate(
                    logs[k, i], errors[k, i], math.inf, n, gains[k, i]
                )
                cached_scores = [
                    (recurrences.K, w, float(extreme_scores[j][k][i]))
                    for j, w in enumerate(proportions[i])
                ]
                limits[:, k, i] = compute_log_score_interval(
                    group_estimate, n, q, level, recurrences, make_log_deficit(q, cached_scores)
                )
        critical_value = t_critical_value(level, n)
        log_deficit_distance = np.expm1(np.minimum(critical_value * spreads, 700.0))
        log_deficit_distance = (math.log(n) - logs) * log_deficit_distance
        distance = np.where(use_log_deficit, log_deficit_distance, critical_value * errors)
        low, high = limits
        results.append(LogScores(logs, errors, low, high, distance, drop_per_copy, recurring_pairs))
    return results


def estimate_drop_by_copy(
    A: np.ndarray,
    logs: np.ndarray,
    leave_one_out_logs: np.ndarray,
    orders: Sequence[float],
    equal_pairs: np.ndarray,
) -> np.ndarray:
    """Estimate the decrease of log VS if a sample becomes a copy of another one, (orders, g).

    The result is the mean over all pairs of samples (i, j) that are not equal, without a
    decomposition for each pair. Let A = K/n = Σ x_i x_iᵀ/n and S_q(A) = Σ λ^q. If sample i becomes
    a copy of sample j, x_j x_jᵀ/n is added to A and x_i x_iᵀ/n is removed. The changes of S_q by
    each of these two steps are computed for each sample. Their interaction has the mean
    −q(q − 1)/n² S_q to second order, because the mean of x_i x_iᵀ/n is A/n.

    Parameters
    ----------
    A : array of shape (g, n, n)
        Similarities divided by n, with trace 1.
    logs : array of shape (orders, g)
        log VS_q.
    leave_one_out_logs : array of shape (orders, g, n)
        log VS_q without each sample.
    orders : sequence of float
        The orders q.
    equal_pairs : array of shape (g,)
        Number of pairs of equal samples.
    """
    g, n, _ = A.shape
    twice = np.eye(n) * (math.sqrt(2) - 1) + 1
    with_copies = np.empty((len(orders), g, n))
    tolerance = EigenvalueTolerance(n)
    for rows in row_blocks(g, 8 * n**3):
        B = A[rows, None] * (twice[:, :, None] * twice[:, None, :] * n / (n + 1))
        values, _ = compute_hill_numbers(B.reshape(-1, n, n), orders, tolerance, "clip")
        with_copies[:, rows] = np.log(values).reshape(len(orders), -1, n)
    drops = np.empty_like(logs)
    for k, q in enumerate(orders):
        total = _power_sum(logs[k], 1.0, q)
        more = _power_sum(with_copies[k], 1 + 1 / n, q).mean(axis=-1)
        less = _power_sum(leave_one_out_logs[k], 1 - 1 / n, q).mean(axis=-1)
        moved = more + less - total
        if q == 1:
            drops[k] = total - moved - 1 / n**2
        elif math.isinf(q):
            drops[k] = np.log(moved / total)
        else:
            drops[k] = np.log(moved / total - q * (q - 1) / n**2) / (q - 1)
    pairs = n * n - n - 2 * equal_pairs
    return np.maximum(0.0, drops) * n * n / np.maximum(pairs, 1)


def _power_sum(log_score: np.ndarray, trace: float, q: float) -> np.ndarray:
    """Return Σ λ^q for eigenvalues with this sum; −Σ λ log λ at q = 1, the largest at q = ∞."""
    if q == 1:
        return trace * (log_score - math.log(trace))
    if math.isinf(q):
        return trace * np.exp(-log_score)
    return trace**q * np.exp((1 - q) * log_score)
