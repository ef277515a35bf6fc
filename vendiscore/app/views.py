"""The pictures of the page, as SVG that takes its ink from the page, light or dark.

Text stays text and lines stay lines, so they are sharp on a phone and read out by a screen
reader through their label. No word of a visitor is ever drawn.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

from .. import plots
from ..explanation.analysis import Analysis
from ..uncertainty import Comparison
from .zoom import Zoom

# matplotlib's text layout and font caches are shared by its figures, and its styles by all threads.
_lock = threading.Lock()
_INK = "#010203"  # becomes currentColor
_ACCENTS = ("#7c6cf2", "#e8871e", "#1f9e89")
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler(color={_ACCENTS})",
    **dict.fromkeys(_INKED, _INK),
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def spectrum(analysis: Analysis) -> str:
    """The largest eigenvalues as shares of the whole, in percent."""
    shares = analysis.shares
    return _svg(
        lambda ax: plots.spectrum(shares, ax=ax),
        f"Spectrum: the largest of {len(shares)} shares is {100 * shares[0]:.1f}%",
    )


def profile(analysis: Analysis) -> str:
    """The score for every order q, with the one asked for marked."""
    orders, values = analysis.orders, analysis.profile
    return _svg(
        lambda ax: plots.profile(orders, values, mark=(analysis.q, analysis.score), ax=ax),
        f"Profile: from {values[0]:.1f} at q = 0 to {values[-1]:.1f} at q = {orders[-1]:g}",
    )


def heat_map(analysis: Analysis) -> str:
    """All similarities, similar samples side by side."""
    return _svg(
        lambda ax: plots.heat_map(analysis.K, analysis.order, ax=ax),
        f"Heat map of the similarities of {analysis.n} samples",
        (4.4, 3.7),
        (0.11, 0.13, 0.75, 0.85),
    )


def magnitude(zoom: Zoom) -> str:
    """The magnitude function, with the convergence scale and the chosen scale marked."""
    curve = zoom.curve
    return _svg(
        lambda ax: plots.magnitude(curve, t=zoom.t, ax=ax),
        f"Magnitude function: {zoom.magnitude:.1f} at scale {zoom.t:.3g}, {curve.distinct} far "
        f"beyond {curve.convergence:.3g}",
    )


def profiles(comparison: Comparison) -> str:
    """The profiles of several sets at matched size, each with a band for its interval."""
    names, curves = comparison.names, comparison.profiles
    ends = ", ".join(f"{name} {curve[0, 0]:.1f}" for name, curve in zip(names, curves, strict=True))
    return _svg(
        lambda ax: plots.profiles(comparison.orders, names, curves, ax=ax),
        f"Profiles at matched size; at q = 0: {ends}",
    )


def intervals(comparison: Comparison) -> str:
    """The score of each set at matched size, with its interval."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    return _svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")


def _svg(
    draw: Callable[[Any], Any],
    label: str,
    size: tuple[float, float] = (4.4, 3.0),
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),
) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with _lock, matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size)
        # A layout found by matplotlib takes as long as the picture.
        draw(figure.add_axes(frame))
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    # Its own size in points gives way to that of the page.
    head, _, body = text.partition(">")
    view = head[head.index("viewBox") :].split('"')[1]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view}" role="img" aria-label="{label}">{body}'
    )
