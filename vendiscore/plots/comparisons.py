"""Sets side by side: their scores with intervals, and their profiles with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .axes import axes_of


def intervals(
    names: Sequence[str],
    scores: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    label: str = "effectively different",
    ax: Any = None,
) -> Any:
    """A dot for the score of each set, and a bar for its interval.

    Parameters
    ----------
    names : sequence of str
    scores, low, high : sequences of float, one for each name
    label : str
        What the scores are.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_of(ax)
    for i, (score, left, right) in enumerate(zip(scores, low, high, strict=True)):
        ax.plot([left, right], [i, i], color=f"C{i}", lw=2.5, alpha=0.6)
        ax.plot([score], [i], "o", color=f"C{i}", ms=7)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.margins(x=0.1)
    return ax


def profiles(
    orders: Sequence[float],
    names: Sequence[str],
    curves: Sequence[np.ndarray],
    *,
    ax: Any = None,
) -> Any:
    """The score of each set at every order, with a band for its interval.

    Parameters
    ----------
    orders : sequence of float, ascending
    names : sequence of str
    curves : sequence of array (3, len(orders))
        For each name the scores, and the lower and upper ends of their intervals.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no orders.
    """
    if not len(orders):
        raise ValueError("`orders` must have one order or more; pass orders= to compare")
    ax = axes_of(ax)
    for i, (name, (scores, low, high)) in enumerate(zip(names, curves, strict=True)):
        ax.plot(orders, scores, color=f"C{i}", lw=2, label=name)
        ax.fill_between(orders, low, high, color=f"C{i}", alpha=0.25, lw=0)
    ax.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
    ax.legend(frameon=False)
    return ax
