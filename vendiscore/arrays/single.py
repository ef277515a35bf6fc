"""Products in single precision: columns that are brought to its range, and tiles of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .namespace import Array

# Rows and columns of a tile, which with what it is multiplied by stays in a core's cache.
TILE_ROWS, TILE_COLUMNS = 512, 1024
# ‖x − y‖²/2 from a product of rows in single precision is off by this share of (‖x‖² + ‖y‖²)/2
# (seen: at most, and 4e-8 on average), and so far may the exponent of a similarity be off.
ROUNDING, ERROR = 3.3e-7, 4e-6
# exp(−x) beyond it is a number that is not normal, which slows down products a hundred times.
FAR = 80.0


class Tile(NamedTuple):
    """Entries of a symmetric matrix: some rows, and some columns from the first of them on."""

    rows: slice
    columns: slice
    entries: np.ndarray


def single_columns(V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V (n, m) in float32 and powers of two (m,) that its columns were divided by.

    Columns of any size keep their digits, but for entries that are 1e-38 of the largest.
    """
    V = V.astype(np.float64, copy=False)
    largest = np.abs(V).max(axis=0, initial=0.0)
    exponents = np.where(np.isfinite(largest), np.frexp(largest)[1], 0)
    with np.errstate(under="ignore"):
        return np.ldexp(V, -exponents).astype(np.float32), exponents


def in_single(V: Array, product: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """`product` of the columns of V (n,) or (n, m) in float32, in float64 and of V's shape."""
    columns, exponents = single_columns(np.asarray(V).reshape(len(V), -1))
    out = product(columns).astype(np.float64, copy=False)
    return np.ldexp(out, exponents).reshape(V.shape)


def cut(n: int, rows: int = TILE_ROWS) -> Iterable[slice]:
    """Slices of n rows, so many each."""
    return (slice(start, min(start + rows, n)) for start in range(0, n, rows))


def upper_tiles(
    n: int, entries_of: Callable[[slice], Callable[[slice], np.ndarray]]
) -> Iterator[Tile]:
    """A symmetric matrix (n, n) from its diagonal on, by tiles.

    `entries_of(rows)(columns)` gives new float32 arrays.
    """
    for rows in cut(n):
        entries = entries_of(rows)
        for start in range(rows.start, n, TILE_COLUMNS):
            columns = slice(start, min(start + TILE_COLUMNS, n))
            yield Tile(rows, columns, entries(columns))


def tiled_product(tiles: Iterable[Tile], V: np.ndarray) -> np.ndarray:
    """K @ V for the tiles of a symmetric K and V (n, m) in float32, added up in float64."""
    out = np.zeros(V.shape)
    for rows, columns, entries in tiles:
        out[rows] += entries @ V[columns]
        later = slice(max(rows.stop, columns.start), columns.stop)
        out[later] += entries[:, later.start - columns.start :].T @ V[rows]
    return out


class NarrowRows:
    """exp(−‖x − y‖² / 2σ²) of rows of X (n, d) in float32, with as few passes as there can be.

    Exponents come from one product of rows that have two more columns: −‖x‖²/2 and 1.
    """

    def __init__(self, X: np.ndarray, sigma: float) -> None:
        n, d = X.shape
        rows = np.empty((n, d + 2), np.float32)
        rows[:, :d] = (X - X.mean(axis=0)) / sigma
        self.halves = 0.5 * np.vecdot(rows[:, :d], rows[:, :d], dtype=np.float64)
        rows[:, d], rows[:, d + 1] = -self.halves, 1.0
        self.rows = rows
        self.columns = np.ascontiguousarray(rows[:, [*range(d), d + 1, d]].T)

    def similarities(
        self, rows: slice, exact: Callable[[slice], np.ndarray]
    ) -> Callable[[slice], np.ndarray]:
        """A function from columns to K[rows, columns]; `exact` where rounding would be seen."""
        own, size = self.rows[rows], float(self.halves[rows].max())

        def entries(columns: slice) -> np.ndarray:
            if not ROUNDING * (size + float(self.halves[columns].max())) <= ERROR:
                return exact(columns)
            exponents: np.ndarray = own @ self.columns[:, columns]
            np.maximum(exponents, -FAR, out=exponents)
            return np.exp(exponents, out=exponents)

        return entries
