"""Distances within small groups of equal size, as arrays with a leading group axis."""

from __future__ import annotations

import math

import numpy as np

from ..magnitude.metric_space_builder import check_row_metric
from ..magnitude.space import StackedSpaces
from ..resolve.similarity_spec import Metric
from ..similarity.base import Similarity
from ..similarity.distance_matrix import UNIT_ROUNDING, as_numpy_rows, normalize_rows
from ..similarity.features import FeatureSimilarity
from ..similarity.kernel_distances import kernel_rounding, squared_sparse_distances
from ..similarity.row_distances import CLOSE_PAIR_RATIO
from ..support.arguments import check_no_gradient
from ..support.namespace import to_host
from .sample_set import SampleSet

# Metrics that are half of the squared Euclidean distance of unit vectors or of features.
_HALVED_METRICS = ("cosine", "correlation", "1-k")


def as_points(parent: SampleSet) -> FeatureSimilarity | None:
    """Return the samples of a set as points in Euclidean space, for distances between rows.

    The distances of the metric are those of the points, or half of their squares. Returns None for
    metrics without such points, whose distances SciPy must compute.
    """
    metric = check_row_metric(parent.spec)
    if metric not in ("euclidean", *_HALVED_METRICS):
        return None
    X = as_numpy_rows(parent.samples)
    if metric in _HALVED_METRICS:
        X = normalize_rows(X, str(metric), "samples")
    return FeatureSimilarity(X)


def stack_spaces(
    similarity: Similarity | None, rows: np.ndarray, metric: Metric | None, uses_row_distances: bool
) -> StackedSpaces:
    """Build the metric spaces of g groups of m samples, with the same distances as `as_spaces`.

    `rows` (g, m) are the rows of the m samples of each group in `similarity`. If
    `uses_row_distances` is True, `similarity` contains dot products of numeric rows instead of the
    values of a kernel. If `similarity` is None or not positive semidefinite, all distances are 0,
    which marks the groups as invalid, so that the caller computes them separately.
    """
    if similarity is None or not similarity.psd:
        # Distances of 0 mark all groups as invalid, so that they are computed separately.
        return StackedSpaces(np.zeros((*rows.shape, rows.shape[1])))
    check_no_gradient("magnitude", samples=similarity)
    squared_distances = _compute_squared_distances(similarity, rows)
    # Some metrics, such as "1-k", are half of the squared distance, others its root. `unit` is the
    # distance of two samples with similarity k = 0; numeric rows have none.
    if metric in _HALVED_METRICS:
        distances = squared_distances / 2
        unit = 1.0
    else:
        distances = np.sqrt(squared_distances)
        unit = math.sqrt(2)
    return StackedSpaces(distances, unit=None if uses_row_distances else unit)


def _compute_squared_distances(similarity: Similarity, rows: np.ndarray) -> np.ndarray:
    """Compute the squared distances k(x, x) + k(y, y) − 2 k(x, y) within g groups, (g, m, m).

    `rows` (g, m) are the rows of the m samples of each group in `similarity`, whose entries are
    k(x, y). Squared distances below the rounding error are set to 0.
    """
    K = to_host(similarity.stack(rows))
    diagonal = K.diagonal(axis1=1, axis2=2)
    sums = diagonal[:, :, None] + diagonal[:, None, :]
    D = sums - (K + K.swapaxes(1, 2))  # K may be asymmetric by rounding errors
    rounding = kernel_rounding(similarity)
    if similarity.dim is not None:
        # Recompute a distance from the difference of both rows if the matrix product could lose
        # more than its last three digits.
        rounding = UNIT_ROUNDING
        is_close = ~(10 * CLOSE_PAIR_RATIO * sums < D)  # also True for NaN
        group, i, j = np.nonzero(np.triu(is_close, 1))
        if len(group):
            F = similarity.features()
            exact = squared_sparse_distances(F, rows[group, i], rows[group, j])
            D[group, i, j] = D[group, j, i] = exact
    return np.where(rounding < D, D, 0.0)
