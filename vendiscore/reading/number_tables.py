"""Tables of numbers: their feature columns, index column and decimal sign."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .columns import row_in
from .json_documents import describe_value
from .limits import WHOLE, AskError, Limits, RefusedError, Wanted, inexact
from .names import ID_NAMES, is_named, join_names, role_of
from .samples import Samples
from .tables import Table, are_numbers, checked_column, counts, is_row

# Columns of numbers that are no features, by the role of their names.
_NO_FEATURES = {"id": "it numbers the rows", "label": "it holds labels"}


def numbers_of(table: Table, wanted: Wanted) -> Samples:
    """Return the numbers of a non-empty table: a column of rows of numbers, or columns."""
    column = wanted.column
    cells = [row_in(cell) for cell in table.column(column)] if column and "," not in column else []
    if column and any(map(is_row, cells)):
        names = [column]
        lost: Mapping[str, str] = {}
        width = check_width(len(next(filter(is_row, cells))), wanted.limits)
        shown = every = cells
        comma = False
    else:
        kept, reasons = _features(table, wanted)
        names = [table.names[j] for j in kept]
        lost = {table.names[j]: why for j, why in reasons.items()}
        width = len(kept)
        shown = every = [[row[j] for j in kept] for row in table.rows]
        comma = False
        if not table.typed:
            signs = _signs_of_columns(table, kept)
            comma = any(of.decimal == "," for of in signs)
            pairs = (zip(cells, signs, strict=True) for cells in every)
            every = [[of.plain(cell) for cell, of in each] for each in pairs]
    X = np.full((len(every), width), np.nan)
    problems: dict[int, tuple[str, str]] = {}  # by row: a predicate, and the column
    for i, row in enumerate(every):
        if column in names and not isinstance(row, list):
            problems[i] = f"is {describe_value(row)}, not a row of numbers", names[0]
        elif len(row) != width:
            problems[i] = f"has {len(row):,} numbers, the first {width:,}", names[0]
        else:
            try:
                X[i] = [float(cell) for cell in row]
                sure = not table.typed or bool((np.abs(X[i]) < WHOLE).all())
            except (TypeError, ValueError, OverflowError):
                sure = False
            faults = () if sure else enumerate(map(_fault, row, shown[i]))
            if at := next(((what, k) for k, what in faults if what), None):
                problems[i] = at[0], names[min(at[1], len(names) - 1)]
    for i, (what, k) in not_finite(X).items():
        problems.setdefault(i, (what, names[min(k, len(names) - 1)]))
    if not problems and wanted.matrix is None and column not in names:
        _check_no_similarities(X)
    named = table.header or len(table.names) > 1
    every_problem = {i: what for i, (what, _) in problems.items()} | dict(table.problems)
    wrong = {i: name if named else "" for i, (_, name) in problems.items()}
    return Samples(
        X,
        table.places,
        table.unit,
        dict(sorted(every_problem.items())),
        kind="vectors",
        wrong=wrong | dict.fromkeys(table.problems, ""),
        features=names,
        lost=lost,
        column=names[0] if named and len(names) == 1 else column,
        table=replace(table, rows=[], problems={}, origin=(), comma=comma),
    )


def _check_no_similarities(X: np.ndarray) -> None:
    """Ask whether numbers are similarities: a symmetric matrix with ones on the diagonal."""
    n = len(X)
    if n < 2 or X.shape != (n, n) or not (np.diagonal(X) == 1).all() or not (X == X.T).all():
        return
    raise AskError(
        f"The table is symmetric, {n:,} × {n:,}, with ones on its diagonal: is it a matrix of "
        f"similarities, or are its rows features?",
        [
            ("It is a matrix of similarities", {"matrix": True}),
            ("Its rows are features", {"matrix": False}),
        ],
    )


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
    roles = [role_of(name) for name in table.names]
    named = [j for j in kept if table.header and roles[j] in _NO_FEATURES]
    first = kept[0] if table.typed and kept else 0
    index = None if table.typed else wanted.index
    if index is None and len(kept if table.typed else columns) > 1:
        index = _is_index(table, first, columns[first])
    lost = {j: "no numbers" for j in range(len(columns)) if j not in kept}
    if index:
        lost = dict(sorted({**lost, first: "it numbers the rows"}.items()))
        kept = [j for j in kept if j != first]
    if len(named) < len(kept):
        lost |= {j: _NO_FEATURES[roles[j]] for j in named if j in kept}
        kept = [j for j in kept if j not in named]
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
        if table.header[j] and not is_named(table.header[j], ID_NAMES):
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


def _signs_of_columns(table: Table, kept: Sequence[int]) -> list[Signs]:
    """Return the signs of each column: those of the table, unless they fit few of its cells."""
    columns = [[row[j].strip() for row in table.rows] for j in kept]
    marked = [[cell for cell in cells if _MARKED.search(cell)] for cells in columns]
    possible = _SIGNS
    if table.delimiter == ",":  # where a comma between digits is quoted, it is of thousands
        possible = sorted(_SIGNS, key=lambda signs: signs.decimal == ",")
    usual = _fitting(possible, [cell for cells in marked for cell in cells])
    found = []
    for cells, some in zip(columns, marked, strict=True):
        bad = sum(not usual.pattern.fullmatch(cell) for cell in some)
        found.append(_fitting(possible, some) if 2 * bad > len(cells) else usual)
    return found


def _fitting(possible: Sequence[Signs], cells: Sequence[str]) -> Signs:
    """Return the signs that most of the cells can be written with."""
    fits: list[int] = []
    for signs in possible:
        fits.append(sum(map(bool, map(signs.pattern.fullmatch, cells))))
        if fits[-1] == len(cells):
            break
    return possible[fits.index(max(fits))]


class Signs(NamedTuple):
    """The sign between thousands, "" for none, the decimal sign, and such numbers."""

    thousands: str
    decimal: str
    pattern: re.Pattern[str]

    def plain(self, cell: str) -> str:
        """Return a number as Python writes it; another cell such that it cannot be read."""
        if self.thousands and self.pattern.fullmatch(cell.strip()):
            cell = cell.replace(self.thousands, "")
        return cell.translate(_SWAPPED) if self.decimal == "," else cell


def _signs(thousands: str, decimal: str) -> Signs:
    whole = r"\d+"
    if thousands:
        whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
    point = re.escape(decimal)
    number = rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
    return Signs(thousands, decimal, re.compile(number))


_MARKED = re.compile(r"\d[.,]\d|^[+-]?[.,]\d|\d[.,]")
_SWAPPED = str.maketrans(",.", ".,")
_SIGNS = [_signs("", "."), _signs("", ","), _signs(",", "."), _signs(".", ",")]


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
