"""The dict of scores that the metric script `magnitude.py` returns, and how it came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any

import numpy as np

from .arguments import flag, is_several
from .hints import suggestion
from .magnitude.area import area_of, difference_of
from .magnitude.distances import as_space, check_space
from .magnitude.scales import (
    Quadrature,
    check_count,
    check_cut,
    check_epsilon,
    check_quadrature,
    check_scales,
    convergence,
    evaluate,
)
from .magnitude.space import MetricSpace
from .optional import versions
from .resolve.how import SAMPLES
from .signature import digest, digits, line, plain

SETTINGS = frozenset(
    (
        *("t", "n_scales", "epsilon", "t_cut", "average", "relative", "absolute", "quadrature"),
        *("metric", "k", "method", "details"),
        *("score_K", "score_X", "score_dual", "normalize"),
    )
)
FLAGS = ("average", "relative", "absolute", "details")

OWN_CUT = (
    "MagArea ends at the samples' own convergence scale t_conv, which is larger for samples that "
    "are closer together: do not compare it between sets. For that pass `references` (MagDiff), "
    "or one `t_cut` for all sets."
)


def compute(
    samples: Any,
    references: Any = None,
    *,
    t: float | Iterable[float] | None = None,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    average: bool = False,
    relative: bool = False,
    absolute: bool = False,
    quadrature: Quadrature = "trapezoid",
    details: bool = False,
    **how: Any,
) -> dict[str, Any]:
    """What the metric script `magnitude.py` returns: a flat dict of numbers.

    Parameters
    ----------
    samples, references, n_scales … quadrature, **how
        As for `mag_area` and `mag_diff`.
    t : float or floats, optional
        Give the magnitude at these scales instead of the area; `references` are then not needed.
    details : bool
        Add how the numbers came about, under the key `details`; its "notes" are sentences about
        what the numbers may not be used for.

    Returns
    -------
    dict
        {"MagArea": …, "t_conv": …}; with references also {"MagDiff": …}; with one scale
        {"Magnitude": …}, with several {"Magnitude_t0.5": …, …}, each with as many digits as tell
        it from all other numbers. MagArea of sets that end at their own t_conv cannot be compared:
        that of a collapsed set is the largest.
    """
    several = is_several(t)
    given = None if t is None else check_scales("t", t)
    n_scales, epsilon, t_cut = check_count(n_scales), check_epsilon(epsilon), check_cut(t_cut)
    average, relative, absolute, details = (
        flag(name, value)
        for name, value in zip(FLAGS, (average, relative, absolute, details), strict=True)
    )
    quadrature = check_quadrature(quadrature)
    reference = None
    if references is not None and given is None:
        reference = as_space(references, name="references", **how)
    space = as_space(samples, like=reference, **how)
    scores: dict[str, Any] = {}
    if given is not None:
        values = evaluate(space, np.array(given)).values.tolist()
        keys = [f"Magnitude_t{digits(s)}" for s in given] if several else ["Magnitude"]
        scores = dict(zip(keys, values, strict=True))
    else:
        t_conv = convergence(space, epsilon)
        cut = t_conv if t_cut is None else t_cut
        scores["MagArea"] = area_of(space, cut, n_scales, average, quadrature)
        scores["t_conv"] = t_conv
    if reference is not None:
        cut = convergence(reference, epsilon) if t_cut is None else t_cut
        scores["MagDiff"] = difference_of(
            space, reference, cut, n_scales, average, relative, absolute, quadrature
        )
    if details:
        options = {
            **({"t": given} if given is not None else {}),
            "n_scales": n_scales,
            "epsilon": epsilon,
            "t_cut": t_cut,
            "average": average,
            "relative": relative,
            "absolute": absolute,
            "quadrature": quadrature,
            "method": space.solver.method,
        }
        notes = [OWN_CUT] if given is None and t_cut is None else []
        notes += [*space.notes, *(reference.notes if reference else ())]
        scores["details"] = {**_details(space, reference, options), "notes": notes}
    return scores


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise for keywords of `compute` that it would not accept, looking at no samples.

    Scales that can be gone through only once are replaced by a list of them in `arguments`, if
    that can be changed, so that `compute` finds them.
    """
    if isinstance(arguments.get("t"), Iterator) and isinstance(arguments, MutableMapping):
        arguments["t"] = list(arguments["t"])
    given = dict(arguments)
    checks: dict[str, Callable[[Any], Any]] = {
        "n_scales": check_count,
        "epsilon": check_epsilon,
        "t_cut": check_cut,
        "quadrature": check_quadrature,
        "t": lambda t: t is None or check_scales("t", t),
        **{name: partial(flag, name) for name in FLAGS},
    }
    for name, check in checks.items():
        if name in given:
            check(given.pop(name))
    try:
        check_space(**given)
    except TypeError as error:
        unknown = next((name for name in given if f"unknown keyword `{name}`" in str(error)), None)
        if unknown is None:
            raise
        look = f"Keywords are {', '.join(sorted(SETTINGS))}, and options of the kernel or metric."
        hint = suggestion(unknown, SETTINGS, SAMPLES, mark="`", look=look)
        raise TypeError(f"unknown keyword `{unknown}`. {hint}") from None


def _details(
    space: MetricSpace, reference: MetricSpace | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    solutions = space.solver.solutions
    settings = {name: plain(value) for name, value in space.settings.items()}
    chosen = {name: value for name, value in options.items() if value is not None}
    other = {} if reference is None else {"references": digest(reference.D)}
    return {
        "n": space.n,
        "distinct": space.distinct,
        "distance": settings["metric"],
        "options": settings | chosen,
        "scales": [solution.t for solution in solutions],
        "values": [solution.magnitude for solution in solutions],
        "method": dict(Counter(solution.method for solution in solutions)),
        "residual": max((solution.residual for solution in solutions), default=0.0),
        "error": max((solution.error for solution in solutions), default=0.0),
        "versions": versions(),
        "signature": line(["Mag"], {**settings, **chosen, **other, "n": space.n}),
    }
