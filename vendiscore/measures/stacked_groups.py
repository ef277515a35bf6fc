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

# Larger groups are as fast one at a time, with the best algorithm for each.
MAX_STACKED_SIZE = 64


class StackedGroups:
    """g groups of n samples each: the views of a SampleSet with a leading batch axis.

    A measure registered with `stacks=True` also accepts it instead of a SampleSet. Groups marked in
    `unusual`, or with value NaN, are computed separately, which raises an error if necessary.
    """

    def __init__(
        self,
        parent: SampleSet,
        similarity: Similarity | None,
        points: FeatureSimilarity | None,
        indices: np.ndarray,
    ) -> None:
        self.parent = parent
        self.similarity = similarity
        self.points = points  # points, if distances are computed from numeric rows
        self.n: int = indices.shape[1]
        self.orders: Sequence[float] = parent.orders
        self.retained_indices = indices
        self.rows: np.ndarray = parent.row_of_input[indices]
        self.notes: list[str] = []

    @cached_property
    def K(self) -> Array:
        """Similarities (g, n, n)."""
        assert self.similarity is not None
        return self.similarity.stack(self.rows)

    @cached_property
    def unusual(self) -> np.ndarray:
        """Mask (g,) of groups to compute separately; initially those whose diagonal is not 1."""
        if self.similarity is None:
            return np.zeros(len(self.rows), dtype=bool)
        diagonal = to_host(namespace(self.K).linalg.diagonal(self.K))
        bound = max(DIAGONAL_TOLERANCE, 2 * self.similarity.roundoff)
        return ~(np.abs(diagonal - 1) <= bound).all(axis=1)

    @cached_property
    def p(self) -> Array | None:
        """Weights (g, n) that sum to 1, or None."""
        if self.parent.p is None:
            return None
        weights = self.parent.p[self.rows]
        return weights / weights.sum(-1)[:, None]

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p, the mean similarity of each sample to a random one of its group."""
        p = np.full(self.rows.shape, 1 / self.n) if self.p is None else self.p
        p = asarray_like(p, self.K)
        return p, (self.K @ p[:, :, None])[:, :, 0]

    @cached_property
    def spectral(self) -> StackedSpectra:
        """Vendi Scores of all orders."""
        return self.compute_spectra(self.orders)

    def compute_spectra(self, orders: Sequence[float], vectors: bool = False) -> StackedSpectra:
        """Compute Vendi Scores of the given orders, and mark groups to compute separately."""
        spectra = StackedSpectra(self.K, self.p, orders, self.parent.psd, vectors, self.similarity)
        spectra.warn_about_truncation(orders)
        self.unusual |= to_host(spectra.unusual)
        return spectra

    @cached_property
    def space(self) -> StackedSpaces:
        """The groups as metric spaces."""
        from .stacked_distances import stack_spaces

        of_rows = self.parent.uses_row_distances
        similarity = self.points if of_rows else self.similarity
        return stack_spaces(similarity, self.rows, self.parent.spec.metric, of_rows)

    def build_spaces(self, solver: SolverName) -> list[StackedSpaces | MetricSpace]:
        """Return metric spaces of the groups and, if given, the references."""
        return [self.space, *self.parent.build_reference_spaces(solver)]


Stack = StackedGroups  # the name before version 0.5


def iter_stacked_groups(parent: SampleSet) -> Iterator[tuple[np.ndarray, StackedGroups]]:
    """Yield indices of groups of equal size with their StackedGroups, in cache-sized batches."""
    assert parent.groups is not None
    codes = np.where(parent.row_of_input >= 0, parent.groups.codes, -1)
    similarity = None
    points = None
    dim = 0
    many = 1
    if parent.has_similarities:
        similarity = parent.similarity if has_gradient(parent.p) else parent.similarity.in_numpy()
        dim = similarity.dim or 0
        # An operation of torch takes as long for a few groups as for many.
        if isinstance(similarity, FeatureSimilarity) and is_torch(similarity.X):
            many = 64
    if "distances" in parent.group_needs and parent.uses_row_distances:
        from .stacked_distances import as_points

        points = as_points(parent)
        dim = max(dim, points.X.shape[1] if points else 0)
    for groups, members in iter_groups_by_size(codes):
        n = members.shape[1]
        if n <= MAX_STACKED_SIZE:
            for block in row_blocks(len(groups), 8 * n * max(n, dim) // many):
                yield groups[block], StackedGroups(parent, similarity, points, members[block])
