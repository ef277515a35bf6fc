"""Groups of one size as one stack, of which measures have a number for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..core.checks import DIAGONAL_TOLERANCE
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..similarity.group_indices import iter_groups_by_size
from ..spectral.stacks import StackedSpectra
from ..support.arguments import has_gradient
from ..support.namespace import Array, asarray_like, is_torch, namespace, row_blocks, to_host
from .subject import Subject

if TYPE_CHECKING:
    from ..magnitude.parameters import Solving
    from ..magnitude.space import MetricSpace, Spaces

# Larger groups are as fast one at a time, and takes the cheapest route of each.
LARGEST = 64


class Stack:
    """Groups of n samples each: the views of a Subject, with a row for each group.

    A measure that is registered with `stacks` takes it in place of a Subject. Groups that it adds
    to `unusual`, or whose number is NaN, are measured one by one, which raises as need be.
    """

    def __init__(
        self,
        whole: Subject,
        similarity: Similarity | None,
        points: FeatureSimilarity | None,
        places: np.ndarray,
    ) -> None:
        self.whole = whole
        self.similarity = similarity
        self.points = points  # where distances are of rows of numbers
        self.n: int = places.shape[1]
        self.orders: Sequence[float] = whole.orders
        self.places_kept = places
        self.rows: np.ndarray = whole.rows_of_passed[places]
        self.notes: list[str] = []

    @cached_property
    def K(self) -> Array:
        """Similarities (g, n, n)."""
        assert self.similarity is not None
        return self.similarity.stack(self.rows)

    @cached_property
    def unusual(self) -> np.ndarray:
        """Groups (g,) to be measured one by one: at first those whose diagonals are not 1."""
        if self.similarity is None:
            return np.zeros(len(self.rows), dtype=bool)
        diagonal = to_host(namespace(self.K).linalg.diagonal(self.K))
        bound = max(DIAGONAL_TOLERANCE, 2 * self.similarity.roundoff)
        return ~(np.abs(diagonal - 1) <= bound).all(axis=1)

    @cached_property
    def p(self) -> Array | None:
        """Weights (g, n) that sum to 1, or None."""
        if self.whole.p is None:
            return None
        weights = self.whole.p[self.rows]
        return weights / weights.sum(-1)[:, None]

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p: how similar a random sample of its group is to each."""
        p = np.full(self.rows.shape, 1 / self.n) if self.p is None else self.p
        p = asarray_like(p, self.K)
        return p, (self.K @ p[:, :, None])[:, :, 0]

    @cached_property
    def spectral(self) -> StackedSpectra:
        """Vendi Scores of all orders."""
        return self.spectra(self.orders)

    def spectra(self, orders: Sequence[float], vectors: bool = False) -> StackedSpectra:
        """Find Vendi Scores of some orders, and groups that are to be looked at one by one."""
        spectra = StackedSpectra(self.K, self.p, orders, self.whole.psd, vectors, self.similarity)
        spectra.warn_about_truncation(orders)
        self.unusual |= to_host(spectra.unusual)
        return spectra

    @cached_property
    def space(self) -> Spaces:
        """The samples of each group at their distances."""
        from .stacked_distances import spaces_of

        of_rows = self.whole.of_rows
        similarity = self.points if of_rows else self.similarity
        return spaces_of(similarity, self.rows, self.whole.how.metric, of_rows)

    def solved(self, solver: Solving) -> list[Spaces | MetricSpace]:
        """Return the samples, and the references, at their distances."""
        return [self.space, *self.whole.reference_spaces(solver)]


def stacks_of(whole: Subject) -> Iterator[tuple[np.ndarray, Stack]]:
    """Yield numbers of groups of one size, and their Stack, as many as fit in the cache."""
    assert whole.groups is not None
    codes = np.where(whole.rows_of_passed >= 0, whole.groups.codes, -1)
    similarity = None
    points = None
    dim = 0
    many = 1
    if whole.has_similarities:
        similarity = whole.similarity if has_gradient(whole.p) else whole.similarity.in_numpy()
        dim = similarity.dim or 0
        # A step of torch costs as much for few sets as for many.
        if isinstance(similarity, FeatureSimilarity) and is_torch(similarity.X):
            many = 64
    if "distances" in whole.needs_of_parts and whole.of_rows:
        from .stacked_distances import points_of

        points = points_of(whole)
        dim = max(dim, points.X.shape[1] if points else 0)
    for groups, members in iter_groups_by_size(codes):
        n = members.shape[1]
        if n <= LARGEST:
            for block in row_blocks(len(groups), 8 * n * max(n, dim) // many):
                yield groups[block], Stack(whole, similarity, points, members[block])
