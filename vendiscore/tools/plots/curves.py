"""Plots of scores against the order, scale or number of samples, and scores with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...magnitude.curve import MagnitudeCurve
from ...support.namespace import Array, to_host
from ...support.optional import require
from ...support.types import Axes
from .axes import make_axes_if_none, reference_line_style

_MARKERS = "osD^"  # the next marker is used when all colours of the style are used


def profile(
    orders: Array | Sequence[float],
    values: Array,
    *,
    mark: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the score as a function of its order q.

    Parameters
    ----------
    orders : array-like of shape (m,)
        Orders, in ascending order.
    values : array-like of shape (m,)
        VS_q at each order.
    mark : tuple of float, optional
        A point (q, score) to mark; omitted if q is above the largest order.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.compute : Compute scores at several orders.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = profile([0, 1, 2], [3.0, 2.5, 2.2], mark=(1, 2.5), ax=Figure().add_subplot())
    >>> ax.get_xlabel()
    'order q'
    """
    ax = make_axes_if_none(ax)
    ax.plot(orders, to_host(values), color="C0", lw=2)
    if mark is not None and mark[0] <= orders[-1]:
        ax.plot(
            *mark,
            "o",
            color="C1",
            ms=7,
        )
    ax.set(xlabel="order q", ylabel="effective number of samples", ylim=(0, None))
    return ax


def growth(
    sizes: Array | Sequence[float],
    scores: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    n: float,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the score against the number of samples, dashed where it is extrapolated.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Numbers of samples, in ascending order.
    scores : array-like of shape (m,)
        Score at each size.
    low : array-like of shape (m,)
        Lower end of the interval at each size.
    high : array-like of shape (m,)
        Upper end of the interval at each size.
    n : int
        Number of samples of the set. Sizes above n are extrapolated.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.growth : Compute the curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = growth([2, 4, 8], [2, 3, 4], [1, 2, 3], [2, 4, 6], 4, ax=Figure().add_subplot())
    >>> [line.get_linestyle() for line in ax.lines[:2]]  # up to 4 samples, and above
    ['-', '--']
    """
    ax = make_axes_if_none(ax)
    x = np.asarray(sizes)
    y = np.asarray(scores)
    n_observed = np.searchsorted(x, n, side="right")
    ax.plot(x[:n_observed], y[:n_observed], color="C0", lw=2)
    if n_observed < len(x):
        last = max(n_observed - 1, 0)
        ax.plot(
            x[last:],
            y[last:],
            color="C0",
            lw=2,
            ls="--",
        )
    ax.fill_between(
        x,
        low,
        high,
        color="C0",
        alpha=0.25,
        lw=0,
    )
    ax.axvline(n, ls=":", **reference_line_style(ax))
    ax.set(
        xlabel="samples",
        ylabel="effective number of samples",
        xlim=(0, None),
        ylim=(0, None),
    )
    return ax


def magnitude(
    curve: MagnitudeCurve,
    *,
    t: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot a magnitude function, its convergence scale (dashed) and its limit (dotted).

    Parameters
    ----------
    curve : MagnitudeCurve
        Result of `vendiscore.magnitude.curve.magnitude_curve`.
    t : float, optional
        A scale to mark, at least 0.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    Raises
    ------
    TypeError
        If `curve` is another object, such as the result of `magnitude_function`, which has no
        convergence scale.

    See Also
    --------
    vendiscore.magnitude.curve.magnitude_curve : Compute the curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vendiscore.magnitude.curve import magnitude_curve
    >>> ax = magnitude(magnitude_curve([0.0, 1.0, 3.0]), t=1.0, ax=Figure().add_subplot())
    >>> ax.get_ylabel()
    'magnitude'
    """
    if not hasattr(curve, "convergence"):
        raise TypeError(
            f"`curve` must be a MagnitudeCurve, got {type(curve).__name__}; pass "
            f"vendiscore.magnitude.curve.magnitude_curve(samples)"
        )
    ax = make_axes_if_none(ax)
    n = curve.distinct
    ax.plot(curve.scales, curve.values, color="C0", lw=2)
    ax.axhline(n, ls=":", **reference_line_style(ax))
    ax.axvline(curve.convergence, ls="--", **reference_line_style(ax))
    if t is not None:
        ax.plot(
            t,
            curve.magnitude_at(t),
            "o",
            color="C1",
            ms=7,
        )
    ax.set(xlabel="scale t", ylabel="magnitude", ylim=(0, 1.08 * n))
    return ax


def selection(
    scores: np.ndarray,
    bound: float | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the score of each prefix of a selection, and the upper bound (dashed).

    Parameters
    ----------
    scores : array-like of shape (size,)
        VS_q of the first sample, the first two, and so on.
    bound : float, optional
        Upper bound of the score of any selection of this size.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.select : Compute a selection.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = selection([1.0, 1.9, 2.7], 2.9, ax=Figure().add_subplot())
    >>> ax.get_xlabel()
    'selected samples'
    """
    ax = make_axes_if_none(ax)
    sizes = np.arange(1, len(scores) + 1)
    marker = "o" if len(scores) == 1 else None
    ax.plot(
        sizes,
        scores,
        color="C0",
        lw=2,
        marker=marker,
    )
    if bound is not None:
        ax.axhline(bound, ls="--", **reference_line_style(ax))
    ax.set(xlabel="selected samples", ylabel="effective number of samples", ylim=(0, None))
    ax.locator_params("x", integer=True)
    return ax


def intervals(
    names: Sequence[str],
    scores: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    label: str = "effective number of samples",
    ax: Axes | None = None,
) -> Axes:
    """Plot the score of each set as a dot and its interval as a bar.

    Parameters
    ----------
    names : sequence of str
        Names of the sets, from top to bottom.
    scores : sequence of float
        Score of each set, such as `matched` of the `sets` of a Comparison.
    low : sequence of float
        Lower end of each interval, such as `matched_low`.
    high : sequence of float
        Upper end of each interval, such as `matched_high`.
    label : str, default "effective number of samples"
        Label of the horizontal axis.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.compare : Compute scores and intervals.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = intervals(["A", "B"], [3, 4], [2, 3], [4, 5], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    ax = make_axes_if_none(ax)
    style = require("matplotlib", "plots", "a figure").rcParams["axes.prop_cycle"].by_key()
    n_colours = len(style.get("color", "k"))
    for i, (value, lower, upper) in enumerate(zip(scores, low, high, strict=True)):
        colour = f"C{i}"
        marker = _MARKERS[i // n_colours % len(_MARKERS)]
        ax.plot(
            [lower, upper],
            [i, i],
            color=colour,
            lw=2.5,
            alpha=0.6,
        )
        ax.plot(
            value,
            i,
            ls="",
            ms=7,
            color=colour,
            marker=marker,
        )
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.margins(x=0.1)
    return ax


def monitor(
    counts: Sequence[int],
    means: Sequence[float],
    evidence: Sequence[float] = (),
    *,
    baseline: float | None = None,
    threshold: float | None = None,
    alarm_at: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot mean scores of consecutive prompts, and the evidence for a decrease.

    Parameters
    ----------
    counts : sequence of int of length m
        Number of prompts at the end of each window of consecutive prompts, in ascending order.
    means : sequence of float of length m
        Mean of each window.
    evidence : sequence of float, optional
        Evidence after each prompt, on a logarithmic axis on the right.
    baseline : float, optional
        The expected mean, a horizontal line.
    threshold : float, optional
        Evidence that causes an alarm, a horizontal line of the axis on the right.
    alarm_at : int, optional
        Number of prompts at the alarm, a vertical line.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the means.

    See Also
    --------
    vendiscore.Monitor.plot : Plot a monitor.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = monitor([10, 20], [3.0, 2.5], [1.0] * 20, baseline=3.1, ax=Figure().add_subplot())
    >>> ax.get_xlabel()
    'prompts'
    """
    ax = make_axes_if_none(ax)
    ax.step([0, *counts], [*means, means[-1]], where="post", color="C0", lw=2, label="mean")
    if baseline is not None:
        ax.axhline(baseline, **reference_line_style(ax), ls="--", label="baseline")
    if alarm_at is not None:
        ax.axvline(alarm_at, color="C3", lw=1.5, label="alarm")
    ax.set(xlabel="prompts", ylabel="mean score")
    if len(evidence):
        evidence_ax = ax.twinx()
        evidence_ax.plot(range(1, len(evidence) + 1), evidence, color="C1", lw=1)
        evidence_ax.set_yscale("log")
        evidence_ax.set_ylabel("evidence", color="C1")
        if threshold is not None:
            evidence_ax.axhline(threshold, color="C1", lw=0.8, ls=":")
    ax.legend(frameon=False)
    return ax
