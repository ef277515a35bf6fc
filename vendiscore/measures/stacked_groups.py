"""Groups of equal size stacked in one array, for measures that compute all groups at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..core.checks import DIAGONAL_TOLERANCE
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..similarity.group_indices import iter_groups_by_size
from ..spectral.stacked_spectra import StackedSpectra
from ..support.arguments import has_gradient
from ..support.namespace import Array, asarray_like, is_torch, namespace, row_blocks, to_host
from .sample_set import SampleSet

if TYPE_CHECKING:
    from ..magnitude.magnitude_options import SolverName
    from ..magnitude.space import MetricSpace, StackedSpaces

# Larger groups are computed one by one, which is as fast, and selects the best algorithm for each.
MAX_STACKED_SIZE = 64


class StackedGroups:
    """Several groups of equal size, with the attributes of a SampleSet as arrays of all groups.

    The arrays, such as the similarities of shape (g, n, n), have a leading axis of groups. In
    shapes, g is the number of groups and n the number of samples of each group. A measure that
    is registered with `stacks=True` also accepts a StackedGroups instead of a SampleSet, and
    returns arrays with one value per group. Groups that are marked in `unusual`, or whose value is
    NaN or outside the range of the measure, are then computed again as single sets, which raises an
    error if necessary.

    Parameters
    ----------
    parent : SampleSet
        The set of all groups.
    similarity : Similarity or None
        The similarity of all samples, if a measure needs it.
    points : FeatureSimilarity or None
        The samples as points, if distances are computed from numeric rows.
    indices : ndarray (g, n)
        Indices of the samples of each group into all samples.
    """

    def __init__(
        self,
        parent: SampleSet,
        similarity: Similarity | None,
        points: FeatureSimilarity | None,
        indices: np.ndarray,
    ) -> None:
        # `indices` (g, n) are those of the samples of each group among all samples of `parent`.
        # `similarity` and `points` contain all samples of `parent`; points are numeric rows, from
        # whose distances those of the metric are computed. Both are None if not needed.
        self.parent = parent
        self.similarity = similarity
        self.points = points
        self.n: int = indices.shape[1]
        self.orders: Sequence[float] = parent.orders
        self.retained_indices = indices
        self.rows: np.ndarray = parent.row_of_input[indices]
        self.notes: list[str] = []

    @cached_property
    def K(self) -> Array:
        """Similarities within each group, shape (g, n, n)."""
        assert self.similarity is not None
        return self.similarity.stack(self.rows)

    @cached_property
    def unusual(self) -> np.ndarray:
        """Mask (g,) of the groups that must be computed separately, as single sets.

        At first, these are the groups whose similarities do not have a diagonal of 1. Measures and
        views mark further groups, for example if there are negative eigenvalues.
        """
        if self.similarity is None:
            return np.zeros(len(self.rows), dtype=bool)
        diagonal = to_host(namespace(self.K).linalg.diagonal(self.K))
        tolerance = max(DIAGONAL_TOLERANCE, 2 * self.similarity.roundoff)
        return ~(np.abs(diagonal - 1) <= tolerance).all(axis=1)

    @cached_property
    def p(self) -> Array | None:
        """Weights of the n samples of each of the g groups, shape (g, n); None if all are equal.

        They sum to 1 in each group.
        """
        if self.parent.p is None:
            return None
        weights = self.parent.p[self.rows]
        return weights / weights.sum(-1)[:, None]

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """The weights p, and the mean similarity K p of each sample to its group, both (g, n).

        K are the similarities within a group. The weights are 1/n by default, for n samples in each
        of g groups.
        """
        p = np.full(self.rows.shape, 1 / self.n) if self.p is None else self.p
        p = asarray_like(p, self.K)
        return p, (self.K @ p[:, :, None])[:, :, 0]

    @cached_property
    def spectral(self) -> StackedSpectra:
        """Vendi Scores of each group, for all orders of the parent set."""
        return self.compute_spectra(self.orders)

    def compute_spectra(self, orders: Sequence[float], vectors: bool = False) -> StackedSpectra:
        """Compute Vendi Scores of the given orders for each group, and eigenvectors if `vectors`.

        Groups that must be computed separately, for example because of negative eigenvalues, are
        marked in `unusual`.
        """
        spectra = StackedSpectra(self.K, self.p, orders, self.parent.psd, vectors, self.similarity)
        spectra.warn_about_truncation(orders)
        self.unusual |= to_host(spectra.unusual)
        return spectra

    @cached_property
    def space(self) -> StackedSpaces:
        """The groups as metric spaces."""
        from .stacked_distances import stack_spaces

        # Distances between numeric rows are those of `points`, others are those of a kernel.
        use_rows = self.parent.uses_row_distances
        similarity = self.points if use_rows else self.similarity
        return stack_spaces(similarity, self.rows, self.parent.spec.metric, use_rows)

    def build_spaces(self, solver: SolverName) -> list[StackedSpaces | MetricSpace]:
        """Return the metric spaces of the groups and, if given, the space of the references.

        `solver` is the name of the solver for the magnitude of the references.
        """
        return [self.space, *self.parent.build_reference_spaces(solver)]


Stack = StackedGroups  # the name before version 0.5


def iter_stacked_groups(parent: SampleSet) -> Iterator[tuple[np.ndarray, StackedGroups]]:
    """Yield batches of groups of equal size: the indices of the groups, and the StackedGroups.

    The indices are positions in the labels of `parent.groups`. Batches are small enough for the
    cache of a CPU core. Groups of more than `MAX_STACKED_SIZE` samples are omitted.
    """
    assert parent.groups is not None
    # Dropped samples have the code −1, which belongs to no group.
    codes = np.where(parent.row_of_input >= 0, parent.groups.codes, -1)
    similarity = None
    points = None
    dim = 0  # number of features, which a batch needs for each sample
    batch_factor = 1
    if parent.has_similarities:
        # Without gradients, tensors are converted to NumPy, which is faster for small matrices.
        similarity = parent.similarity if has_gradient(parent.p) else parent.similarity.in_numpy()
        dim = similarity.dim or 0
        # An operation of torch takes as long for a few groups as for many, so batches are larger.
        if isinstance(similarity, FeatureSimilarity) and is_torch(similarity.X):
            batch_factor = 64
    if "distances" in parent.group_needs and parent.uses_row_distances:
        from .stacked_distances import as_points

        points = as_points(parent)
        dim = max(dim, points.X.shape[1] if points else 0)
    for groups, members in iter_groups_by_size(codes):
        n = members.shape[1]
        if n <= MAX_STACKED_SIZE:
            # For one group, the bytes of its similarities (n, n) or features (n, dim).
            for block in row_blocks(len(groups), 8 * n * max(n, dim) // batch_factor):
                yield groups[block], StackedGroups(parent, similarity, points, members[block])
