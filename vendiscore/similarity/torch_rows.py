"""Similarities of rows of a torch tensor: a matrix where there is room, else blocks of rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from ..core.namespace import Array, is_torch
from ..core.types import Options, Tensor
from . import memory
from .base import Index, Similarity
from .exponentials import Exponentials
from .matrix import MatrixSimilarity
from .pairs import Law
from .threads import slices

# A matrix of at most this share of the free memory is computed at once, and kept.
KEPT_SHARE = 0.25
# Bytes of a block of rows, and so many times more to keep a GPU busy.
BLOCK_BYTES = 1 << 26
ON_GPU = 16


def of_tensor(X: Tensor, sigma: float | Tensor, law: Law, settings: Options) -> Similarity:
    """Return the similarity of rows of a tensor X (n, d) under `Exponentials`."""
    entries = TensorSimilarity(X, sigma, law, settings)
    size = 8 * len(X) ** 2
    if size <= memory.FEW_BYTES or size <= KEPT_SHARE * _available_bytes(X):
        return MatrixSimilarity(entries.dense(), psd=True, settings=settings)
    return entries


class TensorSimilarity(Similarity):
    """Exponentials of distances of rows of a tensor, computed when asked."""

    psd = True

    def __init__(self, X: Tensor, sigma: float | Tensor, law: Law, settings: Options) -> None:
        self.n = len(X)
        self.settings = settings
        self._made_from = (X, sigma, law)
        self._entries = Exponentials(X, sigma, law)

    def _diagonal(self) -> Array:
        X, sigma, _ = self._made_from
        torch = sys.modules["torch"]
        ones = X.new_ones(self.n, dtype=torch.float64)
        # With a gradient, of 0, where X or σ has one.
        for given in (X, sigma):
            if is_torch(given) and given.requires_grad:
                first = given.reshape(-1)[0]
                ones = ones + 0.0 * first
        return ones

    def _rows(self, index: Index) -> Array:
        return self._entries(index, slice(0, self.n))

    def _take(self, index: np.ndarray) -> Similarity:
        X, sigma, law = self._made_from
        return of_tensor(X[index], sigma, law, self.settings)

    def _blocks(self) -> Iterable[slice]:
        room = BLOCK_BYTES
        if self._made_from[0].is_cuda:
            room *= ON_GPU
        rows = room // (8 * self.n)
        return slices(self.n, max(1, rows))

    def dense(self) -> Array:
        X = self._made_from[0]
        if not X.is_cuda:  # which raises an error of its own
            needed = 12 * self.n**2 + 16 * X.numel()
            what = f"the similarity matrix of {self.n} samples"
            memory.require(needed, what, "compare fewer samples")
        return self.rows(slice(0, self.n))


def _available_bytes(X: Tensor) -> int:
    """Return the bytes that can be allocated where a tensor is."""
    if not X.is_cuda:
        return memory.available_bytes()
    cuda = sys.modules["torch"].cuda
    free: int = cuda.mem_get_info(X.device)[0]
    reserved: int = cuda.memory_reserved(X.device)
    allocated: int = cuda.memory_allocated(X.device)
    return free + reserved - allocated
