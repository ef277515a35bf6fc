"""p-values by exchanging labels, stopped once they are known well enough, and for many pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

from ..uncertainty.jackknife import quantile

# So many permutations as extreme as what was seen are enough, once there are LEAST of them all.
ENOUGH, LEAST = 20, 99
_LEAST_DIGIT = 1e-12  # by which p may be above a level that it equals


class Null(NamedTuple):
    """p of a statistic, in (0, 1], and how far from 0 each permutation is, ascending."""

    p: float
    drawn: tuple[float, ...]

    def reach(self, level: float) -> float:
        """Return how far from 0 a share `level` of draws stay; of few, by a normal tail."""
        done = len(self.drawn)
        place, usual = (math.ceil(x * (done + 1) - 1e-9) for x in (level, 0.95))
        if place <= done:
            return self.drawn[place - 1]
        return quantile(level) / quantile(0.95) * self.drawn[usual - 1]


def permuted(
    seen: float, draw: Callable[[], float], permutations: int, level: float = 0.95
) -> Generator[int, None, Null]:
    """Draw a statistic with labels exchanged, and yield how often; stopping at 20 keeps p exact."""
    bar = abs(seen) * (1 - 1e-9)  # what is equal but for rounding is as far
    least = min(permutations, max(LEAST, needed(level)))
    drawn: list[float] = []
    beyond = 0
    while len(drawn) < permutations and not (beyond >= ENOUGH and len(drawn) >= least):
        drawn.append(abs(draw()))
        beyond += drawn[-1] >= bar
        yield len(drawn)
    p = (beyond + 1) / (len(drawn) + 1)  # Besag & Clifford, Biometrika 1991
    return Null(p, tuple(sorted(drawn)))


def needed(level: float, pairs: int = 1) -> int:
    """Return how many permutations the least adjusted p of so many pairs needs to be 1 − level."""
    return math.ceil(pairs / (1 - level) - 1e-6) - 1


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p-values to the chance that any pair is falsely said to differ (Holm 1979)."""
    adjusted = np.empty(len(p))
    order = np.argsort(p, kind="stable")
    times = len(p) - np.arange(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(p)[order] * times))
    return adjusted.tolist()


def levels(p: Sequence[float], level: float) -> list[float]:
    """Return levels of intervals that leave out 0 only where `holm` says that a pair differs."""
    share, m = 1 - level, len(p)
    adjusted = np.asarray(holm(p))
    found = [level if m == 1 else 1 - share / m] * m
    for step, i in enumerate(np.argsort(p, kind="stable").tolist()):
        if p[i] > share / m + _LEAST_DIGIT and adjusted[i] <= share + _LEAST_DIGIT:
            found[i] = level if step == m - 1 else 1 - share / (m - step)
    return found
