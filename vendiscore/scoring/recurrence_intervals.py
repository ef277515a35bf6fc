"""Confidence intervals of quantities that grow if samples recur, mainly the deficit log n − log VS.

The deficit of n samples is 0 if no two samples are similar. If nearly all samples differ, log VS is
close to its upper bound log n, so its sampling distribution is skewed. The logarithm of the deficit
has no bound and a nearly symmetric distribution. Student's interval is valid for this logarithm
from 4 samples on, unless the deficit is 0 or only a few pairs of samples contribute to it.

A sampled item may recur in the population even if no item recurs in a small sample. The intervals
allow for this, whether samples are texts, a similarity matrix or embeddings, unless the caller
states that samples are continuous measurements. The interval of the jackknife is widened as
follows. The proportion of the most common item has Jeffreys' interval (Brown, Cai & DasGupta,
Statistical Science 2001), and the number of equal pairs has Garwood's (Biometrika 1936). The
deficit is computed at the limits of these two intervals, and the interval of the deficit is
extended accordingly.

Near-copies are treated like copies: if pairs of samples are either much closer than all others or
clearly different, the result also includes the interval for merged near-copies.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from ..core.eigenvalues import EigenvalueTolerance
from ..core.score import compute_hill_numbers
from ..similarity.base import Similarity
from ..support.namespace import row_blocks, to_host
from .jackknife import NO_DEFICIT, JackknifeEstimate
from .near_copies import LARGEST_DISTANCE, find_near_copies, merge_near_copies
from .subsampling import t_critical_value

# With more distinct items than this, recurrences are not counted, because the jackknife is valid.
MAX_KINDS = 400
# An interval allows for unobserved items if at most this proportion of samples does not belong to
# common items. With a larger proportion, the samples already show how much other items contribute.
# Chosen by hand, then tested by benchmarks/few_samples.py, and benchmarks/difference_ends.py for
# differences.
_MAX_ODD_PROPORTION = 0.25
# Number of decimals to which similarities are rounded before items are ranked by them.
_RANKING_DECIMALS = 10
# Maximum deviation from 1 of the similarity of equal samples, in units of machine epsilon. Products
# of equal rows of 2 to 4096 columns in single precision deviate by at most 2
# (tests/metric/scoring/test_recurrence_intervals.py); 4 times this allows for other kernels. Half
# precision is treated as single precision: similarities of equal samples in a half-precision matrix
# are exactly 1, because 1 is representable.
_MAX_ROUNDING_ERRORS = 8
_FLOAT32_EPSILON = float(np.finfo(np.float32).eps)

# A function of similarities K (k, k) and proportions w (k,) of k distinct items, and of a number of
# samples n. It returns the deficit of n samples with these proportions.
DeficitFunction: TypeAlias = Callable[[np.ndarray, np.ndarray, int], float]


class RecurrenceCounts(NamedTuple):
    """How often each of k distinct items occurs among n samples.

    - `n`: number of samples
    - `pairs`: number of pairs of equal samples
    - `K`, shape (k, k): similarities of the distinct items
    - `counts`, shape (k,): number of samples equal to each item
    - `conservative_tails`: whether the interval of a proportion must limit the probability of each
      tail to (1 − level)/2
    - `near`: the counts after merging near-copies, or None if there are no near-copies
    """

    n: int
    pairs: float
    K: np.ndarray
    counts: np.ndarray
    conservative_tails: bool = False
    near: "RecurrenceCounts | None" = None

    @property
    def has_few_pairs(self) -> bool:
        """True if there are too few equal pairs for the jackknife: fewer than samples."""
        return self.pairs < self.n

    def compute_proportion_interval(
        self, level: float, count: int | None = None
    ) -> tuple[float, float]:
        """Return the interval of the proportion of an item that `count` of the n samples equal.

        By default, `count` is that of the most common item. Jeffreys' interval has the nominal
        coverage overall, but not in each tail. For example, if the true proportion equals the upper
        limit for one copy in 20 samples, 20 samples contain at most one copy in 5 % of cases
        instead of 2.5 %. With `conservative_tails`, the interval is Clopper and Pearson's
        (Biometrika 1934), in which each tail has a probability of at most (1 − level)/2.
        """
        successes = int(self.counts.max()) if count is None else count
        tails = np.array([1 - level, 1 + level]) / 2
        shapes = np.full(2, successes + 0.5)
        if self.conservative_tails:
            shapes = np.array([successes, successes + 1])
        # Both parameters of each beta distribution sum to n + 1.
        low, high = scipy.special.betaincinv(shapes, self.n + 1 - shapes, tails).tolist()
        return low, 1.0 if successes == self.n else high

    def find_central_kind(self) -> int:
        """Return the index of the most frequent item; in a tie, of the most similar to others."""
        central = self.counts + self.K @ self.counts / (2 * self.n)
        return int(np.argmax(central.round(_RANKING_DECIMALS)))

    def find_main_cluster(self) -> np.ndarray:
        """Return a mask (k,) of the items whose similarity to the central item is above 1/2."""
        central = self.find_central_kind()
        diagonal = self.K.diagonal()
        threshold: np.ndarray = (1 - LARGEST_DISTANCE) * np.sqrt(diagonal * diagonal[central])
        return self.K[central] > threshold

    def grow_commonest_kind(self, proportion: float) -> np.ndarray:
        """Return proportions (k,) in which the central item has this larger proportion.

        The proportions of the items most similar to the central item are reduced to make up for it.
        """
        central = self.find_central_kind()
        # Equal similarities may differ by rounding, which must not affect the order.
        order = np.lexsort((-self.counts, self.K[central].round(_RANKING_DECIMALS)))
        order = order[order != central]
        counts = self.counts[order] / self.n
        proportions = np.empty(len(self.counts))
        proportions[central] = proportion
        proportions[order] = np.clip(1 - proportion - np.cumsum(counts) + counts, 0, counts)
        return proportions

    def compute_extreme_proportions(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the proportions (k,) with the fewest and with the most plausible recurrences.

        The first are equal for all items. In the second, the most common item has the upper limit
        of its proportion.
        """
        kinds = len(self.counts)
        return np.full(kinds, 1 / kinds), self.grow_commonest_kind(
            self.compute_proportion_interval(level)[1]
        )


def count_recurrences(
    similarity: Similarity, allow_repeats: bool = True
) -> RecurrenceCounts | None:
    """Count the samples equal to each distinct item; return None if the jackknife is sufficient.

    The jackknife is sufficient with more than `MAX_KINDS` distinct items. It is also sufficient
    with `allow_repeats=False`, which states that samples are continuous measurements and do not
    recur, unless two samples are equal or only a few pairs contribute to the deficit (see
    `has_many_similar_pairs`).
    """
    n = similarity.n
    if n > MAX_KINDS and not allow_repeats:
        return None
    kinds = count_kinds(similarity)
    if kinds is None:
        return None
    K, counts, tolerance = kinds
    if not allow_repeats and len(counts) == n and has_many_similar_pairs(K):
        return None
    return _build_recurrence_counts(n, K, counts, tolerance)


def count_recurrences_stacked(
    K: np.ndarray, roundoff: float = 0.0
) -> list[tuple[RecurrenceCounts, np.ndarray]]:
    """Count the samples equal to each distinct item in each of g sets of n samples.

    `K`, shape (g, n, n), contains the similarities within each set, and `roundoff` is their
    precision. For each set, return the counts and the index of the first sample of each distinct
    item.
    """
    representatives, tolerance = _merge_equal(K, roundoff)
    results = []
    for matrix, representative in zip(K, representatives, strict=True):
        counts = np.bincount(representative)
        kinds = np.flatnonzero(counts)
        K_of_kinds = matrix[kinds][:, kinds]
        results.append(
            (_build_recurrence_counts(len(matrix), K_of_kinds, counts[kinds], tolerance), kinds)
        )
    return results


def _build_recurrence_counts(
    n: int, K: np.ndarray, counts: np.ndarray, tolerance: float
) -> RecurrenceCounts:
    """Return the RecurrenceCounts of distinct items, including those after merging near-copies."""
    codes = find_near_copies(K, tolerance)
    near = None if codes is None else _count_pairs(n, *merge_near_copies(K, counts, codes))
    return _count_pairs(n, K, counts, near)


def _count_pairs(
    n: int, K: np.ndarray, counts: np.ndarray, near: RecurrenceCounts | None = None
) -> RecurrenceCounts:
    """Return the RecurrenceCounts of distinct items, with the number of equal pairs computed."""
    return RecurrenceCounts(n, float((counts * (counts - 1)).sum()) / 2, K, counts, near=near)


def has_many_similar_pairs(K: np.ndarray) -> np.ndarray:
    """Return whether at least n pairs of samples effectively contribute to the deficit.

    The effective number of pairs is (Σ k²)² / Σ k⁴ over the similarities k of all pairs. If it is
    at least n, the jackknife of log(log n − log VS) is valid for samples that do not recur. K has
    shape (…, n, n), and the result (…).
    """
    n = K.shape[-1]
    rows, columns = np.triu_indices(n, 1)
    squares = np.square(K[..., rows, columns])
    squares[squares < NO_DEFICIT**2] = 0.0
    fourth = np.square(squares).sum(axis=-1)
    return np.asarray((squares.sum(axis=-1) ** 2 >= n * fourth) & (fourth > 0))


def count_kinds(similarity: Similarity) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Find the k distinct items among the samples; return None if k is larger than `MAX_KINDS`.

    Return the similarities (k, k) of the items in order of appearance, the number (k,) of samples
    equal to each item, and the tolerance for equality. Two samples are equal if their similarity
    differs from 1 by at most the tolerance, because similarities of copies may be rounded.
    """
    n = similarity.n
    block_size = min(n, MAX_KINDS + 1)
    K, representative, tolerance = _merge_samples(similarity, np.arange(block_size))
    if len(np.unique(representative)) > MAX_KINDS:
        return None
    groups = similarity.groups()  # codes of exact duplicates, if the similarity provides them
    if n == block_size or groups is None:
        groups = np.arange(n)
    _, first, copies = np.unique(groups, return_index=True, return_counts=True)
    order = np.argsort(first)
    remaining = first[order]
    copies = copies[order]
    item_indices: list[int] = []
    counts: list[int] = []
    while len(remaining):
        block = remaining[:block_size]
        if len(block) < n:
            K, representative, tolerance = _merge_samples(similarity, block)
        new_items = np.unique(representative)
        if len(item_indices) + len(new_items) > MAX_KINDS:
            return None
        count = np.bincount(representative, copies[: len(block)])[new_items]
        remaining = remaining[len(block) :]
        copies = copies[len(block) :]
        position = _find_equal(similarity, block[new_items], remaining, tolerance)
        is_equal = position >= 0
        count += np.bincount(position[is_equal], copies[is_equal], len(new_items))
        remaining = remaining[~is_equal]
        copies = copies[~is_equal]
        item_indices += block[new_items].tolist()
        counts += count.astype(int).tolist()
    if len(item_indices) > len(new_items):
        K = to_host(similarity.take(np.array(item_indices)).dense())
    else:
        K = K[new_items][:, new_items]
    return np.asarray(K, dtype=float), np.array(counts), tolerance


def _merge_samples(
    similarity: Similarity, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the similarities of a subset, and the results of `_merge_equal` for them."""
    K = to_host(similarity.take(indices).dense())
    return K, *_merge_equal(K, similarity.roundoff)


def _merge_equal(K: np.ndarray, roundoff: float) -> tuple[np.ndarray, float]:
    """Return for each sample the index of the first sample equal to it, and the tolerance.

    K has shape (…, n, n), and the indices (…, n). `roundoff` is the precision of K.
    """
    precision = max(float(np.finfo(K.dtype).eps), min(roundoff, _FLOAT32_EPSILON))
    tolerance = max(NO_DEFICIT, _MAX_ROUNDING_ERRORS * precision)
    diagonal = np.diagonal(K, axis1=-2, axis2=-1)
    representative = _are_equal(K, diagonal, diagonal, tolerance).argmax(axis=-2)
    while True:
        further = np.take_along_axis(representative, representative, axis=-1)
        if np.array_equal(further, representative):
            return representative, tolerance
        representative = further


def _find_equal(
    similarity: Similarity, kinds: np.ndarray, candidates: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return the position in `kinds` of a sample equal to each candidate, or −1."""
    positions = np.full(len(candidates), -1)
    if not len(candidates):
        return positions
    diagonal = to_host(similarity.diagonal())
    for block in row_blocks(len(kinds), 8 * similarity.n, min_rows=1):
        rows = to_host(similarity.rows(kinds[block]))[:, candidates]
        is_equal = _are_equal(rows, diagonal[kinds[block]], diagonal[candidates], tolerance)
        is_new = (positions < 0) & is_equal.any(axis=0)
        positions[is_new] = block.start + is_equal.argmax(axis=0)[is_new]
    return positions


def _are_equal(
    K: np.ndarray, row_diagonal: np.ndarray, column_diagonal: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return which pairs of samples in similarities K (…, r, c) are equal.

    The diagonals, (…, r) and (…, c), are the similarities of the samples of each row and column
    with themselves.
    """
    row_norms = row_diagonal[..., :, None]
    column_norms = column_diagonal[..., None, :]
    squared_distances = row_norms + column_norms - 2 * K
    return np.asarray(squared_distances <= 2 * tolerance * np.minimum(row_norms, column_norms))


def compute_log_score_interval(
    estimate: JackknifeEstimate,
    max_score: int,
    q: float,
    level: float,
    repeats: RecurrenceCounts | None,
    deficit: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the confidence interval of log VS_q of a set, within [0, log `max_score`].

    If most samples are very similar, log VS is small and so is its jackknife error. The upper limit
    is therefore at least that of an interval for the logit of log VS / log `max_score`. `deficit`
    is the function returned by `make_log_deficit(q)`; pass it to reuse cached values.
    """
    max_log = math.log(max_score)
    deficit = deficit or make_log_deficit(q)
    low, high = compute_deficit_interval(
        max_log - float(estimate.log), estimate, level, repeats, deficit
    )
    upper = max_log - max(0.0, low)
    proportion = float(estimate.log) / max_log
    if repeats is not None and 0 < proportion < 1:
        half_width = t_critical_value(level, estimate.units) * float(estimate.error)
        logit = scipy.special.logit(proportion)
        logit += half_width / (max_log * proportion * (1 - proportion))
        upper = max(upper, max_log * float(scipy.special.expit(logit)))
    return max(0.0, max_log - high), upper


def compute_score_interval(
    value: float,
    estimate: JackknifeEstimate,
    n: int,
    q: float,
    level: float,
    repeats: RecurrenceCounts | None,
    deficit: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the confidence interval of VS_q of n samples, within [1, n] and around `value`."""
    low, high = compute_log_score_interval(estimate, n, q, level, repeats, deficit)
    return min(value, math.exp(low)), max(value, math.exp(high))


def make_log_deficit(
    q: float, cached_scores: Iterable[tuple[np.ndarray, np.ndarray, float]] = ()
) -> DeficitFunction:
    """Return a function that computes the deficit log n − log VS_q and caches VS_q.

    VS_q depends on the similarities K and proportions w of items, but not on n, so intervals for
    several n use the same values. `cached_scores` contains tuples (K, w, VS_q) that are already
    computed.
    """
    scores = {(K.tobytes(), w.tobytes()): score for K, w, score in cached_scores}

    def compute_deficit(K: np.ndarray, w: np.ndarray, n: int) -> float:
        key = K.tobytes(), w.tobytes()
        if key not in scores:
            root = np.sqrt(w)
            A = K * root * root[:, None]
            (scores[key],), _ = compute_hill_numbers(A, [q], EigenvalueTolerance(len(w)), "clip")
        return math.log(n / scores[key])

    return compute_deficit


def compute_deficit_interval(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    repeats: RecurrenceCounts | None,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the confidence interval of a quantity such as the deficit, which is 0 if all differ.

    `deficit` is its value for the samples, `estimate` its jackknife error, and `deficit_function`
    computes it for other proportions of the items in `repeats`. If `repeats` is None, the interval
    is only that of the jackknife of its logarithm.
    """
    if repeats is not None:
        low, high = _deficit_interval_with_recurrence(
            deficit, estimate, level, repeats, deficit_function
        )
        if repeats.near is not None:
            near = _deficit_interval_with_near_copies(
                deficit, estimate, level, repeats, deficit_function
            )
            low, high = min(low, near[0]), max(high, near[1])
        return low, high
    if not math.isfinite(estimate.spread):
        return 0.0, math.inf
    half_width = t_critical_value(level, estimate.units) * estimate.spread
    factor = np.exp(min(half_width, 700.0))
    return float(deficit / factor), float(deficit * factor)


def _deficit_interval_with_recurrence(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    repeats: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the jackknife interval of the deficit, widened for unobserved recurrences.

    If few pairs are equal, the jackknife error contains little information on how often items
    recur; at order ∞ it is 0 if several items are equally common. The lower limit is therefore
    reduced to the deficit for items that recur as rarely as the data allow, and the upper limit is
    increased to the deficit for items that recur as often as the data allow. Both changes have a
    weight that decreases with the number of equal pairs.

    If all counts are nearly equal, log VS is close to its maximum and depends on squared changes of
    the counts, which the jackknife does not capture. A term for these changes is added to the
    jackknife error.
    """
    n, pairs, K, counts = repeats.n, repeats.pairs, repeats.K, repeats.counts
    n_items = len(counts)
    even_proportions, uneven_proportions = repeats.compute_extreme_proportions(level)
    critical_value = t_critical_value(level, estimate.units)
    jackknife_distance = critical_value * estimate.error
    weight = 1.0
    if jackknife_distance > NO_DEFICIT and pairs > n:
        weight = n / pairs
    decrease = 0.0
    if pairs and n_items > 1:
        min_deficit = deficit_function(K, even_proportions, n_items)
        decrease = (deficit - min_deficit) * (1 - poisson_lower_limit(pairs, level) / pairs)
        decrease = max(0.0, decrease)
    increase = max(0.0, deficit_function(K, uneven_proportions, n) - deficit)
    recurring = math.sqrt(np.count_nonzero(counts > 1)) / n_items
    jackknife_distance = math.hypot(
        jackknife_distance,
        (1 - weight) * critical_value * 2 * n * estimate.gain * recurring,
    )
    # The jackknife includes the variation of observed recurrences, so the larger of both distances
    # applies.
    low = deficit - max(jackknife_distance, weight * decrease)
    # The jackknife does not include unobserved recurrences. The two distances are independent and
    # added in quadrature (Zou & Donner 2008).
    high = deficit + math.hypot(jackknife_distance, weight * increase)
    # Several choices of the common items, as masks of shape (k,).
    common_masks = [np.arange(n_items) == counts.argmax(), counts > 1]
    if deficit > deficit_function(np.eye(2), np.full(2, 0.5), n):
        # The samples are less diverse than two unrelated items. A tight cluster is then treated as
        # a single item, even if no two samples are equal.
        common_masks.append(repeats.find_main_cluster())
    if not pairs and estimate.error <= NO_DEFICIT:
        # All pairs are equally similar. The samples are then treated as a single item, besides
        # which the population may contain others.
        common_masks.append(np.full(n_items, True))
    for common in common_masks:
        low = min(low, _deficit_with_odd_samples(common, level, repeats, deficit_function))
    return low, high


def _deficit_with_odd_samples(
    common: np.ndarray, level: float, repeats: RecurrenceCounts, deficit_function: DeficitFunction
) -> float:
    """Return the deficit if the common items have the lower limit of their proportion.

    `common` is a mask of shape (k,). The remaining proportion consists of unobserved samples that
    are unrelated to all others. The result is infinity, which does not change the interval, unless
    nearly all samples belong to common items. It is also infinity if the remaining proportion
    corresponds to more than `MAX_KINDS` samples, because the jackknife is then valid.
    """
    n, K, counts = repeats.n, repeats.K, repeats.counts
    count = int(counts[common].sum())
    if n - count > _MAX_ODD_PROPORTION * n:
        return math.inf
    lower_limit, _ = repeats.compute_proportion_interval(level, count)
    n_unobserved = count - n * lower_limit
    if n_unobserved > MAX_KINDS:
        return math.inf
    n_whole = int(n_unobserved)
    proportions = np.where(common, counts * lower_limit / count, counts / n)
    proportions = np.r_[proportions, np.full(n_whole, 1 / n), (n_unobserved - n_whole) / n]
    similarities = np.eye(len(proportions))
    similarities[: len(K), : len(K)] = K
    return deficit_function(similarities, proportions, n)


def _deficit_interval_with_near_copies(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    repeats: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the confidence interval of the deficit if near-copies are treated as copies.

    Merging near-copies changes the deficit. The interval refers to the original samples, so this
    change is subtracted from its limits. A jackknife error smaller than the change only reflects
    differences between near-copies, and is replaced by 0.
    """
    assert repeats.near is not None
    n = repeats.n
    near = repeats.near._replace(conservative_tails=repeats.conservative_tails)
    merged_deficit = deficit_function(near.K, near.counts / n, n)
    change = merged_deficit - deficit_function(repeats.K, repeats.counts / n, n)
    if estimate.error < abs(change):
        estimate = dataclasses.replace(estimate, error=0.0)

    def adjusted_deficit(K: np.ndarray, w: np.ndarray, m: int) -> float:
        return deficit_function(K, w, m) - change

    return _deficit_interval_with_recurrence(deficit, estimate, level, near, adjusted_deficit)


def poisson_lower_limit(count: float, level: float) -> float:
    """Return the lower confidence limit of a Poisson mean from a positive count (Garwood 1936)."""
    return float(scipy.special.gammaincinv(count, (1 - level) / 2))
