"""p-values by exchanging labels, stopped once they are known well enough, and for many pairs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

# Permutations as extreme as what was seen, after which a p-value is known to a fifth of itself.
ENOUGH = 20


class PValue(NamedTuple):
    """A p-value in (0, 1], and how many permutations it took."""

    p: float
    done: int


def permuted(
    seen: float, draw: Callable[[], float], permutations: int
) -> Generator[int, None, PValue]:
    """The share of permutations whose statistic is as far from 0 as the one seen, or farther.

    Stops at the 20th of these: h of the first l give p = h/l, all of N give (h + 1)/(N + 1). Both
    are at most α with probability at most α where all permutations are equally likely (Besag &
    Clifford, Biometrika 1991). Yields how many were drawn.

    >>> from vendiscore.progress import finish
    >>> finish(permuted(3.0, lambda: 1.0, 99))
    PValue(p=0.01, done=99)
    >>> finish(permuted(0.0, lambda: 1.0, 99))
    PValue(p=1.0, done=20)
    """
    bar = abs(seen) * (1 - 1e-9)  # what is equal but for rounding is as far
    beyond = 0
    for done in range(1, permutations + 1):
        beyond += abs(draw()) >= bar
        yield done
        if beyond == ENOUGH:
            return PValue(beyond / done, done)
    return PValue((beyond + 1) / (permutations + 1), permutations)


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
