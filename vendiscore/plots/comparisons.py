"""Sets side by side at matched size: every draw of them, and their profiles."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from .axes import axes_of


def draws(comparison: Any, names: Sequence[str] = ascii_uppercase, *, ax: Any = None) -> Any:
    """One dot for the score of each draw of each set, and a bar for their mean.

    Parameters
    ----------
    comparison : Comparison
        Of `uncertainty.compare`.
    names : sequence of str
        Of the sets; A, B, … by default.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_of(ax)
    drawn = [scores.ravel() for scores in comparison.draws]
    for i, values in enumerate(drawn):
        spread = np.linspace(-0.12, 0.12, len(values))
        same = len(values) == 1 or not np.ptp(values)
        values, spread = (values[:1], np.zeros(1)) if same else (values, spread)
        ax.plot(values, i + spread, "o", color=f"C{i}", ms=5, alpha=0.75)
        ax.plot([np.mean(values)] * 2, [i - 0.25, i + 0.25], color=f"C{i}", lw=2.5)
    ax.set_yticks(range(len(drawn)), names[: len(drawn)])
    ax.set(xlabel="effectively different, at matched size", ylim=(len(drawn) - 0.5, -0.5))
    low, high = min(map(np.min, drawn)), max(map(np.max, drawn))
    ax.set_xlim(low - 0.08 * (high - low) - 0.2, high + 0.08 * (high - low) + 0.2)
    return ax


def profiles(comparison: Any, names: Sequence[str] = ascii_uppercase, *, ax: Any = None) -> Any:
    """The mean score of each set at every order, with a band of one standard error.

    Parameters
    ----------
    comparison : Comparison
        With `orders`, ascending.
    names : sequence of str
        Of the sets; A, B, … by default.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the comparison has no orders.
    """
    orders = comparison.orders
    if not orders:
        raise ValueError("`comparison` must have profiles; make it by compare(…, orders=[0, 1, 2])")
    ax = axes_of(ax)
    for i, name in zip(range(len(comparison.sizes)), names, strict=False):
        mean, error = comparison.profile(i)
        ax.plot(orders, mean, color=f"C{i}", lw=2, label=name)
        ax.fill_between(orders, mean - error, mean + error, color=f"C{i}", alpha=0.25, lw=0)
    ax.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
    ax.legend(frameon=False)
    return ax
