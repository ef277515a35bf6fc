"""The samples that may be chosen: rows of their similarities, and products with their features."""

from collections.abc import Iterator

import numpy as np

from ...similarity.base import Similarity
from ...similarity.features import FeatureSimilarity
from ...support.namespace import is_numpy, row_blocks, to_host


class Candidates:
    """Rows of a Similarity whose diagonal is brought to exactly 1; `dim` counts dense features."""

    def __init__(self, similarity: Similarity) -> None:
        diagonal = to_host(similarity.diagonal())
        if (diagonal != 1).any():
            similarity = similarity.normalized()
        self.similarity = similarity
        self.n: int = similarity.n
        self.dim: int | None = None
        if isinstance(similarity, FeatureSimilarity) and is_numpy(similarity.X):
            compact = similarity.compact()
            self.dim = compact.dim
            self._X = compact.X
            self._scale = np.ones(self.n)
            if compact.scale is not None:
                self._scale = to_host(compact.scale)

    def row(self, v: int) -> np.ndarray:
        """Return k(x, v) of all samples x, (n,), a new array."""
        row = self.rows(np.array([v]))[0]
        row[v] = 1.0
        return row

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return k(x, v) of the samples v in `index`, (len(index), n), a new array."""
        return np.array(to_host(self.similarity.rows(index)), float)

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return np.array(to_host(self.similarity.take(index).dense()), float)

    def features(self, index: np.ndarray | slice) -> np.ndarray:
        """Return features (…, dim) of unit length in double precision, where `dim` is not None."""
        return np.multiply(self._X[index], self._scale[index, None], dtype=np.float64)

    def blocks(self) -> Iterator[slice]:
        """Yield slices of samples whose features fit in the cache."""
        dim = self._X.shape[1]
        yield from row_blocks(self.n, 8 * dim, max(256, 2 * dim))
