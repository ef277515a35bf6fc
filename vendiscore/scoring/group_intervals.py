"""Confidence intervals of the Vendi Score for each of many groups, such as answers per prompt.

Small groups of equal size are computed together, as one array ("stack"). A sample recurs if a
further draw from the population can return it again. With at least six groups, the rate of
recurrence is estimated from all groups, by the module `recurrence_prior`, which makes intervals
narrower than those from single groups.

In this module, VS_q is the Vendi Score of order q, and K are the similarities within a group.
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
    RecurrenceCounts,
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

    The two tails are the events that the true value lies below, and that it lies above the
    interval. Conservative tails each have a probability of at most (1 − level)/2. Otherwise only
    both tails together have a probability of about 1 − level.
    """

    level: float
    conservative: bool = False


@dataclass(frozen=True)
class GroupIntervals:
    """Scores of groups with standard errors and interval limits, each of shape (orders, groups).

    `score` is VS_q of each group, `se` its standard error, and `low` and `high` are the limits of
    its confidence interval. Errors and limits are NaN for groups with fewer than four samples, and
    if order 0 is requested. `n_pooled` is the number of groups from which a common rate of
    recurrence was estimated, or 0 if each interval is computed only from its own group.
    """

    score: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_pooled: int = 0


class LogScores(NamedTuple):
    """log VS of groups (`log`), its standard error (`error`) and interval limits (`low`, `high`).

    These four attributes have shape (orders, groups). Three further attributes are used by
    `pool_lower_limits`, which computes lower limits from the recurrences in all groups:

    - `lower_distance`, shape (orders, groups): distance from log VS to the lower limit of the
      interval that the jackknife gives if samples do not recur
    - `drop_per_copy`, shape (orders, groups): decrease of log VS if one sample is replaced by a
      copy of another sample; NaN for groups with near-copies
    - `recurring_pairs`, shape (groups,): number of pairs of samples that are copies or near-copies
      of each other

    For groups without an interval, all attributes except `log` are NaN. The three further
    attributes are also NaN for groups that are too large to be stacked in one array.
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
    """Estimate a confidence interval of the Vendi Score VS_q for each group and order.

    `groups` contains the indices of the samples of each group in `similarity`. With
    `conservative_tails`, the probability of each tail is at most (1 − level)/2, as required for
    intervals of differences. With `pool_repeats`, the rate at which samples recur is estimated from
    all groups if there are at least `MIN_GROUPS`.
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
    """Estimate confidence intervals of VS_q of each group, for several levels and types of tails.

    Return a GroupIntervals for each element of `tails`. `groups` contains the indices of the
    samples of each group in `similarity`. With `pool_repeats`, the rate at which samples recur is
    estimated from all groups if there are at least `MIN_GROUPS`.
    """
    sizes = np.array(list(map(len, groups)), dtype=int)
    results = []
    scores_by_tails = _estimate_for_tails(similarity, groups, orders, tails, psd)
    for (level, conservative_tails), scores in zip(tails, scores_by_tails, strict=True):
        # The number of groups whose recurring pairs were counted; others have the value NaN.
        n_pooled = int(np.isfinite(scores.recurring_pairs).sum()) if pool_repeats else 0
        if n_pooled >= MIN_GROUPS:
            low = pool_lower_limits(scores, sizes, level, conservative_tails)
            scores = scores._replace(low=low)
        else:
            n_pooled = 0
        # Convert log VS, its standard error and its limits to those of VS.
        score = np.exp(scores.log)
        low = np.minimum(score, np.exp(scores.low))
        high = np.maximum(score, np.exp(scores.high))
        results.append(GroupIntervals(score, score * scores.error, low, high, n_pooled))
    return results


def pool_lower_limits(
    scores: LogScores, sizes: np.ndarray, level: float, conservative_tails: bool = False
) -> np.ndarray:
    """Return lower limits of log VS, (orders, groups), using the rate of recurrence in all groups.

    `scores` contains the limits computed from each group separately, and `sizes` the number of
    samples of each group. The returned limits are never below the limits in `scores`.

    The distance from log VS to its lower limit combines two distances in quadrature:
    `scores.lower_distance`, from the jackknife; and the decrease of log VS if the group had as many
    pairs of copies as the rate of recurrence allows, instead of the observed number.
    """
    low = scores.low.copy()
    pooled_groups = np.flatnonzero(np.isfinite(scores.recurring_pairs))
    pairs = scores.recurring_pairs[pooled_groups]
    pooled_sizes = sizes[pooled_groups]
    prior = fit_recurrence_prior(pairs, pooled_sizes, conservative_tails)
    max_pairs = estimate_upper_pair_counts(prior, pairs, pooled_sizes, level)
    unobserved_pairs = np.maximum(0.0, max_pairs - pairs)
    distance = np.hypot(
        scores.lower_distance[:, pooled_groups],
        scores.drop_per_copy[:, pooled_groups] * unobserved_pairs,
    )
    # fmax ignores the NaN of groups with near-copies, which have no `drop_per_copy`.
    low[:, pooled_groups] = np.fmax(low[:, pooled_groups], scores.log[:, pooled_groups] - distance)
    return low


def estimate_log_scores(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    level: float,
    psd: PSD = "check",
    conservative_tails: bool = False,
) -> LogScores:
    """Estimate log VS_q of each group, with a confidence interval from only this group.

    `groups` contains the indices of the samples of each group in `similarity`. With
    `conservative_tails`, the probability of each tail is at most (1 − level)/2.
    """
    tails = [Tails(level, conservative_tails)]
    return _estimate_for_tails(similarity, groups, orders, tails, psd)[0]


def _estimate_for_tails(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD,
) -> list[LogScores]:
    """Estimate log VS and an interval of it for all groups, once for each element of `tails`.

    An element of `tails` is the confidence level and the type of tails of one requested interval.
    Return one LogScores for each element. The spectra of the groups are computed only once.
    `groups` contains the indices of the samples of each group in `similarity`.
    """
    sizes = np.array(list(map(len, groups)), dtype=int)
    all_nan = _log_scores_without_intervals(np.full((len(orders), len(groups)), np.nan))
    results = [LogScores(*map(np.copy, all_nan)) for _ in tails]
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
    """Yield blocks of groups of equal size: the indices of the groups, and their LogScores.

    Each element of `tails` is the confidence level and the type of tails of one requested interval;
    there is one LogScores for each element. `groups` contains the indices of the samples of each
    group in `similarity`, and `sizes` the numbers of these samples. The small groups of a block are
    computed together as a StackedSpectra, and each large group is a block of its own. A small group
    that a StackedSpectra cannot handle, for example because it has negative eigenvalues, is yielded
    a second time as a block of its own. The caller must then replace the values that were yielded
    first.
    """
    for n in np.unique(sizes).tolist():
        groups_of_size = np.flatnonzero(sizes == n)
        single_groups = groups_of_size
        has_intervals = n >= MIN_SAMPLES and 0 not in orders
        if n <= MAX_STACKED_SIZE:
            unusual_groups = []
            for batch in row_blocks(len(groups_of_size), 8 * n * n):
                block = groups_of_size[batch]  # positions of these groups in `groups`
                K = to_host(similarity.stack(np.array([groups[i] for i in block])))
                spectra = StackedSpectra(
                    K, None, orders, psd, vectors=has_intervals, similarity=similarity
                )
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
    """Return LogScores of groups that have no interval: all attributes except `log` are NaN.

    `logs`, shape (orders, groups), contains log VS of each group.
    """
    nan = np.full_like(logs, np.nan)
    return LogScores(
        log=logs,
        error=nan,
        low=nan,
        high=nan,
        lower_distance=nan,
        drop_per_copy=nan,
        recurring_pairs=nan[0],
    )


def _estimate_group(
    similarity: Similarity, spectrum: Spectrum, orders: Sequence[float], tails: Sequence[Tails]
) -> list[LogScores]:
    """Estimate log VS of one group and an interval of it, once for each element of `tails`.

    An element of `tails` is the confidence level and the type of tails of one requested interval.
    Return one LogScores for each element. `similarity` and `spectrum` are those of the samples of
    the group.
    """
    n = similarity.n
    recurrences = count_recurrences(similarity)
    estimates = [jackknife(spectrum, q) for q in orders]
    results = []
    for level, conservative_tails in tails:
        if recurrences is not None:
            recurrences = recurrences._replace(conservative_tails=conservative_tails)
        rows = [
            (
                estimate.log_score,
                estimate.error,
                *compute_log_score_interval(estimate, n, q, level, recurrences),
            )
            for estimate, q in zip(estimates, orders, strict=True)
        ]
        log, error, low, high = np.array(rows).T[:, :, None]  # each of shape (orders, 1)
        results.append(_log_scores_without_intervals(log)._replace(error=error, low=low, high=high))
    return results


def _estimate_stack(
    K: np.ndarray,
    spectra: StackedSpectra,
    similarity: Similarity,
    orders: Sequence[float],
    tails: Sequence[Tails],
) -> list[LogScores]:
    """Estimate log VS of g groups of n samples, and intervals, once for each element of `tails`.

    An element of `tails` is the confidence level and the type of tails of one requested interval.
    Return one LogScores for each element. K, shape (g, n, n), contains the similarities within each
    group, and `spectra` the spectra of these matrices. `similarity` is that of all samples, which
    determines the rounding errors of K.
    """
    n = K.shape[1]
    counted = count_recurrences_stacked(K, similarity.roundoff)
    all_recurrences = [recurrences for recurrences, _ in counted]  # one RecurrenceCounts per group
    first_indices = [indices for _, indices in counted]  # of the first sample of each distinct item
    equal_pairs = np.array([recurrences.equal_pairs for recurrences in all_recurrences])
    recurring_pairs = np.array(
        [(recurrences.merged or recurrences).equal_pairs for recurrences in all_recurrences]
    )
    has_near_copies = [recurrences.merged is not None for recurrences in all_recurrences]
    logs = np.log(spectra.values)
    leave_one_out_logs = np.array([spectra.log_scores_leaving_each_out(q) for q in orders])
    estimate = jackknife_from_leave_one_out(logs, leave_one_out_logs)
    errors = np.asarray(estimate.error)
    log_deficit_errors = np.asarray(estimate.log_deficit_error)
    # If many pairs contribute to the deficit, the jackknife is valid for log(log n − log VS).
    use_log_deficit = (
        (equal_pairs == 0) & has_many_similar_pairs(K) & np.isfinite(log_deficit_errors)
    )
    drop_per_copy = estimate_drop_by_copy(spectra.K, logs, leave_one_out_logs, orders, equal_pairs)
    drop_per_copy[:, has_near_copies] = np.nan
    results = []
    for level, conservative_tails in tails:
        low, high = _compute_stack_limits(
            K,
            estimate,
            similarity,
            orders,
            level,
            [
                recurrences._replace(conservative_tails=conservative_tails)
                for recurrences in all_recurrences
            ],
            first_indices,
        )
        critical_value = t_critical_value(level, n)
        # The deficit is multiplied by the exponential of the half-width of its logarithm; a larger
        # half-width would overflow.
        relative_distance = np.expm1(np.minimum(critical_value * log_deficit_errors, 700.0))
        lower_distance = np.where(
            use_log_deficit, (math.log(n) - logs) * relative_distance, critical_value * errors
        )
        results.append(
            LogScores(logs, errors, low, high, lower_distance, drop_per_copy, recurring_pairs)
        )
    return results


def _compute_stack_limits(
    K: np.ndarray,
    estimate: JackknifeEstimate,
    similarity: Similarity,
    orders: Sequence[float],
    level: float,
    all_recurrences: Sequence[RecurrenceCounts],
    first_indices: Sequence[np.ndarray],
) -> np.ndarray:
    """Return the limits of the intervals of log VS of g groups of n samples, shape (2, orders, g).

    K, shape (g, n, n), contains the similarities within each group; `estimate` log VS and its
    jackknife errors; and `all_recurrences` the RecurrenceCounts of each group.

    The intervals are those of `compute_log_score_interval`. For each group, it needs VS_q for two
    extreme distributions of its distinct items: with the fewest and with the most recurrences that
    its samples allow. These scores are computed here for all groups at once, as weighted scores of
    the samples: the first sample of each item has the proportion of the item as its weight, and
    other samples have weight 0. `first_indices` contains the indices of these first samples within
    each group.
    """
    n = K.shape[1]
    proportions = [
        recurrences.compute_extreme_proportions(level) for recurrences in all_recurrences
    ]
    weights = np.zeros((2, *K.shape[:2]))  # for both extremes
    for i, indices in enumerate(first_indices):
        weights[:, i, indices] = proportions[i]
    weights[weights < MIN_WEIGHT] = 0.0
    extreme_scores = [
        StackedSpectra(K, w, orders, psd="clip", similarity=similarity).values for w in weights
    ]
    logs, errors, mean_drops = map(
        np.asarray, (estimate.log_score, estimate.error, estimate.mean_drop)
    )
    limits = np.empty((2, *logs.shape))
    for k, q in enumerate(orders):
        for i, recurrences in enumerate(all_recurrences):
            group_estimate = JackknifeEstimate(
                logs[k, i], errors[k, i], n_units=n, mean_drop=mean_drops[k, i]
            )
            cached_scores = [
                (recurrences.K, w, float(extreme_scores[j][k][i]))
                for j, w in enumerate(proportions[i])
            ]
            limits[:, k, i] = compute_log_score_interval(
                group_estimate, n, q, level, recurrences, make_log_deficit(q, cached_scores)
            )
    return limits


def estimate_drop_by_copy(
    A: np.ndarray,
    logs: np.ndarray,
    leave_one_out_logs: np.ndarray,
    orders: Sequence[float],
    equal_pairs: np.ndarray,
) -> np.ndarray:
    """Estimate the decrease of log VS if a sample becomes a copy of another one, (orders, g).

    There are g groups of n samples. The result is the mean over all pairs (i, j) of samples of a
    group that are not equal, computed without an eigendecomposition for each pair. Let x_i be the
    feature vectors of the samples, whose dot products are the similarities K. The matrix
    C = Σ x_i x_iᵀ/n has the same positive eigenvalues λ as A = K/n; let S_q = Σ λ^q. If sample i
    becomes a copy of sample j, x_j x_jᵀ/n is added to C and x_i x_iᵀ/n is removed. The change of
    S_q by each of these two steps alone is computed for each sample. Both steps together change S_q
    by the sum of these changes plus an interaction. To second order, the mean interaction over all
    pairs is −q(q − 1)/n² S_q, because the mean of x_i x_iᵀ/n is C/n.

    Parameters
    ----------
    A : array of shape (g, n, n)
        Similarities within each group divided by n, with trace 1.
    logs : array of shape (orders, g)
        log VS_q of each group.
    leave_one_out_logs : array of shape (orders, g, n)
        log VS_q of the remaining samples of the group after leaving out each sample.
    orders : sequence of float
        The orders q.
    equal_pairs : array of shape (g,)
        Number of pairs of equal samples in each group.
    """
    g, n, _ = A.shape
    # log VS if sample i occurs twice, for each i: row and column i of K are multiplied by √2.
    root_counts = np.eye(n) * (math.sqrt(2) - 1) + 1
    logs_with_copy = np.empty((len(orders), g, n))
    tolerance = EigenvalueTolerance(n)
    for batch in row_blocks(g, 8 * n**3):
        B = A[batch, None] * (root_counts[:, :, None] * root_counts[:, None, :] * n / (n + 1))
        values, _ = compute_hill_numbers(B.reshape(-1, n, n), orders, tolerance, "clip")
        logs_with_copy[:, batch] = np.log(values).reshape(len(orders), -1, n)
    drops = np.empty_like(logs)
    # The trace, which is 1, increases to 1 + 1/n with a copy, and decreases to 1 − 1/n without a
    # sample. `sum_after_both` is S_q after both steps, without their interaction.
    for k, q in enumerate(orders):
        power_sum = _compute_power_sum(logs[k], 1.0, q)
        sum_with_copy = _compute_power_sum(logs_with_copy[k], 1 + 1 / n, q).mean(axis=-1)
        sum_without_one = _compute_power_sum(leave_one_out_logs[k], 1 - 1 / n, q).mean(axis=-1)
        sum_after_both = sum_with_copy + sum_without_one - power_sum
        if q == 1:  # log VS is the sum −Σ λ log λ, and its interaction is 1/n²
            drops[k] = power_sum - sum_after_both - 1 / n**2
        elif math.isinf(q):  # log VS = −log of the largest eigenvalue; its interaction is neglected
            drops[k] = np.log(sum_after_both / power_sum)
        else:  # log VS_q = log S_q / (1 − q)
            drops[k] = np.log(sum_after_both / power_sum - q * (q - 1) / n**2) / (q - 1)
    # The mean so far is over all n² ordered pairs (i, j). If i = j or both are equal, log VS does
    # not decrease, so the mean over the other pairs is larger.
    n_different_pairs = n * n - n - 2 * equal_pairs
    return np.maximum(0.0, drops) * n * n / np.maximum(n_different_pairs, 1)


def _compute_power_sum(log_score: np.ndarray, trace: float, q: float) -> np.ndarray:
    """Return Σ λ^q from log VS_q; −Σ λ log λ at q = 1, and the largest λ at q = ∞.

    λ are eigenvalues with the sum `trace`. `log_score` is log VS_q of the normalized eigenvalues
    λ / trace.
    """
    if q == 1:
        return trace * (log_score - math.log(trace))
    if math.isinf(q):
        return trace * np.exp(-log_score)
    return trace**q * np.exp((1 - q) * log_score)
