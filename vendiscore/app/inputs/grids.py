"""Large tables of nothing but numbers, read by NumPy in a fifth of the time and memory.

Whatever is not plain, a cell that is no number or a row of another length, is left to the reader of
tables, which knows what to say about it; numbers and places are the same by either.
"""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np

from ...reading.number_tables import Numbers, not_finite, numbers_of
from ...reading.tables import Table
from ..quotas import MAX_LINES, MAX_VALUES
from . import matrices
from .samples import Samples
from .submission import Asked

LARGE = 4_000_000  # characters, below which it does not matter
_SIGNS = (",", ";", "\t")


def grid(text: str, head: Table, name: str, asked: Asked) -> Samples | None:
    """The rows of numbers of a text whose first rows are `head`; None if it is not plain."""
    if head.delimiter not in _SIGNS or '"' in text or asked.column or asked.by or not head.rows:
        return None
    found = numbers_of(head, header=asked.header, index=asked.index)
    above = head.skipped + (head.header is not None)
    lines = text.strip("\r\n").count("\n") + 1
    n, width = lines - above, len(head.names)
    if found.problems or set(found.lost) - {0} or n * width > MAX_VALUES or lines > MAX_LINES:
        return None
    if text.count(head.delimiter) < n * (width - 1):
        return None
    if found.comma:
        text = text.replace(",", ".") if "." not in text else ""
    named = found.lost.get(0) == "no numbers"
    if named:
        rows = text.splitlines()
        text = "\n".join(row.partition(head.delimiter)[2] for row in rows[above:])
        above = 0
    X = _loaded(text, head.delimiter, above)
    if X is None or X.shape != (n, width - named):
        return None
    if found.lost and not named:
        index, X = X[:, 0], X[:, 1:]
        if len(np.unique(index)) < n or not np.array_equal(index, np.rint(index)):
            return None
    first = head.places[0]
    bad: dict[int, tuple[str, int | None]] = dict(not_finite(X).items())
    whole = Numbers(X, found.kept, found.lost, found.comma, bad)
    read = replace(head, rows=[], places=range(first, first + n))
    return matrices.of_numbers(whole, read, name, asked, head.names)


def _loaded(text: str, delimiter: str, above: int) -> np.ndarray | None:
    if not text:
        return None
    try:
        return np.loadtxt(
            io.StringIO(text, newline=None),
            delimiter=delimiter,
            skiprows=above,
            comments=None,
            ndmin=2,
        )
    except ValueError:
        return None
