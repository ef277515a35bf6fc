"""Tables of numbers: which columns are features, which count or name the rows, which decimal sign.

What pandas writes beside the numbers (an index, 0, 1, 2 above the columns) is no feature. Where
whole numbers could be either, the visitor is asked to name the columns.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .limits import MAX_COLUMNS, MAX_SAMPLES, MAX_VALUES, RefusedError, check_count
from .samples import Samples, described
from .tables import Table, counts, is_named, is_number, listed, share_of_numbers

_INDEX = re.compile("ids?|index|idx|row|rownames|unnamed|nr|no|uid")


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
    bad = ~np.isfinite(X)
    rows = np.flatnonzero(bad.any(axis=1))
    return {int(i): f"has {X[i][bad[i]][0]}" for i in rows}


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
    columns = list(zip(*table.rows, strict=True))
    if not typed and not table.header and counts(table.rows[0]):
        raise RefusedError(
            f"Row {table.places[0]} is {listed(table.rows[0])}: are these the names of the "
            f"columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            f"the columns names that are no numbers."
        )
    index = len(columns) > 1 and _is_index(table, columns[0], typed)
    lost = {
        j: "it numbers the rows" if index and j == 0 else "no numbers"
        for j, cells in enumerate(columns)
        if (index and j == 0) or share_of_numbers(cells) <= 0.5
    }
    kept = [j for j in range(len(columns)) if j not in lost]
    if not kept:
        raise RefusedError(
            f"There is no column of numbers; row {table.places[0]} has {listed(table.rows[0])}."
        )
    comma = _has_decimal_commas(table, kept)
    X = np.full((len(table.rows), len(kept)), np.nan)
    problems: dict[int, str] = {}
    for i, row in enumerate(table.rows):
        cells = [row[j].replace(",", ".") if comma else row[j] for j in kept]
        try:
            X[i] = [float(cell) for cell in cells]
        except ValueError:
            problems[i] = _what_is_wrong(cells)
    problems = not_finite(X) | problems | dict(table.problems)
    check_shape(*X.shape)
    facts = ["decimal commas"] if comma else []
    if lost:
        why = (f"{table.names[j]} ({reason})" for j, reason in lost.items())
        facts.append(f"left out: {listed(why)}")
    more = ", …" if len(kept) > 4 else ""
    shown = (
        ", ".join(f"{x:.4g}" for x in X[i, :4]) + more for i in range(len(X)) if i not in problems
    )
    note = described(name or "the box", len(X), f"of {len(kept)} numbers", table, facts, shown)
    return Samples(
        values=X,
        places=table.places,
        unit=table.unit,
        problems=dict(sorted(problems.items())),
        notes=(note,) if not typed or table.header or facts else (),
        python=functools.partial(
            _read_csv, name or "samples.csv", table, kept if lost else None, comma
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


def _is_index(table: Table, cells: Sequence[Any], typed: bool) -> bool:
    """Whether the first column numbers the rows."""
    if table.header is not None:
        name = table.header[0]
        whole = all(re.fullmatch(r"\s*\d+\s*", str(cell)) for cell in cells)
        return (not name or is_named(name, _INDEX)) and whole and len(set(cells)) == len(cells)
    if not typed and len(cells) > 2 and (counts(cells) or counts(cells, 1)):
        raise RefusedError(
            f"The first column is {listed(map(str, islice(cells, 3)))}, …: does it number the "
            f"rows? Put a row of names above the table, with “id” for a column to be left out."
        )
    return False


def _has_decimal_commas(table: Table, kept: Sequence[int]) -> bool:
    """Whether commas in cells are decimal signs; a mixture is for the rows to be refused by."""
    with_comma = [cell for row in table.rows for j in kept if "," in (cell := row[j])]
    if not with_comma or any("." in row[j] for row in table.rows for j in kept):
        return False
    thousands = all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
    return not (thousands and table.delimiter == ",")


def _what_is_wrong(cells: Sequence[str]) -> str:
    bad = next((cell for cell in cells if not is_number(cell) or "," in cell), "")
    return f"has {bad!r:.60}, which is not a number" if bad.strip() else "has an empty cell"
