"""The samples that may be chosen: rows of their similarities, and products with their features."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..core.namespace import is_numpy, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity

# Features of another precision are converted once if that takes no more bytes, else by blocks.
COPIED = 1 << 27
# Up to so many numbers, features of unit length are kept.
UNIT = 1 << 20


class Candidates:
    """Rows of a Similarity whose diagonal is brought to exactly 1; `dim` counts dense features."""

    def __init__(self, similarity: Similarity) -> None:
        if not (to_host(similarity.diagonal()) == 1).all():
            similarity = similarity.normalized()
        self.similarity = similarity
        self.n = similarity.n
        self.dim: int | None = None
        if isinstance(similarity, FeatureSimilarity) and is_numpy(similarity.X):
            found = similarity.compact()
            self.dim, self._X, scale = found.dim, found.X, found.scale
            self._scale = np.ones(self.n) if scale is None else to_host(scale)

    @cached_property
    def _copied(self) -> np.ndarray:
        X = self._X
        return X.astype(np.float64, copy=False) if 8 * X.size <= COPIED else X

    def row(self, v: int) -> np.ndarray:
        """Return k(x, v) of all samples x, (n,), a new array."""
        row = self.rows(np.array([v]))[0]
        row[v] = 1.0
        return row

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return k(x, v) of the samples v in `index`, (len(index), n), a new array."""
        if self.dim is None:
            return np.array(to_host(self.similarity.rows(index)), dtype=np.float64)
        X, some = self._copied, self.features(index)
        out = np.empty((len(index), self.n))
        if X.dtype == np.float64:
            np.matmul(some, X.T, out=out)
        else:
            single = some.astype(np.float32)
            for rows in row_blocks(self.n, 4 * X.shape[1], 256):
                out[:, rows] = single @ X[rows].astype(np.float32, copy=False).T
        out *= self._scale
        return out

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return np.array(to_host(self.similarity.take(index).dense()), dtype=np.float64)

    def features(self, index: np.ndarray | slice) -> np.ndarray:
        """Return features (…, dim) of unit length in double precision, where `dim` is not None."""
        if self._X.size > UNIT:
            return self._X[index].astype(np.float64) * self._scale[index, None]
        return self._unit[index]

    @cached_property
    def _unit(self) -> np.ndarray:
        return self._X.astype(np.float64) * self._scale[:, None]

    def product(self, index: np.ndarray | slice, V: np.ndarray, single: bool) -> np.ndarray:
        """Return features of unit length times V (dim, m), in single precision if asked."""
        if not single:
            return self.features(index) @ V
        X = self._X[index]
        if X.dtype == np.float64:  # lengths may exceed the range of single precision
            X = X * self._scale[index, None]
            return X.astype(np.float32) @ V.astype(np.float32)
        Z = X.astype(np.float32, copy=False) @ V.astype(np.float32)
        Z *= self._scale[index, None].astype(np.float32)
        return Z

    def blocks(self) -> Iterator[slice]:
        """Yield slices of samples whose features fit in the cache."""
        yield from row_blocks(self.n, 8 * self._X.shape[1], max(256, 2 * self._X.shape[1]))
