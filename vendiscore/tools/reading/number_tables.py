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
from .columns import parse_row
from .json_documents import describe_value
from .limits import AskError, Limits, ReadOptions, RefusedError
from .names import ID_NAMES, SITE_NAMES, is_named, join_names, role_of
from .samples import Samples
from .tables import Table, are_consecutive, are_numbers, check_column, is_blank, is_number, is_row

# Largest entry on the diagonal of a matrix of distances, as a proportion of the largest distance:
# distances √(2 − 2 cos) in single precision have errors of up to 4e-4.
_ZERO_TOLERANCE = 1e-3
_MAX_LISTED = 20  # columns or classes that a question lists
_MIN_TRIANGLE_ROWS = 3  # rows of a triangle of a matrix
_MAX_NAMED_FEATURES = 100  # columns that an answer to a question names
_MAX_WHOLE_COLUMNS = 5  # columns of whole numbers that may be about the rows, next to fractions
_MIN_FRACTION_COLUMNS = 2
_MIN_WHOLE_ROWS = 5  # rows of a column of fractions, which are hardly whole by chance
_MIN_SYMMETRIC_ROWS = 3  # rows of features that are hardly symmetric by chance
_OTHER_KERNEL = "For texts or molecules, choose a kernel that compares them."
_ROW_NUMBER_REASON = "it numbers the rows"  # why a column of numbers is left out
# Names of rows: columns named so number the rows if they differ, and in any case by a word for ids.
_ROW_NAMES = re.compile(
    rf"(^|[\W_]|(?<=[a-z])(?=[A-Z]))(?i:{ID_NAMES.pattern}|{SITE_NAMES.pattern})[\W\d_]*$"
)  # at their end: "row number", but not "number of rows"
_ALWAYS_IDS = re.compile("(id|idx|uid|uuid|rowname|unnamed)s?")


def take_numbers(table: Table, read_options: ReadOptions) -> Samples:
    """Return the numbers of a non-empty table: a column of rows of numbers, or columns."""
    column = read_options.column
    rows = _find_numeric_rows(table, column)
    names, reasons = ([str(column)], {}) if rows else _select_features(table, read_options)
    lengths = (len(row) for row in rows if isinstance(row, list) and row)
    width = next(lengths, len(names))
    X = np.full((len(table.rows), check_width(width, read_options.limits)), np.nan)
    cells_by_row = rows or [list(row) for row in zip(*map(table.column, names), strict=True)]
    number_formats = (
        [] if rows or table.typed else _detect_number_formats(cells_by_row, table.delimiter)
    )
    problems = {}  # by row: a predicate, and the column
    for i, row in enumerate(cells_by_row):
        plain_cells = (
            [
                number_format.to_python(cell)
                for cell, number_format in zip(row, number_formats, strict=True)
            ]
            if number_formats
            else row
        )
        try:
            numbers = list(map(float, plain_cells)) if isinstance(plain_cells, list) else []
            X[i] = np.reshape(numbers, width)
            is_exact = not table.typed or bool((np.abs(X[i]) < MAX_EXACT_INTEGER).all())
        except (TypeError, ValueError, OverflowError):
            is_exact = False
        if not is_exact and (problem := _describe_row_problem(plain_cells, row, width)):
            problems[i] = problem
    problems = not_finite(X) | problems
    if not problems:
        X = to_similarities(X, read_options)
        _check_no_cross_table(table, names, X, read_options)
    has_column_name = table.header or len(table.names) > 1
    problem_columns = {
        i: names[min(k, len(names) - 1)] if has_column_name else ""
        for i, (_, k) in problems.items()
    }
    all_problems = {i: problem for i, (problem, _) in problems.items()} | dict(table.problems)
    has_decimal_comma = any(column_format.decimal == "," for column_format in number_formats)
    return Samples(
        X,
        table.places,
        table.unit,
        dict(sorted(all_problems.items())),
        kind="vectors",
        wrong=problem_columns | dict.fromkeys(table.problems, ""),
        features=names,
        lost=reasons,
        column=names[0] if has_column_name and len(names) == 1 else column,
        table=replace(table, rows=[], problems={}, origin=(), comma=has_decimal_comma),
    )


def _find_numeric_rows(table: Table, column: str | None) -> list[Any]:
    """Return the cells of a column if some are rows of numbers."""
    if not column or "," in column:
        return []
    cells = [parse_row(cell) for cell in table.column(column)]
    return cells if any(map(is_row, cells)) else []


def _describe_row_problem(
    plain_cells: Iterable[Any], row: object, width: int
) -> tuple[str, int] | None:
    """Describe why a row is not `width` numbers, and return the index of the invalid cell."""
    if not isinstance(row, list):
        return f"is {describe_value(row)}, not a row of numbers", 0
    if len(row) != width:
        return f"has {len(row):,} numbers, the first {width:,}", 0
    cell_problems = enumerate(map(_describe_cell_problem, plain_cells, row))
    return next(((problem, k) for k, problem in cell_problems if problem), None)


def to_similarities(X: np.ndarray, read_options: ReadOptions) -> np.ndarray:
    """Return X, or exp(−X) if X are distances; ask if X may be a matrix of similarities."""
    if read_options.distances:
        if X.shape[0] != X.shape[1]:
            raise RefusedError(
                f"a matrix of distances must be square, got {X.shape[0]:,} × {X.shape[1]:,} numbers"
            )
        D = np.asarray(X, dtype=float)
        size = np.abs(D).max(initial=0)
        problems = {
            "must be at least 0": D < 0,
            "must be 0 on its diagonal": np.abs(np.diag(D.diagonal())) > _ZERO_TOLERANCE * size,
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
    is_distance = float(np.abs(diagonal).max()) <= _ZERO_TOLERANCE * size
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
    matrix_type = "distances, from which similarities exp(−distance) are computed"
    raise AskError(
        f"The table is symmetric, {n:,} × {n:,}, with {constant:g} all along its diagonal: is it a "
        f"matrix of {matrix_type if is_distance else 'similarities'}, or are its rows features?",
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


def check_no_whole_columns(samples: Samples, read_options: ReadOptions) -> None:
    """Ask whether few columns of whole numbers among columns of fractions are features.

    They may be years, ages, classes or numbers of tokens. Columns of zeros do not matter.
    """
    names, X = samples.features, samples.values
    is_matrix = read_options.matrix is not None or read_options.distances
    if samples.kind != "vectors" or read_options.column or is_matrix or samples.column:
        return
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != len(names):
        return
    X = X[np.isfinite(X).all(axis=1)]
    if len(X) < _MIN_WHOLE_ROWS:
        return
    are_whole = (X % 1 == 0).all(axis=0)
    is_used = X.any(axis=0)
    whole = [name for name, flag in zip(names, are_whole & is_used, strict=True) if flag]
    fractions = [name for name, flag in zip(names, are_whole, strict=True) if not flag]
    if not 0 < len(whole) <= min(_MAX_WHOLE_COLUMNS, len(fractions)):
        return
    if len(fractions) < _MIN_FRACTION_COLUMNS:
        return
    choices: list[tuple[str, Record]] = [("All columns are features", {"kind": "vectors"})]
    hint = f"; if not, remove {'it' if len(whole) == 1 else 'them'} from the file"
    if len(names) <= _MAX_NAMED_FEATURES and not any("," in name for name in fractions):
        options: Record = {"column": ",".join(fractions), "kind": "vectors"}
        choices.insert(0, ("Only the columns of fractions are features", options))
        hint = ""
    subject = f"Column {whole[0]} has" if len(whole) == 1 else f"Columns {join_names(whole)} have"
    raise AskError(
        f"{subject} whole numbers only, and the other {len(fractions)} columns of numbers have "
        f"fractions. {'Is it a feature' if len(whole) == 1 else 'Are they features'}, too{hint}?",
        choices,
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
            "The rows have the same names as the columns, but the table is not symmetric, for "
            "example a confusion matrix, so it is not a matrix of similarities or distances. Are "
            "its rows features?",
            [("Its rows are features", {"matrix": False})],
        )


def check_no_class(table: Table, read_options: ReadOptions) -> None:
    """Ask whether the last column of a table without names has classes of its rows.

    It may if it has whole numbers, each of which occurs twice on average, and all other columns
    have fractions.
    """
    is_requested = read_options.column or read_options.index is not None
    if table.header or table.typed or is_requested or not 2 < len(table.names) <= _MAX_LISTED:
        return
    *others, last = (list(map(str, table.column(name))) for name in table.names)
    values = [*dict.fromkeys(map(str.strip, last))]
    are_classes = 2 <= len(values) <= len(last) // 2 and _are_whole(values)
    if not are_classes or len(values) > _MAX_LISTED:
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


def _select_features(table: Table, read_options: ReadOptions) -> tuple[list[str], dict[str, str]]:
    """Return the columns of numbers, and the reasons why others are left out."""
    first_row = table.rows[0]
    if (
        read_options.header is None
        and not table.typed
        and not table.header
        and are_consecutive(first_row)
    ):
        raise AskError(
            f"Row {table.places[0]} is {join_names(first_row)}: are these the names of the "
            "columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            "the columns names that are not numbers.",
            [("They name the columns", {"header": True}), ("It is a sample", {"header": False})],
        )
    if column := read_options.column:
        requested = [column] if column in table.names else column.split(",")
        names = [check_column(table.names, name) for name in requested]
        if not any(map(is_number, chain.from_iterable(map(table.column, names)))):
            listed = join_names(map(repr, names))
            raise RefusedError(f"There are no numbers in column {listed}. {_OTHER_KERNEL}")
        return names, {}
    features = [name for name in table.names if are_numbers(table.column(name))]
    numeric = {*features}
    reasons = {name: "no numbers" for name in table.names if name not in numeric}
    for name in features:
        cells = table.column(name)
        if 2 * sum(map(is_blank, cells)) > len(cells) and len(features) > 1:
            reasons[name] = "most cells are empty"
    first, *others = table.names
    if others and _is_index(table, first, read_options):
        reasons[first] = _ROW_NUMBER_REASON
    for name in features:
        if others and table.header and (reason := _describe_non_feature(table, name)):
            reasons[name] = reason
    features = [
        name for name in features if name not in reasons and name not in read_options.others
    ]
    if not features:
        listed = join_names(f"{name} ({reason})" for name, reason in reasons.items())
        raise RefusedError(
            f"There is no column of numbers to compare; left out: {listed}. {_OTHER_KERNEL}"
        )
    return features, {
        name: reason for name, reason in reasons.items() if name not in read_options.others
    }


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
    step = n_filled[-1] - n_filled[0] if n >= _MIN_TRIANGLE_ROWS else 0
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
    rows = [
        [*row[:start], *(lower[max(i, j)][min(i, j)] for j in range(n))]
        for i, row in enumerate(table.rows)
    ]
    return replace(table, rows=rows)


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
    are_counted = len(cells) > 2 and (are_consecutive(cells) or are_consecutive(cells, 1))
    if table.header is None and are_counted:
        raise AskError(
            f"The first column is {join_names(cells[:3])}, …: does it number the rows? "
            "Put a row of names above the table, with “id” for a column to be left out.",
            [("It numbers the rows", {"index": True}), ("It is a number", {"index": False})],
        )
    return are_counted


def _is_row_number_column(table: Table, name: str) -> bool:
    """Return whether a column without a name, or named as ids or sites, has distinct numbers."""
    title = table.header and table.header[table.indices[name]]
    if title and not _ROW_NAMES.search(title):
        return False
    cells = list(map(str, table.column(name)))
    return len({*cells}) == len(cells) and _are_whole(cells)


def _are_whole(cells: Iterable[str]) -> bool:
    """Return whether all cells are whole numbers without a sign."""
    return all(map(_WHOLE_CELL.fullmatch, cells))


def _describe_non_feature(table: Table, name: str) -> str:
    """Return why a column of numbers is no feature (such as "it holds labels"), "" if it is one."""
    if role_of(name) == "label":
        return "it holds labels"
    is_id = is_named(name, _ALWAYS_IDS) or _is_row_number_column(table, name)
    return _ROW_NUMBER_REASON if is_id else ""


def _detect_number_formats(rows: Sequence[Sequence[str]], delimiter: str) -> list[NumberFormat]:
    """Return the signs of each column: the usual ones, unless they fit few of its cells."""
    candidates = _NUMBER_FORMATS
    if delimiter == ",":  # where a comma between digits is quoted, it is of thousands
        candidates = sorted(_NUMBER_FORMATS, key=lambda formats: formats.decimal == ",")
    stripped = [map(str.strip, cells) for cells in zip(*rows, strict=True)]
    marked = [list(filter(_HAS_SEPARATOR.search, cells)) for cells in stripped]
    usual_format = _select_number_format(candidates, list(chain.from_iterable(marked)))
    formats = []
    for cells in marked:
        differs = 2 * (len(cells) - sum(map(usual_format.matches, cells))) > len(rows)
        formats.append(_select_number_format(candidates, cells) if differs else usual_format)
    return formats


def _select_number_format(candidates: Sequence[NumberFormat], cells: Sequence[str]) -> NumberFormat:
    """Return the signs that most of the cells can be written with."""
    n_matches = []
    for number_format in candidates:
        n_matches.append(sum(map(number_format.matches, cells)))
        if n_matches[-1] == len(cells):
            break
    return candidates[n_matches.index(max(n_matches))]


class NumberFormat(NamedTuple):
    """The sign between thousands, "" for none, the decimal sign, and such numbers."""

    thousands: str
    decimal: str
    pattern: re.Pattern[str]

    def matches(self, cell: str) -> bool:
        """Return whether a cell is a number with these signs."""
        return bool(self.pattern.fullmatch(cell))

    def to_python(self, cell: str) -> str:
        """Return a number as Python writes it; another cell such that it cannot be read."""
        if self.thousands and self.matches(cell.strip()):
            cell = cell.replace(self.thousands, "")
        cell = cell.translate(_SWAPPED_SEPARATORS) if self.decimal == "," else cell
        return without_percent_sign(cell)


def without_percent_sign(cell: str) -> str:
    """Return a percentage as Python writes the number; another cell unchanged.

    >>> without_percent_sign("12 %"), without_percent_sign("12")
    ('12e-2', '12')
    """
    number = cell.rstrip()
    return f"{number[:-1].rstrip()}e-2" if number.endswith("%") else cell


def _make_number_format(thousands: str, decimal: str) -> NumberFormat:
    whole = r"\d+"
    if thousands:
        whole = rf"(?:\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)"
    point = re.escape(decimal)
    number = rf"[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+|\s?%)?"
    return NumberFormat(thousands, decimal, re.compile(number))


_WHOLE_CELL = re.compile(r"\s*\d+\s*")
_HAS_SEPARATOR = re.compile(r"\d[.,]\d|^[+-]?[.,]\d|\d[.,]")
_SWAPPED_SEPARATORS = str.maketrans(",.", ".,")
_NUMBER_FORMATS = [
    _make_number_format("", "."),
    _make_number_format("", ","),
    _make_number_format(",", "."),
    _make_number_format(".", ","),
]


def _describe_cell_problem(plain_cell: Any, cell: object) -> str:
    """Describe why a cell is not a number in double precision; "" if it is one."""
    try:
        float(plain_cell)
    except (TypeError, ValueError):
        if isinstance(cell, str) and not cell.strip():
            return "has an empty cell"
        return f"has {'null' if cell is None else repr(cell)[:60]}, which is not a number"
    except OverflowError:
        pass
    return describe_inexact_integer(cell)
