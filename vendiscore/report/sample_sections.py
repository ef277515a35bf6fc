"""Sections about single samples: near-duplicates, modes, and what each sample adds."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..analysis import sentences
from ..analysis.findings import Findings
from ..analysis.sample_table import PAIRS, Explanation
from ..spectral.rank_one import lost
from .markup import listing, more, paragraph, table
from .previews import Previews

# Most entries of each list; the rest is counted.
NEAR_GROUPS, NEAR_MEMBERS, MODES, REDUNDANT, ADDING = 8, 4, 8, 8, 4
LONGEST, LONGEST_OF_ALL = 400, 1_200  # characters of a text in a list, and in the table of all
ROOM = 280_000  # bytes of the table of all samples


def alike(found: Findings, shown: Previews) -> str:
    """Return groups of near-duplicates, the closest pairs around the threshold, and modes."""
    if found.similarity is None or found.n < 2:
        return ""
    explained = found.alike
    modes = (
        "A mode is a direction that samples share; its share is how much of the set lies in it. "
        "With each, the samples that it is the most of."
    )
    return (
        paragraph(_of_what(found, explained))
        + "<h3>Near-duplicates</h3>"
        + _near(explained, shown)
        + _boundary(explained, shown)
        + "<h3>Modes</h3>"
        + paragraph(modes)
        + _modes(explained, shown)
    )


def redundant(found: Findings, shown: Previews) -> str:
    """Return the samples that add the least, with their nearest, and the samples that add most."""
    if found.similarity is None or found.n < 2:
        return ""
    explained = found.explanation
    places, adds = explained.places, found.adds
    order = np.argsort(np.round(adds, 9), kind="stable")  # an order that rounding does not change
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
        paragraph(_of_what(found, explained))
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
    """Return the first rows of an order, but only one of two that are nearest to each other."""
    chosen: dict[tuple[int, int], int] = {}
    for i in order.tolist():
        place, nearest = int(explained.places[i]), int(explained.nearest[i])
        chosen.setdefault((min(place, nearest), max(place, nearest)), i)
        if len(chosen) == count:
            break
    return list(chosen.values())


def every(found: Findings, shown: Previews) -> str:
    """Return a folded table of all samples, or of as many as the file has room for."""
    numbered = found.explanation if found.similarity is not None and found.n > 1 else None
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
    said = []
    if len(places) < found.n:
        said.append(f"The {len(places):,} of {found.n:,} that were looked at are here.")
    if missing := len(places) - len(rows):
        said.append(
            f"The first {len(rows):,} are here; {missing:,} {'is' if missing == 1 else 'are'} left "
            f"out, so that this file stays small."
        )
    said.append("Numbers are places in the list that was given, from 0.")
    summary = f"<summary>{shown.counted(len(rows))}</summary>"
    return f"{paragraph(*said)}<details>{summary}{table(head, rows)}</details>"


def _of_what(found: Findings, explained: Explanation) -> str:
    """Return a sentence on which samples were compared, unless all were."""
    few = sentences.looked_at(explained.n, found.n)
    return f"{few} {'This is about all groups together.' if found.grouped else ''}".strip()


def _near(explained: Explanation, shown: Previews) -> str:
    groups, items = explained.groups, []
    for keep, rest in groups[:NEAR_GROUPS]:
        often = Counter(map(shown.label, (keep, *rest)))
        first = {shown.label(place): place for place in reversed((keep, *rest))}
        cells = [
            shown.cell(first[label], LONGEST) + (f" <b>× {count:,}</b>" if count > 1 else "")
            for label, count in list(often.items())[:NEAR_MEMBERS]
        ]
        cells[0] += ' <small class="keep">the one to keep</small>'
        beyond = len(often) - NEAR_MEMBERS
        items.append(
            f"<b>{len(rest) + 1:,} alike</b>{listing(cells, name=shown.kind)}"
            + (f"<p>and {beyond:,} more</p>" if beyond > 0 else "")
        )
    said = paragraph(sentences.near_duplicates(explained))
    found = listing(items, "ol") if items else ""
    return said + found + more(len(groups) - NEAR_GROUPS, " groups")


def _boundary(explained: Explanation, shown: Previews) -> str:
    """Return the closest pairs on both sides of the threshold, by which to judge it."""
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
    rows = []
    for mode in [mode for mode in every if len(mode.members)][:MODES]:
        most = listing((shown.cell(place, LONGEST) for place in mode.exemplars), name=shown.kind)
        share, members = f"{100 * mode.share:.1f} %", f"{len(mode.members):,}"
        rows.append([f"{mode.number + 1}", share, members, most])
    head = ["mode", "share", shown.what, "the most of"]
    beyond = more(len(every) - len(rows), f", smaller or the main one of no {shown.word}")
    return table(head, rows) + beyond


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
