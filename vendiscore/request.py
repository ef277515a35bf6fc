"""What is asked for: all keywords, read and checked once, at the door; what follows trusts it.

The Vendi Score, magnitude and all other measures have one vocabulary: how samples are compared,
which measures of them, and the options of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .arguments import flag, is_several, number, one_of
from .arrays.metrics import METRIC_OPTIONS
from .measures.registry import Chosen, having, list_measures, read_measures
from .resolve.how import How, read_how, with_the_rest
from .spectral.spectrum import PSD

OWN = ("q", "p", "psd", "measures", "details")
PSDS: tuple[PSD, ...] = ("check", "clip")
PSD_REMEDY = "which raises for negative eigenvalues or sets them to zero"
# Keywords that only measures of distances have a use for.
_OF_DISTANCES = ("metric", "solver", *METRIC_OPTIONS)
# The measures that are meant where none is named, by the other keywords and the references.
Measures: TypeAlias = Mapping[str, Mapping[str, Any]]
Usual: TypeAlias = Callable[[Mapping[str, Any], Any], Measures]


def vendi_score(arguments: Mapping[str, Any], references: Any = None) -> Measures:
    """The usual measures of `compute`, and of the metric `vendiscore`."""
    return {"VS": {}}


def magnitudes(arguments: Mapping[str, Any], references: Any = None) -> Measures:
    """The usual measures of the metric `magnitude`: the area to the scale that is given beside."""
    if arguments.get("t") is not None:
        return {"Magnitude": {}}
    cut = {} if arguments.get("t_cut") is not None else {"t_cut": "t_conv"}
    return {"MagArea": cut, "t_conv": {}, **({} if references is None else {"MagDiff": {}})}


@dataclass(frozen=True)
class Request:
    """What to measure, of samples that are compared in some way.

    Attributes
    ----------
    how : How
    measures : tuple of Chosen
    orders : tuple of float
        Without repeats.
    several : bool
        Whether orders were given as several, so that keys of the result name them.
    p : array_like or None
        Weights, not looked at yet.
    psd : {"check", "clip"}
    details : bool
    """

    how: How
    measures: tuple[Chosen, ...]
    orders: tuple[float, ...] = (1.0,)
    several: bool = False
    p: Any = None
    psd: PSD = "check"
    details: bool = False

    @property
    def pairs(self) -> bool:
        """Whether some measure compares the samples with references."""
        return any(chosen.measure.references for chosen in self.measures)


def read_request(
    arguments: Mapping[str, Any],
    usual: Usual = vendi_score,
    references: Any = None,
    *,
    among_others: bool = False,
) -> Request:
    """Read the keywords of `compute`, but for the samples, which are not looked at.

    Parameters
    ----------
    arguments : mapping
    usual : callable
        Names the measures that are meant where `measures` is not given.
    references : anything, optional
        Whether there are some may decide which measures are usual.
    among_others : bool
        Keywords that no chosen measure has a use for are meant for other metrics, which
        `evaluate.combine` tells all of them, and no error.

    Raises
    ------
    TypeError, ValueError
        For keywords that are unknown, values that are refused, and keywords that would change
        nothing; the message names the argument and the remedy.
    """
    rest = {name: value for name, value in arguments.items() if name != "t" or value is not None}
    distances = [name for name in _OF_DISTANCES if not _unsaid(rest.get(name))]
    q, p, psd = rest.pop("q", 1), rest.pop("p", None), rest.pop("psd", "check")
    details = flag("details", rest.pop("details", False))
    names = rest.pop("measures", None)
    if names is None:
        names = usual(rest, references)
    how = read_how(rest)
    chosen = read_measures(names, rest)
    measures = [each.measure for each in chosen]
    orders = check_orders(q)
    psd = one_of("psd", psd, PSDS, PSD_REMEDY)
    said = ", ".join(measure.name for measure in measures)
    if among_others:
        rest = {name: value for name, value in rest.items() if not having(name)}
        p = p if all(measure.weighted for measure in measures) else None
    elif distances and not any(measure.needs == "distances" for measure in measures):
        raise TypeError(
            f"`{distances[0]}` is about distances, which {said} does not look at; leave it out, or "
            f"name a measure of distances such as 'MagArea' in `measures`"
        )
    _check_one_way(how, measures, said)
    if p is not None and (without := [m.name for m in measures if not m.weighted]):
        exponent = "; the exponent of metric='minkowski' is `exponent`" if how.metric else ""
        raise ValueError(
            f"`p` cannot be used with {', '.join(without)}, which take no weights; leave out one "
            f"or the other{exponent}"
        )
    if rest:
        also = {option for measure in list_measures() for option in measure.options}
        how = with_the_rest(how, rest, also.union(OWN), having(next(iter(rest))))
    return Request(
        how=how,
        measures=tuple(chosen),
        orders=tuple(dict.fromkeys(orders)),
        several=is_several(q),
        p=p,
        psd=psd,
        details=details,
    )


def _unsaid(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "auto")


def _check_one_way(how: How, measures: list[Any], said: str) -> None:
    """Raise where a kernel and a metric of vectors are given, and nobody looks at the one."""
    contradict = how.says_similarity and how.is_of_vectors
    if contradict and all(measure.needs == "distances" for measure in measures):
        raise ValueError(
            f"`metric={how.metric!r}` and a kernel both say how to compare samples, and {said} "
            f"needs one: leave the other out, or pass metric='kernel' or '1-k', which are "
            f"distances from a kernel"
        )


def check_orders(q: Any) -> list[float]:
    """The orders as floats; an error names the first that is none."""
    orders = [_order(item) for item in (q if is_several(q) else [q])]
    if not orders:
        raise ValueError("`q` must be an order or several, got an empty list; pass q=1")
    return orders


def _order(q: Any) -> float:
    q = math.inf if isinstance(q, str) and q == "inf" else q
    remedy = "q=1 is the usual Vendi Score"
    return number("q", q, "a number in [0, inf] or 'inf'", lambda order: order >= 0, remedy)
