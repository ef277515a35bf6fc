"""Tanimoto (Jaccard) and Dice similarities of sets A and B, which are given as rows of bits.

The similarities of all pairs of sets are computed by one matrix product. Both are positive
semidefinite: Tanimoto by Gower (Biometrics 1971), and Dice because it is the product of |A ∩ B| and
2/(|A| + |B|) = 2 ∫₀¹ t^{|A|+|B|−1} dt, which are both positive semidefinite.
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
# Bits that are set in less than MAX_RARE_FREQUENCY of the samples are multiplied as sparse columns,
# if at least MIN_RARE_FRACTION of all bits are so rare. A pair of ones in a sparse product
# costs as much as a thousand columns of a dense product.
MAX_RARE_FREQUENCY = 0.03
MIN_RARE_FRACTION = 0.25
MAX_BITS = (1 << 24) - 1  # larger counts are not exact in single precision
Bits: TypeAlias = "np.ndarray | sp.csr_array"
COEFFICIENTS: tuple[Coefficient, ...] = ("tanimoto", "dice")


class BitSimilarity(RowsSimilarity):
    """Tanimoto |A ∩ B| / |A ∪ B| or Dice 2 |A ∩ B| / (|A| + |B|); 1 for two empty sets.

    Each sample is the set of the bits that are 1 in its row of `bits`, an array (n, d).

    >>> BitSimilarity(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], np.uint8)).dense()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    is_symmetric = True  # by construction

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
    """Tanimoto or Dice coefficients of pairs of rows of bits, computed from exact counts of bits.

    `bits` has shape (n, d), with one row of d bits per sample. Calling the object computes a block
    of coefficients.
    """

    in_threads = True

    def __init__(self, bits: Bits, coefficient: Coefficient) -> None:
        self.n: int = bits.shape[0]
        self.coefficient = coefficient
        self.bits = bits
        # The cost of an entry; products in single precision take half the time.
        self.width: float = bits.shape[1] / 2
        sizes = bits.sum(axis=1, dtype=np.float64)
        self.sizes: np.ndarray = np.asarray(sizes).ravel()

    @cached_property
    def _common_and_rare(self) -> tuple[np.ndarray, sp.csr_array | None]:
        """The columns of frequent bits as a dense matrix, and those of rare bits as a sparse one.

        The sparse matrix is None if rare bits are few. Both are in float32, in which the number of
        common bits of two rows, the sum of their dot products in both matrices, is exact.
        """
        bits = self.bits
        frequencies = np.asarray(bits.mean(axis=0, dtype=np.float64))
        is_rare = frequencies.ravel() < MAX_RARE_FREQUENCY
        has_many_rare = np.count_nonzero(is_rare) >= is_rare.size * MIN_RARE_FRACTION
        if not has_many_rare and not sp.issparse(bits):  # then use dense columns only
            is_rare[:] = False
        rare_columns = None
        if is_rare.any():
            rare_columns = sp.csr_array(bits[:, is_rare], dtype=np.float32)
        common = bits[:, ~is_rare].astype(np.float32)
        if sp.issparse(common):
            common = common.toarray()
        return common, rare_columns

    def __call__(self, index: Index, columns: slice, dtype: DType = np.float64) -> np.ndarray:
        """Compute the coefficients of the rows `index` with the rows `columns`, as a new array."""
        common, rare = self._common_and_rare
        intersections = common[index] @ common[columns].T  # |A ∩ B|
        if rare is not None:
            add_sparse(intersections, rare[index] @ rare[columns].T)
        sizes = self.sizes.astype(dtype)
        numerator = intersections.astype(dtype, copy=False)
        denominator = np.add.outer(sizes[index], sizes[columns])  # |A| + |B|
        if self.coefficient == "tanimoto":
            denominator -= numerator  # |A ∪ B|
        else:
            numerator *= 2
        if not self.sizes.all():
            both_empty = denominator == 0  # the coefficient of two empty sets is 1
            numerator[both_empty] = denominator[both_empty] = 1
        numerator /= denominator
        return numerator

    def take(self, index: np.ndarray) -> BitEntries:
        return BitEntries(self.bits[index], self.coefficient)

    def groups(self) -> np.ndarray | None:
        return group_identical_rows(self.bits)
