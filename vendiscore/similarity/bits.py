"""Similarities of sets that come as rows of bits: Tanimoto (Jaccard) and Dice.

All pairs cost one matrix product of 0/1 rows, which counts what two sets have in common, and the
sizes of the sets. Both are positive semidefinite on sets: Tanimoto by Gower (Biometrics 1971) and
Ralaivola et al. (Neural Networks 2005); Dice because 1/(|A| + |B|) = ∫₀¹ t^{|A|+|B|−1} dt is, and
so is its product with |A ∩ B| (see also Gower & Legendre, J. Classification 1986).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..arguments import one_of
from ..arrays.identical import identical_rows
from ..arrays.namespace import Array
from .base import Index
from .rows import LazySimilarity

Coefficient = Literal["tanimoto", "dice"]
COEFFICIENTS: tuple[Coefficient, ...] = ("tanimoto", "dice")


class BitSimilarity(LazySimilarity):
    """|A ∩ B| / |A ∪ B| ("tanimoto") or 2 |A ∩ B| / (|A| + |B|) ("dice") of rows of bits.

    Counts are exact and divided in float64, so that values are those of one division. An empty
    set is like other empty sets (1) and unlike all others (0): identical samples have similarity 1.

    Parameters
    ----------
    bits : uint8 array (n, d)
        Ones and zeros, not copied; d is less than 2²⁴.
    coefficient : {"tanimoto", "dice"}

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
        coefficient: Coefficient = "tanimoto",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        one_of("coefficient", coefficient, COEFFICIENTS)
        super().__init__(len(bits))
        self.bits, self.coefficient, self.settings = bits, coefficient, settings or {}
        self.sizes = bits.sum(axis=1, dtype=np.float64)

    @cached_property
    def _columns(self) -> np.ndarray:
        return self.bits.T.astype(np.float32)  # sums of fewer than 2²⁴ ones are exact

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _entries(self, index: Index, columns: slice) -> np.ndarray:
        both = self.bits[index].astype(np.float32) @ self._columns[:, columns]
        K: np.ndarray = both.astype(np.float64)
        total = self.sizes[index][:, None] + self.sizes[columns]
        if self.coefficient == "tanimoto":
            total -= K
        else:
            K *= 2
        if not self.sizes.all():
            both_empty = total == 0
            K[both_empty] = total[both_empty] = 1
        K /= total
        return K

    def _single(self, rows: slice) -> Callable[[slice], np.ndarray]:
        bits, sizes = self.bits[rows].astype(np.float32), self.sizes.astype(np.float32)

        def entries(columns: slice) -> np.ndarray:
            K: np.ndarray = bits @ self._columns[:, columns]
            total = sizes[rows, None] + sizes[columns]
            if self.coefficient == "tanimoto":
                total -= K
            else:
                K *= 2
            if not self.sizes.all():
                both_empty = total == 0
                K[both_empty] = total[both_empty] = 1
            K /= total
            return K

        return entries

    def _take(self, index: np.ndarray) -> BitSimilarity:
        return BitSimilarity(self.bits[index], self.coefficient, self.settings)

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.bits)
