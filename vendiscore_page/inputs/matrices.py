"""Matrices of the API within the limits, and Python that reads rows of numbers of files."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields

import numpy as np

from vendiscore.report import RefusedError, Wanted, not_finite

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
    check_count(X.shape[1], MAX_COLUMNS, "columns")
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


def file_code(name: str, wanted: Wanted, left: Collection[int], square: bool) -> tuple[str, str]:
    """Return the call of the library's reader that gives the numbers of a file.

    Some rows are left out, and of a square matrix their columns, too.
    """
    given = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
    options = [
        f"{key}={value!r}"
        for key, value in given.items()
        if key != "limits" and value != getattr(Wanted, key)
    ]
    file = f"pathlib.Path({name!r}).read_bytes()"
    expression = f"read_data({name!r}, {file}, Wanted({', '.join(options)})).values"
    if rows := sorted(left):
        expression = f"np.delete({expression}, {rows}, axis=0)"
        expression = f"np.delete({expression}, {rows}, axis=1)" if square else expression
    return "numpy as np, pathlib\nfrom vendiscore.report import Wanted, read_data", expression
