"""Samples as they came in: where each one stood, what keeps some from being used, what was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ...reading.tables import DELIMITERS, Table, listed

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
        What `places` count: "row", "line", "paragraph", "part", "element", "file" or "image".
    problems : mapping of int to str
        By index: what keeps a sample from being used, as a predicate.
    notes : tuple of str
        What was read, for the visitor.
    python : callable or None
        How to read the same, if the samples are too many to be written out.
    groups : sequence of hashable
        The label of the group of each sample; empty where there are none.
    kind : str
        "texts", "images", "molecules" or "vectors".
    kinds : tuple of str
        What else they could be.
    name : str
        What they are of: "answers.csv › answer", "pasted".
    how : str
        How they were taken apart: "split by semicolons"; empty if there is nothing to say.
    total : int
        How many there were; 0 for all of `values`.
    draw : int
        Which random part of these the `values` are.
    columns : tuple of str
        Those one can pick from.
    column, by : str or None
        Those that were.
    separator : str or None
        What stood between texts.
    splits : tuple of (str, int)
        How many texts each separator would give.
    text : str
        Of examples: what may stand in the box.
    """

    values: Any
    places: Sequence[int | str]
    unit: str = "line"
    problems: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    python: Python | None = None
    groups: Sequence[Hashable] = ()
    kind: str = "texts"
    kinds: tuple[str, ...] = ()
    name: str = "pasted"
    how: str = ""
    total: int = 0
    draw: int = 0
    columns: tuple[str, ...] = ()
    column: str | None = None
    by: str | None = None
    separator: str | None = None
    splits: tuple[tuple[str, int], ...] = ()
    text: str = ""

    @property
    def told(self) -> list[str]:
        """The notes for a result, which shows the samples themselves."""
        return [note.partition(" It begins: ")[0] for note in self.notes]

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

    def where(self, indices: Iterable[int]) -> str:
        """The places of some samples in words: "lines 2 and 23–27"."""
        return ranges(self.unit, [self.places[i] for i in indices])


def ranges(unit: str, places: Sequence[int | str], most: int = 8) -> str:
    """Places in words, those that follow each other as one.

    >>> ranges("line", [23, 24, 25, 27]), ranges("row", [3]), ranges("image", ["a.png", "b.png"])
    ('lines 23–25 and 27', 'row 3', 'images a.png and b.png')
    """
    runs: list[list[int | str]] = []
    for place in places:
        last = runs[-1][-1] if runs else None
        if isinstance(place, int) and isinstance(last, int) and place == last + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    words = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    words = ", ".join(words[:most]).split(", ") + (["…"] if len(words) > most else [])
    joined = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
    joined = joined.replace(" and …", ", …")
    return f"{unit}{'s' * (len(places) > 1)} {joined}"


def split_by(delimiter: str) -> str:
    """How the cells of a table were told apart, if there was anything to tell."""
    if not delimiter:
        return ""
    return f"split by {DELIMITERS.get(delimiter, repr(delimiter))}"


def described(
    name: str, n: int, what: str, table: Table, facts: Iterable[str], shown: Iterable[str]
) -> str:
    """What was read from a table: `Read 3 rows of column 'a' of a.csv (row 1 names …): …`."""
    known = [
        split_by(table.delimiter) if table.delimiter != "," else "",
        "read as Windows-1252, as it is not UTF-8" if table.encoding == "cp1252" else "",
        *facts,
    ]
    if table.header is not None:
        known.insert(0, f"the first row names the columns {listed(table.names):.90}")
    elif table.unit == "row" and table.encoding:
        known.insert(0, "no row of names")
    said = "; ".join(fact for fact in known if fact)
    how = f" ({said})" if said else ""
    return f"Read {n:,} {table.unit}s {what} of {name:.60}{how}. {begins(shown)}"


def begins(shown: Iterable[str]) -> str:
    """The first few samples, each on one line."""
    first = list(islice((" ".join(text.split()) for text in shown), 4))
    cut = [f"{text[:36]}…" if len(text) > 37 else text for text in first[:3]]
    return f"It begins: {' · '.join(cut)}{' · …' if len(first) > 3 else ''}"
