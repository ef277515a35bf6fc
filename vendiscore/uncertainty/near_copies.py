"""The similarity from which chance cannot explain pairs: near-copies, unlike the other samples.

Distances 1 − k to the nearest sample, of the closer part of a set without near-copies, follow about
a power law. The law says how many of them would lie within a threshold by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays.namespace import row_blocks, to_host
from ..arrays.threads import in_order
from ..progress import track
from ..similarity.base import Similarity

# The threshold if no other stands out, and the largest share of samples that it may name.
USUAL, FEW = 0.95, 0.02
# Another threshold must gain this share more, and this many samples, to replace it.
GAIN, GAINED = 0.2, 2
# Similarities may come out lower by rounding.
ROUNDING = 1e-9
# Most similar samples kept for each sample, and how many of these may be copies.
DEPTH, WITHIN = 64, 16
# The law is fitted to these shares of nearest distances, and to as many samples at least.
SHARES, LEAST = (0.3, 0.4, 0.5, 0.6), 8
# A threshold is taken if at most this share of what it removes is expected to be false
MOST_FALSE = 0.1
# by an exponent so many standard errors below the estimate,
CAUTION = 1.5
# and the typical nearest distance of the rest is so many times the distance of near-copies.
APART = 1.75
# If most samples are removed, near-copies that are more of a sample on average are modes.
MOST_COPIES = 10
# The threshold that removes most is chosen; a false removal weighs as much as five true ones.
WEIGHT = 5.0
# Samples with a near-copy that are so small a share say nothing about the source.
LEAST_SHARE = 0.2
# A threshold is a short number, by which distances may be so many times as large.
CLOSE = 1.25
# Candidates for a threshold: each of the nearest similarities, then the largest gap of a bin.
EACH, FEWER, BINS = 256, 16, 60
# In larger sets, rows compared with all samples, and the fewest rows compared at once.
MOST_ROWS, ROWS = 200, 32
_STEPS = 25


class NearestLists:
    """Similarities of distinct samples to their most similar ones, from blocks of rows of K."""

    def __init__(self, first: np.ndarray) -> None:
        self._is_first = first == np.arange(len(first))
        self._parts: list[np.ndarray] = []

    def __call__(self, K: np.ndarray, start: int) -> None:
        self.add(K, np.arange(start, start + len(K)))

    def add(self, K: np.ndarray, rows: np.ndarray) -> None:
        """Add the rows of K that are named, −∞ at their own places."""
        self._parts.append(self.of(K, rows)[2])

    def of(self, K: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which rows of K are of distinct samples, the nearest of each, and its list."""
        same = K >= 1 - ROUNDING
        repeats = same.any(axis=1) & (same.argmax(axis=1) < rows)
        distinct = self._is_first[rows] & ~repeats
        K = np.where(same | ~self._is_first, -np.inf, K)[distinct]
        depth = min(DEPTH, K.shape[1] - 1)
        part = np.partition(K, -depth, axis=1)[:, -depth:] if depth else K[:, :0]
        return rows[distinct], K.argmax(axis=1), np.sort(part, axis=1)[:, ::-1]

    @property
    def lists(self) -> np.ndarray:
        """Rows of similarities, the largest first, one row for each distinct sample."""
        return np.concatenate(self._parts)


def lists_of(
    similarity: Similarity, first: np.ndarray, drawn: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which of the drawn samples are distinct, the nearest of each, and its list."""
    closest = NearestLists(first)

    def look(block: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = drawn[block]
        K = np.array(to_host(similarity.rows(rows)), dtype=np.float64)
        K[np.arange(len(rows)), rows] = -np.inf
        return closest.of(K, rows)

    blocks = list(row_blocks(len(drawn), 8 * similarity.n, ROWS))
    found = in_order(look, blocks) if similarity.in_threads else map(look, blocks)
    parts = track(found, len(blocks), "looking for a threshold")
    rows, nearest, lists = map(np.concatenate, zip(*parts, strict=True))
    return rows, nearest, lists


class Excess(NamedTuple):
    """Near-copies among distinct samples at thresholds (m,), and how many chance would bring."""

    removed: np.ndarray  # how many samples repeat another
    false: np.ndarray  # how many of these are expected by chance
    cautious: np.ndarray  # the same by a smaller exponent
    apart: np.ndarray  # the typical nearest distance of the rest over the threshold's distance
    copies: np.ndarray  # how many near-copies those have that have some, on average


def excess(lists: np.ndarray, thresholds: np.ndarray) -> Excess:
    """Compare counts within thresholds with those that the nearest distances of the rest imply."""
    blocks = row_blocks(len(thresholds), 8 * lists.size, least=1)
    parts = [_excess(lists, thresholds[block]) for block in blocks]
    return Excess(*map(np.concatenate, zip(*parts, strict=True)))


def _excess(lists: np.ndarray, thresholds: np.ndarray) -> Excess:
    n, depth = lists.shape
    near = (lists >= thresholds[:, None, None] - ROUNDING).sum(axis=2)
    weights = 1 / (1 + near)  # samples of one group of near-copies count as one
    removed = n - weights.sum(axis=1)
    copies = near.sum(axis=1) / np.maximum((near > 0).sum(axis=1), 1)
    after = lists[np.arange(n), np.minimum(near, depth - 1)]
    known = (near < depth) & np.isfinite(after)
    distances = np.maximum(1 - np.where(known, after, -1.0), ROUNDING)
    logs = np.log(distances / np.maximum(1 - thresholds[:, None], ROUNDING))
    order = np.argsort(np.where(known, logs, np.inf), axis=1)
    weights = np.where(known, weights, 0)
    logs, weights = (np.take_along_axis(each, order, axis=1) for each in (logs, weights))
    counts, sums = np.cumsum(weights, axis=1), np.cumsum(weights * logs, axis=1)
    whole = counts[:, -1:]
    wanted = np.maximum(np.multiply(SHARES, whole), np.minimum(LEAST, whole)) - ROUNDING
    ends = np.minimum((counts[:, None] < wanted[:, :, None]).sum(axis=2), n - 1)
    count, reach, total = (np.take_along_axis(x, ends, axis=1) for x in (counts, logs, sums))
    middle = (counts < whole / 2).sum(axis=1, keepdims=True)
    apart = np.exp(np.take_along_axis(logs, np.minimum(middle, n - 1), axis=1)[:, 0])
    good = (reach > ROUNDING) & (count > 0)
    reach = np.where(good, reach, 1.0)
    exponent = _exponents(np.maximum(reach - total / np.where(good, count, 1.0), 1e-6), reach)
    lower = exponent * np.maximum(1 - CAUTION / np.sqrt(np.maximum(count, 1)), 0.05)

    def beyond(exponent: np.ndarray) -> np.ndarray:
        # Samples of a pair are near each other, and one of them is removed.
        expected = count / 2 / np.expm1(np.minimum(exponent * reach, 500))
        return np.asarray(np.where(good, expected, np.inf).max(axis=1))

    return Excess(removed, beyond(exponent), beyond(lower), apart, copies)


def _exponents(mean: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return D of densities e^(Dx) on [0, reach] whose mean of reach − x is given."""
    low, high = np.full(mean.shape, 1e-6), np.full(mean.shape, 1e4)
    for _ in range(_STEPS):
        middle = np.sqrt(low * high)
        found = 1 / middle - reach / np.expm1(np.minimum(middle * reach, 500))
        low, high = np.where(found > mean, middle, low), np.where(found > mean, high, middle)
    return np.asarray(np.sqrt(low * high))


def best_threshold(lists: np.ndarray) -> float:
    """Return the similarity that parts near-copies from the rest; where none does, 0.95 or 1."""
    found = _parting(lists, usual=True)
    few = not lists.size or np.mean(lists[:, 0] >= USUAL - ROUNDING) <= FEW
    return found if found is not None else USUAL if few else 1.0


def _parting(lists: np.ndarray, each: int = EACH, usual: bool = False) -> float | None:
    """Return the threshold by which the most is gained, or the usual one if that is about as good.

    None where none gains anything.
    """
    nearest = np.sort(lists[:, :WITHIN], axis=None)[::-1]
    nearest = nearest[np.isfinite(nearest)]
    places = _candidates(nearest, each)
    if not len(places):
        return None
    found = excess(lists, np.append(nearest[places], USUAL))
    good = (found.apart >= APART) & (found.cautious <= MOST_FALSE * found.removed)
    good &= (found.copies <= MOST_COPIES) | (found.removed <= len(lists) / 2)
    every = found.removed - WEIGHT * found.false
    gain = np.where(good, every, -np.inf)[:-1]
    if gain.max() <= 0:
        return None
    best = gain.argmax()
    if usual and gain[best] - every[-1] <= max(GAINED, GAIN * found.removed[best]):
        return USUAL
    place = places[best]
    below = nearest[place + 1] if place + 1 < len(nearest) else -1.0
    return _shortest(max(below, 1 - CLOSE * (1 - nearest[place])), nearest[place])


def _candidates(nearest: np.ndarray, each: int) -> np.ndarray:
    """Return places in descending similarities after which there is a gap, of each bin one."""
    n = len(nearest)
    distances = np.append(np.maximum(1 - nearest, ROUNDING), np.inf)
    gaps = np.diff(np.log(distances))
    edges = np.append(np.arange(each), np.geomspace(each, max(n, each), BINS))
    bins = np.searchsorted(edges, np.arange(n), side="right")
    order = np.lexsort((-gaps, bins))
    chosen = order[np.unique(bins[order], return_index=True)[1]]
    return np.asarray(chosen[-np.diff(np.append(nearest, -np.inf))[chosen] > 2 * ROUNDING])


def _shortest(below: float, at: float) -> float:
    """Return the number of fewest decimal places in (below, at]."""
    for places in range(2, 9):
        short = np.floor(at * 10.0**places + ROUNDING) / 10.0**places
        if short > below + 2 * ROUNDING:
            return float(min(short, at))
    return float(at)


def false_share(lists: np.ndarray, threshold: float, copies: int = 0) -> float:
    """Return the expected share of chance among the samples that a threshold removes, in [0, 1]."""
    if not lists.size:
        return 0.0
    found = excess(lists, np.array([threshold]))
    near = float(found.removed[0])
    return min(near, float(found.false[0])) / (near + copies) if near > 0 else 0.0


def dependent_share(similarity: Similarity) -> float:
    """Return the share of samples with a near-copy: 0 if chance may bring it, or below a fifth.

    Identical samples count as one: labels and short texts coincide without dependence.
    A source of a few tight modes looks as near-copies do while few samples are of each.
    Takes all rows of K, or 200 drawn rows of a larger set; O(n² log n) at most.
    """
    n, groups = similarity.n, similarity.groups()
    first = np.arange(n)
    if groups is not None:
        _, start, inverse = np.unique(groups, return_index=True, return_inverse=True)
        first = start[inverse]
    drawn = np.random.default_rng(0).permutation(n)[:MOST_ROWS]
    _, _, lists = lists_of(similarity, first, drawn)
    threshold = _parting(lists, FEWER)
    if threshold is None:
        return 0.0
    near = (lists >= threshold - ROUNDING).sum(axis=1)
    share = float(np.mean(near > 0))
    return share if share >= LEAST_SHARE and near.sum() <= MOST_COPIES * (near > 0).sum() else 0.0
