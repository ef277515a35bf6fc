"""Intervals of numbers that grow as samples repeat: of the deficit log n − log VS, above all.

The logarithm of a deficit varies evenly where log VS presses against log n, so that Student's t
holds for it from 4 samples on, unless a few pairs make up the deficit, or none does.

Texts, labels and molecules may recur although a few samples do not show it. The share of the
commonest kind has Jeffreys' interval (Brown, Cai & DasGupta, Statistical Science 2001), the number
of equal pairs has Garwood's (Biometrika 1936), and the deficits at their ends widen the jackknife's
interval.
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
MOST_COUNTED = 400
# Kinds that did not occur are allowed for if samples not of the commonest are at most this share.
_FEW_ODD = 0.25

# The deficit of n samples of kinds with similarities K (identity if None) and shares w.
Deficit: TypeAlias = Callable[[np.ndarray | None, np.ndarray, int], float]


class Repeats(NamedTuple):
    """The kinds of n samples, `K` (k, k) between them and `counts` (k,), and the equal pairs."""

    n: int
    pairs: float
    K: np.ndarray
    counts: np.ndarray

    @property
    def few(self) -> bool:
        """True if the jackknife cannot tell how often other samples would repeat."""
        return self.pairs < self.n

    def share(self, level: float) -> tuple[float, float]:
        """Return both ends of the share that the commonest kind has in the source."""
        most = self.counts.max()
        tails = np.array([1 - level, 1 + level]) / 2
        low, high = scipy.special.betaincinv(most + 0.5, self.n - most + 0.5, tails).tolist()
        return low, 1.0 if most == self.n else high

    def with_commonest(self, share: float) -> np.ndarray:
        """Return shares of kinds after samples most like the commonest kind became copies of it."""
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
    """Count the samples that repeat; return None where the jackknife tells how often others may.

    It does for many kinds, and for vectors of which more pairs than samples make up the deficit:
    (Σ k²)² / Σ k⁴ over pairs.
    """
    n = similarity.n
    if n > MOST_COUNTED and not similarity.recurs:
        return None
    groups = similarity.groups()
    if groups is None:
        groups = np.arange(n)
    _, first, counts = np.unique(groups, return_index=True, return_counts=True)
    if len(first) > MOST_COUNTED:
        return None
    K = np.asarray(to_host(similarity.take(first).dense()), dtype=float)
    if not similarity.recurs and len(first) == n:
        squares = np.square(K[np.triu_indices(n, 1)])
        squares[squares < NO_DEFICIT**2] = 0.0
        if squares.sum() ** 2 >= n * np.square(squares).sum() > 0:
            return None
    return Repeats(n, (counts * (counts - 1)).sum() / 2, K, counts)


def log_ends(
    found: Jackknife, most: int, q: float, level: float, repeats: Repeats | None
) -> tuple[float, float]:
    """Return both ends of log VS_q of `most` samples, in [0, log most]."""
    full = math.log(most)
    low, high = deficit_ends(full - float(found.log), found, level, repeats, log_deficit(q))
    return max(0.0, full - high), full - max(0.0, low)


def log_deficit(q: float) -> Deficit:
    """Return the function log n − log VS_q."""

    known: dict[bytes, float] = {}  # intervals of several sizes look at the same shares

    def of(K: np.ndarray | None, w: np.ndarray, n: int) -> float:
        key = w.tobytes()
        if key not in known:
            shares = w
            if K is not None:
                root = np.sqrt(w)
                shares = positive_shares(np.linalg.eigvalsh(K * root * root[:, None]))
            known[key] = hill_number(shares[shares > 0], q)
        return math.log(n / known[key])

    return of


def deficit_ends(
    deficit: float, found: Jackknife, level: float, repeats: Repeats | None, of: Deficit
) -> tuple[float, float]:
    """Return both ends of a number that is 0 where nothing repeats."""
    reach = student_reach(level, found.units)
    if repeats is not None:
        return _with_recurrence(deficit, found, level, repeats, of)
    if not math.isfinite(found.spread):
        return 0.0, math.inf
    times = np.exp(min(reach * found.spread, 700.0))
    return float(deficit / times), float(deficit * times)


def _with_recurrence(
    deficit: float, found: Jackknife, level: float, repeats: Repeats, of: Deficit
) -> tuple[float, float]:
    """Return the jackknife's ends, moved by repeats that these samples do not show.

    The jackknife tells little of them where few pairs are equal, and nothing where kinds tie at
    order ∞: the more pairs, the less weight have ends of what was not seen. It misses that counts
    of kinds that are nearly even scatter in second order.
    """
    n, pairs, K, counts = repeats
    kinds = len(counts)
    fewest, most = repeats.share(level)
    reach = student_reach(level, found.units)
    error = reach * found.error
    weight = 1.0
    if error > NO_DEFICIT and pairs > n:
        weight = n / pairs
    down = 0.0
    if pairs and kinds > 1:
        apart = of(K, np.full(kinds, 1 / kinds), kinds)
        down = max(0.0, (deficit - apart) * (1 - least_mean(pairs, level) / pairs))
    up = max(0.0, of(K, repeats.with_commonest(most), n) - deficit)
    several = math.sqrt(np.count_nonzero(counts > 1)) / kinds
    error = math.hypot(error, (1 - weight) * reach * 2 * n * found.gain * several)
    # Independent distances to an end add up as squares (Zou & Donner 2008).
    low = deficit - math.hypot(error, weight * down)
    high = deficit + math.hypot(error, weight * up)
    if n - counts.max() <= _FEW_ODD * n:
        odd = n * (1 - fewest)
        whole = int(odd)
        unlike = np.r_[fewest, np.full(whole, 1 / n), (odd - whole) / n]
        low = min(low, of(None, unlike, n))
    return low, high


def least_mean(count: float, level: float) -> float:
    """Return the lower end of the mean of a Poisson count above 0."""
    return float(scipy.special.gammaincinv(count, (1 - level) / 2))
