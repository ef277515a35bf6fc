"""The Axes that pictures are drawn on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..arrays.types import Axes
from ..optional import require

Draw = TypeVar("Draw", bound=Callable[..., Axes])
# The lines on `ax` that replace {ax} in the docstring of each picture.
_DOCUMENTED = """ax : matplotlib Axes, optional
        The Axes to draw on; those of a new figure unless passed.

    Returns
    -------
    matplotlib Axes"""


def picture(draw: Draw) -> Draw:
    """Insert the lines on `ax` into the docstring of a function that draws."""
    draw.__doc__ = (draw.__doc__ or "").replace("{ax}", _DOCUMENTED)
    return draw


def axes_of(ax: Axes | None) -> Axes:
    """Return the Axes passed, or the Axes of a new figure."""
    if ax is None:
        ax = require("matplotlib.pyplot", "plots", "a picture").subplots()[1]
    return ax


def ink(ax: Axes) -> Any:
    """Return the colour of the lines around a picture, for lines that mark something in it."""
    return ax.spines["left"].get_edgecolor()


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)
