"""Group identical rows of an array."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..support.hashing import mix_bits
from ..support.namespace import row_blocks
from ..support.types import Rows
from . import sparse as sp
from .group_indices import factorize

# Up to this size of an array, plus 256 bytes per row, a dict of the bytes of rows is faster than
# vectorized hashes.
_MAX_DICT_BYTES = 1 << 16


def joint_groups(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one code per sample; codes are equal for samples with equal values in all `columns`.

    Each of the columns has one value per sample.
    """
    rows = np.column_stack(columns)
    groups = np.unique(rows, axis=0, return_inverse=True)[1]
    return groups.ravel()


def group_identical_rows(A: Rows) -> np.ndarray | None:
    """Return one code per row of A, equal for equal rows; None for a torch tensor.

    >>> group_identical_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    if isinstance(A, np.ndarray):
        if A.nbytes + 256 * len(A) > _MAX_DICT_BYTES:
            groups = _group_by_hash(A)
            if groups is not None:
                return groups
        positive = np.add(A, A.dtype.type(0), order="C")  # −0.0 + 0.0 is 0.0
        keys = [row.tobytes() for row in positive]
    elif sp.issparse(A):
        A = A.sorted_indices()  # a copy
        A.eliminate_zeros()
        keys = []
        for start, end in pairwise(A.indptr):
            columns = A.indices[start:end].tobytes()
            keys.append(columns + A.data[start:end].tobytes())
    else:
        return None
    return factorize(keys)[1]


def _group_by_hash(A: np.ndarray) -> np.ndarray | None:
    """Return one code per row of A, equal for equal rows, from hashes of the rows.

    Returns None if two different rows have the same hash, or if repeated rows contain NaN.
    """
    hashes = _hash_rows(A)
    _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
    first_occurrences = first[groups]  # of the hash of each row
    repeats = np.flatnonzero(first_occurrences != np.arange(len(A)))
    for block in row_blocks(len(repeats), A[:1].nbytes):
        rows = repeats[block]
        is_equal = A[rows] == A[first_occurrences[rows]]  # False for NaN
        if not is_equal.all():
            return None
    return np.unique(first_occurrences, return_inverse=True)[1]  # in order of first occurrence


def _hash_rows(A: np.ndarray) -> np.ndarray:
    """Compute a 64-bit hash of each row of A: the sum of its words times pseudorandom odd factors.

    A word consists of 8 bytes, or of 4, 2 or 1 if the size of a row is not a multiple of 8.
    """
    row_bytes = A[:1].nbytes
    word_size = next(size for size in (8, 4, 2, 1) if row_bytes % size == 0)
    positions = np.arange(1, row_bytes // word_size + 1, dtype=np.uint64)
    factors = mix_bits(positions) | np.uint64(1)
    hashes = np.empty(len(A), np.uint64)
    for block in row_blocks(len(A), row_bytes):
        positive = np.add(A[block], A.dtype.type(0), order="C")  # −0.0 + 0.0 is 0.0
        words = positive.view(f"u{word_size}")
        # Floats with small integer values differ only in high bits, which products would not
        # propagate to lower ones.
        for shift in (16, 32):
            words ^= words >> shift
        hashes[block] = np.einsum("ij,j->i", words, factors)
    return hashes
