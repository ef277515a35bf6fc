"""Matrices of the API within the limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vendiscore.report import RefusedError, not_finite

from ..quotas import MAX_COLUMNS, MAX_VALUES, MAX_VECTORS, check_count


def check_matrix(X: object, format_row: Callable[[int], str] = "Row {}".format) -> np.ndarray:
    """Return a finite float64 matrix (n, d) within the limits.

    `format_row` returns the name of row i for messages.
    """
    try:
        X = np.asarray(X)
    except ValueError:
        raise RefusedError("All rows must have the same number of values.") from None
    if X.dtype.kind not in "fiub":
        raise RefusedError(f"Expected rows of real numbers, got {X.dtype} values.")
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2:
        raise RefusedError(f"Expected a table of rows and columns, got shape {X.shape}.")
    check_count(X.shape[1], MAX_COLUMNS, "columns")
    check_count(X.shape[0], MAX_VECTORS, "rows")
    if X.size > MAX_VALUES:
        raise RefusedError(
            f"{X.shape[0]:,} × {X.shape[1]:,} numbers are too many: this page accepts up to "
            f"{MAX_VALUES:,}."
        )
    rows = np.asarray(X, dtype=np.float64)
    for row, (problem, _) in not_finite(rows).items():
        raise RefusedError(f"{format_row(row)} {problem}; remove this row or fill in its values.")
    return rows
