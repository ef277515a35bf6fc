"""Rows that are equal as numbers, found in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.namespace import row_blocks
from ..core.types import Rows
from . import sparse as sp
from .hashing import mix

# Up to so many bytes (a row counts 256 more), a dict of rows is faster than codes.
_FEW = 1 << 16


def joint_groups(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one group number per sample from several columns that must all agree."""
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()


def identical_rows(A: Rows) -> np.ndarray | None:
    """Return a group number for each row of A, equal where rows are; None for a torch tensor.

    >>> identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    keys: Iterator[bytes]
    if isinstance(A, np.ndarray):
        if A.nbytes + 256 * len(A) > _FEW:
            first, groups = np.unique(_codes(A), return_index=True, return_inverse=True)[1:]
            like = first[groups]
            rows = np.flatnonzero(like != np.arange(len(A)))
            blocks = (rows[block] for block in row_blocks(len(rows), A[:1].nbytes))
            if all((A[block] == A[like[block]]).all() for block in blocks):  # NaN equals nothing
                return np.unique(like, return_inverse=True)[1]
        keys = (row.tobytes() for row in np.add(A, A.dtype.type(0), order="C"))
    elif sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        cuts = zip(A.indptr[:-1], A.indptr[1:], strict=True)
        keys = (A.indices[i:j].tobytes() + A.data[i:j].tobytes() for i, j in cuts)
    else:
        return None
    seen: dict[bytes, int] = {}
    return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), int, A.shape[0])


def _codes(A: np.ndarray) -> np.ndarray:
    """Return random sums of the bits of each row, as 64 bits."""
    codes = np.empty(len(A), np.uint64)
    size = next(size for size in (8, 4, 2, 1) if A[:1].nbytes % size == 0)
    factors = mix(np.arange(1, A[:1].nbytes // size + 1, dtype=np.uint64)) | np.uint64(1)
    for block in row_blocks(len(A), A[:1].nbytes):
        bits = np.add(A[block], A.dtype.type(0), order="C").view(f"u{size}")  # −0.0 + 0.0 is 0.0
        # Rows of small integers differ in high bits alone, which products carry no lower.
        for shift in (16, 32):
            bits ^= bits >> shift
        codes[block] = np.einsum("ij,j->i", bits, factors)
    return codes
