"""Named points on a plane, with as many names as can be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .axes import picture

_POINTS = 8.0  # height of a name
_WIDE = 0.56  # of a letter, as a share of its height


@picture
def source_map(places: Any, names: Sequence[str], importance: Any = None, *, ax: Any = None) -> Any:
    """Plot sources as points, with the names that do not overlap.

    Parameters
    ----------
    places : array (n, 2), such as `Sources.places`
    names : sequence of str
    importance : array (n,), optional, by which names are given room; by default as they come
    {ax}

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> at = [[0, 0], [0, 0.001], [1, 1]]
    >>> ax = source_map(at, ["a", "b", "c"], [1, 2, 3], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['c', 'b']
    """
    at = np.asarray(places, dtype=float)
    ax.scatter(*at.T, s=14, color="C0")
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.margins(0.08)
    order = range(len(at)) if importance is None else np.argsort(-np.asarray(importance))
    ax.apply_aspect()
    pixels = ax.transData.transform(at) * 72 / ax.figure.dpi
    taken: list[tuple[float, float, float, float]] = []
    for i in order:
        x, y = pixels[i] + (4.0, -_POINTS / 3)
        box = (x, y, x + _WIDE * _POINTS * len(names[i]), y + _POINTS)
        if any(_overlap(box, other) for other in taken):
            continue
        taken.append(box)
        style = {"textcoords": "offset points", "fontsize": _POINTS, "parse_math": False}
        ax.annotate(names[i], at[i], (4, -_POINTS / 3), **style)
    return ax


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
