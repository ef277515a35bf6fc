"""Indices of the samples of each group, from the group code of each sample; other index arrays."""

from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np

Value = TypeVar("Value", bound=Hashable)


def factorize(values: Sequence[Value]) -> tuple[list[Value], np.ndarray]:
    """Return the distinct values in order of first occurrence, and the code of each value.

    The code of a value is its index in the list of distinct values, as in `pandas.factorize`.

    >>> factorize(["a", "b", "a"])
    (['a', 'b'], array([0, 1, 0]))
    """
    distinct = list(dict.fromkeys(values))
    code_of = dict(zip(distinct, range(len(distinct)), strict=True))
    return distinct, np.fromiter(map(code_of.__getitem__, values), int, len(values))


def group_indices(codes: np.ndarray, min_groups: int = 0) -> list[np.ndarray]:
    """Return the sample indices of each group 0, 1, …, where `codes` (n,) are groups of samples.

    The list has an empty array for each group that does not occur in `codes`, and at least
    `min_groups` elements.

    >>> [indices.tolist() for indices in group_indices(np.array([1, 0, 1]))]
    [[1], [0, 2]]
    """
    sizes = np.bincount(codes, minlength=min_groups)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(sizes)
    return np.split(order, ends[:-1])


def iter_groups_by_size(codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each group size m, yield the g groups of that size and the indices of their samples.

    `codes` (n,) is the group of each sample; samples with a negative code are in no group. The
    two arrays yielded for a size have shapes (g,) and (g, m). Sizes are in ascending order.

    >>> [(g.tolist(), i.tolist()) for g, i in iter_groups_by_size(np.array([1, 0]))]
    [([0, 1], [[1], [0]])]
    """
    order = np.argsort(codes, kind="stable")
    order = order[np.count_nonzero(codes < 0) :]
    sizes = np.bincount(codes[order])
    starts = np.cumsum(sizes) - sizes
    for m in np.unique(sizes[sizes > 0]).tolist():
        groups = np.flatnonzero(sizes == m)
        indices = starts[groups, None] + np.arange(m)
        yield groups, order[indices]


def subsample_indices(n: int, max_n: int) -> np.ndarray:
    """Return sorted indices of min(n, max_n) of n samples, drawn at random with a fixed seed."""
    if n <= max_n:
        return np.arange(n)
    rng = np.random.default_rng(0)
    indices = rng.choice(n, max_n, replace=False)
    return np.sort(indices)


def submatrices(K: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return K[i][indices[i]][:, indices[i]] for each of g matrices K[i], shape (g, m, m).

    K has shape (g, n, n). `indices` (g, m) are the rows and columns selected in each matrix.
    """
    matrices = np.arange(len(K))[:, None, None]
    rows = indices[:, :, None]
    columns = indices[:, None, :]
    return K[matrices, rows, columns]
