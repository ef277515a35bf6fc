"""Columns that count individuals of species, or how often rows occurred, by names and cells."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ...support.types import Record
from .limits import AskError, ReadOptions
from .names import (
    COUNT_NAMES,
    GENE_NAMES,
    SITE_NAMES,
    SPECIES_NAMES,
    is_coordinate,
    is_named,
    join_names,
    split_name,
)
from .tables import Table, is_blank, is_number
from .tables import are_consecutive as number_rows

_COUNT = re.compile(r"\s*\d+(\.0+)?\s*")
_NONNEGATIVE_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?")
_MIN_SPECIES = 5  # in a table of abundances
_MIN_COUNT_COLUMNS = 3  # that a question offers as counts of species
_PREVIEW_ROWS = 200  # from which the content of columns is detected


class ColumnEvidence(Protocol):
    """What `detect_columns` knows about a column."""

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def content_type(self) -> str: ...
    @property
    def form(self) -> str: ...


class LongTable(NamedTuple):
    """Columns of a table with one row per species and site."""

    site: str
    species: str
    counts: str


def find_long_table(columns: Sequence[ColumnEvidence], preview: Table) -> LongTable | None:
    """Return the columns of sites, species and counts, if each row counts a species at a site."""
    species = [column.name for column in columns if is_named(column.name, SPECIES_NAMES)]
    sites = [column.name for column in columns if is_named(column.name, SITE_NAMES)]
    counts = [column.name for column in columns if _has_counts(preview, column)]
    counts = [name for name in counts if name not in (*species, *sites)]
    named_counts = [name for name in counts if is_count_name(name)]
    counts = named_counts or counts
    if not sites and named_counts:
        other_columns = [column for column in columns if column.name not in (*species, *counts)]
        sites = [column.name for column in other_columns if _has_repeated_words(preview, column)]
        sites = sites if len(sites) == len(other_columns) == 1 else []
    if len(species) != 1 or not sites or len(counts) != 1 or species[0] in sites:
        return None
    labels = preview.labels(species[0])[:_PREVIEW_ROWS]
    if len({*labels}) == len(labels):  # one row per species, and a column per site
        return None
    return LongTable(sites[0], species[0], counts[0])


def describe_counts(
    preview: Table, columns: Sequence[ColumnEvidence], read_options: ReadOptions
) -> str:
    """Return the name of tables with a row for each species; ask about other tables of counts."""
    if read_options.kind not in ("", "counts"):
        return ""
    long = find_long_table(columns, preview)
    if long and not read_options.kind:
        raise AskError(
            f"Does {long.counts} count the individuals of each {long.species} at each {long.site}?",
            [
                ("They are counts", {"kind": "counts"}),
                ("Each row is one individual", {"column": long.species, "kind": "values"}),
            ],
        )
    coordinates = find_coordinates(columns, read_options)
    columns = [column for column in columns if column.name not in coordinates]
    first, *other_columns = columns
    if not other_columns:
        return ""
    if not read_options.kind:
        _check_not_sparse(preview, columns)
    other_columns = [
        column for column in other_columns if column.role not in ("id", "label", "other")
    ]
    counted = [column.name for column in other_columns if _has_counts(preview, column)]
    uncounted_columns = [column for column in other_columns if column.name not in counted]
    if 2 * len(counted) <= len(other_columns) or any(
        column.content_type == "numbers" for column in uncounted_columns
    ):
        return ""
    if is_named(first.name, SPECIES_NAMES):
        return "a table of abundances"
    if not read_options.kind and is_named(first.name, GENE_NAMES) and len(counted) > 1:
        raise AskError(
            f"{_ask_for_counts(counted)} what was found of each {first.name} in a sample?",
            [
                ("They are counts", {"kind": "counts", "transpose": True}),
                ("Rows are features", {"kind": "vectors"}),
            ],
        )
    if not read_options.kind and _are_all_counts(preview, columns):
        choices: list[tuple[str, Record]] = [
            ("They are counts", {"kind": "counts"}),
            ("Rows are features", {"kind": "vectors"}),
        ]
        if _has_zero_diagonal(preview):  # as distances that are not symmetric
            choices.reverse()
        raise AskError(
            f"{_ask_for_counts(counted)} the individuals of a species at each site?", choices
        )
    are_texts = first.form == "prose" or (
        first.form == "phrases" and not has_no_name(preview, first.name)
    )
    if read_options.kind or are_texts:
        return ""
    if is_named(first.name, SITE_NAMES):
        raise AskError(
            f"{_ask_for_counts(counted)} the individuals of a species at each {first.name}?",
            [("They are counts", {"kind": "counts"}), ("Rows are features", {"kind": "vectors"})],
        )
    is_square = (
        preview.labels(first.name)[: len(counted)] == counted
    )  # items compared with themselves
    labels = preview.labels(first.name)[:_PREVIEW_ROWS]
    # As R writes the names of rows, which are not the numbers of rows.
    has_row_names = has_no_name(preview, first.name) and not number_rows(labels, 1)
    if (
        (has_no_name(preview, first.name) or _has_row_names(preview, first))
        and not (uncounted_columns or is_square)
        and (has_row_names or coordinates or _are_abundances(preview, counted))
    ):
        orientations: list[tuple[str, Record]] = [
            ("Rows are sites, columns are species", {"kind": "counts"}),
            ("Rows are species, columns are sites", {"kind": "counts", "transpose": True}),
        ]
        if has_row_names:  # as programs for sequencing data write species and genes
            orientations.reverse()
        raise AskError(
            f"{_ask_for_counts(counted)} individuals, of species in columns or in rows?",
            [*orientations, ("Rows are features", {"kind": "vectors"})],
        )
    return ""


def _ask_for_counts(names: Sequence[str]) -> str:
    """Return the start of a question, such as "Do oak, elm count"."""
    return f"{'Does' if len(names) == 1 else 'Do'} {join_names(names)} count"


def find_counts_answer(preview: Table, columns: Sequence[ColumnEvidence]) -> Record:
    """Return the options that read whole numbers as counts, {} if the other columns exclude that.

    Each of at least three columns, or each row of a single one, may count a species.
    """
    texts = [column for column in columns if column.content_type != "numbers"]
    counted = [column for column in columns if _has_counts(preview, column)]
    if len(texts) > 1 or len(texts) + len(counted) < len(columns):
        return {}
    if len(counted) >= _MIN_COUNT_COLUMNS:
        return {"kind": "counts"}
    labels = preview.labels(texts[0].name)[:_PREVIEW_ROWS] if texts else []
    are_names = any(
        column.form in ("words", "phrases") and column.role not in ("text", "prompt")
        for column in texts
    )
    if len(counted) == 1 and are_names and len({*labels}) == len(labels) > 1:
        return {"kind": "counts", "transpose": True}
    return {}


def _has_zero_diagonal(preview: Table) -> bool:
    """Return whether a table has as many rows as columns, and zeros on its diagonal."""
    is_square = len(preview.rows) == len(preview.names)
    return is_square and all(str(row[i]).strip() == "0" for i, row in enumerate(preview.rows))


def find_coordinates(columns: Sequence[ColumnEvidence], read_options: ReadOptions) -> list[str]:
    """Return the columns of coordinates of sites, whose counts are in other columns.

    There are at least two columns of coordinates. The others have the names of the sites first, and
    at least two columns after it. Columns that define sets or groups are not returned.
    """
    coordinates = [
        column.name
        for column in columns
        if column.content_type == "numbers" and is_coordinate(column.name)
    ]
    other_columns = [column for column in columns if column.name not in coordinates]
    if len(coordinates) < 2 or len(other_columns) < 3 or other_columns[0].content_type == "numbers":
        return []
    return [name for name in coordinates if name not in (read_options.by, read_options.group_by)]


def _check_not_sparse(preview: Table, columns: Sequence[ColumnEvidence]) -> None:
    """Ask whether fractions are features if most of them are 0, as abundances often are."""
    numbers = [column for column in columns if column.content_type == "numbers" and not column.role]
    names = [column.name for column in numbers]
    if len(names) < _MIN_SPECIES or not preview.header or any(map(is_number, names)):
        return
    text_columns = [column for column in columns if column.content_type != "numbers"]
    text_columns = [column for column in text_columns if not is_named(column.name, SITE_NAMES)]
    if len(text_columns) > 1 or all(_has_counts(preview, column) for column in numbers):
        return
    cells = [cell for name in names for cell in preview.column(name, _PREVIEW_ROWS)]
    values = [float(cell) for cell in map(str, cells) if _NONNEGATIVE_NUMBER.fullmatch(cell)]
    if len(values) == len(cells) and 2 * values.count(0.0) > len(values):
        raise AskError(
            f"Most of the numbers of {join_names(names)} are 0, as abundances of species are: are "
            "the rows samples and the columns their features? For abundances that are no counts, "
            "such as cover or biomass, score each row in Python: vendiscore.compute(species, "
            "k='labels', p=abundances).",
            [("Rows are features", {"kind": "vectors"})],
        )


def _has_counts(preview: Table, column: ColumnEvidence) -> bool:
    """Return whether a column has whole numbers of at least 0, and is not named otherwise."""
    if column.content_type != "numbers" or (column.role and not is_count_name(column.name)):
        return False
    return all(map(_is_count, preview.column(column.name, _PREVIEW_ROWS)))


def _is_count(cell: object) -> bool:
    return is_blank(cell) or bool(_COUNT.fullmatch(str(cell)))


def _are_all_counts(preview: Table, columns: Sequence[ColumnEvidence]) -> bool:
    """Return whether a table without names of rows has counts of species in all columns."""
    names = [column.name for column in columns]
    are_counts = all(_has_counts(preview, column) for column in columns)
    is_large = bool(preview.header) and len(names) >= _MIN_SPECIES
    return is_large and are_counts and _are_abundances(preview, names)


def _has_repeated_words(preview: Table, column: ColumnEvidence) -> bool:
    """Return whether a column of words has fewer different ones than half of its rows."""
    labels = preview.labels(column.name)[:_PREVIEW_ROWS]
    return column.form == "words" and 2 * len({*labels}) < len(labels)


def _has_row_names(preview: Table, column: ColumnEvidence) -> bool:
    """Return whether a column of words has a different name for each row."""
    labels = preview.labels(column.name)[:_PREVIEW_ROWS]
    return column.form == "words" and len({*labels}) == len(labels) > 1


def has_no_name(table: Table, name: str) -> bool:
    """Return whether the header of a column is empty, as R writes that of the names of rows."""
    header = table.header
    return header is not None and not str(header[table.names.index(name)]).strip()


def _are_abundances(preview: Table, names: Sequence[str]) -> bool:
    """Return whether most species are absent from some site, and their names are no numbers."""
    absent = sum(any(map(_is_absent, preview.column(name, _PREVIEW_ROWS))) for name in names)
    return 2 * absent > len(names) and not any(map(is_number, names))


def _is_absent(cell: Any) -> bool:
    """Return whether a cell states that a species was not found."""
    return is_blank(cell) or float(cell) == 0


def is_count_name(name: str) -> bool:
    """Return whether a name consists of a word for a number of individuals or of repetitions."""
    words = split_name(name)
    return len(words) == 1 and bool(COUNT_NAMES.fullmatch(words[0]))


def find_weights(columns: Sequence[ColumnEvidence], preview: Table) -> str:
    """Return the column that counts how often each row occurred, "" without one."""
    named = [column.name for column in columns if column.content_type == "numbers"]
    named = [name for name in named if is_count_name(name)]
    if len(named) != 1:
        return ""
    cells = preview.labels(named[0])[:_PREVIEW_ROWS]
    are_equal = len({*cells}) == 1
    if are_equal or number_rows(cells) or number_rows(cells, 1):
        return ""
    return named[0] if all(map(is_number, cells)) else ""
