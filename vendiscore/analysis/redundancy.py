"""Which samples say the same: the most similar pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arguments import integer
from ..arrays.namespace import to_host
from ..similarity.base import Similarity
from ..summary import one_line


class Pair(NamedTuple):
    """Two samples and how similar they are.

    Attributes
    ----------
    i, j : int
        Their places, i < j.
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


def redundant_pairs(similarity: Similarity, count: int = 4) -> list[Pair]:
    """The most similar pairs, no sample in two of them.

    Each is the most similar pair of the samples that are left; of several, the first by i, then j.

    Notes
    -----
    Time O(count · n²), memory a block of rows and O(count · n).

    Examples
    --------
    >>> from vendiscore import MatrixSimilarity
    >>> K = np.array([[1.0, 0.8, 0.7], [0.8, 1.0, 0.0], [0.7, 0.0, 1.0]])
    >>> redundant_pairs(MatrixSimilarity(K))
    [Pair(i=0, j=1, similarity=0.8)]
    """
    count = integer("count", count)
    found: list[Pair] = []
    used: set[int] = set()
    for pair in _candidates(similarity, count):
        if not used & {pair.i, pair.j}:
            used |= {pair.i, pair.j}
            found.append(pair)
        if len(found) == count:
            break
    return found


def _candidates(similarity: Similarity, count: int) -> list[Pair]:
    """Pairs that can be among the first `count`, the most similar first.

    Pairs chosen before hold 2 (count − 1) samples at most, so that the partner of a sample in a
    pair chosen later is among its 2 count − 1 most similar ones.
    """
    i, j, values = [], [], []
    for block, rows in similarity.blocks():
        K = np.array(to_host(rows), dtype=np.float64)
        here = np.arange(len(K))
        K[np.arange(similarity.n) <= here[:, None] + block.start] = -np.inf
        for _ in range(min(2 * count - 1, similarity.n - 1)):
            best = K.argmax(axis=1)
            i.append(here + block.start)
            j.append(best)
            values.append(K[here, best])
            K[here, best] = -np.inf
    if not i:
        return []
    rows, columns, similarities = map(np.concatenate, (i, j, values))
    kept = np.isfinite(similarities)  # else there were fewer partners
    rows, columns, similarities = rows[kept], columns[kept], similarities[kept]
    order = np.lexsort((columns, rows, -similarities))
    return [Pair(int(rows[k]), int(columns[k]), float(similarities[k])) for k in order]
