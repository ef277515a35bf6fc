"""Similarities built from others: duplicate samples, weighted sums and elementwise products."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from operator import mul

import numpy as np

from ..support.namespace import Array, is_numpy, is_torch
from ..support.types import Options, Rows
from . import sparse as sp
from .base import Index, Similarity
from .duplicate_rows import joint_groups
from .matrix import MatrixSimilarity


class RepeatedSimilarity(Similarity):
    """The similarity of n samples with duplicates, from the similarity of the distinct samples.

    `distinct` is the similarity of the distinct samples. Sample i equals distinct sample
    `inverse[i]`.
    """

    def __init__(self, distinct: Similarity, inverse: np.ndarray) -> None:
        self.n: int = len(inverse)
        self.dim: int | None = distinct.dim
        self.psd: bool = distinct.psd
        self.settings: Options = distinct.settings
        self.fitted: Options = distinct.fitted
        self.notes: Sequence[str] = distinct.notes
        self.vocabulary_columns: bool = distinct.vocabulary_columns
        self.distinct = distinct
        self.inverse = inverse

    def _diagonal(self) -> Array:
        return self.distinct.diagonal()[self.inverse]

    def _rows(self, index: Index) -> Array:
        return self.distinct.rows(self.inverse[index])[:, self.inverse]

    def _take(self, index: np.ndarray) -> Similarity:
        return self.distinct.take(self.inverse[index])

    def _part(self, index: np.ndarray) -> Similarity:
        return self.distinct.part(self.inverse[index])

    def _stack(self, indices: np.ndarray) -> Array:
        codes = self.inverse[indices]
        g, m = codes.shape
        # Functions of pairs are called only for pairs within a set.
        compares_pairs = getattr(self.distinct, "divisible", False)
        if (
            compares_pairs
            or self.distinct.n**2 > g * m**2
            or not is_numpy(self.distinct.diagonal())
        ):
            return self.distinct.stack(codes)
        K = self.distinct.dense()  # has at most as many entries as the result
        return K[codes[:, :, None], codes[:, None, :]]

    def _features(self) -> Rows:
        return self.distinct.features()[self.inverse]

    def _matmul(self, V: Array) -> Array:
        """Compute K @ V from one product with the similarity of the distinct samples."""
        if not is_numpy(V):
            return super()._matmul(V)
        # K = M D Mᵀ, where M has a 1 in row i and column inverse[i], and D is the similarity of the
        # distinct samples.
        ones = np.ones(self.n)
        row_starts = np.arange(self.n + 1)
        shape = (self.n, self.distinct.n)
        M = sp.csr_array((ones, self.inverse, row_starts), shape)
        return M @ self.distinct.matmul(M.T @ V)

    def squared_norm(self) -> Array | float:
        if not is_numpy(self.distinct.diagonal()):
            return super().squared_norm()
        # Σ s_i² s_j² K_ij² = Σ w_a w_b D_ab², where D is the similarity of the distinct samples and
        # w_a is the sum of s_i² over the copies i of distinct sample a.
        squared_scale = None
        if self.scale is not None:
            squared_scale = self.scale**2
        weights = np.bincount(self.inverse, squared_scale, self.distinct.n)
        return self.distinct.scaled(np.sqrt(weights)).squared_norm()

    def entries_work(self) -> float:
        return self.distinct.entries_work()

    def covariance_work(self) -> float:
        return self.distinct.covariance_work() * self.n / self.distinct.n

    def _groups(self) -> np.ndarray | None:
        """Return one code per sample, equal for samples with equal rows of K."""
        distinct_groups = self.distinct.groups()
        if distinct_groups is None:
            return self.inverse
        return distinct_groups[self.inverse]


class _CombinedSimilarity(Similarity):
    """Base class of sums and products of several similarities, `parts`, of the same samples."""

    _options: tuple[object, ...] = ()  # arguments of the subclass's `__init__` after `parts`

    def __init__(self, parts: Sequence[Similarity]) -> None:
        sizes = [part.n for part in parts]
        if len(set(sizes)) != 1:
            raise ValueError(
                f"`parts` must be one or more similarities of the same samples, got sizes {sizes}"
            )
        self.parts: tuple[Similarity, ...] = tuple(_match_libraries(parts))
        self.n: int = sizes[0]
        self.psd: bool = all(part.psd for part in parts)

    def _groups(self) -> np.ndarray | None:
        """Return one code per sample, equal for identical samples; None if unknown for a part."""
        # Samples are identical if they are identical for all parts.
        part_codes = []
        for part in self.parts:
            codes = part.groups()
            if codes is None:
                return None
            part_codes.append(codes)
        return joint_groups(part_codes)

    def entries_work(self) -> float:
        return sum(part.entries_work() for part in self.parts)

    @abstractmethod
    def _combine(self, method: str, *args: object) -> Array:
        """Call `method`, a name such as "rows", of each of the `parts`, and combine the results.

        The arrays that the parts return are combined elementwise, by a weighted sum or a product.
        """

    def _take(self, index: np.ndarray) -> Similarity:
        parts = [part.take(index) for part in self.parts]
        return type(self)(parts, *self._options)

    def _part(self, index: np.ndarray) -> Similarity:
        parts = [part.part(index) for part in self.parts]
        return type(self)(parts, *self._options)

    def _stack(self, indices: np.ndarray) -> Array:
        return self._combine("stack", indices)

    def _diagonal(self) -> Array:
        return self._combine("diagonal")

    def _rows(self, index: Index) -> Array:
        return self._combine("rows", index)


def _match_libraries(parts: Sequence[Similarity]) -> Sequence[Similarity]:
    """Convert all similarities in `parts` to torch tensors if any of them uses tensors.

    They are moved to the device of the first one that uses tensors.
    """
    diagonals = [part.diagonal() for part in parts]
    tensors = [diagonal for diagonal in diagonals if is_torch(diagonal)]
    if len(tensors) in (0, len(parts)):
        return parts
    device = tensors[0].device
    torch = sys.modules["torch"]
    converted_parts = list(parts)
    for i, part in enumerate(parts):
        if not is_torch(diagonals[i]):
            K = torch.as_tensor(part.dense(), device=device)
            converted_parts[i] = MatrixSimilarity(K, psd=part.psd)
    return converted_parts


class SumSimilarity(_CombinedSimilarity):
    """The weighted sum of similarities; positive semidefinite if all of them are.

    Parameters
    ----------
    parts : sequence of Similarity
        Similarities of the same n samples.
    weights : sequence of float
        One non-negative weight per similarity. If the diagonal of all parts is 1, weights that sum
        to 1 make the diagonal of the sum 1 as well.

    See Also
    --------
    ProductSimilarity : The elementwise product of similarities.

    Examples
    --------
    >>> from vendiscore import MatrixSimilarity
    >>> ones, identity = MatrixSimilarity(np.ones((2, 2))), MatrixSimilarity(np.eye(2))
    >>> SumSimilarity([ones, identity], [0.25, 0.75]).dense()
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    def __init__(self, parts: Sequence[Similarity], weights: Sequence[float]) -> None:
        super().__init__(parts)
        if len(weights) != len(parts) or not all(0 <= w < np.inf for w in weights):
            raise ValueError(
                f"`weights` must be {len(parts)} finite numbers of at least 0, one per part, "
                f"got {list(weights)}"
            )
        self.weights: tuple[float, ...] = tuple(float(w) for w in weights)
        self._options = (self.weights,)
        dims = [part.dim for part in self.parts if part.dim is not None]
        if len(dims) == len(parts):  # the sum has features if all parts have
            self.dim: int | None = sum(dims)

    def _combine(self, method: str, *args: object) -> Array:
        terms = zip(self.weights, self.parts, strict=True)
        return sum(w * getattr(part, method)(*args) for w, part in terms)

    def _matmul(self, V: Array) -> Array:
        return self._combine("matmul", V)

    def _features(self) -> Rows:
        """Return features F with K = F Fᵀ, from the features of all parts."""
        # The features of the sum are the features of all parts, times √weight, side by side.
        F_of_parts: list[Rows] = []
        for w, part in zip(self.weights, self.parts, strict=True):
            F_of_parts.append(math.sqrt(w) * part.features())
        if all(map(sp.issparse, F_of_parts)):
            return sp.hstack(F_of_parts, format="csr")
        if any(map(is_torch, F_of_parts)):  # then all are tensors, converted by `__init__`
            return sys.modules["torch"].cat(F_of_parts, dim=1)
        for i, F in enumerate(F_of_parts):
            if sp.issparse(F):
                F_of_parts[i] = F.toarray()
        return np.hstack(F_of_parts)


class ProductSimilarity(_CombinedSimilarity):
    """The elementwise product of similarities; positive semidefinite if all of them are.

    Samples are similar only if they are similar in every factor.

    Parameters
    ----------
    parts : sequence of Similarity
        Similarities of the same n samples.

    See Also
    --------
    SumSimilarity : The weighted sum of similarities.

    Examples
    --------
    >>> half = MatrixSimilarity(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> ProductSimilarity([half, half]).dense()
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    def _combine(self, method: str, *args: object) -> Array:
        factors = [getattr(part, method)(*args) for part in self.parts]
        return reduce(mul, factors)
