"""The samples that may be chosen: rows of their similarities, in double precision, when asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays.namespace import is_numpy, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity

# Features of another precision are converted once if that takes no more bytes, else by blocks.
COPIED = 1 << 27


class Candidates:
    """Rows of a Similarity whose diagonal is brought to exactly 1; `dim` counts dense features."""

    def __init__(self, similarity: Similarity) -> None:
        if not (to_host(similarity.diagonal()) == 1).all():
            similarity = similarity.normalized()
        self.similarity, self.n = similarity, similarity.n
        self.dim: int | None = None
        if isinstance(similarity, FeatureSimilarity) and is_numpy(similarity.X):
            found = similarity.compact()
            self.dim, X, scale = found.dim, found.X, found.scale
            self._X = X.astype(np.float64, copy=False) if 8 * X.size <= COPIED else X
            self._scale = np.ones(self.n) if scale is None else to_host(scale)

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
        is_double = self._X.dtype == np.float64
        for rows in [slice(None)] if is_double else row_blocks(self.n, 8 * self._X.shape[1], 256):
            np.matmul(some, self._X[rows].astype(np.float64, copy=False).T, out=out[:, rows])
        out *= self._scale
        return out

    def among(self, index: np.ndarray) -> np.ndarray:
        """Return similarities (m, m) of the samples in `index` to each other, a new array."""
        return np.array(to_host(self.similarity.take(index).dense()), dtype=np.float64)

    def features(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows (…, dim) of unit length, where `dim` is not None."""
        for rows in row_blocks(self.n, 8 * self._X.shape[1], 256):
            yield rows, self._X[rows] * self._scale[rows, None]
