"""Products in single precision: columns that are brought to its range, and tiles of a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..arrays.namespace import Array
from ..arrays.threads import in_order

# Rows and columns of a tile, which is still in a core's cache when it is multiplied.
TILE = 1024
# ‖x − y‖²/2 from a product of rows in single precision is off by this share of (‖x‖² + ‖y‖²)/2
# (seen: at most, and 4e-8 on average), and so far may the exponent of a similarity be off.
ROUNDING, ERROR = 3.3e-7, 4e-6
# exp(−x) beyond it is a number that is not normal, which slows down products a hundred times.
FAR = 80.0


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


# Columns to entries of some rows in float32, which the next call may overwrite.
Band = Callable[[slice], np.ndarray]


class Buffer:
    """Arrays in one place: a new one of this size is a thousand pages, which take their time."""

    def __init__(self, dtype: Any = np.float32) -> None:
        self.array = np.empty(0, dtype)

    def __call__(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array whose numbers are anything, there until the next is asked for."""
        size = math.prod(shape)
        if self.array.size < size:
            self.array = np.empty(size, self.array.dtype)
        return self.array[:size].reshape(shape)


class Tiles:
    """A symmetric K (n, n) in float32, from its diagonal on, computed when asked or kept."""

    def __init__(self, n: int, band: Callable[[slice], Band]) -> None:
        self.n, self.band = n, band

    def kept(self) -> Tiles:
        """The same with all tiles computed: half of K."""

        def tiles(rows: slice) -> dict[int, np.ndarray]:
            band = self.band(rows)
            return {columns.start: band(columns).copy() for columns in self._columns(rows)}

        rows = list(self._rows())
        found = dict(zip((block.start for block in rows), in_order(tiles, rows), strict=True))
        return Tiles(self.n, lambda rows: lambda columns: found[rows.start][columns.start])

    def product(self, V: np.ndarray) -> np.ndarray:
        """K @ V for V (n, m) in float32, added up in float64 from tile to tile."""

        def share(rows: slice) -> tuple[int, np.ndarray]:
            """What rows of K from the diagonal on, and as columns, add to the product."""
            band, out = self.band(rows), np.zeros((self.n - rows.start, V.shape[1]))
            for columns in self._columns(rows):
                tile = band(columns)
                out[: len(tile)] += tile @ V[columns]
                later = slice(max(rows.stop, columns.start), columns.stop)
                below = tile[:, later.start - columns.start :].T @ V[rows]
                out[later.start - rows.start : later.stop - rows.start] += below
            return rows.start, out

        total = np.zeros(V.shape)
        for start, some in in_order(share, self._rows()):
            total[start:] += some
        return total

    def squared_norm(self, weights: np.ndarray) -> float:
        """Σ_ij w_i w_j K_ij² of this K, for weights w (n,), squared in single precision."""

        def share(rows: slice) -> float:
            band, own, total = self.band(rows), weights[rows], 0.0
            for columns in self._columns(rows):
                tile = band(columns)
                # What is right of the rows' own block is below it, too.
                times = np.where(np.arange(columns.start, columns.stop) < rows.stop, 1.0, 2.0)
                total += float(own @ (tile * tile) @ (times * weights[columns]))
            return total

        return sum(in_order(share, self._rows()))

    def _rows(self) -> Iterator[slice]:
        return cut(0, self.n, TILE)

    def _columns(self, rows: slice) -> Iterator[slice]:
        return cut(rows.start, self.n, TILE)


def cut(start: int, stop: int, size: int) -> Iterator[slice]:
    """Slices from start to stop, each of that size but for the last."""
    return (slice(at, min(at + size, stop)) for at in range(start, stop, size))


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

    def similarities(self, rows: slice, exact: Band) -> Band:
        """A function from columns to K[rows, columns]; `exact` where rounding would be seen."""
        own, size, buffer = self.rows[rows], float(self.halves[rows].max()), Buffer()

        def entries(columns: slice) -> np.ndarray:
            if not ROUNDING * (size + float(self.halves[columns].max())) <= ERROR:
                return exact(columns)
            exponents = buffer((len(own), columns.stop - columns.start))
            np.matmul(own, self.columns[:, columns], out=exponents)
            np.maximum(exponents, -FAR, out=exponents)
            return np.exp(exponents, out=exponents)

        return entries
