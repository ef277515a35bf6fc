"""The most similar pairs of a set, up to a limit, and the nearest neighbour of each sample."""

from typing import NamedTuple

import numpy as np

from ...support.summary import format_repr, make_frame
from ...support.types import Frame, Record

# Copies may come out less similar than 1 by rounding.
ROUNDING = 1e-9


class Pair(NamedTuple):
    """Two samples and their similarity.

    Attributes
    ----------
    i : int
        Index of the first sample.
    j : int
        Index of the second sample, above i.
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
        """Return the indices and the similarity by their names."""
        return self._asdict()

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row."""
        return make_frame([self.to_dict()])


class NearPairs:
    """Pairs of samples down to the similarity `floor`, which rises when there are too many.

    It rises above the `threshold` only if more than `most` pairs are at least that similar, and
    to 1 at most. Similarities may be too low by `error`.
    """

    def __init__(
        self,
        floor: float,
        max_pairs: int,
        threshold: float = np.inf,
        error: float = 0.0,
    ) -> None:
        self.floor = floor - error
        self._threshold = threshold - error
        self._max_floor = 1 - error
        self._max_pairs = max_pairs
        self._count = 0
        none = np.empty(0, np.int32)
        self._batches = [(none, none, np.empty(0))]

    def add(
        self,
        i: np.ndarray,
        j: np.ndarray,
        similarity: np.ndarray,
    ) -> None:
        """Add pairs, but for pairs below the floor."""
        is_near = similarity >= self.min_similarity
        i = i[is_near].astype(np.int32)
        j = j[is_near].astype(np.int32)
        self._batches.append((i, j, similarity[is_near]))
        self._count += len(i)
        # Drop the less similar half, and all pairs as similar as the last one that is dropped.
        while self._count > self._max_pairs and self.floor < self._max_floor:
            _, _, similarity = self.arrays
            half = len(similarity) // 2
            median = float(np.partition(similarity, half)[half])
            new_floor = median + 3 * ROUNDING  # `least` is above the middle one
            if self.floor < self._threshold < new_floor:
                new_floor = self._threshold
            self.floor = min(new_floor, self._max_floor)
            self._batches = [self.arrays]
            self._count = len(self._batches[0][0])

    @property
    def min_similarity(self) -> float:
        """The similarity of a pair that counts at the threshold `floor`, less rounding."""
        return self.floor - 2 * ROUNDING

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """i, j and the similarity of each pair, unsorted."""
        i, j, similarity = map(np.concatenate, zip(*self._batches, strict=True))
        is_near = similarity >= self.min_similarity
        return i[is_near], j[is_near], similarity[is_near]


class Neighbours:
    """The most similar other sample of each of n, the first of several; itself for n = 1."""

    def __init__(self, n: int) -> None:
        self.nearest: np.ndarray = np.zeros(n, dtype=np.int64)
        self.similarity: np.ndarray = np.full(n, -np.inf)

    def add(
        self,
        i: np.ndarray,
        j: np.ndarray,
        similarity: np.ndarray,
    ) -> None:
        """Make j the neighbour of i if more similar, or as similar and earlier; no i twice."""
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
        """Update the neighbours of both samples of each pair; samples may repeat."""
        rows = np.r_[i, j]
        columns = np.r_[j, i]
        values = np.r_[similarity, similarity]
        order = np.lexsort((columns, -values, rows))
        _, start = np.unique(rows[order], return_index=True)
        first = order[start]
        self.add(rows[first], columns[first], values[first])
