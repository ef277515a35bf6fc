"""Matrices of the page: rows of numbers within its limits, and how to read the same in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..reading import numbers
from ..reading.tables import Table, listed
from .limits import MAX_COLUMNS, MAX_SAMPLES, MAX_VALUES, RefusedError, check_count
from .samples import Samples, described


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
    return {row: problem for row, (problem, _) in numbers.not_finite(X).items()}


def check_shape(rows: int, width: int) -> None:
    """Raise a RefusedError for a matrix that is empty or beyond the limits."""
    if width > MAX_COLUMNS:
        raise RefusedError(f"{width:,} columns are too many: the limit is {MAX_COLUMNS:,}.")
    check_count(rows, MAX_SAMPLES, "rows")
    check_count(width, MAX_COLUMNS, "columns")
    if rows * width > MAX_VALUES:
        raise RefusedError(
            f"{rows:,} × {width:,} numbers are too many: this page takes up to {MAX_VALUES:,}."
        )


def matrix_of(table: Table, name: str | None = None) -> Samples:
    """The rows of numbers of a table.

    Parameters
    ----------
    table : Table
    name : str or None
        Of the file; none if it comes from a box, where numbers are meant as they stand.

    Raises
    ------
    RefusedError
        If there are no numbers, too many, or what is a number cannot be told.
    """
    check_shape(len(table.rows), len(table.names))
    typed = name is None
    found = numbers.numbers_of(table, typed=typed)
    X, lost = found.X, found.lost
    problems = {row: problem for row, (problem, _) in found.problems.items()}
    check_shape(*X.shape)
    facts = ["decimal commas"] if found.comma else []
    if lost:
        why = (f"{table.names[j]} ({reason})" for j, reason in lost.items())
        facts.append(f"left out: {listed(why)}")
    more = ", …" if X.shape[1] > 4 else ""
    shown = (
        ", ".join(f"{x:.4g}" for x in X[i, :4]) + more for i in range(len(X)) if i not in problems
    )
    note = described(name or "the box", len(X), f"of {X.shape[1]} numbers", table, facts, shown)
    return Samples(
        values=X,
        places=table.places,
        unit=table.unit,
        problems=problems,
        notes=(note,) if not typed or table.header or facts else (),
        python=functools.partial(
            _read_csv, name or "samples.csv", table, found.kept if lost else None, found.comma
        ),
    )


def _read_csv(
    name: str,
    table: Table,
    columns: Sequence[int] | None,
    comma: bool,
    left: Collection[int],
    square: bool,
) -> tuple[str, str]:
    """How pandas reads the same numbers."""
    if square and left:
        columns = [j for i, j in enumerate(columns or range(len(table.names))) if i not in left]
    skipped = sorted(table.places[i] + table.skipped - 1 for i in left)
    given = {
        "sep": {",": None, "": None, " ": r"\s+"}.get(table.delimiter, table.delimiter),
        "header": 0 if table.header is not None else "None",
        "decimal": "," if comma else None,
        "encoding": table.encoding if table.encoding in ("utf-16", "cp1252") else None,
        "usecols": columns,
        "skiprows": [*range(table.skipped), *skipped] or None,
    }
    options = "".join(
        f", {key}={value if value == 'None' else repr(value)}"
        for key, value in given.items()
        if value is not None
    )
    return "pandas as pd", f"pd.read_csv({name!r}{options}).to_numpy()"
