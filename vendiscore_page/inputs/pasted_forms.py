"""The format of pasted text: JSON, rows of cells or numbers, or lines."""

from __future__ import annotations

import json
from itertools import chain, islice

from vendiscore.report import AskError, RefusedError, share_of_numbers
from vendiscore.tools.reading.names import is_column_name
from vendiscore.tools.reading.tables import detect_delimiter, is_table, parse_rows

from ..quotas import INPUT
from .submission import LINE, ROW

NUMBERS = "numbers"  # rows of numbers without names above
_PREVIEW_ROWS = 200  # rows that show what the rest is like
_MIN_NUMBER_FRACTION = 0.8  # of cells are numbers


def detect_format(text: str, is_table_chosen: bool) -> str:
    """Return the format that pasted text has, "" for lines.

    Cells under names, tabs and numbers make a table. Lines of as many cells each are asked about,
    unless it is `is_table_chosen` what they are: then they are a table.
    """
    start = text.lstrip("\ufeff \r\n\t")
    if _is_json(start, "[{"):
        return "json"
    if _is_json(start.partition("\n")[0], "{"):
        return "jsonl"
    if _begins_with_document(start):  # and others follow
        return "jsonl"
    _, rows = _split_cells(text, numeric=True)
    if rows and min(map(share_of_numbers, (rows[0], chain(*rows)))) > _MIN_NUMBER_FRACTION:
        return NUMBERS
    sign, rows = _split_cells(text, numeric=False)
    form = "tsv" if sign == "\t" else "csv"
    is_split = sign and len(rows) > 1 and 2 * sum(len(row) > 1 for row in rows) >= len(rows)
    first = rows[0] if is_split else []
    n_column_names = sum(map(is_column_name, first))
    if n_column_names and (
        n_column_names == len(first) or not any(cell[:1].isspace() for cell in first)
    ):
        return form
    if _is_copied(text):
        return "tsv"
    if not first:
        return ""
    is_even = sign == "\t" and len({*map(len, rows)}) == 1
    if is_even or share_of_numbers(chain(*rows[1:])) > 0.5:
        return form
    if not is_table(text):
        return ""
    if is_table_chosen:
        return form
    raise AskError(
        "All lines have the same number of cells. Is this a table?",
        [("It is a table", {"separator": ROW}), ("Each line is a text", {"separator": LINE})],
    )


def _is_json(text: str, brackets: str) -> bool:
    try:
        return text[:1] in brackets and isinstance(json.loads(text), (list, dict))
    except (ValueError, RecursionError):
        return False


def _begins_with_document(text: str) -> bool:
    """Return whether a JSON object of several lines is at the start of a text."""
    try:
        end = json.JSONDecoder().raw_decode(text)[1] if text[:1] == "{" else 0
    except (ValueError, RecursionError):
        return False
    return "\n" in text[:end] and text[end:].lstrip()[:1] in ("{", "")


def _split_cells(text: str, numeric: bool) -> tuple[str, list[list[str]]]:
    """Return the likeliest sign between cells, and the first rows split by it."""
    try:
        delimiter = detect_delimiter(text, numeric, INPUT)
        return delimiter, [
            cells for _, cells in islice(parse_rows(text, delimiter, INPUT), _PREVIEW_ROWS)
        ]
    except RefusedError:
        return "", []


def _is_copied(text: str) -> bool:
    """Return whether text is one column of a spreadsheet: it quotes the cells with line breaks."""
    text = text.strip().replace("\r\n", "\n")
    try:
        cells = [row[0] for _, row in parse_rows(text, "\t", INPUT)]
    except RefusedError:
        return False
    quoted = ['"' + cell.replace('"', '""') + '"' if "\n" in cell else cell for cell in cells]
    return quoted != cells and len(cells) > 1 and "\n".join(quoted) == text
