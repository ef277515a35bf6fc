"""Similarities given by a matrix, either passed or computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..support.namespace import Array, is_numpy, is_torch, namespace, row_blocks, to_host
from ..support.types import Options
from .base import Index, Similarity
from .duplicate_rows import group_identical_rows


class MatrixSimilarity(Similarity):
    """Similarities as a matrix that is already computed.

    Parameters
    ----------
    K : array or tensor of shape (n, n)
        Symmetric matrix. Not copied, so do not modify it afterwards. This class does not check
        it; `as_similarity` and scores check its diagonal, symmetry and range.
    psd : bool, default False
        Whether K is known to be positive semidefinite. Its eigenvalues then need no check.
    settings : mapping, optional
        How the matrix was computed, for reports.

    See Also
    --------
    FeatureSimilarity : Similarities as dot products of features.
    RowsSimilarity : Similarities computed on demand.

    Examples
    --------
    >>> K = MatrixSimilarity(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> K.squared_norm()  # 1 + 1 + 1/4 + 1/4
    2.5
    """

    def __init__(self, K: Array, *, psd: bool = False, settings: Options | None = None) -> None:
        self.K = K
        self.n: int = K.shape[0]
        self.psd = psd
        self.settings: Options = settings or {}

    def _diagonal(self) -> Array:
        diagonal = self.K.diagonal()
        if is_torch(diagonal):
            return diagonal.double()
        return diagonal.astype(np.float64)

    @property
    def in_threads(self) -> bool:
        return is_numpy(self.K)

    def _rows(self, index: Index) -> Array:
        return self.K[index]

    def _take(self, index: np.ndarray) -> MatrixSimilarity:
        K = self.K[index][:, index]
        return MatrixSimilarity(K, psd=self.psd)

    def _stack(self, indices: np.ndarray) -> Array:
        """Select the similarities within g sets of m samples, `indices` (g, m); shape (g, m, m)."""
        K = self.K[indices[:, :, None], indices[:, None, :]]
        xp = namespace(K)
        return xp.astype(K, xp.float64)

    def _matmul(self, V: Array) -> Array:
        K = self.K
        if K.dtype == V.dtype:
            return K @ V
        return super()._matmul(V)  # in blocks, to avoid converting a copy of all of K

    def _groups(self) -> np.ndarray | None:
        """Return one code per row of K, equal for equal rows.

        Return None if all rows differ, or if K is a tensor.
        """
        K = self.K
        n = self.n
        # Identical rows i and j have K_ij = K_jj. If this is true only for the n pairs with i = j,
        # no rows are identical. This is faster than comparing rows.
        if is_numpy(K):
            diagonal = K.diagonal()
            n_equal = 0
            for block in row_blocks(n, 8 * n):
                n_equal += int(np.count_nonzero(K[block] == diagonal))
            if n_equal == n:
                return None
        return group_identical_rows(K)


def materialize_matrix(K: Similarity, max_columns: int) -> Similarity:
    """Convert K to a MatrixSimilarity, or return K if it has fewer than `max_columns` features.

    With few features, products of the features are faster than products with the matrix.
    """
    if K.dim is not None and K.dim < max_columns:
        return K
    dense = to_host(K.dense())
    groups = K.groups()
    if groups is not None:  # make rows of identical samples equal, despite rounding
        _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
        representatives = first[inverse]
        dense = dense[representatives][:, representatives]
    matrix = MatrixSimilarity(dense, psd=K.psd)
    return matrix.noted(roundoff=K.roundoff)


class DeferredSimilarity(MatrixSimilarity):
    """Similarities as a symmetric matrix K (n, n), which is computed on first use.

    Parameters
    ----------
    n : int
        Number of samples.
    compute : callable
        Returns K. Called once; copies and subsets share the result.
    settings : mapping, optional
        How the matrix is computed, for reports.
    compute_part : callable, optional
        Takes the indices of a subset, and returns the similarity of the subset without comparing
        other samples. The method `part` uses it as long as K has not been computed.
    """

    def __init__(
        self,
        n: int,
        compute: Callable[[], np.ndarray],
        *,
        settings: Options | None = None,
        compute_part: Callable[[np.ndarray], DeferredSimilarity] | None = None,
    ) -> None:
        self.n = n
        self.settings = settings or {}
        self._compute = cache(compute)
        self._compute_part = compute_part

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Similarity]]:
        """Pickle the computed matrix K, because the function `compute` may not support pickling."""
        return restore_similarity, (self._copy_attributes_to(MatrixSimilarity(self.K)),)

    @property
    def K(self) -> np.ndarray:  # type: ignore[override]
        """The similarity matrix (n, n), computed on first access."""
        return self._compute()

    @property
    def divisible(self) -> bool:
        """Whether K has not been computed yet and subsets can be computed separately."""
        return self._compute_part is not None and not self._compute.cache_info().currsize

    def _take(self, index: np.ndarray) -> MatrixSimilarity:
        return DeferredSimilarity(len(index), lambda: self.K[index][:, index])

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the similarities within g sets of m samples, `indices` (g, m); shape (g, m, m).

        Pairs of different sets are not compared, if possible.
        """
        if self.divisible:
            return Similarity._stack(self, indices)
        return super()._stack(indices)

    def _part(self, index: np.ndarray) -> MatrixSimilarity:
        """Return the similarity of the samples `index`, without comparing others if possible."""
        if self._compute_part is not None and self.divisible:
            return self._compute_part(index)
        return self._take(index)


def restore_similarity(similarity: Similarity) -> Similarity:
    """Return the similarity unchanged.

    Some similarities are pickled as another one with the same values; pickle calls this function
    to restore that one.
    """
    return similarity
