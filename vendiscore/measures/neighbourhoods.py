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

# Minimum number of neighbours to compute at once; a few more than requested cost nothing.
MIN_NEIGHBOURS = 10
SETS = ("samples", "references")


class BallCounts(NamedTuple):
    """Counts of the points in the closed balls of n samples and m references.

    Attributes
    ----------
    n_reference_balls : ndarray (n,)
        For each sample, the number of balls of references that contain it.
    n_samples_in_ball : ndarray (m,)
        For each reference, the number of samples in its ball.
    n_sample_balls : ndarray (m,)
        For each reference, the number of balls of samples that contain it; 0 if samples have no
        balls, because there are at most k samples.
    """

    n_reference_balls: np.ndarray
    n_samples_in_ball: np.ndarray
    n_sample_balls: np.ndarray


class Neighbourhoods:
    """Nearest neighbours and balls of samples and references, computed on first use.

    Parameters
    ----------
    pairs : BlockDistances
        Distances between the distinct samples, followed by the distinct references.
    inverse : pair of ndarray
        For each sample and for each reference, the position of its distinct sample or reference.
    parent : Neighbourhoods, optional
        Neighbourhoods of the parent set, which has the same references.
    """

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
        self._set_slices = slice(0, distinct), slice(distinct, pairs.n)
        # Distances (points, k) to the k nearest neighbours, for each of the two sets.
        self._nearest = [np.empty((0, 0))] * 2
        self._balls: dict[int, BallCounts] = {}

    def compute_radii(self, set_index: int, k: int) -> np.ndarray:
        """Compute the distance to the k-th nearest other point, for each distinct point of a set.

        `set_index` is 0 for the samples and 1 for the references.
        """
        if set_index == 1 and self._parent is not None:
            return self._parent.compute_radii(1, k)
        nearest = self._nearest[set_index]
        if nearest.shape[1] < k:
            max_k = min(max(k, MIN_NEIGHBOURS), self.sizes[set_index] - 1)
            description = f"nearest neighbours of {SETS[set_index]}"
            nearest = k_nearest_distances(
                self.pairs,
                self._set_slices[set_index],
                self._counts[set_index],
                max_k,
                description,
            )
            self._nearest[set_index] = nearest
        return nearest[:, k - 1]

    def count_balls(self, k: int) -> BallCounts:
        """Count the points in each ball; requires more than k references."""
        if k not in self._balls:
            radii = [self.compute_radii(1, k)[None]]
            if self.sizes[0] > k:
                radii.append(self.compute_radii(0, k)[:, None])
            row_counts, column_counts = count_within_radii(
                self.pairs, *self._set_slices, self._counts, radii, "samples near references"
            )
            x, y = self.inverse
            n_sample_balls = np.zeros(len(y))
            if len(column_counts) > 1:
                n_sample_balls = column_counts[1][y]
            self._balls[k] = BallCounts(row_counts[0][x], column_counts[0][y], n_sample_balls)
        return self._balls[k]


def row_neighbourhoods(
    X: np.ndarray, n: int, spec: SimilaritySpec, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Build the neighbourhoods of n samples and the references, the rows of X, under a metric."""
    metric = str(check_row_metric(spec))
    options: Record = dict(spec.metric_options)
    sets = list(zip((X[:n], X[n:]), SETS, strict=True))
    needs_unit_norm = metric in ("cosine", "correlation")
    if needs_unit_norm:
        X = np.concatenate([normalize_rows(rows, metric, name) for rows, name in sets])
    indices, inverse = _find_distinct_samples(np.asarray(group_identical_rows(X)), n)
    X = X if len(indices) == len(X) else X[indices]
    pairs: BlockDistances
    if needs_unit_norm:
        pairs = EuclideanDistances(X, UNIT_ROUNDING**0.5)
    elif metric in ("euclidean", "sqeuclidean"):
        pairs = EuclideanDistances(X)
    else:

        def describe_row(i: int) -> str:
            set_index = int(indices[i] >= n)
            return f"row {indices[i] - set_index * n} of `{SETS[set_index]}`"

        pairs = MetricDistances(
            X, metric, options, lambda i, j: f"{describe_row(i)} and {describe_row(j)}"
        )
    return Neighbourhoods(pairs, inverse, parent)


def kernel_neighbourhoods(
    similarity: Similarity, n: int, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Build the neighbourhoods of n samples and the references under a kernel."""
    groups = similarity.groups()
    if groups is None:
        groups = np.arange(similarity.n)
    indices, inverse = _find_distinct_samples(groups, n)
    if len(indices) < similarity.n:
        similarity = similarity.take(indices)
    n = int(inverse[0].max()) + 1
    F = None if similarity.dim is None else similarity.features()
    pairs: BlockDistances
    if F is None:
        pairs = _KernelDistances(similarity, n, kernel_rounding(similarity))
    elif sp.issparse(F):
        # The rounding error of a dot product of unit-norm rows grows with the number of their
        # stored values.
        n_stored = np.diff(F.tocsr().indptr)
        rounding = 4 * (int(n_stored.max(initial=0)) + 16) * EPS
        pairs = _KernelDistances(similarity, n, rounding)
    else:
        pairs = EuclideanDistances(np.asarray(to_host(F), np.float64), UNIT_ROUNDING**0.5)
    return Neighbourhoods(pairs, inverse, parent)


def space_neighbourhoods(space: MetricSpace, n: int) -> Neighbourhoods:
    """Build the neighbourhoods of n samples and the references, which are the points of a space."""
    indices, inverse = _find_distinct_samples(space.inverse, n)
    return Neighbourhoods(PrecomputedDistances(space.D, space.inverse[indices]), inverse)


def _find_distinct_samples(
    groups: np.ndarray, n: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Find the distinct samples of both sets; identical samples have the same number in `groups`.

    Returns the indices of the distinct samples followed by those of the distinct references, and
    for each sample and for each reference the position of its distinct sample or reference.
    """
    indices = []
    inverse = []
    for start, set_groups in ((0, groups[:n]), (n, groups[n:])):
        _, first, group_positions = np.unique(set_groups, return_index=True, return_inverse=True)
        order = np.argsort(first)
        indices.append(start + first[order])
        inverse.append(np.argsort(order)[group_positions])
    return np.concatenate(indices), (inverse[0], inverse[1])


class _KernelDistances(BlockDistances):
    """Distances √(k(x, x) + k(y, y) − 2 k(x, y)), computed block by block.

    Squared distances below `rounding` are set to 0. The first `n` samples are one set, and the
    others the second set.
    """

    threaded = False  # a kernel need not be thread-safe

    def __init__(self, similarity: Similarity, n: int, rounding: float) -> None:
        self.n = similarity.n
        self.rounding = rounding
        self.parts = [(slice(0, self.n), similarity)]
        # The similarities of each set avoid computing pairs between sets if only one is needed.
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
            (rows_of_part.start, part)
            for rows_of_part, part in self.parts
            if rows_of_part.start <= first and last <= rows_of_part.stop
        )
        K = to_host(part.rows(slice(rows.start - start, rows.stop - start)))
        K = K[:, columns.start - start : columns.stop - start]
        D = squared_kernel_distances(K, self.diagonal[rows], self.diagonal[columns])
        check_squared_distance(D.min(), "two samples or references")
        D[self.rounding > D] = 0.0
        return D

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        return r * r * (1 + 8 * EPS) + self.rounding

    def exact_distances(self, i: np.ndarray, j: np.ndarray, entries: np.ndarray) -> np.ndarray:
        return np.sqrt(entries)

    def is_within(
        self, i: np.ndarray, j: np.ndarray, entries: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        return entries <= self.block_bound(r)
