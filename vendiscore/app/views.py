"""The pictures of the page. No word of a visitor is ever drawn."""

from __future__ import annotations

from .. import plots
from ..explanation.analysis import Analysis
from ..report import pictures
from ..report.pictures import svg
from ..uncertainty import Comparison
from .zoom import Zoom


def spectrum(analysis: Analysis) -> str:
    """The largest eigenvalues as shares of the whole, in percent."""
    return pictures.spectrum(analysis.shares)


def profile(analysis: Analysis) -> str:
    """The score for every order q, with the one asked for marked."""
    mark = (analysis.q, analysis.score)
    return pictures.profile(analysis.orders, analysis.profile, mark)


def heat_map(analysis: Analysis) -> str:
    """All similarities, similar samples side by side."""
    return pictures.heat_map(analysis.K, analysis.order)


def magnitude(zoom: Zoom) -> str:
    """The magnitude function, with the convergence scale and the chosen scale marked."""
    return pictures.magnitude(zoom.curve, zoom.t, zoom.magnitude)


def profiles(comparison: Comparison) -> str:
    """The profiles of several sets at matched size, each with a band for its interval."""
    names, curves = comparison.names, comparison.profiles
    ends = ", ".join(f"{name} {curve[0, 0]:.1f}" for name, curve in zip(names, curves, strict=True))
    return svg(
        lambda ax: plots.profiles(comparison.orders, names, curves, ax=ax),
        f"Profiles at matched size; at q = 0: {ends}",
    )


def intervals(comparison: Comparison) -> str:
    """The score of each set at matched size, with its interval."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    return svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")
