"""Similarities of sets that come as rows of bits: Tanimoto (Jaccard) and Dice.

All pairs cost one matrix product of 0/1 rows, which counts what two sets have in common, and the
sizes of the sets. Both are positive semidefinite on sets: Tanimoto by Gower (Biometrics 1971) and
Ralaivola et al. (Neural Networks 2005); Dice because 1/(|A| + |B|) = ∫₀¹ t^{|A|+|B|−1} dt is, and
so is its product with |A ∩ B| (see also Gower & Legendre, J. Classification 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..arguments import one_of
from ..arrays import memory
from ..arrays.identical import identical_rows
from ..arrays.namespace import Array
from .base import Index, Similarity

Measure = Literal["tanimoto", "dice"]

# Products may keep K if it takes no more than this share of the memory that is left.
KEPT_SHARE = 0.25


class BitSimilarity(Similarity):
    """|A ∩ B| / |A ∪ B| ("tanimoto") or 2 |A ∩ B| / (|A| + |B|) ("dice") of rows of bits.

    Counts are exact and divided in float64, so that values are those of one division. An empty
    set is like other empty sets (1) and unlike all others (0): identical samples have similarity 1.

    Parameters
    ----------
    bits : uint8 array (n, d)
        Ones and zeros, not copied; d is less than 2²⁴.
    measure : {"tanimoto", "dice"}

    Examples
    --------
    >>> BitSimilarity(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], np.uint8)).dense()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    psd = True

    def __init__(
        self,
        bits: np.ndarray,
        measure: Measure = "tanimoto",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        one_of("measure", measure, ("tanimoto", "dice"), "other numbers come by measures=[…]")
        self.n = len(bits)
        self.bits, self.measure, self.settings = bits, measure, settings or {}
        self.sizes = bits.sum(axis=1, dtype=np.float64)

    @cached_property
    def _columns(self) -> np.ndarray:
        return self.bits.T.astype(np.float32)  # sums of fewer than 2²⁴ ones are exact

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _rows(self, index: Index) -> Array:
        if (kept := self.__dict__.get("_kept")) is not None:
            return np.asarray(kept[index])
        K = (self.bits[index].astype(np.float32) @ self._columns).astype(np.float64)
        total = self.sizes[index][:, None] + self.sizes
        if self.measure == "tanimoto":
            total -= K
        else:
            K *= 2
        if not self.sizes.all():
            both_empty = total == 0
            K[both_empty] = total[both_empty] = 1
        K /= total
        return K

    def _take(self, index: np.ndarray) -> BitSimilarity:
        return BitSimilarity(self.bits[index], self.measure, self.settings)

    @cached_property
    def _kept(self) -> np.ndarray | None:
        if 8 * self.n**2 > KEPT_SHARE * memory.available_bytes():
            return None
        return np.concatenate([self._rows(slice(i, i + 512)) for i in range(0, self.n, 512)])

    def _matmul(self, V: Array) -> Array:
        # A product takes n² operations from a K that is kept, and n² d without: iterations need it.
        return super()._matmul(V) if self._kept is None else self._kept @ V

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.bits)
