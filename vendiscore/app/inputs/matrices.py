"""Rows of numbers: of tables and arrays, within the limits, and how to read the same in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...reading import number_tables
from ...reading.limits import RefusedError
from ...reading.number_tables import Numbers
from ...reading.numpy_files import Arrays
from ...reading.samples import Python, Samples
from ...reading.tables import Table, checked_column, join_names
from ..quotas import MAX_COLUMNS, MAX_VALUES, MAX_VECTORS, NUMBERS, check_count
from .parts import part, rows_that_fit
from .submission import Asked
from .texts import describe_table, split_by


def check_matrix(X: Any, place: Callable[[int], str] = "Row {}".format) -> np.ndarray:
    """Return a finite float64 matrix (n, d) within the limits; `place` names row i in messages."""
    rows = as_matrix(X)
    for row, (problem, _) in number_tables.not_finite(rows).items():
        raise RefusedError(f"{place(row)} {problem}; remove or fill in such rows first.")
    return rows


def as_matrix(X: Any) -> np.ndarray:
    """Return a float64 matrix (n, d) within the limits, finite or not."""
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


def check_shape(rows: int, width: int) -> None:
    """Raise a RefusedError for a matrix that is empty or beyond the limits."""
    check_width(rows, width)
    check_count(rows, MAX_VECTORS, "rows")
    if rows * width > MAX_VALUES:
        raise RefusedError(
            f"{rows:,} × {width:,} numbers are too many: this page takes up to {MAX_VALUES:,}."
        )


def check_width(rows: int, width: int) -> None:
    """Raise a RefusedError for an empty matrix, or one of too many columns to draw rows from."""
    if width > MAX_COLUMNS:
        raise RefusedError(f"{width:,} columns are too many: the limit is {MAX_COLUMNS:,}.")
    check_count(rows, max(1, rows), "rows")
    check_count(width, MAX_COLUMNS, "columns")


def of_arrays(arrays: Arrays, name: str, asked: Asked) -> Samples:
    """Return the rows of an array of numbers, judged by its header before it is unpacked."""
    key = arrays.choose_array(asked.column)
    shape, dtype = arrays.headers[key].shape, arrays.headers[key].dtype
    if dtype.kind not in "fiub":
        raise RefusedError(
            f"The array holds {dtype} values; only real numbers are read, never pickled objects."
        )
    if len(shape) not in (1, 2):
        raise RefusedError(f"Expected a table of rows and columns, got shape {shape}.")
    check_width(shape[0], shape[1] if len(shape) == 2 else 1)
    X = arrays.read(key, NUMBERS)
    expression = f"np.load({name!r})" + (f"[{key!r}]" if key else "")
    found = of_array(X.reshape(len(X), -1), name, asked, "numpy as np", expression)
    if len(arrays.headers) == 1:
        return found
    return replace(found, name=f"{name} › {key}", column=key, columns=tuple(arrays.headers))


def of_array(
    X: np.ndarray,
    name: str,
    asked: Asked,
    modules: str,
    expression: str,
    note: str = "",
    problems: Mapping[int, str] | None = None,
) -> Samples:
    """Return the rows of an array of numbers, of which a part is drawn before it is copied."""
    n, width = X.shape
    check_width(n, width)
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
    bad = {i: what for i, (what, _) in number_tables.not_finite(values).items()}
    bad |= found.problems
    return replace(found, values=values, problems=dict(sorted(bad.items())))


def of_table(read: Table, name: str, asked: Asked, typed: bool = False) -> Samples:
    """Return the rows of numbers of a table; `typed` in the box by hand."""
    check_width(len(read.rows), len(read.names))
    columns, groups = read.names, read.labels(asked.by) if asked.by else []
    rest = read.without([asked.by] if asked.by and (read.typed or not asked.column) else [])
    if read.typed:
        found = number_tables.numbers_of_records(rest, asked.column, NUMBERS)
        samples = of_numbers(found, rest, name, asked, columns, groups)
        one = rest.names[found.kept[0]] if len(found.kept) == 1 and len(columns) > 1 else None
        return replace(
            samples,
            name=f"{name} › {one}" if one else name,
            column=one,
            columns=tuple(columns) if len(columns) > 1 else (),
            python=None,
        )
    chosen = [columns.index(checked_column(columns, asked.column))] if asked.column else None
    found = number_tables.numbers_of(
        rest, typed=typed, chosen=chosen, header=asked.header, index=asked.index
    )
    return of_numbers(found, rest, name, asked, columns, groups, typed)


def of_numbers(
    found: Numbers,
    read: Table,
    name: str,
    asked: Asked,
    columns: Sequence[str],
    groups: Sequence[str] = (),
    typed: bool = False,
) -> Samples:
    """Return the numbers that were found in a table as samples, with a note on them."""
    X, lost = found.X, found.lost
    problems = {row: problem for row, (problem, _) in found.problems.items()}
    problems |= {i: "has no group" for i, group in enumerate(groups) if not group}
    facts = ["decimal commas"] if found.comma else []
    if lost:
        why = (f"{read.names[j]} ({reason})" for j, reason in lost.items())
        facts.append(f"left out: {join_names(why)}")
    more = ", …" if X.shape[1] > 4 else ""
    shown = (
        ", ".join(f"{x:.4g}" for x in X[i, :4]) + more for i in range(len(X)) if i not in problems
    )
    note = describe_table(
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
    """Return the call of pandas that reads the same numbers."""
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
