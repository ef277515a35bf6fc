"""A score marked on a line with the scores of reference sets, rendered as text or SVG."""

import html
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

ReferenceScores: TypeAlias = list[tuple[str, float]]  # names and scores of reference sets
_LINE_WIDTH = 60  # length of the line in characters


def render_text_strip(
    reference_scores: ReferenceScores, max_score: int, value: float, interval: Sequence[float]
) -> str:
    """Render a line from 1 to `max_score` with marks, and below it the names of the marks.

    The score `value` is shown as a dot, and its `interval` (lower and upper limit, or empty) as a
    thick line. Marks show the scores of reference sets. The names take at most 100 characters;
    reference sets whose scores are far from `value` are omitted if necessary.

    >>> print(render_text_strip([["gpt-4o", 3.95], ["eight people", 7.79]], 8, 6, [5, 6.5]))
    1 ─────────────────────────┼────────━━━━━━━━●━━━───────────┼── 8
    gpt-4o (3.95), ● (6), eight people (7.79)
    """

    def compute_column(x: float) -> int:
        return round(np.interp(x, [1, max_score], [0, _LINE_WIDTH - 1]))

    line = ["─"] * _LINE_WIDTH
    for i in range(*map(compute_column, interval or (1, 1))):  # no columns without an interval
        line[i] = "━"
    labels = []
    remaining_characters = 100
    # Marks near the score come first, and a column that already has a mark gets no other.
    by_distance = sorted(
        [("●", value), *reference_scores], key=lambda reference: abs(reference[1] - value)
    )
    for name, x in by_distance:
        label = f"{name} ({x:.4g})"
        column = compute_column(x)
        if line[column] in "─━" and len(label) <= remaining_characters:
            line[column] = "┼"
            labels.append((x, label))
            remaining_characters -= len(label) + len(", ")
    line[compute_column(value)] = "●"
    sorted_labels = ", ".join(label for _, label in sorted(labels))
    return f"1 {''.join(line)} {max_score:,}\n{sorted_labels}"


def render_html_strip(comparison: Mapping[str, str]) -> str:
    """Render a line with marks at a score and at the scores of reference sets, as inline SVG.

    `comparison` is the result of `compare_with_typical`. It has two entries: "strip", a text of two
    lines, of which the first consists of characters that draw the line with its marks, and the
    second contains the names of the marks; and "typical", a sentence that describes the position of
    the score. Both are empty if there are no reference sets, and the result is then "".
    """
    if not comparison["strip"]:
        return ""
    label = html.escape(comparison["typical"])
    line, names = html.escape(comparison["strip"]).split("\n")
    return (
        f'<figure class="strip"><svg viewBox="0 0 600 24" role="img" aria-label="{label}">'
        '<text y="17" textLength="600" lengthAdjust="spacingAndGlyphs" font-family="monospace" '
        f'fill="currentColor">{line}</text></svg><figcaption>{names}</figcaption></figure>'
    )
