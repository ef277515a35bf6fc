"""Tables of numbers: their feature columns, index column and decimal sign."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .json_documents import describe_value
from .limits import WHOLE, AskError, Limits, RefusedError, Wanted, inexact
from .samples import Samples
from .tables import Table, are_numbers, checked_column, counts, is_named, is_row, join_names

_SWAPPED = str.maketrans(",.", ".,")
_INDEX = re.compile("ids?|index|idx|row|rownames|unnamed|nr|no|uid")


def numbers_of(table: Table, wanted: Wanted) -> Samples:
    """Return the numbers of a non-empty table: a field of rows of numbers, or columns."""
    field = _row_field(table, wanted) if table.typed else None
    if field is None:
        kept, lost = _features(table, wanted)
        width = len(kept)
        comma = not table.typed and _has_decimal_commas(table, kept)
        every = [[row[j] for j in kept] for row in table.rows]
    else:
        kept = [field]
        lost = {}
        comma = False
        every = [row[field] for row in table.rows]
        width = check_width(len(next(filter(is_row, every))), wanted.limits)
    X = np.full((len(every), width), np.nan)
    problems: dict[int, tuple[str, int]] = {}  # by row: a predicate, and the column
    for i, cells in enumerate(every):
        if field is not None and not is_row(cells):
            problems[i] = f"is {describe_value(cells)}, not a row of numbers", field
        elif len(cells) != width:
            problems[i] = f"has {len(cells):,} numbers, the first {width:,}", kept[0]
        else:
            plain = [cell.translate(_SWAPPED) for cell in cells] if comma else cells
            try:
                X[i] = [float(cell) for cell in plain]
                sure = not table.typed or bool((np.abs(X[i]) < WHOLE).all())
            except (TypeError, ValueError, OverflowError):
                sure = False
            faults = () if sure else map(_fault, plain, cells)
            if at := next(((what, k) for k, what in enumerate(faults) if what), None):
                problems[i] = at[0], kept[at[1] if field is None else 0]
    for i, (what, k) in not_finite(X).items():
        problems.setdefault(i, (what, kept[min(k, len(kept) - 1)]))
    named = table.header or len(table.names) > 1
    every_problem = {i: what for i, (what, _) in problems.items()} | dict(table.problems)
    wrong = {i: table.names[j] if named else "" for i, (_, j) in problems.items()}
    return Samples(
        X,
        table.places,
        table.unit,
        dict(sorted(every_problem.items())),
        kind="vectors",
        wrong=wrong | dict.fromkeys(table.problems, ""),
        features=[table.names[j] for j in kept],
        lost={table.names[j]: why for j, why in lost.items()},
        column=table.names[kept[0]] if named and len(kept) == 1 else wanted.column,
        table=replace(table, rows=[], problems={}, origin=(), comma=comma),
    )


def _row_field(table: Table, wanted: Wanted) -> int | None:
    """Return the field of records that holds rows of numbers, or None; ask if there are several."""
    column = wanted.column
    names = table.names
    if column:
        has = column in names and any(map(is_row, table.column(column)))
        return names.index(column) if has else None
    rows = [name for name in names if table.holds_rows(name)]
    if len(rows) > 1:
        raise ask_vectors(rows)
    return names.index(rows[0]) if rows else None


def _features(table: Table, wanted: Wanted) -> tuple[list[int], dict[int, str]]:
    """Return the columns of numbers, and the reasons why others are left out."""
    columns = list(zip(*table.rows, strict=True))
    first_row = table.rows[0]
    if wanted.header is None and not table.typed and not table.header and counts(first_row):
        raise AskError(
            f"Row {table.places[0]} is {join_names(first_row)}: are these the names of the "
            "columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            "the columns names that are not numbers.",
            [("They name the columns", {"header": True}), ("It is a sample", {"header": False})],
        )
    if column := wanted.column:
        asked = [column] if column in table.names else column.split(",")
        return [table.names.index(checked_column(table.names, name)) for name in asked], {}
    kept = [j for j, cells in enumerate(columns) if are_numbers(cells)]
    first = kept[0] if table.typed and kept else 0
    index = None if table.typed else wanted.index
    if index is None and len(kept if table.typed else columns) > 1:
        index = _is_index(table, first, columns[first])
    lost = {j: "no numbers" for j in range(len(columns)) if j not in kept}
    if index:
        lost = dict(sorted({**lost, first: "it numbers the rows"}.items()))
        kept = [j for j in kept if j != first]
    if not kept:
        raise RefusedError(
            f"There is no column of numbers; {table.unit} {table.places[0]} has "
            f"{join_names(map(str, first_row))}."
        )
    return kept, lost


def not_finite(X: np.ndarray) -> dict[int, tuple[str, int]]:
    """Say for each row with one which value is not finite, and in which column.

    Parameters
    ----------
    X : array (n, d)

    Returns
    -------
    problems : dict of int to (str, int)
        What is wrong with a row, and the first column where it is.

    Examples
    --------
    >>> not_finite(np.array([[0.0, 1.0], [2.0, np.nan]]))
    {1: ('has nan', 1)}
    """
    bad = ~np.isfinite(X)
    firsts = {int(i): int(bad[i].argmax()) for i in np.flatnonzero(bad.any(axis=1))}
    return {i: (f"has {X[i, j]}", j) for i, j in firsts.items()}


def check_width(width: int, limits: Limits) -> int:
    if width > limits.columns:
        raise RefusedError(f"{width:,} columns are too many: the limit is {limits.columns:,}.")
    return width


def ask_vectors(names: Sequence[str]) -> AskError:
    choices = [(name, {"column": name}) for name in names]
    return AskError(f"Which column holds the vectors: {join_names(names)}?", choices)


def _is_index(table: Table, j: int, cells: Sequence[object]) -> bool:
    """Return whether a column numbers the rows: with distinct whole numbers."""
    if table.header is not None:
        if table.header[j] and not is_named(table.header[j], _INDEX):
            return False
        whole = all(re.fullmatch(r"\s*\d+\s*", str(cell)) for cell in cells)
        return whole and len(set(cells)) == len(cells)
    if len(cells) > 2 and (counts(cells) or counts(cells, 1)):
        raise AskError(
            f"The first column is {join_names(map(str, cells[:3]))}, …: does it number the rows? "
            f"Put a row of names above the table, with “id” for a column to be left out.",
            [("It numbers the rows", {"index": True}), ("It is a number", {"index": False})],
        )
    return False


def _has_decimal_commas(table: Table, kept: Sequence[int]) -> bool:
    """Return whether commas in cells are decimal signs: more than points, and not of thousands."""
    with_comma = [cell for row in table.rows for j in kept if "," in (cell := row[j])]
    if not with_comma:
        return False
    every = (row[j] for row in table.rows for j in kept)
    with_point = sum("." in cell and "," not in cell for cell in every)
    if sum("." not in cell for cell in with_comma) <= with_point:
        return False
    thousands = all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
    return not (thousands and table.delimiter == ",")


def _fault(plain: Any, cell: object) -> str:
    """Say why a cell is not a number in double precision; "" if it is one."""
    try:
        float(plain)
    except (TypeError, ValueError):
        if isinstance(cell, str) and not cell.strip():
            return "has an empty cell"
        return f"has {'null' if cell is None else repr(cell)[:60]}, which is not a number"
    except OverflowError:
        pass
    return inexact(cell)
