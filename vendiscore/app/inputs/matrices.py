"""Rows of numbers: of tables and arrays, within the limits, and how to read the same in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...reading import number_tables
from ...reading.json_documents import is_row
from ...reading.limits import AskError, RefusedError
from ...reading.number_tables import Numbers
from ...reading.tables import Table, checked_column, listed, share_of_numbers
from ..quotas import MAX_COLUMNS, MAX_VALUES, MAX_VECTORS, check_count
from .parts import part, rows_that_fit
from .samples import Python, Samples, described, split_by
from .submission import Asked
from .texts import labels


def check_matrix(X: Any, place: Callable[[int], str] = "Row {}".format) -> np.ndarray:
    """A finite float64 matrix (n, d) within the limits; `place` is what messages call row i."""
    rows = as_matrix(X)
    for row, problem in not_finite(rows).items():
        raise RefusedError(f"{place(row)} {problem}; remove or fill in such rows first.")
    return rows


def as_matrix(X: Any) -> np.ndarray:
    """A float64 matrix (n, d) within the limits, finite or not."""
    try:
        X = np.asarray(X)
    except ValueError:
        raise RefusedError("Every row needs as many numbers as the first.") from None
    if X.dtype.kind not in "fiub":
        raise RefusedError(f"Expected rows of real numbers, got {X.dtype} values.")
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise RefusedError(f"Expected a table of rows and columns, got shape {X.shape}.")
    check_shape(*X.shape)
    return np.asarray(X, dtype=np.float64)


def not_finite(X: np.ndarray) -> dict[int, str]:
    """By row: which value is not finite, as a predicate."""
    return {row: problem for row, (problem, _) in number_tables.not_finite(X).items()}


def check_shape(rows: int, width: int) -> None:
    """Raise a RefusedError for a matrix that is empty or beyond the limits."""
    check_width(rows, width)
    check_count(rows, MAX_VECTORS, "rows")
    if rows * width > MAX_VALUES:
        raise RefusedError(
            f"{rows:,} × {width:,} numbers are too many: this page takes up to {MAX_VALUES:,}."
        )


def check_width(rows: int, width: int) -> None:
    """The same for a matrix of which a part may be drawn."""
    if width > MAX_COLUMNS:
        raise RefusedError(f"{width:,} columns are too many: the limit is {MAX_COLUMNS:,}.")
    check_count(rows, max(1, rows), "rows")
    check_count(width, MAX_COLUMNS, "columns")


def check_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise a RefusedError for an array of which no rows of numbers can be read."""
    if dtype.kind not in "fiub":
        raise RefusedError(
            f"The array holds {dtype} values; only real numbers are read, never pickled objects."
        )
    if len(shape) not in (1, 2):
        raise RefusedError(f"Expected a table of rows and columns, got shape {shape}.")
    check_width(shape[0], shape[1] if len(shape) == 2 else 1)


def of_array(
    X: np.ndarray,
    name: str,
    asked: Asked,
    modules: str,
    expression: str,
    note: str = "",
    problems: Mapping[int, str] | None = None,
) -> Samples:
    """The rows of an array of numbers, of which a part is drawn before it is copied."""
    check_array(X.shape, X.dtype)
    X = X[:, None] if X.ndim == 1 else X
    n, width = X.shape
    said = f"Read {n:,} rows of {width:,} numbers of {name:.60}{note}."
    whole = Samples(
        values=X,
        places=range(1, n + 1),
        unit="row",
        problems=problems or {},
        notes=(said,),
        python=_of_expression(modules, expression),
        kind="vectors",
        name=name,
        draw=asked.draw,
    )
    found = part(whole, rows_that_fit(width), asked.draw)
    values = np.asarray(found.values, dtype=np.float64)
    bad = {**not_finite(values), **found.problems}
    return replace(found, values=values, problems=dict(sorted(bad.items())))


def of_table(read: Table, name: str, asked: Asked, typed: bool = False) -> Samples:
    """The rows of numbers of a table of cells."""
    check_width(len(read.rows), len(read.names))
    columns, groups = read.names, labels(read, asked.by) if asked.by else []
    chosen = [columns.index(checked_column(columns, asked.column))] if asked.column else None
    if asked.by and chosen is None:
        read = without(read, asked.by)
    found = number_tables.numbers_of(
        read, typed=typed, chosen=chosen, header=asked.header, index=asked.index
    )
    return of_numbers(found, read, name, asked, columns, groups, typed)


def of_numbers(
    found: Numbers,
    read: Table,
    name: str,
    asked: Asked,
    columns: Sequence[str],
    groups: Sequence[str] = (),
    typed: bool = False,
) -> Samples:
    """The samples of numbers that were found in a table; their rows are those of `read`."""
    X, lost = found.X, found.lost
    problems = {row: problem for row, (problem, _) in found.problems.items()}
    problems |= {i: "has no group" for i, group in enumerate(groups) if not group}
    facts = ["decimal commas"] if found.comma else []
    if lost:
        why = (f"{read.names[j]} ({reason})" for j, reason in lost.items())
        facts.append(f"left out: {listed(why)}")
    more = ", …" if X.shape[1] > 4 else ""
    shown = (
        ", ".join(f"{x:.4g}" for x in X[i, :4]) + more for i in range(len(X)) if i not in problems
    )
    note = described(
        "the box" if typed else name, len(X), f"of {X.shape[1]} numbers", read, facts, shown
    )
    whole = Samples(
        values=X,
        places=read.places,
        unit=read.unit,
        problems=dict(sorted(problems.items())),
        notes=(note,) if not typed or read.header or facts else (),
        python=_python(read, "samples.csv" if typed else name, found),
        groups=groups,
        kind="vectors",
        name="pasted" if typed else name,
        how="; ".join(filter(None, [split_by(read.delimiter), *facts[:1]])),
        draw=asked.draw,
        columns=tuple(columns) if read.header is not None or asked.by else (),
        column=asked.column or None,
        by=asked.by or None,
    )
    return part(whole, rows_that_fit(X.shape[1]), asked.draw)


def of_values(read: Table, name: str, asked: Asked) -> Samples:
    """The rows of numbers of records: a field that is one, or the fields that are numbers."""
    groups = labels(read, asked.by) if asked.by else []
    columns = read.names
    read = without(read, asked.by) if asked.by else read
    rows = [c for c in read.names if any(is_row(v) for v in read.column(c)[:20])]
    if asked.column:
        rows = [
            c
            for c in (asked.column,)
            if any(map(is_row, read.column(checked_column(read.names, c))))
        ]
    if len(rows) > 1:
        raise AskError(
            f"Which field holds the vectors: {listed(rows)}?", [(c, {"column": c}) for c in rows]
        )
    found = _of_rows(read, rows[0]) if rows else _of_fields(read, asked.column)
    samples = of_numbers(found, read, name, asked, columns, groups)
    named = rows and len(columns) > 1
    return replace(
        samples,
        name=f"{name} › {rows[0]}" if named else name,
        column=rows[0] if named else asked.column,
        columns=tuple(columns) if len(columns) > 1 else (),
        python=None,
    )


def without(read: Table, name: str) -> Table:
    """The table without one of its columns."""
    kept = [j for j, other in enumerate(read.names) if other != name]
    header = None if read.header is None else [read.header[j] for j in kept]
    rows = [[row[j] for j in kept] for row in read.rows]
    return replace(read, names=[read.names[j] for j in kept], rows=rows, header=header)


def _of_rows(read: Table, column: str) -> Numbers:
    values = read.column(column)
    width = len(next(value for value in values if is_row(value)))
    check_width(len(values), width)
    X = np.zeros((len(values), width))
    problems: dict[int, tuple[str, int | None]] = {}
    for i, value in enumerate(values):
        if not is_row(value):
            problems[i] = f"is {type(value).__name__} {value!r:.40}, no row of numbers", None
        elif len(value) != width:
            problems[i] = f"has {len(value):,} numbers, the first {width:,}", None
        else:
            X[i] = value
    return _checked(X, [read.names.index(column)], {}, problems, read)


def _of_fields(read: Table, column: str | None) -> Numbers:
    cells = {j: [row[j] for row in read.rows] for j in range(len(read.names))}
    known = {
        j: share_of_numbers("" if cell is None or isinstance(cell, bool) else cell for cell in some)
        for j, some in cells.items()
    }
    kept = [j for j in cells if known[j] > 0.5]
    kept = [read.names.index(checked_column(read.names, column))] if column else kept
    index = len(kept) > 1 and number_tables.is_index(read.names[kept[0]], cells[kept[0]])
    lost = {j: "no numbers" for j in cells if j not in kept}
    if index and not column:
        lost[kept.pop(0)] = "it numbers the rows"
    if not kept:
        raise RefusedError(f"There is no field of numbers; the records have {listed(read.names)}.")
    X = np.zeros((len(read.rows), len(kept)))
    problems: dict[int, tuple[str, int | None]] = {}
    for i, row in enumerate(read.rows):
        for k, j in enumerate(kept):
            try:
                X[i, k] = float(row[j])
            except (TypeError, ValueError, OverflowError):
                said = "null" if row[j] is None else repr(row[j])[:60]
                problems.setdefault(i, (f"has {said}, which is not a number", j))
    return _checked(X, kept, dict(sorted(lost.items())) if not column else {}, problems, read)


def _checked(
    X: np.ndarray,
    kept: list[int],
    lost: Mapping[int, str],
    problems: dict[int, tuple[str, int | None]],
    read: Table,
) -> Numbers:
    for i, (what, _) in number_tables.not_finite(X).items():
        problems.setdefault(i, (what, None))
    for i, what in read.problems.items():
        problems[i] = what, None
    return Numbers(X, kept, lost, False, dict(sorted(problems.items())))


def _of_expression(modules: str, expression: str) -> Python:
    def python(left: Collection[int], square: bool) -> tuple[str, str]:
        rows = sorted(left)
        shorter = f"np.delete({expression}, {rows}, axis=0)" if rows else expression
        return modules, f"np.delete({shorter}, {rows}, axis=1)" if rows and square else shorter

    return python


def _python(read: Table, name: str, found: Numbers) -> Python:
    columns = found.kept if found.lost else None
    light = replace(read, rows=[], problems={})  # samples are kept for a while, cells are not
    return functools.partial(_read_csv, name, light, columns, found.comma)


def _read_csv(
    name: str,
    read: Table,
    columns: Sequence[int] | None,
    comma: bool,
    left: Collection[int],
    square: bool,
) -> tuple[str, str]:
    """How pandas reads the same numbers."""
    if square and left:
        columns = [j for i, j in enumerate(columns or range(len(read.names))) if i not in left]
    skipped = sorted(read.places[i] + read.skipped - 1 for i in left)
    given = {
        "sep": {",": None, "": None, " ": r"\s+"}.get(read.delimiter, read.delimiter),
        "header": 0 if read.header is not None else "None",
        "decimal": "," if comma else None,
        "encoding": read.encoding if read.encoding in ("utf-16", "cp1252") else None,
        "usecols": columns,
        "skiprows": [*range(read.skipped), *skipped] or None,
    }
    options = "".join(
        f", {key}={value if value == 'None' else repr(value)}"
        for key, value in given.items()
        if value is not None
    )
    return "pandas as pd", f"pd.read_csv({name!r}{options}).to_numpy()"
