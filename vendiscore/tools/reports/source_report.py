"""The report of how many sources effectively differ: its tables, and both pictures."""

from collections.abc import Iterator
from dataclasses import replace

from ...result import key_at
from ...support.optional import MissingPackageError
from ...support.summary import render_table, truncate
from ...support.types import Record
from ..analysis.between_sources import Sources
from ..analysis.sentences import short
from .document import Report
from .figures import Figure
from .markup import escape, folded, listing, more, paragraph, preformatted
from .sections import Section, headline, pictured
from .svg import svg

_ROWS = 1_000  # rows of sources
_ENDS = 10  # pairs and prompts at each end
_NAME = 24  # characters of a name in a picture
_SMALL = 12  # most sources in a small picture

# The part of the report, a title, rows by their columns, and the number of further sources.
Table = tuple[str, str, list[Record], int]


def tables(found: Sources, rows: int, pairs: int, prompts: int) -> Iterator[Table]:
    """Yield tables of `rows` sources, and of `pairs` and `prompts` at each end, at most."""
    largest = sorted(found.rows("sources"), key=lambda row: -row["adds"])
    known = [name for name in largest[0] if any(row[name] is not None for row in largest)]
    shown = [{name: row[name] for name in known} for row in largest[:rows]]
    yield "sources", "sources, those that add most first", shown, len(largest) - len(shown)
    every = list(found.rows("pairs"))
    if len(every) <= 2 * pairs:
        yield "pairs", "pairs, the nearest first", every, 0
    else:
        yield "pairs", "nearest pairs", every[:pairs], 0
        yield "pairs", "farthest pairs", every[: -pairs - 1 : -1], 0
    asked = sorted(found.rows("prompts"), key=lambda row: -row[key_at(found.q)])
    if len(asked) > 2 * prompts:
        yield "prompts", "prompts that tell sources apart most", asked[:prompts], 0
        yield "prompts", "prompts that tell sources apart least", asked[: -prompts - 1 : -1], 0
    elif asked:
        yield "prompts", "prompts, those that tell sources apart most first", asked, 0


def source_report(found: Sources, title: str | None = None) -> Report:
    """Write the report of how many sources effectively differ."""
    n = len(found.sources)
    number = headline(found.score, n, " sources")
    notes = listing(escape(note, 2_000) for note in found.notes) if found.notes else ""
    parts = dict.fromkeys(("sources", "pairs", "prompts"), "")
    for name, caption, rows, beyond in tables(found, _ROWS, _ENDS, _ENDS):
        cells = [map(_cell, row.values()) for row in rows]
        parts[name] += render_table(rows[0], cells, caption.capitalize()) + more(beyond, " sources")
    sections = [
        Section("score", "The number", number + paragraph(found.sentence) + notes),
        Section("pictures", "Pictures", "".join(_pictures(found))),
    ]
    sections += [Section(name, name.capitalize(), html) for name, html in parts.items() if html]
    sections.append(Section("settings", "Signature", preformatted(found.signature)))
    return Report(title or f"Diversity of {n:,} sources", found.to_dict(), tuple(sections))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return short(value)
    return f"{value:,}" if type(value) is int else folded("" if value is None else str(value), 800)


def source_pictures(found: Sources) -> list[Figure]:
    """Draw the map and the heat map of sources; larger for many names.

    Parameters
    ----------
    found : Sources
        Result of `vendiscore.sources`.

    Returns
    -------
    list of Figure
        The map and the heat map.

    See Also
    --------
    vendiscore.sources : Compare sources.

    Examples
    --------
    >>> from vendiscore import sources
    >>> from vendiscore.report import source_pictures
    >>> result = sources({"x": ["a b", "c"], "y": ["a b", "d"]}, ns=[1])
    >>> [figure.name for figure in source_pictures(result)]
    ['map', 'heat']
    """
    rows = [replace(row, name=truncate(" ".join(row.name.split()), _NAME)) for row in found.sources]
    named = replace(found, sources=tuple(rows))
    n = len(rows)
    a, b, near = found.pairs(1)[0]
    label = f"nearest are {a} and {b}: {near:.2f}"
    longest = max(len(row.name) for row in rows)
    wide, share = (4.4, 0.79) if n <= _SMALL else (9.0, 0.86)
    room = (0.2 + 0.065 * longest) / wide  # for a name
    side = share - room  # the rest is for the numbers of the colour bar
    size = (wide, wide * side / 0.9)
    at = svg(named.plot, f"Map: {label}", size, (0.02, 0.02, 0.96 - room, 0.96))
    heat = svg(
        lambda ax: named.plot(ax, kind="heat"),
        f"Similarities of sources: {label}",
        size,
        (room, 0.08, side, 0.9),
    )
    near_by = "Similar sources are near each other. Names without room are left out."
    beside = "Similar sources are side by side: bright squares are groups that answer alike."
    return [Figure("map", at, "Map", near_by), Figure("heat", heat, "Similarities", beside)]


def _pictures(found: Sources) -> Iterator[str]:
    """Yield the pictures, each as wide as the page where there are many names."""
    try:
        both = source_pictures(found)
    except MissingPackageError as error:
        yield paragraph(f"No pictures: {error}")
        return
    small = len(found.sources) <= _SMALL
    yield from [pictured(both)] if small else (pictured([each]) for each in both)
