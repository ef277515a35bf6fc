"""An index that proposes which pairs of rows to compare: rows in cells of k-means that are close.

This is the inverted file of Jégou, Douze & Schmid (IEEE TPAMI 2011), asked for all rows at once, so
that the rows of a cell meet all rows near it in one product of matrices.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import sparse as sp
from ..arrays.namespace import row_blocks
from ..arrays.threads import in_order
from ..progress import track
from ..similarity.tiles import Tile

# Number of cells divided by √n, rows per cell that k-means is fitted to, and its steps.
CELLS, FITTED, STEPS = 2, 32, 6
# Each row is compared with its nearest cells: so many at least, and more, up to MOST, until the
# nearest sample of so many rows that have a near-duplicate is met; or of all rows, in a few cells.
FEWEST, MOST, NEAR_MET = 4, 64, 0.995
ALL_MET, ENOUGH_CELLS = 0.95, 16
# Rows that meet a cell at once.
ROWS = 4096


class PairIndex:
    """Rows (n, d) in the cells whose centres are closest."""

    def __init__(self, rows: np.ndarray) -> None:
        n = len(rows)
        self.rows = rows
        self.cells: int = max(1, int(CELLS * math.sqrt(n)))
        some = np.sort(np.random.default_rng(0).permutation(n)[: FITTED * self.cells])
        fitted = rows[some]
        self.centres: np.ndarray = fitted[np.linspace(0, len(fitted) - 1, self.cells).astype(int)]
        for _ in track(range(STEPS), STEPS, "building an index"):
            own = self._closest(fitted, 1)[:, 0]
            count = np.bincount(own, minlength=self.cells)
            ones = np.ones(len(own), np.float32), (own, np.arange(len(own)))
            sums = sp.csr_array(ones, shape=(self.cells, len(own))) @ fitted
            self.centres[count > 0] = sums[count > 0] / count[count > 0, None]

    def _closest(self, rows: np.ndarray, count: int) -> np.ndarray:
        """Return the cells with the closest centres of each row, (m, count), the closest first."""
        half = np.vecdot(self.centres, self.centres) / 2

        def look(block: slice) -> np.ndarray:
            far = half - rows[block] @ self.centres.T
            if count == 1:
                return far.argmin(axis=1)[:, None]
            some = np.argpartition(far, count - 1, axis=1)[:, :count]
            order = np.take_along_axis(far, some, axis=1).argsort(axis=1)
            return np.take_along_axis(some, order, axis=1)

        return np.concatenate(list(in_order(look, row_blocks(len(rows), 4 * self.cells, 256))))

    def cells_to_ask(self, places: np.ndarray, nearest: np.ndarray, near: np.ndarray) -> int:
        """Return how many cells to search for each row, tuned on rows whose nearest rows are known.

        `near` is True where a row and its nearest one are near-duplicates.
        """
        most = min(MOST, self.cells)
        mine, theirs = (self._closest(self.rows[index], most) for index in (places, nearest))
        # A pair is compared if one of the two rows is searched for in the cell of the other.
        ranks = np.minimum(*(
            np.where((asked == own[:, :1]).any(axis=1), (asked == own[:, :1]).argmax(axis=1), most)
            for asked, own in ((mine, theirs), (theirs, mine))
        ))  # fmt: skip
        for count in range(min(FEWEST, most), most):
            enough = count >= ENOUGH_CELLS or np.mean(ranks < count) >= ALL_MET
            if enough and (not near.any() or np.mean(ranks[near] < count) >= NEAR_MET):
                return count
        return most

    def tiles(self, count: int) -> list[Tile]:
        """Return the rows to compare in each cell if each row is searched for in `count` cells."""
        asked = self._closest(self.rows, count)
        own = np.argsort(asked[:, 0], kind="stable")
        ends = np.searchsorted(asked[own, 0], np.arange(self.cells + 1))
        others = asked[:, 1:].ravel()
        order = np.argsort(others, kind="stable")
        other_ends = np.searchsorted(others[order], np.arange(self.cells + 1))
        found: list[Tile] = []
        for cell in range(self.cells):
            members = own[ends[cell] : ends[cell + 1]]
            visitors = order[other_ends[cell] : other_ends[cell + 1]] // max(1, count - 1)
            for start in range(0, len(members), ROWS):
                some = members[start : start + ROWS]
                meeting = np.concatenate([some, members[start + ROWS :], visitors])
                found += [(part, some) for part in _parts(meeting)]
        return found


def _parts(rows: np.ndarray) -> list[np.ndarray]:
    return [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
