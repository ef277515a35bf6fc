"""Similarities of sets that come as rows of bits: Tanimoto (Jaccard) and Dice.

All pairs cost one matrix product of 0/1 rows, which counts what two sets have in common, and the
sizes of the sets. Both are positive semidefinite on sets: Tanimoto by Gower (Biometrics 1971) and
Ralaivola et al. (Neural Networks 2005); Dice because 1/(|A| + |B|) = ∫₀¹ t^{|A|+|B|−1} dt is, and
so is its product with |A ∩ B| (see also Gower & Legendre, J. Classification 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..arguments import one_of
from ..arrays.identical import identical_rows
from ..arrays.namespace import Array
from .base import Index
from .rows import LazySimilarity

Coefficient = Literal["tanimoto", "dice"]
# Bits that fewer than this share of the samples have are counted where they are, if they are at
# least this share of all bits: such a pair of ones takes as long as a thousand dense columns.
RARE, RARE_COLUMNS = 0.03, 0.25
Bits: TypeAlias = Any  # an array, or a sparse one, which have these methods in common
COEFFICIENTS: tuple[Coefficient, ...] = ("tanimoto", "dice")


class BitSimilarity(LazySimilarity):
    """|A ∩ B| / |A ∪ B| ("tanimoto") or 2 |A ∩ B| / (|A| + |B|) ("dice") of rows of bits.

    Counts are exact and divided in float64, so that values are those of one division. An empty
    set is like other empty sets (1) and unlike all others (0): identical samples have similarity 1.

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
        bits: Bits,
        coefficient: Coefficient = "tanimoto",
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        one_of("coefficient", coefficient, COEFFICIENTS)
        super().__init__(bits.shape[0])
        self.bits, self.coefficient, self.settings = bits, coefficient, settings or {}
        self.sizes = np.asarray(bits.sum(axis=1, dtype=np.float64)).ravel()

    @cached_property
    def _common_and_rare(self) -> tuple[np.ndarray, Any]:
        """Columns in float32, whose products are exact counts: dense, and sparse ones or None.

        A product of dense rows costs as much for a bit that one sample has as for one that all
        have, and of most fingerprints nearly all are rare. Of these only pairs of ones are counted.
        """
        bits, sparse = self.bits, sp.issparse(self.bits)
        rare = np.asarray(bits.mean(axis=0, dtype=np.float64)).ravel() < RARE
        if not sparse and np.count_nonzero(rare) < rare.size * RARE_COLUMNS:
            rare[:] = False
        common = bits[:, ~rare].astype(np.float32)
        few = sp.csr_array(bits[:, rare], dtype=np.float32) if rare.any() else None
        return common.toarray() if sparse else common, few

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _entries(self, index: Index, columns: slice, dtype: Any = np.float64) -> np.ndarray:
        common, rare = self._common_and_rare
        both = common[index] @ common[columns].T
        if rare is not None:
            both += (rare[index] @ rare[columns].T).toarray()
        K = both.astype(dtype, copy=False)
        total = np.add.outer(self.sizes[index].astype(dtype), self.sizes[columns].astype(dtype))
        if self.coefficient == "tanimoto":
            total -= K
        else:
            K *= 2
        if not self.sizes.all():
            both_empty = total == 0
            K[both_empty] = total[both_empty] = 1
        K /= total
        return np.asarray(K)

    def _take(self, index: np.ndarray) -> BitSimilarity:
        return BitSimilarity(self.bits[index], self.coefficient, self.settings)

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.bits)
