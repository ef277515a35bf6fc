"""Figures as inline SVG with selectable text, in the text colour of the surrounding page."""

import html
import io
import re
import threading
from collections.abc import Callable
from importlib.resources import files

from ...support.optional import require
from ...support.types import Axes, Record

# matplotlib's text layout and font caches are shared by its figures, and its styles by all threads.
_lock = threading.Lock()
_INK = "#010203"  # becomes currentColor
PALETTE = (files(__package__) / "palette.css").read_text(encoding="utf-8")
# One colour per set, with enough contrast on white and on black.
ACCENTS = re.findall(r"--r-group-\d: (#\w+)", PALETTE)
_TEXT_COLOUR_SETTINGS = (
    "text.color",
    "axes.edgecolor",
    "axes.labelcolor",
    "xtick.color",
    "ytick.color",
)
_STYLE: Record = {
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler(color={ACCENTS})",
    **dict.fromkeys(_TEXT_COLOUR_SETTINGS, _INK),
}
# Ticks are multiples of these numbers times a power of ten, as in the web app.
_TICK_STEPS = [1, 2, 5, 10]
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_NAMESPACE_PATTERN = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_ID_PATTERN = re.compile(r' id="([^"]*)"')
_REFERENCE_PATTERN = re.compile(r'(?:url\(|href=")#([\w-]+)')


def render_svg(
    draw: Callable[[Axes], object],
    label: str,
    size: tuple[float, float] = (4.4, 3.0),
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),
) -> str:
    """Render what `draw` draws on matplotlib Axes as inline SVG; screen readers read `label`.

    `size` is the width and height in inches. `frame` is the left, bottom, width and height of the
    Axes as fractions of the size.
    """
    Figure = require("matplotlib.figure", "plots", "a figure").Figure
    matplotlib = require("matplotlib", "plots", "a figure")
    # The salt makes ids unique among several figures; without a salt they would be random.
    with _lock, matplotlib.rc_context(_STYLE | {"svg.hashsalt": label}):
        figure = Figure(figsize=size)
        draw(figure.add_axes(frame))  # an automatic layout would double the time
        for axis in figure.findobj(matplotlib.axis.Axis):
            if isinstance(axis.get_major_locator(), matplotlib.ticker.MaxNLocator):
                axis.get_major_locator().set_params(steps=_TICK_STEPS)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    # The page sets the size, so remove the size in points.
    opening_tag, _, body = text.partition(">")
    view_box = opening_tag[opening_tag.index("viewBox") :].split('"')[1]
    # Remove styles, namespaces and unused ids, which HTML does not need.
    body = re.sub(r"\s*<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = _NAMESPACE_PATTERN.sub("", body)
    referenced_ids = set(_REFERENCE_PATTERN.findall(body))
    body = _ID_PATTERN.sub(lambda m: m[0] if m[1] in referenced_ids else "", body)
    body = re.sub(r"\n\s*", "\n", body)
    return (
        f'<svg viewBox="{view_box}" role="img" aria-label="{html.escape(label)}" '
        f'stroke-linejoin="round" stroke-linecap="butt">{body}'
    )
