"""Similarities that are dot products of dense or sparse features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Self

import numpy as np

from ..core.score import MAX_SQUARED_NORM
from ..support.arguments import has_gradient
from ..support.namespace import (
    Array,
    gram,
    is_numpy,
    is_torch,
    namespace,
    product,
    rescale_rows,
    row_blocks,
    scale_rows,
    to_host,
)
from ..support.types import DType, Options, Rows
from . import sparse as sp
from .base import Index, Similarity
from .covariance import compute_covariance
from .duplicate_rows import group_identical_rows
from .sample_arrays import as_shared_numpy

# Rows whose length differs from 1 by at most this, for example after normalization in float32, are
# treated as unit rows in single precision. This changes log VS by less than 1e-5.
UNIT_TOLERANCE = 1e-6
# Frequent columns of sparse features, non-zero in more than this fraction of the samples, are
# multiplied as dense columns, up to this number. On n-grams, 1/20 to 1/200 are equally fast.
MIN_COMMON_FREQUENCY = 1 / 50
MAX_COMMON_COLUMNS = 256
# Cost of one multiplication in a sparse product, relative to a dense product.
SPARSE_PAIR_WORK = 500
# To compute rows of K, features in single precision are copied to double precision and cached, if
# the copy has at most this size.
MAX_COPIED_BYTES = 1 << 27
# Sparse subsets up to this size become dense, because small sparse products are ten times slower.
MAX_DENSE_SIZE = 1 << 16


class FeatureSimilarity(Similarity):
    """Similarities as dot products of feature rows, K = X X^T.

    Scores take O(n d^2 + d^3) time, or O(n^2 d + n^3) if that is less. For d < n no matrix of
    shape (n, n) is computed.

    Parameters
    ----------
    X : array, tensor or CSR array of shape (n, d)
        One row per sample. Not copied, so do not modify it afterwards.
    settings : mapping, optional
        How the features were computed, for reports.

    See Also
    --------
    MatrixSimilarity : Similarities as a matrix.
    register_kernel : Register a kernel that returns these similarities.

    Examples
    --------
    >>> import numpy as np
    >>> FeatureSimilarity(np.array([[3.0, 4.0], [0.0, 2.0]])).normalized().dense()
    array([[1. , 0.8],
           [0.8, 1. ]])
    """

    psd = True
    n: int
    dim: int | None
    settings: Options
    _divides_by_lengths = False  # whether `scale` divides each row by its length

    def __init__(self, X: Rows, settings: Mapping[str, object] | None = None) -> None:
        self.n, self.dim = X.shape
        self.X = X
        self.settings = settings or {}

    @cached_property
    def scale(self) -> Array | None:  # type: ignore[override]  # it can be set, as that of Similarity
        # Computed when it is first used, because scores from products in single precision use the
        # rows as they are.
        if not self._divides_by_lengths:
            return None
        squares = self._squared_norms
        return 1 / namespace(squares).sqrt(squares)

    @property
    def _has_unit_scale(self) -> bool:
        # Until `scale` is used, it divides rows by lengths that are 1 up to rounding, or is None.
        return vars(self).get("scale") is None

    def normalized(self) -> Self:
        # Divide similarities by √(K_ii K_jj), where K_ii is the squared norm of feature row i.
        if self.scale is None and self.has_unit_diagonal:
            normalized = self._replace(_divides_by_lengths=True)
            del vars(normalized)["scale"]  # the None that was stored when it was read
            return normalized
        squares = self._squared_norms
        is_accurate = (squares >= 1 / MAX_SQUARED_NORM) & (squares <= MAX_SQUARED_NORM)
        if self.scale is None and bool(is_accurate.all()):
            return self.scaled(1 / namespace(squares).sqrt(squares))
        if getattr(self.X.dtype, "kind", "f") in "biu":  # such as pixels; they cannot be rescaled
            return Similarity.normalized(self)
        # Rescale rows before squaring, against overflow and underflow; cosines do not change.
        return Similarity.normalized(self._with_features(rescale_rows(self.X)))

    def _with_features(self, X: Rows) -> Self:
        """Return a copy of this similarity with other features X (n, d') of the same samples."""
        return self._copy_metadata_to(type(self)(X), slice(None))._replace(dropped=self.dropped)

    @property
    def in_threads(self) -> bool:
        return not is_torch(self.X)

    def _to_float64(self, index: Index) -> Rows:
        """Return the features of the samples `index` in double precision."""
        X = self.X[index]
        if sp.issparse(X):
            return X.astype(np.float64)
        xp = namespace(X)
        return xp.astype(X, xp.float64, copy=False)

    def _features(self) -> Rows:
        return self._to_float64(slice(None))

    def iter_scaled_blocks(
        self, scale: Array | None = None, dtype: DType = np.float64, min_rows: int = 64
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (block, X[block]) for slices of rows of the NumPy features X, converted to `dtype`.

        Row i is multiplied by scale[i] if `scale` (n,) is passed. Only one block at a time is
        converted, to save memory. A block has at least `min_rows` rows.
        """
        for block in row_blocks(self.n, 8 * self.X.shape[1], min_rows):
            X = self.X[block].astype(dtype, copy=False)
            if scale is not None:
                X = X * scale[block, None].astype(dtype, copy=False)
            yield block, X

    @cached_property
    def has_unit_diagonal(self) -> bool:
        """Whether the rows are known to have length 1, up to rounding in single precision.

        False for arrays of other types than float32, whose lengths are not examined here. For
        float32, the lengths are computed in single precision, which takes a quarter of the time.
        """
        if not (is_numpy(self.X) and self.X.dtype == np.float32):
            return False
        with np.errstate(all="ignore"):
            squares = np.vecdot(self.X, self.X)
        # Half of the tolerance allows for rounding errors of the squares. False for NaN.
        return bool(np.abs(squares - 1).max(initial=0.0) <= UNIT_TOLERANCE)

    @cached_property
    def _squared_norms(self) -> Array:
        """The squared norm ‖x‖² of each feature row x, shape (n,), without the factors `scale`.

        Copies of this object that are created after it has been computed share it.
        """
        if not is_numpy(self.X):
            numpy_similarity = self.in_numpy()
            if numpy_similarity is not self:  # a tensor on the CPU without gradient
                return namespace(self.X).asarray(numpy_similarity._squared_norms)
            X = self._features()
            return row_dot_products(X, X)
        squares = np.empty(self.n)
        with np.errstate(over="ignore", under="ignore"):  # `normalized` rescales rows if needed
            for block, X in self.iter_scaled_blocks():
                np.vecdot(X, X, out=squares[block])
        return squares

    def _diagonal(self) -> Array:
        return self._squared_norms

    @cached_property
    def _transposed(self) -> Rows:
        return self._features().T

    def compact(self) -> FeatureSimilarity:
        """Drop columns of integer features that are zero for all samples, such as image margins.

        Other features are returned unchanged.
        """
        if not isinstance(self.X, np.ndarray) or self.X.dtype.kind not in "bui":
            return self
        is_used = self.X.any(axis=0)
        if is_used.all() or not is_used.any():
            return self
        return self._with_features(np.ascontiguousarray(self.X[:, is_used]))

    def _part(self, index: np.ndarray) -> FeatureSimilarity:
        """Return the dot products of the features of the samples `index`."""
        X = self.X[index]
        if not sp.issparse(X):
            return FeatureSimilarity(X)
        # Drop the columns that are zero for all samples of the subset.
        used, new_columns = np.unique(X.indices, return_inverse=True)
        shape = (len(index), max(1, len(used)))
        compact = sp.csr_array((X.data, new_columns, X.indptr), shape)
        if len(index) * len(used) <= MAX_DENSE_SIZE:
            compact = compact.toarray()
        return FeatureSimilarity(compact)

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the dot products within g sets of m samples, shape (g, m, m).

        `indices` (g, m) contains the indices of the samples of each set.
        """
        if not sp.issparse(self.X):
            return self._gram_matrices(indices)
        g, m = indices.shape
        rows: sp.csr_array = self._to_float64(indices.ravel())  # (g m, d)
        # Compute the products of all sets as one sparse product. Divide each column into one column
        # per set, so only samples of the same set have columns in common.
        by_column = rows.tocsc()
        set_of_entry = by_column.indices // m
        # A new column starts where the set differs from that of the previous entry, and at the
        # start of each column of X.
        starts_column = np.ones(len(set_of_entry) + 1, dtype=bool)
        starts_column[1:-1] = set_of_entry[1:] != set_of_entry[:-1]
        starts_column[by_column.indptr] = True
        column_starts = np.flatnonzero(starts_column)
        entries = (by_column.data, by_column.indices, column_starts)
        F_transposed = sp.csr_array(entries, (len(column_starts) - 1, g * m))
        products = (F_transposed.T @ F_transposed).tocoo()
        K = np.zeros((g, m, m))
        sets, i = np.divmod(products.row, m)
        K[sets, i, products.col % m] = products.data
        return K

    def _gram_matrices(self, indices: np.ndarray) -> Array:
        """Compute the dot products between the m feature rows of each of g sets, shape (g, m, m).

        `indices` (g, m) contains the row indices of each set. NumPy arrays are processed in blocks
        of a few sets, whose rows fit in the cache.
        """
        m = indices.shape[1]
        d = self.X.shape[1]
        xp = namespace(self.X)
        products = []
        blocks: Iterable[slice] = [slice(0, len(indices))]
        if is_numpy(self.X):
            blocks = row_blocks(len(indices), 32 * m * d, min_rows=1)
        for block in blocks:
            rows = indices[block].ravel()
            index: Index = rows
            first = rows[0]
            consecutive = np.arange(first, first + len(rows))
            if np.array_equal(rows, consecutive):
                index = slice(first, first + len(rows))  # a view instead of a copy
            F = self._to_float64(index)
            F = xp.reshape(F, (-1, m, d))
            transposed = xp.permute_dims(F, (0, 2, 1))
            products.append(xp.matmul(F, transposed))
        if len(products) == 1:
            return products[0]
        return xp.concat(products)

    def in_numpy(self) -> Self:
        # Convert tensors to NumPy arrays that share their memory, unless they have a gradient.
        # `as_shared_numpy` returns X itself if this is not possible.
        X = as_shared_numpy(self.X)
        if X is self.X or has_gradient([self.X, self.scale]):
            return self
        converted = self._with_features(X)
        if self.scale is not None:
            converted.scale = to_host(self.scale)
        return converted

    @cached_property
    def _is_common_column(self) -> np.ndarray:
        """Whether each of the d columns of sparse features X is frequent, shape (d,).

        A column is frequent if it is non-zero for more than a fraction MIN_COMMON_FREQUENCY of the
        samples. At most MAX_COMMON_COLUMNS columns are frequent.
        """
        X: sp.csr_array = self.X
        counts = np.bincount(X.indices, minlength=X.shape[1])
        is_common = counts > MIN_COMMON_FREQUENCY * self.n
        by_frequency = np.argsort(-counts)
        is_common[by_frequency[MAX_COMMON_COLUMNS:]] = False
        return is_common

    def entries_work(self) -> float:
        # The cost of computing XXᵀ, in multiplications of a dense product that takes the same time.
        X: sp.csr_array = self.X
        if not hasattr(X, "indptr"):  # dense
            return float(self.n) ** 2 * X.shape[1]
        counts = np.bincount(X.indices, minlength=X.shape[1])
        rare_counts = counts[~self._is_common_column]
        n_common = len(counts) - len(rare_counts)
        # A sparse product multiplies all pairs of non-zero entries in the same column.
        n_pairs = float(rare_counts @ rare_counts)
        return 2.0 * self.n**2 * n_common + SPARSE_PAIR_WORK * n_pairs

    def covariance_work(self) -> float:
        # The cost of computing XᵀX, in multiplications of a dense product that takes the same time.
        X: sp.csr_array = self.X
        if not sp.issparse(X):
            return super().covariance_work()
        # A sparse product multiplies all pairs of non-zero entries in the same row.
        counts_per_row = np.diff(X.indptr)
        return SPARSE_PAIR_WORK * float(counts_per_row @ counts_per_row)

    @cached_property
    def _split_columns(self) -> tuple[np.ndarray, sp.csr_array, sp.csr_array]:
        """Three matrices with the columns of sparse features X.

        These are the frequent columns as a dense array, the rare columns in CSR format, and the
        transpose of the rare columns in CSR format.
        """
        X: sp.csr_array = self._features()
        is_common = self._is_common_column
        rare = X[:, ~is_common]
        return X[:, is_common].toarray(), rare, rare.T.tocsr()

    def split_common_columns(self) -> tuple[np.ndarray, sp.csr_array]:
        """Return the frequent columns of sparse features as a dense array, and the others as CSR.

        Both are multiplied by the factors `scale`, if any.
        """
        common, rare, _ = self._split_columns
        if self.scale is None:
            return common, rare
        return common * self.scale[:, None], scale_rows(rare, self.scale)

    def _rows(self, index: Index) -> Array:
        """Compute the dot products of the m samples `index` with all n samples, shape (m, n)."""
        selects_all_rows = False
        if isinstance(index, slice):
            selects_all_rows = index.indices(self.n) == (0, self.n, 1)
        if not sp.issparse(self.X):
            X = self._to_float64(index)
            if selects_all_rows:
                return gram(X)
            if self.X.dtype != np.float32 or 8 * self.X.size <= MAX_COPIED_BYTES:
                return X @ self._transposed
            # Too large for a copy of all features in double precision: convert blocks.
            K = np.empty((len(X), self.n))
            for block, F in self.iter_scaled_blocks(min_rows=256):
                np.matmul(X, F.T, out=K[:, block])
            return K
        # A product of sparse matrices costs Σ_j (number of rows with column j)², mostly due to a
        # few frequent columns ("the", the full stop), which are faster in a dense product.
        common, rare, rare_transposed = self._split_columns
        K = gram(common) if selects_all_rows else common[index] @ common.T
        return add_sparse(K, rare[index] @ rare_transposed)

    def _take(self, index: np.ndarray) -> FeatureSimilarity:
        return FeatureSimilarity(self.X[index])

    def _matmul(self, V: Array) -> Array:
        """Compute X (Xᵀ V) for V of shape (n,) or (n, m), where X contains the feature rows."""
        X = self.X
        if not is_numpy(X) or X.dtype == V.dtype:
            return product(X, product(X.T, V))
        # Compute X (Xᵀ V) in blocks, because NumPy would convert a copy of all of X.
        columns = np.asarray(V).reshape(self.n, -1)
        transposed_product = np.zeros((self.X.shape[1], columns.shape[1]))
        for block, F in self.iter_scaled_blocks():
            transposed_product += F.T @ columns[block]
        return self.bare().projected(transposed_product).reshape(V.shape)

    def dense(self) -> Array:
        if sp.issparse(self.X):
            return super().dense()
        return gram(self.features())

    def projected(self, V: Array, single: bool = False) -> Array:
        # Compute F V for the scaled features F, in float32 if `single`.
        if not is_numpy(self.X):
            return super().projected(V)
        dtype = np.float32 if single else np.float64
        V = np.asarray(V, dtype)
        # Only one block of features at a time is converted to `dtype`.
        out = np.empty((self.n, V.shape[1]), dtype)
        for block, F in self.iter_scaled_blocks(self.scale, dtype, min_rows=256):
            np.matmul(F, V, out=out[block])
        return out

    def covariance(self) -> Array:
        if sp.issparse(self.X):
            return super().covariance()
        return compute_covariance(self.X, self.scale)

    def squared_norm(self) -> Array | float:
        if not sp.issparse(self.X) or self.X.shape[1] < self.n:
            return super().squared_norm()
        # With the common columns C and the rare columns R of the features, K is CCᵀ + RRᵀ. Its
        # squared Frobenius norm is ‖CᵀC‖² + 2 ‖RᵀC‖² + ‖RRᵀ‖², which needs no dense n × n matrix.
        common, rare = self.split_common_columns()
        rare_transposed = rare.T.tocsr()
        common_products = gram(common.T)
        mixed_products = rare_transposed @ common
        total = np.sum(common_products**2) + 2 * np.sum(mixed_products**2)
        for block in row_blocks(self.n, 8 * self.n):
            total += np.sum((rare[block] @ rare_transposed).data ** 2)
        return float(total)

    def _groups(self) -> np.ndarray | None:
        return group_identical_rows(self.X)


def row_dot_products(A: Rows, B: Rows) -> Array:
    """Compute the dot product of row i of A and row i of B for each i; A and B may be sparse."""
    if sp.issparse(A):
        return np.asarray(A.multiply(B).sum(axis=1)).ravel()
    return namespace(A).linalg.vecdot(A, B)


def add_sparse(K: np.ndarray, entries: sp.csr_array) -> np.ndarray:
    """Add the CSR matrix `entries` to the dense matrix K in place, and return K."""
    rows = np.repeat(np.arange(len(K)), np.diff(entries.indptr))
    K[rows, entries.indices] += entries.data
    return K
