"""The most similar pairs of a few samples, each sample in one pair at most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..summary import one_line


class Pair(NamedTuple):
    """Two samples and how similar they are.

    Attributes
    ----------
    i, j : int, their places, i < j
    similarity : float

    Examples
    --------
    >>> from vendiscore import explain
    >>> above, below = explain(["a b c", "a b c", "a b d"], ns=[1], threshold=0.8).boundary(1)
    >>> below[0].i, below[0].j, round(below[0].similarity, 3)  # two words of three
    (0, 2, 0.667)
    """

    i: int
    j: int
    similarity: float

    def __repr__(self) -> str:
        return one_line("Pair", self._asdict())

    def __str__(self) -> str:
        return f"Samples {self.i} and {self.j} have a similarity of {self.similarity:.3g}."


def redundant_pairs(K: np.ndarray, count: int) -> list[Pair]:
    """Return the most similar pairs, ties by i, then j; no sample in two; O(count · n²)."""
    K = np.array(K, dtype=np.float64)
    K[np.tril_indices(len(K))] = -np.inf
    found: list[Pair] = []
    for _ in range(min(count, len(K) // 2)):
        i, j = divmod(int(K.argmax()), len(K))
        found.append(Pair(i, j, float(K[i, j])))
        K[[i, j]] = K[:, [i, j]] = -np.inf
    return found
