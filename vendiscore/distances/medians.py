"""Medians of the distances of all pairs, without all of them in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..arrays import memory
from ..core.namespace import row_blocks
from .pairs import pair_blocks

# Number of drawn pairs: one in DRAWN, at least LEAST_DRAWN and at most MOST_DRAWN.
DRAWN, LEAST_DRAWN, MOST_DRAWN = 1 << 9, 1 << 12, 1 << 20
# The rank of the median among m drawn numbers has a standard error of √m/2; these multiples of it
# are tried in turn.
DEVIATIONS = (4.0, 40.0, math.inf)
# The same distance, computed in two ways, may differ by this share.
SLACK = 1e-6

Part = Callable[[slice, slice], np.ndarray]  # rows and columns to distances, a new array


def draw_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places i ≠ j of all pairs of n rows, or of some, drawn with replacement."""
    size = n * (n - 1) // 2
    most = min(max(size // DRAWN, LEAST_DRAWN), MOST_DRAWN)
    if size <= most:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, most)
    return i, (i + rng.integers(1, n, most)) % n


def middle_pair(n: int, part: Part, drawn: np.ndarray) -> tuple[float, float]:
    """Return the two middle numbers of all pairs i < j of n samples."""
    size = n * (n - 1) // 2
    places = (size - 1) // 2, size // 2
    drawn, m = np.sort(drawn), len(drawn)
    for deviations in DEVIATIONS:
        low, high = -math.inf, math.inf
        off = deviations * math.sqrt(m) / 2 + 1
        if off < m / 2:
            low = float(drawn[math.floor(m / 2 - off)] * (1 - SLACK))
            high = float(drawn[math.ceil(m / 2 + off) - 1] * (1 + SLACK))
        below, numbers, counts = _between(_upper(n, part), low, high)
        ranks = below + np.cumsum(counts)
        if below <= places[0] and len(ranks) and places[1] < ranks[-1]:
            first, second = numbers[np.searchsorted(ranks, places, side="right")]
            return float(first), float(second)
    raise AssertionError("all numbers are between −∞ and ∞")


def _upper(n: int, part: Part) -> Iterator[np.ndarray]:
    """Yield the numbers of all pairs i < j, by blocks."""
    for block in pair_blocks(n):
        rows, size = part(block, slice(block.start, n)), block.stop - block.start
        yield rows[:, :size][np.triu_indices(size, 1)]
        for some in row_blocks(size, 8 * n, least=1):
            yield rows[some, size:]


def _between(
    parts: Iterable[np.ndarray], low: float, high: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """Count numbers below `low`; tabulate those in [low, high], sorted, and how often each is."""
    below, size = 0, 0
    values, counts = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    for part in parts:
        late = part >= low
        below += part.size - int(np.count_nonzero(late))
        late &= part <= high
        # Equal distances, frequent on a lattice, are kept once.
        found, often = np.unique(part[late], return_counts=True)
        values.append(found)
        counts.append(often)
        size += len(found)
    memory.require(40 * size, f"the median of distances, {size} of them close,", "pass `sigma`")
    numbers = np.concatenate(values)
    order = np.argsort(numbers)
    return below, numbers[order], np.concatenate(counts)[order]
