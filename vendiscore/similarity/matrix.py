"""Similarities whose matrix is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..arrays.identical import identical_rows
from ..arrays.namespace import Array, is_numpy, namespace
from .base import Index, Similarity


class MatrixSimilarity(Similarity):
    """A dense symmetric K (n, n), NumPy or torch, not copied."""

    def __init__(
        self, K: Array, *, psd: bool = False, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.n = K.shape[0]
        self.K, self.psd, self.settings = K, psd, settings or {}

    def of(self, K: Array) -> Self:
        """The same of another matrix of that size."""
        return self._with(K=K)

    def _diagonal(self) -> Array:
        xp = namespace(self.K)
        return xp.astype(xp.linalg.diagonal(self.K), xp.float64)

    def _rows(self, index: Index) -> Array:
        return self.K[index]

    def _take(self, index: np.ndarray) -> MatrixSimilarity:
        return MatrixSimilarity(self.K[index][:, index], psd=self.psd, settings=self.settings)

    def _matmul(self, V: Array) -> Array:
        return self.K @ V

    def dense(self) -> Array:
        if is_numpy(self.K):
            return super().dense()
        K = namespace(self.K).astype(self.K, namespace(self.K).float64)
        return K if self.scale is None else K * self.scale[:, None] * self.scale[None, :]

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.K)
