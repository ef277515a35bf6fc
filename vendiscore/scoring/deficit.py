"""Intervals of log VS of few samples, on the scale of the deficit log n − log VS.

The deficit is what repetition takes from a score. It cannot be negative, and its logarithm varies
evenly where log VS presses against log n, so that Student's t holds for it from 4 samples on. Where
a few pairs make up the deficit, or none does, other samples may repeat more often: there the
number of repeating pairs has the interval of a Poisson count (Garwood, Biometrika 1936).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from ..core.hill import log_power_mean
from ..core.namespace import scalar, to_host
from ..similarity.base import Similarity
from ..spectral.spectrum import Spectrum
from .jackknife import NO_DEFICIT, Jackknife
from .subsampling import student_reach

# Pairs are counted for so many samples at most (labels: any number); above, the jackknife holds.
_MOST_COUNTED = 400
# Samples not of the commonest kind are counted if they are less than this share.
_FEW_ODD = 0.25


class Repeats(NamedTuple):
    """Statistics of how the pairs of n samples repeat each other.

    `pairs` is (Σ k²)² / Σ k⁴ over pairs, how many make up the deficit; `squares` is Σ k²; `odd` is
    how many samples are not of the commonest kind; `plain` tells whether all k are 0 or 1, and
    `negative` whether any k is below 0.
    """

    n: int
    pairs: float
    squares: float
    odd: float
    plain: bool
    negative: bool = False

    @property
    def thin(self) -> bool:
        """True if fewer pairs than samples make up the deficit: too few for the jackknife."""
        return not self.plain and self.pairs < self.n

    @property
    def few(self) -> bool:
        """True if the jackknife cannot tell how often other samples would repeat."""
        return self.plain or self.thin


def repeats_of(similarity: Similarity, spectrum: Spectrum | None = None) -> Repeats | None:
    """Count the pairs that repeat, or return None for many samples that are not labels."""
    n = similarity.n
    if n <= _MOST_COUNTED:
        K = np.asarray(to_host(similarity.dense()), dtype=float)
        every = K[np.triu_indices(n, 1)]
        squares = np.square(every)
        squares[squares < NO_DEFICIT**2] = 0.0
        total = float(squares.sum())
        fourth = float(np.square(squares).sum())
        plain = bool(((squares == 0) | (squares > 1 - NO_DEFICIT)).all())
        odd = n - float(K.sum(axis=1).max())
        negative = bool(every.min() < -NO_DEFICIT)
        return Repeats(n, total**2 / fourth if fourth else 0.0, total, odd, plain, negative)
    groups = similarity.groups()
    if spectrum is None or groups is None:
        return None
    counts = np.unique(groups, return_counts=True)[1].astype(float)
    same = float(np.square(counts).sum())
    if n**2 * scalar((spectrum.values**2).sum()) > same + NO_DEFICIT * n**2:
        return None
    return Repeats(n, (same - n) / 2, (same - n) / 2, n - float(counts.max()), True)


def log_ends(
    found: Jackknife, most: int, q: float, level: float, repeats: Repeats | None
) -> tuple[float, float]:
    """Return both ends of log VS_q of `most` samples, in [0, log most]."""
    full = math.log(most)
    of_pair = deficit_of_pair(most, q)

    def beside(odd: float) -> float:
        return full - log_beside(most, odd, q)

    low, high = deficit_ends(full - found.log, found, level, repeats, of_pair, beside)
    return max(0.0, full - high), full - max(0.0, low)


def deficit_ends(
    deficit: float,
    found: Jackknife,
    level: float,
    repeats: Repeats | None,
    of_pair: float,
    beside: Callable[[float], float],
) -> tuple[float, float]:
    """Return both ends of a number that is 0 where nothing repeats, and `of_pair` for one repeat.

    `beside` returns that number for so many distinct samples and otherwise one kind.
    """
    low = 0.0
    high = math.inf
    if math.isfinite(found.spread):
        times = np.exp(min(student_reach(level, found.units) * found.spread, 700.0))
        low = float(deficit / times)
        high = float(deficit * times)
    if repeats is None or not repeats.few:
        return low, high
    count = repeats.pairs if deficit > NO_DEFICIT else 0.0
    fewer, more = (x * deficit / count if count else 0.0 for x in poisson(count, level))
    if not (repeats.plain and count):
        more = poisson(repeats.squares, level)[1] * of_pair
    if math.isinf(high):
        low = fewer
        high = more
    low = min(low, fewer)
    high = max(high, more)
    if repeats.plain and repeats.odd < _FEW_ODD * repeats.n:
        low = min(low, beside(poisson(max(repeats.odd, 0.0), level)[1]))
    return low, high


def poisson(count: float, level: float) -> tuple[float, float]:
    """Return both ends of the mean of a Poisson count."""
    tail = (1 - level) / 2
    low = float(scipy.special.gammaincinv(count, tail)) if count > 0 else 0.0
    return low, float(scipy.special.gammaincinv(count + 1, 1 - tail))


def deficit_of_pair(n: int, q: float) -> float:
    """Return log n − log VS_q of n samples, two of which are equal and all others different."""
    return math.log(n) - log_beside(n, n - 2, q)


def log_beside(n: int, odd: float, q: float) -> float:
    """Return log VS_q of n − odd equal samples and `odd` distinct ones."""
    odd = min(odd, n - 1.0)
    logs = np.array([math.log1p(-odd / n), -math.log(n)])
    if math.isinf(q):
        return float(-logs[0])
    return float(log_power_mean(np.array([1 - odd / n, odd / n]), logs, q))
