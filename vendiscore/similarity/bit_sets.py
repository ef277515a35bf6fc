"""Tanimoto (Jaccard) and Dice similarities of sets, rows of bits: one matrix product for all pairs.

Both are positive semidefinite: Tanimoto by Gower (Biometrics 1971), Dice as |A ∩ B| times
1/(|A| + |B|) = ∫₀¹ t^{|A|+|B|−1} dt.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from ..support.types import DType, Options
from . import sparse as sp
from .base import Index
from .duplicate_rows import group_identical_rows
from .features import add_sparse
from .rows import RowsSimilarity

Coefficient = Literal["tanimoto", "dice"]
# Bits that fewer than this share of the samples have are multiplied as sparse columns, if they are
# at least this share of all bits: such a pair of ones takes as long as a thousand dense columns.
MAX_RARE_FREQUENCY = 0.03
MIN_RARE_FRACTION = 0.25
MAX_BITS = (1 << 24) - 1  # sizes of sets of fewer bits are exact in single precision
Bits: TypeAlias = "np.ndarray | sp.csr_array"  # which have these methods in common
COEFFICIENTS: tuple[Coefficient, ...] = ("tanimoto", "dice")


class BitSimilarity(RowsSimilarity):
    """Tanimoto's |A ∩ B| / |A ∪ B| or Dice's 2 |A ∩ B| / (|A| + |B|); 1 for two empty sets.

    >>> BitSimilarity(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], np.uint8)).dense()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    is_symmetric = True  # so that it is symmetric by construction

    def __init__(
        self,
        bits: Bits,
        coefficient: Coefficient = "tanimoto",
        settings: Options | None = None,
    ) -> None:
        entries = BitEntries(bits, coefficient)
        super().__init__(entries, psd=True, settings=settings)
        empty = np.flatnonzero(entries.sizes == 0).tolist()
        self.partial: dict[int, str] = dict.fromkeys(empty, "has no bit that is set")


class BitEntries:
    """Coefficients of pairs of rows of bits: exact counts, divided once in float64."""

    in_threads = True

    def __init__(self, bits: Bits, coefficient: Coefficient) -> None:
        self.n: int = bits.shape[0]
        self.coefficient = coefficient
        self.bits = bits
        self.width: float = bits.shape[1] / 2  # products in single precision
        sizes = bits.sum(axis=1, dtype=np.float64)
        self.sizes: np.ndarray = np.asarray(sizes).ravel()

    @cached_property
    def _common_and_rare(self) -> tuple[np.ndarray, sp.csr_array | None]:
        """Columns in float32, whose products are exact counts: dense, and rare ones or None."""
        bits = self.bits
        frequencies = np.asarray(bits.mean(axis=0, dtype=np.float64))
        rare = frequencies.ravel() < MAX_RARE_FREQUENCY
        many = np.count_nonzero(rare) >= rare.size * MIN_RARE_FRACTION
        if not many and not sp.issparse(bits):
            rare[:] = False
        few = None
        if rare.any():
            few = sp.csr_array(bits[:, rare], dtype=np.float32)
        common = bits[:, ~rare].astype(np.float32)
        if sp.issparse(common):
            common = common.toarray()
        return common, few

    def __call__(self, index: Index, columns: slice, dtype: DType = np.float64) -> np.ndarray:
        common, rare = self._common_and_rare
        both = common[index] @ common[columns].T
        if rare is not None:
            add_sparse(both, rare[index] @ rare[columns].T)
        K = both.astype(dtype, copy=False)
        sizes = self.sizes.astype(dtype)
        total = np.add.outer(sizes[index], sizes[columns])
        if self.coefficient == "tanimoto":
            total -= K
        else:
            K *= 2
        if not self.sizes.all():
            both_empty = total == 0
            K[both_empty] = total[both_empty] = 1
        K /= total
        return K

    def take(self, index: np.ndarray) -> BitEntries:
        return BitEntries(self.bits[index], self.coefficient)

    def groups(self) -> np.ndarray | None:
        return group_identical_rows(self.bits)
