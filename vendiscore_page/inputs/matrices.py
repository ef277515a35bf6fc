"""Matrices of the API within the limits, and how to read rows of numbers of files in Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from vendiscore.report import RefusedError, Table, not_finite

from ..aliases import Record
from ..quotas import MAX_COLUMNS, MAX_VALUES, MAX_VECTORS, check_count


def check_matrix(X: object, place: Callable[[int], str] = "Row {}".format) -> np.ndarray:
    """Return a finite float64 matrix (n, d) within the limits; `place` names row i in messages."""
    try:
        X = np.asarray(X)
    except ValueError:
        raise RefusedError("Every row needs as many numbers as the first.") from None
    if X.dtype.kind not in "fiub":
        raise RefusedError(f"Expected rows of real numbers, got {X.dtype} values.")
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2:
        raise RefusedError(f"Expected a table of rows and columns, got shape {X.shape}.")
    if (width := X.shape[1]) > MAX_COLUMNS:
        raise RefusedError(f"{width:,} columns are too many: the limit is {MAX_COLUMNS:,}.")
    check_count(width, MAX_COLUMNS, "columns")
    check_count(X.shape[0], MAX_VECTORS, "rows")
    if X.size > MAX_VALUES:
        raise RefusedError(
            f"{X.shape[0]:,} × {X.shape[1]:,} numbers are too many: this page takes up to "
            f"{MAX_VALUES:,}."
        )
    rows = np.asarray(X, dtype=np.float64)
    for row, (problem, _) in not_finite(rows).items():
        raise RefusedError(f"{place(row)} {problem}; remove or fill in such rows first.")
    return rows


def expression_code(
    modules: str, expression: str, left: Collection[int], square: bool
) -> tuple[str, str]:
    """Return an expression without some rows, and of a square matrix without their columns."""
    rows = sorted(left)
    shorter = f"np.delete({expression}, {rows}, axis=0)" if rows else expression
    return modules, f"np.delete({shorter}, {rows}, axis=1)" if rows and square else shorter


def csv_code(
    name: str, read: Table, features: Sequence[str], left: Collection[int], square: bool
) -> tuple[str, str]:
    """Return the call of pandas that reads the same numbers."""
    columns = [read.names.index(feature) for feature in features]
    if square:
        columns = [j for i, j in enumerate(columns) if i not in left]
    skipped = sorted(read.places[i] + read.skipped - 1 for i in left)
    given: Record = {  # an ellipsis leaves it to pandas
        "sep": {",": ..., "": ..., " ": r"\s+"}.get(read.delimiter, read.delimiter),
        "header": 0 if read.header is not None else None,
        "decimal": "," if read.comma else ...,
        "encoding": read.encoding if read.encoding in ("utf-16", "cp1252") else ...,
        "usecols": columns if len(columns) < len(read.names) else ...,
        "skiprows": [*range(read.skipped), *skipped] or ...,
    }
    options = "".join(f", {key}={value!r}" for key, value in given.items() if value is not ...)
    return "pandas as pd", f"pd.read_csv({name!r}{options}).to_numpy()"
