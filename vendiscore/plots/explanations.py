"""What each sample adds to a score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spectral.rank_one import lost
from .axes import axes_of, ink


def contributions(adds: Any, redundant: Any, *, ax: Any = None) -> Any:
    """Plot the share of the score that is lost without each sample, the most first.

    Those that repeat others are marked.

    Parameters
    ----------
    adds : array (n,)
        log VS of all minus log VS without each.
    redundant : bool array (n,)
        Which are near-duplicates of others.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = contributions([0.1, -0.2], [False, True], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_legend().get_texts()]
    ['samples', 'near-duplicates']
    """
    ax = axes_of(ax)
    order = np.argsort(-np.asarray(adds), kind="stable")
    percent = 100 * lost(np.asarray(adds)[order])
    places, marked = np.arange(len(order)), np.asarray(redundant)[order]
    ax.plot(places, percent, ".", color="C0", ms=4, label="samples")
    if marked.any():
        ax.plot(places[marked], percent[marked], ".", color="C1", ms=5, label="near-duplicates")
        ax.legend(frameon=False)
    ax.axhline(0, color=ink(ax), lw=0.8)
    ax.set(xlabel="samples, by what they add", ylabel="adds to the score (%)")
    return ax
