"""Pictures as plain values, and the picture of a comparison of sets."""

from __future__ import annotations

from vendiscore.comparison import Comparison
from vendiscore.report.figures import Figure
from vendiscore.report.svg import svg


def captioned(figure: Figure) -> dict[str, str]:
    """Return a picture with its caption as plain values."""
    caption = f"{figure.title}. {figure.text}"
    return {"name": figure.name, "svg": figure.svg, "caption": caption}


def compared(comparison: Comparison) -> Figure:
    """Draw the scores of sets, compared at one size."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    picture = svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")
    text = f"The bar is the {100 * comparison.level:g} % interval."
    return Figure("matched", picture, "Scores at matched size", text)
