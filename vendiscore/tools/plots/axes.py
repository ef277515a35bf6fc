"""The Axes that pictures are drawn on."""

from __future__ import annotations

from ...support.optional import require
from ...support.types import Axes, Record


def axes_of(ax: Axes | None, **figure: object) -> Axes:
    """Return the Axes passed, or the Axes of a new figure with the settings in `figure`."""
    if ax is None:
        _, ax = require("matplotlib.pyplot", "plots", "a figure").subplots(**figure)
    return ax


def thin(ax: Axes) -> Record:
    """Return the style of lines that mark a value, in the colour of the lines around a picture."""
    return {"color": ax.spines["left"].get_edgecolor(), "lw": 0.8}
