"""Samples that are near to all others: facility location, greedily, with few looks at each."""

from __future__ import annotations

import numpy as np

from ..core.namespace import row_blocks
from ..progress import announce
from ..similarity import memory
from ..similarity.members import sample_of
from ..similarity.threads import each
from .candidates import Candidates

# More samples than that are compared in single precision.
FEW = 2048
# Numbers of candidates that `Cover` looks at at once, and of samples that it represents of more:
# means of that many are within 1 % of the means of all.
BATCH, COVERED = 64, 20_000
# Number of similarities that are kept for the next look at the same candidates.
KEPT = 1 << 27
# Gains that differ by less are equal: the first sample is taken.
EQUAL = 1e-11


class Cover:
    """Facility location: mean similarity of all samples to the nearest chosen.

    Gains only fall, so that the last gain of a candidate bounds the present one (Minoux, 1978).
    """

    def __init__(self, candidates: Candidates, size: int) -> None:
        self.candidates = candidates
        self.places: list[int] = []
        n, single = candidates.n, 4 if candidates.n > FEW else 8
        self._bounds = np.full(n, np.inf)
        self._some = sample_of(n, COVERED)
        m = len(self._some)
        if n > m:
            announce(f"{m:,} samples drawn from {n:,} are represented.")
        self._most = min(n, KEPT // m)
        self._rows: dict[int, np.ndarray] = {}  # similarities of candidates that were looked at
        dim = candidates.dim or 0
        memory.require(
            single * m * (dim + 6 * BATCH + self._most) + 16 * n,
            f"representing {m} samples",
            "pass fewer",
        )
        self._features: np.ndarray | None = None
        if dim:
            mean = candidates.features(self._some).mean(axis=0)
            for block in candidates.blocks():
                self._bounds[block] = 1 + candidates.features(block) @ mean
            if n > FEW:
                self._features = candidates.features(self._some).astype(np.float32)
        # No similarity is lower.
        self._nearest = np.full(m, -1, float if self._features is None else np.float32)

    def best(self, allowed: np.ndarray) -> int:
        """Return the first of the candidates, of those `allowed` (n,), that add most."""
        order = np.flatnonzero(allowed)
        order = order[np.argsort(-self._bounds[order], kind="stable")]
        if len(self._rows) == self._most:
            likely = set(order[: self._most // 2].tolist())
            self._rows = {v: row for v, row in self._rows.items() if v in likely}
        top, start, count = -np.inf, 0, BATCH
        while start < len(order) and self._bounds[order[start]] > top:
            # All whose bounds say nothing, else a few, and more as they are not enough.
            unknown = int((self._bounds[order[start:]] == np.inf).sum())
            some = order[start : start + max(unknown, count)]
            count = min(2 * count, 4 * BATCH)
            parts = [some[part] for part in row_blocks(len(some), 1 << 30, BATCH)]
            each(self._look, parts)
            top = max(top, float(self._bounds[some].max()))
            start += len(some)
        looked = order[:start]
        return int(looked[self._bounds[looked] >= top - EQUAL].min())

    def _look(self, some: np.ndarray) -> None:
        """Find what some candidates add."""
        missing = [v for v in some.tolist() if v not in self._rows]
        new = dict(zip(missing, self._similarities(missing), strict=True)) if missing else {}
        for v in some.tolist():
            row = new[v] if v in new else self._rows[v]
            more = np.maximum(row, self._nearest)
            more -= self._nearest
            self._bounds[v] = more.mean()
        room = max(0, self._most - len(self._rows))
        self._rows |= {v: new[v].copy() for v in missing[:room]}

    def _similarities(self, places: list[int]) -> np.ndarray:
        index = np.array(places)
        if self._features is None:
            return self.candidates.rows(index)[:, self._some]
        return self.candidates.features(index).astype(np.float32) @ self._features.T

    def add(self, v: int) -> None:
        row = self._rows[v] if v in self._rows else self._similarities([v])[0]
        self._nearest = np.maximum(self._nearest, row)
        self.places.append(v)
