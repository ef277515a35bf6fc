"""The Axes that pictures are drawn on."""

from __future__ import annotations

from typing import Any

from ..core.types import Axes
from ..optional import require


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
