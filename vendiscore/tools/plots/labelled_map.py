"""A map of named points; names that would overlap are omitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...support.namespace import Array
from ...support.optional import require
from ...support.types import Axes, Record
from .axes import make_axes_if_none

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox

# Sizes in points (1/72 inch).
LABEL_HEIGHT = 8.0
LABEL_GAP = 4.0  # between a point and its name
POINT_RADIUS = 2.0
# Mean width of a character, relative to its height.
CHARACTER_WIDTH = 0.58


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
        Importance of each source. If names overlap, those of more important sources are shown.
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
    >>> coordinates = [[0, 0], [0, 0], [0, 0], [1, 1]]
    >>> ax = source_map(coordinates, ["a", "b", "c", "d"], [1, 2, 3, 4], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]  # a point has room for two names
    ['d', 'c', 'b']
    """
    ax = make_axes_if_none(ax)
    coordinates = np.asarray(places, dtype=float)
    ax.scatter(coordinates[:, 0], coordinates[:, 1], s=14, color="C0")
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.margins(0.08)
    label_order = np.arange(len(coordinates))
    if importance is not None:
        label_order = np.argsort(-np.asarray(importance))
    ax.apply_aspect()
    points_per_pixel = 72 / ax.figure.dpi
    positions_in_points = points_per_pixel * ax.transData.transform(coordinates)
    left_edge, _, right_edge, _ = points_per_pixel * np.array(ax.get_window_extent().extents)
    make_box = require("matplotlib.transforms", "plots", "a figure").Bbox.from_bounds
    point_boxes = [
        make_box(x - POINT_RADIUS, y - POINT_RADIUS, 2 * POINT_RADIUS, 2 * POINT_RADIUS)
        for x, y in positions_in_points
    ]
    style: Record = {"textcoords": "offset points", "fontsize": LABEL_HEIGHT, "parse_math": False}
    label_boxes: list[Bbox] = []
    for i in label_order.tolist():
        x, y = positions_in_points[i]
        width = CHARACTER_WIDTH * LABEL_HEIGHT * len(names[i])
        positions = []
        for side, gap, left in (
            ("left", LABEL_GAP, x + LABEL_GAP),
            ("right", -LABEL_GAP, x - LABEL_GAP - width),
        ):
            box = make_box(left, y - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)
            if (
                left_edge <= left
                and left + width <= right_edge
                and not box.count_overlaps(label_boxes)
            ):
                positions.append((box.count_overlaps(point_boxes) > 0, side, gap, box))
        if positions:
            _, side, gap, box = min(positions)
            label_boxes.append(box)
            ax.annotate(
                names[i],
                coordinates[i],
                (gap, 0),
                ha=side,
                va="center",
                **style,
            )
    return ax
