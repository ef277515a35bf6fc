"""Intervals of the Vendi Score for each of many groups, such as the answers to each prompt.

Small groups of equal size are stacked. With at least six groups, the rate of repeated samples is
estimated from all groups together, which makes intervals narrower; see `recurrence_prior`.
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
    """The level of an interval; `conservative` limits each tail to (1 − level)/2."""

    level: float
    conservative: bool = False


@dataclass(frozen=True)
class GroupIntervals:
    """Scores of groups with standard errors and intervals, each of shape (orders, groups).

    Errors and intervals are NaN for groups with fewer than four samples and for order 0. `pooled`
    is the number of groups from which the rate of repeats was estimated; 0 if each group has its
    own interval.
    """

    score: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pooled: int = 0


class LogScores(NamedTuple):
    """log VS of groups, its standard error and interval, each of shape (orders, groups).

    Further attributes are used for pooling over groups:

    - `lower_distance`: distance from log VS to the lower end, by the jackknife only
    - `drop_per_copy`: decrease of log VS if a sample becomes a copy of another. NaN for groups with
      near-copies, which are excluded from pooling
    - `recurring_pairs` (groups,): number of pairs of copies or near-copies

    All except `log` are NaN for groups without an interval, and these three for groups that are not
    pooled.
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
    """Estimate an interval of VS_q for each group; `groups` holds the indices of their samples.

    With `conservative_tails`, neither tail of an interval exceeds (1 − level)/2, as required for
    intervals of differences.
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
    """Like `estimate_group_intervals`, for several kinds of tails at once."""
    sizes = np.array(list(map(len, groups)), dtype=int)
    results = []
    several = _estimate_for_tails(similarity, groups, orders, tails, psd)
    for (level, conservative_tails), scores in zip(tails, several, strict=True):
        pooled = 0
        if pool_repeats:
            pooled = int(np.isfinite(scores.recurring_pairs).sum())
            if pooled >= MIN_GROUPS:
                scores = scores._replace(
                    low=pool_lower_ends(scores, sizes, level, conservative_tails)
                )
            else:
                pooled = 0
        score = np.exp(scores.log)
        low = np.minimum(score, np.exp(scores.low))
        high = np.maximum(score, np.exp(scores.high))
        results.append(GroupIntervals(score, score * scores.error, low, high, pooled))
    return results


def pool_lower_ends(
    scores: LogScores, sizes: np.ndarray, level: float, conservative_tails: bool = False
) -> np.ndarray:
    """Return lower ends of log VS based on repeats in all groups; never below the separate ends.

    The distance of the jackknife and the distance due to unobserved pairs are added in quadrature.
    """
    low = scores.low.copy()
    some = np.flatnonzero(np.isfinite(scores.recurring_pairs))
    recurring = scores.recurring_pairs[some]
    prior = fit_recurrence_prior(recurring, sizes[some], conservative_tails)
    upper = estimate_upper_pair_counts(prior, recurring, sizes[some], level)
    unseen = np.maximum(0.0, upper - recurring)
    distance = np.hypot(scores.lower_distance[:, some], scores.drop_per_copy[:, some] * unseen)
    ends = scores.log[:, some] - distance
    low[:, some] = np.fmax(low[:, some], ends)
    return low


def estimate_log_scores(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    level: float,
    psd: PSD = "check",
    conservative_tails: bool = False,
) -> LogScores:
    """Estimate log VS_q of each group, with an interval based only on that group."""
    tails = [Tails(level, conservative_tails)]
    return _estimate_for_tails(similarity, groups, orders, tails, psd)[0]


def _estimate_for_tails(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD,
) -> list[LogScores]:
    """Estimate log VS_q with intervals for several kinds of tails, from the same spectra."""
    sizes = np.array(list(map(len, groups)), dtype=int)
    empty = _log_scores_without_intervals(np.full((len(orders), len(groups)), np.nan))
    results = [LogScores(*map(np.copy, empty)) for _ in tails]
    for some, several in _estimate_by_size(similarity, groups, sizes, orders, tails, psd):
        for scores, own in zip(results, several, strict=True):
            for every, values in zip(scores, own, strict=True):
                every[..., some] = values
    return results


def _estimate_by_size(
    similarity: Similarity,
    groups: Sequence[np.ndarray],
    sizes: np.ndarray,
    orders: Sequence[float],
    tails: Sequence[Tails],
    psd: PSD,
) -> Iterable[tuple[np.ndarray, list[LogScores]]]:
    """Yield the indices of groups of equal size, with their scores for each of `tails`."""
    for n in np.unique(sizes).tolist():
        of_size = np.flatnonzero(sizes == n)
        singly = of_size
        has_intervals = n >= MIN_SAMPLES and 0 not in orders
        if n <= MAX_STACKED_SIZE:
            parts = []
            for rows in row_blocks(len(of_size), 8 * n * n):
                some = of_size[rows]
                K = to_host(similarity.stack(np.array([groups[i] for i in some])))
                spectra = StackedSpectra(K, None, orders, psd, has_intervals, similarity)
                parts.append(some[spectra.unusual])
                several = [_log_scores_without_intervals(np.log(spectra.values))] * len(tails)
                if has_intervals:
                    several = _estimate_stack(K, spectra, similarity, orders, tails)
                yield some, several
            singly = np.concatenate(parts)
        for i in singly.tolist():
            part = similarity.take(groups[i])
            spectrum = compute_spectrum(part, psd=psd, vectors=True)
            logs = np.array([[compute_log_score(spectrum, q)] for q in orders])
            several = [_log_scores_without_intervals(logs)] * len(tails)
            if has_intervals:
                several = _estimate_group(part, spectrum, orders, tails)
            yield np.array([i]), several


def _log_scores_without_intervals(logs: np.ndarray) -> LogScores:
    """Return log VS (orders, groups) of groups without intervals."""
    none = np.full_like(logs, np.nan)
    return LogScores(logs, none, none, none, none, none, none[0])


def _estimate_group(
    similarity: Similarity, spectrum: Spectrum, orders: Sequence[float], tails: Sequence[Tails]
) -> list[LogScores]:
    """Estimate the scores of a single group, for each of `tails`."""
    n = similarity.n
    repeats = count_recurrences(similarity)
    found = [jackknife(spectrum, q) for q in orders]
    several = []
    for level, conservative_tails in tails:
        if repeats is not None:
            repeats = repeats._replace(conservative_tails=conservative_tails)
        ends = [
            compute_log_score_interval(x, n, q, level, repeats)
            for x, q in zip(found, orders, strict=True)
        ]
        columns = np.array([(x.log, x.error, *own) for x, own in zip(found, ends, strict=True)])
        log, error, low, high = columns.T[:, :, None]
        several.append(_log_scores_without_intervals(log)._replace(error=error, low=low, high=high))
    return several


def _estimate_stack(
    K: np.ndarray,
    spectra: StackedSpectra,
    similarity: Similarity,
    orders: Sequence[float],
    tails: Sequence[Tails],
) -> list[LogScores]:
    """Estimate the scores of groups of equal size from similarities (g, n, n) and spectra."""
    n = K.shape[1]
    kinds = count_recurrences_stacked(K, similarity.roundoff)
    equal_pairs = np.array([repeats.pairs for repeats, _ in kinds])
    recurring_pairs = np.array([(repeats.near or repeats).pairs for repeats, _ in kinds])
    logs = np.log(spectra.values)
    left = np.array([spectra.log_scores_leaving_each_out(q) for q in orders])
    found = jackknife_from_leave_one_out(logs, left)
    errors, spreads, gains = (np.asarray(x) for x in (found.error, found.spread, found.gain))
    # If many pairs contribute to the deficit, the jackknife is valid for log(log n − log VS).
    skewed = (equal_pairs == 0) & has_many_similar_pairs(K) & np.isfinite(spreads)
    drop = estimate_drop_by_copy(spectra.K, logs, left, orders, equal_pairs)
    drop[:, [repeats.near is not None for repeats, _ in kinds]] = np.nan
    several = []
    for level, conservative_tails in tails:
        every = [repeats._replace(conservative_tails=conservative_tails) for repeats, _ in kinds]
        # Proportions are weights of the first sample of each item, so all scores are computed at
        # once.
        shares = [repeats.compute_extreme_proportions(level) for repeats in every]
        weights = np.zeros((2, *K.shape[:2]))
        for i, (_, first) in enumerate(kinds):
            weights[:, i, first] = shares[i]
        weights[weights < MIN_WEIGHT] = 0.0
        moved = [
            StackedSpectra(K, w, orders, "clip", similarity=similarity).values for w in weights
        ]
        ends = np.empty((2, *logs.shape))
        for k, q in enumerate(orders):
            for i, repeats in enumerate(every):
                own = JackknifeEstimate(logs[k, i], errors[k, i], math.inf, n, gains[k, i])
                known = [(repeats.K, w, float(moved[j][k][i])) for j, w in enumerate(shares[i])]
                ends[:, k, i] = compute_log_score_interval(
                    own, n, q, level, repeats, make_log_deficit(q, known)
                )
        reach = t_critical_value(level, n)
        farther = (math.log(n) - logs) * np.expm1(np.minimum(reach * spreads, 700.0))
        distance = np.where(skewed, farther, reach * errors)
        low, high = ends
        several.append(LogScores(logs, errors, low, high, distance, drop, recurring_pairs))
    return several


def estimate_drop_by_copy(
    A: np.ndarray,
    logs: np.ndarray,
    leave_one_out_logs: np.ndarray,
    orders: Sequence[float],
    equal_pairs: np.ndarray,
) -> np.ndarray:
    """Estimate the decrease of log VS if a sample becomes a copy of another, (orders, groups).

    The result is the mean over all pairs of samples that are not yet equal, without a matrix per
    pair. S_q(A) = Σ λ^q of A = K/n = Σ x_i x_iᵀ/n changes by adding x_j x_jᵀ/n, by removing
    x_i x_iᵀ/n, and by the product of both changes. To second order, the mean of this product is
    −q(q − 1)/n² S_q, because the mean of x_i x_iᵀ/n is A/n. The first two are computed per sample.

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
