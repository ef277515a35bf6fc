"""The pictures of the page. No word of a visitor is ever drawn."""

from __future__ import annotations

from .. import plots
from ..explanation.analysis import Analysis
from ..report.pictures import svg
from ..uncertainty import Comparison
from .zoom import Zoom


def spectrum(analysis: Analysis) -> str:
    """The largest eigenvalues as shares of the whole, in percent."""
    shares = analysis.shares
    return svg(
        lambda ax: plots.spectrum(shares, ax=ax),
        f"Spectrum: the largest of {len(shares)} shares is {100 * shares[0]:.1f}%",
    )


def profile(analysis: Analysis) -> str:
    """The score for every order q, with the one asked for marked."""
    orders, values = analysis.orders, analysis.profile
    return svg(
        lambda ax: plots.profile(orders, values, mark=(analysis.q, analysis.score), ax=ax),
        f"Profile: from {values[0]:.1f} at q = 0 to {values[-1]:.1f} at q = {orders[-1]:g}",
    )


def heat_map(analysis: Analysis) -> str:
    """All similarities, similar samples side by side."""
    return svg(
        lambda ax: plots.heat_map(analysis.K, analysis.order, ax=ax),
        f"Heat map of the similarities of {analysis.n} samples",
        (4.4, 3.7),
        (0.11, 0.13, 0.75, 0.85),
    )


def magnitude(zoom: Zoom) -> str:
    """The magnitude function, with the convergence scale and the chosen scale marked."""
    curve = zoom.curve
    return svg(
        lambda ax: plots.magnitude(curve, t=zoom.t, ax=ax),
        f"Magnitude function: {zoom.magnitude:.1f} at scale {zoom.t:.3g}, {curve.distinct} far "
        f"beyond {curve.convergence:.3g}",
    )


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
