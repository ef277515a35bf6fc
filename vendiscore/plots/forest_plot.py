"""Scores of sets, and their differences, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays.types import Axes, Record
from ..optional import require
from .axes import axes_of, ink, picture

_DOTS = "osD^"  # of the first round of the style's colours, of the second, and so on


@picture
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
    {ax}

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
    looks: list[Record] = [
        {"color": f"C{i}", "marker": _DOTS[i // colours % len(_DOTS)]} for i in range(len(names))
    ]
    return _rows(ax, label, names, looks, scores, low, high)


@picture
def differences(
    names: Sequence[str],
    differences: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    label: str = "more effectively different",
    ax: Axes | None = None,
) -> Axes:
    """Plot each difference of two sets as a dot, hollow if its interval (a bar) contains 0.

    Parameters
    ----------
    names, differences, low, high : sequences
        Pairs such as "A − B", with `difference`, `low` and `high` of the `pairs` of a Comparison.
    label : str, what the differences are of
    {ax}

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = differences(["A − B"], [1.5], [0.5], [2.5], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A − B']
    """
    ax = axes_of(ax)
    ax.axvline(0, color=ink(ax), lw=0.8, ls=":")
    hollow = [left <= 0 <= right for left, right in zip(low, high, strict=True)]
    looks: list[Record] = [
        {"color": "C0", "marker": "o", "mfc": "none" if h else "C0"} for h in hollow
    ]
    return _rows(ax, label, names, looks, differences, low, high)


def _rows(
    ax: Axes, label: str, names: Sequence[str], looks: list[Record], *spans: Sequence[float]
) -> Axes:
    """Draw a row for each name, the first at the top: a dot in its interval."""
    for i, (value, left, right, own) in enumerate(zip(*spans, looks, strict=True)):
        ax.plot([left, right], [i, i], color=own["color"], lw=2.5, alpha=0.6)
        ax.plot([value], [i], ls="", ms=7, **own)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.margins(x=0.1)
    return ax
