"""Similarities of rows of a torch tensor: as a whole where that is small, else by blocks.

A matrix of all pairs is kept where there is room. Beyond that it is computed as a whole when an
exact score asks for it, and by blocks of rows for products: with those an estimate needs no more
memory than its vectors do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from ..arrays import memory
from ..arrays.namespace import Array, namespace
from ..distances import torch_exponentials
from .base import Index, Similarity
from .matrix import MatrixSimilarity

# A matrix that takes no more than this share of the memory that is left is computed at once, and
# kept: products then take as long as reading it does.
KEPT_SHARE = 0.25
# Bytes of a block of rows; so many times that keep a GPU busy.
BLOCK_BYTES, ON_GPU = 1 << 26, 16

Law = Literal["gaussian", "laplace"]


def exponential(law: Law, X: Any, sigma: Any, settings: Mapping[str, Any]) -> Similarity:
    """The similarity of rows of a tensor X (n, d) under `tensors.gaussian` or `tensors.laplace`."""
    size = 8 * len(X) ** 2
    if size <= memory.FEW_BYTES or size <= KEPT_SHARE * torch_exponentials.available_bytes(X):
        return MatrixSimilarity(
            getattr(torch_exponentials, law)(X, sigma), psd=True, settings=settings
        )
    return TensorSimilarity(law, X, sigma, settings)


class TensorSimilarity(Similarity):
    """exp(−‖x − y‖² / 2σ²) or exp(−Σ|x_j − y_j| / σ) of rows of a tensor, computed when asked.

    Entries of rows and products are right to 1e-9, those of the whole matrix to 1e-13.
    """

    psd = True

    def __init__(self, law: Law, X: Any, sigma: Any, settings: Mapping[str, Any]) -> None:
        self.n, self.settings = len(X), settings
        self._law, self._X, self._sigma = law, X, sigma
        self._part_of = torch_exponentials.rows_of(law, X, sigma)

    def _diagonal(self) -> Array:
        return torch_exponentials.ones_of(self._X, self._sigma)

    def _rows(self, index: Index) -> Array:
        return self._part_of(index)

    def _take(self, index: np.ndarray) -> Similarity:
        return exponential(self._law, self._X[index], self._sigma, self.settings)

    def _blocks(self) -> Iterator[slice]:
        room = BLOCK_BYTES * (ON_GPU if self._X.is_cuda else 1)
        size = max(1, room // (8 * self.n))
        return (slice(i, min(i + size, self.n)) for i in range(0, self.n, size))

    def _matmul(self, V: Array) -> Array:
        return namespace(V).concat([self._rows(block) @ V for block in self._blocks()])

    def dense(self) -> Array:
        K = getattr(torch_exponentials, self._law)(self._X, self._sigma)
        return K if self.scale is None else K * self.scale[:, None] * self.scale[None, :]

    def squared_norm(self, single: bool = False) -> Array | float:
        total: Any = 0.0
        for block in self._blocks():
            K = self.rows(block)
            total = total + namespace(K).sum(K * K)
        return total
