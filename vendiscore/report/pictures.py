"""Pictures as SVG that takes its ink from the page around it, light or dark.

Text stays text and lines stay lines, so they are sharp on a phone and read out by a screen
reader through their label.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

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


def svg(
    draw: Callable[[Any], Any],
    label: str,
    size: tuple[float, float] = (4.4, 3.0),
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),
) -> str:
    """What `draw` draws on Axes, as an inline SVG that is read out as `label`, which is HTML.

    Width and height are in inches; `frame` is where the Axes are in them, as shares.
    """
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
