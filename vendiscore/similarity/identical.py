"""Rows that are equal as numbers, found in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..core.namespace import row_blocks
from ..core.types import Rows
from . import sparse as sp


def joint_groups(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one group number per sample from several columns that must all agree."""
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()


def identical_rows(A: Rows) -> np.ndarray | None:
    """Return a group number for each row of A, equal where rows are; None for a torch tensor.

    >>> identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    if isinstance(A, np.ndarray):
        keys = _bytes_of_rows(A)
    elif sp.issparse(A):
        keys = _bytes_of_sparse_rows(A)
    else:
        return None
    numbers: dict[bytes, int] = {}
    groups = (numbers.setdefault(key, len(numbers)) for key in keys)
    return np.fromiter(groups, int, A.shape[0])


def _bytes_of_rows(A: np.ndarray) -> Iterator[bytes]:
    zero = A.dtype.type(0)
    for block in row_blocks(len(A), A[:1].nbytes):
        without_negative_zeros = np.add(A[block], zero, order="C")
        for row in without_negative_zeros:
            yield row.tobytes()


def _bytes_of_sparse_rows(A: sp.csr_array) -> Iterator[bytes]:
    A = A.sorted_indices()  # a copy
    A.eliminate_zeros()
    for start, end in pairwise(A.indptr):
        columns = A.indices[start:end]
        values = A.data[start:end]
        yield columns.tobytes() + values.tobytes()
