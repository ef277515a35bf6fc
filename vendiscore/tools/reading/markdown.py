"""Lists and tables of Markdown in text files: items without their marks, and cells of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from .csv_cells import format_csv_row
from .encodings import LINE_BREAK
from .limits import ReadOptions, RefusedError
from .names import format_dropped_count

if TYPE_CHECKING:
    from .tables import Table

# A bullet, also with a box to check, or a number, before the text of an item.
_ITEM = re.compile(r"(\s*)(?:([-*+•])(?: \[[ xX]\])?|(\d+)[.)])\s+(\S.*)")
_MIN_ITEMS = 3
# Characters of a line between the header and the rows of a table, or between its rows.
_RULE_CHARACTERS = frozenset(" \t:|+=-")
_BAR = re.compile(r"(?<!\\)\|")


def is_list(rows: Sequence[str]) -> bool:
    """Return whether most lines begin with the marks of a list, or continue an item.

    There are three or more items with the same bullet, or with consecutive numbers, which may begin
    again at 1.

    >>> is_list(["1. a", "2. b", "3. c"]), is_list(["- a", "b", "c", "d"])
    (True, False)
    """
    filled = list(filter(str.strip, rows))
    matches = [_ITEM.fullmatch(row) for row in filled]
    items = [match for match in matches if match]
    if len(items) < _MIN_ITEMS:
        return False
    n_others = sum(
        not match and not row[:1].isspace() for row, match in zip(filled, matches, strict=True)
    )
    bullets = {match[2] for match in items}
    numbers = [int(match[3]) for match in items if match[3]]
    are_numbered = bullets == {None} and all(b in (a + 1, 1) for a, b in pairwise(numbers))
    return n_others <= len(items) and (are_numbered or (len(bullets) == 1 and None not in bullets))


def parse_list(text: str, read_options: ReadOptions) -> Table:
    r"""Read the items of a list as a table of texts, without their marks.

    Indented lines below an item continue it. Other lines are no items.

    Examples
    --------
    >>> parse_list("Ideas:\n1. a cat\n2. a dog\n   in a park\n", ReadOptions()).rows
    [['a cat'], ['a dog\nin a park']]
    """
    from .tables import Table

    items: list[list[str]] = []
    line_numbers: list[int] = []
    n_others = 0
    is_open = False
    for line_number, line in enumerate(LINE_BREAK.split(text), 1):
        if match := _ITEM.fullmatch(line):
            items.append([match[4].strip()])
            line_numbers.append(line_number)
            is_open = True
        elif is_open and line[:1].isspace() and line.strip():
            items[-1].append(line.strip())
        elif line.strip():
            n_others += 1
            is_open = False
    if not items:
        raise RefusedError("no line begins with a mark of a list, such as “-” or “1.”")
    end = read_options.limits.samples + 1
    return Table(
        ["text"],
        [["\n".join(item)] for item in items[:end]],
        line_numbers[:end],
        unit="line",
        above=[format_dropped_count(n_others, "line", " outside of the list")] if n_others else [],
    )


def find_table(rows: Sequence[str]) -> range:
    """Return the indices of the lines of the only table with bars; empty without a single one.

    >>> find_table(["A table", "", "| a | b |", "|---|---|", "| 1 | 2 |"])
    range(2, 5)
    """
    found: list[range] = []
    start = 0
    for is_inside, lines in groupby(rows, _is_table_line):
        block = list(lines)
        n_rules = sum(map(_is_table_rule, block))
        n_rows = sum("|" in row and not _is_table_rule(row) for row in block)
        if is_inside and n_rules and n_rows > 1:
            found.append(range(start, start + len(block)))
        start += len(block)
    return found[0] if len(found) == 1 else range(0)


def _is_table_line(row: str) -> bool:
    return "|" in row or _is_table_rule(row)


def _is_table_rule(row: str) -> bool:
    has_columns = "|" in row or "+" in row
    return has_columns and ("--" in row or "==" in row) and _RULE_CHARACTERS.issuperset(row)


def convert_table(text: str) -> str:
    """Return the only table with bars in a text as CSV, in the same lines; other text as it is."""
    if "|" not in text or ("--" not in text and "==" not in text):
        return text  # without dividing a large table into lines
    rows = LINE_BREAK.split(text)
    table = find_table(rows)
    if not table:
        return text
    lines = [""] * len(rows)
    for i in table:
        if not _is_table_rule(rows[i]):
            row = rows[i].strip().removeprefix("|").removesuffix("|")
            cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(row)]
            lines[i] = format_csv_row(cells).removesuffix("\n")
    return "\n".join(lines)
