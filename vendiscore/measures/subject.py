"""Subjects of measures: samples, and views of them, each found once, when first asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import sparse as sp
from ..arrays.inputs import choose
from ..arrays.members import members_of
from ..arrays.pools import size
from ..arrays.weights import check_weights
from ..core.arguments import DEFAULT_ORDER
from ..core.errors import SampleError
from ..core.namespace import Array, to_host
from ..core.shares import PSD
from ..core.types import Record, Rows, Samples, Weights
from ..distances.all_pairs import check_distances, numpy_rows
from ..magnitude.parameters import Solving
from ..magnitude.space import MetricSpace
from ..magnitude.spaces_of_samples import as_spaces, derived_options, of_rows
from ..registry.kernel import Kernel
from ..resolve.group_labels import Groups, check_size
from ..resolve.kernel_request import How
from ..resolve.sets import apart, is_whole, part_of, resolve_pool, resolve_sets
from ..similarity.base import Similarity
from ..spectral.estimate import Estimating
from ..spectral.vendi import Spectral, vendi
from .both import Both, SampleSet

_VIEWS = ("samples", "similarities", "spaces", "features", "eigen", "ordinariness", "both")
NO_GROUPS = "pass `groups`, a label for each sample, or the samples as a list of lists"


class UnsuitedError(TypeError):
    """Input that a measure needs, and the samples that came instead."""


class Subject(SampleSet):
    """A set of samples, how they are compared, and references: what a measure is a function of.

    Each view of the samples is found when first asked for, and kept. Both sets are compared
    together; of a part, such as a group, its `whole` is, and the samples at `places` are taken.

    Parameters
    ----------
    samples, references : list, array, Similarity, MetricSpace, or what a mixture compares
        The set, and (optional) another that it is held against.
    how, name : How, str
        Comparison of the samples, and their name in errors.
    orders : sequence of float
        For measures that have an order q.
    p : array_like (n,), optional
        Weights of the samples, as they were given.
    psd : {"check", "clip"}
    groups : Groups, optional
        Which samples belong together.
    in_parts, pooled : bool, collection of str
        Whether no measure looks at more than `parts`; what measures need of `both` sets at once
        ("similarity", …).
    estimating : Estimating, optional
        How Vendi Scores may be estimated, if that will do.

    Examples
    --------
    >>> from vendiscore import as_similarity
    >>> subject = Subject(as_similarity(["red", "red", "blue"], k="labels"))
    >>> subject.n, subject.spectrum.values.round(3)
    (3, array([0.667, 0.333]))
    """

    def __init__(
        self,
        samples: Samples | None,
        how: How | None = None,
        *,
        name: str = "samples",
        references: Samples | None = None,
        orders: Sequence[float] = (DEFAULT_ORDER,),
        p: Weights | None = None,
        psd: PSD = "check",
        groups: Groups | None = None,
        in_parts: bool = False,
        pooled: Collection[str] = (),
        estimating: Estimating | None = None,
    ) -> None:
        self.samples = samples
        self.how: How = how or How()
        self.references = references
        self.psd: PSD = psd
        self.orders: list[float] = list(orders)
        self.given_weights = p
        self.groups = groups
        self.in_parts = in_parts
        self.pooled = pooled
        self.name = name
        self.estimating = estimating
        self.solver: Solving = "auto"  # for the weights of magnitude, of all parts
        self.names: list[str] = (
            [name] if references is None else [name, "references"]
        )  # as errors call them
        self.whole: Subject = self
        self.is_part = False
        self.notes: list[str] = []  # what measures have to say of their numbers
        self.settings: Record = {}  # and what they have read samples by, for the signature

    def part(self, places: np.ndarray, name: str = "this part") -> Subject:
        """Return the samples at some places, as a set of their own."""
        part = Subject(None, self.how, name=name, orders=self.orders, psd=self.psd)
        del part.samples  # which are chosen when they are asked for
        part.whole, part.is_part, part.places = self, True, places
        part.references, part.names = self.references, self.names
        return part

    @cached_property
    def samples(self) -> Any:
        """The samples of a part themselves, where they have parts."""
        whole = self.whole.samples
        if is_whole(whole, self.how) and not isinstance(whole, list):
            return self.similarity
        return choose(whole, self.places)

    @property
    def sets(self) -> list[Any]:
        """The samples, and the references if there are any."""
        return [self.samples] if self.references is None else [self.samples, self.references]

    def forget(self) -> None:
        """Drop what takes memory, but for eigenvalues; it is found again if it is asked for."""
        for view in _VIEWS:
            self.__dict__.pop(view, None)

    @cached_property
    def similarities(self) -> list[Similarity]:
        """The Similarity of the samples, and of the references if there are any."""
        if self.is_part:
            pool, *others = self.whole.similarities
            return [part_of(pool, self.rows), *others]
        sets = self.sets
        if any(isinstance(samples, MetricSpace) for samples in sets):
            raise TypeError(
                "a MetricSpace has distances and no similarities: pass the samples themselves, or "
                "leave measures of similarities out of `measures`"
            )
        if "similarity" in self.pooled or (self.pooled and not self.of_rows):
            return apart(*self.pool)
        return resolve_sets(sets, self.how, self.names, in_parts=self.in_parts)

    @cached_property
    def pool(self) -> tuple[Similarity, np.ndarray]:
        """The similarity of all samples and references that came in, and where each set begins."""
        return resolve_pool(self.sets, self.how_of_parts, self.names)

    @cached_property
    def both(self) -> Both:
        """The samples and the references as one set."""
        return Both(self)

    @property
    def of_rows(self) -> bool:
        """True if distances are between rows of numbers, and not from the kernel."""
        return of_rows(self.sets, self.how)

    @cached_property
    def places(self) -> np.ndarray:
        """The places of its samples among all that came in."""
        return np.arange(self.came)

    @property
    def similarity(self) -> Similarity:
        """The Similarity of the samples, with unit diagonal."""
        return self.similarities[0]

    @property
    def compared(self) -> bool:
        """True if samples have similarities; rows of numbers have none without a kernel."""
        return self.how.says_similarity or self.vectors is None

    @cached_property
    def p(self) -> Array | None:
        """Weights (n,) that sum to 1, or None; of a part among each other."""
        if self.is_part:
            if self.whole.p is None:
                return None
            weights = self.whole.p[self.rows]
            if not weights.sum() > 0:
                raise ValueError(
                    f"`p` gives no weight to {self.name}, which therefore has no score; leave its "
                    "samples out"
                )
            return weights / weights.sum()
        if self.given_weights is None:
            return None
        if not self.compared:
            return check_weights(self.given_weights, self.came, groups=self.groups)
        K = self.similarity
        return check_weights(self.given_weights, K.n, K.dropped, K.diagonal(), self.groups)

    @cached_property
    def spectral(self) -> Spectral:
        """Vendi Scores of all orders; from the spectrum, where somebody has asked for it."""
        known = self.__dict__.get("eigen", self.__dict__.get("spectrum"))
        K, p = self.similarity, self.p
        return vendi(K, self.orders, p, self.psd, spectrum=known, estimating=self.estimating)

    @cached_property
    def spaces(self) -> list[MetricSpace]:
        """The samples, and the references, at their distances."""
        if not self.is_part:
            sets, names = self.sets, self.names
            return as_spaces(sets, self.how, names, lambda: self.similarities, self.solver)
        whole, how = self.whole, self.whole.how_of_parts
        if how.metric == "precomputed":
            own = whole.distances[np.ix_(self.places, self.places)]
        else:
            own = self.samples if whole.of_rows else self.similarity
        spaces = as_spaces([own], how, ["samples"], solver=whole.solver)
        return [*spaces, *whole.reference_spaces]

    @property
    def space(self) -> MetricSpace:
        """The samples at the distances of a metric, or of their kernel, √(2 − 2k)."""
        return self.spaces[0]

    def solved(self, solver: Solving) -> list[MetricSpace]:
        """Return the spaces, whose weights `solver` solves for; a MetricSpace keeps its own."""
        spaces = self.__dict__.get("spaces")
        if self.whole.solver != solver or (spaces and spaces[0].solver.method != solver):
            self.whole.solver = solver
            self.__dict__.pop("spaces", None)
            self.whole.__dict__.pop("reference_spaces", None)
        return self.spaces

    @property
    def came(self) -> int:
        """The number of samples that came in, with those that are left out."""
        if self.is_part:
            return len(self.places)
        of_columns = isinstance(self.how.k, tuple) and not isinstance(self.samples, Similarity)
        counted = self.similarity if of_columns else self.samples
        if isinstance(counted, (Similarity, MetricSpace)):
            return counted.n + len(getattr(counted, "dropped", ()))
        return size(counted)

    @cached_property
    def rows_came(self) -> np.ndarray:
        """The row of the similarity for each sample that came in; −1 for those left out."""
        if self.is_part:
            return self.whole.rows_came[self.places]
        made = isinstance(self.samples, Similarity) or isinstance(self.how.k, tuple)
        some = made or (self.how.skip and self.compared)
        kept = np.setdiff1d(np.arange(self.came), list(self.similarity.dropped) if some else [])
        rows = np.full(self.came, -1)
        rows[kept] = np.arange(len(kept))
        return rows

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of a part's samples in the similarity of the whole."""
        rows = self.rows_came[self.rows_came >= 0]
        if not len(rows):
            raise ValueError(
                f"{self.name} has no sample that can be used, and so no score; leave it out"
            )
        return rows

    @cached_property
    def parts(self) -> list[Subject]:
        """The groups as sets of their own, in the order of their labels."""
        if self.groups is None:
            raise ValueError(NO_GROUPS)
        check_size(self.groups, self.came)
        return [
            self.part(places, self.groups.named(group))
            for group, places in enumerate(members_of(self.groups.codes))
        ]

    @cached_property
    def how_of_parts(self) -> How:
        """Distances of parts are found as follows: with what the metric derives from whole sets."""
        derived = derived_options(self.sets, self.how, self.names)
        if not derived:
            return self.how
        return replace(self.how, metric_options={**self.how.metric_options, **derived})

    @cached_property
    def texts(self) -> list[str]:
        """The samples, which must be strings, less those that were left out."""
        if not isinstance(self.samples, list):
            raise UnsuitedError(f"samples that are strings, got {type(self.samples).__name__}")
        for i, sample in enumerate(self.samples):
            if not isinstance(sample, str):
                raise UnsuitedError(f"samples that are strings, got {type(sample).__name__} at {i}")
        return [text for text, row in zip(self.samples, self.rows_came, strict=True) if row >= 0]

    @cached_property
    def distances(self) -> np.ndarray:
        """The matrix that was given as distances."""
        return check_distances(self.samples)

    @cached_property
    def reference_spaces(self) -> list[MetricSpace]:
        """The references at their distances, if there are any, for all parts."""
        if self.references is None:
            return []
        if self.of_rows or self.how.metric == "precomputed":
            how, references = self.how_of_parts, self.references
        else:
            how, references = self.how, self.similarities[1]
        return as_spaces([references], how, ["references"], solver=self.solver)

    @cached_property
    def features(self) -> Rows:
        """The samples as rows of numbers (n, d), or the features of their kernel."""
        rows = self.vectors
        if rows is not None:
            return rows if sp.issparse(rows) else numpy_rows(rows)
        check_features(self.similarity)
        return own_columns(self.similarity.features(), self)

    @property
    def n(self) -> int:
        """The number of samples, less those that were left out."""
        if "similarities" in self.__dict__ or "pool" in self.whole.__dict__:
            return self.similarity.n
        return self.space.n if "spaces" in self.__dict__ else self.came

    @property
    def seen(self) -> list[MetricSpace]:
        """The spaces, where some measure has looked at them."""
        return self.spaces if "spaces" in self.__dict__ else []

    @property
    def vectors(self) -> Rows:
        """The samples themselves where they are compared as vectors or numbers, else None."""
        rows = rows_of_numbers(self.samples, self.how)
        some = rows is not None and self.how.says_similarity and self.similarity.dropped
        return None if some else rows

    @property
    def places_kept(self) -> np.ndarray:
        """The place of each sample that was not left out, among all that came in."""
        return self.places[self.rows_came >= 0]

    @contextmanager
    def located(self) -> Iterator[None]:
        """Name samples in errors by their places among all that came in."""
        try:
            yield
        except SampleError as error:
            raise error.at(self.places_kept) from error.__cause__


def check_features(K: Similarity) -> None:
    """Raise for a similarity without features."""
    if K.dim is None:
        wanted = "samples that are vectors or a kernel that has features"
        raise UnsuitedError(f"{wanted}, got {type(K).__name__}")


def own_columns(F: Rows, subject: Subject) -> Rows:
    """Drop columns without a number, such as the words of other groups, from a kernel's features.

    Columns that depend on no sample, such as the columns of an encoder, stay.
    """
    how = subject.how
    if isinstance(subject.whole.samples, Similarity) or how.given:
        return F
    if isinstance(how.k, tuple):
        fixed = all(part.kernel.rows for part in how.k)
    else:
        fixed = isinstance(how.k, Kernel) and how.k.rows
    if fixed:
        return F
    return F[:, np.flatnonzero(to_host(abs(F).sum(axis=0)))]


def rows_of_numbers(samples: Samples, how: How) -> Rows:
    """Return the samples themselves where they are compared as vectors or numbers, else None."""
    k = how.k
    given = how.given == "K" or how.prompts is not None
    if isinstance(k, tuple) or given or isinstance(samples, Similarity):
        return None
    if isinstance(k, Kernel) and k.samples != "vectors":
        return None  # numbers may name classes, and arrays be images
    first = samples[0] if isinstance(samples, list) else samples
    numbers = isinstance(first, (int, float, list, tuple, np.generic)) or hasattr(first, "dtype")
    return samples if numbers else None
