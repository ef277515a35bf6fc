"""Similarities whose entries are computed on demand, in blocks of rows."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any, Protocol, SupportsIndex

import numpy as np

from ..support import memory
from ..support.namespace import Array
from ..support.parallel import map_ordered, slices
from ..support.types import DType, Options
from .base import Index, S, Similarity
from .duplicate_rows import group_identical_rows
from .matrix import MatrixSimilarity, restore_similarity
from .row_distances import MIN_BLOCK_ROWS, MIN_BLOCKS, fill_symmetric, split_into_pair_blocks

# K up to this size is cached at the first product with a vector, a larger one only at the second,
# because often there is only one product.
MAX_EAGER_CACHE_BYTES = 1 << 28
# Size of tiles that fit in the cache of a core.
TILE_ROWS = 1024
TILE_COLUMNS = 512

BlockFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]  # k(A, B) for rows A and B


class KernelEntries(Protocol):
    """Protocol of callables that compute blocks of a symmetric similarity matrix K (n, n)."""

    n: int
    in_threads: bool  # whether it is thread-safe

    def __call__(self, index: Index, columns: slice, dtype: DType = np.float64) -> np.ndarray:
        """Compute K[index][:, columns] as a new array of type `dtype`.

        If `dtype` is float32, errors of entries are at most 1e-5.
        """

    def take(self, index: np.ndarray) -> KernelEntries:
        """Return an object of the same kind for the subset of samples `index`."""

    def groups(self) -> np.ndarray | None:
        """Return one code per sample, equal only for identical samples; None if unknown."""


class _MatrixCache:
    """The similarity matrix K, if it is cached, and the number of its products computed so far.

    A product is K @ V with a vector or matrix V. K is not multiplied by the factors `scale`, so
    copies of a Similarity with other factors share this object.
    """

    def __init__(self) -> None:
        self.products = 0
        self.K: np.ndarray | None = None

    def __reduce__(self) -> tuple[type[_MatrixCache], tuple[()]]:
        return type(self), ()  # K is recomputed after unpickling


class RowsSimilarity(Similarity):
    """Similarities computed on demand in NumPy, with ones on the diagonal.

    Parameters
    ----------
    entries : object with `n`, `in_threads`, `take` and `groups`
        A callable that returns the block K[index][:, columns] as a new array of a given dtype. `n`
        is the number of samples, `in_threads` whether it is thread-safe, `take(index)` returns such
        an object for a subset, and `groups()` one code per sample that is equal only for identical
        samples, or None. Most kernels create it by `of_rows` from a function of feature rows.
    psd : bool, default False
        Whether K is known to be positive semidefinite. Its eigenvalues then need no check.
    settings : mapping, optional
        How the similarities are computed, for reports.

    See Also
    --------
    MatrixSimilarity : Similarities as a matrix.
    register_kernel : Register a kernel that returns these similarities.

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))).dense()
    array([[1.        , 0.5       , 0.25      ],
           [0.5       , 1.        , 0.33333333],
           [0.25      , 0.33333333, 1.        ]])
    """

    def __init__(
        self, entries: KernelEntries, *, psd: bool = False, settings: Options | None = None
    ) -> None:
        self.n: int = entries.n
        self.psd = psd
        self.settings: Options = settings or {}
        self.entries = entries
        self._cache = _MatrixCache()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle the matrix K (n, n) instead of `entries` if its function cannot be pickled."""
        if not isinstance(self.entries, _FunctionEntries) or can_be_pickled(self.entries.k):
            return super().__reduce_ex__(protocol)
        K = self.bare().dense()
        return restore_similarity, (self._copy_attributes_to(MatrixSimilarity(K)),)

    @classmethod
    def of_rows(
        cls,
        X: np.ndarray,
        k: BlockFunction,
        *,
        psd: bool = False,
        settings: Options | None = None,
    ) -> RowsSimilarity:
        """Create similarities from a function of two blocks of feature rows.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, one row per sample. Not copied.
        k : callable
            A function of two blocks of rows, of shapes (m, d) and (l, d), that returns a new
            float64 array of shape (m, l). Entry (i, j) must depend only on row i of the first and
            row j of the second block.
        psd : bool, default False
            Whether K is known to be positive semidefinite.
        settings : mapping, optional
            How the similarities are computed, for reports.

        Returns
        -------
        RowsSimilarity
            The similarities k(X, X), computed on demand.
        """
        return cls(_FunctionEntries(X, k), psd=psd, settings=settings)

    @property
    def in_threads(self) -> bool:
        return self.entries.in_threads

    def entries_work(self) -> float:
        return float(self.n) ** 2 * getattr(self.entries, "width", 0)  # 0 if unknown

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _entries(self, index: Index, columns: slice, dtype: DType = np.float64) -> np.ndarray:
        """Return K[index][:, columns], where K is without the factors `scale`.

        Entries on the diagonal of K are exactly 1.
        """
        if self._cache.K is not None:
            return self._cache.K[index, columns]
        with np.errstate(under="ignore"):  # underflow to 0 is not an error
            block = self.entries(index, columns, dtype)
        # The column of the block that contains the diagonal entry of each row.
        diagonal_columns = np.arange(self.n)[index] - columns.start
        is_inside = (diagonal_columns >= 0) & (diagonal_columns < block.shape[1])
        rows = np.flatnonzero(is_inside)
        block[rows, diagonal_columns[rows]] = 1.0
        return block

    def _rows(self, index: Index) -> Array:
        return self._entries(index, slice(0, self.n))

    def _take(self, index: np.ndarray) -> RowsSimilarity:
        return RowsSimilarity(self.entries.take(index), psd=self.psd)

    def _groups(self) -> np.ndarray | None:
        return self.entries.groups()

    def _upper_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for block in split_into_pair_blocks(self.n):
            yield block, self._entries(block, slice(block.start, self.n))

    def dense(self) -> Array:
        # Compute only the upper triangle of K, in blocks of rows, and mirror it.
        upper = self._upper_blocks()
        s = self.scale
        if s is not None:
            upper = ((rows, K * s[rows, None] * s[rows.start :]) for rows, K in upper)
        return fill_symmetric(self._new_matrix(), upper)

    def _matmul(self, V: Array) -> Array:
        """Compute K @ V from K if it is cached, otherwise from tiles of K."""
        K = self._cached_matrix()
        if K is not None:
            return K @ V
        return symmetric_product(self._entries, V, self.in_threads)

    def _copy_metadata_to(self, subset: S, index: Index) -> S:
        # The subset also gets its entries of a cached K, if they fit in memory.
        K = self._cache.K
        subset = super()._copy_metadata_to(subset, index)
        if (
            K is not None
            and isinstance(subset, RowsSimilarity)
            and memory.has_room(8 * subset.n**2)
        ):
            subset._cache.K = K[index][:, index]
        return subset

    def _cached_matrix(self) -> np.ndarray | None:
        """Return K if it is cached, or compute and cache it if that is worthwhile; otherwise None.

        K, which is not multiplied by `scale`, is cached if it fits in memory, and is small or used
        for at least the second time.
        """
        cache = self._cache
        size = 8 * self.n**2
        cache.products += 1
        should_cache = size <= MAX_EAGER_CACHE_BYTES or cache.products > 1
        if cache.K is None and should_cache and memory.has_room(size):
            cache.K = self.bare().dense()
        return cache.K


def can_be_pickled(function: object) -> bool:
    """Return whether a function can be pickled (a lambda cannot)."""
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def symmetric_product(
    entries: Callable[[slice, slice], np.ndarray], V: np.ndarray, threaded: bool = True
) -> np.ndarray:
    """Compute K @ V for a symmetric matrix K (n, n) from tiles of its upper triangle.

    `entries(rows, columns)` computes the tile K[rows, columns]. V has shape (n,) or (n, m). A tile
    above the diagonal is computed once and multiplied twice, the second time transposed.
    """
    n = len(V)
    rows = -(-n // MIN_BLOCKS)  # several blocks per thread
    size = max(MIN_BLOCK_ROWS, min(TILE_ROWS, rows))
    blocks = slices(n, size)

    def multiply(block: slice) -> tuple[slice, np.ndarray, np.ndarray]:
        """Multiply the tiles in the rows `block`, on and above the diagonal, by V.

        Returns `block`, its rows of K @ V without the contribution of earlier columns, and the
        contribution of the transposed tiles to all later rows.
        """
        product = entries(block, block) @ V[block]
        transposed_product = np.empty((n - block.stop, *V.shape[1:]))
        for columns in slices(n, TILE_COLUMNS, block.stop):
            K = entries(block, columns)
            product += K @ V[columns]
            start = columns.start - block.stop
            transposed_product[start : start + len(K.T)] = K.T @ V[block]
        return block, product, transposed_product

    out = np.zeros(V.shape)
    products = map_ordered(multiply, blocks, threaded)
    try:
        for block, product, transposed_product in products:
            out[block] += product
            out[block.stop :] += transposed_product
    finally:  # after an interrupt, wait for the threads
        products.close()
    return out


class _FunctionEntries:
    """Entries k(x, y) for rows x and y of X, where k is a user's function of two blocks of rows."""

    in_threads = False  # k may not be thread-safe

    def __init__(self, X: np.ndarray, k: BlockFunction) -> None:
        self.n = len(X)
        self.X = X
        self.k = k
        self.width = X[:1].size

    def __call__(self, index: Index, columns: slice, dtype: DType = np.float64) -> np.ndarray:
        """Compute the similarities of the rows `index` of X with the rows `columns`."""
        K = self.k(self.X[index], self.X[columns])
        return K.astype(dtype, copy=False)

    def take(self, index: np.ndarray) -> KernelEntries:
        return _FunctionEntries(self.X[index], self.k)

    def groups(self) -> np.ndarray | None:
        return group_identical_rows(self.X)
