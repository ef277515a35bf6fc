"""Measures of diversity by name: several in one call read one Similarity.

`compute(samples, measures=["VS", "IntDiv", "MagArea"])` finds the similarity once and asks each
measure for its number. A measure of your own is a function of a `Subject`:

    @register_measure("MaxSim", needs="similarity", range="[0, 1]", direction="lower",
                      source="this docstring")
    def largest_similarity(subject):
        '''The largest similarity of two different samples.'''
        K = subject.similarity.dense()
        np.fill_diagonal(K, 0)
        return K.max()
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

from ..arguments import is_several
from ..arrays.distances import numpy_rows
from ..arrays.namespace import (
    Array,
    as_kind_of,
    is_numpy,
    is_torch,
    namespace,
    refuse_gradient,
    scalar,
    to_host,
)
from ..hints import suggestion
from ..magnitude.area import mag_area
from ..magnitude.distances import as_space
from ..magnitude.space import MetricSpace
from ..similarity.base import Similarity
from ..spectral.hill import log_power_mean
from ..spectral.spectrum import PSD
from ..spectral.vendi import Spectral, vendi

Needs = Literal["similarity", "distances", "features"]
Compute = TypeVar("Compute", bound=Callable[["Subject"], Any])


@dataclass
class Subject:
    """What measures look at; everything costly is found once, when first asked for.

    Attributes
    ----------
    similarity : Similarity
        With unit diagonal.
    orders : list of float
        For measures that have an order q.
    p : array (n,) or None
        Weights that sum to 1.
    psd : {"check", "clip"}
    rows : array_like or None
        The samples themselves where they are rows of numbers.
    """

    similarity: Similarity
    orders: list[float] = field(default_factory=lambda: [1.0])
    p: Array | None = None
    psd: PSD = "check"
    rows: Any = None

    @cached_property
    def spectral(self) -> Spectral:
        """Vendi Scores of all orders."""
        return vendi(self.similarity, self.orders, self.p, self.psd)

    @cached_property
    def space(self) -> MetricSpace:
        """The samples at the kernel's distances √(2 − 2k)."""
        return as_space(self.similarity, metric="kernel")

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p: how similar a random sample is to each."""
        diagonal = self.similarity.diagonal()
        n = self.similarity.n
        if self.p is None:
            p = namespace(diagonal).full_like(diagonal, 1 / n)
        else:
            p = as_kind_of(self.p, diagonal)
        if is_numpy(diagonal):
            return p, self.similarity.matmul(p)
        return p, self.similarity.dense() @ p

    @cached_property
    def features(self) -> Any:
        """The samples as rows of numbers (n, d), or the features of their kernel."""
        if self.rows is not None:
            refuse_gradient(self.rows, "GMStds")
            return self.rows if sp.issparse(self.rows) else numpy_rows(self.rows)
        if self.similarity.dim is not None:
            return self.similarity.features()
        raise TypeError(
            "GMStds needs samples that are vectors or a kernel that has features, got "
            f"{type(self.similarity).__name__}; leave it out of `measures`"
        )


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Attributes
    ----------
    name : str
    compute : callable
        `compute(subject)` returns a number, or one for each order if `ordered`.
    needs : {"similarity", "distances", "features"}
        What it reads; "distances" takes n² memory.
    range : str
        The values it can take, such as "[1, n]" for n samples or "[0, ∞)": a result outside of it
        is an error.
    direction : {"higher", "lower"}
        Which values mean more diversity.
    source : str
        Where it is defined.
    weighted : bool
        Whether it takes weights p.
    ordered : bool
        Whether it has an order q.
    """

    name: str
    compute: Callable[[Subject], Any]
    needs: Needs
    range: str
    direction: Literal["higher", "lower"]
    source: str
    weighted: bool = False
    ordered: bool = False

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def limits(self, n: int) -> tuple[float, float]:
        """What `range` says for n samples."""
        read = _RANGE.fullmatch(self.range)
        if read is None:
            raise ValueError(
                f"`range` of measure {self.name!r} must be two of a number, n and ∞ in brackets, "
                f"such as '[1, n]', got {self.range!r}"
            )
        low, high = (
            float(n) if text == "n" else float(text.replace("−", "-").replace("∞", "inf"))
            for text in read.groups()
        )
        return low, high

    def check(self, value: Any, n: int, rounding: float = 0.0) -> Any:
        """The value, if it is finite and in its range up to rounding, which is taken off it."""
        low, high = self.limits(n)
        found = scalar(value)
        slack = (RANGE_ROUNDING + 4 * rounding) * max(1.0, abs(found))
        if not (math.isfinite(found) and low - slack <= found <= high + slack):
            raise ValueError(
                f"{self.name} came out as {found:.6g}, outside of its range {self.range} for n={n} "
                f"samples; check the kernel for NaN, overflow and negative similarities"
            )
        return value if is_torch(value) else min(max(found, low), high)


# How far rounding may take a number out of its range, besides that of the samples.
RANGE_ROUNDING = 1e-9
_RANGE = re.compile(r"[\[(](n|[−∞\d.]+), (n|[−∞\d.]+)[\])]")
_measures: dict[str, Measure] = {}


def register_measure(
    name: str,
    *,
    needs: Needs,
    range: str,
    direction: Literal["higher", "lower"],
    source: str,
    weighted: bool = False,
    ordered: bool = False,
) -> Callable[[Compute], Compute]:
    """Decorator that makes a function of a Subject available in `measures=[name]`.

    See `Measure` for the arguments. A ValueError if the name is taken by a function defined
    elsewhere.
    """

    def register(compute: Compute) -> Compute:
        other = _measures.get(name)
        home = (compute.__module__, compute.__qualname__)
        if other and (other.compute.__module__, other.compute.__qualname__) != home:
            raise ValueError(f"measure {name!r} is already registered; choose another name")
        measure = Measure(name, compute, needs, range, direction, source, weighted, ordered)
        measure.limits(1)
        _measures[name] = measure
        return compute

    return register


def list_measures() -> list[Measure]:
    """All registered measures, by name.

    >>> [measure.name for measure in list_measures() if measure.ordered]
    ['LC', 'VS']
    """
    return sorted(_measures.values(), key=lambda measure: measure.name)


def get_measure(name: str) -> Measure:
    """The measure of that name; a ValueError that suggests one if there is none."""
    if name not in _measures:
        raise ValueError(f"unknown measure {name!r}. {suggestion(name, _measures)}")
    return _measures[name]


def check_measures(measures: Any, weighted: bool = False) -> list[Measure]:
    """The measures of one or several names, without repeats.

    Raises
    ------
    TypeError, ValueError
        For something else than names, unknown names, no name, or one that takes no weights.
    """
    names = [measures] if isinstance(measures, str) else measures
    if not is_several(names) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"`measures` must be a name or a list of names, got {measures!r}")
    chosen = [get_measure(name) for name in dict.fromkeys(names)]
    if not chosen:
        raise ValueError("`measures` is empty; pass measures=['VS'] or leave it out")
    without = [measure.name for measure in chosen if not measure.weighted]
    if weighted and without:
        raise ValueError(
            f"`p` cannot be used with {', '.join(without)}, which take no weights; leave out one "
            f"or the other"
        )
    return chosen


def measure_all(
    subject: Subject, measures: Iterable[Measure], keys: Iterable[str]
) -> dict[str, Any]:
    """{name: value} for each measure; those with an order get one for each of `keys`.

    `keys` are suffixes, one for each order of the subject: "" or "_q2".
    """
    keys = list(keys)
    scores: dict[str, Any] = {}
    for measure in measures:
        values = measure.compute(subject)
        named = [measure.name + key for key in keys] if measure.ordered else [measure.name]
        for key, value in zip(named, values if measure.ordered else [values], strict=True):
            scores[key] = measure.check(value, subject.similarity.n, subject.similarity.roundoff)
    return scores


@register_measure(
    "VS",
    needs="similarity",
    range="[1, n]",
    direction="higher",
    source="Friedman & Dieng, arXiv 2210.02410",
    weighted=True,
    ordered=True,
)
def vendi_score(subject: Subject) -> list[Any]:
    """The Vendi Score: the effective number of eigenvalues of the similarity matrix."""
    return subject.spectral.values


@register_measure(
    "LC",
    needs="similarity",
    range="[1, n]",
    direction="higher",
    source="Leinster & Cobbold, Ecology 2012",
    weighted=True,
    ordered=True,
)
def leinster_cobbold(subject: Subject) -> list[Any]:
    """The Leinster–Cobbold diversity (Σ p_i (Kp)_i^{q−1})^{1/(1−q)}, at most the Vendi Score."""
    p, ordinary = subject.ordinariness
    p, ordinary = p[p > 0], ordinary[p > 0]
    xp = namespace(ordinary)
    if not scalar(xp.min(ordinary)) > 0:
        i = int(xp.argmin(ordinary))
        raise ValueError(
            f"LC needs similarities of at least 0 on average, got {scalar(ordinary[i]):.3g} for "
            f"sample {i}; use a kernel without negative values"
        )
    logs = xp.log(ordinary)
    return [
        xp.exp(-xp.max(logs) if math.isinf(q) else log_power_mean(p, logs, q))
        for q in subject.orders
    ]


@register_measure(
    "IntDiv",
    needs="similarity",
    range="[0, 1]",
    direction="higher",
    source="Polykovskiy et al., MOSES, Frontiers in Pharmacology 2020; arXiv 2210.02410, §4",
    weighted=True,
)
def internal_diversity(subject: Subject) -> Any:
    """Internal diversity 1 − pᵀKp: the mean dissimilarity of two draws, self-pairs included."""
    p, ordinary = subject.ordinariness
    return 1 - p @ ordinary


@register_measure(
    "AvgSim",
    needs="similarity",
    range="[−1, 1]",
    direction="lower",
    source="Limbeck et al., arXiv 2311.16054, C.1",
)
def average_similarity(subject: Subject) -> Any:
    """The mean similarity of two different samples; 1 for a single one."""
    n = subject.similarity.n
    if n == 1:
        return 1.0
    p, ordinary = subject.ordinariness
    return (n * (p @ ordinary) - 1) / (n - 1)


@register_measure(
    "GMStds",
    needs="features",
    range="[0, ∞)",
    direction="higher",
    source="Lai et al., 2020; Limbeck et al., arXiv 2311.16054, C.1",
)
def geometric_mean_of_deviations(subject: Subject) -> float:
    """The geometric mean of the standard deviations of all columns; 0 if one is constant."""
    X = subject.features
    if sp.issparse(X):
        X = sp.csc_array(X).astype(np.float64)
        n = X.shape[0]
        ends = [np.asarray(end.toarray()).ravel() for end in (X.min(axis=0), X.max(axis=0))]
        mean = np.asarray(X.mean(axis=0)).ravel()
        stored = np.diff(X.indptr)
        gaps = (X.data - np.repeat(mean, stored)) ** 2
        column = np.repeat(np.arange(X.shape[1]), stored)
        squares = np.bincount(column, gaps, X.shape[1]) + (n - stored) * mean**2
        deviations = np.sqrt(squares / n)
    else:
        refuse_gradient(X, "GMStds")
        X = np.asarray(to_host(X), dtype=np.float64)
        ends = [X.min(axis=0), X.max(axis=0)]
        # Powers of two, which take no digit: squares of 1e200 overflow.
        top = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=0))[1] - 1)
        deviations = np.std(X / top, axis=0) * top
    # Of equal numbers the mean is another one, by rounding.
    if not (deviations > 0).all() or (ends[0] == ends[1]).any():
        return 0.0
    return float(np.exp(np.log(deviations).mean()))


@register_measure(
    "MagArea",
    needs="distances",
    range="[0, ∞)",
    direction="higher",
    source="Limbeck et al., arXiv 2311.16054, Definition 3.3",
)
def magnitude_area(subject: Subject) -> float:
    """The area under the magnitude function at the kernel's distances √(2 − 2k).

    It ends where the magnitude of as many samples that are all unlike each other (k = 0, distance
    √2) is 95 % of their number, so that areas of sets of one size can be compared; each set's own
    convergence scale would give the set of the closest samples the longest interval.
    """
    refuse_gradient(subject.similarity.diagonal(), "MagArea")
    n = subject.similarity.n
    if n == 1:
        return 0.0
    return mag_area(subject.space, t_cut=math.log((n - 1) * 0.95 / 0.05) / math.sqrt(2))
