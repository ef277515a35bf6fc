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
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

from .area import mag_area
from .arrays import Array, is_numpy, namespace, scalar
from .distances import numpy_rows
from .errors import suggestion
from .similarity import Similarity
from .space import MetricSpace, as_space
from .spectral import PSD, Spectral, vendi

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
        p = namespace(diagonal).full_like(diagonal, 1 / n) if self.p is None else self.p
        if is_numpy(diagonal):
            return p, self.similarity.matmul(p)
        return p, self.similarity.dense() @ p

    @cached_property
    def features(self) -> Any:
        """The samples as rows of numbers (n, d), or the features of their kernel."""
        if self.rows is not None:
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
        The values it can take, for n samples.
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
        _measures[name] = Measure(name, compute, needs, range, direction, source, weighted, ordered)
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
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
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
        if measure.ordered:
            named = [measure.name + key for key in keys]
            scores.update(zip(named, values, strict=True))
        else:
            scores[measure.name] = values
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
def leinster_cobbold(subject: Subject) -> list[float]:
    """The Leinster–Cobbold diversity (Σ p_i (Kp)_i^{q−1})^{1/(1−q)}, at most the Vendi Score."""
    p, ordinary = (np.asarray(_host(x), dtype=float) for x in subject.ordinariness)
    p, ordinary = p[p > 0], ordinary[p > 0]
    if ordinary.min() <= 0:
        i = int(np.argmin(ordinary))
        raise ValueError(
            f"LC needs similarities of at least 0 on average, got {ordinary[i]:.3g} for sample "
            f"{i}; use a kernel without negative values"
        )
    logs = np.log(ordinary)
    return [_power_mean(p, logs, q) for q in subject.orders]


def _power_mean(p: np.ndarray, logs: np.ndarray, q: float) -> float:
    """(Σ p e^{(q−1) logs})^{1/(1−q)} and its limits."""
    if q == 1:
        return float(np.exp(-p @ logs))
    if math.isinf(q):
        return float(np.exp(-logs.max()))
    exponents = (q - 1) * logs
    top = exponents.max()
    return float(np.exp((top + np.log(p @ np.exp(exponents - top))) / (1 - q)))


@register_measure(
    "IntDiv",
    needs="similarity",
    range="[0, 1 − 1/n] for k ≥ 0",
    direction="higher",
    source="Polykovskiy et al., MOSES, Frontiers in Pharmacology 2020; arXiv 2210.02410, §4",
    weighted=True,
)
def internal_diversity(subject: Subject) -> float:
    """Internal diversity 1 − pᵀKp: the mean dissimilarity of two draws, self-pairs included."""
    p, ordinary = subject.ordinariness
    return 1 - scalar(p @ ordinary)


@register_measure(
    "AvgSim",
    needs="similarity",
    range="[0, 1] for k ≥ 0",
    direction="lower",
    source="Limbeck et al., arXiv 2311.16054, C.1",
)
def average_similarity(subject: Subject) -> float:
    """The mean similarity of two different samples; 1 for a single one."""
    n = subject.similarity.n
    if n == 1:
        return 1.0
    p, ordinary = subject.ordinariness
    return (n * scalar(p @ ordinary) - 1) / (n - 1)


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
        mean = np.asarray(X.mean(axis=0)).ravel()
        variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        variances = np.var(_host(X), axis=0, dtype=np.float64)
    if not (variances > 0).all():
        return 0.0
    return float(np.exp(np.log(variances).mean() / 2))


@register_measure(
    "MagArea",
    needs="distances",
    range="[0, ∞)",
    direction="higher",
    source="Limbeck et al., arXiv 2311.16054, Definition 3.3",
)
def magnitude_area(subject: Subject) -> float:
    """The area under the magnitude function at the kernel's distances √(2 − 2k), to t_conv."""
    return mag_area(subject.space)


def _host(x: Array) -> Any:
    """An array outside of any differentiation and on the host."""
    return x if is_numpy(x) else x.detach().cpu().numpy()
