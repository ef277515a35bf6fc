"""Tables of numbers: which columns are features, which count or name the rows, which decimal sign.

What pandas writes beside the numbers (an index, 0, 1, 2 above the columns) is no feature. Where
whole numbers could be either, whoever sent them is asked to name the columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from .limits import AskError, RefusedError
from .tables import Table, counts, is_named, is_number, listed, share_of_numbers

_SWAPPED = str.maketrans(",.", ".,")
_INDEX = re.compile("ids?|index|idx|row|rownames|unnamed|nr|no|uid")


@dataclass(frozen=True)
class Numbers:
    """The numbers of a table.

    Attributes
    ----------
    X : array (n, d)
    kept : list of int
        Which columns of the table those of X are.
    lost : mapping of int to str
        Why others are left out.
    comma : bool
        Whether there are decimal commas.
    problems : mapping of int to (str, int or None)
        By row: what keeps it from being used, as a predicate, and the column of the table.
    """

    X: np.ndarray
    kept: list[int]
    lost: Mapping[int, str]
    comma: bool
    problems: Mapping[int, tuple[str, int | None]]


def numbers_of(
    table: Table,
    *,
    typed: bool = False,
    chosen: Sequence[int] | None = None,
    header: bool | None = None,
    index: bool | None = None,
) -> Numbers:
    """The numbers of a table that has rows."""
    columns = list(zip(*table.rows, strict=True))
    if header is None and not typed and not table.header and counts(table.rows[0]):
        raise AskError(
            f"Row {table.places[0]} is {listed(table.rows[0])}: are these the names of the "
            f"columns, or a sample? Put a row of names above it if it is a sample; if not, give "
            f"the columns names that are no numbers.",
            [("They name the columns", {"header": True}), ("It is a sample", {"header": False})],
        )
    kept, lost = list(chosen or ()), {}
    if chosen is None:
        if index is None:
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
    problems: dict[int, tuple[str, int | None]] = {}
    for i, row in enumerate(table.rows):
        cells = [row[j].translate(_SWAPPED) if comma else row[j] for j in kept]
        try:
            X[i] = [float(cell) for cell in cells]
        except ValueError:
            at = next((k for k, cell in enumerate(cells) if not is_number(cell) or "," in cell), 0)
            problems[i] = _what_is_wrong(row[kept[at]]), kept[at]
    for i, (what, at) in not_finite(X).items():
        problems.setdefault(i, (what, kept[at]))
    for i, what in table.problems.items():
        problems[i] = what, None
    return Numbers(X, kept, lost, comma, dict(sorted(problems.items())))


def not_finite(X: np.ndarray) -> dict[int, tuple[str, int]]:
    """By row: which value is not finite, as a predicate, and its column."""
    bad = ~np.isfinite(X)
    firsts = {int(i): int(bad[i].argmax()) for i in np.flatnonzero(bad.any(axis=1))}
    return {i: (f"has {X[i, j]}", j) for i, j in firsts.items()}


def is_index(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column of that name numbers the rows: with whole numbers, all different."""
    if name and not is_named(name, _INDEX):
        return False
    whole = all(re.fullmatch(r"\s*\d+\s*", str(cell)) for cell in cells)
    return whole and len(set(cells)) == len(cells)


def _is_index(table: Table, cells: Sequence[Any], typed: bool) -> bool:
    """Whether the first column numbers the rows."""
    if table.header is not None:
        return is_index(table.header[0], cells)
    if not typed and len(cells) > 2 and (counts(cells) or counts(cells, 1)):
        raise AskError(
            f"The first column is {listed(map(str, islice(cells, 3)))}, …: does it number the "
            f"rows? Put a row of names above the table, with “id” for a column to be left out.",
            [("It numbers the rows", {"index": True}), ("It is a number", {"index": False})],
        )
    return False


def _has_decimal_commas(table: Table, kept: Sequence[int]) -> bool:
    """Decide whether commas in cells are decimal signs: more are than points. Name other rows."""
    with_comma = [cell for row in table.rows for j in kept if "," in (cell := row[j])]
    with_point = sum(
        "." in (cell := row[j]) and "," not in cell for row in table.rows for j in kept
    )
    if sum("." not in cell for cell in with_comma) <= with_point:
        return False
    thousands = all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
    return not (thousands and table.delimiter == ",")


def _what_is_wrong(cell: str) -> str:
    return f"has {cell!r:.60}, which is not a number" if cell.strip() else "has an empty cell"
