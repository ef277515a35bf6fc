"""All pairs of rows, each once, by blocks; and the median of their distances, without all of them.

A sample of pairs says between which two numbers the median is; one pass over all pairs counts
those below and keeps those between, which are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..arrays import memory
from ..arrays.identical import identical_rows
from ..arrays.namespace import Array, row_blocks, to_host

# Distances of all pairs that take no more bytes are looked at in one piece.
DIRECT_BYTES = 1 << 20
# How many pairs are drawn: one in so many, from the least to the most.
DRAWN, LEAST_DRAWN, MOST_DRAWN = 1 << 9, 1 << 12, 1 << 20
# Places of the median among so many drawn numbers are off by √(drawn)/2; so many times that, and
# then many more, are allowed for.
DEVIATIONS = (4.0, 40.0, math.inf)
# The same distance found in two ways may differ by this share.
SLACK = 1e-6
# Numbers that are kept before equal ones among them are counted instead.
KEPT = 1 << 21
# Rows that are compared with all later ones at once: few beside all, since those of a block are
# compared both ways round, many for a product of matrices, and no more bytes of results.
BLOCKS, LEAST_ROWS, BLOCK_BYTES = 16, 64, 1 << 26

Part = Callable[[slice, slice], np.ndarray]  # rows and columns to distances, a new array


def pair_blocks(n: int) -> Iterator[slice]:
    """Blocks of n rows, each to be compared with its own and all later ones."""
    size = max(LEAST_ROWS, min(-(-n // BLOCKS), BLOCK_BYTES // (8 * n)))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def distinct_places(X: Array) -> np.ndarray:
    """Where each distinct row of X is first, in order."""
    groups = np.asarray(identical_rows(to_host(X)))
    return np.asarray(np.unique(groups, return_index=True)[1])


def draw_pairs(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places i ≠ j of pairs of n rows: all pairs, or some of them, drawn with replacement."""
    size = n * (n - 1) // 2
    return some_pairs(n, min(max(size // DRAWN, LEAST_DRAWN), MOST_DRAWN), seed)


def some_pairs(n: int, most: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places i ≠ j of pairs of n rows: all if they are no more, else `most` with replacement."""
    if n * (n - 1) // 2 <= most:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n


def middle_pair(n: int, part: Part, drawn: np.ndarray) -> tuple[float, float]:
    """The two numbers in the middle of those of all pairs i < j of n samples.

    Notes
    -----
    One pass over all pairs, unless the drawn ones mislead. Memory: a block of rows and some
    percent of the numbers.
    """
    size = n * (n - 1) // 2
    places = (size - 1) // 2, size // 2
    if 8 * size <= DIRECT_BYTES:
        numbers = np.concatenate([rows.ravel() for rows in _upper(n, part)])
        numbers.partition(places)
        return float(numbers[places[0]]), float(numbers[places[1]])
    drawn = np.sort(drawn)
    for deviations in DEVIATIONS:
        below, numbers, counts = _between(_upper(n, part), *_bracket(drawn, deviations))
        ranks = below + np.cumsum(counts)
        if below <= places[0] and len(ranks) and places[1] < ranks[-1]:
            low, high = numbers[np.searchsorted(ranks, places, side="right")]
            return float(low), float(high)
    raise AssertionError("all numbers are between −∞ and ∞")


def _upper(n: int, part: Part) -> Iterator[np.ndarray]:
    """The numbers of all pairs i < j, by blocks."""
    for block in pair_blocks(n):
        rows, size = part(block, slice(block.start, n)), block.stop - block.start
        yield rows[:, :size][np.triu_indices(size, 1)]
        for some in row_blocks(size, 8 * n, least=1):
            yield rows[some, size:]


def _bracket(drawn: np.ndarray, deviations: float) -> tuple[float, float]:
    """Two numbers with the median of all between them, going by some of them, sorted."""
    m = len(drawn)
    off = deviations * math.sqrt(m) / 2 + 1
    if off >= m / 2:
        return -math.inf, math.inf
    low, high = drawn[math.floor(m / 2 - off)], drawn[math.ceil(m / 2 + off) - 1]
    return float(low * (1 - SLACK)), float(high * (1 + SLACK))


def _between(
    parts: Iterable[np.ndarray], low: float, high: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """How many numbers are below `low`; the distinct ones from there to `high`, and their counts.

    Where many are equal, or almost, the distinct ones are few.
    """
    below, waiting = 0, 0
    numbers, counts = np.empty(0), np.empty(0, dtype=np.int64)
    kept: list[np.ndarray] = []
    for part in parts:
        late = part >= low
        below += part.size - int(np.count_nonzero(late))
        late &= part <= high
        kept.append(part[late])
        waiting += len(kept[-1])
        if waiting > max(KEPT, len(numbers)):
            numbers, counts = _counted(numbers, counts, kept)
            kept, waiting = [], 0
    return below, *_counted(numbers, counts, kept)


def _counted(
    numbers: np.ndarray, counts: np.ndarray, more: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    size = len(numbers) + sum(map(len, more))
    memory.require(40 * size, f"the median of distances, {size} of them close,", "pass `sigma`")
    both = np.concatenate([numbers, *more])
    order = np.argsort(both) if len(numbers) else None
    both = np.sort(both) if order is None else both[order]
    starts = np.flatnonzero(np.append(True, both[1:] != both[:-1]))[: len(both)]
    if order is None:
        return both[starts], np.diff(starts, append=len(both))
    weights = np.ones(len(both), dtype=np.int64)
    weights[: len(numbers)] = counts
    return both[starts], np.add.reduceat(weights[order], starts)
