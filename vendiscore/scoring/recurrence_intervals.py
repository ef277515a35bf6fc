"""Intervals of quantities that grow with repetition, mainly the deficit log n − log VS.

If nearly all samples differ, log VS is close to its bound log n and varies only downwards. The
logarithm of the deficit has no such bound and varies almost symmetrically: Student's t is valid for
it from 4 samples on, unless only a few pairs contribute to the deficit, or it is 0.

The population may contain repeats although a small sample shows none, in any container (texts, a
matrix, rows of embeddings), unless the caller states that samples are continuous measurements. The
proportion of the most common item has Jeffreys' interval (Brown, Cai & DasGupta, Statistical
Science 2001), the number of equal pairs has Garwood's (Biometrika 1936), and the deficits at their
ends widen the interval of the jackknife. Near-copies are repeats like copies: if distances have two
scales, the interval also includes the interval for merged near-copies.
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

# With more distinct items, repeats are not counted, because the jackknife is valid.
MAX_KINDS = 400
# Unobserved items are allowed for if at most this proportion of samples does not belong to common
# items. A larger proportion already shows how much other items contribute. Chosen by hand, then
# tested by benchmarks/few_samples.py, and benchmarks/difference_ends.py for differences.
_MAX_ODD_PROPORTION = 0.25
_RANKING_DECIMALS = 10  # of the similarities by which items are ranked
# Maximum deviation from 1 of the similarity of equal samples, in units of machine epsilon. Products
# of equal rows of 2 to 4096 columns in single precision deviate by at most 2
# (tests/metric/scoring/test_recurrence_intervals.py); 4 times this allows for other kernels. Half
# precision is treated as single precision: its products are rounded more, but a matrix contains 1
# itself.
_MAX_ROUNDING_ERRORS = 8
_FLOAT32_EPSILON = float(np.finfo(np.float32).eps)

# The deficit of n samples, given similarities K and proportions w of distinct items.
DeficitFunction: TypeAlias = Callable[[np.ndarray, np.ndarray, int], float]


class RecurrenceCounts(NamedTuple):
    """Similarities `K` (k, k) and `counts` (k,) of distinct items in n samples, and equal pairs.

    `near` is the same after merging near-copies, if there are any. With `conservative_tails`,
    neither tail of the interval of a proportion exceeds (1 − level)/2.
    """

    n: int
    pairs: float
    K: np.ndarray
    counts: np.ndarray
    conservative_tails: bool = False
    near: "RecurrenceCounts | None" = None

    @property
    def has_few_pairs(self) -> bool:
        """True if the jackknife cannot estimate how often other samples would repeat."""
        return self.pairs < self.n

    def compute_proportion_interval(
        self, level: float, count: int | None = None
    ) -> tuple[float, float]:
        """Return the interval of the proportion of `count` samples, or of the most common item.

        Jeffreys' interval has the nominal coverage overall, but not in each tail. If the proportion
        of the most common item is at the upper end, 20 samples contain at most one copy of it in 5
        % of cases instead of 2.5 %. With `conservative_tails` the interval is Clopper and Pearson's
        (Biometrika 1934), in which each tail has at most (1 − level)/2.
        """
        most = int(self.counts.max()) if count is None else count
        tails = np.array([1 - level, 1 + level]) / 2
        successes = np.full(2, most + 0.5)
        if self.conservative_tails:
            successes = np.array([most, most + 1])
        # Both parameters of each beta distribution sum to n + 1.
        low, high = scipy.special.betaincinv(successes, self.n + 1 - successes, tails).tolist()
        return low, 1.0 if most == self.n else high

    def find_central_kind(self) -> int:
        """Return the index of the most frequent item; in a tie, the one most similar to others."""
        central = self.counts + self.K @ self.counts / (2 * self.n)
        return int(np.argmax(central.round(_RANKING_DECIMALS)))

    def find_main_cluster(self) -> np.ndarray:
        """Return a mask (k,) of items nearer to the central item than halfway to unrelated ones."""
        first = self.find_central_kind()
        diagonal = self.K.diagonal()
        least: np.ndarray = (1 - LARGEST_DISTANCE) * np.sqrt(diagonal * diagonal[first])
        return self.K[first] > least

    def grow_commonest_kind(self, proportion: float) -> np.ndarray:
        """Return proportions after the most similar samples became copies of the top item."""
        first = self.find_central_kind()
        # Equal similarities may differ by rounding, which must not affect the order.
        order = np.lexsort((-self.counts, self.K[first].round(_RANKING_DECIMALS)))
        order = order[order != first]
        counts = self.counts[order] / self.n
        shares = np.empty(len(self.counts))
        shares[first] = proportion
        shares[order] = np.clip(1 - proportion - np.cumsum(counts) + counts, 0, counts)
        return shares

    def compute_extreme_proportions(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return even proportions of items, and proportions with a larger most common item."""
        kinds = len(self.counts)
        return np.full(kinds, 1 / kinds), self.grow_commonest_kind(
            self.compute_proportion_interval(level)[1]
        )


def count_recurrences(
    similarity: Similarity, allow_repeats: bool = True
) -> RecurrenceCounts | None:
    """Count repeated samples; return None if the jackknife accounts for unobserved repeats.

    This is the case with more than `MAX_KINDS` distinct items. It is also the case if the caller
    states that samples are continuous measurements, which do not repeat (`allow_repeats=False`),
    unless two samples are equal or too few pairs contribute to the deficit: (Σ k²)² / Σ k⁴ over
    pairs is below n.
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
    """Count repeated samples in each of many sets, from their similarities (g, n, n).

    Each result comes with the index of the first sample of each distinct item, as determined by
    `count_kinds`; `roundoff` is the precision of the similarities.
    """
    representatives, tolerance = _merge_equal(K, roundoff)
    sets = []
    for matrix, representative in zip(K, representatives, strict=True):
        counts = np.bincount(representative)
        kinds = np.flatnonzero(counts)
        of_kinds = matrix[kinds][:, kinds]
        sets.append(
            (_build_recurrence_counts(len(matrix), of_kinds, counts[kinds], tolerance), kinds)
        )
    return sets


def _build_recurrence_counts(
    n: int, K: np.ndarray, counts: np.ndarray, tolerance: float
) -> RecurrenceCounts:
    """Return the counts of equal pairs of distinct items, also after merging near-copies."""
    codes = find_near_copies(K, tolerance)
    near = None if codes is None else _count_pairs(n, *merge_near_copies(K, counts, codes))
    return _count_pairs(n, K, counts, near)


def _count_pairs(
    n: int, K: np.ndarray, counts: np.ndarray, near: RecurrenceCounts | None = None
) -> RecurrenceCounts:
    """Return distinct items with the number of pairs of equal samples."""
    return RecurrenceCounts(n, float((counts * (counts - 1)).sum()) / 2, K, counts, near=near)


def has_many_similar_pairs(K: np.ndarray) -> np.ndarray:
    """Return whether the deficit has an effective number of at least n contributing pairs.

    The jackknife of log(log n − log VS) is then valid for samples that do not repeat. K has shape
    (…, n, n).
    """
    n = K.shape[-1]
    rows, columns = np.triu_indices(n, 1)
    squares = np.square(K[..., rows, columns])
    squares[squares < NO_DEFICIT**2] = 0.0
    fourth = np.square(squares).sum(axis=-1)
    return np.asarray((squares.sum(axis=-1) ** 2 >= n * fourth) & (fourth > 0))


def count_kinds(similarity: Similarity) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return similarities of distinct samples in order of appearance, their counts and a tolerance.

    Samples are equal if their similarity is that of a sample with itself within the tolerance,
    because copies in a matrix or of rows may differ in their last digits. Returns None for more
    than `MAX_KINDS` distinct samples.
    """
    n = similarity.n
    head = np.arange(min(n, MAX_KINDS + 1))
    K, representative, tolerance = _merge_samples(similarity, head)
    if len(np.unique(representative)) > MAX_KINDS:
        return None
    groups = similarity.groups()  # exact duplicates, known before similarities are computed
    if n == len(head) or groups is None:
        groups = np.arange(n)
    _, first, copies = np.unique(groups, return_index=True, return_counts=True)
    order = np.argsort(first)
    remaining = first[order]
    copies = copies[order]
    kinds: list[int] = []
    counts: list[int] = []
    while len(remaining):
        some = remaining[: len(head)]
        if len(some) < n:
            K, representative, tolerance = _merge_samples(similarity, some)
        new = np.unique(representative)
        if len(kinds) + len(new) > MAX_KINDS:
            return None
        count = np.bincount(representative, copies[: len(some)])[new]
        remaining = remaining[len(some) :]
        copies = copies[len(some) :]
        known = _find_equal(similarity, some[new], remaining, tolerance)
        count += np.bincount(known[known >= 0], copies[known >= 0], len(new))
        remaining = remaining[known < 0]
        copies = copies[known < 0]
        kinds += some[new].tolist()
        counts += count.astype(int).tolist()
    if len(kinds) > len(new):
        K = to_host(similarity.take(np.array(kinds)).dense())
    else:
        K = K[new][:, new]
    return np.asarray(K, dtype=float), np.array(counts), tolerance


def _merge_samples(
    similarity: Similarity, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return K of a subset, the first sample that each of them equals, and the tolerance."""
    K = to_host(similarity.take(indices).dense())
    return K, *_merge_equal(K, similarity.roundoff)


def _merge_equal(K: np.ndarray, roundoff: float) -> tuple[np.ndarray, float]:
    """Return the first sample that each one equals in similarities (…, n, n), and the tolerance."""
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
    found = np.full(len(candidates), -1)
    if not len(candidates):
        return found
    diagonal = to_host(similarity.diagonal())
    for block in row_blocks(len(kinds), 8 * similarity.n, min_rows=1):
        rows = to_host(similarity.rows(kinds[block]))[:, candidates]
        equal = _are_equal(rows, diagonal[kinds[block]], diagonal[candidates], tolerance)
        new = (found < 0) & equal.any(axis=0)
        found[new] = block.start + equal.argmax(axis=0)[new]
    return found


def _are_equal(
    K: np.ndarray, rows: np.ndarray, columns: np.ndarray, tolerance: float
) -> np.ndarray:
    """Return a mask of equal samples in rows and columns of K (…), given their diagonals."""
    rows = rows[..., :, None]
    columns = columns[..., None, :]
    squared_distances = rows + columns - 2 * K
    return np.asarray(squared_distances <= 2 * tolerance * np.minimum(rows, columns))


def compute_log_score_interval(
    estimate: JackknifeEstimate,
    max_score: int,
    q: float,
    level: float,
    repeats: RecurrenceCounts | None,
    deficit: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the interval of log VS_q of a set, between 0 and log `max_score`.

    The jackknife error of log VS shrinks with log VS if a few samples are very similar. The upper
    end is therefore at least that of the logit between 0 and log `max_score`. `deficit` is
    `make_log_deficit(q)`, which caches its values.
    """
    full = math.log(max_score)
    deficit = deficit or make_log_deficit(q)
    low, high = compute_deficit_interval(
        full - float(estimate.log), estimate, level, repeats, deficit
    )
    upper = full - max(0.0, low)
    share = float(estimate.log) / full
    if repeats is not None and 0 < share < 1:
        reach = t_critical_value(level, estimate.units) * float(estimate.error)
        logit = scipy.special.logit(share) + reach / (full * share * (1 - share))
        upper = max(upper, full * float(scipy.special.expit(logit)))
    return max(0.0, full - high), upper


def compute_score_interval(
    value: float,
    estimate: JackknifeEstimate,
    n: int,
    q: float,
    level: float,
    repeats: RecurrenceCounts | None,
    deficit: DeficitFunction | None = None,
) -> tuple[float, float]:
    """Return the interval of VS_q of n samples, within [1, n] and containing `value`."""
    low, high = compute_log_score_interval(estimate, n, q, level, repeats, deficit)
    return min(value, math.exp(low)), max(value, math.exp(high))


def make_log_deficit(
    q: float, cached_scores: Iterable[tuple[np.ndarray, np.ndarray, float]] = ()
) -> DeficitFunction:
    """Return a function log n − log VS_q of similarities K and proportions w; it caches VS_q.

    Intervals at several sample sizes need the same VS_q, which does not depend on n.
    `cached_scores` contains (K, w, VS_q) computed elsewhere, for example in a stack.
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
    """Return the interval of a quantity that is 0 if nothing repeats."""
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
    reach = t_critical_value(level, estimate.units)
    times = np.exp(min(reach * estimate.spread, 700.0))
    return float(deficit / times), float(deficit * times)


def _deficit_interval_with_recurrence(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    repeats: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the jackknife interval, widened for repeats that the sample does not show.

    If few pairs are equal, the jackknife error contains little information on how often other
    samples repeat, and at order ∞ it is 0 if items tie. Each end is therefore moved by the change
    of the deficit if items repeat as often (upper end) or as rarely (lower end) as the data allow,
    with a weight that decreases with the number of equal pairs. If counts are nearly even, log VS
    is near its maximum and depends on squared changes of the counts, which the jackknife misses; a
    term for this is added to its error.
    """
    n, pairs, K, counts = repeats.n, repeats.pairs, repeats.K, repeats.counts
    kinds = len(counts)
    even, commonest = repeats.compute_extreme_proportions(level)
    reach = t_critical_value(level, estimate.units)
    error = reach * estimate.error
    weight = 1.0
    if error > NO_DEFICIT and pairs > n:
        weight = n / pairs
    down = 0.0
    if pairs and kinds > 1:
        apart = deficit_function(K, even, kinds)
        down = max(0.0, (deficit - apart) * (1 - poisson_lower_limit(pairs, level) / pairs))
    up = max(0.0, deficit_function(K, commonest, n) - deficit)
    several = math.sqrt(np.count_nonzero(counts > 1)) / kinds
    error = math.hypot(error, (1 - weight) * reach * 2 * n * estimate.gain * several)
    # The error includes the variation of observed repeats, so the larger of both distances applies.
    low = deficit - max(error, weight * down)
    # The error does not include unobserved repeats; independent distances add in quadrature (Zou &
    # Donner 2008).
    high = deficit + math.hypot(error, weight * up)
    all_common = [np.arange(kinds) == counts.argmax(), counts > 1]
    if deficit > deficit_function(np.eye(2), np.full(2, 0.5), n):
        # Less diverse than two unrelated items: a tight cluster is a single item, even if no two
        # samples are equal.
        all_common.append(repeats.find_main_cluster())
    if not pairs and estimate.error <= NO_DEFICIT:
        # Equally similar samples form a single item, and the population may contain others.
        all_common.append(np.full(kinds, True))
    for common in all_common:
        low = min(low, _deficit_with_odd_samples(common, level, repeats, deficit_function))
    return low, high


def _deficit_with_odd_samples(
    common: np.ndarray, level: float, repeats: RecurrenceCounts, deficit_function: DeficitFunction
) -> float:
    """Return the deficit if items in the mask `common` have their smallest plausible proportion.

    The rest goes to unobserved samples unlike all others. Returns infinity, which moves no end,
    unless nearly all samples belong to common items; also if more than `MAX_KINDS` samples may be
    missing, because the jackknife is then valid.
    """
    n, K, counts = repeats.n, repeats.K, repeats.counts
    count = int(counts[common].sum())
    if n - count > _MAX_ODD_PROPORTION * n:
        return math.inf
    lowest_share, _ = repeats.compute_proportion_interval(level, count)
    unseen = count - n * lowest_share
    if unseen > MAX_KINDS:
        return math.inf
    whole = int(unseen)
    shares = np.where(common, counts * lowest_share / count, counts / n)
    shares = np.r_[shares, np.full(whole, 1 / n), (unseen - whole) / n]
    similarities = np.eye(len(shares))
    similarities[: len(K), : len(K)] = K
    return deficit_function(similarities, shares, n)


def _deficit_interval_with_near_copies(
    deficit: float,
    estimate: JackknifeEstimate,
    level: float,
    repeats: RecurrenceCounts,
    deficit_function: DeficitFunction,
) -> tuple[float, float]:
    """Return the interval if near-copies are treated as copies.

    Merging near-copies changes the deficit. Because the interval refers to the original samples,
    this change is subtracted again. A jackknife error below the change contains no information on
    items, for example if they tie, and is ignored.
    """
    assert repeats.near is not None
    n = repeats.n
    near = repeats.near._replace(conservative_tails=repeats.conservative_tails)
    added = deficit_function(near.K, near.counts / n, n) - deficit_function(
        repeats.K, repeats.counts / n, n
    )
    if estimate.error < abs(added):
        estimate = dataclasses.replace(estimate, error=0.0)

    def adjusted_deficit(K: np.ndarray, w: np.ndarray, m: int) -> float:
        return deficit_function(K, w, m) - added

    return _deficit_interval_with_recurrence(deficit, estimate, level, near, adjusted_deficit)


def poisson_lower_limit(count: float, level: float) -> float:
    """Return the lower confidence limit of a Poisson mean, given a positive count (Garwood)."""
    return float(scipy.special.gammaincinv(count, (1 - level) / 2))
