"""Pictures as SVG that takes its ink from the page around it, light or dark.

Text stays text and lines stay lines, so they are sharp on a phone and read out by a screen
reader through their label. The same numbers give the same letters, whatever else was drawn.
"""

from __future__ import annotations

import html
import io
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xxhash

from .. import plots
from ..comparison import Comparison
from ..comparison.growth import Growth
from ..magnitude.curve import Curve
from ..optional import require
from .markup import cut

# matplotlib's text layout and font caches are shared by its figures, and its styles by all threads.
_lock = threading.Lock()
_INK = "#010203"  # becomes currentColor
# As many as sets that the page compares, to be seen on white and on black.
_ACCENTS = (
    *("#7c6cf2", "#e8871e", "#1f9e89", "#d4458f"),
    *("#2f8fd8", "#9c8413", "#b0664a", "#689f38"),
)
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
NAME = 24  # signs of a name in a legend, beside which the curves are still seen
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "vendiscore",  # else names within a picture are drawn at random
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler(color={_ACCENTS})",
    **dict.fromkeys(_INKED, _INK),
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_NAMESPACES = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_NAMED = re.compile(r' id="([^"]*)"')
_REFERRED = re.compile(r'(?:url\(|href=")#([\w-]+)')


class Caption(NamedTuple):
    """What is to be seen in a picture."""

    title: str
    text: str

    @property
    def html(self) -> str:
        """Both as HTML."""
        return f"<b>{self.title}.</b> {self.text}"


CAPTIONS = {
    "heat": Caption(
        "Similarities",
        "Bright squares along the diagonal are groups of samples that are alike.",
    ),
    "spectrum": Caption(
        "Spectrum",
        "The share of the set that lies in each direction. One bar: all the same. Equal bars: all "
        "different. The score is the effective number of bars.",
    ),
    "profile": Caption(
        "Profile",
        "Small q counts rare samples in full, large q looks at the commonest only. A steep curve "
        "means a few dominate.",
    ),
    "magnitude": Caption(
        "Magnitude",
        "How many samples can be told apart at scale t (zooming in to the right). The dashed line "
        "is the convergence scale, where 95 % can.",
    ),
    "growth": Caption(
        "Growth",
        "The score of fewer samples, and with a dashed line of up to twice as many. A curve that "
        "has become flat: more samples would add little.",
    ),
    "matched": Caption("Scores at matched size", "The bar is the LEVEL % interval."),
    "profiles": Caption(
        "Profiles at matched size",
        "With intervals. Curves that cross: which set is more diverse depends on q.",
    ),
}


def spectrum(shares: np.ndarray) -> str:
    """The largest eigenvalues as shares of the whole, in percent."""
    return svg(
        lambda ax: plots.spectrum(shares, ax=ax),
        f"Spectrum: the largest of {len(shares)} shares is {100 * shares[0]:.1f}%",
    )


def profile(orders: Sequence[float], values: np.ndarray, mark: tuple[float, float] | None) -> str:
    """The score for every order q, with the one asked for marked."""
    return svg(
        lambda ax: plots.profile(orders, values, mark=mark, ax=ax),
        f"Profile: from {values[0]:.1f} at q = 0 to {values[-1]:.1f} at q = {orders[-1]:g}",
    )


def heat_map(
    K: np.ndarray,
    order: np.ndarray,
    groups: np.ndarray | None = None,
    label: str = "",
    **options: Any,
) -> str:
    """All similarities, similar samples side by side."""
    return svg(
        lambda ax: plots.heat_map(K, order, groups=groups, ax=ax, **options),
        label or f"Heat map of the similarities of {len(K)} samples",
        (4.4, 3.7),
        (0.11, 0.13, 0.75, 0.85),
    )


def magnitude(curve: Curve, t: float, value: float) -> str:
    """The magnitude function, with the convergence scale and a scale t marked."""
    return svg(
        lambda ax: plots.magnitude(curve, t=t, ax=ax),
        f"Magnitude function: {value:.1f} at scale {t:.3g}, {curve.distinct} far "
        f"beyond {curve.convergence:.3g}",
    )


def growth(found: Growth) -> str:
    """The score against the number of samples."""
    return svg(
        found.plot,
        f"Growth: {found.scores[0]:.1f} of {found.sizes[0]} samples to {found.scores[-1]:.1f} of "
        f"{found.sizes[-1]}",
    )


def matched(comparison: Comparison) -> str:
    """The score of each of several sets at matched size, with its interval."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    return svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")


def profiles(comparison: Comparison) -> str:
    """The profiles of several sets at matched size, each with a band for its interval."""
    names, curves = comparison.names, comparison.profiles
    ends = ", ".join(f"{name} {curve[0, 0]:.1f}" for name, curve in zip(names, curves, strict=True))
    return svg(
        lambda ax: plots.profiles(
            comparison.orders, [cut(name, NAME) for name in names], curves, ax=ax
        ),
        f"Profiles at matched size; at q = 0: {ends}",
    )


def svg(
    draw: Callable[[Any], Any],
    label: str,
    size: tuple[float, float] = (4.4, 3.0),
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),
) -> str:
    """What `draw` draws on Axes, as an inline SVG that is read out as `label`.

    Width and height are in inches; `frame` is where the Axes are in them, as shares.
    """
    Figure = require("matplotlib.figure", "plots", "a picture").Figure
    matplotlib = require("matplotlib", "plots", "a picture")
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
    name = f"v{xxhash.xxh3_64_hexdigest((label + body).encode())[:8]}"
    return (
        f'<svg viewBox="{view}" role="img" aria-label="{html.escape(label)}" '
        f'stroke-linejoin="round" stroke-linecap="butt">'
        f"{_alone(body, name)}"
    )


def _alone(body: str, name: str) -> str:
    """An SVG of a page that has others: without what HTML has no need of, its ids its own."""
    body = re.sub(r"\s*<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = _NAMESPACES.sub("", body)
    used = set(_REFERRED.findall(body))
    body = _NAMED.sub(lambda m: f' id="{name}{m[1]}"' if m[1] in used else "", body)
    body = _REFERRED.sub(lambda m: m[0].replace("#", f"#{name}"), body)
    return re.sub(r"\n\s*", "\n", body)
