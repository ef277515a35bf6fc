"""Nearest-neighbour balls of samples and references, from which precision and recall are counted.

The ball around a point contains all points that are at most as far from it as its k-th nearest
other point in the same set, samples or references.
"""

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
    """Numbers of samples in the balls around references, and of references in those around samples.

    There are n samples and m references. The ball around a point contains all points that are at
    most as far from it as its k-th nearest other point in the same set.

    Attributes
    ----------
    n_reference_balls : ndarray (n,)
        For each sample, the number of balls around references that contain it.
    n_samples_in_ball : ndarray (m,)
        For each reference, the number of samples in its ball.
    n_sample_balls : ndarray (m,)
        For each reference, the number of balls around samples that contain it; 0 if samples have
        no balls, because there are at most k samples.
    """

    n_reference_balls: np.ndarray
    n_samples_in_ball: np.ndarray
    n_sample_balls: np.ndarray


class Neighbourhoods:
    """Nearest neighbours and balls of samples and references, computed on first use.

    The ball around a point contains all points that are at most as far from it as its k-th nearest
    other point in the same set. Identical samples of a set are stored once, as one distinct sample
    with its number of copies.

    Parameters
    ----------
    distances : BlockDistances
        Distances between the distinct samples, followed by the distinct references.
    inverse : pair of ndarray
        For each sample and for each reference, the position of its distinct sample or reference.
    parent : Neighbourhoods, optional
        Neighbourhoods of the parent set, which has the same references.
    """

    def __init__(
        self,
        distances: BlockDistances,
        inverse: tuple[np.ndarray, np.ndarray],
        parent: Neighbourhoods | None = None,
    ) -> None:
        # `distances` are those between the distinct samples, followed by the distinct references.
        # `inverse` contains, for each sample and for each reference, its position among the
        # distinct ones of the same set.
        self.distances = distances
        self.inverse = inverse
        self.sizes: tuple[int, int] = len(inverse[0]), len(inverse[1])
        # Distances of the parent's references to their nearest neighbours are reused only if they
        # were computed by the same method: others may have another scale or rounding.
        has_same_method = parent is not None and type(parent.distances) is type(distances)
        self._parent = parent if has_same_method else None
        # The number of copies of each distinct sample, and of each distinct reference.
        self._counts = np.bincount(inverse[0]), np.bincount(inverse[1])
        n_distinct_samples = len(self._counts[0])
        self._set_slices = slice(0, n_distinct_samples), slice(n_distinct_samples, distances.n)
        # Distances (points, k) to the k nearest neighbours, for each of the two sets.
        self._nearest = [np.empty((0, 0))] * 2
        self._balls: dict[int, BallCounts] = {}  # by k

    def compute_radii(self, set_index: int, k: int) -> np.ndarray:
        """Compute the distance to the k-th nearest other point, for each distinct point of a set.

        `set_index` is 0 for the samples and 1 for the references. Neighbours are points of the same
        set; copies of a point count as other points.
        """
        if set_index == 1 and self._parent is not None:  # subsets share the references
            return self._parent.compute_radii(1, k)
        nearest = self._nearest[set_index]
        if nearest.shape[1] < k:
            # Compute at least MIN_NEIGHBOURS, because other measures may need more than k.
            max_k = min(max(k, MIN_NEIGHBOURS), self.sizes[set_index] - 1)
            description = f"nearest neighbours of {SETS[set_index]}"
            nearest = k_nearest_distances(
                self.distances,
                self._set_slices[set_index],
                self._counts[set_index],
                max_k,
                description,
            )
            self._nearest[set_index] = nearest
        return nearest[:, k - 1]

    def count_balls(self, k: int) -> BallCounts:
        """Count samples in balls around references and conversely; requires more than k references.

        The radius of a ball is the distance to the k-th nearest other point of the same set.
        """
        if k not in self._balls:
            # Pairs of a distinct sample (row) and a distinct reference (column) are counted within
            # the radius of the reference, and within that of the sample.
            radii = [self.compute_radii(1, k)[None, :]]
            if self.sizes[0] > k:  # otherwise samples have no k-th nearest other sample
                radii.append(self.compute_radii(0, k)[:, None])
            row_counts, column_counts = count_within_radii(
                self.distances, *self._set_slices, self._counts, radii, "samples near references"
            )
            distinct_samples, distinct_references = self.inverse
            n_sample_balls = np.zeros(len(distinct_references))
            if len(radii) > 1:
                n_sample_balls = column_counts[1][distinct_references]
            self._balls[k] = BallCounts(
                n_reference_balls=row_counts[0][distinct_samples],
                n_samples_in_ball=column_counts[0][distinct_references],
                n_sample_balls=n_sample_balls,
            )
        return self._balls[k]


def build_row_neighbourhoods(
    X: np.ndarray, n: int, spec: SimilaritySpec, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Build neighbourhoods under the metric of `spec`, computed from numeric rows X.

    The first n rows are the samples, and the other rows the references. `parent` are the
    neighbourhoods of the parent set, if the samples are a subset, or None.
    """
    metric = str(check_row_metric(spec))
    options: Record = dict(spec.metric_options)
    sets = list(zip((X[:n], X[n:]), SETS, strict=True))
    # These metrics are ‖u − v‖²/2 of unit-norm rows u and v, so nearest neighbours and balls are
    # those of the Euclidean distance of unit-norm rows.
    needs_unit_norm = metric in ("cosine", "correlation")
    if needs_unit_norm:
        X = np.concatenate([normalize_rows(rows, metric, name) for rows, name in sets])
    indices, inverse = _find_distinct_samples(np.asarray(group_identical_rows(X)), n)
    X = X if len(indices) == len(X) else X[indices]
    # Squared distances of unit-norm rows have an absolute rounding error, so smaller distances than
    # its square root are treated as 0.
    distances: BlockDistances
    if needs_unit_norm:
        distances = EuclideanDistances(X, min_distance=UNIT_ROUNDING**0.5)
    elif metric in ("euclidean", "sqeuclidean"):
        distances = EuclideanDistances(X)
    else:

        def describe_row(i: int) -> str:
            # References follow the n samples, and are numbered from 0.
            set_index = int(indices[i] >= n)
            return f"row {indices[i] - set_index * n} of `{SETS[set_index]}`"

        distances = MetricDistances(
            X, metric, options, lambda i, j: f"{describe_row(i)} and {describe_row(j)}"
        )
    return Neighbourhoods(distances, inverse, parent)


def build_kernel_neighbourhoods(
    similarity: Similarity, n: int, parent: Neighbourhoods | None
) -> Neighbourhoods:
    """Build neighbourhoods under the distance √(k(x, x) + k(y, y) − 2 k(x, y)) of a kernel.

    `similarity` contains the n samples, followed by the references. `parent` are the neighbourhoods
    of the parent set, if the samples are a subset, or None.
    """
    duplicate_groups = similarity.groups()  # identical samples have the same number
    if duplicate_groups is None:
        duplicate_groups = np.arange(similarity.n)
    indices, inverse = _find_distinct_samples(duplicate_groups, n)
    if len(indices) < similarity.n:
        similarity = similarity.take(indices)
    n_distinct_samples = int(inverse[0].max()) + 1
    F = None if similarity.dim is None else similarity.features()
    distances: BlockDistances
    if F is None:
        rounding = kernel_rounding(similarity)
        distances = _KernelDistances(similarity, n_distinct_samples, rounding)
    elif sp.issparse(F):
        # Upper bound of the rounding error of 2 − 2k. That of k, a dot product of unit-norm rows,
        # grows with the number of their stored values; 4 and 16 are safety margins.
        n_stored = np.diff(F.tocsr().indptr)
        rounding = 4 * (int(n_stored.max(initial=0)) + 16) * EPS
        distances = _KernelDistances(similarity, n_distinct_samples, rounding)
    else:
        X = np.asarray(to_host(F), np.float64)
        distances = EuclideanDistances(X, min_distance=UNIT_ROUNDING**0.5)
    return Neighbourhoods(distances, inverse, parent)


def build_space_neighbourhoods(space: MetricSpace, n: int) -> Neighbourhoods:
    """Build neighbourhoods in a metric space of n samples followed by the references."""
    indices, inverse = _find_distinct_samples(space.inverse, n)
    return Neighbourhoods(PrecomputedDistances(space.D, space.inverse[indices]), inverse)


def _find_distinct_samples(
    duplicate_groups: np.ndarray, n: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Find the distinct samples of two sets: n samples, followed by the references.

    Identical samples have the same number in `duplicate_groups`. Returns the indices of the
    distinct samples followed by those of the distinct references, both in order of first
    occurrence; and for each sample and for each reference, the position of its distinct sample or
    reference.
    """
    # The sets are processed separately, so identical samples and references are not merged.
    # `np.unique` sorts by the numbers of groups; `order` restores the order of first occurrence.
    indices = []
    inverse = []
    for start, set_groups in ((0, duplicate_groups[:n]), (n, duplicate_groups[n:])):
        _, first, group_positions = np.unique(set_groups, return_index=True, return_inverse=True)
        order = np.argsort(first)
        indices.append(start + first[order])
        inverse.append(np.argsort(order)[group_positions])
    return np.concatenate(indices), (inverse[0], inverse[1])


class _KernelDistances(BlockDistances):
    """Distances √(k(x, x) + k(y, y) − 2 k(x, y)), computed block by block.

    k is the kernel of `similarity`, which contains `n_samples` samples, followed by the references.
    Entries of a block are squared distances; those below `rounding` are set to 0.
    """

    threaded = False  # a kernel need not be thread-safe

    def __init__(self, similarity: Similarity, n_samples: int, rounding: float) -> None:
        # `similarity` contains `n_samples` distinct samples, followed by the distinct references.
        # Squared distances up to `rounding` may be rounding errors of 0.
        self.n = similarity.n
        self.rounding = rounding
        # Ranges of rows with their similarity, smallest first; `block` uses the first that fits.
        self.similarities_by_rows = [(slice(0, self.n), similarity)]
        # Rows of a similarity that is not stored are computed for all its samples. With a separate
        # similarity for each set, blocks within one set compute no pairs between the two sets.
        if not isinstance(similarity, MatrixSimilarity):
            sample_rows, reference_rows = np.split(np.arange(self.n), [n_samples])
            self.similarities_by_rows = [
                (slice(0, n_samples), similarity.take(sample_rows)),
                (slice(n_samples, self.n), similarity.take(reference_rows)),
                *self.similarities_by_rows,
            ]
        self.diagonal = np.asarray(to_host(similarity.diagonal()), np.float64)

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        """Compute the squared distances of the points in `rows` to those in `columns`."""
        # Use the smallest similarity that contains all samples of the block.
        first = min(rows.start, columns.start)
        last = max(rows.stop, columns.stop)
        start, similarity = next(
            (available_rows.start, similarity)
            for available_rows, similarity in self.similarities_by_rows
            if available_rows.start <= first and last <= available_rows.stop
        )
        K = to_host(similarity.rows(slice(rows.start - start, rows.stop - start)))
        K = K[:, columns.start - start : columns.stop - start]
        D = squared_kernel_distances(K, self.diagonal[rows], self.diagonal[columns])
        check_squared_distance(D.min(), "two samples or references")
        D[self.rounding > D] = 0.0
        return D

    def block_bound(self, r: np.ndarray) -> np.ndarray:
        """Return the largest squared distance of points at distance ≤ r, with rounding errors."""
        # 8 EPS exceeds the relative rounding error of a square root and its square. Two equal
        # distances may differ by `rounding` when squared.
        return r * r * (1 + 8 * EPS) + self.rounding

    def exact_distances(self, i: np.ndarray, j: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """Return the square roots of `entries`, the squared distances of pairs of points."""
        return np.sqrt(entries)

    def is_within(
        self, i: np.ndarray, j: np.ndarray, entries: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        """Return for each pair whether its distance is at most r, up to rounding errors.

        `entries` are the squared distances of the pairs.
        """
        return entries <= self.block_bound(r)
