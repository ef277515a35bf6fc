"""p-values by exchanging labels, stopped once they are known well enough, and for many pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

# So many permutations as extreme as what was seen say well enough that it is nothing special, once
# there are enough of them all.
ENOUGH, LEAST = 20, 99


class Null(NamedTuple):
    """What chance makes of a statistic.

    Attributes
    ----------
    p : float
        In (0, 1]: the share of permutations, with the one seen, that are as far from 0 as that.
    reach : float
        How far from 0 a share of `level` of them stay.
    done : int
        How many permutations it took.
    """

    p: float
    reach: float
    done: int


def permuted(
    seen: float, draw: Callable[[], float], permutations: int, level: float = 0.95
) -> Generator[int, None, Null]:
    """Draw a statistic again and again, with labels exchanged; yields how often it was drawn.

    Of l draws of which h are as far from 0 as what was seen, or farther, p = (h + 1)/(l + 1). That
    is at most α with probability at most α where all permutations are equally likely, even if
    drawing stops at the 20th (Besag & Clifford, Biometrika 1991); p is then known to a fifth of
    itself.

    >>> from vendiscore.progress import finish
    >>> finish(permuted(3.0, lambda: 1.0, 199))
    Null(p=0.005, reach=1.0, done=199)
    >>> finish(permuted(0.0, lambda: 1.0, 199))
    Null(p=1.0, reach=1.0, done=99)
    """
    bar = abs(seen) * (1 - 1e-9)  # what is equal but for rounding is as far
    least = min(permutations, max(LEAST, needed(level)))
    drawn: list[float] = []
    beyond = 0
    while len(drawn) < permutations and not (beyond >= ENOUGH and len(drawn) >= least):
        drawn.append(abs(draw()))
        beyond += drawn[-1] >= bar
        yield len(drawn)
    done = len(drawn)
    reach = sorted(drawn)[min(done, math.ceil(level * (done + 1) - 1e-9)) - 1]
    return Null((beyond + 1) / (done + 1), reach, done)


def needed(level: float, pairs: int = 1) -> int:
    """How many permutations the least p of so many pairs needs to be 1 − level once adjusted.

    >>> needed(0.95), needed(0.99, 3)
    (19, 299)
    """
    return math.ceil(pairs / (1 - level) - 1e-6) - 1


def holm(p: Sequence[float]) -> list[float]:
    """p-values that may be read together: the chance that any pair is falsely said to differ.

    Holm, Scandinavian Journal of Statistics 1979: the smallest times their number, the next times
    one less, and so on, none below the one before.

    >>> holm([0.04, 0.01, 0.5])
    [0.08, 0.03, 0.5]
    """
    adjusted = np.empty(len(p))
    order = np.argsort(p, kind="stable")
    times = len(p) - np.arange(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(p)[order] * times))
    return [float(value) for value in adjusted]
