"""Scores of sets with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.types import Axes
from ..optional import require
from .axes import axes_of

_DOTS = "osD^"  # of the first round of the style's colours, of the second, and so on


def intervals(
    names: Sequence[str],
    scores: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    label: str = "effectively different",
    ax: Axes | None = None,
) -> Axes:
    """Plot a dot for the score of each set, and a bar for its interval.

    Parameters
    ----------
    names, scores, low, high : sequences
        The sets from the top, such as `name`, `matched`, `matched_low` and `matched_high` of the
        `sets` of a Comparison. Sets beyond the number of colours in the style have other dots.
    label : str, what the scores are
    ax : matplotlib Axes, optional
        The Axes to draw on; by default, the Axes of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = intervals(["A", "B"], [3, 4], [2, 3], [4, 5], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    ax = axes_of(ax)
    style = require("matplotlib", "plots", "a picture").rcParams["axes.prop_cycle"].by_key()
    colours = len(style.get("color", "k"))
    for i, (value, left, right) in enumerate(zip(scores, low, high, strict=True)):
        colour, marker = f"C{i}", _DOTS[i // colours % len(_DOTS)]
        ax.plot([left, right], [i, i], color=colour, lw=2.5, alpha=0.6)
        ax.plot([value], [i], ls="", ms=7, color=colour, marker=marker)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.margins(x=0.1)
    return ax
