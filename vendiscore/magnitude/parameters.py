"""The parameters that functions of magnitude share: how each is read, and its docstring."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar

from ..arguments import flag, integer, is_several, number, one_of
from ..arrays.types import Record

Quadrature = Literal["trapezoid", "adaptive"]
Solving = Literal["auto", "cg", "cholesky"]
SOLVERS: tuple[Solving, ...] = ("auto", "cg", "cholesky")
MOST_SCALES = 10**6
# Magnitudes are known to 1e-9: so near to 1 or n, three digits of the distance to it are.
NEAR_END = 1e-6
LEINSTER = "Leinster, Documenta Mathematica 2013"
LIMBECK = "Limbeck et al., arXiv 2311.16054"

Function = TypeVar("Function", bound=Callable[..., Any])

# Entries of docstrings, by the name of a parameter.
_ENTRIES = {
    "samples": """\
samples : list, array or MetricSpace, of n samples; not changed""",
    "t": """\
t : float ≥ 0, a scale in units of 1 / distance""",
    "n_scales": """\
n_scales : int ≥ 2
    Evenly spaced scales of the trapezoid rule; the paper uses 10, 20 and 30.""",
    "epsilon": """\
epsilon : float, at least 1e-6 and below 1
    How far from converged the magnitude is at a convergence scale, as a share of n.""",
    "t_cut": """\
t_cut : float > 0, optional, the scale to end at; by default the samples' own t_conv at ε""",
    "average": """\
average : bool
    Divide by the cut-off: the mean magnitude, between 1 and n, as `magnipy` does for sets.""",
    "quadrature": """\
quadrature : {"trapezoid", "adaptive"}
    "adaptive" gives the integral itself to 1e-6 relative, with 32 or 64 solves; the trapezoid
    rule with 30 scales is up to 1e-2 off it, below as a rule.""",
    "how": """\
**how
    `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.""",
}
_SECTIONS = {
    "Parameters": "",
    "Returns": "",
    "Raises": """\
ArithmeticError
    If a number is beyond double precision, or only rounding is left of it.
IndefiniteError
    If Z is singular or indefinite at a scale, so that there is no magnitude; metrics that are not
    of negative type may make it so at small scales.
TypeError, ValueError
    For samples, scales or options that do not fit; the message names the argument and the remedy.
TooLargeError
    If the distances and one work array do not fit in memory, before they are allocated.""",
    "Notes": """\
Time O(n² d) for the distances, then for each scale O(n²) a step of conjugate gradients, or O(n³)
where a factorisation is faster; memory 12 n² bytes for each set.""",
}
_HEAD = re.compile(r"\n\n([A-Z]\w+)\n-+\n")


def documented(source: str) -> Callable[[Function], Function]:
    """Complete a docstring by its source, and the parameters and sections that functions share."""

    def complete(function: Function) -> Function:
        first, *rest = _HEAD.split(inspect.getdoc(function) or "")
        if not rest:  # `python -OO` leaves docstrings out
            return function
        own = dict(zip(rest[::2], rest[1::2], strict=True))
        entries = re.split(r"\n(?=\S)", own.get("Parameters", ""))
        texts = _ENTRIES | {re.findall(r"\w+", entry)[0]: entry for entry in entries if entry}
        own["Parameters"] = "\n".join(
            texts[name] for name in inspect.signature(function).parameters
        )
        examples = own.pop("Examples")
        sections = {**_SECTIONS, **own, "References": f"{source}.", "Examples": examples}
        function.__doc__ = first + "".join(
            f"\n\n{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items()
        )
        return function

    return complete


def check_scale(name: str, t: object) -> float:
    """Return a scale as a float."""
    # Adding 0.0 makes a zero of −0.0.
    return 0.0 + number(name, t, "a finite scale of at least 0", lambda t: 0 <= t < math.inf)


def check_scales(name: str, t: Any) -> list[float]:
    """Return one scale or several as floats; an error names the first that is none."""
    scales = [check_scale(name, item) for item in (t if is_several(t) else [t])]
    if not scales:
        raise ValueError(
            f"`{name}` must be a scale or several, got none: an empty list, or an iterator that "
            f"has been used up"
        )
    return scales


def check_count(n_scales: object, least: int = 2) -> int:
    """Return the number of scales as an int."""
    return integer("n_scales", n_scales, least, MOST_SCALES, "30 is usual")


def _check_cut(t_cut: object) -> float | None:
    if t_cut is None:
        return None
    expected, remedy = "a finite scale of more than 0", "leave it out for t_conv"
    return number("t_cut", t_cut, expected, lambda t: 0 < t < math.inf, remedy)


def _check_epsilon(epsilon: object) -> float:
    expected = "a number between 0 and 1"
    read = number("epsilon", epsilon, expected, lambda e: 0 < e < 1, "0.05 is usual")
    if read < NEAR_END:
        raise ValueError(
            f"`epsilon` must be at least {NEAR_END:g}, got {read!r}: magnitudes are known to 1e-9, "
            f"which does not say how far from n they are; 0.05 is usual"
        )
    return read


READERS: Mapping[str, Callable[[Any], Any]] = {
    "t": partial(check_scale, "t"),
    "n_scales": check_count,
    "epsilon": _check_epsilon,
    "t_cut": _check_cut,
    "solver": lambda word: one_of("solver", word, SOLVERS),
    "quadrature": lambda word: one_of("quadrature", word, ("trapezoid", "adaptive")),
    **{name: partial(flag, name) for name in ("average", "relative", "absolute")},
}


def read(**options: object) -> Record:
    """Return options as plain values, checked in the order that they are passed in."""
    return {name: READERS[name](value) for name, value in options.items()}
