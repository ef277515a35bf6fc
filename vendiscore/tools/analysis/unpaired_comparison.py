"""Comparison of sets without groups, at a common sample size m.

The n samples of a set are in random order; a window is a run of m consecutive samples.
"""

import math
from collections.abc import Callable, Generator, Sequence
from functools import partial
from operator import add
from typing import TypeAlias

import numpy as np

from ...scoring.jackknife import JackknifeEstimate, influence, influence_error, jackknife
from ...scoring.recurrence_intervals import (
    RecurrenceCounts,
    compute_log_score_interval,
    count_recurrences,
)
from ...scoring.subsampling import half_sampling_error, t_critical_value
from ...similarity.base import Similarity
from ...similarity.group_indices import group_indices
from ...similarity.matrix import materialize_matrix
from ...spectral.leave_one_out import compute_log_score
from ...spectral.spectrum import Spectrum
from ...spectral.stacked_spectra import StackedSpectra
from ...spectral.vendi_scores import compute_spectrum
from ...support.namespace import row_blocks, to_host
from ...support.progress import map_steps
from .compare_options import CompareOptions
from .comparison import PairRow, SetRow
from .detectable import estimate_unpaired_detectable
from .pair_inference import (
    PERMUTATION_BATCH,
    Interval,
    difference_level,
    estimate_difference,
    estimate_ratio,
    extreme_threshold,
    permutation_test_steps,
    ratio_level,
    refine_near_threshold,
    studentized_difference,
)

MAX_WINDOWS = 4  # further samples are not used
# Maximum default of the common sample size. The time of a permutation is proportional to its cube.
MAX_DEFAULT_SIZE = 200
MAX_STACKED_SIZE = 48  # maximum number of samples in sets whose spectra are computed as one stack
_NUM_HALVINGS = 10  # number of random splits into two halves, for standard errors at order 0

# Values of log VS, and their standard errors.
LogScores: TypeAlias = tuple[np.ndarray, np.ndarray]
# Maps orders of the n samples of two sets, shape (count, n), to test statistics, shape (count,).
StatisticFunction: TypeAlias = Callable[[np.ndarray], np.ndarray]
# Jackknife estimate of log VS and counts of recurring samples, from which intervals are computed.
LogScoreEstimate: TypeAlias = tuple[JackknifeEstimate, RecurrenceCounts | None]


def unpaired_comparison_steps(
    similarity: Similarity,
    set_codes: np.ndarray,
    names: Sequence[str],
    set_pairs: Sequence[tuple[int, int]],
    options: CompareOptions,
) -> Generator[int, None, tuple[list[SetRow], list[PairRow]]]:
    """Compare sets at a common size; yield the number of permutations so far.

    Return one row per set and one per pair; p-values are not adjusted for the number of pairs yet.
    """
    rng = np.random.default_rng(options.seed)
    indices_by_set = group_indices(set_codes)
    size = _choose_size(min(map(len, indices_by_set)), options.size)
    subsets = [rng.permutation(indices)[: MAX_WINDOWS * size] for indices in indices_by_set]
    rows = []
    estimates = []
    for name, indices, subset in zip(names, indices_by_set, subsets, strict=True):
        n = len(indices)
        estimate = estimate_score(similarity.take(subset), size, options)
        matched_score = full_score = _summarize_score(estimate, size, options)
        if n > size or not options.q:  # errors of order 0 depend on the order of samples
            estimate_of_all = estimate_score(similarity.take(indices), n, options)
            full_score = _summarize_score(estimate_of_all, n, options)
        rows.append(SetRow(name, n, *full_score, size, *matched_score))
        estimates.append(_with_conservative_tails(estimate))
    level = difference_level(options.level, len(set_pairs))
    margin_level = ratio_level(options.level, len(set_pairs))
    intervals = [compute_interval(estimate, size, options.q, level) for estimate in estimates]
    margins = [compute_interval(estimate, size, options.q, margin_level) for estimate in estimates]
    p_floor = len(set_pairs) / (options.permutations + 1)
    pair_rows = []
    for k, (i, j) in enumerate(set_pairs):
        pooled = materialize_matrix(similarity.take(np.concatenate([subsets[i], subsets[j]])), size)
        steps = _permutation_steps(pooled, len(subsets[i]), size, options, rng)
        p, permutations = yield from map_steps(steps, partial(add, k * options.permutations))
        difference = estimate_difference(intervals[i], intervals[j])
        ratio = estimate_ratio(margins[i], margins[j])
        error = math.hypot(rows[i].matched_se, rows[j].matched_se)
        detectable = estimate_unpaired_detectable(*difference, error)
        values = (*difference, p, p, permutations, level, p_floor, *ratio, detectable)
        pair_rows.append(PairRow(names[i], names[j], *values))
    return rows, pair_rows


def _permutation_steps(
    similarity: Similarity, n_a: int, size: int, options: CompareOptions, rng: np.random.Generator
) -> Generator[int, None, tuple[float, int]]:
    """Test the difference of two sets by permutations of their labels.

    `similarity` contains the samples of both sets; the first `n_a` samples are set a. Yield the
    number of permutations so far, and return p and this number.
    """
    compute: StatisticFunction = partial(_compute_statistics, similarity, n_a, size, options)
    observed = float(compute(np.arange(similarity.n)[None])[0])
    batch = PERMUTATION_BATCH
    if options.q and size > MAX_STACKED_SIZE:
        slopes = influence(_decompose(similarity, options), options.q)
        approximate = partial(_approximate_statistics, slopes, n_a, size)
        compute = partial(_refine_statistics, approximate, compute, extreme_threshold(observed))
        batch = options.permutations
    draw = partial(_draw_statistics, compute, similarity.n, rng)
    return permutation_test_steps(observed, draw, options.permutations, options.level, batch)


def _choose_size(smallest: int, size: int | None) -> int:
    """Return the common sample size; raise if `size` exceeds the smallest set."""
    if size is None:
        return min(smallest, MAX_DEFAULT_SIZE)
    if size > smallest:
        raise ValueError(
            f"`size` must be at most {smallest}, the size of the smallest set, got {size}; remove "
            "that set to use a larger size"
        )
    return size


def window_slices(n: int, m: int) -> list[slice]:
    """Return up to four slices of length m that cover as many of n positions as possible."""
    count = min(MAX_WINDOWS, math.ceil(n / m))
    used = min(n, MAX_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(start, start + m) for start in starts.tolist()]


def window_weights(n: int, m: int) -> np.ndarray:
    """Return the weights of n samples in a mean over all windows of m samples, shape (n,)."""
    weights = np.zeros(n)
    windows = window_slices(n, m)
    for window in windows:
        weights[window] += 1 / (m * len(windows))
    return weights


def average_errors(errors: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return the standard error of a mean over the `window_slices` of n samples, shape (…).

    Each window contains m samples. `errors`, shape (windows, …), are the standard errors of single
    windows. Their root mean square is multiplied by √(m Σ c_i²), where c_i is the weight of
    sample i in the mean over windows (`window_weights`). With a single window, each weight in the
    window is 1/m, and the factor is 1.
    """
    weights = window_weights(n, m)
    return np.sqrt(m * float(weights @ weights) * np.mean(errors**2, axis=0))


def estimate_score(similarity: Similarity, size: int, options: CompareOptions) -> LogScoreEstimate:
    """Estimate log VS of `size` samples from a similarity of at least as many, in random order."""
    n = similarity.n
    q = options.q
    similarity = materialize_matrix(similarity, size)
    if not q:
        log, _ = _score_windows(similarity, np.arange(n), size, options)
        rng = np.random.default_rng(options.seed)
        half = min(n // 2, size)

        def score(indices: np.ndarray) -> np.ndarray:
            return score_subsets(similarity, indices, options)[0]

        error = half_sampling_error(n, score, half, _NUM_HALVINGS, rng)
        return JackknifeEstimate(float(log), float(error), n_units=n), None
    logs = []
    errors = []
    for window in window_slices(n, size):
        window_similarity = similarity.take(np.arange(n)[window])
        estimate = jackknife(_decompose(window_similarity, options), q)
        logs.append(float(estimate.log_score))
        errors.append((estimate.error, estimate.log_deficit_error, estimate.mean_drop))
    error, spread, mean_drop = average_errors(np.array(errors), n, size).tolist()
    repeats = count_recurrences(similarity.take(np.arange(size)), options.allow_repeats)
    return JackknifeEstimate(float(np.mean(logs)), error, spread, n, mean_drop), repeats


def compute_interval(estimate: LogScoreEstimate, size: int, q: float, level: float) -> Interval:
    """Return the score of `size` samples, and the lower and upper end of its interval."""
    score, repeats = estimate
    log = float(score.log_score)
    if q:
        ends = compute_log_score_interval(score, size, q, level, repeats)
    else:
        half_width = t_critical_value(level, score.n_units) * float(score.error)
        ends = max(0.0, log - half_width), min(math.log(size), log + half_width)
    value = math.exp(log)
    low, high = np.exp(ends).tolist()
    return value, min(low, value), max(high, value)


def _with_conservative_tails(estimate: LogScoreEstimate) -> LogScoreEstimate:
    """Return a copy with a conservative interval: no tail has a probability above (1 − level) / 2.

    Differences require this, because the direction of a verdict depends on one end of the interval.
    """
    score, repeats = estimate
    return score, None if repeats is None else repeats._replace(conservative_tails=True)


def _summarize_score(
    estimate: LogScoreEstimate, size: int, options: CompareOptions
) -> tuple[float, float, float, float]:
    """Return the score of `size` samples, its standard error, and the ends of its interval."""
    value, low, high = compute_interval(estimate, size, options.q, options.level)
    return value, value * float(estimate[0].error), low, high


def score_subsets(
    similarity: Similarity, indices: np.ndarray, options: CompareOptions
) -> LogScores:
    """Return log VS of subsets and its standard errors, two arrays of shape (…).

    `indices`, shape (…, m), are the sample indices of subsets of m samples. Errors come from the
    influence function, and are 0 at order 0.
    """
    q = options.q
    subsets = indices.reshape(-1, indices.shape[-1])
    count, m = subsets.shape
    logs, errors = np.zeros((2, count))
    is_unstacked = np.ones(count, dtype=bool)
    if q and m <= MAX_STACKED_SIZE:
        for rows in row_blocks(count, 16 * m * m):
            K = to_host(similarity.stack(subsets[rows]))
            spectra = StackedSpectra(K, None, [q], options.psd, vectors=True, similarity=similarity)
            logs[rows] = np.log(spectra.values[0])
            errors[rows] = np.linalg.norm(spectra.compute_influence(q), axis=1) / m
            is_unstacked[rows] = spectra.unusual  # such as invalid similarities
    for i in np.flatnonzero(is_unstacked):
        spectrum = _decompose(similarity.take(subsets[i]), options)
        logs[i] = compute_log_score(spectrum, q)
        if q:
            errors[i] = influence_error(spectrum, q)
    shape = indices.shape[:-1]
    return logs.reshape(shape), errors.reshape(shape)


def _decompose(similarity: Similarity, options: CompareOptions) -> Spectrum:
    return compute_spectrum(similarity, psd=options.psd, vectors=True)


def _score_windows(
    similarity: Similarity, permutations: np.ndarray, size: int, options: CompareOptions
) -> LogScores:
    """Return the mean of log VS over windows of `size` samples, and its standard error.

    `permutations`, shape (…, n), contains permuted indices of n samples. Both results have shape
    (…), one value per permutation.
    """
    n = permutations.shape[-1]
    indices = np.stack([permutations[..., window] for window in window_slices(n, size)])
    logs, errors = score_subsets(similarity, indices, options)
    return logs.mean(axis=0), average_errors(errors, n, size)


def _compute_statistics(
    similarity: Similarity, n_a: int, size: int, options: CompareOptions, permutations: np.ndarray
) -> np.ndarray:
    """Return the test statistics of permutations of the samples, shape (count,).

    `permutations`, shape (count, n), contains sample indices, of which the first `n_a` are set a
    and the others set b. `size` is the number of samples in a window.
    """
    halves = np.split(permutations, [n_a], axis=1)
    return _compare_scores(*(_score_windows(similarity, half, size, options) for half in halves))


def _approximate_statistics(
    slopes: np.ndarray, n_a: int, size: int, permutations: np.ndarray
) -> np.ndarray:
    """Approximate the test statistics of permutations of the samples, shape (count,).

    `permutations`, shape (count, n), contains sample indices, of which the first `n_a` are set a
    and the others set b. The approximation is linear in the sample weights: `slopes`, shape (n,),
    are the derivatives of log VS of the pooled samples with respect to these weights. `size` is the
    number of samples in a window.
    """
    scores = []
    for half in np.split(slopes[permutations], [n_a], axis=1):
        weights = window_weights(half.shape[1], size)
        scores.append((half @ weights, half.std(axis=1) * np.linalg.norm(weights)))
    return _compare_scores(*scores)


def _compare_scores(a: LogScores, b: LogScores) -> np.ndarray:
    """Divide differences of log VS of sets a and b by their standard errors."""
    return studentized_difference(a[0] - b[0], np.hypot(a[1], b[1]))


def _refine_statistics(
    approximate: StatisticFunction,
    compute: StatisticFunction,
    threshold: float,
    permutations: np.ndarray,
) -> np.ndarray:
    """Return the absolute test statistics of permutations of the samples, shape (count,).

    `permutations`, shape (count, n), contains sample indices. Statistics near the threshold are
    computed by `compute`, others by `approximate`.
    """
    return refine_near_threshold(
        np.abs(approximate(permutations)),
        lambda rows: np.abs(compute(permutations[rows])),
        threshold,
    )


def _draw_statistics(
    compute: StatisticFunction, n: int, rng: np.random.Generator, count: int
) -> np.ndarray:
    """Return the test statistics of `count` random permutations of n samples, shape (count,)."""
    sorted_indices = np.tile(np.arange(n), (count, 1))
    return compute(rng.permuted(sorted_indices, axis=1))
