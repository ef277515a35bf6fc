"""The samples that may be chosen: rows of their similarities, and products with their features."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..core.namespace import Array, is_numpy, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity

# Features of another precision are converted once if that takes no more bytes, else by blocks.
COPIED = 1 << 27


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

    @cached_property
    def _copied(self) -> np.ndarray:
        if 8 * self._X.size > COPIED:
            return self._X
        return self._X.astype(np.float64, copy=False)

    def row(self, v: int) -> np.ndarray:
        """Return k(x, v) of all samples x, (n,), a new array."""
        row = self.rows(np.array([v]))[0]
        row[v] = 1.0
        return row

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return k(x, v) of the samples v in `index`, (len(index), n), a new array."""
        if self.dim is None:
            return _copy(self.similarity.rows(index))
        X = self._copied
        some = self.features(index)
        out = np.empty((len(index), self.n))
        if X.dtype == np.float64:
            np.matmul(some, X.T, out=out)
        else:
            some = some.astype(np.float32)
            for rows in row_blocks(self.n, 4 * X.shape[1], 256):
                part = X[rows].astype(np.float32, copy=False)
                out[:, rows] = some @ part.T
        out *= self._scale
        return out

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return _copy(self.similarity.take(index).dense())

    def features(self, index: np.ndarray | slice) -> np.ndarray:
        """Return features (…, dim) of unit length in double precision, where `dim` is not None."""
        X = self._X[index].astype(np.float64)
        X *= self._scale[index, None]
        return X

    def blocks(self) -> Iterator[slice]:
        """Yield slices of samples whose features fit in the cache."""
        dim = self._X.shape[1]
        yield from row_blocks(self.n, 8 * dim, max(256, 2 * dim))


def _copy(K: Array) -> np.ndarray:
    """Return a new array of similarities in double precision."""
    return np.array(to_host(K), dtype=np.float64)
