"""How a selection grows, and what no selection can exceed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .axes import axes_of, ink, whole_numbers


def selection(scores: np.ndarray, bound: float | None = None, *, ax: Any = None) -> Any:
    """The score of the first sample, the first two, and so on, below what is possible (dashed).

    Parameters
    ----------
    scores : array (size,)
        VS_q of each prefix.
    bound : float, optional
        An upper bound on the score of any selection of that size.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = selection([1.0, 1.9, 2.7], 2.9, ax=Figure().add_subplot())
    >>> ax.get_xlabel()
    'samples chosen'
    """
    ax = axes_of(ax)
    sizes = np.arange(1, len(scores) + 1)
    ax.plot(sizes, scores, color="C0", lw=2, marker="o" if len(scores) == 1 else None)
    if bound is not None:
        ax.axhline(bound, color=ink(ax), lw=0.8, ls="--")
    ax.set(xlabel="samples chosen", ylabel="effectively different", ylim=(0, None))
    whole_numbers(ax.xaxis)
    return ax
