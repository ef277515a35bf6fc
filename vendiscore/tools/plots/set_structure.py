"""Plots of one set: its spectrum, its similarities, and the contribution of each sample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...spectral.leave_one_out import relative_drops
from ...support.namespace import Array, to_host
from ...support.types import Axes
from .axes import make_axes_if_none, reference_line_style

LABEL_HEIGHT = 7.0  # in points
MAX_BARS = 30


def spectrum(shares: Array, *, ax: Axes | None = None) -> Axes:
    """Plot the 30 largest normalized eigenvalues, in percent.

    Parameters
    ----------
    shares : array-like of shape (m,)
        Eigenvalues that sum to 1, in descending order, such as ``vendiscore.spectrum(similarity)``.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.spectrum : Compute eigenvalues.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = spectrum([0.5, 0.3], ax=Figure().add_subplot())
    >>> len(ax.patches)
    2
    """
    ax = make_axes_if_none(ax)
    heights = 100 * to_host(shares)[:MAX_BARS]
    ax.bar(np.arange(1, len(heights) + 1), heights, color="C0", width=0.8)
    ax.set(xlabel="direction, largest first", ylabel="proportion of the set (%)")
    ax.locator_params("x", integer=True)
    return ax


def contributions(
    adds: Array,
    redundant: Array,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Plot the contribution of each sample to the score, and mark near-duplicates.

    Parameters
    ----------
    adds : array-like of shape (n,)
        For each sample, log VS of all samples minus log VS without it.
    redundant : array-like of bool of shape (n,)
        Which samples are near-duplicates of others.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.explain : Compute contributions and near-duplicates.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = contributions([0.1, -0.2], [False, True], ax=Figure().add_subplot())
    >>> [label.get_text() for label in ax.get_legend().get_texts()]
    ['samples', 'near-duplicates']
    """
    ax = make_axes_if_none(ax)
    adds = np.asarray(adds)
    order = np.argsort(-adds, kind="stable")
    percent = 100 * relative_drops(adds[order])
    ranks = np.arange(len(order))
    is_redundant = np.asarray(redundant)[order]
    ax.plot(
        ranks,
        percent,
        ".",
        color="C0",
        ms=4,
        label="samples",
    )
    if is_redundant.any():
        ax.plot(
            ranks[is_redundant],
            percent[is_redundant],
            ".",
            color="C1",
            ms=5,
            label="near-duplicates",
        )
        ax.legend(frameon=False)
    ax.axhline(0, **reference_line_style(ax))
    ax.set(xlabel="samples, by decreasing contribution", ylabel="contribution to the score (%)")
    return ax


def heat_map(
    K: Array,
    order: np.ndarray | None = None,
    *,
    groups: Sequence[object] | np.ndarray | None = None,
    labels: Sequence[str] | None = None,
    cells: int = 240,
    ax: Axes | None = None,
) -> Axes:
    """Plot a similarity matrix as colours, with a colour bar.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Similarity matrix, such as ``similarity.dense()``. Not modified.
    order : array of int of shape (n,), optional
        Order in which rows are drawn, such as ``analysis.clustered_order(similarity)``; by default
        that of K.
    groups : array-like of shape (n,), optional
        Group of each sample of K. Lines separate groups.
    labels : sequence of str, optional
        Names of the rows, in the order in which they are drawn; shown if there is room.
    cells : int, default 240
        Maximum number of rows. Larger matrices are averaged over square blocks.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes with the plot.

    See Also
    --------
    vendiscore.as_similarity : Compute similarities.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = heat_map([[1.0, 0.2], [0.2, 1.0]], groups=["a", "b"], ax=Figure().add_subplot())
    >>> len(ax.images), [float(line.get_xdata()[0]) for line in ax.lines]
    (1, [1.5, 0.5])
    """
    ax = make_axes_if_none(ax)
    K = np.asarray(to_host(K))
    if order is not None:
        K = K[np.ix_(order, order)]
    n = len(K)
    K = average_blocks(K, cells)
    vmin = min(0.0, float(K.min()))
    extent = (0.5, n + 0.5, n + 0.5, 0.5)
    image = ax.imshow(
        K,
        "viridis",
        vmin=vmin,
        vmax=1,
        interpolation="nearest",
        extent=extent,
    )
    ax.set(xlabel="samples" if order is None else "samples, clustered")
    if groups is not None:
        _, codes = np.unique(np.asarray(groups), return_inverse=True)
        if order is not None:
            codes = codes[order]
        full_range = [0.5, n + 0.5]
        for end in np.flatnonzero(np.diff(codes)) + 1.5:
            ax.plot([end, end], full_range, color="white", lw=0.8)
            ax.plot(full_range, [end, end], color="white", lw=0.8)
    if labels is None:
        ax.set(ylabel="samples, in the same order")
        ax.locator_params(integer=True)
    else:
        height = ax.get_window_extent().height / ax.figure.dpi * 72  # in points
        step = max(1, math.ceil(n * LABEL_HEIGHT / height))
        ticks = range(1, n + 1, step)
        ax.set_yticks(ticks, labels[::step], fontsize=LABEL_HEIGHT, parse_math=False)
        ax.set(xlabel="in the same order", xticks=[])
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.04, 0, 0.05, 1)))
    bar.outline.set_visible(False)
    bar.set_label("similarity")
    return ax


def average_blocks(K: np.ndarray, cells: int) -> np.ndarray:
    """Average a similarity matrix over square blocks, to at most `cells` rows and columns."""
    n = len(K)
    if n <= cells:
        return K
    edges = np.linspace(0, n, cells + 1).astype(int)[:-1]
    row_sums = np.add.reduceat(K, edges, axis=0)
    sums = np.add.reduceat(row_sums, edges, axis=1)
    sizes = np.diff(edges, append=n)
    return sums / np.outer(sizes, sizes)
