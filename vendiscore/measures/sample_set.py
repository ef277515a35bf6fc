"""Sample sets, the input of measures: samples and quantities computed from them on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.eigenvalues import PSD
from ..resolve.kernel import Kernel
from ..resolve.kernel_builder import TEXT_KERNEL
from ..resolve.sample_labels import count_input_samples, count_samples_by_set
from ..resolve.similarity_builder import (
    build_set_similarities,
    is_metric_space,
    similarity_subset,
    split_pooled,
)
from ..resolve.similarity_spec import SimilaritySpec
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.sample_arrays import take_samples
from ..spectral.estimate import EstimateOptions
from ..spectral.spectrum import ScoresByOrder, Spectrum
from ..spectral.vendi_scores import compute_spectrum, compute_vendi_scores
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, asarray_like, to_host
from ..support.types import Record, Rows, SampleContainer, Samples, Weights
from .measure import SIMILARITY_NEEDS

# Cached data derived from the samples themselves, and caches of metric spaces.
_NOT_PICKLED = ("samples", "both", "features", "texts", "build_spaces", "build_reference_spaces")

if TYPE_CHECKING:
    from ..magnitude.magnitude_options import SolverName
    from ..magnitude.space import MetricSpace
    from ..resolve.sample_labels import GroupLabels
    from .joint_sample_set import JointSampleSet

    SpaceBuilder = Callable[[SolverName], list[MetricSpace]]


class UnsupportedInputError(TypeError):
    """The measure does not support this input; the message names what it needs and what it got."""


@dataclass(eq=False, repr=False)
class SampleSet:
    """Samples with their kernel, weights, groups and references: the input of a measure.

    Views of the samples, such as similarities, eigenvalues and distances, are computed at first use
    and stored. How they are computed depends only on `needs`, not on the order of use. Similarities
    of samples and references are computed together.

    Parameters
    ----------
    data : list, array, Similarity or MetricSpace
        The samples.
    spec : SimilaritySpec, optional
        How similarities are computed.
    name : str, default "samples"
        Name of the samples in error messages.
    references : list, array or Similarity, optional
        Second set, which samples are compared with.
    orders : sequence of float, default (1,)
        Orders q, for measures that have an order.
    weights : array-like of shape (n,), optional
        Weights of the samples, as passed by the caller.
    psd : {"check", "clip"}, default "check"
        Whether negative eigenvalues beyond rounding raise an error or are set to zero.
    groups : GroupLabels, optional
        Group label of each sample.
    needs : frozenset of str, default frozenset({"similarity"})
        Views that measures use: "similarity", "scores", "eigenvectors", "distances", "features"
        and "samples".
    group_needs : frozenset of str, default frozenset()
        Views that measures use of each of `parts`.
    pooled_needs : frozenset of str, default frozenset()
        Views that measures use of `both` sets together.
    estimate_options : EstimateOptions, optional
        Options of ``method="estimate"``; None computes exact scores.
    solver : {"auto", "cg", "cholesky"}, default "auto"
        Solver for magnitude, unless a measure sets another one.

    See Also
    --------
    vendiscore.register_measure : Register a function of a `SampleSet` as a measure.

    Examples
    --------
    >>> from vendiscore import as_similarity
    >>> sample_set = SampleSet(as_similarity(["red", "red", "blue"], k="labels"))
    >>> sample_set.n, sample_set.spectrum.values.round(3)
    (3, array([0.667, 0.333]))
    """

    data: Any
    spec: SimilaritySpec = field(default_factory=SimilaritySpec)
    _: KW_ONLY
    name: str = "samples"
    references: Samples | None = None
    orders: Sequence[float] = (DEFAULT_ORDER,)
    weights: Weights | None = None
    psd: PSD = "check"
    groups: GroupLabels | None = None
    needs: frozenset[str] = frozenset(("similarity",))
    group_needs: frozenset[str] = frozenset()
    pooled_needs: frozenset[str] = frozenset()
    estimate_options: EstimateOptions | None = None
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        self.names: list[str] = [self.name]  # names of the sets in errors
        if self.references is not None:
            self.names.append("references")
        self.parent: SampleSet = self
        self.notes: list[str] = []  # remarks of measures about their values
        self.settings: Record = {}  # settings of measures, for the signature

    def __getstate__(self) -> Record:
        """Return the state with similarities instead of the samples and their spec.

        Samples and spec may contain objects that cannot be pickled, such as functions.
        """
        state = {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}
        state |= {name: getattr(self, name) for name in ("similarities", "p", "row_of_input")}
        state |= {"data": self.similarity, "spec": SimilaritySpec(), "references": None}
        return state

    @cached_property
    def samples(self) -> Any:
        """The samples."""
        return self.data

    def decompose(self) -> Spectrum:
        """Compute the eigenvectors, for scores and contributions; raise if there are none."""
        self.needs |= {"eigenvectors"}
        return self.eigen

    @property
    def sets(self) -> list[SampleContainer]:
        """A list of the samples and, if given, the references."""
        return [self.samples] if self.references is None else [self.samples, self.references]

    @cached_property
    def has_similarities(self) -> bool:
        """True if similarities are computed, either for a measure or to drop unusable samples."""
        needs = self.needs | self.group_needs | self.pooled_needs
        made = isinstance(self.spec.k, tuple) or isinstance(self.samples, Similarity)
        if (
            made
            or needs & SIMILARITY_NEEDS
            or (self.spec.drop_unusable and self.spec.defines_similarity)
        ):
            return True
        need_rows = self.spec.drop_unusable or "features" in needs
        if need_rows and as_numeric_rows(self.samples, self.spec) is None:
            return True
        given = is_metric_space(self.samples) or self.spec.metric == "precomputed"
        return "distances" in needs and not (given or self.uses_row_distances)

    @cached_property
    def compares_within_groups(self) -> bool:
        """True if only pairs within groups are compared, because measures use only `parts`."""
        return (
            self.groups is not None
            and self.weights is None
            and not (self.needs | self.pooled_needs)
        )

    @cached_property
    def similarities(self) -> list[Similarity]:
        """The similarity of the samples and, if given, of the references."""
        sets = self.sets
        if any(map(is_metric_space, sets)):
            raise TypeError(
                "a MetricSpace has distances and no similarities: pass the samples themselves, or "
                "leave measures of similarities out of `measures`"
            )
        if "similarity" in self.pooled_needs or (self.pooled_needs and not self.uses_row_distances):
            return split_pooled(self.both.similarity, count_samples_by_set(sets, self.spec))
        return build_set_similarities(
            sets, self.spec, self.names, per_group=self.compares_within_groups
        )

    @cached_property
    def both(self) -> JointSampleSet:
        """The samples and the references as a single set."""
        from .joint_sample_set import JointSampleSet

        return JointSampleSet(self)

    @property
    def uses_row_distances(self) -> bool:
        """True if distances are computed from numeric rows, not from a kernel."""
        from ..magnitude.metric_space_builder import uses_row_distances

        return uses_row_distances(self.sets, self.spec)

    @cached_property
    def indices(self) -> np.ndarray:
        """The indices of the samples of this set into all samples passed by the caller."""
        return np.arange(self.n_input)

    @property
    def roundoff(self) -> float:
        """Machine epsilon of the precision of the samples, if they have similarities."""
        return self.similarities[0].roundoff if self.has_similarities else 0.0

    @property
    def similarity(self) -> Similarity:
        """The similarity of the samples, with unit diagonal."""
        return self.similarities[0]

    @cached_property
    def p(self) -> Array | None:
        """Normalized weights of shape (n,); None if all are equal."""
        if self.weights is None:
            return None
        from ..similarity.weights import check_weights

        if not self.has_similarities:
            return check_weights(self.weights, self.n_input, groups=self.groups)
        K = self.similarity
        return check_weights(self.weights, K.n, K.dropped, K.diagonal(), self.groups)

    @cached_property
    def eigen(self) -> Spectrum:
        """The spectrum with eigenvectors, as needed for the contributions of samples."""
        return compute_spectrum(self.similarity, self.p, self.psd, vectors=True)

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """The weights p and K p, the mean similarity of each sample to all samples."""
        K = self.similarity
        p = np.full(K.n, 1 / K.n) if self.p is None else self.p
        p = asarray_like(p, K.diagonal())
        return p, K.matmul(p)

    @cached_property
    def spectral(self) -> ScoresByOrder:
        """Vendi Scores of all orders, from the eigenvectors if these are needed anyway.

        With several groups they are in double precision, because they are divided by scores of
        groups.
        """
        known = self.eigen if "eigenvectors" in self.needs else None
        return compute_vendi_scores(
            self.similarities[0],
            self.orders,
            self.p,
            self.psd,
            spectrum=known,
            estimate_options=self.estimate_options,
            allow_single=self.groups is None,
        )

    @property
    def needed_spectrum(self) -> Spectrum | None:
        """The spectrum that measures need anyway, which may be valid only for some orders."""
        if "eigenvectors" in self.needs:
            return self.eigen
        return self.spectral.spectrum if "scores" in self.needs else None

    @cached_property
    def spectrum(self) -> Spectrum:
        """The spectrum, valid for every order."""
        known = self.needed_spectrum
        if known is None or known.single_precision:
            return compute_spectrum(self.similarity, self.p, self.psd)
        return known

    @cached_property
    def build_spaces(self) -> SpaceBuilder:
        """A function that returns `spaces` for a solver; the result of the last call is cached."""
        return lru_cache(maxsize=1)(self._build_spaces)

    def _build_spaces(self, solver: SolverName) -> list[MetricSpace]:
        """Return metric spaces of the samples and, if given, the references.

        `solver` computes magnitude weights; a MetricSpace passed by the caller keeps its own
        solver.
        """
        from ..magnitude.metric_space_builder import as_spaces

        return as_spaces(self.sets, self.spec, self.names, lambda: self.similarities, solver)

    @property
    def spaces(self) -> list[MetricSpace]:
        """Metric spaces of the samples and, if given, the references."""
        return self.build_spaces(self.solver) if "distances" in self.needs else []

    @property
    def space(self) -> MetricSpace:
        """The samples as a metric space, under a metric or the kernel distance √(2 − 2k)."""
        return self.build_spaces(self.solver)[0]

    @property
    def n_input(self) -> int:
        """The number of samples passed by the caller, including dropped ones."""
        of_columns = isinstance(self.spec.k, tuple) and not isinstance(self.samples, Similarity)
        return count_input_samples(self.similarity if of_columns else self.samples)

    @cached_property
    def row_of_input(self) -> np.ndarray:
        """For each input sample, its row in the similarity; −1 for dropped samples."""
        kept = np.ones(self.n_input, bool)
        if self.has_similarities:
            kept[list(self.similarity.dropped)] = False
        return np.where(kept, np.cumsum(kept) - 1, -1)

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows of this set in the similarity of the parent set."""
        return np.arange(self.similarity.n)

    @property
    def codes(self) -> np.ndarray:
        """Integer group code of each retained sample."""
        assert self.groups is not None
        return self.groups.codes[self.row_of_input >= 0]

    @cached_property
    def parts(self) -> list[SampleSubset]:
        """The groups as subsets, in the order of their labels."""
        assert self.groups is not None
        from ..similarity.group_indices import group_indices

        return [
            SampleSubset(self, places, self.groups.describe(group), self.group_needs)
            for group, places in enumerate(group_indices(self.groups.codes))
        ]

    @cached_property
    def texts(self) -> list[str]:
        """The retained samples, which must be strings."""
        expected = "samples that are strings"
        if not isinstance(self.samples, list):
            raise UnsupportedInputError(f"{expected}, got {type(self.samples).__name__}")
        for i, sample in enumerate(self.samples):
            if not isinstance(sample, str):
                raise UnsupportedInputError(f"{expected}, got {type(sample).__name__} at {i}")
        return [self.samples[i] for i in np.flatnonzero(self.row_of_input >= 0)]

    @cached_property
    def distances(self) -> np.ndarray:
        """The distance matrix passed by the caller."""
        from ..similarity.distance_matrix import check_distances

        return check_distances(self.samples)

    @cached_property
    def build_reference_spaces(self) -> SpaceBuilder:
        """A function that returns the metric space of the references, like `build_spaces`."""
        return lru_cache(maxsize=1)(self._build_reference_spaces)

    def _build_reference_spaces(self, solver: SolverName) -> list[MetricSpace]:
        """Return the metric space of the references, if given, shared by all subsets."""
        if self.references is None:
            return []
        from ..magnitude.metric_space_builder import as_spaces

        references = self.references
        if not (self.uses_row_distances or self.spec.metric == "precomputed"):
            references = self.similarities[1]
        return as_spaces([references], self.spec, ["references"], solver=solver)

    @cached_property
    def features(self) -> Rows:
        """The samples as numeric rows (n, d), or the features of their kernel."""
        from ..similarity.distance_matrix import as_numpy_rows

        rows = as_numeric_rows(self.samples, self.spec)
        skip = self.spec.drop_unusable and self.spec.defines_similarity
        if rows is not None and not (skip and self.similarity.dropped):
            return rows if sp.issparse(rows) else as_numpy_rows(rows)
        check_features(self.similarity)
        return drop_empty_columns(self.similarity.features(), self.similarity)

    @property
    def n(self) -> int:
        """The number of retained samples."""
        return self.similarities[0].n if self.has_similarities else self.n_input

    @property
    def retained_indices(self) -> np.ndarray:
        """The indices of the retained samples into the samples passed by the caller."""
        return self.indices[self.row_of_input >= 0]

    @property
    def places(self) -> np.ndarray:
        """An alias of `indices`."""
        return self.indices

    @property
    def rows_of_passed(self) -> np.ndarray:
        """An alias of `row_of_input`."""
        return self.row_of_input

    @property
    def how(self) -> SimilaritySpec:
        """An alias of `spec`."""
        return self.spec


Subject = SampleSet  # the name before version 0.5


class SampleSubset(SampleSet):
    """A subset of the samples of `parent`, such as a group; reuses its options and similarities."""

    def __init__(
        self,
        parent: SampleSet,
        indices: np.ndarray,
        name: str = "this part",
        needs: frozenset[str] = frozenset(("similarity",)),
    ) -> None:
        super().__init__(
            None,
            parent.spec,
            name=name,
            references=parent.references,
            orders=parent.orders,
            psd=parent.psd,
            needs=needs,
            solver=parent.solver,
        )
        self.names = parent.names
        self.parent = parent
        self.indices = indices

    def without_cache(self, spectral: ScoresByOrder | None = None) -> SampleSubset:
        """Return a copy with only notes and scores, to free the memory of cached views."""
        part = SampleSubset(self.parent, self.indices, self.name, self.needs)
        part.notes = self.notes
        if spectral is not None:
            part.spectral = spectral
        return part

    @cached_property
    def samples(self) -> Any:
        """The samples of the subset, if the input can be divided."""
        whole = self.parent.samples
        if is_indivisible_input(whole, self.spec) and not isinstance(whole, list):
            return self.similarity
        return take_samples(whole, self.indices)

    @cached_property
    def has_similarities(self) -> bool:
        """True if the parent set has similarities."""
        return self.parent.has_similarities

    @cached_property
    def similarities(self) -> list[Similarity]:
        """The similarity of the samples and, if given, of the references."""
        pool, *others = self.parent.similarities
        return [similarity_subset(pool, self.rows), *others]

    @cached_property
    def p(self) -> Array | None:
        """Weights of shape (n,) that sum to 1, or None; within a subset they are renormalized."""
        if self.parent.p is None:
            return None
        weights = self.parent.p[self.rows]
        if not weights.sum() > 0:
            raise ValueError(
                f"`p` gives no weight to {self.name}, which therefore has no score; leave its "
                "samples out"
            )
        return weights / weights.sum()

    def _build_spaces(self, solver: SolverName) -> list[MetricSpace]:
        whole = self.parent
        how = whole.spec
        if how.metric == "precomputed":
            samples = whole.distances[np.ix_(self.indices, self.indices)]
        else:
            samples = self.samples if whole.uses_row_distances else self.similarity
        from ..magnitude.metric_space_builder import as_spaces

        spaces = as_spaces([samples], how, ["samples"], solver=solver)
        return [*spaces, *whole.build_reference_spaces(solver)]

    @property
    def n_input(self) -> int:
        """The number of samples passed by the caller, including dropped ones."""
        return len(self.indices)

    @cached_property
    def row_of_input(self) -> np.ndarray:
        """For each input sample, its row in the similarity; −1 for dropped samples."""
        return self.parent.row_of_input[self.indices]

    @cached_property
    def rows(self) -> np.ndarray:
        """Rows of this set in the similarity of the parent set."""
        rows = self.row_of_input[self.row_of_input >= 0]
        if not len(rows):
            raise ValueError(
                f"{self.name} has no sample that can be used, and so no score; leave it out"
            )
        return rows


def is_indivisible_input(samples: Samples, spec: SimilaritySpec) -> bool:
    """Return whether the input is a Similarity, or records whose columns kernels compare."""
    return isinstance(samples, Similarity) or isinstance(spec.k, tuple)


def check_features(K: Similarity) -> None:
    """Raise if a similarity has no features, or features of n-gram kernels."""
    if K.dim is None or TEXT_KERNEL in str(K.settings.get("kernel")):
        raise UnsupportedInputError(
            f"samples that are vectors or a kernel that has features, got {K!r}"
        )


def drop_empty_columns(F: Rows, K: Similarity) -> Rows:
    """Drop columns that are zero for all samples of the set, such as the labels of other groups."""
    if not K.vocabulary_columns:
        return F
    return F[:, np.flatnonzero(to_host(abs(F).sum(axis=0)))]


def as_numeric_rows(samples: Samples, spec: SimilaritySpec) -> Rows:
    """Return the samples as numeric rows if they are vectors or numbers, else None."""
    if (
        is_indivisible_input(samples, spec)
        or spec.input_form == "K"
        or spec.conditioning_prompts is not None
    ):
        return None
    if isinstance(spec.k, Kernel) and spec.k.samples != "vectors":
        return None  # numbers may be class labels, and arrays may be images
    first = samples[0] if isinstance(samples, list) else samples
    numbers = isinstance(first, (int, float, list, tuple)) or hasattr(first, "dtype")
    return samples if numbers else None
