"""Axes to draw on."""

from __future__ import annotations

from typing import Any

from ..optional import require


def axes_of(ax: Any) -> Any:
    """The Axes given, or those of a new figure of pyplot's.

    Raises
    ------
    MissingPackageError
        If there are none and matplotlib is not installed.
    """
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", "plots", "a picture").subplots()[1]


def ink(ax: Any) -> Any:
    """The colour of the lines around a picture, for lines that mark something in it."""
    return ax.spines["left"].get_edgecolor()


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)
