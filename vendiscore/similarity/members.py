"""Places of the members of groups, from the code of each sample's group."""

from collections.abc import Iterator

import numpy as np


def members_of(codes: np.ndarray, groups: int = 0) -> list[np.ndarray]:
    """Return the places of the members of each group, of at least so many groups.

    >>> [places.tolist() for places in members_of(np.array([1, 0, 1]))]
    [[1], [0, 2]]
    """
    sizes = np.bincount(codes, minlength=groups)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(sizes)
    return np.split(order, ends[:-1])


def members_by_size(codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield groups (g,) of one size m, and the places of their members (g, m), the least m first.

    Samples of a code below 0 are in no group.

    >>> [(groups.tolist(), places.tolist()) for groups, places in members_by_size(np.array([1, 0]))]
    [([0, 1], [[1], [0]])]
    """
    order = np.argsort(codes, kind="stable")
    order = order[np.count_nonzero(codes < 0) :]
    sizes = np.bincount(codes[order])
    starts = np.cumsum(sizes) - sizes
    for m in np.unique(sizes[sizes > 0]).tolist():
        groups = np.flatnonzero(sizes == m)
        places = starts[groups, None] + np.arange(m)
        yield groups, order[places]


def sample_of(n: int, most: int) -> np.ndarray:
    """Return all n places, or `most` of them, ascending: the same ones in each call."""
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng(0)
    places = rng.choice(n, most, replace=False)
    return np.sort(places)


def submatrices(K: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the entries of each of g matrices at its `places` (g, m), shape (g, m, m)."""
    matrices = np.arange(len(K))[:, None, None]
    rows = places[:, :, None]
    columns = places[:, None, :]
    return K[matrices, rows, columns]
