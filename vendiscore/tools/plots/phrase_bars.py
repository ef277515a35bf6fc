"""A bar chart of the phrases that cost most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...support.summary import truncate
from ...support.types import Axes
from .axes import make_axes_if_none

_MAX_LABEL_CHARACTERS = 40


def phrases(
    labels: Sequence[str],
    costs: Sequence[float] | Mapping[str, Sequence[float]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the cost of each phrase as a horizontal bar, the first phrase at the top.

    Parameters
    ----------
    labels : sequence of str of length m
        The phrases.
    costs : sequence of float of length m, or dict of these
        The cost of each phrase in effective texts. A dict maps names of sets to costs, for one bar
        per set.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.phrases : Compute the costs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = phrases(["of course", "I think"], [2.5, 1.0], ax=Figure().add_subplot())
    >>> [float(bar.get_width()) for bar in ax.patches]
    [2.5, 1.0]
    """
    costs_by_set = dict(costs) if isinstance(costs, Mapping) else {"": costs}
    positions = np.arange(len(labels))
    height = 0.8 / len(costs_by_set)
    ax = make_axes_if_none(ax, figsize=(6.4, 1.2 + 0.3 * max(3, len(labels))), layout="constrained")
    for i, (name, values) in enumerate(costs_by_set.items()):
        offsets = positions + (i - (len(costs_by_set) - 1) / 2) * height
        ax.barh(offsets, values, height, color=f"C{i}", label=name)
    ax.set_yticks(positions, [truncate(" ".join(s.split()), _MAX_LABEL_CHARACTERS) for s in labels])
    ax.invert_yaxis()
    ax.set(xlabel="cost (effective texts)")
    if len(costs_by_set) > 1:
        ax.legend(frameon=False)
    return ax
