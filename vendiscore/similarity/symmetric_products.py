"""Products with a symmetric matrix K whose entries are computed for each product anew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np

from ..arrays.threads import in_order
from ..distances.pairs import BLOCKS, LEAST_ROWS

# Tiles of so many rows and columns stay in a core's cache while they are multiplied.
ROWS, COLUMNS = 1024, 512


def symmetric_product(
    entries: Callable[[slice, slice], np.ndarray], V: np.ndarray, threads: bool = True
) -> np.ndarray:
    """Return K @ V from `entries(rows, columns)`, a tile from the diagonal on at a time."""
    n = len(V)
    size = max(LEAST_ROWS, min(ROWS, -(-n // BLOCKS)))  # several blocks for each thread
    blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def multiply(block: slice) -> tuple[slice, np.ndarray, np.ndarray]:
        own = entries(block, block) @ V[block]
        later = np.empty((n - block.stop, *V.shape[1:]))
        for start in range(block.stop, n, COLUMNS):
            columns = slice(start, min(start + COLUMNS, n))
            K = entries(block, columns)
            own += K @ V[columns]
            later[columns.start - block.stop : columns.stop - block.stop] = K.T @ V[block]
        return block, own, later

    out = np.zeros(V.shape)
    parts: Iterator[tuple[slice, np.ndarray, np.ndarray]]
    parts = in_order(multiply, blocks) if threads else map(multiply, blocks)
    try:
        for block, own, later in parts:
            out[block] += own
            out[block.stop :] += later
    finally:  # so that threads end before an interruption goes on
        if isinstance(parts, Generator):
            parts.close()
    return out
