"""Nearest-neighbour balls of samples and references."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import EPS
from ..magnitude.metric_space_builder import check_row_metric
from ..magnitude.space import MetricSpace
from ..resolve.similarity_spec import SimilaritySpec
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.distance_matrix import UNIT_ROUNDING, normalize_rows
from ..similarity.duplicate_rows import group_identical_rows
from ..similarity.kernel_distances import (
    check_squared_distance,
    kernel_rounding,
    squared_kernel_distances,
)
from ..similarity.matrix import MatrixSimilarity
from ..similarity.nearest_neighbours import (
    BlockDistances,
    EuclideanDistances,
    MetricDistances,
    PrecomputedDistances,
    count_within_radii,
    k_nearest_distances,
)
from ..support.namespace import to_host
from ..support.types import Record

# Neighbours computed at once; a few more than requested cost nothing.
MIN_NEIGHBOURS = 10
SETS = ("samples", "references")


class BallCounts(NamedTuple):
    """Counts of points in balls, for n samples and m references; balls are closed."""

    n_reference_balls: np.ndarray  # for each sample, number of reference balls that contain it
    n_samples_in_ball: np.ndarray  # for each reference, number of samples in its ball
    # for each reference, number of sample balls that contain it; zeros if n ≤ k
    n_sample_balls: np.ndarray


class Neighbourhoods:
    """Nearest neighbours and balls of samples and references, computed on first use."""

    def __init__(
        self,
        pairs: BlockDistances,
        inverse: tuple[np.ndarray, np.ndarray],
        parent: Neighbourhoods | None = None,
    ) -> None:
        self.pairs = pairs
        self.inverse = inverse
        self.sizes: tuple[int, int] = len(inverse[0]), len(inverse[1])
        # Distances computed by another method may have another scale or rounding.
        self._parent = parent if parent is not None and type(parent.pairs) is type(pairs) else None
        self._counts = np.bincount(inverse[0]), np.bincount(inverse[1])
        distinct = len(self._counts[0])
        self._sides = slice(0, distinct), slice(distinct, pairs.n)
        self._nearest = [np.empty((0, 0))] * 2  # distances to the nearest neighbours, for each set
        self._balls: dict[int, BallCounts] = {}

    def compute_radii(self, side: int, k: int) -> np.ndarray:
        """Return the distance to the k-th nearest other point, for each point of a set."""
        if side == 1 and self._parent is not None:
            return self._parent.compute_radii(1, k)
        known = self._nearest[side]
        if known.shape[1] < k:
            most = min(max(k, MIN_NEIGHBOURS), self.sizes[side] - 1)
            what = f"nearest neighbours of {SETS[side]}"
            known = k_nearest_distances(
                self.pairs, self._sides[side], self._counts[side], most, what
            )
            self._nearest[side] = known
        return known[:, k - 1]

    def count_balls(self, k: int) -> BallCounts:
        """Count the points in each ball; requires more than k references."""
        if k not in self._balls:
            radii = [self.compute_radii(1, k)[None]]
            if self.sizes[0] > k:
                radii.append(self.compute_radii(0, k)[:, None])
            what = "samples near references"
            around, met = count_within_radii(self.pairs, *self._sides, self._counts, radii, what)
            x, y = self.inverse
            recalled = np.zeros(len(y))
            if len(met) > 1:
                recalled = met[1][y]
            self._balls[k] = BallCounts(around[0][x], met[0][y], recalled)
        return self._balls[k]


def row_neighbourhoods(
    X: np.ndarray, n: int, spec: SimilaritySpec, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Return the neighbourhoods of n rows followed by the references, under a SciPy metric."""
    metric = str(check_row_metric(spec))
    options: Record = dict(spec.metric_options)
    sets = list(zip((X[:n], X[n:]), SETS, strict=True))
    units = metric in ("cosine", "correlation")
    if units:
        X = np.concatenate([normalize_rows(own, metric, name) for own, name in sets])
    places, inverse = _distinct_samples(np.asarray(group_identical_rows(X)), n)
    X = X if len(places) == len(X) else X[places]
    pairs: BlockDistances
    if units:
        pairs = EuclideanDistances(X, UNIT_ROUNDING**0.5)
    elif metric in ("euclidean", "sqeuclidean"):
        pairs = EuclideanDistances(X)
    else:

        def place(i: int) -> str:
            own = int(places[i] >= n)
            return f"row {places[i] - own * n} of `{SETS[own]}`"

        pairs = MetricDistances(X, metric, options, lambda i, j: f"{place(i)} and {place(j)}")
    return Neighbourhoods(pairs, inverse, parent)


def kernel_neighbourhoods(
    similarity: Similarity, n: int, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Return the neighbourhoods of n samples followed by the references, under a kernel."""
    groups = similarity.groups()
    places, inverse = _distinct_samples(np.arange(similarity.n) if groups is None else groups, n)
    if len(places) < similarity.n:
        similarity = similarity.take(places)
    n = int(inverse[0].max()) + 1
    F = None if similarity.dim is None else similarity.features()
    pairs: BlockDistances
    if F is None:
        pairs = _KernelPairs(similarity, n, kernel_rounding(similarity))
    elif sp.issparse(F):
        # Error bound of a dot product of unit-norm rows: proportional to the number of stored
        # values.
        stored = np.diff(F.tocsr().indptr)
        rounding = 4 * (int(stored.max(initial=0)) + 16) * EPS
        pairs = _KernelPairs(similarity, n, rounding)
    else:
        pairs = EuclideanDistances(np.asarray(to_host(F), np.float64), UNIT_ROUNDING**0.5)
    return Neighbourhoods(pairs, inverse, parent)


def space_neighbourhoods(space: MetricSpace, n: int) -> Neighbourhoods:
    """Return the neighbourhoods in a MetricSpace of n samples followed by the references."""
    places, inverse = _distinct_samples(space.inverse, n)
    return Neighbourhoods(PrecomputedDistances(space.D, space.inverse[places]), inverse)


def _distinct_samples(
    groups: np.ndarray, n: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return indices of the distinct samples of both sets, and the inverse mapping of each set."""
    places = []
    inverse = []
    for start, own in ((0, groups[:n]), (n, groups[n:])):
        _, first, which = np.unique(own, return_index=True, return_inverse=True)
        order = np.argsort(first)
        places.append(start + first[order])
        inverse.append(np.argsort(order)[which])
    return np.concatenate(places), (inverse[0], inverse[1])


class _KernelPairs(BlockDistances):
    """√(k(x, x) + k(y, y) − 2 k(x, y)), computed on demand; squares below rounding are set to 0."""

    threaded = False  # for any kernel

    def __init__(self, similarity: Similarity, n: int, rounding: float) -> None:
        self.n = similarity.n
        self.rounding = rounding
        self.parts = [(slice(0, self.n), similarity)]
        # avoids computing pairs between the sets when only one set is needed
        if not isinstance(similarity, MatrixSimilarity):
            first, second = np.split(np.arange(self.n), [n])
            of_samples = slice(0, n), similarity.take(first)
            of_references = slice(n, self.n), similarity.take(second)
            self.parts = [of_samples, of_references, *self.parts]
        self.diagonal = np.asarray(to_host(similarity.diagonal()), np.float64)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        first = min(rows.start, columns.start)
        last = max(rows.stop, columns.stop)
        start, part = next(
            (side.start, part)
            for side, part in self.parts
            if side.start <= first and last <= side.stop
        )
        K = to_host(part.rows(slice(rows.start - start, rows.stop - start)))
        K = K[:, columns.start - start : columns.stop - start]
        D = squared_kernel_distances(K, self.diagonal[rows], self.diagonal[columns])
        check_squared_distance(D.min(), "two of the samples and references")
        D[self.rounding > D] = 0.0
        return D

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        return r * r * (1 + 8 * EPS) + self.rounding

    def exact_distances(self, i: np.ndarray, j: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.sqrt(values)

    def is_within(
        self, i: np.ndarray, j: np.ndarray, values: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        return values <= self.block_bound(r)
