"""A score against the number of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .axes import axes_of, ink


def growth(
    sizes: Sequence[int],
    scores: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    n: int,
    *,
    ax: Any = None,
) -> Any:
    """A line with a band for the interval, dashed beyond the n samples that there are.

    Parameters
    ----------
    sizes : sequence of int, ascending
        Numbers of samples.
    scores, low, high : sequences of float, one for each size
        As a `Growth` has them.
    n : int
        How many samples there are.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = growth([2, 4, 8], [2, 3, 4], [1, 2, 3], [2, 4, 6], 4, ax=Figure().add_subplot())
    >>> [line.get_linestyle() for line in ax.lines[:2]]  # beyond the 4 samples
    ['-', '--']
    """
    ax = axes_of(ax)
    x, y = np.asarray(sizes), np.asarray(scores)
    known, beyond = x <= n, x >= max(x[x <= n], default=0)
    ax.plot(x[known], y[known], color="C0", lw=2)
    if (x > n).any():
        ax.plot(x[beyond], y[beyond], color="C0", lw=2, ls="--")
    ax.fill_between(x, low, high, color="C0", alpha=0.25, lw=0)
    ax.axvline(n, color=ink(ax), lw=0.8, ls=":")
    ax.set(xlabel="samples", ylabel="effectively different", xlim=(0, None), ylim=(0, None))
    return ax
