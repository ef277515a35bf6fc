"""Print rows of names and numbers as text, Markdown, CSV and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..reading.csv_cells import csv_row, text_cell
from ..signature import plain

Row = Mapping[str, Any]


def shown(value: object, width: int | None) -> str:
    """Return a cell for people: six digits, or `width` decimal places."""
    if isinstance(value, float):
        return f"{value:.6g}" if width is None else f"{value:.{width}f}"
    if type(value) is int:
        return f"{value:,}"
    return "" if value is None else str(value)


def exact(value: object, width: int | None) -> str:
    """Return a cell for programs: all digits, unless a width is asked for."""
    if isinstance(value, float):
        return repr(value) if width is None else f"{value:.{width}f}"
    return "" if value is None else str(value)


def table(rows: Sequence[Row], width: int | None) -> str:
    """Return aligned columns: numbers to the right, all else to the left."""
    right, lines = _cells(rows, width)
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    form = "  ".join(
        f"{{:{'>' if number else '<'}{n}}}" for number, n in zip(right, wide, strict=True)
    )
    return "".join(f"{form.format(*line).rstrip()}\n" for line in lines if line)


def markdown(rows: Sequence[Row], width: int | None) -> str:
    right, lines = _cells(rows, width)
    head, *text = (" | ".join(cell.replace("|", r"\|") for cell in line) for line in lines)
    rule = "|".join("--:" if each else "---" for each in right)
    return "".join([f"| {head} |\n", f"|{rule}|\n", *(f"| {line} |\n" for line in text)])


def comma_separated(rows: Sequence[Row], width: int | None) -> str:
    """Return CSV for a spreadsheet, with all digits unless a width is asked for."""
    names = _names(rows)
    lines = [csv_row(map(text_cell, names))]
    for row in rows:
        cells = (row.get(name) for name in names)
        lines.append(
            csv_row(text_cell(x) if isinstance(x, str) else exact(x, width) for x in cells)
        )
    return "".join(lines)


def as_json(found: object, width: int | None) -> str:
    """Return JSON, rounded if a width is asked for; infinity is text, and NaN null."""
    return json.dumps(_rounded(plain(found), width), ensure_ascii=False, indent=1) + "\n"


def _rounded(found: object, width: int | None) -> Any:
    if isinstance(found, float) and not math.isfinite(found):
        return None if math.isnan(found) else str(found)
    if isinstance(found, dict):
        return {key: _rounded(value, width) for key, value in found.items()}
    if isinstance(found, list):
        return [_rounded(value, width) for value in found]
    return round(found, width) if isinstance(found, float) and width is not None else found


def _cells(rows: Sequence[Row], width: int | None) -> tuple[list[bool], list[list[str]]]:
    """Return which columns are of numbers, and the lines of cells: the names, then each row."""
    names = _names(rows)
    kinds = (int, float, type(None))
    right = [all(isinstance(row.get(name), kinds) for row in rows) for name in names]
    lines = [[" ".join(shown(row.get(name), width).split()) for name in names] for row in rows]
    return right, [names, *lines]


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


FORMATS = {"text": table, "md": markdown, "csv": comma_separated}
