"""Print rows of names and numbers as text, Markdown, CSV and JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..reading.csv_cells import csv_row, text_cell
from ..signature import plain

Row = Mapping[str, Any]
_NOT_FINITE = {"NaN": None, "Infinity": "inf", "-Infinity": "-inf"}


def shown(value: object, width: int | None) -> str:
    """Return a cell for people: six digits, or `width` decimal places."""
    if isinstance(value, float) and width is None:
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else exact(value, width)


def exact(value: object, width: int | None) -> str:
    """Return a cell for programs: all digits, unless a width is asked for."""
    if isinstance(value, float):
        return repr(value) if width is None else f"{value:.{width}f}"
    return "" if value is None else str(value)


def table(rows: Sequence[Row], width: int | None) -> str:
    """Return aligned columns: numbers to the right, all else to the left."""
    right, lines = _cells(rows, width)
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ""
    for line in filter(None, lines):
        cells = []
        for cell, n, number in zip(line, wide, right, strict=True):
            cells.append(cell.rjust(n) if number else cell.ljust(n))
        text += "  ".join(cells).rstrip() + "\n"
    return text


def markdown(rows: Sequence[Row], width: int | None) -> str:
    right, lines = _cells(rows, width)
    written = []
    for line in lines:
        cells = [cell.replace("|", r"\|") for cell in line]
        written.append(f"| {' | '.join(cells)} |\n")
    rule = "|".join("--:" if number else "---" for number in right)
    written.insert(1, f"|{rule}|\n")
    return "".join(written)


def comma_separated(rows: Sequence[Row], width: int | None) -> str:
    """Return CSV for a spreadsheet, with all digits unless a width is asked for."""
    names = _names(rows)
    text = csv_row(map(text_cell, names))
    for row in rows:
        cells = []
        for name in names:
            value = row.get(name)
            cells.append(text_cell(value) if isinstance(value, str) else exact(value, width))
        text += csv_row(cells)
    return text


def as_json(result: object, width: int | None) -> str:
    """Return JSON, rounded if a width is asked for; infinity is text, and NaN null."""
    text = json.dumps(plain(result))
    number = float if width is None else lambda digits: round(float(digits), width)
    rounded = json.loads(text, parse_float=number, parse_constant=_NOT_FINITE.get)
    return json.dumps(rounded, ensure_ascii=False, indent=1) + "\n"


def _cells(rows: Sequence[Row], width: int | None) -> tuple[list[bool], list[list[str]]]:
    """Return which columns are of numbers, and the lines of cells: the names, then each row."""
    names = _names(rows)
    lines = [names]
    right = [True] * len(names)
    for row in rows:
        values = [row.get(name) for name in names]
        lines.append([" ".join(shown(value, width).split()) for value in values])
        for column, value in enumerate(values):
            right[column] &= isinstance(value, (int, float, type(None)))
    return right, lines


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


FORMATS = {"text": table, "md": markdown, "csv": comma_separated}
