"""Pictures as plain values, and the picture of a comparison of sets."""

from vendiscore.analysis.comparison import Comparison
from vendiscore.report import Figure


def captioned(figure: Figure) -> dict[str, str]:
    """Return a picture with its caption as plain values."""
    caption = f"{figure.title}. {figure.text}"
    return {"name": figure.name, "svg": figure.svg, "caption": caption}


def compared(comparison: Comparison) -> Figure:
    """Draw the scores of sets, compared at one size."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    title, text = "Scores at matched size", f"The bar is the {100 * comparison.level:g} % interval."
    return Figure.of("matched", title, text, comparison.plot, f"{title}: {words}")
