"""What a kernel returns and every measure reads: a symmetric similarity K on n samples.

A Similarity knows n and its diagonal and gives what it has cheaply: features F with K = F Fᵀ,
any rows, a product K @ V, or the dense K. Scaling rows and columns by a vector and taking
a subset give Similarities again (so do the sums and products in `composite`), so that sample
weights (√p), cosine normalisation and mixtures of kernels need no code of their own. Nothing is
changed in place, and nothing of size n² is allocated unless `dense` is called.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..arrays.identical import identical_rows, joint_groups
from ..arrays.namespace import (
    Array,
    as_kind_of,
    gram,
    is_numpy,
    is_torch,
    namespace,
    row_blocks,
    scalar,
)

Index = slice | np.ndarray

# Columns of sparse features that more than this share of the samples have, and no more than this
# many, are multiplied as dense ones. Measured on n-grams: 1/20 to 1/200 are alike.
COMMON_SHARE = 1 / 50
COMMON_COLUMNS = 256
# Rows of features whose squared norms, or their inverses, are larger are rescaled before they are
# squared, so that neither they nor their factors leave the range of numbers.
FAR, FAR_SINGLE = 1e280, 1e30
# Factors of rows and columns that differ by less are brought to about 1 together.
SPREAD = 1e50


class Similarity(ABC):
    """diag(s) K diag(s) for a symmetric (n, n) matrix K that a subclass describes.

    A subclass gives `_diagonal`, `_rows` and `_take` of its K, and more where it knows a better
    way than through rows; the scale s is applied here. See `registry.register_kernel` for how a
    kernel of your own returns one.

    Attributes
    ----------
    n : int
        Number of samples.
    dim : int or None
        Number of columns of `features`, or None where there are no features.
    psd : bool
        Whether K is positive semidefinite by construction.
    scale : array (n,) or None
        The factors s; None means ones.
    settings : mapping
        How it was made, to be reported; never read back by code.
    fitted : mapping
        Keywords that make the same kernel of other samples: options that followed from these (a
        bandwidth), so that two sets can be compared under one kernel.
    notes : sequence of str
        Sentences about how it was made that whoever reads a number should know.
    roundoff : float
        The relative spacing of the numbers that the samples came in (2⁻⁷ for bfloat16), where that
        is coarser than double precision; else 0.
    dropped : mapping of int to str
        Samples that a kernel was told to leave out, by their place in the list that it was
        given, and why. K is on the others, in their order, and n counts only them.
    """

    n: int
    dim: int | None = None
    psd: bool = False
    scale: Array | None = None
    settings: Mapping[str, Any] = {}
    fitted: Mapping[str, Any] = {}
    notes: Sequence[str] = ()
    roundoff: float = 0.0
    dropped: Mapping[int, str] = {}

    @abstractmethod
    def _diagonal(self) -> Array:
        """K_ii, shape (n,), float64."""

    @abstractmethod
    def _rows(self, index: Index) -> Array:
        """K[index], dense, shape (len(index), n); the caller does not write to it."""

    @abstractmethod
    def _take(self, index: np.ndarray) -> Similarity:
        """K[index][:, index]."""

    def _features(self) -> Any:
        raise TypeError(f"{type(self).__name__} has no features; `dim` says who has")

    def _matmul(self, V: Array) -> Array:
        return np.concatenate([self._rows(block) @ V for block in row_blocks(self.n, 8 * self.n)])

    def _groups(self) -> np.ndarray | None:
        return None

    def groups(self) -> np.ndarray | None:
        """A group number (n,) for each sample, equal only where samples are identical.

        None where identical samples cannot be told cheaply.
        """
        groups = self._groups()
        if groups is None or self.scale is None:
            return groups
        return joint_groups([groups, np.asarray(self.scale)])

    def diagonal(self) -> Array:
        """k(x, x) for every sample, shape (n,)."""
        diagonal = self._diagonal()
        return diagonal if self.scale is None else diagonal * self.scale**2

    def rows(self, index: Index) -> Array:
        """The rows `index` of K as a dense (len(index), n) array, not to be written to."""
        rows = self._rows(index)
        if self.scale is None:
            return rows
        return rows * self.scale[index, None] * self.scale[None, :]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """All rows of K, a cache-sized block at a time."""
        for block in row_blocks(self.n, 8 * self.n):
            yield block, self.rows(block)

    def dense(self) -> Array:
        """K as a new (n, n) float64 array, which the caller may overwrite."""
        out = np.empty((self.n, self.n))
        for block, rows in self.blocks():
            out[block] = rows
        return out

    def features(self) -> Any:
        """F of shape (n, dim) with K = F Fᵀ, dense or CSR. Only where `dim` is not None."""
        F = self._features()
        if self.scale is None:
            return F
        return scale_rows(F, self.scale)

    def covariance(self) -> Array:
        """Fᵀ F, a new (dim, dim) array, whose non-zero eigenvalues are those of K."""
        F = self.features()
        return (F.T @ F).toarray() if sp.issparse(F) else gram(F.T)

    def matmul(self, V: Array) -> Array:
        """K @ V for V of shape (n,) or (n, m)."""
        if self.scale is None:
            return self._matmul(V)
        return (self._matmul((V.T * self.scale).T).T * self.scale).T

    def squared_norm(self) -> Array:
        """‖K‖²_F, which is the sum of the squared eigenvalues."""
        if self.dim is not None and self.dim < self.n:
            C = self.covariance()
            return namespace(C).sum(C * C)
        if not is_numpy(self.diagonal()):
            K = self.dense()
            return namespace(K).sum(K * K)
        scale = np.ones(self.n) if self.scale is None else self.scale
        # Scaled before it is squared: entries of 1e200, or of one byte, have no square.
        some = scale[scale > 0]
        even = float(some.max()) if some.max(initial=0) < SPREAD * some.min(initial=1) else 1.0
        columns, weights = scale * even, (scale / even) ** 2
        total, buffer = 0.0, np.empty((0, self.n))
        for block in row_blocks(self.n, 8 * self.n):
            K = self._rows(block)
            buffer = buffer if len(buffer) >= len(K) else np.empty(K.shape)
            R = np.multiply(K, columns, out=buffer[: len(K)])
            total += float(weights[block] @ np.vecdot(R, R))
        return total

    def scaled(self, s: Array) -> Self:
        """diag(s) K diag(s) for s of shape (n,)."""
        new = copy.copy(self)
        new.scale = s if self.scale is None else self.scale * s
        return new

    def take(self, index: np.ndarray) -> Similarity:
        """The Similarity of the samples in `index`, in that order, repeats allowed."""
        part = self._take(index)
        part.settings, part.fitted, part.notes = self.settings, self.fitted, self.notes
        part.roundoff = self.roundoff
        return part if self.scale is None else part.scaled(self.scale[index])

    def normalized(self) -> Self:
        """The cosine normalisation K_ij / √(K_ii K_jj).

        Raises
        ------
        ValueError
            If a diagonal entry is not positive; the message names the sample.
        """
        diagonal = self.diagonal()
        xp = namespace(diagonal)
        if not bool(xp.all(diagonal > 0)):
            row = int(xp.argmin(xp.astype(diagonal > 0, xp.int8)))
            raise ValueError(
                f"cannot normalize row {row} of the samples: its similarity with itself is "
                f"{scalar(diagonal[row]):.3g}, expected more than 0; remove it (a zero vector?)"
            )
        return self.scaled(1 / xp.sqrt(diagonal))


class FeatureSimilarity(Similarity):
    """K = X Xᵀ from the rows of X (n, d), dense (NumPy or torch) or CSR; X is not copied.

    Examples
    --------
    >>> import numpy as np
    >>> FeatureSimilarity(np.array([[3.0, 4.0], [0.0, 2.0]])).normalized().dense()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """

    psd = True

    def __init__(self, X: Any, settings: Mapping[str, Any] | None = None) -> None:
        self.n, self.dim = X.shape
        self.X, self.settings = X, settings or {}

    def normalized(self) -> Self:
        squares = self._squares
        xp = namespace(squares)
        far = FAR_SINGLE if str(self.X.dtype).endswith("float32") else FAR
        safe = (xp.min(squares) >= 1 / far) & (xp.max(squares) <= far)
        if bool(safe) or self.scale is not None:
            return super().normalized()
        rescaled = copy.copy(self)  # cosines do not change with the lengths of rows
        rescaled.X = _of_moderate_length(self.X)
        del rescaled._squares
        return Similarity.normalized(rescaled)

    @property
    def is_single(self) -> bool:
        """Whether X is a dense NumPy array in single precision."""
        return is_numpy(self.X) and self.X.dtype == np.float32

    def _float64(self, index: Index) -> Any:
        X = self.X[index]
        if sp.issparse(X):
            return X.astype(np.float64)
        xp = namespace(X)
        return xp.astype(X, xp.float64, copy=False)

    def _features(self) -> Any:
        return self._float64(slice(None))

    def _wide_blocks(
        self, scale: Array | None = None, least: int = 64
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of NumPy rows in float64, scaled; a block is gone when the next one comes."""
        d = self.X.shape[1]
        buffer = np.empty((0, d))
        for block in row_blocks(self.n, 8 * d, least):
            X = self.X[block]
            if scale is None and X.dtype == np.float64:
                yield block, X
                continue
            if len(buffer) < len(X):
                buffer = np.empty(X.shape)
            F = buffer[: len(X)]
            np.multiply(X, 1.0 if scale is None else scale[block, None], out=F)
            yield block, F

    @cached_property
    def _squares(self) -> Array:
        """‖x‖² of every row, found once for all scaled copies."""
        if sp.issparse(self.X):
            X = self._float64(slice(None))
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        if not is_numpy(self.X):
            X = self._float64(slice(None))
            return namespace(X).linalg.vecdot(X, X)
        squares = np.empty(self.n)
        with np.errstate(over="ignore", under="ignore"):  # `normalized` takes care of those
            for block, X in self._wide_blocks():
                np.vecdot(X, X, out=squares[block])
        return squares

    def _diagonal(self) -> Array:
        return self._squares

    @cached_property
    def _transposed(self) -> Any:
        return self._float64(slice(None)).T

    @cached_property
    def _common_and_rare(self) -> tuple[np.ndarray, Any, Any]:
        """Sparse X as its few frequent columns, dense, and the others with their transpose."""
        X = self._float64(slice(None))
        found = np.bincount(X.indices, minlength=self.X.shape[1])
        frequent = np.argsort(-found)[:COMMON_COLUMNS]
        common = found > COMMON_SHARE * self.n
        common[np.setdiff1d(np.flatnonzero(common), frequent)] = False
        rare = X[:, ~common]
        return X[:, common].toarray(), rare, rare.T.tocsr()

    def _rows(self, index: Index) -> Array:
        whole = isinstance(index, slice) and index.indices(self.n) == (0, self.n, 1)
        if not sp.issparse(self.X):
            X = self._float64(index)
            return gram(X) if whole else X @ self._transposed
        # A product of two sparse matrices costs Σ (rows with column j)², nearly all of it in a few
        # columns (the full stop, "the"), which are cheaper in a dense product.
        common, rare, transposed = self._common_and_rare
        K = gram(common) if whole else common[index] @ common.T
        rest = rare[index] @ transposed
        K[np.repeat(np.arange(len(K)), np.diff(rest.indptr)), rest.indices] += rest.data
        return K

    def _take(self, index: np.ndarray) -> FeatureSimilarity:
        return FeatureSimilarity(self.X[index], self.settings)

    def _matmul(self, V: Array) -> Array:
        return self.X @ (self.X.T @ V)

    def dense(self) -> Array:
        if sp.issparse(self.X):
            return super().dense()
        return gram(self.features())

    def covariance(self) -> Array:
        if not is_numpy(self.X):
            return super().covariance()
        # One pass over X. NumPy notices that the factors are transposes of each other and does
        # half the work (syrk). SciPy's own BLAS is not called between NumPy's: their waiting
        # threads take each other's cores. Adding d² numbers costs as much as d rows.
        d = self.X.shape[1]
        C = np.zeros((d, d))
        for _, F in self._wide_blocks(self.scale, least=4 * d):
            C += gram(F.T)
        return C

    def squared_norm(self) -> Array:
        if not sp.issparse(self.X) or self.X.shape[1] < self.n:
            return super().squared_norm()
        # ‖CCᵀ + RRᵀ‖² for common columns C and rare ones R, by sparse products; no n² of anything.
        common, rare, transposed = self._common_and_rare
        if self.scale is not None:
            common, rare = common * self.scale[:, None], scale_rows(rare, self.scale)
            transposed = rare.T.tocsr()
        total = float(np.sum(gram(common.T) ** 2) + 2 * np.sum((transposed @ common) ** 2))
        for block in row_blocks(self.n, 8 * self.n):
            total += float(np.sum((rare[block] @ transposed).data ** 2))
        return total

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.X)


class MatrixSimilarity(Similarity):
    """A dense symmetric K (n, n), NumPy or torch, not copied."""

    def __init__(
        self, K: Array, *, psd: bool = False, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.n = K.shape[0]
        self.K, self.psd, self.settings = K, psd, settings or {}

    def _diagonal(self) -> Array:
        xp = namespace(self.K)
        return xp.astype(xp.linalg.diagonal(self.K), xp.float64)

    def _rows(self, index: Index) -> Array:
        return self.K[index]

    def _take(self, index: np.ndarray) -> MatrixSimilarity:
        return MatrixSimilarity(self.K[index][:, index], psd=self.psd, settings=self.settings)

    def _matmul(self, V: Array) -> Array:
        return self.K @ V

    def dense(self) -> Array:
        if is_numpy(self.K):
            return super().dense()
        K = namespace(self.K).astype(self.K, namespace(self.K).float64)
        return K if self.scale is None else K * self.scale[:, None] * self.scale[None, :]

    def _groups(self) -> np.ndarray | None:
        return identical_rows(self.K)


def _of_moderate_length(X: Any) -> Any:
    """Rows of floats times powers of two that bring their largest entry to between ½ and 1."""
    magnitude = abs(X.detach() if is_torch(X) else X)
    top = magnitude.max(axis=1).toarray().ravel() if sp.issparse(X) else magnitude.max(1)
    top = np.asarray(top.values.cpu() if is_torch(X) else top)
    exponent = np.frexp(top)[1]
    half = exponent // 2  # 2⁻¹⁰⁷⁴ has no inverse, but two factors have
    for part in (half, exponent - half):
        X = scale_rows(X, as_kind_of(np.ldexp(1.0, -part), X))
    return X


def scale_rows(F: Any, s: Array) -> Any:
    """diag(s) F for dense or sparse F."""
    return sp.diags_array(s, format="csr") @ F if sp.issparse(F) else F * s[:, None]
