"""Samples that are near to all others: facility location, greedily, with few looks at each."""

import numpy as np

from ...similarity.group_indices import subsample_indices
from ...support import memory
from ...support.namespace import row_blocks
from ...support.parallel import run_parallel
from ...support.progress import announce
from .candidates import Candidates
from .constraints import Constraints

# More samples than that are compared in single precision.
FEW = 2048
# Numbers of candidates that `Cover` looks at at once, and of samples that it represents of more:
# means of that many are within 1 % of the means of all.
BATCH = 64
COVERED = 20_000
# Number of similarities that are kept for the next look at the same candidates.
KEPT = 1 << 27
# Gains that differ by less are equal: the first sample is taken.
EQUAL = 1e-11


class Cover:
    """Facility location: mean similarity of all samples to the nearest chosen.

    Gains only fall, so that the last gain of a candidate bounds the present one (Minoux, 1978).
    """

    def __init__(self, candidates: Candidates, constraints: Constraints) -> None:
        self.candidates = candidates
        self.constraints = constraints
        self.places: list[int] = []
        n = candidates.n
        dim = candidates.dim or 0
        dtype: type = np.float32 if dim and n > FEW else np.float64
        self._bounds = np.full(n, np.inf)
        self._some = subsample_indices(n, COVERED)
        m = len(self._some)
        if n > m:
            announce(f"{m:,} samples drawn from {n:,} are represented.")
        self._most = min(n, KEPT // m)
        self._rows: dict[int, np.ndarray] = {}  # similarities of candidates that were looked at
        numbers = m * (dim + 6 * BATCH + self._most)
        memory.require(
            np.dtype(dtype).itemsize * numbers + 16 * n,
            f"representing {m} samples",
            "pass fewer",
        )
        self._features: np.ndarray | None = None
        if dim:
            features = candidates.features(self._some)
            mean = features.mean(axis=0)
            for block in candidates.blocks():
                X = candidates.features(block)
                self._bounds[block] = 1 + X @ mean
            if dtype is np.float32:
                self._features = features.astype(dtype)
        self._nearest: np.ndarray = np.full(m, -1.0, dtype)  # no similarity is lower

    def best(self, allowed: np.ndarray) -> int:
        """Return the first of the candidates, of those `allowed` (n,), that add most."""
        order = np.flatnonzero(allowed)
        bounds = self._bounds[order]
        order = order[np.argsort(-bounds, kind="stable")]
        if len(self._rows) == self._most:
            half = order[: self._most // 2]
            likely = set(half.tolist())
            self._rows = {v: row for v, row in self._rows.items() if v in likely}
        top = -np.inf
        start = 0
        count = BATCH
        while start < len(order) and self._bounds[order[start]] > top:
            # All whose bounds say nothing, else a few, and more as they are not enough.
            bounds = self._bounds[order[start:]]
            unknown = int((bounds == np.inf).sum())
            stop = start + max(unknown, count)
            some = order[start:stop]
            count = min(2 * count, 4 * BATCH)
            blocks = row_blocks(len(some), 1 << 30, BATCH)
            run_parallel(self._look, [some[block] for block in blocks])
            best = float(self._bounds[some].max())
            top = max(top, best)
            start += len(some)
        looked = order[:start]
        equal = self._bounds[looked] >= top - EQUAL
        return int(looked[equal].min())

    def _look(self, some: np.ndarray) -> None:
        """Find what some candidates add."""
        places = some.tolist()
        rows = {v: self._rows[v] for v in places if v in self._rows}
        missing = [v for v in places if v not in rows]
        if missing:
            new = self._similarities(missing)
            rows.update(zip(missing, new, strict=True))
        for v in places:
            more = np.maximum(rows[v], self._nearest)
            more -= self._nearest
            self._bounds[v] = more.mean()
        room = max(0, self._most - len(self._rows))
        self._rows |= {v: rows[v].copy() for v in missing[:room]}

    def _similarities(self, places: list[int]) -> np.ndarray:
        index = np.array(places)
        if self._features is None:
            return self.candidates.rows(index)[:, self._some]
        features = self.candidates.features(index)
        return features.astype(np.float32) @ self._features.T

    def add(self, v: int) -> None:
        row = self._rows.get(v)
        if row is None:
            row = self._similarities([v])[0]
        self._nearest = np.maximum(self._nearest, row)
        self.places.append(v)
