"""Tables of numbers: their feature columns, index column, and the signs within numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from ...support.exact_integers import MAX_EXACT_INTEGER, describe_inexact_integer
from ...support.types import Record
from .columns import row_in
from .json_documents import describe_value
from .limits import AskError, Limits, ReadOptions, RefusedError
from .names import ID_NAMES, SITE_NAMES, is_named, join_names, role_of
from .samples import Samples
from .tables import Table, are_numbers, checked_column, counts, is_blank, is_number, is_row

# Largest entry on the diagonal of a matrix of distances, as a proportion of the largest distance:
# distances √(2 − 2 cos) in single precision have errors of up to 4e-4.
_ZERO = 1e-3
_MOST_LISTED = 20  # columns or classes that a question lists
_SMALLEST_TRIANGLE = 3  # rows of a triangle of a matrix
_MIN_SYMMETRIC_ROWS = 3  # rows of features that are hardly symmetric by chance
_COUNTER = "it numbers the rows"  # why a column of numbers is left out
# Names of rows: columns named so number the rows if they differ, and in any case by a word for ids.
_ROW_NAMES = re.compile(
    rf"(^|[\W_]|(?<=[a-z])(?=[A-Z]))(?i:{ID_NAMES.pattern}|{SITE_NAMES.pattern})[\W\d_]*$"
)  # at their end: "row number", but not "number of rows"
_ALWAYS_IDS = re.compile("(id|idx|uid|uuid|rowname|unnamed)s?")


def numbers_of(table: Table, read_options: ReadOptions) -> Samples:
    """Return the numbers of a non-empty table: a column of rows of numbers, or columns."""
    column = read_options.column
    rows = _rows_of_numbers(table, column)
    names, lost = ([str(column)], {}) if rows else _features(table, read_options)
    lengths = (len(row) for row in rows if isinstance(row, list) and row)
    width = next(lengths, len(names))
    X = np.full((len(table.rows), check_width(width, read_options.limits)), np.nan)
    shown = rows or [list(row) for row in zip(*map(table.column, names), strict=True)]
    signs = [] if rows or table.typed else _signs_of_columns(shown, table.delimiter)
    problems = {}  # by row: a predicate, and the column
    for i, row in enumerate(shown):
        plain = [of.plain(cell) for cell, of in zip(row, signs, strict=True)] if signs else row
        try:
            numbers = list(map(float, plain)) if isinstance(plain, list) else []
            X[i] = np.reshape(numbers, width)
            sure = not table.typed or bool((np.abs(X[i]) < MAX_EXACT_INTEGER).all())
        except (TypeError, ValueError, OverflowError):
            sure = False
        if not sure and (problem := _problem(plain, row, width)):
            problems[i] = problem
    problems = not_finite(X) | problems
    if not problems:
        X = similarities_of(X, read_options)
        _check_no_cross_table(table, names, X, read_options)
    named = table.header or len(table.names) > 1
    places = {i: names[min(k, len(names) - 1)] if named else "" for i, (_, k) in problems.items()}
    every_problem = {i: what for i, (what, _) in problems.items()} | dict(table.problems)
    comma = any(sign.decimal == "," for sign in signs)
    return Samples(
        X,
        table.places,
        table.unit,
        dict(sorted(every_problem.items())),
        kind="vectors",
        wrong=places | dict.fromkeys(table.problems, ""),
        features=names,
        lost=lost,
        column=names[0] if named and len(names) == 1 else column,
        table=replace(table, rows=[], problems={}, origin=(), comma=comma),
    )


def _rows_of_numbers(table: Table, column: str | None) -> list[Any]:
    """Return the cells of a column if some are rows of numbers."""
    if not column or "," in column:
        return []
    cells = [row_in(cell) for cell in table.column(column)]
    return cells if any(map(is_row, cells)) else []


def _problem(plain: Iterable[Any], row: object, width: int) -> tuple[str, int] | None:
    """Say what keeps a row from being so many numbers, and in which of them."""
    if not isinstance(row, list):
        return f"is {describe_value(row)}, not a row of numbers", 0
    if len(row) != width:
        return f"has {len(row):,} numbers, the first {width:,}", 0
    faults = enumerate(map(_fault, plain, row))
    return next(((what, k) for k, what in faults if what), None)


def similarities_of(X: np.ndarray, read_options: ReadOptions) -> np.ndarray:
    """Return rows of numbers, or exp(−X) of distances X; ask whether a matrix is one of these."""
    if read_options.distances:
        if X.shape[0] != X.shape[1]:
            raise RefusedError(
                f"a matrix of distances must be square, got {X.shape[0]:,} × {X.shape[1]:,} numbers"
            )
        D = np.asarray(X, dtype=float)
        size = np.abs(D).max(initial=0)
        problems = {
            "must be at least 0": D < 0,
            "must be 0 on its diagonal": np.abs(np.diag(D.diagonal())) > _ZERO * size,
        }
        for requirement, is_wrong in problems.items():
            if is_wrong.any():
                i, j = np.argwhere(is_wrong)[0].tolist()
                raise RefusedError(
                    f"a matrix of distances {requirement}, got {D[i, j]:.6g} in row {i + 1}, "
                    f"column {j + 1}; for similarities, pass --matrix"
                )
        K = np.exp(-D)
        np.fill_diagonal(K, 1)  # distances in single precision have rounding errors
        return K
    if read_options.matrix is None:
        _check_no_matrix(X)
    return X


def _check_no_matrix(X: np.ndarray) -> None:
    """Ask whether a symmetric matrix with one number on its diagonal has similarities or distances.

    Samples are not more similar to others than to themselves. An identity matrix is not asked
    about: its score is the same as that of its rows.
    """
    n = len(X)
    if n < 2 or X.shape != (n, n):
        return
    diagonal = X.diagonal().astype(float)
    size = float(np.abs(X).max())
    is_distance = float(np.abs(diagonal).max()) <= _ZERO * size
    constant = 0.0 if is_distance else float(diagonal[0])
    is_constant = is_distance or np.allclose(diagonal, constant)
    if not is_constant or constant < 0 or not np.allclose(X, X.T):
        return
    if X.min() < 0 if is_distance else size > 1.001 * constant:
        return
    if np.array_equal(X, np.eye(n)):
        return
    constant = round(constant, 6)
    choice: tuple[str, Record] = ("It is a matrix of similarities", {"matrix": True})
    if is_distance:
        choice = ("It is a matrix of distances", {"distances": True})
    elif constant != 1:
        choice[1]["normalize"] = True
    what = "distances, from which similarities exp(−distance) are computed"
    raise AskError(
        f"The table is symmetric, {n:,} × {n:,}, with {constant:g} all along its diagonal: is it a "
        f"matrix of {what if is_distance else 'similarities'}, or are its rows features?",
        [choice, ("Its rows are features", {"matrix": False})],
    )


def check_no_uneven_diagonal(samples: Samples, read_options: ReadOptions) -> None:
    """Ask whether rows that are a symmetric matrix with different numbers on its diagonal are one.

    Such are matrices of dot products. A matrix with one number on its diagonal is asked about
    before.
    """
    X = samples.values
    if samples.kind != "vectors" or read_options.matrix is not None:
        return
    n = len(X)
    if not isinstance(X, np.ndarray) or n < _MIN_SYMMETRIC_ROWS or X.shape != (n, n):
        return
    if np.allclose(X.diagonal(), X[0, 0]) or not np.allclose(X, X.T):
        return
    raise AskError(
        f"The table is symmetric, {n:,} × {n:,}, with different numbers on its diagonal: is it a "
        "matrix of similarities, which are divided by those of the samples with themselves, or are "
        "its rows features?",
        [
            ("It is a matrix of similarities", {"matrix": True, "normalize": True}),
            ("Its rows are features", {"matrix": False}),
        ],
    )


def _check_no_cross_table(
    table: Table, names: Sequence[str], X: np.ndarray, read_options: ReadOptions
) -> None:
    """Ask about a square table with the same names of rows and columns that is not symmetric."""
    are_squares = X.shape == (len(names), len(names)) and len(names) > 1
    if read_options.matrix is not None or not are_squares or names[0] == table.names[0]:
        return
    if table.labels(table.names[0]) == [*names] and not np.allclose(X, X.T):
        raise AskError(
            "The rows have the same names as the columns, but the table is not symmetric, as that "
            "of confusions of classes, so that it is no matrix of similarities or distances. Are "
            "its rows features?",
            [("Its rows are features", {"matrix": False})],
        )


def check_no_class(table: Table, read_options: ReadOptions) -> None:
    """Ask whether the last column of a table without names has classes of its rows.

    It may if it has whole numbers, each of which occurs twice on average, and all other columns
    have fractions.
    """
    chosen = read_options.column or read_options.index is not None
    if table.header or table.typed or chosen or not 2 < len(table.names) <= _MOST_LISTED:
        return
    *others, last = (list(map(str, table.column(name))) for name in table.names)
    values = [*dict.fromkeys(map(str.strip, last))]
    are_classes = 2 <= len(values) <= len(last) // 2 and _are_whole(values)
    if not are_classes or len(values) > _MOST_LISTED:
        return
    if any(map(_are_whole, others)):
        return
    raise AskError(
        f"The last column has whole numbers only ({join_names(values)}), and the others have "
        "fractions. Is it the class of the row?",
        [
            ("It is a class, which is left out", {"column": ",".join(table.names[:-1])}),
            ("It is a number like the others", {"kind": "vectors"}),
        ],
    )


def _features(table: Table, read_options: ReadOptions) -> tuple[list[str], dict[str, str]]:
    """Return the columns of numbers, and the reasons why others are left out."""
    first_row = table.rows[0]
    if read_options.header is None and not table.typed and not table.header and counts(first_row):
        raise AskError(
            f"Row {table.places[0]} is {join_names(first_row)}: are these the names of the "
            "columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            "the columns names that are not numbers.",
            [("They name the columns", {"header": True}), ("It is a sample", {"header": False})],
        )
    if column := read_options.column:
        asked = [column] if column in table.names else column.split(",")
        return [checked_column(table.names, name) for name in asked], {}
    kept = [name for name in table.names if are_numbers(table.column(name))]
    numeric = {*kept}
    lost = {name: "no numbers" for name in table.names if name not in numeric}
    for name in kept:
        cells = table.column(name)
        if 2 * sum(map(is_blank, cells)) > len(cells) and len(kept) > 1:
            lost[name] = "most cells are empty"
    first, *others = table.names
    if others and _is_index(table, first, read_options):
        lost[first] = _COUNTER
    for name in kept:
        if others and table.header and (reason := _why_no_feature(table, name)):
            lost[name] = reason
    kept = [name for name in kept if name not in lost and name not in read_options.others]
    if not kept:
        left = join_names(f"{name} ({why})" for name, why in lost.items())
        raise RefusedError(f"There is no column of numbers to compare; left out: {left}.")
    return kept, {name: why for name, why in lost.items() if name not in read_options.others}


def complete_triangle(table: Table) -> Table:
    """Return the whole symmetric matrix if a table has a triangle of it, with its diagonal.

    Parameters
    ----------
    table : Table
        Any table; the first column may have names of the rows.

    Returns
    -------
    Table
        The same table if it is no triangle.

    Raises
    ------
    RefusedError
        For a triangle without its diagonal.
    """
    n = len(table.rows)
    start = int(n > 0 and not are_numbers(table.column(table.names[0])))
    cells = [row[start:] for row in table.rows]
    width = len(table.names) - start
    n_filled = [_count_filled(row) for row in cells[:2]]
    step = n_filled[-1] - n_filled[0] if n >= _SMALLEST_TRIANGLE else 0
    if step not in (1, -1):  # most tables, whose further rows need not be counted
        return table
    n_filled = list(map(_count_filled, cells))
    if any(second - first != step for first, second in pairwise(n_filled)):
        return table
    is_lower = step == 1
    for row, count in zip(cells, n_filled, strict=True):
        numbers = row[:count] if is_lower else row[width - count :]
        if not all(map(is_number, numbers)):
            return table
    lower = cells if is_lower else list(zip(*cells, strict=True))
    names = None
    if start and table.header:
        names = [str(name).strip() for name in table.column(table.names[0])]
    diagonal = {str(lower[i][i]).strip() for i in range(n)} if n == width else set()
    if len(diagonal) != 1 or "" in diagonal or names not in (None, table.names[start:]):
        raise RefusedError(
            "it has one triangle of a symmetric matrix, without the diagonal; save the whole matrix"
        )
    whole = [
        [*row[:start], *(lower[max(i, j)][min(i, j)] for j in range(n))]
        for i, row in enumerate(table.rows)
    ]
    return replace(table, rows=whole)


def _count_filled(cells: Sequence[object]) -> int:
    return sum(not is_blank(cell) for cell in cells)


def not_finite(X: np.ndarray) -> dict[int, tuple[str, int]]:
    """Find the rows that contain values that are not finite.

    Parameters
    ----------
    X : array of shape (n, d)
        The values.

    Returns
    -------
    dict of int to tuple
        For each such row a description, and the index of the first such column.

    See Also
    --------
    vendiscore.report.read_data : Read the samples of a file.

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


def _is_index(table: Table, name: str, read_options: ReadOptions) -> bool:
    """Return whether a column numbers the rows: with distinct whole numbers."""
    if read_options.index is not None and not table.typed:
        return read_options.index
    cells = list(map(str, table.column(name)))
    counting = len(cells) > 2 and (counts(cells) or counts(cells, 1))
    if table.header is None and counting:
        raise AskError(
            f"The first column is {join_names(cells[:3])}, …: does it number the rows? "
            "Put a row of names above the table, with “id” for a column to be left out.",
            [("It numbers the rows", {"index": True}), ("It is a number", {"index": False})],
        )
    return counting


def _numbers_rows(table: Table, name: str) -> bool:
    """Return whether a column without a name, or named as ids or sites, has distinct numbers."""
    title = table.header and table.header[table.indices[name]]
    if title and not _ROW_NAMES.search(title):
        return False
    cells = list(map(str, table.column(name)))
    return len({*cells}) == len(cells) and _are_whole(cells)


def _are_whole(cells: Iterable[str]) -> bool:
    """Return whether all cells are whole numbers without a sign."""
    return all(map(_WHOLE_CELL.fullmatch, cells))


def _why_no_feature(table: Table, name: str) -> str:
    """Return why a column of numbers is not a feature, "" if it is one."""
    if role_of(name) == "label":
        return "it holds labels"
    is_id = is_named(name, _ALWAYS_IDS) or _numbers_rows(table, name)
    return _COUNTER if is_id else ""


def _signs_of_columns(rows: Sequence[Sequence[str]], delimiter: str) -> list[Signs]:
    """Return the signs of each column: the usual ones, unless they fit few of its cells."""
    possible = _SIGNS
    if delimiter == ",":  # where a comma between digits is quoted, it is of thousands
        possible = sorted(_SIGNS, key=lambda signs: signs.decimal == ",")
    stripped = [map(str.strip, cells) for cells in zip(*rows, strict=True)]
    marked = [list(filter(_MARKED.search, cells)) for cells in stripped]
    usual = _fitting(possible, list(chain.from_iterable(marked)))
    signs = []
    for cells in marked:
        few = 2 * (len(cells) - sum(map(usual.fits, cells))) > len(rows)
        signs.append(_fitting(possible, cells) if few else usual)
    return signs


def _fitting(possible: Sequence[Signs], cells: Sequence[str]) -> Signs:
    """Return the signs that most of the cells can be written with."""
    fits = []
    for signs in possible:
        fits.append(sum(map(signs.fits, cells)))
        if fits[-1] == len(cells):
            break
    return possible[fits.index(max(fits))]


class Signs(NamedTuple):
    """The sign between thousands, "" for none, the decimal sign, and such numbers."""

    thousands: str
    decimal: str
    pattern: re.Pattern[str]

    def fits(self, cell: str) -> bool:
        """Return whether a cell is a number with these signs."""
        return bool(self.pattern.fullmatch(cell))

    def plain(self, cell: str) -> str:
        """Return a number as Python writes it; another cell such that it cannot be read."""
        if self.thousands and self.fits(cell.strip()):
            cell = cell.replace(self.thousands, "")
        cell = cell.translate(_SWAPPED) if self.decimal == "," else cell
        return without_percent_sign(cell)


def without_percent_sign(cell: str) -> str:
    """Return a percentage as Python writes the number; another cell unchanged.

    >>> without_percent_sign("12 %"), without_percent_sign("12")
    ('12e-2', '12')
    """
    number = cell.rstrip()
    return f"{number[:-1].rstrip()}e-2" if number.endswith("%") else cell


def _signs(thousands: str, decimal: str) -> Signs:
    whole = r"\d+"
    if thousands:
        whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
    point = re.escape(decimal)
    number = rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+|\s?%)?"
    return Signs(thousands, decimal, re.compile(number))


_WHOLE_CELL = re.compile(r"\s*\d+\s*")
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
    return describe_inexact_integer(cell)
