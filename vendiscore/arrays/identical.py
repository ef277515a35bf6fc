"""Rows that are equal as numbers, found in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .hashing import FACTOR, mix
from .namespace import is_numpy, row_blocks

# Up to so many bytes, with 256 more for each row, a dict of rows is faster than codes; where rows
# are sparse, up to 256 of them.
_FEW = 1 << 16
# Numbers of each row that codes are of at first.
_SOME = 16


def joint_groups(columns: Sequence[Any]) -> np.ndarray:
    """Return one group number per sample from several columns that must all agree."""
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()


def identical_rows(A: Any) -> np.ndarray | None:
    """Return a group number for each row of A, equal where rows are; None for a torch tensor.

    >>> identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    n = A.shape[0]
    keys: Iterator[bytes]
    if sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        cuts = zip(A.indptr[:-1], A.indptr[1:], strict=True)
        keys = (A.indices[i:j].tobytes() + A.data[i:j].tobytes() for i, j in cuts)
        size, codes_of = 0, _sparse_codes
    elif is_numpy(A):
        zero = A.dtype.type(0)  # −0.0 + 0.0 is 0.0
        blocks = row_blocks(n, A[:1].nbytes)
        keys = (row.tobytes() for block in blocks for row in np.add(A[block], zero, order="C"))
        size, codes_of = A.nbytes, _dense_codes
    else:
        return None
    if size + 256 * n > _FEW:
        first, groups = np.unique(codes_of(A), return_index=True, return_inverse=True)[1:]
        first = first[groups]
        if _equal(A, first):
            return np.unique(first, return_inverse=True)[1]
    seen: dict[bytes, int] = {}
    return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), int, n)


def _dense_codes(A: np.ndarray) -> np.ndarray:
    """Return 64 bits of each row, from some of its numbers unless other rows have the same ones."""
    codes = _sums(A[:, :: -(-A.shape[1] // _SOME) or 1], np.arange(len(A)))
    if A.shape[1] > _SOME:
        _, groups, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        again = np.flatnonzero(sizes[groups] > 1)
        codes[again] ^= _sums(A, again)
    return codes


def _sums(A: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return random sums of the bits of some rows, as 64 bits each."""
    sums = np.empty(len(rows), np.uint64)
    factors = mix(np.arange(1, _bits(A[:1]).size + 1, dtype=np.uint64)) | np.uint64(1)
    for block in row_blocks(len(rows), A[:1].nbytes):
        bits = _bits(A[rows[block]])
        # Rows of small integers differ in high bits alone, which products carry no lower.
        for shift in (16, 32):
            bits ^= bits >> shift
        sums[block] = np.einsum("ij,j->i", bits, factors)
    return sums


def _sparse_codes(A: Any) -> np.ndarray:
    """Return 64 bits of each row: the sum of a random number for each column and value."""
    values = _bits(A.data[:, None]).sum(axis=1, dtype=np.uint64)
    sums = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(mix(values * FACTOR + A.indices.astype(np.uint64)), out=sums[1:])
    return np.diff(sums[A.indptr])


def _equal(A: Any, first: np.ndarray) -> bool:
    """Return whether row i of A equals row first[i] for all i; NaN equals nothing."""
    rows = np.flatnonzero(first != np.arange(len(first)))
    if sp.issparse(A):
        return bool((A[rows] != A[first[rows]]).nnz == 0)
    blocks = (rows[block] for block in row_blocks(len(rows), A[:1].nbytes))
    return all((A[block] == A[first[block]]).all() for block in blocks)


def _bits(A: np.ndarray) -> np.ndarray:
    """Return rows as unsigned integers, equal where the numbers are."""
    A = np.add(A, A.dtype.type(0), order="C")  # −0.0 + 0.0 is 0.0
    return A.view(next(f"u{size}" for size in (8, 4, 2, 1) if A[:1].nbytes % size == 0))
