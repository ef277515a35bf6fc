"""Which samples are alike, which repeat others, which add: the sections about single samples."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..analysis import sentences
from ..analysis.findings import Findings
from ..analysis.sample_table import Explanation
from ..analysis.spectral_modes import Mode
from ..spectral.rank_one import lost
from .markup import escape, listing, paragraph, table
from .previews import Previews

# What is shown of each; the rest is counted.
NEAR_GROUPS, NEAR_MEMBERS, MODES, PAIRS, REDUNDANT, ADDING = 8, 4, 8, 2, 8, 4
# Characters of a text in a list, and in the table of all samples.
LONGEST, LONGEST_OF_ALL = 400, 1_200
# Bytes of the table of all samples.
ROOM = 280_000


def alike(found: Findings, shown: Previews) -> str:
    """Return groups of near-duplicates, the closest pairs around the threshold, and modes."""
    explained = found.explanation
    if explained is None or found.n < 2:
        return ""
    return "".join(
        [
            paragraph(_of_what(found)),
            "<h3>Near-duplicates</h3>",
            _near(explained, shown),
            _boundary(explained, shown),
            "<h3>Modes</h3>",
            paragraph(
                "A mode is a direction that samples share; its share is how much of the set lies "
                "in it. With each, the samples that it is the most of."
            ),
            _modes(explained, shown),
        ]
    )


def redundant(found: Findings, shown: Previews) -> str:
    """Return the samples that add the least, each with its nearest, and those that add the most."""
    explained = found.explanation
    if explained is None or found.n < 2:
        return ""
    places, adds = explained.places, found.adds
    order = np.argsort(np.round(adds, 9), kind="stable")  # which rounding does not change
    least = [
        [
            shown.cell(int(places[i]), LONGEST),
            shown.cell(int(explained.nearest[i]), LONGEST),
            f"{explained.nearest_similarity[i]:.3f}",
            _percent(adds[i]),
        ]
        for i in _one_of_each(order, explained, min(REDUNDANT, found.n // 2))
    ]
    most = [
        [shown.cell(int(places[i]), LONGEST), _percent(adds[i])]
        for i in order[::-1][: min(ADDING, found.n // 2)].tolist()
    ]
    name = shown.word
    head = [name, f"the {name} most like it", "similarity", "adds to the score"]
    return (
        paragraph(_of_what(found))
        + "<h3>Most redundant</h3>"
        + paragraph(
            "A sample adds the share of the score that would be lost without it; below 0 %, the "
            "set is more diverse without it.",
            sentences.adding(found.order, found.adds_order),
        )
        + table(head, least)
        + "<h3>Adds the most</h3>"
        + table([name, "adds to the score"], most)
    )


def _one_of_each(order: np.ndarray, explained: Explanation, count: int) -> list[int]:
    """Return the first rows of an order, of two that are nearest to each other only one."""
    chosen: dict[tuple[int, int], int] = {}
    for i in order.tolist():
        place, nearest = int(explained.places[i]), int(explained.nearest[i])
        chosen.setdefault((min(place, nearest), max(place, nearest)), i)
        if len(chosen) == count:
            break
    return list(chosen.values())


def every(found: Findings, shown: Previews) -> str:
    """Return all samples, as many as there is room for, folded."""
    explained = found.explanation
    numbered = explained if explained is not None and found.n > 1 else None
    places = found.places if found.similarity is not None else np.arange(found.n)
    head = ["no.", shown.word]
    if numbered is not None:
        head += ["most like", "similarity", "adds", "mode", "repeats"]
    rows: list[list[str]] = []
    left = ROOM
    for i, place in enumerate(places.tolist()):
        row = [str(place), shown.cell(place, LONGEST_OF_ALL)]
        if numbered is not None:
            row += _columns(numbered, float(found.adds[i]), i)
        left -= len("".join(row).encode()) + 9 * len(row) + 30
        if left < 0:
            break
        rows.append(row)
    few = (
        f"Of {found.n:,}, the {len(places):,} that were looked at are here."
        if len(places) < found.n
        else ""
    )
    missing = len(places) - len(rows)
    cut = (
        f"The first {len(rows):,} are here; {missing:,} {'is' if missing == 1 else 'are'} left "
        f"out, so that this file stays small."
        if missing
        else ""
    )
    numbers = "Numbers are places in the list that was given, from 0."
    summary = shown.counted(len(rows))
    return paragraph(few, cut, numbers) + (
        f"<details><summary>{escape(summary)}</summary>{table(head, rows)}</details>"
    )


def _of_what(found: Findings) -> str:
    """Return which samples this is about, where it is not plainly all."""
    few = sentences.looked_at(len(found.chosen), found.n)
    return f"{few} {'This is about all groups together.' if found.grouped else ''}".strip()


def _near(explained: Explanation, shown: Previews) -> str:
    groups = explained.groups
    removed = sum(len(rest) for _, rest in groups)
    left = explained.n - removed
    said = sentences.near_duplicates(
        len(groups), removed, explained.threshold, explained.score_without_duplicates, left
    )
    items = []
    for keep, rest in groups[:NEAR_GROUPS]:
        often = Counter(map(shown.label, (keep, *rest)))
        first = {shown.label(place): place for place in reversed((keep, *rest))}
        cells = [
            shown.cell(first[label], LONGEST) + (f" <b>× {count:,}</b>" if count > 1 else "")
            for label, count in list(often.items())[:NEAR_MEMBERS]
        ]
        cells[0] += ' <small class="keep">the one to keep</small>'
        more = len(often) - NEAR_MEMBERS
        items.append(
            f"<b>{len(rest) + 1:,} alike</b>{listing(cells, name=shown.kind)}"
            + (f"<p>and {more:,} more</p>" if more > 0 else "")
        )
    more = len(groups) - NEAR_GROUPS
    return (
        paragraph(said)
        + (listing(items, "ol") if items else "")
        + paragraph(f"And {more:,} more groups." if more > 0 else "")
    )


def _boundary(explained: Explanation, shown: Previews) -> str:
    """Return the pairs that decide whether the threshold is the one that is meant."""
    above, below = explained.boundary(PAIRS)
    rows = [
        [f"{pair.similarity:.3f}", shown.cell(pair.i, LONGEST), shown.cell(pair.j, LONGEST), side]
        for side, pairs in (("near-duplicates", above[::-1]), ("not", below))
        for pair in pairs
    ]
    if not rows:
        return ""
    caption = "The pairs next to the threshold, identical ones taken as one"
    return table(["similarity", "one", "the other", "counted as"], rows, caption)


def _modes(explained: Explanation, shown: Previews) -> str:
    every = explained.modes()
    modes = [mode for mode in every if len(mode.members)][:MODES]

    def row(mode: Mode) -> list[str]:
        cells = [shown.cell(place, LONGEST) for place in mode.exemplars]
        members = len(mode.members)
        return [
            f"{mode.number + 1}",
            f"{100 * mode.share:.1f} %",
            f"{members:,}",
            listing(cells, name=shown.kind),
        ]

    more = len(every) - len(modes)
    head = ["mode", "share", shown.what, "the most of"]
    return table(head, map(row, modes)) + paragraph(
        f"And {more:,} more, smaller or the main one of no {shown.word}." if more > 0 else ""
    )


def _columns(explained: Explanation, adds: float, i: int) -> list[str]:
    of = int(explained.redundant_of[i])
    return [
        str(int(explained.nearest[i])),
        f"{explained.nearest_similarity[i]:.3f}",
        _percent(adds),
        str(int(explained.mode[i]) + 1) if explained.mode[i] >= 0 else "",
        "" if of < 0 else str(of),
    ]


def _percent(adds: float) -> str:
    """Return the share of the score that is lost without a sample, in percent."""
    value = 100 * float(lost(adds))
    return f"{0.0 if abs(value) < 0.005 else value:+.2f}\N{NO-BREAK SPACE}%"
