"""Samples and references as a single set, for two-sample measures."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..magnitude.metric_space_builder import as_spaces, concatenate_rows, kernel_distance_settings
from ..resolve.similarity_builder import build_pooled_similarity, is_metric_space
from ..resolve.similarity_spec import SimilaritySpec
from ..similarity.base import Similarity
from ..similarity.concatenation import num_samples
from ..support.namespace import asarray_like
from ..support.signature import compute_digest, to_plain
from ..support.types import Record
from . import neighbourhoods
from .neighbourhoods import Neighbourhoods


def _build_missing_distances_error(input_description: str) -> TypeError:
    """Build the error for samples whose distances to the references cannot be computed.

    `input_description` describes what was passed as samples, such as "a MetricSpace".
    """
    return TypeError(
        f"measures that compare two sets do not support {input_description}, because it lacks the "
        "distances between the two sets; pass the samples with a kernel or a metric, or remove "
        "these measures from `measures`"
    )


class JointSampleSet:
    """The samples followed by the references, as a single set.

    `sample_set` is a SampleSet with references, or a SampleSubset, such as a group, of a parent set
    with references. A subset is compared with all references of its parent set.
    """

    def __init__(self, sample_set: Any) -> None:
        # A MetricSpace contains no distances to the points of another set.
        if any(map(is_metric_space, sample_set.sets)):
            raise _build_missing_distances_error("a MetricSpace")
        self.uses_row_distances: bool = sample_set.uses_row_distances
        self.sample_set = sample_set
        self.is_subset: bool = (
            sample_set.parent is not sample_set
        )  # other sets are their own parent
        self.spec: SimilaritySpec = sample_set.parent.spec

    @cached_property
    def rows(self) -> np.ndarray:
        """The n samples followed by the m references as numeric rows, shape (n + m, d).

        It exists only if distances are computed from rows, not from a kernel.
        """
        if self.spec.metric == "precomputed":
            raise _build_missing_distances_error("a matrix of distances")
        return concatenate_rows(self.sample_set.sets, self.sample_set.names)

    @cached_property
    def similarity(self) -> Similarity:
        """The similarity of all samples and references to each other, with unit diagonal."""
        if not self.is_subset:
            return build_pooled_similarity(self.sample_set.sets, self.spec, self.sample_set.names)
        # Take the samples of the subset and all references from the matrix of the parent set, in
        # which the references follow all samples.
        parent = self.sample_set.parent.both
        reference_rows = np.arange(parent.sizes[0], parent.similarity.n)
        return parent.similarity.take(np.concatenate([self.sample_set.rows, reference_rows]))

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The number of samples and the number of references, without dropped ones."""
        n = len(self.sample_set.rows)
        return n, self.similarity.n - n

    @property
    def settings(self) -> Record:
        """Settings of the distances: the metric or the kernel and their options, for details."""
        if self.uses_row_distances:
            return {"metric": to_plain(self.spec.metric or "euclidean"), **self.spec.metric_options}
        return kernel_distance_settings(self.similarity, self.spec)

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """Nearest neighbours and nearest-neighbour balls of the samples and of the references.

        They are computed block by block, without a full distance matrix, unless the metric is a
        function.
        """
        # A subset has the same references as its parent, so it reuses their nearest neighbours.
        parent = self.sample_set.parent.both.neighbourhoods if self.is_subset else None
        if not self.uses_row_distances:
            return neighbourhoods.build_kernel_neighbourhoods(
                self.similarity, self.sizes[0], parent
            )
        n = num_samples(self.sample_set.samples)
        # The distances of all samples and references form one space.
        if callable(self.spec.metric):  # its distances cannot be computed block by block
            (space,) = as_spaces([self.rows], self.spec, ["samples"])
            return neighbourhoods.build_space_neighbourhoods(space, n)
        return neighbourhoods.build_row_neighbourhoods(self.rows, n, self.spec, parent)

    @property
    def digest(self) -> str:
        """A digest of the references, which identifies them in the signature of a result."""
        if self.uses_row_distances:  # the references are the last rows
            return compute_digest(self.rows[-num_samples(self.sample_set.references) :])
        K = self.similarity
        n, m = self.sizes
        # The mean similarity of each reference to both sets, which are equally weighted.
        weights = np.repeat([0.5 / n, 0.5 / m], [n, m])
        return compute_digest(K.matmul(asarray_like(weights, K.diagonal()))[n:])
