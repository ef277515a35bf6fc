"""Rows that are equal as numbers, found in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..core.types import Rows
from . import sparse as sp

_ROWS = 64  # that are copied at once


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
        zero = A.dtype.type(0)
        blocks = (A[start : start + _ROWS] for start in range(0, len(A), _ROWS))
        positive = (np.add(block, zero, order="C") for block in blocks)  # −0.0 + 0.0 is 0.0
        keys = (row.tobytes() for block in positive for row in block)
    elif sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        parts = (slice(start, end) for start, end in pairwise(A.indptr))
        keys = (A.indices[part].tobytes() + A.data[part].tobytes() for part in parts)
    else:
        return None
    numbers: dict[bytes, int] = {}
    groups = (numbers.setdefault(key, len(numbers)) for key in keys)
    return np.fromiter(groups, int, A.shape[0])
