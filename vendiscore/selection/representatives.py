"""Samples that are far from each other, or near to all others: no determinant, only the nearest."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..arrays import memory
from ..arrays.namespace import row_blocks
from ..arrays.threads import each
from ..progress import announce
from .candidates import Candidates

# More samples than that are compared in single precision.
FEW = 2048
# Numbers of candidates that `Cover` looks at at once, and of samples that it represents of more:
# means of that many are within 1 % of the means of all.
FIRST, BATCH, COVERED = 8, 64, 20_000


class Spread:
    """The least distance √(2 − 2k) within the set: the farthest sample from it joins (Gonzalez)."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.places: list[int] = []
        self._nearest = np.full(candidates.n, -np.inf)

    def best(self, allowed: np.ndarray) -> int:
        return int(np.argmin(np.where(allowed, self._nearest, np.inf)))

    def add(self, v: int) -> None:
        np.maximum(self._nearest, self.candidates.row(v), out=self._nearest)
        self.places.append(v)


class Cover(Spread):
    """Facility location: mean similarity of all samples to the nearest chosen; gains only fall."""

    def __init__(self, candidates: Candidates, size: int) -> None:
        super().__init__(candidates)
        n, single = candidates.n, 4 if candidates.n > FEW else 8
        self._nearest[:] = -1.0  # no similarity is lower
        self._bounds = np.full(n, np.inf)
        self._values = [0.0]
        self._some: Any = slice(None)
        if n > COVERED:
            self._some = np.sort(np.random.default_rng(0).choice(n, COVERED, replace=False))
            announce(f"{COVERED:,} samples drawn from {n:,} are represented.")
        m = min(n, COVERED)
        dim = candidates.dim or 0
        memory.require_large(
            single * m * (dim + 6 * BATCH) + 16 * n, f"representing {m} samples", "pass fewer"
        )
        self._features = candidates.features(self._some) if dim and n > FEW else None
        if self._features is not None:
            self._features = self._features.astype(np.float32)

    def best(self, allowed: np.ndarray) -> int:
        order = np.flatnonzero(allowed)
        order = order[np.argsort(-self._bounds[order], kind="stable")]
        nearest = self._nearest[self._some]
        if self._features is not None:
            nearest = nearest.astype(np.float32)
        best, top, start = int(order[0]), -np.inf, 0
        count = BATCH if self._features is None else FIRST
        while start < len(order) and self._bounds[order[start]] > top:
            # All whose bounds say nothing, else a few, and more as they are not enough.
            unknown = int((self._bounds[order[start:]] == np.inf).sum())
            some = order[start : start + max(unknown, count)]
            count = min(2 * count, 4 * BATCH)
            parts = [some[part] for part in row_blocks(len(some), 1 << 30, BATCH)]
            each(partial(self._look, nearest), parts)
            k = int(np.argmax(self._bounds[some]))
            if self._bounds[some[k]] > top:
                best, top = int(some[k]), float(self._bounds[some[k]])
            start += len(some)
        return best

    def _look(self, nearest: np.ndarray, some: np.ndarray) -> None:
        """Find what some candidates add."""
        if self._features is None:
            rows = self.candidates.rows(some)[:, self._some]
        else:
            rows = self.candidates.features(some).astype(np.float32) @ self._features.T
        np.maximum(rows, nearest, out=rows)
        rows -= nearest
        self._bounds[some] = rows.mean(axis=1)

    def add(self, v: int) -> None:
        super().add(v)
        self._values.append(float(self._nearest.mean()))

    @property
    def gains(self) -> np.ndarray:
        """The gain from each sample when it joined, (m,)."""
        return np.diff(self._values)
