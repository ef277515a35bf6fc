"""Two or three sets side by side, at matched size, and which differences chance does not explain.

The score grows with the number of samples, so that sets of different sizes cannot be compared as
they are. And a set is itself a draw from something: another sample of the same source scores
otherwise. Both are met by halves. Every set is drawn down to m, half the size of the smallest, in
pairs of draws that have no sample in common; over several seeds.

Two such draws a, b from n >= 2m samples are independent samples of size m from the source, so that
(a − b)² / 2 is an unbiased estimate of the variance of a score of m samples, and the mean of a pair
has half of that variance. The mean over all pairs has no more (averaging over the splits cannot add
any), so that half the variance is an honest square of its standard error, a little too large.
Drawing with replacement would make duplicates, which lower the score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

MIN_SIZE = 4  # below, halves have one sample, and its score is 1
LEVEL = 0.01  # how often two sets of one source may be said to differ

MORE, LESS = "more diverse", "less diverse"
SAME, FEW = "no difference larger than chance", "too few samples"


@dataclass(frozen=True)
class Comparison:
    """Sets scored at matched size.

    Attributes
    ----------
    sizes : list of int
    q : float
    arguments : mapping
        What `compute` gives the same `whole` scores with.
    matched : int
        Half the size of the smallest set, to which all are drawn down.
    whole : list of float
        VS_q of each set with all its samples.
    draws : list of array (draws, 2)
        VS_q of each set at matched size: for each seed, of two draws without a common sample.
    profiles : list of array (draws, 2, len(ORDERS))
        The same for every q of `ORDERS`.
    """

    sizes: list[int]
    q: float
    arguments: Mapping[str, Any]
    matched: int
    whole: list[float]
    draws: list[np.ndarray]
    profiles: list[np.ndarray]

    def mean(self, i: int) -> float:
        """The mean score of set i at matched size."""
        return float(self.draws[i].mean())

    def deviation(self, i: int) -> float:
        """How much samples of matched size from the source of set i differ: one deviation."""
        return float(_deviation(self.draws[i]))

    def error(self, i: int) -> float:
        """The standard error of the mean score of set i."""
        return self.deviation(i) / math.sqrt(2)

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """The mean score of set i minus that of set j, and its standard error."""
        return self.mean(i) - self.mean(j), math.hypot(self.error(i), self.error(j))

    def verdict(self, i: int, j: int) -> str:
        """MORE, LESS or SAME, whichever set i is than set j; FEW where nobody could tell."""
        if min(self.sizes[i], self.sizes[j]) < MIN_SIZE or self.matched < 2:
            return FEW
        gap, error = self.difference(i, j)
        if abs(gap) <= max(self._quantile(i, j) * error, 1e-9 * self.matched):
            return SAME
        return MORE if gap > 0 else LESS

    def profile(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean profile of set i at matched size, and its standard errors."""
        table = self.profiles[i]
        return table.mean(axis=(0, 1)), _deviation(table) / math.sqrt(2)

    def _quantile(self, i: int, j: int) -> float:
        """Student's, with the degrees of freedom after Welch and Satterthwaite."""
        parts = [(self.error(k) ** 2, self._freedom(k)) for k in (i, j)]
        total = sum(square for square, _ in parts)
        if total == 0:
            return 0.0
        freedom = 1 / sum((square / total) ** 2 / degrees for square, degrees in parts)
        return float(stdtrit(freedom, 1 - LEVEL / 2))

    def _freedom(self, i: int) -> float:
        # Of the draws given the set, and of the set given its source.
        return 1 / (1 / len(self.draws[i]) + 1 / (self.sizes[i] - 1))


def _deviation(pairs: np.ndarray) -> np.ndarray:
    """The deviation of one draw, from pairs (draws, 2, ...) of independent ones."""
    return np.asarray(np.sqrt(((pairs[:, 0] - pairs[:, 1]) ** 2).mean(axis=0) / 2))
