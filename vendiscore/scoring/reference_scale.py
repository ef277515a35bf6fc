"""A score on a line between reference sets, rendered as text or SVG."""

import html
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

ReferenceScores: TypeAlias = list[tuple[str, float]]  # names and scores of reference sets
_LINE_WIDTH = 60  # characters per line


def render_text_strip(
    reference_scores: ReferenceScores, max_score: int, value: float, interval: Sequence[float]
) -> str:
    """Render the line, and the names of its marks in order, as two lines of at most 100 characters.

    The score is a dot, and its interval, if given, a thick line. Only the nearest reference sets
    are named if there is not enough room.

    >>> print(render_text_strip([["gpt-4o", 3.95], ["eight people", 7.79]], 8, 6, [5, 6.5]))
    1 ─────────────────────────┼────────━━━━━━━━●━━━───────────┼── 8
    gpt-4o (3.95), ● (6), eight people (7.79)
    """

    def column(x: float) -> int:
        return round(np.interp(x, [1, max_score], [0, _LINE_WIDTH - 1]))

    line = ["─"] * _LINE_WIDTH
    for i in range(*map(column, interval or (1, 1))):
        line[i] = "━"
    names = []
    room = 100
    for name, x in sorted([("●", value), *reference_scores], key=lambda rung: abs(rung[1] - value)):
        words = f"{name} ({x:.4g})"
        at = column(x)
        if line[at] in "─━" and len(words) <= room:
            line[at] = "┼"
            names.append((x, words))
            room -= len(words) + 2
    line[column(value)] = "●"
    ordered = ", ".join(words for _, words in sorted(names))
    return f"1 {''.join(line)} {max_score:,}\n{ordered}"


def render_html_strip(comparison: Mapping[str, str]) -> str:
    """Render the line as inline SVG with the names below it; "" without reference sets."""
    if not comparison["strip"]:
        return ""
    label, strip = (html.escape(comparison[key]) for key in ("typical", "strip"))
    line, names = strip.split("\n")
    return (
        f'<figure class="strip"><svg viewBox="0 0 600 24" role="img" aria-label="{label}">'
        '<text y="17" textLength="600" lengthAdjust="spacingAndGlyphs" font-family="monospace" '
        f'fill="currentColor">{line}</text></svg><figcaption>{names}</figcaption></figure>'
    )
