"""The objective "represent": facility location, with lazy evaluation of gains."""

import numpy as np

from ...similarity.group_indices import subsample_indices
from ...support import memory
from ...support.namespace import row_blocks
from ...support.parallel import run_parallel
from ...support.progress import announce
from .candidates import Candidates
from .constraints import Constraints

# Sets with more samples are compared in single precision.
MAX_DOUBLE_PRECISION_SAMPLES = 2048
# Number of candidates that are evaluated together.
BATCH_SIZE = 64
# For larger sets, means of similarities are those over a random subset of this size. They differ by
# less than 1 % from those over all samples.
MAX_REPRESENTED = 20_000
# Number of similarities of candidates that are cached.
MAX_CACHED_SIMILARITIES = 1 << 27
# Gains that differ by less are equal; the first sample is selected.
GAIN_TOLERANCE = 1e-11


class FacilityLocation:
    """Mean similarity of all samples to the nearest selected one.

    Gains never increase, so the last gain of a candidate is an upper bound (Minoux, 1978).
    `selected` lists the indices of the selected samples, in order.
    """

    def __init__(self, candidates: Candidates, constraints: Constraints) -> None:
        """Choose the samples to represent, and compute upper bounds on the first gains.

        All samples can be selected. If there are more than `MAX_REPRESENTED`, the objective is the
        mean over this number of random samples.
        """
        self.candidates = candidates
        self.constraints = constraints
        self.selected: list[int] = []
        n = candidates.n
        dim = candidates.dim or 0
        dtype: type = np.float32 if dim and n > MAX_DOUBLE_PRECISION_SAMPLES else np.float64
        self._gain_bounds = np.full(n, np.inf)
        self._represented = subsample_indices(n, MAX_REPRESENTED)
        m = len(self._represented)
        if n > m:
            announce(
                f"The selection represents a random subset of {m:,} of the {n:,} samples; all "
                f"samples can be selected."
            )
        self._max_cached_rows = min(n, MAX_CACHED_SIMILARITIES // m)
        self._cached_rows: dict[int, np.ndarray] = {}  # similarities of evaluated candidates
        entries = m * (dim + 6 * BATCH_SIZE + self._max_cached_rows)
        memory.require(
            np.dtype(dtype).itemsize * entries + 16 * n,
            f"representing {m} samples",
            "pass fewer samples",
        )
        self._features: np.ndarray | None = None
        if dim:
            features = candidates.features(self._represented)
            mean = features.mean(axis=0)
            for block in candidates.iter_blocks():
                X = candidates.features(block)
                self._gain_bounds[block] = 1 + X @ mean
            if dtype is np.float32:
                self._features = features.astype(dtype)
        # No similarity is less than −1.
        self._nearest_similarities: np.ndarray = np.full(m, -1.0, dtype)

    def best_candidate(self, allowed: np.ndarray) -> int:
        """Return the index of the candidate with the largest gain, the first among equal ones.

        Only those of the n samples where `allowed`, shape (n,), is True are candidates.
        """
        order = np.flatnonzero(allowed)
        bounds = self._gain_bounds[order]
        order = order[np.argsort(-bounds, kind="stable")]
        if len(self._cached_rows) == self._max_cached_rows:
            retained = set(order[: self._max_cached_rows // 2].tolist())
            self._cached_rows = {i: row for i, row in self._cached_rows.items() if i in retained}
        top = -np.inf
        start = 0
        count = BATCH_SIZE
        while start < len(order) and self._gain_bounds[order[start]] > top:
            # All candidates without a finite bound, or a batch, whose size doubles.
            bounds = self._gain_bounds[order[start:]]
            n_unbounded = int((bounds == np.inf).sum())
            stop = start + max(n_unbounded, count)
            batch = order[start:stop]
            count = min(2 * count, 4 * BATCH_SIZE)
            blocks = row_blocks(len(batch), 1 << 30, BATCH_SIZE)
            run_parallel(self._update_gains, [batch[block] for block in blocks])
            top = max(top, float(self._gain_bounds[batch].max()))
            start += len(batch)
        evaluated = order[:start]
        is_best = self._gain_bounds[evaluated] >= top - GAIN_TOLERANCE
        return int(evaluated[is_best].min())

    def _update_gains(self, indices: np.ndarray) -> None:
        """Compute the gains of candidates, and cache their similarities."""
        index_list = indices.tolist()
        rows = {i: self._cached_rows[i] for i in index_list if i in self._cached_rows}
        uncached = [i for i in index_list if i not in rows]
        if uncached:
            rows.update(zip(uncached, self._similarities(uncached), strict=True))
        for i in index_list:
            increase = np.maximum(rows[i], self._nearest_similarities)
            increase -= self._nearest_similarities
            self._gain_bounds[i] = increase.mean()
        room = max(0, self._max_cached_rows - len(self._cached_rows))
        self._cached_rows |= {i: rows[i].copy() for i in uncached[:room]}

    def _similarities(self, indices: list[int]) -> np.ndarray:
        """Compute the similarities of candidates to the represented samples."""
        index_array = np.array(indices)
        if self._features is None:
            return self.candidates.rows(index_array)[:, self._represented]
        features = self.candidates.features(index_array)
        return features.astype(np.float32) @ self._features.T

    def add(self, index: int) -> None:
        """Add a candidate to the set."""
        row = self._cached_rows.get(index)
        if row is None:
            row = self._similarities([index])[0]
        self._nearest_similarities = np.maximum(self._nearest_similarities, row)
        self.selected.append(index)
