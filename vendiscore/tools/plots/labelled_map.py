"""Named points on a plane, with as many names as can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...support.namespace import Array
from ...support.optional import require
from ...support.types import Axes, Record
from .axes import axes_of

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox

_POINTS = 8.0  # height of a name
_WIDE = 0.58  # width of a letter, as a share of its height
_GAP = 4.0  # between a point and its name
_DOT = 2.0  # half the size of a point


def source_map(
    places: Array,
    names: Sequence[str],
    importance: Array | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot sources as points on a map, with names that do not overlap.

    Parameters
    ----------
    places : array-like of shape (n, 2)
        Coordinates, such as `places` of a `Sources` result.
    names : sequence of str
        Names of the sources.
    importance : array-like of shape (n,), optional
        The names of the most important sources are placed first.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.sources : Compute the map.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> at = [[0, 0], [0, 0], [0, 0], [1, 1]]
    >>> ax = source_map(at, ["a", "b", "c", "d"], [1, 2, 3, 4], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]  # on both sides of a point
    ['d', 'c', 'b']
    """
    ax = axes_of(ax)
    at = np.asarray(places, dtype=float)
    ax.scatter(at[:, 0], at[:, 1], s=14, color="C0")
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.margins(0.08)
    order = np.arange(len(at))
    if importance is not None:
        order = np.argsort(-np.asarray(importance))
    ax.apply_aspect()
    points = 72 / ax.figure.dpi
    pixels = points * ax.transData.transform(at)
    first, _, last, _ = points * np.array(ax.get_window_extent().extents)
    box_of = require("matplotlib.transforms", "plots", "a figure").Bbox.from_bounds
    dots = [box_of(x - _DOT, y - _DOT, 2 * _DOT, 2 * _DOT) for x, y in pixels]
    style: Record = {"textcoords": "offset points", "fontsize": _POINTS, "parse_math": False}
    taken: list[Bbox] = []
    for i in order.tolist():
        x, y = pixels[i]
        wide = _WIDE * _POINTS * len(names[i])
        free = []
        for side, gap, left in (("left", _GAP, x + _GAP), ("right", -_GAP, x - _GAP - wide)):
            box = box_of(left, y - _POINTS / 2, wide, _POINTS)
            if first <= left and left + wide <= last and not box.count_overlaps(taken):
                free.append((box.count_overlaps(dots) > 0, side, gap, box))
        if free:
            _, side, gap, box = min(free)
            taken.append(box)
            ax.annotate(
                names[i],
                at[i],
                (gap, 0),
                ha=side,
                va="center",
                **style,
            )
    return ax
