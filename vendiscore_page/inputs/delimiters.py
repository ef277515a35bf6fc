"""Text of unknown form: rows of cells between delimiters, or prose with commas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from vendiscore.reading.tables import delimiter, parse_rows
from vendiscore.report import (
    MOLECULE_NAMES,
    Limits,
    RefusedError,
    is_named,
    is_prose,
    role_of,
    share_of_numbers,
)

_LOOK = 200  # rows that show what the rest is like
_CHARACTERS = 200_000
_QUOTED, _CELL = re.compile(r'"(?:[^"]|"")*"'), "\0"
# A row of one column that a spreadsheet has copied: in quotes, which are doubled inside, or bare.
_COPIED = re.compile(r'(?:"((?:[^"]|"")*+)"|([^"\r\n][^\r\n]*))(?:\r?\n|$)')
_NAME = re.compile(r"\w[\w .#()/-]*")
_MOST = 0.9  # share of rows with as many cells as the first


def delimiter_of(text: str, limits: Limits) -> str | None:
    """Return the sign between the cells of a table, "" between quoted texts; None for prose.

    One column copied from a spreadsheet has no sign, and counts as separated by tabs.
    """
    if said := re.match(r"\ufeff?sep=(.)\r?\n", text):
        return said[1]
    if _is_copied(text.strip()):
        return "\t"
    try:
        sign = delimiter(text, False, limits)
        rows = [cells for _, cells in islice(parse_rows(text, sign, limits), _LOOK)]
    except RefusedError:
        return None
    if len(rows) < 2:
        return None
    lines = _QUOTED.sub(_CELL, text[:_CHARACTERS]).splitlines()
    lines = [line for line in lines if line.strip()][: len(rows)]
    if not sign:
        alone = [line.strip() == _CELL for line in lines]
        quoted = all(alone[1:]) and sum(alone) > 1
        return "" if quoted and any("\n" in cell for row in rows for cell in row) else None
    width = len(rows[0])
    names = [cell.strip() for cell in rows[0] if cell.strip()]
    short = [name for name in names if len(name.split()) < 4 and _NAME.fullmatch(name)]
    known = [name for name in short if role_of(name) or is_named(name, MOLECULE_NAMES)]
    if len(known) == len(set(names)) == len(names):
        return sign if sum(len(row) > 1 for row in rows) >= len(rows) / 2 else None
    least = 0.5 if known and _is_tight(lines[0], sign) else _MOST
    if sum(len(row) == width for row in rows) < least * len(rows):
        return None
    if sign == "\t":
        return sign
    if 2 * sum(_is_tight(line, sign) for line in lines) < len(lines):
        return None
    beside = re.compile(f"(^|{re.escape(sign)}){_CELL}({re.escape(sign)}|$)")
    told = sign == ";" or known or any(map(beside.search, lines)) or _has_columns(rows)
    return sign if told else None


def _is_copied(text: str) -> bool:
    """Return whether text is one column of a spreadsheet: it quotes the cells with line breaks."""
    if not (text.startswith('"') or '\n"' in text):
        return False
    at, n, broken = 0, 0, False
    while row := _COPIED.match(text, at):
        cell, bare = row.groups()
        if bare is not None and bare.count('"') % 2:
            return False
        if cell is not None and "\n" not in cell and '""' not in cell:
            return False
        at, n, broken = row.end(), n + 1, broken or "\n" in (cell or "")
    return at == len(text) and n > 1 and broken


def _is_tight(line: str, sign: str) -> bool:
    """Return whether a delimiter stands in the line without a space after it or digits around."""
    loose = rf"{re.escape(sign)}(?=\s|$)" + (r"|(?<=\d),(?=\d)" if sign == "," else "")
    return line.count(sign) > len(re.findall(loose, line))


def _has_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column is of numbers, or of prose below a row of words."""
    columns = [[row[j].strip() for row in rows[1:] if j < len(row)] for j in range(len(rows[0]))]
    if any(share_of_numbers(cells) > 0.8 for cells in columns):
        return True
    below = any(2 * sum(map(is_prose, cells)) > len(cells) for cells in columns if cells)
    return below and not any(is_prose(cell.strip()) for cell in rows[0])
