"""Rows that are equal as numbers, found in one pass."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..core.namespace import row_blocks
from ..core.types import Rows
from . import sparse as sp


def joint_groups(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one group number per sample from several columns that must all agree."""
    rows = np.column_stack(columns)
    groups = np.unique(rows, axis=0, return_inverse=True)[1]
    return groups.ravel()


def identical_rows(A: Rows) -> np.ndarray | None:
    """Return a group number for each row of A, equal where rows are; None for a torch tensor.

    >>> identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    keys: Iterable[bytes]
    if isinstance(A, np.ndarray):
        groups = _numbered(map(hash, _bytes_of_rows(A)))
        if _hold_equal_rows(A, groups):
            return groups
        keys = _bytes_of_rows(A)
    elif sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        keys = [
            A.indices[start:end].tobytes() + A.data[start:end].tobytes()
            for start, end in pairwise(A.indptr)
        ]
    else:
        return None
    return _numbered(keys)


def _numbered(keys: Iterable[Hashable]) -> np.ndarray:
    """Return a number for each key, in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], int)


def _bytes_of_rows(A: np.ndarray) -> Iterator[bytes]:
    for block in row_blocks(len(A), A[:1].nbytes):
        for row in np.add(A[block], A.dtype.type(0), order="C"):  # −0.0 + 0.0 is 0.0
            yield row.tobytes()


def _hold_equal_rows(A: np.ndarray, groups: np.ndarray) -> bool:
    """Return whether rows of a group are equal; NaN equals nothing."""
    _, first = np.unique(groups, return_index=True)
    alike = first[groups]
    repeats = np.flatnonzero(alike != np.arange(len(A)))
    for block in row_blocks(len(repeats), A[:1].nbytes):
        rows = repeats[block]
        if not np.array_equal(A[rows], A[alike[rows]]):
            return False
    return True
