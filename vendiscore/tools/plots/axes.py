"""The Axes of a plot, and the style of reference lines."""

from __future__ import annotations

from ...support.optional import require
from ...support.types import Axes, Record


def make_axes_if_none(ax: Axes | None, **figure_options: object) -> Axes:
    """Return `ax`, or the Axes of a new pyplot figure if `ax` is None."""
    if ax is None:
        _, ax = require("matplotlib.pyplot", "plots", "a figure").subplots(**figure_options)
    return ax


def reference_line_style(ax: Axes) -> Record:
    """Return the style of thin lines that mark a value, in the colour of the frame."""
    return {"color": ax.spines["left"].get_edgecolor(), "lw": 0.8}
