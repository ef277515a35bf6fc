"""Tables of numbers: which columns are features, which count or name the rows, which decimal sign.

What pandas writes beside the numbers (an index, 0, 1, 2 above the columns) is no feature. Where
whole numbers could be either, whoever sent them is asked to name the columns.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..arguments import inexact
from .json_documents import describe_value
from .limits import AskError, Limits, RefusedError
from .tables import (
    Table,
    are_numbers,
    checked_column,
    counts,
    is_named,
    is_number,
    is_row,
    join_names,
    share_of_numbers,
)

_EXACT = 2**53  # up to which every integer is a float64
_LOOK = 20  # rows that tell whether a field is a row of numbers
_SWAPPED = str.maketrans(",.", ".,")
_INDEX = re.compile("ids?|index|idx|row|rownames|unnamed|nr|no|uid")


@dataclass(frozen=True)
class Numbers:
    """The numbers of a table."""

    X: np.ndarray
    kept: list[int]  # the columns of the table that those of X are
    lost: Mapping[int, str]  # why others are left out
    comma: bool  # whether there are decimal commas
    problems: Mapping[int, tuple[str, int | None]]  # by row: a predicate, and the column


def numbers_of(
    table: Table,
    *,
    typed: bool = False,
    chosen: Sequence[int] | None = None,
    header: bool | None = None,
    index: bool | None = None,
) -> Numbers:
    """Return the numbers of a table of cells that has rows."""
    columns = list(zip(*table.rows, strict=True))
    if header is None and not typed and not table.header and counts(table.rows[0]):
        raise AskError(
            f"Row {table.places[0]} is {join_names(table.rows[0])}: are these the names of the "
            f"columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            f"the columns names that are no numbers.",
            [("They name the columns", {"header": True}), ("It is a sample", {"header": False})],
        )
    kept, lost = list(chosen or ()), {}
    if chosen is None:
        if index is None:
            index = len(columns) > 1 and _is_index(table, columns[0], typed)
        lost = {
            j: "it numbers the rows" if index and j == 0 else "no numbers"
            for j, cells in enumerate(columns)
            if (index and j == 0) or share_of_numbers(cells) <= 0.5
        }
        kept = [j for j in range(len(columns)) if j not in lost]
    if not kept:
        raise RefusedError(
            f"There is no column of numbers; row {table.places[0]} has {join_names(table.rows[0])}."
        )
    comma = _has_decimal_commas(table, kept)
    X = np.full((len(table.rows), len(kept)), np.nan)
    problems: dict[int, tuple[str, int | None]] = {}
    for i, row in enumerate(table.rows):
        cells = [row[j].translate(_SWAPPED) if comma else row[j] for j in kept]
        try:
            X[i] = [float(cell) for cell in cells]
        except ValueError:
            at = next((k for k, cell in enumerate(cells) if not is_number(cell) or "," in cell), 0)
            problems[i] = _what_is_wrong(row[kept[at]]), kept[at]
    return _checked(X, kept, lost, comma, problems, table)


def numbers_of_records(table: Table, column: str | None, limits: Limits) -> Numbers:
    """Return the numbers of records: a field that is a row of them, or the fields that are one."""
    rows = [c for c in table.names if any(map(is_row, table.column(c)[:_LOOK]))]
    if column:
        rows = (
            [column] if any(map(is_row, table.column(checked_column(table.names, column)))) else []
        )
    if len(rows) > 1:
        raise AskError(
            f"Which column holds the vectors: {join_names(rows)}?",
            [(c, {"column": c}) for c in rows],
        )
    return _of_rows(table, rows[0], limits) if rows else _of_fields(table, column)


def _of_rows(table: Table, column: str, limits: Limits) -> Numbers:
    values, at = table.column(column), table.names.index(column)
    width = len(next(value for value in values if is_row(value)))
    if width > limits.columns:
        raise RefusedError(f"{width:,} columns are too many: the limit is {limits.columns:,}.")
    X = np.zeros((len(values), width))
    problems: dict[int, tuple[str, int | None]] = {}
    for i, value in enumerate(values):
        if not is_row(value):
            problems[i] = f"is {describe_value(value)}, no row of numbers", at
        elif len(value) != width:
            problems[i] = f"has {len(value):,} numbers, the first {width:,}", at
        elif max(map(abs, value)) >= _EXACT and any(what := inexact(x) for x in value):
            problems[i] = what, at
        else:
            X[i] = value
    return _checked(X, [at], {}, False, problems, table)


def _of_fields(table: Table, column: str | None) -> Numbers:
    cells = {j: [row[j] for row in table.rows] for j in range(len(table.names))}
    kept = [j for j, some in cells.items() if are_numbers(some)]
    kept = [table.names.index(column)] if column else kept
    lost = {} if column else {j: "no numbers" for j in cells if j not in kept}
    if len(kept) > 1 and not column and is_index(table.names[kept[0]], cells[kept[0]]):
        lost[kept.pop(0)] = "it numbers the rows"
    if not kept:
        raise RefusedError(f"There is no column of numbers; there are {join_names(table.names)}.")
    X = np.zeros((len(table.rows), len(kept)))
    problems: dict[int, tuple[str, int | None]] = {}
    for i, row in enumerate(table.rows):
        for k, j in enumerate(kept):
            if what := inexact(row[j]):
                problems.setdefault(i, (what, j))
                continue
            try:
                X[i, k] = float(row[j])
            except (TypeError, ValueError):
                said = "null" if row[j] is None else repr(row[j])[:60]
                problems.setdefault(i, (f"has {said}, which is not a number", j))
    return _checked(X, kept, dict(sorted(lost.items())), False, problems, table)


def _checked(
    X: np.ndarray,
    kept: list[int],
    lost: Mapping[int, str],
    comma: bool,
    problems: dict[int, tuple[str, int | None]],
    table: Table,
) -> Numbers:
    """Add the rows that are not finite, and the problems that the table has itself."""
    for i, (what, at) in not_finite(X).items():
        problems.setdefault(i, (what, kept[at] if at < len(kept) else None))
    problems |= {i: (what, None) for i, what in table.problems.items()}
    return Numbers(X, kept, lost, comma, dict(sorted(problems.items())))


def plain_numbers(
    text: str, head: Table, header: bool | None, index: bool | None, limits: Limits
) -> tuple[Numbers, Table] | None:
    """Read a large text of nothing but numbers by NumPy, in a fifth of the time and memory.

    `head` is the table of its first rows. None for a text with a cell that is not a number or a
    row of another length, which the reader of tables knows how to report; numbers are the same.
    """
    if head.delimiter not in (",", ";", "\t") or '"' in text or not head.rows:
        return None
    found = numbers_of(head, header=header, index=index)
    above = head.skipped + (head.header is not None)
    lines = text.strip("\r\n").count("\n") + 1
    n, width = lines - above, len(head.names)
    if found.problems or set(found.lost) - {0} or n * width > limits.values or lines > limits.lines:
        return None
    if text.count(head.delimiter) < n * (width - 1):
        return None
    if found.comma:
        text = text.replace(",", ".") if "." not in text else ""
    named = found.lost.get(0) == "no numbers"
    if named:
        rows = text.splitlines()
        text, above = "\n".join(row.partition(head.delimiter)[2] for row in rows[above:]), 0
    source = io.StringIO(text, newline=None)
    try:
        X = np.loadtxt(source, delimiter=head.delimiter, skiprows=above, comments=None, ndmin=2)
    except ValueError:
        return None
    if X.shape != (n, width - named):
        return None
    if found.lost and not named:
        numbers, X = X[:, 0], X[:, 1:]
        if len(np.unique(numbers)) < n or not np.array_equal(numbers, np.rint(numbers)):
            return None
    read = replace(head, rows=[], places=range(head.places[0], head.places[0] + n))
    return _checked(X, found.kept, found.lost, found.comma, {}, read), read


def not_finite(X: np.ndarray) -> dict[int, tuple[str, int]]:
    """Say by row which value is not finite, and its column."""
    bad = ~np.isfinite(X)
    firsts = {int(i): int(bad[i].argmax()) for i in np.flatnonzero(bad.any(axis=1))}
    return {i: (f"has {X[i, j]}", j) for i, j in firsts.items()}


def is_index(name: str, cells: Sequence[Any]) -> bool:
    """Return whether a column of that name numbers the rows: with whole numbers, all different."""
    if name and not is_named(name, _INDEX):
        return False
    whole = all(re.fullmatch(r"\s*\d+\s*", str(cell)) for cell in cells)
    return whole and len(set(cells)) == len(cells)


def _is_index(table: Table, cells: Sequence[Any], typed: bool) -> bool:
    """Return whether the first column numbers the rows."""
    if table.header is not None:
        return is_index(table.header[0], cells)
    if not typed and len(cells) > 2 and (counts(cells) or counts(cells, 1)):
        raise AskError(
            f"The first column is {join_names(map(str, islice(cells, 3)))}, …: does it number the "
            f"rows? Put a row of names above the table, with “id” for a column to be left out.",
            [("It numbers the rows", {"index": True}), ("It is a number", {"index": False})],
        )
    return False


def _has_decimal_commas(table: Table, kept: Sequence[int]) -> bool:
    """Decide whether commas in cells are decimal signs: more are than points. Name other rows."""
    with_comma = [cell for row in table.rows for j in kept if "," in (cell := row[j])]
    with_point = sum(
        "." in (cell := row[j]) and "," not in cell for row in table.rows for j in kept
    )
    if sum("." not in cell for cell in with_comma) <= with_point:
        return False
    thousands = all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
    return not (thousands and table.delimiter == ",")


def _what_is_wrong(cell: str) -> str:
    return f"has {cell!r:.60}, which is not a number" if cell.strip() else "has an empty cell"
