"""Similarities whose entries are computed when asked, for kernels that have no features.

K is symmetric, so that what needs all of it (a norm, a product, the dense matrix) computes half:
rows by blocks, each from its diagonal on. Nothing of size n² is allocated but by `dense`, and by
products, which keep K where there is room.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ..arrays import memory
from ..arrays.identical import identical_rows
from ..arrays.namespace import Array, row_blocks
from ..distances.float32 import Band, Tiles, in_single
from ..distances.pairs import pair_blocks
from .base import Index, Similarity

# Products may keep K if it takes no more than this share of the memory that is left; a K of more
# than so many bytes from the second product on, since many ask for one only.
KEPT_SHARE = 0.25
KEPT_AT_ONCE = 1 << 28


class _Kept:
    """What scaled copies of a Similarity share: how many products were asked for, and K.

    `tiles` are K in single precision, its upper triangle.
    """

    def __init__(self) -> None:
        self.products = 0
        self.K: np.ndarray | None = None
        self.tiles: Tiles | None = None


class LazySimilarity(Similarity):
    """A Similarity in NumPy whose entries are computed when asked.

    A subclass gives `_entries`, besides `_diagonal` and `_take`.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._kept = _Kept()

    @abstractmethod
    def _entries(self, index: Index, columns: slice) -> np.ndarray:
        """K[index][:, columns], a new float64 array."""

    def _single(self, rows: slice) -> Band:
        """A function from columns to K[rows, columns] in float32, right to 4e-6."""

        def entries(columns: slice) -> np.ndarray:
            return self._entries(rows, columns).astype(np.float32)

        return entries

    def _rows(self, index: Index) -> Array:
        K = self._kept.K
        return self._entries(index, slice(0, self.n)) if K is None else K[index]

    def _upper(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of rows, large ones, from the diagonal on."""
        K = self._kept.K
        for block in pair_blocks(self.n):
            columns = slice(block.start, self.n)
            yield block, self._entries(block, columns) if K is None else K[block, columns]

    def _upper_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for block, upper in self._upper():
            for some in row_blocks(len(upper), 8 * self.n):
                yield (
                    slice(block.start + some.start, block.start + some.stop),
                    upper[some, some.start :],
                )

    def dense(self) -> Array:
        K = self._new_matrix()
        for block, entries in self._upper():
            upper, size = K[block, block.start :], len(entries)
            upper[:] = entries
            if self.scale is not None:
                upper *= self.scale[block, None]
                upper *= self.scale[None, block.start :]
            below = np.tril_indices(size, -1)
            upper[below] = upper[:, :size].T[below]
            K[block.stop :, block] = upper[:, size:].T
        return K

    def _matmul(self, V: Array) -> Array:
        # A product takes n² operations from a K that is kept, and as much as K without.
        if self._keep() is not None:
            return self._kept.K @ V
        out = np.zeros(V.shape)
        for block, upper in self._upper():
            size = len(upper)
            out[block] += upper @ V[block.start :]
            out[block.stop :] += upper[:, size:].T @ V[block]
        return out

    def _matmul_single(self, V: Array) -> Array:
        if self._kept.K is not None:
            return np.asarray(self._kept.K @ V)
        return in_single(V, self._tiles().product)

    def _tiles(self) -> Tiles:
        """K in single precision, kept where there is room: who asks for it asks for it again."""
        kept, tiles = self._kept, Tiles(self.n, self._single)
        if kept.tiles is None and _has_room(2 * self.n**2):
            kept.tiles = tiles.kept()  # half of K, in half the bytes
        return kept.tiles or tiles

    def squared_norm(self, single: bool = False) -> Array | float:
        if not single or self._kept.K is not None:
            return super().squared_norm()
        return self._tiles().squared_norm(self._weights() ** 2)

    def _like(self, part: Similarity, index: Index) -> Similarity:
        """The same, with what is kept of K."""
        K, part = self._kept.K, super()._like(part, index)
        if K is not None and isinstance(part, LazySimilarity) and _has_room(8 * part.n**2):
            part._kept.K = K[index][:, index]
        return part

    def _keep(self) -> np.ndarray | None:
        """K, if it has been kept or is to be from now on."""
        kept, size = self._kept, 8 * self.n**2
        kept.products += 1
        wanted = size <= KEPT_AT_ONCE or kept.products > 1
        if kept.K is None and wanted and _has_room(size):
            kept.K = np.asarray(self.bare().dense())
        return kept.K


def _has_room(size: int) -> bool:
    return size <= KEPT_SHARE * memory.available_bytes()


class Entries(Protocol):
    """A symmetric matrix K (n, n) of samples, in parts that are computed when asked."""

    n: int

    def __call__(self, index: Index, columns: slice) -> np.ndarray:
        """K[index][:, columns], a new float64 array."""

    def take(self, index: np.ndarray) -> Entries:
        """Those of the samples in `index`."""

    def single(self, rows: slice) -> Band:
        """A function from columns to K[rows, columns] in float32, right to 4e-6.

        What it gives may be overwritten by the next it gives.
        """

    def groups(self) -> np.ndarray | None:
        """A number (n,) for each sample, equal only where samples are identical, if known."""


class RowsSimilarity(LazySimilarity):
    """K from a function of places, or of rows, with a diagonal of exactly 1.

    What needs all pairs asks for them block by block, so that nothing of n² numbers is kept unless
    `dense` is called, or there is room for what many products ask for.

    Parameters
    ----------
    entries : callable with `n`, `take`, `single` and `groups`
        Gives K[index][:, columns], a new float64 array. `of_rows` makes one of a function of rows,
        which is what most kernels have.
    psd : bool
        Whether K is known to be positive semidefinite, so that eigenvalues need no check.
    settings : mapping, optional
        How it was made, to be reported.

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
        self, entries: Entries, *, psd: bool = False, settings: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(entries.n)
        self.entries, self.psd, self.settings = entries, psd, settings or {}

    @classmethod
    def of_rows(
        cls,
        X: np.ndarray,
        k: Callable[[np.ndarray, np.ndarray], np.ndarray],
        *,
        psd: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> RowsSimilarity:
        """K_ij = k(X, X)_ij from a function of some rows and others.

        Parameters
        ----------
        X : array (n, d)
            A row for each sample; not copied.
        k : callable
            Of rows (m, d) and (l, d), giving a new float64 array (m, l), whose entry of two rows
            depends on no other row.
        psd, settings
            As above.
        """
        return cls(_OfRows(X, k), psd=psd, settings=settings)

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _entries(self, index: Index, columns: slice) -> np.ndarray:
        with np.errstate(under="ignore"):  # whatever the caller has set: what vanishes is 0
            part = self.entries(index, columns)
        _set_diagonal(part, np.arange(self.n)[index] - columns.start)
        return part

    def _single(self, rows: slice) -> Band:
        found = self.entries.single(rows)

        def entries(columns: slice) -> np.ndarray:
            with np.errstate(under="ignore"):
                part = found(columns)
            if columns.start < rows.stop and rows.start < columns.stop:
                _set_diagonal(part, np.arange(rows.start, rows.stop) - columns.start)
            return part

        return entries

    def _take(self, index: np.ndarray) -> RowsSimilarity:
        return RowsSimilarity(self.entries.take(index), psd=self.psd, settings=self.settings)

    def _groups(self) -> np.ndarray | None:
        return self.entries.groups()


def _set_diagonal(part: np.ndarray, places: np.ndarray) -> None:
    """Ones where row i is at column `places[i]`."""
    inside = np.flatnonzero((places >= 0) & (places < part.shape[1]))
    part[inside, places[inside]] = 1.0


class _OfRows:
    def __init__(self, X: np.ndarray, k: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        self.n, self.X, self.k = len(X), X, k

    def __call__(self, index: Index, columns: slice) -> np.ndarray:
        return self.k(self.X[index], self.X[columns])

    def single(self, rows: slice) -> Band:
        return lambda columns: self(rows, columns).astype(np.float32)

    def take(self, index: np.ndarray) -> Entries:
        return _OfRows(self.X[index], self.k)

    def groups(self) -> np.ndarray | None:
        return identical_rows(self.X)
