"""Kinds of samples that lines or cells can be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vendiscore.report import Table, column_kind, share_of_numbers

from .submission import Asked, Kind

_LOOK = 200
_LONG = 2_000  # characters of a line or a cell that tell what the others are
_NUMBERS = 0.8  # of the cells of a line
_COLUMNS = 100  # that are looked into
# Kinds of samples by what a column holds.
_KINDS: dict[str, Kind] = {
    "texts": "texts",
    "sequences": "texts",
    "lists": "texts",
    "molecules": "molecules",
    "vectors": "vectors",
    "numbers": "vectors",
}


def are_rows(lines: Sequence[str]) -> bool:
    """Return whether lines are rows of numbers, but for a row of names above and some cells."""
    some = lines[:_LOOK]
    body = [line[:_LONG] for line in (some[1:] if len(some) > 1 else some)]
    cells = [cell for line in body for cell in re.split(r"[;\t| ]+|,\s+|,(?=[^\s])", line) if cell]
    return share_of_numbers(cells) > _NUMBERS


def kinds_of_table(read: Table, asked: Asked) -> list[Kind]:
    """Return the kinds of samples that the columns of a table hold."""
    names = [asked.column] if asked.column in read.names else read.names[:_COLUMNS]
    names = [name for name in names if name != asked.by]
    held = [column_kind(read, name) for name in names]
    if len(read.names) == 1 and not read.typed and are_rows([str(row[0]) for row in read.rows]):
        held.insert(0, "vectors")  # apart by spaces
    if "molecules" in held:
        held.append("texts")
    return list(dict.fromkeys(_KINDS[each] for each in held if each in _KINDS))
