"""The most similar pairs of samples, up to a maximum number, and nearest neighbours."""

from typing import NamedTuple

import numpy as np

from ...support.summary import format_repr, make_frame
from ...support.types import Frame, Record

# Rounding can make the similarity of identical samples smaller than 1 by this much.
ROUNDING = 1e-9


class Pair(NamedTuple):
    """Two samples and their similarity.

    Attributes
    ----------
    i : int
        Index of the first sample.
    j : int
        Index of the second sample, larger than i.
    similarity : float
        Their similarity.

    See Also
    --------
    vendiscore.explain : Find near-duplicates.

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
        return format_repr("Pair", self._asdict())

    def __str__(self) -> str:
        return f"Samples {self.i} and {self.j} have a similarity of {self.similarity:.3g}."

    def to_dict(self) -> Record:
        """Return a dict with the keys "i", "j" and "similarity"."""
        return self._asdict()

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row."""
        return make_frame([self.to_dict()])


class NearPairs:
    """Collection of the pairs of samples whose similarity is at least `floor`.

    If there are more than `max_pairs` pairs, the less similar ones are removed and the floor rises.
    It rises above `threshold` only if more than `max_pairs` pairs have at least this similarity,
    and never above 1. `error` is the maximum amount by which the added similarities may be too low.
    """

    def __init__(
        self,
        floor: float,
        max_pairs: int,
        threshold: float = np.inf,
        error: float = 0.0,
    ) -> None:
        """Start without pairs. See the docstring of the class for the parameters."""
        self.floor: float = floor - error
        self._threshold = threshold - error
        self._max_floor = 1 - error
        self._max_pairs = max_pairs
        self._count = 0
        none = np.empty(0, np.int32)
        self._iter_batches = [(none, none, np.empty(0))]

    def add(
        self,
        i: np.ndarray,
        j: np.ndarray,
        similarity: np.ndarray,
    ) -> None:
        """Add the pairs (i, j), arrays of equal length, with similarities ≥ `min_similarity`."""
        is_near = similarity >= self.min_similarity
        i = i[is_near].astype(np.int32)
        j = j[is_near].astype(np.int32)
        self._iter_batches.append((i, j, similarity[is_near]))
        self._count += len(i)
        # Remove the less similar half, including all pairs that are as similar as the median.
        while self._count > self._max_pairs and self.floor < self._max_floor:
            _, _, similarity = self.arrays
            half = len(similarity) // 2
            median = float(np.partition(similarity, half)[half])
            new_floor = median + 3 * ROUNDING  # `min_similarity` is then above the median
            if self.floor < self._threshold < new_floor:
                new_floor = self._threshold
            self.floor = min(new_floor, self._max_floor)
            self._iter_batches = [self.arrays]
            self._count = len(self._iter_batches[0][0])

    @property
    def min_similarity(self) -> float:
        """Minimum similarity of stored pairs: the floor, minus a tolerance for rounding errors."""
        return self.floor - 2 * ROUNDING

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stored pairs as three arrays of equal length: i, j and similarity, unsorted."""
        i, j, similarity = map(np.concatenate, zip(*self._iter_batches, strict=True))
        is_near = similarity >= self.min_similarity
        return i[is_near], j[is_near], similarity[is_near]


class Neighbours:
    """The nearest neighbour of each of n samples, which is the most similar other sample.

    `nearest`, shape (n,), holds the indices of the neighbours, and `similarity`, shape (n,), their
    similarities. Among equally similar samples, the first one is the neighbour. If n is 1, the
    sample is its own neighbour.
    """

    def __init__(self, n: int) -> None:
        self.nearest: np.ndarray = np.zeros(n, dtype=np.int64)
        self.similarity: np.ndarray = np.full(n, -np.inf)

    def add(
        self,
        i: np.ndarray,
        j: np.ndarray,
        similarity: np.ndarray,
    ) -> None:
        """Make j the neighbour of sample i if j is more similar, or equally similar and earlier.

        The arguments are arrays of equal length; `i` must not contain a sample twice.
        """
        gap = similarity - self.similarity[i]
        earlier = (gap == 0) & (j < self.nearest[i])
        closer = (gap > 0) | earlier
        i = i[closer]
        self.nearest[i] = j[closer]
        self.similarity[i] = similarity[closer]

    def add_pairs(
        self,
        i: np.ndarray,
        j: np.ndarray,
        similarity: np.ndarray,
    ) -> None:
        """Update the neighbours of both samples of the pairs (i, j), arrays of equal length.

        A sample may occur in several pairs.
        """
        rows = np.r_[i, j]
        columns = np.r_[j, i]
        values = np.r_[similarity, similarity]
        order = np.lexsort((columns, -values, rows))
        _, start = np.unique(rows[order], return_index=True)
        first = order[start]
        self.add(rows[first], columns[first], values[first])
