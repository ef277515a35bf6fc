"""Similarities made of others: repeats of distinct samples, weighted sums, elementwise products."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
import scipy.sparse as sp

from .arrays import Array, is_numpy
from .similarity import Index, Similarity, joint_groups


class RepeatedSimilarity(Similarity):
    """A Similarity of m distinct samples, seen through the list of n that they came in.

    Parameters
    ----------
    distinct : Similarity
        On the m distinct samples.
    inverse : int array, shape (n,)
        Which of them each of the n samples is.
    """

    def __init__(self, distinct: Similarity, inverse: np.ndarray) -> None:
        self.n, self.dim, self.psd = len(inverse), distinct.dim, distinct.psd
        self.settings = distinct.settings
        self.distinct, self.inverse = distinct, inverse

    def _diagonal(self) -> Array:
        return self.distinct.diagonal()[self.inverse]

    def _rows(self, index: Index) -> Array:
        return self.distinct.rows(self.inverse[index])[:, self.inverse]

    def _take(self, index: np.ndarray) -> Similarity:
        return self.distinct.take(self.inverse[index])

    def _features(self) -> Any:
        return self.distinct.features()[self.inverse]

    def _matmul(self, V: Array) -> Array:
        member = sp.csr_array(
            (np.ones(self.n), self.inverse, np.arange(self.n + 1)), (self.n, self.distinct.n)
        )
        return member @ self.distinct.matmul(member.T @ V)

    def squared_norm(self) -> Array:
        if not is_numpy(self.distinct.diagonal()):
            return super().squared_norm()
        ones = np.ones(self.n) if self.scale is None else self.scale
        weights = np.bincount(self.inverse, ones**2, self.distinct.n)
        return self.distinct.scaled(np.sqrt(weights)).squared_norm()

    def _groups(self) -> np.ndarray | None:
        inner = self.distinct.groups()
        return self.inverse if inner is None else inner[self.inverse]


class _Mixture(Similarity):
    """What sums and products of Similarities on the same samples share."""

    def __init__(self, parts: Sequence[Similarity]) -> None:
        sizes = [part.n for part in parts]
        if len(set(sizes)) != 1:
            raise ValueError(
                f"`parts` must be one or more similarities of the same samples, got sizes {sizes}"
            )
        self.parts = tuple(parts)
        self.n = sizes[0]
        self.psd = all(part.psd for part in parts)

    def _groups(self) -> np.ndarray | None:
        groups = [part.groups() for part in self.parts]
        if any(group is None for group in groups):
            return None
        return joint_groups(groups)


class SumSimilarity(_Mixture):
    """The weighted sum Σ_j w_j K_j, with w_j ≥ 0 so that it stays positive semidefinite.

    Parameters
    ----------
    parts : sequence of Similarity
    weights : sequence of float

    Examples
    --------
    >>> from vendiscore.similarity import MatrixSimilarity
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
        self.weights = tuple(float(w) for w in weights)
        dims = [part.dim for part in parts]
        self.dim = None if None in dims else sum(d for d in dims if d is not None)

    def _each(self, of: str, *args: Any) -> Any:
        terms = zip(self.weights, self.parts, strict=True)
        return sum(w * getattr(part, of)(*args) for w, part in terms)

    def _diagonal(self) -> Array:
        return self._each("diagonal")

    def _rows(self, index: Index) -> Array:
        return self._each("rows", index)

    def _matmul(self, V: Array) -> Array:
        return self._each("matmul", V)

    def _features(self) -> Any:
        F = [np.sqrt(w) * part.features() for w, part in zip(self.weights, self.parts, strict=True)]
        if all(map(sp.issparse, F)):
            return sp.hstack(F, format="csr")
        return np.hstack([f.toarray() if sp.issparse(f) else f for f in F])

    def _take(self, index: np.ndarray) -> SumSimilarity:
        return SumSimilarity([part.take(index) for part in self.parts], self.weights)


class ProductSimilarity(_Mixture):
    """The elementwise product of the K_j, positive semidefinite if they are (Schur).

    Parameters
    ----------
    parts : sequence of Similarity
    """

    def _diagonal(self) -> Array:
        return reduce(mul, (part.diagonal() for part in self.parts))

    def _rows(self, index: Index) -> Array:
        return reduce(mul, (part.rows(index) for part in self.parts))

    def _take(self, index: np.ndarray) -> ProductSimilarity:
        return ProductSimilarity([part.take(index) for part in self.parts])
