"""Intervals of numbers that grow as samples repeat: of the deficit log n − log VS, above all.

Vectors: the logarithm of a deficit varies evenly where log VS presses against log n, so that
Student's t holds for it from 4 samples on. Where a few pairs make up the deficit, or none does,
the number of such pairs has the interval of a Poisson count (Garwood, Biometrika 1936).

Texts, labels and molecules may recur although a few samples do not show it. The share of the
commonest kind has Jeffreys' interval (Brown, Cai & DasGupta, Statistical Science 2001), equal pairs
have Garwood's, and the deficit at their ends widens the jackknife's interval.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from ..core.hill import hill_number
from ..core.namespace import to_host
from ..similarity.base import Similarity
from ..spectral.clusters import positive_shares
from .jackknife import NO_DEFICIT, Jackknife
from .subsampling import student_reach

# More kinds, or vectors, are not counted: the jackknife holds for so many.
_MOST_COUNTED = 400
# Kinds that did not occur are allowed for if samples not of the commonest are less than this share.
_FEW_ODD = 0.25

# The deficit of n samples of kinds with similarities K (identity if None) and shares w.
Deficit: TypeAlias = Callable[[np.ndarray | None, np.ndarray, int], float]


class Repeats(NamedTuple):
    """How n samples repeat each other.

    `pairs` are equal pairs of samples that may recur, of which `K` (k, k) and `counts` describe
    the kinds. For vectors they are (Σ k²)² / Σ k⁴ over pairs, how many make up the deficit;
    `squares` is Σ k², `negative` whether any k is below 0.
    """

    n: int
    pairs: float
    K: np.ndarray | None = None
    counts: np.ndarray = np.ones(1)
    squares: float = 0.0
    negative: bool = False

    @property
    def few(self) -> bool:
        """True if the jackknife cannot tell how often other samples would repeat."""
        return self.pairs < self.n

    def share(self, level: float) -> tuple[float, float]:
        """Return both ends of the share that the commonest kind has in the source."""
        most = float(self.counts.max())
        tails = np.array([1 - level, 1 + level]) / 2
        low, high = scipy.special.betaincinv(most + 0.5, self.n - most + 0.5, tails).tolist()
        return low, 1.0 if most == self.n else high

    def with_commonest(self, share: float) -> np.ndarray:
        """Return shares of kinds after samples most like the commonest kind became copies of it."""
        assert self.K is not None
        central = self.counts + self.K @ self.counts / (2 * self.n)
        first = int(np.argmax(central))
        order = np.lexsort((-self.counts, self.K[first]))
        order = order[order != first]
        counts = self.counts[order] / self.n
        shares = np.empty(len(self.counts))
        shares[first] = share
        shares[order] = np.clip(1 - share - np.cumsum(counts) + counts, 0, counts)
        return shares


def repeats_of(similarity: Similarity) -> Repeats | None:
    """Count the pairs that repeat, or return None for many vectors or many kinds."""
    n = similarity.n
    if n > _MOST_COUNTED and not similarity.recurs:
        return None
    groups = similarity.groups()
    if groups is None:
        groups = np.arange(n)
    _, first, counts = np.unique(groups, return_index=True, return_counts=True)
    if len(first) > _MOST_COUNTED:
        return None
    K = np.asarray(to_host(similarity.take(first).dense()), dtype=float)
    if similarity.recurs or len(first) < n:
        return Repeats(n, float((counts * (counts - 1)).sum()) / 2, K, counts)
    every = K[np.triu_indices(n, 1)]
    squares = np.square(every)
    squares[squares < NO_DEFICIT**2] = 0.0
    total = float(squares.sum())
    fourth = float(np.square(squares).sum())
    negative = bool(every.min() < -NO_DEFICIT)
    return Repeats(n, total**2 / fourth if fourth else 0.0, None, counts, total, negative)


def log_ends(
    found: Jackknife, most: int, q: float, level: float, repeats: Repeats | None
) -> tuple[float, float]:
    """Return both ends of log VS_q of `most` samples, in [0, log most]."""
    full = math.log(most)
    low, high = deficit_ends(full - found.log, found, level, repeats, log_deficit(q))
    return max(0.0, full - high), full - max(0.0, low)


def log_deficit(q: float) -> Deficit:
    """Return the function log n − log VS_q."""

    def of(K: np.ndarray | None, w: np.ndarray, n: int) -> float:
        shares = w
        if K is not None:
            root = np.sqrt(w)
            shares = positive_shares(np.linalg.eigvalsh(K * root * root[:, None]))
        return math.log(n / hill_number(shares[shares > 0], q))

    return of


def deficit_ends(
    deficit: float, found: Jackknife, level: float, repeats: Repeats | None, of: Deficit
) -> tuple[float, float]:
    """Return both ends of a number that is 0 where nothing repeats."""
    if repeats is not None and repeats.K is not None:
        return _with_recurrence(deficit, found, level, repeats, of)
    reach = student_reach(level, found.units)
    low = 0.0
    high = math.inf
    if math.isfinite(found.spread):
        times = np.exp(min(reach * found.spread, 700.0))
        low = float(deficit / times)
        high = float(deficit * times)
    if repeats is None or not repeats.few:
        return low, high
    n = repeats.n
    count = repeats.pairs if deficit > NO_DEFICIT else 0.0
    fewer = poisson(count, level)[0] * deficit / count if count else 0.0
    pair = of(None, np.r_[2, np.ones(n - 2)] / n, n)
    more = poisson(repeats.squares, level)[1] * pair
    if math.isinf(high):
        return fewer, more
    return min(low, fewer), max(high, more)


def _with_recurrence(
    deficit: float, found: Jackknife, level: float, repeats: Repeats, of: Deficit
) -> tuple[float, float]:
    """Widen the jackknife's interval by how often samples may recur that these do not show.

    The jackknife tells nothing where few pairs are equal, or where kinds tie at order ∞. Where
    kinds are nearly even, it misses that their counts scatter in second order.
    """
    n, pairs, K, counts, *_ = repeats
    kinds = len(counts)
    fewest, most = repeats.share(level)
    reach = student_reach(level, found.units)
    error = reach * found.error
    down = up = 0.0
    if repeats.few or error < NO_DEFICIT:
        if pairs and kinds > 1:
            apart = of(K, np.full(kinds, 1 / kinds), kinds)
            down = max(0.0, (deficit - apart) * (1 - poisson(pairs, level)[0] / pairs))
        up = max(0.0, of(K, repeats.with_commonest(most), n) - deficit)
    else:
        several = math.sqrt(np.count_nonzero(counts > 1))
        error = math.hypot(error, reach * 2 * n * found.gain * several / kinds)
    # Independent distances to an end add up as squares (Zou & Donner 2008).
    low = deficit - math.hypot(error, down)
    high = deficit + math.hypot(error, up)
    if n - counts.max() < _FEW_ODD * n:
        odd = n * (1 - fewest)
        whole = int(odd)
        unlike = np.r_[fewest, np.full(whole, 1 / n), (odd - whole) / n]
        low = min(low, of(None, unlike, n))
    return low, high


def poisson(count: float, level: float) -> tuple[float, float]:
    """Return both ends of the mean of a Poisson count."""
    tail = (1 - level) / 2
    low = float(scipy.special.gammaincinv(count, tail)) if count > 0 else 0.0
    return low, float(scipy.special.gammaincinv(count + 1, 1 - tail))
