"""The samples that may be chosen: rows of their similarities, in double precision, when asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays.namespace import is_numpy, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity


class Candidates:
    """Rows of a Similarity whose diagonal is brought to exactly 1; `dim` counts dense features."""

    def __init__(self, similarity: Similarity) -> None:
        if not (to_host(similarity.diagonal()) == 1).all():
            similarity = similarity.normalized()
        self.dim: int | None = None
        if isinstance(similarity, FeatureSimilarity) and is_numpy(similarity.X):
            similarity = similarity.compact()
            self.dim = similarity.dim
        self.similarity, self.n = similarity, similarity.n

    def row(self, v: int) -> np.ndarray:
        """Return k(x, v) of all samples x, (n,), a new array."""
        row = self.rows(np.array([v]))[0]
        row[v] = 1.0
        return row

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return k(x, v) of the samples v in `index`, (len(index), n), a new array."""
        return np.array(to_host(self.similarity.rows(index)), dtype=np.float64)

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return np.array(to_host(self.similarity.take(index).dense()), dtype=np.float64)

    def features(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows (…, dim) of unit length, where `dim` is not None."""
        assert isinstance(self.similarity, FeatureSimilarity)
        X, scale = self.similarity.X, self.similarity.scale
        for rows in row_blocks(self.n, 8 * X.shape[1], 256):
            F = X[rows].astype(np.float64)
            yield rows, F if scale is None else F * to_host(scale)[rows, None]
