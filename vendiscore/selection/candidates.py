"""The samples that may be chosen: rows of their similarities, in double precision, when asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays.namespace import is_numpy, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity

# Features in other precision are brought to double once if that takes no more bytes, else block
# by block, each time.
COPIED = 1 << 27


class Candidates:
    """Rows of a Similarity whose diagonal is brought to exactly 1; `dim` counts dense features."""

    def __init__(self, similarity: Similarity) -> None:
        diagonal = to_host(similarity.diagonal())
        self.similarity = similarity if (diagonal == 1).all() else similarity.normalized()
        self.n = similarity.n
        self.dim: int | None = None
        self._X: Any = None
        self._scale = np.ones(1)
        if isinstance(self.similarity, FeatureSimilarity) and is_numpy(self.similarity.X):
            found = self.similarity.compact()
            self._X, self.dim = found.X, found.X.shape[1]
            scale = found.scale
            self._scale = np.ones(self.n) if scale is None else to_host(scale)
            if self._X.dtype != np.float64 and 8 * self._X.size <= COPIED:
                self._X = self._X.astype(np.float64)

    def row(self, v: int) -> np.ndarray:
        """Return k(x, v) of all samples x, (n,), a new array."""
        row = self.rows(np.array([v]))[0]
        row[v] = 1.0
        return row

    def rows(self, index: np.ndarray) -> np.ndarray:
        """Return k(x, v) of the samples v in `index`, (len(index), n), a new array."""
        if self.dim is None:
            return np.array(to_host(self.similarity.rows(index)), dtype=np.float64)
        some = self._X[index].astype(np.float64) * self._scale[index, None]
        out = np.empty((len(index), self.n))
        for block, X in self._wide():
            np.matmul(some, X.T, out=out[:, block])
        out *= self._scale
        return out

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return np.array(to_host(self.similarity.take(index).dense()), dtype=np.float64)

    def features(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows (…, dim) of unit length, where `dim` is not None."""
        for block, X in self._wide():
            for rows in row_blocks(len(X), 8 * X.shape[1], 256):
                some = slice(block.start + rows.start, block.start + rows.stop)
                yield some, X[rows] * self._scale[some, None]

    def _wide(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the unscaled features in double precision."""
        if self._X.dtype == np.float64:
            yield slice(0, self.n), self._X
            return
        for block in row_blocks(self.n, 8 * self._X.shape[1], 256):
            yield block, self._X[block].astype(np.float64)
