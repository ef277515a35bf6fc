"""Subjects of measures: samples, and views of them, each found once, when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.eigenvalues import PSD
from ..resolve.kernel import Kernel
from ..resolve.kernel_build import TEXT_KERNEL
from ..resolve.kernel_request import How
from ..resolve.sample_labels import count_passed, sizes_of
from ..resolve.sets import (
    is_space,
    part_of,
    resolve_sets,
    split_pooled,
)
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.sample_arrays import take_samples
from ..spectral.estimate import EstimateOptions
from ..spectral.spectrum import ScoresByOrder, Spectrum
from ..spectral.vendi_scores import compute_spectrum, compute_vendi_scores
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, asarray_like, to_host
from ..support.types import Record, Rows, SampleContainer, Samples, Weights
from .measure import OF_SIMILARITIES

# What is cached of the samples themselves, and the caches of spaces.
_NOT_PICKLED = ("samples", "both", "features", "texts", "solved", "reference_spaces")

if TYPE_CHECKING:
    from ..magnitude.parameters import Solving
    from ..magnitude.space import MetricSpace
    from ..resolve.sample_labels import Groups
    from .both import Both

    Solve = Callable[[Solving], list[MetricSpace]]


class UnsuitedError(TypeError):
    """Input that a measure needs, and the samples that were passed instead."""


@dataclass(eq=False, repr=False)
class Subject:
    """A set of samples, how they are compared, and references: what a measure is a function of.

    Each view of the samples is found when first asked for, and kept; `needs` alone decides how it
    is found, whatever is asked first. Both sets are compared together.

    Parameters
    ----------
    given, references : list, array, Similarity, MetricSpace, or what a mixture compares
        The set, and (optional) another that it is held against.
    how, name : How, str
        Comparison of the samples, and their name in errors.
    orders : sequence of float
        For measures that have an order q.
    weights : array_like (n,), optional
        Of the samples, as they were passed.
    psd : {"check", "clip"}
    groups : Groups, optional
        Which samples belong together.
    needs, needs_of_parts, pooled : frozenset of str
        What measures need of the samples, of each of `parts`, and of `both` sets at once:
        "similarity", "scores" (of Vendi), "eigenvectors", "distances", "features", "samples".
    estimating : EstimateOptions, optional
        How Vendi Scores may be estimated, if that will do.
    solver : {"auto", "cg", "cholesky"}
        For the weights of magnitude, unless a measure asks for another.

    Examples
    --------
    >>> from vendiscore import as_similarity
    >>> subject = Subject(as_similarity(["red", "red", "blue"], k="labels"))
    >>> subject.n, subject.spectrum.values.round(3)
    (3, array([0.667, 0.333]))
    """

    given: Any
    how: How = field(default_factory=How)
    _: KW_ONLY
    name: str = "samples"
    references: Samples | None = None
    orders: Sequence[float] = (DEFAULT_ORDER,)
    weights: Weights | None = None
    psd: PSD = "check"
    groups: Groups | None = None
    needs: frozenset[str] = frozenset(("similarity",))
    needs_of_parts: frozenset[str] = frozenset()
    pooled: frozenset[str] = frozenset()
    estimating: EstimateOptions | None = None
    solver: Solving = "auto"

    def __post_init__(self) -> None:
        self.names: list[str] = [self.name]  # as errors call the sets
        if self.references is not None:
            self.names.append("references")
        self.whole: Subject = self
        self.notes: list[str] = []  # what measures have to say of their numbers
        self.settings: Record = {}  # and what they have read samples by, for the signature

    def __getstate__(self) -> Record:
        """Return the similarities of the samples, in place of the samples and of how they compare.

        Both may hold what cannot be pickled, such as a function.
        """
        state = {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}
        state |= {name: getattr(self, name) for name in ("similarities", "p", "rows_of_passed")}
        state |= {"given": self.similarity, "how": How(), "references": None}
        return state

    @cached_property
    def samples(self) -> Any:
        """The samples themselves."""
        return self.given

    def decompose(self) -> Spectrum:
        """Find the eigenvectors now, off which scores are then read; raise if there are none."""
        self.needs |= {"eigenvectors"}
        return self.eigen

    @property
    def sets(self) -> list[SampleContainer]:
        """The samples, and the references if there are any."""
        return [self.samples] if self.references is None else [self.samples, self.references]

    @cached_property
    def has_similarities(self) -> bool:
        """True if similarities are found: for a measure, or to leave out some samples."""
        needs = self.needs | self.needs_of_parts | self.pooled
        made = isinstance(self.how.k, tuple) or isinstance(self.samples, Similarity)
        if made or needs & OF_SIMILARITIES or (self.how.skip and self.how.says_similarity):
            return True
        need_rows = self.how.skip or "features" in needs
        if need_rows and rows_of_numbers(self.samples, self.how) is None:
            return True
        given = is_space(self.samples) or self.how.metric == "precomputed"
        return "distances" in needs and not (given or self.of_rows)

    @cached_property
    def in_parts(self) -> bool:
        """True if samples of two groups are not compared: no measure looks at more than `parts`."""
        return self.groups is not None and self.weights is None and not (self.needs | self.pooled)

    @cached_property
    def similarities(self) -> list[Similarity]:
        """The Similarity of the samples, and of the references if there are any."""
        sets = self.sets
        if any(map(is_space, sets)):
            raise TypeError(
                "a MetricSpace has distances and no similarities: pass the samples themselves, or "
                "leave measures of similarities out of `measures`"
            )
        if "similarity" in self.pooled or (self.pooled and not self.of_rows):
            return split_pooled(self.both.similarity, sizes_of(sets, self.how))
        return resolve_sets(sets, self.how, self.names, in_parts=self.in_parts)

    @cached_property
    def both(self) -> Both:
        """The samples and the references as one set."""
        from .both import Both

        return Both(self)

    @property
    def of_rows(self) -> bool:
        """True if distances are between rows of numbers, and not from the kernel."""
        from ..magnitude.spaces_of_samples import of_rows

        return of_rows(self.sets, self.how)

    @cached_property
    def places(self) -> np.ndarray:
        """The places of its samples among all that were passed."""
        return np.arange(self.n_passed)

    @property
    def roundoff(self) -> float:
        """The spacing of the numbers that the samples were passed in, if they have similarities."""
        return self.similarities[0].roundoff if self.has_similarities else 0.0

    @property
    def similarity(self) -> Similarity:
        """The Similarity of the samples, with unit diagonal."""
        return self.similarities[0]

    @cached_property
    def p(self) -> Array | None:
        """Weights (n,) that sum to 1, or None; of a part among each other."""
        if self.weights is None:
            return None
        from ..similarity.weights import check_weights

        if not self.has_similarities:
            return check_weights(self.weights, self.n_passed, groups=self.groups)
        K = self.similarity
        return check_weights(self.weights, K.n, K.dropped, K.diagonal(), self.groups)

    @cached_property
    def eigen(self) -> Spectrum:
        """The spectrum with its eigenvectors, which tell what each sample adds."""
        return compute_spectrum(self.similarity, self.p, self.psd, vectors=True)

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p: how similar a random sample is to each."""
        K = self.similarity
        p = np.full(K.n, 1 / K.n) if self.p is None else self.p
        p = asarray_like(p, K.diagonal())
        return p, K.matmul(p)

    @cached_property
    def spectral(self) -> ScoresByOrder:
        """Vendi Scores of all orders, read off the eigenvectors where these are needed.

        Of several groups they are in double precision: measures divide them by scores of each.
        """
        known = self.eigen if "eigenvectors" in self.needs else None
        return compute_vendi_scores(
            self.similarities[0],
            self.orders,
            self.p,
            self.psd,
            spectrum=known,
            estimate_options=self.estimating,
            allow_single=self.groups is None,
        )

    @property
    def needed_spectrum(self) -> Spectrum | None:
        """The spectrum that measures need anyway, which may be good for some orders only."""
        if "eigenvectors" in self.needs:
            return self.eigen
        return self.spectral.spectrum if "scores" in self.needs else None

    @cached_property
    def spectrum(self) -> Spectrum:
        """The spectrum, as good for every order."""
        known = self.needed_spectrum
        if known is None or known.single_precision:
            return compute_spectrum(self.similarity, self.p, self.psd)
        return known

    @cached_property
    def solved(self) -> Solve:
        """A function that returns `spaces` of a solver, and remembers those of the last one."""
        return lru_cache(maxsize=1)(self._solved)

    def _solved(self, solver: Solving) -> list[MetricSpace]:
        """Return the samples, and the references, at their distances.

        Weights of magnitude are solved for by `solver`; a MetricSpace keeps its own.
        """
        from ..magnitude.spaces_of_samples import as_spaces

        return as_spaces(self.sets, self.how, self.names, lambda: self.similarities, solver)

    @property
    def spaces(self) -> list[MetricSpace]:
        """The samples, and the references, at their distances, if measures need these."""
        return self.solved(self.solver) if "distances" in self.needs else []

    @property
    def space(self) -> MetricSpace:
        """The samples at the distances of a metric, or of their kernel, √(2 − 2k)."""
        return self.solved(self.solver)[0]

    @property
    def n_passed(self) -> int:
        """The number of samples that were passed, with those left out."""
        of_columns = isinstance(self.how.k, tuple) and not isinstance(self.samples, Similarity)
        return count_passed(self.similarity if of_columns else self.samples)

    @cached_property
    def rows_of_passed(self) -> np.ndarray:
        """The row of the similarity for each sample that was passed; −1 for those left out."""
        kept = np.ones(self.n_passed, bool)
        if self.has_similarities:
            kept[list(self.similarity.dropped)] = False
        return np.where(kept, np.cumsum(kept) - 1, -1)

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of its samples in the similarity of the whole."""
        return np.arange(self.similarity.n)

    @property
    def codes(self) -> np.ndarray:
        """The group of each sample that was not left out, as its number."""
        assert self.groups is not None
        return self.groups.codes[self.rows_of_passed >= 0]

    @cached_property
    def parts(self) -> list[Part]:
        """The groups as sets of their own, in the order of their labels."""
        assert self.groups is not None
        from ..similarity.group_indices import group_indices

        return [
            Part(self, places, self.groups.describe(group), self.needs_of_parts)
            for group, places in enumerate(group_indices(self.groups.codes))
        ]

    @cached_property
    def texts(self) -> list[str]:
        """The samples, which must be strings, less those that were left out."""
        expected = "samples that are strings"
        if not isinstance(self.samples, list):
            raise UnsuitedError(f"{expected}, got {type(self.samples).__name__}")
        for i, sample in enumerate(self.samples):
            if not isinstance(sample, str):
                raise UnsuitedError(f"{expected}, got {type(sample).__name__} at {i}")
        return [self.samples[i] for i in np.flatnonzero(self.rows_of_passed >= 0)]

    @cached_property
    def distances(self) -> np.ndarray:
        """The matrix that was given as distances."""
        from ..similarity.distance_matrix import check_distances

        return check_distances(self.samples)

    @cached_property
    def reference_spaces(self) -> Solve:
        """A function that returns the references at their distances, as `solved` does."""
        return lru_cache(maxsize=1)(self._reference_spaces)

    def _reference_spaces(self, solver: Solving) -> list[MetricSpace]:
        """Return the references at their distances, if there are any, for all parts."""
        if self.references is None:
            return []
        from ..magnitude.spaces_of_samples import as_spaces

        references = self.references
        if not (self.of_rows or self.how.metric == "precomputed"):
            references = self.similarities[1]
        return as_spaces([references], self.how, ["references"], solver=solver)

    @cached_property
    def features(self) -> Rows:
        """The samples as rows of numbers (n, d), or the features of their kernel."""
        from ..similarity.distance_matrix import as_numpy_rows

        rows = rows_of_numbers(self.samples, self.how)
        skip = self.how.skip and self.how.says_similarity
        if rows is not None and not (skip and self.similarity.dropped):
            return rows if sp.issparse(rows) else as_numpy_rows(rows)
        check_features(self.similarity)
        return drop_empty_columns(self.similarity.features(), self.similarity)

    @property
    def n(self) -> int:
        """The number of samples, less those that were left out."""
        return self.similarities[0].n if self.has_similarities else self.n_passed

    @property
    def places_kept(self) -> np.ndarray:
        """The place of each sample that was not left out, among all that were passed."""
        return self.places[self.rows_of_passed >= 0]


class Part(Subject):
    """The samples of a whole at some places, such as a group: compared as the whole is."""

    def __init__(
        self,
        whole: Subject,
        places: np.ndarray,
        name: str = "this part",
        needs: frozenset[str] = frozenset(("similarity",)),
    ) -> None:
        super().__init__(
            None,
            whole.how,
            name=name,
            references=whole.references,
            orders=whole.orders,
            psd=whole.psd,
            needs=needs,
            solver=whole.solver,
        )
        self.names = whole.names
        self.whole = whole
        self.places = places

    def afresh(self, spectral: ScoresByOrder | None = None) -> Part:
        """Return the part with its notes and scores alone, so that no view of it takes memory."""
        part = Part(self.whole, self.places, self.name, self.needs)
        part.notes = self.notes
        if spectral is not None:
            part.spectral = spectral
        return part

    @cached_property
    def samples(self) -> Any:
        """The samples themselves, where they have parts."""
        whole = self.whole.samples
        if is_whole(whole, self.how) and not isinstance(whole, list):
            return self.similarity
        return take_samples(whole, self.places)

    @cached_property
    def has_similarities(self) -> bool:
        """True if the samples of the whole have similarities."""
        return self.whole.has_similarities

    @cached_property
    def similarities(self) -> list[Similarity]:
        """The Similarity of the samples, and of the references if there are any."""
        pool, *others = self.whole.similarities
        return [part_of(pool, self.rows), *others]

    @cached_property
    def p(self) -> Array | None:
        """Weights (n,) that sum to 1, or None; of a part among each other."""
        if self.whole.p is None:
            return None
        weights = self.whole.p[self.rows]
        if not weights.sum() > 0:
            raise ValueError(
                f"`p` gives no weight to {self.name}, which therefore has no score; leave its "
                "samples out"
            )
        return weights / weights.sum()

    def _solved(self, solver: Solving) -> list[MetricSpace]:
        whole = self.whole
        how = whole.how
        if how.metric == "precomputed":
            samples = whole.distances[np.ix_(self.places, self.places)]
        else:
            samples = self.samples if whole.of_rows else self.similarity
        from ..magnitude.spaces_of_samples import as_spaces

        spaces = as_spaces([samples], how, ["samples"], solver=solver)
        return [*spaces, *whole.reference_spaces(solver)]

    @property
    def n_passed(self) -> int:
        """The number of samples that were passed, with those left out."""
        return len(self.places)

    @cached_property
    def rows_of_passed(self) -> np.ndarray:
        """The row of the similarity for each sample that was passed; −1 for those left out."""
        return self.whole.rows_of_passed[self.places]

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of its samples in the similarity of the whole."""
        rows = self.rows_of_passed[self.rows_of_passed >= 0]
        if not len(rows):
            raise ValueError(
                f"{self.name} has no sample that can be used, and so no score; leave it out"
            )
        return rows


def is_whole(samples: Samples, how: How) -> bool:
    """Return whether samples are a Similarity, or records of which kernels see columns."""
    return isinstance(samples, Similarity) or isinstance(how.k, tuple)


def check_features(K: Similarity) -> None:
    """Raise for a similarity without features, or whose columns stand for many n-grams."""
    if K.dim is None or TEXT_KERNEL in str(K.settings.get("kernel")):
        raise UnsuitedError(f"samples that are vectors or a kernel that has features, got {K!r}")


def drop_empty_columns(F: Rows, K: Similarity) -> Rows:
    """Drop columns that no sample of the set has, such as the labels of other groups."""
    if not K.vocabulary_columns:
        return F
    return F[:, np.flatnonzero(to_host(abs(F).sum(axis=0)))]


def rows_of_numbers(samples: Samples, how: How) -> Rows:
    """Return the samples themselves where they are compared as vectors or numbers, else None."""
    if is_whole(samples, how) or how.given == "K" or how.prompts is not None:
        return None
    if isinstance(how.k, Kernel) and how.k.samples != "vectors":
        return None  # numbers may name classes, and arrays be images
    first = samples[0] if isinstance(samples, list) else samples
    numbers = isinstance(first, (int, float, list, tuple)) or hasattr(first, "dtype")
    return samples if numbers else None
