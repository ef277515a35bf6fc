"""How many samples can be told apart, scale by scale."""

from __future__ import annotations

from typing import Any

from ..magnitude.curve import Curve
from .axes import axes_of, ink


def magnitude(curve: Curve, *, t: float | None = None, ax: Any = None) -> Any:
    """The magnitude function, with the convergence scale (dashed) and what it approaches (dotted).

    Parameters
    ----------
    curve : Curve
        What `vendiscore.magnitude.curve.magnitude_curve` returns.
    t : float ≥ 0, optional
        A scale to mark.
    ax : matplotlib Axes, optional
        What to draw on; the Axes of a new figure unless given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vendiscore.magnitude.curve import magnitude_curve
    >>> ax = magnitude(magnitude_curve([0.0, 1.0, 3.0]), t=1.0, ax=Figure().add_subplot())
    >>> ax.get_ylabel()
    'magnitude'
    """
    ax = axes_of(ax)
    n = curve.distinct
    ax.plot(curve.scales, curve.values, color="C0", lw=2)
    ax.axhline(n, color=ink(ax), lw=0.8, ls=":")
    ax.axvline(curve.convergence, color=ink(ax), lw=0.8, ls="--")
    if t is not None:
        ax.plot([t], [curve.at(t)], "o", color="C1", ms=7)
    ax.set(xlabel="scale t", ylabel="magnitude", ylim=(0, 1.08 * n))
    return ax
