"""Rows that are equal as numbers, found in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import xxhash

from .namespace import is_numpy, row_blocks


def joint_groups(columns: Sequence[Any]) -> np.ndarray:
    """Return one group number per sample from several columns that must all agree."""
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()


def identical_rows(A: Any) -> np.ndarray | None:
    """Return a group number for each row of A, equal where rows are; None for a torch tensor.

    >>> identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    keys: Iterator[Any]
    if sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        cuts = list(zip(A.indptr[:-1], A.indptr[1:], strict=True))
        keys = (A.indices[i:j].tobytes() + A.data[i:j].tobytes() for i, j in cuts)
    elif is_numpy(A):
        zero = A.dtype.type(0)  # −0.0 + 0.0 is 0.0
        blocks = row_blocks(len(A), A[:1].nbytes)
        keys = (row for block in blocks for row in np.add(A[block], zero, order="C"))
    else:
        return None
    seen: dict[bytes, int] = {}
    return np.fromiter(
        (seen.setdefault(xxhash.xxh3_128_digest(key), len(seen)) for key in keys), int, A.shape[0]
    )
