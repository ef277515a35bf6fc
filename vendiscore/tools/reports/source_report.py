"""The report on the effective number of sources: its tables and figures."""

from collections.abc import Iterator
from dataclasses import replace

from ...result import key_at
from ...support.optional import MissingPackageError
from ...support.summary import render_table, truncate
from ...support.types import Record
from ..analysis.report_text import format_short
from ..analysis.sources_result import Sources
from .document import Report
from .figures import Figure
from .markup import (
    escape,
    render_code,
    render_collapsible,
    render_list,
    render_paragraph,
    render_remaining_count,
)
from .sections import Section, render_figures, render_headline
from .svg import render_svg

# Maximum number of rows of the table of sources.
MAX_SOURCES = 1_000
# Maximum number of pairs and of prompts with the largest values, and of those with the smallest.
MAX_PER_END = 10
MAX_NAME_CHARACTERS = 24  # in a figure
# Maximum number of sources in a small figure.
MAX_SOURCES_IN_SMALL_FIGURE = 12

# The name of a section, the title of a table, its rows, and the number of omitted sources.
Table = tuple[str, str, list[Record], int]


def iter_tables(
    result: Sources, max_sources: int, pairs_per_end: int, prompts_per_end: int
) -> Iterator[Table]:
    """Yield tables of sources, pairs of sources, and prompts.

    Tables of pairs and prompts are split into the largest and the smallest values if they have more
    than twice `pairs_per_end` or `prompts_per_end` rows.
    """
    sources = sorted(result.rows("sources"), key=lambda row: -row["adds"])
    columns = [name for name in sources[0] if any(row[name] is not None for row in sources)]
    shown_sources = [{name: row[name] for name in columns} for row in sources[:max_sources]]
    title = "sources, by decreasing contribution"
    yield "sources", title, shown_sources, len(sources) - len(shown_sources)
    pairs = list(result.rows("pairs"))
    if len(pairs) <= 2 * pairs_per_end:
        yield "pairs", "pairs, by decreasing similarity", pairs, 0
    else:
        yield "pairs", "most similar pairs", pairs[:pairs_per_end], 0
        yield "pairs", "least similar pairs", pairs[: -pairs_per_end - 1 : -1], 0
    prompts = sorted(result.rows("prompts"), key=lambda row: -row[key_at(result.q)])
    if len(prompts) > 2 * prompts_per_end:
        title = "prompts with the largest effective number of sources"
        yield "prompts", title, prompts[:prompts_per_end], 0
        title = "prompts with the smallest effective number of sources"
        yield "prompts", title, prompts[: -prompts_per_end - 1 : -1], 0
    elif prompts:
        yield "prompts", "prompts, by decreasing effective number of sources", prompts, 0


def source_report(result: Sources, title: str | None = None) -> Report:
    """Write the report on the effective number of sources."""
    n = len(result.sources)
    headline = render_headline(result.score, n, " sources")
    notes = render_list(escape(note, 2_000) for note in result.notes) if result.notes else ""
    tables = dict.fromkeys(("sources", "pairs", "prompts"), "")
    for name, caption, rows, n_omitted in iter_tables(
        result, MAX_SOURCES, MAX_PER_END, MAX_PER_END
    ):
        cells = [map(_render_cell, row.values()) for row in rows]
        tables[name] += render_table(rows[0], cells, caption.capitalize())
        tables[name] += render_remaining_count(n_omitted, "source")
    sections = [
        Section("score", "Score", headline + render_paragraph(result.sentence) + notes),
        Section("pictures", "Figures", "".join(_iter_figures(result))),
    ]
    sections += [Section(name, name.capitalize(), html) for name, html in tables.items() if html]
    sections.append(Section("settings", "Signature", render_code(result.signature)))
    return Report(title or f"Diversity of {n:,} sources", result.to_dict(), tuple(sections))


def _render_cell(value: object) -> str:
    """Return a table cell: a formatted number, or text that can be expanded."""
    if isinstance(value, float):
        return format_short(value)
    if type(value) is int:
        return f"{value:,}"
    return render_collapsible("" if value is None else str(value), 800)


def source_pictures(result: Sources) -> list[Figure]:
    """Draw the map and the heat map of sources; both are larger if there are many sources.

    Parameters
    ----------
    result : Sources
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
    rows = [
        replace(row, name=truncate(" ".join(row.name.split()), MAX_NAME_CHARACTERS))
        for row in result.sources
    ]
    shortened = replace(result, sources=tuple(rows))
    n = len(rows)
    a, b, similarity = result.pairs(1)[0]
    label = f"{a} and {b} are most similar: {similarity:.2f}"
    name_length = max(len(row.name) for row in rows)
    width, right_edge = (4.4, 0.79) if n <= MAX_SOURCES_IN_SMALL_FIGURE else (9.0, 0.86)
    name_width = (0.2 + 0.065 * name_length) / width
    side = right_edge - name_width  # the colour bar and its numbers are to the right
    size = (width, width * side / 0.9)
    map_svg = render_svg(
        shortened.plot, f"Map: {label}", size, (0.02, 0.02, 0.96 - name_width, 0.96)
    )
    heat_map_svg = render_svg(
        lambda ax: shortened.plot(ax, kind="heat"),
        f"Similarities of sources: {label}",
        size,
        (name_width, 0.08, side, 0.9),
    )
    map_caption = "Similar sources are close to each other. Names that would overlap are omitted."
    heat_map_caption = (
        "Similar sources are adjacent. Bright squares are groups of sources with similar answers."
    )
    return [
        Figure("map", map_svg, "Map", map_caption),
        Figure("heat", heat_map_svg, "Similarities", heat_map_caption),
    ]


def _iter_figures(result: Sources) -> Iterator[str]:
    """Yield the figures, side by side or, if there are many sources, one below the other."""
    try:
        figures = source_pictures(result)
    except MissingPackageError as error:
        yield render_paragraph(f"No figures: {error}")
        return
    if len(result.sources) <= MAX_SOURCES_IN_SMALL_FIGURE:
        yield render_figures(figures)
    else:
        yield from (render_figures([figure]) for figure in figures)
