"""The Axes that pictures are drawn on."""

from __future__ import annotations

from typing import Any, TypeVar

from ..optional import require

Draw = TypeVar("Draw")
# What the docstring of each picture says of them, in place of {ax}.
_DOCUMENTED = """ax : matplotlib Axes, optional
        The Axes to draw on; those of a new figure unless passed.

    Returns
    -------
    matplotlib Axes"""


def picture(draw: Draw) -> Draw:
    """Document the argument `ax` of a function that draws, and what it returns."""
    draw.__doc__ = (draw.__doc__ or "").replace("{ax}", _DOCUMENTED)
    return draw


def axes_of(ax: Any) -> Any:
    """Return the Axes passed, or those of a new figure of pyplot."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", "plots", "a picture").subplots()[1]


def ink(ax: Any) -> Any:
    """Return the colour of the lines around a picture, for lines that mark something in it."""
    return ax.spines["left"].get_edgecolor()


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)
