"""Sets side by side: their scores with intervals, and their profiles with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..optional import require
from .axes import axes_of, ink

# Of the sets in the first round of the style's colours, the second, …; lines that mark something
# are dotted.
_LOOKS: tuple[tuple[Any, str], ...] = (
    ("-", "o"),
    ("--", "s"),
    ("-.", "D"),
    ((0, (5, 1, 1, 1, 1, 1)), "^"),
)


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

    Where there are more sets than the style has colours, their dots are squares and others.

    Parameters
    ----------
    names : sequence of str
        Of the sets, from the top.
    scores, low, high : sequences of float, one for each name
        Such as `matched`, `matched_low` and `matched_high` of the `sets` of a Comparison.
    label : str
        What the scores are.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

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
    for i, (score, left, right) in enumerate(zip(scores, low, high, strict=True)):
        _bar(ax, i, score, left, right, f"C{i}", _look(i)[1])
    return _named(ax, names, label)


def differences(
    names: Sequence[str],
    differences: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    label: str = "more effectively different",
    ax: Any = None,
) -> Any:
    """A forest: a dot for each difference of two sets, a bar for its interval, and a line at none.

    Differences whose interval has 0 in it are hollow.

    Parameters
    ----------
    names : sequence of str
        What differs, such as "A − B".
    differences, low, high : sequences of float, one for each name
        Such as `difference`, `low` and `high` of the `pairs` of a Comparison.
    label : str
        What the differences are of.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = differences(["A − B"], [1.5], [0.5], [2.5], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A − B']
    """
    ax = axes_of(ax)
    ax.axvline(0, color=ink(ax), lw=0.8, ls=":")
    for i, (value, left, right) in enumerate(zip(differences, low, high, strict=True)):
        _bar(ax, i, value, left, right, "C0", "o", hollow=left <= 0 <= right)
    return _named(ax, names, label)


def _look(i: int) -> tuple[Any, str]:
    """The line and the mark of the i-th set, which tell it from others of its colour."""
    style = require("matplotlib", "plots", "a picture").rcParams["axes.prop_cycle"].by_key()
    return _LOOKS[i // len(style.get("color", "k")) % len(_LOOKS)]


def _bar(
    ax: Any,
    i: int,
    value: float,
    low: float,
    high: float,
    colour: str,
    mark: str,
    hollow: bool = False,
) -> None:
    """The i-th row: an interval with a dot in it."""
    ax.plot([low, high], [i, i], color=colour, lw=2.5, alpha=0.6)
    ax.plot([value], [i], mark, color=colour, mfc="none" if hollow else colour, ms=7)


def _named(ax: Any, names: Sequence[str], label: str) -> Any:
    """The Axes with a name for each row, the first at the top."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
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

    Where there are more sets than the style has colours, their lines are dashed and others.

    Parameters
    ----------
    orders : sequence of float, ascending
    names : sequence of str
    curves : sequence of array (3, len(orders))
        For each name the scores, and the lower and upper ends of their intervals.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are no orders.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import numpy as np
    >>> curve = np.array([[2.0, 1.5], [1.8, 1.3], [2.2, 1.7]])
    >>> ax = profiles([0, 1], ["A"], [curve], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['A']
    """
    if not len(orders):
        raise ValueError("`orders` must have one order or more; pass orders= to compare")
    ax = axes_of(ax)
    for i, (name, (scores, low, high)) in enumerate(zip(names, curves, strict=True)):
        ax.plot(orders, scores, color=f"C{i}", ls=_look(i)[0], lw=2, label=name)
        ax.fill_between(orders, low, high, color=f"C{i}", alpha=0.25, lw=0)
    ax.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
    ax.legend(frameon=False)
    return ax
