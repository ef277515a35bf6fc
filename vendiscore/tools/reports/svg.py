"""Pictures as SVG whose text stays text and whose ink has the colour of the page's text."""

import html
import io
import re
import threading
from collections.abc import Callable

from ...support.optional import require
from ...support.types import Axes, Record

# matplotlib's text layout and font caches are shared by its figures, and its styles by all threads.
_lock = threading.Lock()
_INK = "#010203"  # becomes currentColor
# The page's colours, one for each set that it can compare, visible on white and on black.
ACCENTS = ["#7c6cf2", "#cf6a0a", "#1f9e89", "#d4458f", "#2f8fd8", "#9c8413", "#b0664a", "#5f9632"]
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_STYLE: Record = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler(color={ACCENTS})",
    **dict.fromkeys(_INKED, _INK),
}
_ROUND = [1, 2, 5, 10]  # times a power of ten: the numbers at ticks, as on the page
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_NAMESPACES = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_NAMED = re.compile(r' id="([^"]*)"')
_REFERRED = re.compile(r'(?:url\(|href=")#([\w-]+)')


def svg(
    draw: Callable[[Axes], object],
    label: str,
    size: tuple[float, float] = (4.4, 3.0),  # in inches
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),  # of the Axes, as shares
) -> str:
    """Return the drawing of `draw` as inline SVG that screen readers read out as `label`."""
    Figure = require("matplotlib.figure", "plots", "a picture").Figure
    matplotlib = require("matplotlib", "plots", "a picture")
    # The salt makes ids unique among other pictures; without one they are drawn at random.
    with _lock, matplotlib.rc_context(_STYLE | {"svg.hashsalt": label}):
        figure = Figure(figsize=size)
        draw(figure.add_axes(frame))  # a layout found by matplotlib takes as long as the picture
        for axis in figure.findobj(matplotlib.axis.Axis):
            if isinstance(axis.get_major_locator(), matplotlib.ticker.MaxNLocator):
                axis.get_major_locator().set_params(steps=_ROUND)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    # The page sets the size: remove the size in points.
    head, _, body = text.partition(">")
    view = head[head.index("viewBox") :].split('"')[1]
    # Remove styles, namespaces and the ids of nothing, which HTML does not need.
    body = re.sub(r"\s*<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = _NAMESPACES.sub("", body)
    used = set(_REFERRED.findall(body))
    body = _NAMED.sub(lambda m: m[0] if m[1] in used else "", body)
    body = re.sub(r"\n\s*", "\n", body)
    return (
        f'<svg viewBox="{view}" role="img" aria-label="{html.escape(label)}" '
        f'stroke-linejoin="round" stroke-linecap="butt">{body}'
    )
