"""The picture of a comparison of sets, with a caption."""

from __future__ import annotations

from ...comparison import Comparison
from ...report.figures import Figure
from ...report.svg import svg


def compared(comparison: Comparison) -> Figure:
    """Draw the scores of sets, compared at one size."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    picture = svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")
    text = f"The bar is the {100 * comparison.level:g} % interval."
    return Figure("matched", picture, "Scores at matched size", text)
