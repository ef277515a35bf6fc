"""Which pictures there are of findings, and of sets that were compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..analysis import sentences
from ..analysis.findings import ORDERS, Findings
from ..arrays.namespace import to_host
from ..comparison import Comparison
from ..magnitude.curve import Curve
from . import svg
from .svg import CAPTIONS, Caption

_CELLS = 120  # rows of the heat map, whose picture is in the file


class Figure(NamedTuple):
    """A picture with what is to be seen in it."""

    name: str
    svg: str
    caption: Caption


def figures(found: Findings) -> Iterator[Figure]:
    """All pictures that there is something to see in, drawn one by one."""
    if found.similarity is not None:
        yield heat(found)
        yield spectrum(found)
        yield profile(found)
    if found.growth is not None:
        yield Figure("growth", svg.growth(found.growth), CAPTIONS["growth"])
    if (curve := found.curve) is not None:
        yield magnitude(curve)


def heat(found: Findings) -> Figure:
    """All similarities, similar samples side by side, and those of a group."""
    label = sentences.heat(found.K)
    picture = svg.heat_map(found.K, found.seriated, found.codes, label, cells=_CELLS)
    title, text = CAPTIONS["heat"]
    lines = " Lines divide the groups." if found.codes is not None else ""
    return Figure("heat", picture, Caption(title, text + lines))


def spectrum(found: Findings) -> Figure:
    """The shares of the directions."""
    picture = svg.spectrum(to_host(found.spectrum.values))
    return Figure("spectrum", picture, CAPTIONS["spectrum"])


def profile(found: Findings) -> Figure:
    """The score of every order, with the one asked for marked where it is that of the whole."""
    whole = found.is_vendi and not found.grouped
    mark = (found.order, found.value) if whole else None
    return Figure("profile", svg.profile(ORDERS, found.profile, mark), CAPTIONS["profile"])


def magnitude(curve: Curve) -> Figure:
    """A magnitude function."""
    picture = svg.magnitude(curve, curve.convergence, curve.at(curve.convergence))
    return Figure("magnitude", picture, CAPTIONS["magnitude"])


def compared(comparison: Comparison) -> Iterator[Figure]:
    """Sets side by side, drawn down to one size."""
    title, text = CAPTIONS["matched"]
    said = Caption(title, text.replace("LEVEL", f"{100 * comparison.level:g}"))
    yield Figure("matched", svg.matched(comparison), said)
    if comparison.profiles:
        yield Figure("profiles", svg.profiles(comparison), CAPTIONS["profiles"])
