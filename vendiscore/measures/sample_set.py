"""The input of measures: samples, and the quantities that are computed from them on first use."""

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

# Cached attributes that are not pickled: samples, data derived from them, and cached functions
# that build metric spaces.
_NOT_PICKLED = ("samples", "both", "features", "texts", "build_spaces", "build_reference_spaces")

if TYPE_CHECKING:
    from ..magnitude.magnitude_options import SolverName
    from ..magnitude.space import MetricSpace
    from ..resolve.sample_labels import GroupLabels
    from .joint_sample_set import JointSampleSet

    SpaceBuilder = Callable[[SolverName], list[MetricSpace]]


class UnsupportedInputError(TypeError):
    """Error of a measure that does not support the samples or options.

    The message starts with "requires …" and states what was passed instead. The caller puts the
    name of the measure before it.
    """


@dataclass(eq=False, repr=False)
class SampleSet:
    """Samples with their kernel, weights, groups and references: the input of a measure.

    Quantities that are derived from the samples, such as similarities, eigenvalues and distances,
    are called views. They are computed on first use and stored. Which algorithm computes them
    depends only on `needs`, not on which view is used first. Similarities of samples and references
    are computed together.

    Parameters
    ----------
    data : list, array, Similarity or MetricSpace
        The samples.
    spec : SimilaritySpec, optional
        How similarities are computed.
    name : str, default "samples"
        Name of the samples in error messages.
    references : list, array or Similarity, optional
        Second set, with which the samples are compared.
    orders : sequence of float, default (1,)
        Orders q of the Vendi Score and of other measures with an order.
    weights : array-like of shape (n,), optional
        Weights of the samples, as passed by the caller, including dropped samples.
    psd : {"check", "clip"}, default "check"
        Whether negative eigenvalues beyond rounding raise an error or are set to zero.
    groups : GroupLabels, optional
        Group label of each sample.
    needs : frozenset of str, default frozenset({"similarity"})
        Views of all samples that measures use: "similarity", "scores", "eigenvectors", "distances",
        "features" and "samples".
    group_needs : frozenset of str, default frozenset()
        Views of each single group that measures use.
    pooled_needs : frozenset of str, default frozenset()
        Views that measures use of samples and references together, as a single set.
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
        self.names: list[str] = [self.name]  # names of samples and references in error messages
        if self.references is not None:
            self.names.append("references")
        self.parent: SampleSet = self  # subsets replace this by the set with all samples
        self.notes: list[str] = []  # notes of measures about their values, for the result
        self.settings: Record = {}  # settings of measures, for the signature

    def __getstate__(self) -> Record:
        """Return the state to pickle, with similarities instead of the samples and `spec`.

        The samples and `spec` may contain objects that cannot be pickled, such as functions.
        """
        state = {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}
        state |= {name: getattr(self, name) for name in ("similarities", "p", "row_of_input")}
        # The samples of the unpickled set are its similarity.
        state |= {"data": self.similarity, "spec": SimilaritySpec(), "references": None}
        return state

    @cached_property
    def samples(self) -> Any:
        """The samples, as passed by the caller."""
        return self.data

    def decompose(self) -> Spectrum:
        """Return the spectrum with eigenvectors, and store it, so that Vendi Scores reuse it."""
        self.needs |= {"eigenvectors"}
        return self.eigen

    @property
    def sets(self) -> list[SampleContainer]:
        """A list of the samples and, if given, the references."""
        return [self.samples] if self.references is None else [self.samples, self.references]

    @cached_property
    def has_similarities(self) -> bool:
        """True if similarities of the samples are computed.

        They are needed by measures of similarities, to find unusable samples, and to compute the
        features or distances of samples that are not numeric rows.
        """
        needs = self.needs | self.group_needs | self.pooled_needs
        if (
            has_own_similarity(self.samples, self.spec)
            or needs & SIMILARITY_NEEDS
            or (self.spec.drop_unusable and self.spec.defines_similarity)
        ):
            return True
        # Only a kernel can find unusable samples and compute features if samples are not numeric.
        needs_kernel_or_rows = self.spec.drop_unusable or "features" in needs
        if needs_kernel_or_rows and as_numeric_rows(self.samples, self.spec) is None:
            return True
        has_distances = is_metric_space(self.samples) or self.spec.metric == "precomputed"
        # Other distances are computed from the similarities.
        return "distances" in needs and not (has_distances or self.uses_row_distances)

    @cached_property
    def compares_within_groups(self) -> bool:
        """True if similarities are computed only within groups, because measures need no others."""
        return (
            self.groups is not None
            and self.weights is None
            and not (self.needs | self.pooled_needs)
        )

    @cached_property
    def similarities(self) -> list[Similarity]:
        """A list of the similarity of the samples and, if given, that of the references."""
        sets = self.sets
        if any(map(is_metric_space, sets)):
            raise TypeError(
                "measures of similarities do not support a MetricSpace, which contains only "
                "distances; pass the samples themselves, or remove these measures from `measures`"
            )
        # Two-sample measures also compare samples with references, so similarities of both sets are
        # parts of one matrix. Measures of distances between numeric rows do not need it.
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
        """True if distances are computed from numeric rows instead of a kernel."""
        from ..magnitude.metric_space_builder import uses_row_distances

        return uses_row_distances(self.sets, self.spec)

    @cached_property
    def indices(self) -> np.ndarray:
        """The index of each sample of this set among all samples passed by the caller.

        Dropped samples are included.
        """
        return np.arange(self.n_input)

    @property
    def roundoff(self) -> float:
        """Machine epsilon of the precision of the similarities; 0 if none are computed."""
        return self.similarities[0].roundoff if self.has_similarities else 0.0

    @property
    def similarity(self) -> Similarity:
        """The similarity of the samples, with unit diagonal."""
        return self.similarities[0]

    @cached_property
    def p(self) -> Array | None:
        """The weights of the n retained samples, which sum to 1; None if all are equal."""
        if self.weights is None:
            return None
        from ..similarity.weights import check_weights

        if not self.has_similarities:  # then no samples were dropped
            return check_weights(self.weights, self.n_input, groups=self.groups)
        K = self.similarity
        return check_weights(
            self.weights, K.n, dropped=K.dropped, like=K.diagonal(), groups=self.groups
        )

    @cached_property
    def eigen(self) -> Spectrum:
        """The spectrum with eigenvectors, from which contributions of samples are computed."""
        return compute_spectrum(self.similarity, self.p, self.psd, vectors=True)

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """The weights p of the samples, and the mean similarity K p of each sample to all samples.

        K is the similarity matrix. The weights are 1/n by default.
        """
        K = self.similarity
        p = np.full(K.n, 1 / K.n) if self.p is None else self.p
        p = asarray_like(p, K.diagonal())
        return p, K.matmul(p)

    @cached_property
    def spectral(self) -> ScoresByOrder:
        """Vendi Scores of all orders, from the spectrum with eigenvectors if a measure needs it.

        With groups, scores are in double precision, because they are divided by the scores of the
        groups.
        """
        spectrum = self.eigen if "eigenvectors" in self.needs else None
        # `similarities` contains the samples, followed by the references.
        return compute_vendi_scores(
            self.similarities[0],
            self.orders,
            self.p,
            self.psd,
            spectrum=spectrum,
            estimate_options=self.estimate_options,
            allow_single=self.groups is None,
        )

    @property
    def needed_spectrum(self) -> Spectrum | None:
        """The spectrum, if `needs` contains "eigenvectors" or "scores"; otherwise None.

        With "scores" but not "eigenvectors", the spectrum may be valid only for the orders of the
        scores. It is None if the scores were computed without eigenvalues.
        """
        if "eigenvectors" in self.needs:
            return self.eigen
        return self.spectral.spectrum if "scores" in self.needs else None

    @cached_property
    def spectrum(self) -> Spectrum:
        """The spectrum in double precision, valid for every order."""
        spectrum = self.needed_spectrum
        # A spectrum in single precision is accurate only for the orders of the scores.
        if spectrum is None or spectrum.single_precision:
            return compute_spectrum(self.similarity, self.p, self.psd)
        return spectrum

    @cached_property
    def build_spaces(self) -> SpaceBuilder:
        """A function that takes the name of a solver and returns metric spaces.

        They are those of the samples and, if given, of the references. The last result is cached.
        """
        return lru_cache(maxsize=1)(self._build_spaces)

    def _build_spaces(self, solver: SolverName) -> list[MetricSpace]:
        """Build the metric spaces of the samples and, if given, the references.

        `solver` is the name of the solver for magnitude. A MetricSpace that the caller passed as
        samples is used as it is, with the solver that it was created with.
        """
        from ..magnitude.metric_space_builder import as_spaces

        return as_spaces(self.sets, self.spec, self.names, lambda: self.similarities, solver)

    @property
    def spaces(self) -> list[MetricSpace]:
        """Metric spaces of the samples and, if given, the references.

        The list is empty if no measure uses distances.
        """
        return self.build_spaces(self.solver) if "distances" in self.needs else []

    @property
    def space(self) -> MetricSpace:
        """The samples as a metric space.

        Distances are those of the metric or, by default for samples with a kernel k, √(2 − 2k).
        """
        return self.build_spaces(self.solver)[0]

    @property
    def n_input(self) -> int:
        """The number of samples passed by the caller, including dropped ones."""
        # Records may be passed as columns, whose number is not that of the samples.
        has_records = isinstance(self.spec.k, tuple) and not isinstance(self.samples, Similarity)
        return count_input_samples(self.similarity if has_records else self.samples)

    @cached_property
    def row_of_input(self) -> np.ndarray:
        """For each sample passed by the caller, its row in the similarity; −1 if it was dropped."""
        is_retained = np.ones(self.n_input, bool)
        if self.has_similarities:
            is_retained[list(self.similarity.dropped)] = False
        return np.where(is_retained, np.cumsum(is_retained) - 1, -1)

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each retained sample in the similarity of the parent set, here all rows."""
        return np.arange(self.similarity.n)

    @property
    def codes(self) -> np.ndarray:
        """The group of each retained sample: the position of its label in `groups.labels`."""
        assert self.groups is not None
        return self.groups.codes[self.row_of_input >= 0]

    @cached_property
    def parts(self) -> list[SampleSubset]:
        """The groups as subsets, in the order of their labels."""
        assert self.groups is not None
        from ..similarity.group_indices import group_indices

        return [
            SampleSubset(self, indices, self.groups.describe(group), self.group_needs)
            for group, indices in enumerate(group_indices(self.groups.codes))
        ]

    @cached_property
    def texts(self) -> list[str]:
        """The retained samples as strings.

        An UnsupportedInputError is raised unless all samples, including dropped ones, are strings.
        """
        reason = "requires samples that are strings, got"
        if not isinstance(self.samples, list):
            raise UnsupportedInputError(f"{reason} {type(self.samples).__name__}")
        for i, sample in enumerate(self.samples):
            if not isinstance(sample, str):
                raise UnsupportedInputError(f"{reason} {type(sample).__name__} at index {i}")
        return [self.samples[i] for i in np.flatnonzero(self.row_of_input >= 0)]

    @cached_property
    def distances(self) -> np.ndarray:
        """The distance matrix that the caller passed as samples, with metric="precomputed"."""
        from ..similarity.distance_matrix import check_distances

        return check_distances(self.samples)

    @cached_property
    def build_reference_spaces(self) -> SpaceBuilder:
        """A function that takes the name of a solver and returns the space of the references.

        It returns a list with this metric space, or [] if there are no references. Its last result
        is cached.
        """
        return lru_cache(maxsize=1)(self._build_reference_spaces)

    def _build_reference_spaces(self, solver: SolverName) -> list[MetricSpace]:
        """Build the metric space of the references; return it in a list, [] without references.

        All subsets of this set share it. `solver` is the name of the solver for magnitude.
        """
        if self.references is None:
            return []
        from ..magnitude.metric_space_builder import as_spaces

        references = self.references
        if not (self.uses_row_distances or self.spec.metric == "precomputed"):
            references = self.similarities[1]
        return as_spaces([references], self.spec, ["references"], solver=solver)

    @cached_property
    def features(self) -> Rows:
        """The samples if they are numeric rows (n, d), otherwise the features of their kernel."""
        from ..similarity.distance_matrix import as_numpy_rows

        rows = as_numeric_rows(self.samples, self.spec)
        can_drop = self.spec.drop_unusable and self.spec.defines_similarity
        # If samples were dropped, `rows` still contains them, but features of the kernel do not.
        if rows is not None and not (can_drop and self.similarity.dropped):
            return rows if sp.issparse(rows) else as_numpy_rows(rows)
        check_features(self.similarity)
        return drop_empty_columns(self.similarity.features(), self.similarity)

    @property
    def n(self) -> int:
        """The number of samples, without those that on_error="skip" dropped."""
        return self.similarities[0].n if self.has_similarities else self.n_input

    @property
    def retained_indices(self) -> np.ndarray:
        """The index of each retained sample among all samples passed by the caller."""
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
    """A subset of the samples of `parent`, such as a group.

    It uses the kernel options and similarities of the parent set.

    Parameters
    ----------
    parent : SampleSet
        The parent set.
    indices : ndarray
        Indices of the samples of the subset among those passed by the caller for `parent`.
    name : str, default "this subset"
        Name of the subset in error messages.
    needs : frozenset of str, default frozenset({"similarity"})
        Views of the subset that measures use, such as "distances".
    """

    def __init__(
        self,
        parent: SampleSet,
        indices: np.ndarray,
        name: str = "this subset",
        needs: frozenset[str] = frozenset(("similarity",)),
    ) -> None:
        super().__init__(
            None,  # samples are taken from the parent on first use
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
        """Return a copy of the subset without its cached views, such as similarities.

        The copy has the notes of the subset and, if passed, the Vendi Scores `spectral`. It is used
        to free the memory of the cached views.
        """
        subset = SampleSubset(self.parent, self.indices, self.name, self.needs)
        subset.notes = self.notes
        if spectral is not None:
            subset.spectral = spectral
        return subset

    @cached_property
    def samples(self) -> Any:
        """The samples of the subset, or their similarity if samples cannot be taken by index.

        The second case is that of a Similarity, and of records that the caller passed as a table of
        columns instead of a list.
        """
        samples = self.parent.samples
        if has_own_similarity(samples, self.spec) and not isinstance(samples, list):
            return self.similarity
        return take_samples(samples, self.indices)

    @cached_property
    def has_similarities(self) -> bool:
        """True if similarities of the parent set are computed."""
        return self.parent.has_similarities

    @cached_property
    def similarities(self) -> list[Similarity]:
        """A list of the similarity of the subset and, if given, that of the references."""
        parent_similarity, *reference_similarity = self.parent.similarities
        return [similarity_subset(parent_similarity, self.rows), *reference_similarity]

    @cached_property
    def p(self) -> Array | None:
        """The weights of the n retained samples, divided by their sum; None if all are equal."""
        if self.parent.p is None:
            return None
        weights = self.parent.p[self.rows]
        if not weights.sum() > 0:
            raise ValueError(
                f"`p` must have a positive sum in {self.name}, got 0; remove the samples of "
                f"{self.name}"
            )
        return weights / weights.sum()

    def _build_spaces(self, solver: SolverName) -> list[MetricSpace]:
        """Build a list of the metric space of the subset and, if given, that of the references.

        The space of the references is shared with the parent set. `solver` is the name of the
        solver for magnitude.
        """
        parent = self.parent
        spec = parent.spec
        if spec.metric == "precomputed":
            samples = parent.distances[np.ix_(self.indices, self.indices)]
        else:
            samples = self.samples if parent.uses_row_distances else self.similarity
        from ..magnitude.metric_space_builder import as_spaces

        spaces = as_spaces([samples], spec, ["samples"], solver=solver)
        return [*spaces, *parent.build_reference_spaces(solver)]

    @property
    def n_input(self) -> int:
        """The number of samples of the subset, including dropped ones."""
        return len(self.indices)

    @cached_property
    def row_of_input(self) -> np.ndarray:
        """For each sample of the subset, the index of its row in the similarity of the parent set.

        It is −1 for a dropped sample.
        """
        return self.parent.row_of_input[self.indices]

    @cached_property
    def rows(self) -> np.ndarray:
        """For each retained sample of the subset, the index of its row in the parent's similarity.

        The parent is the set from which the subset was taken.
        """
        rows = self.row_of_input[self.row_of_input >= 0]
        if not len(rows):
            raise ValueError(
                f"{self.name} must contain a usable sample, got none; remove {self.name}"
            )
        return rows


def has_own_similarity(samples: Samples, spec: SimilaritySpec) -> bool:
    """Return whether samples are a Similarity, or records with a kernel for each column.

    In the second case, `spec` defines a mixture of kernels.
    """
    return isinstance(samples, Similarity) or isinstance(spec.k, tuple)


def check_features(K: Similarity) -> None:
    """Raise an UnsupportedInputError if a similarity K has no features, or is an n-gram kernel.

    It is called for measures of feature columns. Those of n-gram kernels are not comparable between
    sets: the columns and their scale depend on all samples of a set.
    """
    if K.dim is None or TEXT_KERNEL in str(K.settings.get("kernel")):
        raise UnsupportedInputError(
            f"requires samples that are vectors, or a kernel with features, but got {K!r}"
        )


def drop_empty_columns(F: Rows, K: Similarity) -> Rows:
    """Drop feature columns of F that are 0 for all samples, such as labels of other groups.

    F (n, d) are features of the samples of the similarity K. Columns are dropped only if each of
    them corresponds to an item of a vocabulary, such as a label.
    """
    if not K.vocabulary_columns:
        return F
    return F[:, np.flatnonzero(to_host(abs(F).sum(axis=0)))]


def as_numeric_rows(samples: Samples, spec: SimilaritySpec) -> Rows:
    """Return the samples if they are vectors or numbers, otherwise None.

    The result is also None for a similarity matrix, for a kernel of samples other than vectors, and
    for samples conditioned on prompts, whose features are not the rows that were passed.
    """
    if (
        has_own_similarity(samples, spec)
        or spec.input_form == "K"
        or spec.conditioning_prompts is not None
    ):
        return None
    if isinstance(spec.k, Kernel) and spec.k.samples != "vectors":
        return None  # numbers may be class labels, and arrays may be images
    first = samples[0] if isinstance(samples, list) else samples
    is_numeric = isinstance(first, (int, float, list, tuple)) or hasattr(first, "dtype")
    return samples if is_numeric else None
