"""Pictures as plain values, and the picture of a comparison of sets."""

from dataclasses import replace

from vendiscore.report import Figure
from vendiscore.support.summary import truncate
from vendiscore.tools.analysis.comparison import Comparison
from vendiscore.tools.reports.svg import render_svg

_MAX_NAME_LENGTH = 24  # characters of a name in a picture


def add_caption(figure: Figure) -> dict[str, str]:
    """Return a picture with its caption as plain values."""
    caption = f"{figure.title}. {figure.text}"
    return {"name": figure.name, "svg": figure.svg, "caption": caption}


def draw_comparison(comparison: Comparison) -> Figure:
    """Draw the scores of sets, compared at one size."""
    title = "Scores at equal sample size"
    text = f"Bars show {100 * comparison.level:g} % intervals."
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    rows = [replace(row, name=truncate(row.name, _MAX_NAME_LENGTH)) for row in comparison.sets]
    shortened = replace(comparison, sets=tuple(rows))
    left = 0.05 + 0.018 * max(len(row.name) for row in rows)  # room for the longest name
    high = 0.9 + 0.3 * len(rows)  # inches
    frame = (left, 0.6 / high, 0.97 - left, 1 - 0.7 / high)
    return Figure(
        "matched", render_svg(shortened.plot, f"{title}: {words}", (4.8, high), frame), title, text
    )
