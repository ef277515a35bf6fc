"""Samples as they came in: where each one stood, what keeps some from being used, what was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..report.markup import escape
from .tables import DELIMITERS, Table, listed

# From the rows that are left out, and whether their columns go too, to what to import and an
# expression.
Python = Callable[[Collection[int], bool], tuple[str, str]]


@dataclass(frozen=True)
class Samples:
    """Samples and where they stood.

    Attributes
    ----------
    values : list or array (n, d)
    places : sequence of int or str
        Of each sample, counted from 1: rows as a spreadsheet numbers them, or lines; or names.
    unit : str
        What `places` count: "row", "line", "paragraph", "part" or "image".
    problems : mapping of int to str
        By index: what keeps a sample from being used, as a predicate.
    notes : tuple of str
        What was read, for the visitor.
    python : callable or None
        How to read the same, if the samples are too many to be written out.
    groups : sequence of hashable
        The label of the group of each sample; empty where there are none.
    """

    values: Any
    places: Sequence[int | str]
    unit: str = "line"
    problems: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    python: Python | None = None
    groups: Sequence[Hashable] = ()

    def __len__(self) -> int:
        return len(self.values)

    def take(self, kept: Sequence[int]) -> Any:
        """The values at some places in the list."""
        if isinstance(self.values, np.ndarray):
            return self.values[list(kept)]
        return [self.values[i] for i in kept]

    def said(self, i: int, problem: str) -> str:
        """What is wrong with sample i, for a visitor: its row, itself and the problem.

        The remedy that the library adds after a semicolon is for those who write Python.
        """
        value = self.values[i]
        problem = problem.rpartition("; ")[0] or problem
        if not isinstance(value, str):
            return f"{self.unit} {self.places[i]} {problem}"
        for shown in (f": {value!r}", f": {value!r:.40}"):
            problem = problem.removesuffix(shown)
        return f"{self.unit} {self.places[i]}, {value!r:.60}, {problem}"


def described(
    name: str, n: int, what: str, table: Table, facts: Iterable[str], shown: Iterable[str]
) -> str:
    """What was read from a table: `Read 3 rows of column 'a' of a.csv (row 1 names …): …`."""
    split = DELIMITERS.get(table.delimiter, f"{table.delimiter!r}")
    known = [
        f"split by {split}" if table.delimiter not in ("", ",") else "",
        "read as Windows-1252, as it is not UTF-8" if table.encoding == "cp1252" else "",
        *facts,
    ]
    if table.header is not None:
        known.insert(0, f"the first row names the columns {listed(table.names):.90}")
    elif table.unit == "row":
        known.insert(0, "no row of names")
    said = "; ".join(fact for fact in known if fact)
    how = f" ({said})" if said else ""
    return f"Read {n:,} {table.unit}s {what} of {name:.60}{how}. {begins(shown)}"


def begins(shown: Iterable[str]) -> str:
    """The first few samples, each on one line."""
    first = list(islice((" ".join(text.split()) for text in shown), 4))
    cut = [f"{text[:36]}…" if len(text) > 37 else text for text in first[:3]]
    return f"It begins: {' · '.join(cut)}{' · …' if len(first) > 3 else ''}"


def read_html(notes: Sequence[str]) -> str:
    """What was read, where it is said apart from the result."""
    return "".join(f'<p class="vs-read">{escape(note, 400)}</p>' for note in notes)
