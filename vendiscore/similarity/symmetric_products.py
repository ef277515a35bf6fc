"""Products with a symmetric matrix K whose entries are computed for each product anew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from ..arrays.threads import in_order
from ..distances.pairs import BLOCKS, LEAST_ROWS
from ..progress import within

# Columns of K from the diagonal on, and K there, for one block of rows: first its own columns.
Strip: TypeAlias = Iterable[tuple[slice, np.ndarray]]
# Tiles of so many rows and columns, 2 MB in float32, stay in a core's cache while they are
# multiplied: 100,000 × 64 by 16 vectors takes 16 s of one core's time, of which distances take 9.
ROWS, COLUMNS = 1024, 512


def tiles(n: int, block: slice) -> Iterator[slice]:
    """Yield the columns of the tiles of a block of rows: its own, and then all later ones."""
    yield block
    for start in range(block.stop, n, COLUMNS):
        yield slice(start, min(start + COLUMNS, n))


def row_tiles(n: int) -> list[slice]:
    """Return the blocks of rows that tiles belong to: several for each thread, of few rows too."""
    size = max(LEAST_ROWS, min(ROWS, -(-n // BLOCKS)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def symmetric_product(
    strip: Callable[[slice], Strip], blocks: Sequence[slice], V: np.ndarray, threads: bool = True
) -> np.ndarray:
    """Return K @ V from blocks of rows of K, each from the diagonal on, added up in float64."""
    n = len(V)

    def multiply(block: slice) -> tuple[slice, np.ndarray, np.ndarray]:
        own = np.zeros((block.stop - block.start, *V.shape[1:]))
        later = np.empty((n - block.stop, *V.shape[1:]), V.dtype)
        for columns, K in strip(block):
            own += K @ V[columns]
            if columns.start >= block.stop:
                later[columns.start - block.stop : columns.stop - block.stop] = K.T @ V[block]
        return block, own, later

    out = np.zeros(V.shape)
    parts: Iterator[tuple[slice, np.ndarray, np.ndarray]]
    parts = in_order(multiply, blocks) if threads else map(multiply, blocks)
    try:
        for block, own, later in within(parts, len(blocks)):
            out[block] += own
            out[block.stop :] += later
    finally:  # so that threads end before an interruption goes on
        if isinstance(parts, Generator):
            parts.close()
    return out


def weighted_squares(K: np.ndarray, block: slice, columns: slice, scale: np.ndarray) -> float:
    """Return Σ (s_i K_ij s_j)² of a tile, twice if it is right of the diagonal."""
    R = K.astype(np.float64)
    R *= scale[columns]
    total = float((scale[block] ** 2) @ np.vecdot(R, R))
    return total if columns.start < block.stop else 2 * total
