"""Pictures of comparisons of sets, each with a caption."""

from __future__ import annotations

from collections.abc import Iterator

from ... import plots
from ...comparison import Comparison
from ...report.figures import Figure
from ...report.markup import cut
from ...report.svg import svg

_NAME = 24  # characters of a name in a legend, which leave room for the curves


def compared(comparison: Comparison) -> Iterator[Figure]:
    """Draw the scores and the profiles of sets, compared at one size."""
    words = ", ".join(f"{row.name} {row.matched:.1f}" for row in comparison.sets)
    picture = svg(lambda ax: comparison.plot(ax=ax), f"Scores at matched size: {words}")
    text = f"The bar is the {100 * comparison.level:g} % interval."
    yield Figure("matched", picture, "Scores at matched size", text)
    if not comparison.profiles:
        return
    names, curves = comparison.names, comparison.profiles
    ends = ", ".join(f"{name} {curve[0, 0]:.1f}" for name, curve in zip(names, curves, strict=True))
    legend = [cut(name, _NAME) for name in names]
    picture = svg(
        lambda ax: plots.profiles(comparison.orders, legend, curves, ax=ax),
        f"Profiles at matched size; at q = 0: {ends}",
    )
    text = "With intervals. Where curves cross, which set is more diverse depends on q."
    yield Figure("profiles", picture, "Profiles at matched size", text)
