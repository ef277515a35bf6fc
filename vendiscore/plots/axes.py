"""The Axes that pictures are drawn on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ..optional import require

Draw = TypeVar("Draw", bound=Callable[..., Any])
# What the docstring of each picture says of them, in place of {ax}.
_DOCUMENTED = """ax : matplotlib Axes, optional
        The Axes to draw on; those of a new figure unless passed.

    Returns
    -------
    matplotlib Axes"""


def picture(draw: Draw) -> Draw:
    """Pass Axes of a new figure to a function that draws unless it has some; document `ax`."""

    @wraps(draw)
    def drawn(*args: Any, ax: Any = None, **options: Any) -> Any:
        if ax is None:
            ax = require("matplotlib.pyplot", "plots", "a picture").subplots()[1]
        return draw(*args, ax=ax, **options)

    drawn.__doc__ = (draw.__doc__ or "").replace("{ax}", _DOCUMENTED)
    return cast(Draw, drawn)


def ink(ax: Any) -> Any:
    """Return the colour of the lines around a picture, for lines that mark something in it."""
    return ax.spines["left"].get_edgecolor()


def whole_numbers(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)
