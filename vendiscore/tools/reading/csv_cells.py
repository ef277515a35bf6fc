"""Cells of CSV files: in quotes where needed, and marked where a spreadsheet would run a text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tables import Table

# An apostrophe before these makes a text of the cell; before more apostrophes, it can be undone.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LAST_COLUMN = "nearest"  # the last column of each file of samples that the page saves


def format_csv_row(cells: Iterable[str], delimiter: str = ",") -> str:
    """Return a line of CSV; Python's writer quotes no carriage return before a mere line feed."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return f"{out.getvalue()[:-2]}\n"


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run it; numbers stay."""
    formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if formula else text


def unescape_formula(cell: str) -> str:
    """Undo `escape_formula`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def unescape_formulas(table: Table, text: str) -> Table:
    """Undo `escape_formula` in a file of samples that the page saved, and in no other table."""
    was_saved_by_app = table.encoding == "utf-8-sig" and "\r\n" in text
    if not was_saved_by_app or table.names[-1:] != [_LAST_COLUMN]:
        return table
    return replace(table, rows=[[unescape_formula(cell) for cell in row] for row in table.rows])
