"""What a Vendi Score is made of: shares of a spectrum, and its profile over orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.namespace import Array, to_host
from .axes import axes_of, whole_numbers

BARS = 30  # shares that are drawn one by one


def spectrum(shares: Array, *, bars: int = BARS, ax: Any = None) -> Any:
    """The largest eigenvalues as shares of the whole, in percent.

    Parameters
    ----------
    shares : array (m,)
        Descending, summing to 1: `vendiscore.spectrum(similarity)`.
    bars : int
        How many are drawn at most.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = spectrum([0.5, 0.3, 0.2], bars=2, ax=Figure().add_subplot())
    >>> len(ax.patches)
    2
    """
    ax = axes_of(ax)
    heights = 100 * to_host(shares)[:bars]
    ax.bar(np.arange(1, len(heights) + 1), heights, color="C0", width=0.8)
    ax.set(xlabel="direction, largest first", ylabel="share of the set (%)")
    whole_numbers(ax.xaxis)
    return ax


def profile(
    orders: Any, values: Array, *, mark: tuple[float, float] | None = None, ax: Any = None
) -> Any:
    """The score at every order q.

    Parameters
    ----------
    orders, values : array (m,)
        Ascending orders, and VS_q at each.
    mark : (q, score), optional
        A point to mark, if it lies within the orders.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = profile([0, 1, 2], [3.0, 2.5, 2.2], mark=(1, 2.5), ax=Figure().add_subplot())
    >>> ax.get_xlabel()
    'order q'
    """
    ax = axes_of(ax)
    ax.plot(orders, to_host(values), color="C0", lw=2)
    if mark is not None and mark[0] <= orders[-1]:
        ax.plot([mark[0]], [mark[1]], "o", color="C1", ms=7)
    ax.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
    return ax
