"""How near samples are to others: the nearest of each, and the most similar pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from ..arrays.namespace import row_blocks, to_host
from ..progress import track
from ..similarity.base import Similarity
from ..summary import one_line

# Rows that are compared with all others at once: a product of fewer waits for memory.
ROWS = 256


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
    """Return the most similar pairs, first by i, then j; no sample twice; time O(count · n²)."""
    K = np.array(K, dtype=np.float64)
    K[np.tril_indices(len(K))] = -np.inf
    found: list[Pair] = []
    for _ in range(min(count, len(K) // 2)):
        i, j = divmod(int(K.argmax()), len(K))
        found.append(Pair(i, j, float(K[i, j])))
        K[[i, j]] = K[:, [i, j]] = -np.inf
    return found


@dataclass(frozen=True, eq=False)
class Neighbours:
    """How each of n samples stands to the others."""

    nearest: np.ndarray  # the most similar other sample, the first of several; itself for n = 1
    similarity: np.ndarray  # how similar that is
    mean: np.ndarray  # over all others; 0 for n = 1

    @classmethod
    def of(
        cls, similarity: Similarity, look: Callable[[np.ndarray, int], None] | None = None
    ) -> Self:
        """Find the neighbours; `look` gets each block of rows, −∞ at own places, and its start."""
        n = similarity.n
        nearest, closest, mean = np.zeros(n, dtype=int), np.empty(n), np.empty(n)
        blocks = list(row_blocks(n, 8 * n, ROWS))
        for block in track(blocks, len(blocks), "comparing samples"):
            K = np.array(to_host(similarity.rows(block)), dtype=np.float64)
            here = np.arange(len(K))
            own = here, here + block.start
            alone = K[own].copy()
            mean[block] = (K.sum(axis=1) - alone) / max(1, n - 1)
            K[own] = -np.inf
            nearest[block] = K.argmax(axis=1)
            closest[block] = K[here, nearest[block]] if n > 1 else alone
            if look is not None:
                look(K, block.start)
        return cls(nearest, closest, mean)
