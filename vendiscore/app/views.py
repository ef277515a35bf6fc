"""The pictures of the page, as SVG that takes its ink from the page, light or dark.

Text stays text and lines stay lines, so they are sharp on a phone and read out by a screen
reader through their label. No word of a visitor is ever drawn.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain.analysis import ORDERS, Analysis

# matplotlib's text layout and font caches are shared by its figures.
_lock = threading.Lock()
_INK = "#010203"  # becomes currentColor
_ACCENTS = ("#7c6cf2", "#e8871e", "#1f9e89")
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
BARS = 30  # shares that are drawn one by one
_CELLS = 240  # rows of the heat map that are drawn; more are averaged


def spectrum(analysis: Analysis) -> str:
    """The largest eigenvalues as shares of the whole, in percent."""
    shares = 100 * analysis.shares[:BARS]

    def draw(axes: Any) -> None:
        axes.bar(np.arange(1, len(shares) + 1), shares, color=_ACCENTS[0], width=0.8)
        axes.set(xlabel="direction, largest first", ylabel="share of the set (%)")
        axes.xaxis.get_major_locator().set_params(integer=True)

    return _svg(draw, f"Spectrum: the largest of {len(analysis.shares)} shares is {shares[0]:.1f}%")


def profile(analysis: Analysis) -> str:
    """The score for every order q, with the one asked for marked."""

    def draw(axes: Any) -> None:
        axes.plot(ORDERS, analysis.profile, color=_ACCENTS[0], lw=2)
        if analysis.q <= ORDERS[-1]:
            axes.plot([analysis.q], [analysis.score], "o", color=_ACCENTS[1], ms=7)
        axes.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))

    first, last = analysis.profile[0], analysis.profile[-1]
    return _svg(draw, f"Profile: from {first:.1f} at q = 0 to {last:.1f} at q = {ORDERS[-1]:g}")


def heat_map(analysis: Analysis) -> str:
    """All similarities, similar samples side by side."""
    K = analysis.K[np.ix_(analysis.order, analysis.order)]
    n = len(K)
    if n > _CELLS:
        edges = np.linspace(0, n, _CELLS + 1).astype(int)[:-1]
        K = np.add.reduceat(np.add.reduceat(K, edges, axis=0), edges, axis=1)
        size = np.diff(np.append(edges, n))
        K = K / np.outer(size, size)

    def draw(axes: Any) -> None:
        image = axes.imshow(
            K,
            vmin=min(0.0, float(K.min())),
            vmax=1,
            cmap="viridis",
            interpolation="nearest",
            extent=(0.5, n + 0.5, n + 0.5, 0.5),
        )
        axes.set(xlabel="samples, clustered", ylabel="")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)
        bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.04, 0, 0.05, 1)))
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=_INK)

    return _svg(
        draw, f"Heat map of the similarities of {n} samples", (4.4, 3.7), (0.11, 0.13, 0.75, 0.85)
    )


def magnitude(
    scales: np.ndarray, values: np.ndarray, n: int, convergence: float, chosen: float, at: float
) -> str:
    """The magnitude function, with the convergence scale and the chosen scale marked."""

    def draw(axes: Any) -> None:
        axes.plot(scales, values, color=_ACCENTS[0], lw=2)
        axes.axhline(n, color=_INK, lw=0.8, ls=":")
        axes.axvline(convergence, color=_INK, lw=0.8, ls="--")
        axes.plot([chosen], [at], "o", color=_ACCENTS[1], ms=7)
        axes.set(xlabel="scale t", ylabel="magnitude", ylim=(0, 1.08 * n))

    return _svg(
        draw,
        f"Magnitude function: {at:.1f} at scale {chosen:.3g}, {n} far beyond {convergence:.3g}",
    )


def profiles(names: Sequence[str], means: Sequence[np.ndarray], sds: Sequence[np.ndarray]) -> str:
    """The profiles of several sets at matched size, each a mean with a band of one deviation."""

    def draw(axes: Any) -> None:
        for name, mean, sd, colour in zip(names, means, sds, _ACCENTS, strict=False):
            axes.plot(ORDERS, mean, color=colour, lw=2, label=name)
            axes.fill_between(ORDERS, mean - sd, mean + sd, color=colour, alpha=0.25, lw=0)
        axes.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
        axes.legend(frameon=False, labelcolor=_INK)

    ends = ", ".join(f"{name} {mean[0]:.1f}" for name, mean in zip(names, means, strict=True))
    return _svg(draw, f"Profiles at matched size; at q = 0: {ends}")


def dots(names: Sequence[str], draws: Sequence[np.ndarray]) -> str:
    """One dot for the score of each draw of each set."""

    def draw(axes: Any) -> None:
        for i, values in enumerate(draws):
            spread = np.linspace(-0.12, 0.12, len(values))
            same = len(values) == 1 or not np.ptp(values)
            values, spread = (values[:1], np.zeros(1)) if same else (values, spread)
            axes.plot(values, i + spread, "o", color=_ACCENTS[i], ms=5, alpha=0.75)
            axes.plot([np.mean(values)] * 2, [i - 0.25, i + 0.25], color=_ACCENTS[i], lw=2.5)
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="effectively different, at matched size", ylim=(len(names) - 0.5, -0.5))
        low, high = min(map(np.min, draws)), max(map(np.max, draws))
        axes.set_xlim(low - 0.08 * (high - low) - 0.2, high + 0.08 * (high - low) + 0.2)

    words = ", ".join(f"{n} {np.mean(v):.1f}" for n, v in zip(names, draws, strict=True))
    return _svg(draw, f"Scores at matched size: {words}")


def _svg(
    draw: Any,
    label: str,
    size: tuple[float, float] = (4.4, 3.0),
    frame: tuple[float, float, float, float] = (0.16, 0.16, 0.82, 0.81),
) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with _lock, matplotlib.rc_context({"svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=size)
        axes = figure.add_axes(frame)  # a layout found by matplotlib takes as long as the picture
        for spine in axes.spines.values():
            spine.set_color(_INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=_INK)
        axes.xaxis.label.set_color(_INK)
        axes.yaxis.label.set_color(_INK)
        draw(axes)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    # Its own size in points gives way to that of the page.
    head, _, body = text.partition(">")
    view = head[head.index("viewBox") :].split('"')[1]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view}" role="img" aria-label="{label}">{body}'
    )
