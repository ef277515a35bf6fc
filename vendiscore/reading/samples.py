"""Samples that a reader found: the place of each, and the problems of some."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .tables import Table

# From the rows left out, and whether to leave out their columns, to imports and an expression.
Python = Callable[[Collection[int], bool], tuple[str, str]]


@dataclass(frozen=True)
class Samples:
    """Samples of a file, a folder or a text box, with their places, problems and labels."""

    values: Any  # a list, or an array (n, …)
    places: Sequence[int | str]  # rows as spreadsheets number them, or lines; or names of files
    unit: str = "line"  # of `places`: "line", "row", "paragraph", "part", "element", "file", …
    problems: Mapping[int, str] = field(default_factory=dict)  # by index, as a predicate
    notes: tuple[str, ...] = ()  # what the reader took, and its own decisions
    python: Python | None = None  # code that reads them, if too many to write out
    groups: Sequence[Hashable] = ()
    kind: str = "texts"  # or "images", "molecules", "vectors", "values" (of labels)
    kinds: tuple[str, ...] = ()  # other kinds that they could be
    name: str = "pasted"  # name of the file, or "answers.csv › answer"
    how: str = ""  # the way they were split, such as "split by semicolons"
    total: int = 0  # size of the set that `values` are a part of; 0 for all
    draw: int = 0  # number of the random part
    columns: tuple[str, ...] = ()  # to pick from
    column: str | None = None
    by: str | None = None  # the column of the groups
    sets_by: str | None = None  # the column of the sets
    separator: str | None = None
    splits: tuple[tuple[str, int], ...] = ()  # how many texts each separator would give
    text: str = ""  # of examples: text for the box
    wrong: Mapping[int, str] = field(default_factory=dict)  # the column of a problem
    sets: Sequence[Hashable] = ()
    quality: Sequence[float] = ()
    prompts: Sequence[str] = ()
    asked: Sequence[str] = ()  # prompts by a column of that name, whether or not they are taken out
    prompt_column: str = ""  # column that prompts are from, or could be
    roles: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)  # columns, labels
    # The roles of all rows, also where `values` are a part that was drawn.
    all_roles: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    wide: Sequence[str] = ()  # columns that each hold the answers of one model
    written: Callable[[Sequence[int]], str] | None = None  # samples, as the file has them
    features: Sequence[str] = ()  # the columns that numbers are from
    lost: Mapping[str, str] = field(default_factory=dict)  # other columns, and why
    table: Table | None = None  # their table, without its rows

    @property
    def told(self) -> list[str]:
        """The notes without quoted beginnings, for results that show the samples themselves."""
        return [note.partition(" It begins: ")[0] for note in self.notes]

    @property
    def ids(self) -> Sequence[int | str]:
        """The id of each sample, or its place without a column of ids."""
        return self.roles["id"][1] if "id" in self.roles else self.places

    def __len__(self) -> int:
        return len(self.values)

    def take(self, kept: Sequence[int]) -> Any:
        if isinstance(self.values, np.ndarray):
            return self.values[list(kept)]
        return [self.values[i] for i in kept]

    def subset(self, kept: Sequence[int]) -> Samples:
        """Return the samples at some indices; their `places` stay the same."""
        written = self.written
        return replace(
            self,
            values=self.take(kept),
            places=[self.places[i] for i in kept],
            problems={j: self.problems[i] for j, i in enumerate(kept) if i in self.problems},
            wrong={j: self.wrong[i] for j, i in enumerate(kept) if i in self.wrong},
            groups=[self.groups[i] for i in kept] if self.groups else (),
            sets=[self.sets[i] for i in kept] if self.sets else (),
            quality=[self.quality[i] for i in kept] if self.quality else (),
            prompts=[self.prompts[i] for i in kept] if self.prompts else (),
            asked=[self.asked[i] for i in kept] if self.asked else (),
            roles={
                role: (column, [labels[i] for i in kept])
                for role, (column, labels) in self.roles.items()
            },
            written=written and (lambda some: written([kept[i] for i in some])),
        )

    def place(self, i: int) -> str:
        """Return the place of a sample: "line 3", or "row 3, column 'answer'"."""
        column = self.wrong.get(i, self.column)
        return f"{self.unit} {self.places[i]}" + (f", column {column!r}" if column else "")

    def said(self, i: int, problem: str) -> str:
        """Say what is wrong with sample i, for a visitor of the page: no remedy in Python."""
        value = self.values[i]
        problem = problem.rpartition("; ")[0] or problem
        if not isinstance(value, str):
            return f"{self.unit} {self.places[i]} {problem}"
        for shown in (f": {value!r}", f": {value!r:.40}"):
            problem = problem.removesuffix(shown)
        return f"{self.unit} {self.places[i]}, {value!r:.60}, {problem}"

    def where(self, indices: Iterable[int]) -> str:
        """Return the places of some samples in words: "lines 2 and 23–27"."""
        return ranges(self.unit, [self.places[i] for i in indices])


def ranges(unit: str, places: Sequence[int | str], most: int = 8) -> str:
    """Return places in words, with runs of places as one: "lines 23–25 and 27"."""
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
