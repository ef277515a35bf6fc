"""Confidence intervals of quantities that grow if samples recur, mainly the deficit log n − log VS.

VS is the Vendi Score. The deficit of n samples is 0 if no two samples are similar. A sample recurs
if a further draw from the population can return it again. If nearly all samples differ, log VS is
close to its upper bound log n, so its sampling distribution is skewed. The logarithm of the deficit
has no bound and a nearly symmetric distribution. Student's interval is valid for this logarithm
from 4 samples on, unless the deficit is 0 or only a few pairs of samples contribute to it.

A sampled item may recur in the population even if no item recurs in a small sample. The intervals
allow for this, whether samples are texts, a similarity matrix or embeddings, unless the caller
states that samples are continuous measurements. The interval of the jackknife is widened as
follows. Two confidence intervals are computed from the counts of equal samples: Jeffreys' interval
(Brown, Cai & DasGupta, Statistical Science 2001) of the proportion of the most common item in the
population, and Garwood's (Biometrika 1936) of the expected number of equal pairs. The deficit is
computed at the limits of these two intervals, and the interval of the deficit is extended to
include the results.

Near-copies are treated like copies: if every pair of samples is either much closer than all other
pairs or clearly different, a second interval is computed after near-copies are merged into one
item, and the result is extended to include it.
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
MAX_DISTINCT_ITEMS = 400
# An interval allows for unobserved items if at most this proportion of samples does not belong to
# common items. With a larger proportion, the samples already show how much other items contribute.
# Chosen by hand, then tested by benchmarks/few_samples.py, and benchmarks/difference_ends.py for
# differences.
_MAX_UNCOMMON_PROPORTION = 0.25
# Number of decimals to which similarities are rounded before items are ranked by them.
_RANKING_DECIMALS = 10
# Maximum deviation from 1 of the similarity of equal samples, in units of machine epsilon. Products
# of equal rows of 2 to 4096 columns in single precision deviate by at most 2
# (tests/metric/scoring/test_recurrence_intervals.py); 4 times this allows for other kernels. Half
# precision is treated as single precision: similarities of equal samples in a half-precision matrix
# are exactly 1, because 1 is representable.
_MAX_ROUNDING_ERRORS = 8
_FLOAT32_EPSILON = float(np.finfo(np.float32).eps)

# A function of the similarities K (k, k) and proportions w (k,) of k distinct items, and of a
# number of samples n. It returns the deficit of n samples with these proportions.
DeficitFunction: TypeAlias = Callable[[np.ndarray, np.ndarray, int], float]


class RecurrenceCounts(NamedTuple):
    """How often each of k distinct items occurs among n samples.

    - `n`: number of samples
    - `equal_pairs`: number of pairs of equal samples
    - `K`, shape (k, k): similarities of the distinct items
    - `counts`, shape (k,): number of samples equal to each item
    - `conservative_tails`: whether intervals of an item's proportion limit the probability of each
      tail to (1 − level)/2
    - `merged`: the RecurrenceCounts after merging near-copies into one item; None if there are no
      near-copies
    """

    n: int
    equal_pairs: float
    K: np.ndarray
    counts: np.ndarray
    conservative_tails: bool = False
    merged: "RecurrenceCounts | None" = None

    @property
    def has_few_pairs(self) -> bool:
        """True if there are fewer equal pairs than samples.

        Intervals of the jackknife alone then do not cover unobserved recurrences.
        """
        return self.equal_pairs < self.n

    def compute_proportion_interval(
        self, level: float, count: int | None = None
    ) -> tuple[float, float]:
        """Return the confidence interval of an item's proportion in the population.

        `count` is the number of samples equal to the item, by default to the most common item.
        Without `conservative_tails`, the interval is Jeffreys' interval, which has the nominal
        coverage overall, but not in each tail. For example, take the 95 % interval of an item that
        occurs once in 20 samples. If its true proportion equals the upper limit, the item occurs at
        most once in 5 % of all sets of 20 samples, instead of 2.5 %. With `conservative_tails`, the
        interval is Clopper and Pearson's (Biometrika 1934), in which each tail has a probability of
        at most (1 − level)/2.
        """
        successes = int(self.counts.max()) if count is None else count
        probabilities = np.array([1 - level, 1 + level]) / 2
        # Both limits are quantiles of beta distributions, whose two parameters sum to n + 1.
        first_parameters = np.full(2, successes + 0.5)
        if self.conservative_tails:
            first_parameters = np.array([successes, successes + 1])
        low, high = scipy.special.betaincinv(
            first_parameters, self.n + 1 - first_parameters, probabilities
        ).tolist()
        return low, 1.0 if successes == self.n else high

    def find_central_item(self) -> int:
        """Return the index of the most frequent item.

        If several items are equally frequent, it is the one with the largest mean similarity to all
        samples.
        """
        # The second term is at most 1/2 for K ≤ 1, so it only ranks items with equal counts.
        ranks = self.counts + self.K @ self.counts / (2 * self.n)
        return int(np.argmax(ranks.round(_RANKING_DECIMALS)))

    def find_main_cluster(self) -> np.ndarray:
        """Return a mask (k,) of the items whose similarity to the central item is above 1/2.

        The central item is the most frequent one. Similarities are normalized to a diagonal of 1.
        """
        central = self.find_central_item()
        diagonal = self.K.diagonal()
        threshold: np.ndarray = (1 - LARGEST_DISTANCE) * np.sqrt(diagonal * diagonal[central])
        return self.K[central] > threshold

    def raise_central_proportion(self, proportion: float) -> np.ndarray:
        """Return proportions (k,) of the items, with that of the central item set to `proportion`.

        The central item is the most frequent one. To keep the sum 1, the observed proportions of
        the items most similar to it are set to 0, and that of one further item is reduced.
        """
        central = self.find_central_item()
        # Items in ascending order of their similarity to the central item. Equal similarities may
        # differ by rounding, which must not affect the order.
        order = np.lexsort((-self.counts, self.K[central].round(_RANKING_DECIMALS)))
        order = order[order != central]
        observed = self.counts[order] / self.n
        proportions = np.empty(len(self.counts))
        proportions[central] = proportion
        # The least similar items keep their proportions until the sum of all proportions is 1.
        available = 1 - proportion - np.cumsum(observed) + observed
        proportions[order] = np.clip(available, 0, observed)
        return proportions

    def compute_extreme_proportions(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays (k,) of proportions of the items in the population.

        They are the extreme cases that the samples allow. In the first array, all proportions are
        equal, so items recur as rarely as possible. In the second, items recur most often: the most
        frequent item has the upper limit of the confidence interval of its proportion with this
        level.
        """
        n_items = len(self.counts)
        _, upper_limit = self.compute_proportion_interval(level)
        return np.full(n_items, 1 / n_items), self.raise_central_proportion(upper_limit)


def count_recurrences(
    similarity: Similarity, allow_repeats: bool = True
) -> RecurrenceCounts | None:
    """Count the samples equal to each distinct item; return None if the jackknife is sufficient.

    None means that the interval of the jackknife needs no allowance for recurring samples. This is
    the case if there are more than `MAX_DISTINCT_ITEMS` distinct items. It is also the case with
    `allow_repeats=False`, which states that samples are continuous measurements and do not recur,
    unless two samples are equal, or only a few pairs of samples contribute to the deficit
    log n − log VS.
    """
    n = similarity.n
    if n > MAX_DISTINCT_ITEMS and not allow_repeats:
        return None
    distinct_items = count_distinct_items(similarity)
    if distinct_items is None:
        return None
    K, counts, tolerance = distinct_items
    if not allow_repeats and len(counts) == n and has_many_similar_pairs(K):
        return None
    return _build_recurrence_counts(n, K, counts, tolerance)


def count_recurrences_stacked(
    K: np.ndarray, roundoff: float = 0.0
) -> list[tuple[RecurrenceCounts, np.ndarray]]:
    """Count the samples equal to each distinct item in each of g sets of n samples.

    `K`, shape (g, n, n), contains the similarities within each set, and `roundoff` is the machine
    epsilon of their precision. For each set, return its RecurrenceCounts and the index of the first
    sample of each of its k distinct items, shape (k,).
    """
    first_indices, tolerance = _find_first_equal(K, roundoff)
    results = []
    for matrix, first_index in zip(K, first_indices, strict=True):
        counts = np.bincount(first_index)
        items = np.flatnonzero(counts)
        recurrences = _build_recurrence_counts(
            len(matrix), matrix[items][:, items], counts[items], tolerance
        )
        results.append((recurrences, items))
    return results


def _build_recurrence_counts(
    n: int, K: np.ndarray, counts: np.ndarray, tolerance: float
) -> RecurrenceCounts:
    """Build the RecurrenceCounts of n samples from their distinct items, and merge near-copies.

    `K` (k, k) contains the similarities of the k distinct items, and `counts` (k,) the number of
    samples equal to each item. Similarities that differ by less than `tolerance` are treated as
    equal in the search for near-copies.
    """
    merged = None
    near_copy_codes = find_near_copies(K, tolerance)
    if near_copy_codes is not None:
        merged_K, merged_counts = merge_near_copies(K, counts, near_copy_codes)
        merged = RecurrenceCounts(n, _count_equal_pairs(merged_counts), merged_K, merged_counts)
    return RecurrenceCounts(n, _count_equal_pairs(counts), K, counts, merged=merged)


def _count_equal_pairs(counts: np.ndarray) -> float:
    """Return the number of pairs of equal samples, from the number of samples of each item."""
    return float((counts * (counts - 1)).sum()) / 2


def has_many_similar_pairs(K: np.ndarray) -> np.ndarray:
    """Return whether at least n pairs of n samples effectively contribute to the deficit.

    The deficit is log n − log VS, where VS is the Vendi Score. The effective number of pairs is
    (Σ k²)² / Σ k⁴ over the similarities k of all pairs. If it is at least n, and samples do not
    recur, the jackknife is valid for the logarithm of the deficit. K, shape (…, n, n), contains the
    similarities within each of several sets; the result has shape (…).
    """
    n = K.shape[-1]
    rows, columns = np.triu_indices(n, 1)
    squares = np.square(K[..., rows, columns])
    squares[squares < NO_DEFICIT**2] = 0.0
    sum_of_squares = squares.sum(axis=-1)
    sum_of_fourth_powers = np.square(squares).sum(axis=-1)
    is_effective = sum_of_squares**2 >= n * sum_of_fourth_powers
    return np.asarray(is_effective & (sum_of_fourth_powers > 0))


def count_distinct_items(similarity: Similarity) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Find the k distinct items among the samples; None if k exceeds `MAX_DISTINCT_ITEMS`.

    Return the similarities (k, k) of the items in order of appearance, the number (k,) of samples
    equal to each item, and the tolerance for equality. Two samples are equal if their similarity
    differs from 1 by at most this tolerance, which allows for rounding of the similarities of
    copies.
    """
    n = similarity.n
    # Most sets have more distinct items than the limit or few samples, so the first block decides.
    block_size = min(n, MAX_DISTINCT_ITEMS + 1)
    K, first_equal, tolerance = _compare_samples(similarity, np.arange(block_size))
    if len(np.unique(first_equal)) > MAX_DISTINCT_ITEMS:
        return None
    duplicate_codes = similarity.groups()  # of exact duplicates, if the similarity provides them
    if n == block_size or duplicate_codes is None:
        duplicate_codes = np.arange(n)
    _, remaining, n_copies = np.unique(duplicate_codes, return_index=True, return_counts=True)
    order = np.argsort(remaining)
    remaining = remaining[order]  # indices of samples whose item is unknown, without duplicates
    n_copies = n_copies[order]  # number of samples that are exact duplicates of each of them
    item_indices: list[int] = []
    counts: list[int] = []
    while len(remaining):
        # Find the new items in the next block, then all remaining samples equal to one of them.
        block = remaining[:block_size]
        if len(block) < n:  # otherwise the block consists of all samples, compared above
            K, first_equal, tolerance = _compare_samples(similarity, block)
        new_items = np.unique(first_equal)  # positions in the block
        if len(item_indices) + len(new_items) > MAX_DISTINCT_ITEMS:
            return None
        new_counts = np.bincount(first_equal, n_copies[: len(block)])[new_items]
        remaining = remaining[len(block) :]
        n_copies = n_copies[len(block) :]
        position = _find_equal_item(similarity, block[new_items], remaining, tolerance)
        is_equal = position >= 0
        new_counts += np.bincount(position[is_equal], n_copies[is_equal], len(new_items))
        remaining = remaining[~is_equal]
        n_copies = n_copies[~is_equal]
        item_indices += block[new_items].tolist()
        counts += new_counts.astype(int).tolist()
    if len(item_indices) > len(new_items):
        K = to_host(similarity.take(np.array(item_indices)).dense())
    else:  # a single block contains all items
        K = K[new_items][:, new_items]
    return np.asarray(K, dtype=float), np.array(counts), tolerance


def _compare_samples(
    similarity: Similarity, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Compare the m samples at `indices` of `similarity` with each other.

    Return the similarities (m, m); for each sample, the position of the first sample equal to it
    (m,); and the tolerance for equality.
    """
    K = to_host(similarity.take(indices).dense())
    return K, *_find_first_equal(K, similarity.roundoff)


def _find_first_equal(K: np.ndarray, roundoff: float) -> tuple[np.ndarray, float]:
    """Return for each sample the index of the first sample equal to it, and the tolerance.

    K, shape (…, n, n), contains the similarities of the n samples of each set, and the indices have
    shape (…, n). Two samples are equal if their similarity differs from 1 by at most the tolerance,
    which is computed from `roundoff`, the machine epsilon of the similarities.
    """
    precision = max(float(np.finfo(K.dtype).eps), min(roundoff, _FLOAT32_EPSILON))
    tolerance = max(NO_DEFICIT, _MAX_ROUNDING_ERRORS * precision)
    diagonal = np.diagonal(K, axis1=-2, axis2=-1)
    first_equal = _are_equal(K, diagonal, diagonal, tolerance).argmax(axis=-2)
    # Equality within a tolerance is not transitive: the first sample equal to a sample may itself
    # equal an earlier one. Such chains are followed to their first sample.
    while True:
        earlier = np.take_along_axis(first_equal, first_equal, axis=-1)
        if np.array_equal(earlier, first_equal):
            return first_equal, tolerance
        first_equal = earlier


def _find_equal_item(
    similarity: Similarity, items: np.ndarray, candidates: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return the position in `items` of the first item equal to each candidate; −1 if none is.

    `items` and `candidates` are indices of samples in `similarity`. Two samples are equal if their
    similarity differs from 1 by at most `tolerance`.
    """
    positions = np.full(len(candidates), -1)
    if not len(candidates):
        return positions
    diagonal = to_host(similarity.diagonal())
    for block in row_blocks(len(items), 8 * similarity.n, min_rows=1):
        rows = to_host(similarity.rows(items[block]))[:, candidates]
        is_equal = _are_equal(rows, diagonal[items[block]], diagonal[candidates], tolerance)
        is_new = (positions < 0) & is_equal.any(axis=0)
        positions[is_new] = block.start + is_equal.argmax(axis=0)[is_new]
    return positions


def _are_equal(
    K: np.ndarray, row_diagonal: np.ndarray, column_diagonal: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return a mask of the pairs of equal samples, with the shape of their similarities K.

    K has shape (…, r, c) for r samples in rows and c in columns. `row_diagonal` (…, r) and
    `column_diagonal` (…, c) are the similarities of these samples to themselves. If they are 1, two
    samples are equal if their similarity is at least 1 − `tolerance`.
    """
    row_norms = row_diagonal[..., :, None]  # squared norms of the samples as feature vectors
    column_norms = column_diagonal[..., None, :]
    squared_distances = row_norms + column_norms - 2 * K
    # For diagonals of 1, this is 1 − K ≤ tolerance.
    return np.asarray(squared_distances <= 2 * tolerance * np.minimum(row_norms, column_norms))


def compute_log_score_interval(
    estimate: JackknifeEstimate,
    max_score: int,
    q: float,
    level: float,
    recurrences: RecurrenceCounts | None,
    deficit_function: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the confidence interval of log VS_q of a set, within [0, log `max_score`].

    `estimate` contains log VS_q and its jackknife errors. `recurrences` states how often each
    distinct item occurs among the samples; if it is None, the interval does not allow for recurring
    samples. `max_score` is the number of samples, the largest possible VS_q.

    If most samples are very similar, log VS_q and its jackknife error are both small, and the upper
    limit would be too low. Unless `recurrences` is None, the upper limit is therefore at least that
    of an interval for the logit of log VS_q / log `max_score`. `deficit_function` computes
    log n − log VS_q; pass a function returned by `make_log_deficit(q)` to reuse its cached values.
    """
    max_log = math.log(max_score)
    log_score = float(estimate.log_score)
    min_deficit, max_deficit = compute_deficit_interval(
        max_log - log_score,
        estimate,
        level,
        recurrences,
        deficit_function or make_log_deficit(q),
    )
    low = max(0.0, max_log - max_deficit)
    high = max_log - max(0.0, min_deficit)
    proportion = log_score / max_log
    if recurrences is not None and 0 < proportion < 1:
        half_width = t_critical_value(level, estimate.n_units) * float(estimate.error)
        logit = scipy.special.logit(proportion)
        # The half-width is divided by the derivative of log VS with respect to the logit.
        logit += half_width / (max_log * proportion * (1 - proportion))
        high = max(high, max_log * float(scipy.special.expit(logit)))
    return low, high


def compute_score_interval(
    value: float,
    estimate: JackknifeEstimate,
    n: int,
    q: float,
    level: float,
    recurrences: RecurrenceCounts | None,
    deficit_function: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the confidence interval of VS_q of n samples, within [1, n].

    `value` is VS_q, which the interval always includes, even with rounding errors. `estimate`
    contains log VS_q and its jackknife errors. `recurrences` states how often each distinct item
    occurs among the samples; if it is None, the interval does not allow for recurring samples.
    `deficit_function` computes log n − log VS_q; pass a function returned by `make_log_deficit(q)`
    to reuse its cached values.
    """
    low, high = compute_log_score_interval(estimate, n, q, level, recurrences, deficit_function)
    return min(value, math.exp(low)), max(value, math.exp(high))


def make_log_deficit(
    q: float, cached_scores: Iterable[tuple[np.ndarray, np.ndarray, float]] = ()
) -> DeficitFunction:
    """Return a function that computes the deficit log n − log VS_q and caches VS_q.

    The function takes the similarities K (k, k) and proportions w (k,) of k distinct items, and the
    number of samples n. VS_q depends on K and w, but not on n, so it is computed only once for
    several n. `cached_scores` contains tuples (K, w, VS_q) of scores that were already computed.
    """
    scores = {(K.tobytes(), w.tobytes()): score for K, w, score in cached_scores}

    def compute_deficit(K: np.ndarray, w: np.ndarray, n: int) -> float:
        key = K.tobytes(), w.tobytes()
        if key not in scores:
            root = np.sqrt(w)
            A = K * root * root[:, None]  # diag(√w) K diag(√w), whose eigenvalues define VS_q
            (scores[key],), _ = compute_hill_numbers(A, [q], EigenvalueTolerance(len(w)), "clip")
        return math.log(n / scores[key])

    return compute_deficit


def compute_deficit_interval(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    recurrences: RecurrenceCounts | None,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the confidence interval of a quantity such as the deficit log n − log VS.

    The quantity must be 0 if no two samples are similar; the mean similarity is another example.
    `deficit` is the value of the quantity for the samples, and `estimate` contains its jackknife
    errors. `recurrences` states how often each distinct item occurs among the samples, and
    `deficit_function` computes the quantity for other proportions of these items. If `recurrences`
    is None, the interval is Student's interval of the logarithm of the quantity, with the standard
    error of the jackknife.
    """
    if recurrences is not None:
        low, high = _compute_interval_with_recurrence(
            deficit, estimate, level, recurrences, deficit_function
        )
        if recurrences.merged is not None:
            merged_low, merged_high = _compute_interval_with_near_copies(
                deficit, estimate, level, recurrences, deficit_function
            )
            low, high = min(low, merged_low), max(high, merged_high)
        return low, high
    if not math.isfinite(estimate.log_deficit_error):
        return 0.0, math.inf
    half_width = t_critical_value(level, estimate.n_units) * estimate.log_deficit_error
    factor = np.exp(min(half_width, 700.0))  # a larger exponent would overflow
    return float(deficit / factor), float(deficit * factor)


def _compute_interval_with_recurrence(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    recurrences: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the jackknife interval of the deficit, widened for unobserved recurrences.

    The deficit is log n − log VS, or another quantity that is 0 if no two samples are similar;
    `deficit` is its value, `estimate` contains its jackknife errors, and `deficit_function`
    computes it for other proportions of the distinct items in `recurrences`.

    If few pairs of samples are equal, the jackknife error contains little information on how often
    items recur; at order ∞ it is 0 if several items are equally common. The lower limit is
    therefore reduced to the deficit for items that recur as rarely as the data allow, and the upper
    limit is increased to the deficit for items that recur as often as the data allow. Both changes
    of the limits have the weight 1, or n divided by the number of equal pairs if there are more
    equal pairs than samples n.

    If all items occur nearly equally often, log VS is close to its maximum and depends on squared
    changes of their counts, which the jackknife does not capture. A term for them is added to the
    jackknife error, with 1 minus the weight above as its weight.

    Finally, the lower limit allows for items that were not observed and are unrelated to the
    samples.
    """
    n, K, counts = recurrences.n, recurrences.K, recurrences.counts
    equal_pairs = recurrences.equal_pairs
    n_items = len(counts)
    even_proportions, uneven_proportions = recurrences.compute_extreme_proportions(level)
    critical_value = t_critical_value(level, estimate.n_units)
    jackknife_distance = critical_value * estimate.error
    weight = 1.0
    if jackknife_distance > NO_DEFICIT and equal_pairs > n:
        weight = n / equal_pairs
    decrease = 0.0
    if equal_pairs and n_items > 1:
        # Without equal pairs, the set would consist of one sample of each item. The part of the
        # deficit due to equal pairs is reduced in proportion to their expected number.
        min_deficit = deficit_function(K, even_proportions, n_items)
        ratio = poisson_lower_limit(equal_pairs, level) / equal_pairs
        decrease = max(0.0, (deficit - min_deficit) * (1 - ratio))
    increase = max(0.0, deficit_function(K, uneven_proportions, n) - deficit)
    # The term for squared changes of counts. n · mean_drop estimates how far log VS of n samples is
    # below that of the population on average, because of these changes. A sum of k independent
    # squared changes, one for each item, has a standard deviation of √(2/k) times its mean. The
    # factor 2 √r/k is used, where r is the number of items that recur; it is larger if r = k.
    n_recurring_items = np.count_nonzero(counts > 1)
    recurring_proportion = math.sqrt(n_recurring_items) / n_items
    jackknife_distance = math.hypot(
        jackknife_distance,
        (1 - weight) * critical_value * 2 * n * estimate.mean_drop * recurring_proportion,
    )
    # The jackknife includes the variation of observed recurrences, so the larger of both distances
    # applies.
    low = deficit - max(jackknife_distance, weight * decrease)
    # The jackknife does not include unobserved recurrences. The two distances are independent and
    # added in quadrature (Zou & Donner 2008).
    high = deficit + math.hypot(jackknife_distance, weight * increase)
    # Several choices of the common items, as masks of shape (k,): the most frequent item, and all
    # items that recur.
    common_masks = [np.arange(n_items) == counts.argmax(), counts > 1]
    if deficit > deficit_function(np.eye(2), np.full(2, 0.5), n):
        # The samples are less diverse than two unrelated items. A tight cluster is then treated as
        # a single item, even if no two samples are equal.
        common_masks.append(recurrences.find_main_cluster())
    if not equal_pairs and estimate.error <= NO_DEFICIT:
        # All pairs are equally similar. The samples are then treated as a single item, besides
        # which the population may contain others.
        common_masks.append(np.full(n_items, True))
    for is_common in common_masks:
        low = min(
            low,
            _compute_deficit_with_unobserved_items(is_common, level, recurrences, deficit_function),
        )
    return low, high


def _compute_deficit_with_unobserved_items(
    is_common: np.ndarray,
    level: float,
    recurrences: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> float:
    """Return the deficit of a population that contains more items than were observed.

    `is_common` is a mask (k,) of the common items, whose total proportion in this population is
    smaller than observed: the lower limit of its confidence interval. Items that were not observed,
    and that are unrelated to all other items, have the remaining proportion. `deficit_function`
    computes the deficit from similarities and proportions of items.

    The result is used as an upper bound of the lower limit of the interval, so infinity has no
    effect. It is infinity unless nearly all samples belong to common items. It is also infinity if
    there would be more than `MAX_DISTINCT_ITEMS` unobserved items, because the jackknife is then
    valid.
    """
    n, K, counts = recurrences.n, recurrences.K, recurrences.counts
    count = int(counts[is_common].sum())
    if n - count > _MAX_UNCOMMON_PROPORTION * n:
        return math.inf
    lower_limit, _ = recurrences.compute_proportion_interval(level, count)
    n_unobserved = count - n * lower_limit
    if n_unobserved > MAX_DISTINCT_ITEMS:
        return math.inf
    observed_proportions = np.where(is_common, counts * lower_limit / count, counts / n)
    # Each unobserved item has the proportion 1/n of a single sample, except the last, which has a
    # fraction of it.
    n_whole = int(n_unobserved)
    unobserved_proportions = np.r_[np.full(n_whole, 1 / n), (n_unobserved - n_whole) / n]
    proportions = np.r_[observed_proportions, unobserved_proportions]
    similarities = np.eye(len(proportions))
    similarities[: len(K), : len(K)] = K
    return deficit_function(similarities, proportions, n)


def _compute_interval_with_near_copies(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    recurrences: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the confidence interval of the deficit if near-copies are treated as copies.

    The deficit is a quantity that is 0 if nothing recurs, such as log n − log VS. `deficit` is its
    value for the samples, `estimate` contains its jackknife errors, and `recurrences.merged`
    contains the counts after merging near-copies into one item. Merging changes the
    deficit, which `deficit_function` computes from similarities and proportions of items. The
    interval refers to the original samples, so this change is subtracted from all deficits of
    merged items. A jackknife error smaller than the change only reflects differences between
    near-copies, and is replaced by 0.
    """
    assert recurrences.merged is not None
    n = recurrences.n
    merged = recurrences.merged._replace(conservative_tails=recurrences.conservative_tails)
    merged_deficit = deficit_function(merged.K, merged.counts / n, n)
    change = merged_deficit - deficit_function(recurrences.K, recurrences.counts / n, n)
    if estimate.error < abs(change):
        estimate = dataclasses.replace(estimate, error=0.0)

    def compute_adjusted_deficit(K: np.ndarray, w: np.ndarray, m: int) -> float:
        return deficit_function(K, w, m) - change

    return _compute_interval_with_recurrence(
        deficit, estimate, level, merged, compute_adjusted_deficit
    )


def poisson_lower_limit(count: float, level: float) -> float:
    """Return the lower confidence limit of a Poisson mean from a positive count (Garwood 1936).

    It is the lower limit of the two-sided interval with this confidence level.
    """
    return float(scipy.special.gammaincinv(count, (1 - level) / 2))
