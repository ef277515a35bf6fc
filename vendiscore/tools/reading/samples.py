"""Samples that were read, with their locations, problems and labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...support.errors import short_repr
from ...support.types import Record
from .names import join_names
from .records import get_path_start

if TYPE_CHECKING:
    from .individuals import CountTable
    from .tables import Table

_LEFT_OUT_WIDTH = 100  # of the name of a column that is not used, with the reason
INDIVIDUAL = "individual"  # unit of the samples of a table of counts
_LABELS = (
    "places",
    "groups",
    "sets",
    "quality",
    "correct",
    "weights",
    "prompts",
    "rows",
    "index",
    "names",
)  # one of each for a sample


def distinct_labels(labels: Sequence[Hashable]) -> set[Hashable]:
    """Return the distinct labels, without repeating those of a table of counts."""
    return {*getattr(labels, "labels", labels)}


@dataclass(frozen=True)
class Samples:
    """Samples of a file, a folder or a text box, with their locations, problems and labels.

    Attributes
    ----------
    values : list or array
        The samples.
    places : sequence of int or str
        Location of each sample in the file.
    unit : str
        What the locations count, such as "row" or "line".
    problems : mapping of int to str
        What is wrong with unusable samples, by index.
    notes : tuple of str
        Sentences about how the samples were read.
    groups : sequence of labels
        Group of each sample; empty without groups.
    kind : str
        "texts", "images", "molecules", "vectors" or "values".
    name : str
        Name of the file.
    column : str or None
        Column with the samples.
    wrong : mapping of int to str
        Column that contains the problem, by index of the sample.
    sets : sequence of labels
        Set of each sample; empty without sets.
    quality : sequence of float
        Quality of each sample; empty without quality.
    correct : sequence of bool
        Whether each sample is correct; empty if this is unknown.
    weights : sequence of float
        Weight of each sample, such as how often it occurred; empty if all are equal.
    counts : CountTable or None
        Numbers of individuals that a table of counts contains.
    prompts : sequence of str
        Prompt of each sample; empty without prompts.
    written : callable or None
        Function that returns given samples as text in the format of the file.
    saved : callable or None
        Function that writes given samples of a binary file to a new file.
    endings : tuple of str
        File name extensions that `saved` supports.
    index : sequence of int
        Index of each sample among those of the file, set by the command.
    count : int
        Number of samples before unusable ones were dropped, set by the command.
    features : sequence of str
        Numeric columns that are features.
    lost : mapping of str to str
        Unused columns, with reasons.
    table : Table or None
        The table, without its rows.
    above : sequence of str
        Descriptions of other rows that contain no sample.
    grouping : mapping of str to str
        Columns of sets and groups.
    record : str
        The program that writes records like these.
    rows : sequence of int
        Row of the table for each sample; empty if every row is a sample.
    source : Table, Columns or None
        The parsed file, with all its rows and columns.
    names : sequence of str
        Name of each sample, such as the text after a SMILES on its line; empty without names.

    See Also
    --------
    vendiscore.report.read_data : Read the samples of a file.

    Examples
    --------
    >>> Samples(["a", "b", "c"], [1, 2, 3]).subset([2]).place(0)
    'line 3'
    """

    values: Any  # a list, or an array (n, …)
    places: Sequence[int | str]  # rows as spreadsheets number them, or lines; or names of files
    unit: str = "line"  # of `places`: "line", "row", "paragraph", "part", "element", "file", …
    problems: Mapping[int, str] = field(default_factory=dict)  # by index, as a predicate
    notes: tuple[str, ...] = ()  # on how the samples were read
    groups: Sequence[Hashable] = ()
    kind: str = "texts"  # or "images", "molecules", "vectors", "values" (of labels)
    name: str = "pasted"  # name of the file, or "answers.csv › answer"
    column: str | None = None
    wrong: Mapping[int, str] = field(default_factory=dict)  # the column of a problem
    sets: Sequence[Hashable] = ()
    quality: Sequence[float] = ()
    correct: Sequence[bool] = ()
    weights: Sequence[float] = ()
    counts: CountTable | None = None  # from which `values` repeats the species
    prompts: Sequence[str] = ()
    written: Callable[[Sequence[int]], str] | None = None  # samples, as the file has them
    saved: Callable[[Sequence[int], str], None] | None = None  # into a file of that path
    endings: tuple[str, ...] = ()
    index: Sequence[int] = ()
    count: int = 0
    features: Sequence[str] = ()  # the columns that numbers are from
    lost: Mapping[str, str] = field(default_factory=dict)  # other columns, and why
    table: Table | None = None  # their table, without its rows
    above: Sequence[str] = ()  # descriptions of rows that contain no sample
    grouping: Mapping[str, str] = field(default_factory=dict)  # columns of sets and groups
    record: str = ""  # what writes such records
    rows: Sequence[int] = ()  # of the table, that samples are from; empty if each row is one
    source: object = None  # with all rows and columns
    names: Sequence[str] = ()  # what follows each SMILES on its line

    def __len__(self) -> int:
        return len(self.values)

    def take(self, kept: Sequence[int]) -> Any:
        """Return the values at given indices.

        Parameters
        ----------
        kept : sequence of int
            Indices of samples.

        Returns
        -------
        list or array
            The values.
        """
        if isinstance(self.values, np.ndarray):
            return self.values[list(kept)]
        return [self.values[i] for i in kept]

    def subset(self, kept: Sequence[int]) -> Samples:
        """Return the samples at given indices; they keep their locations.

        Parameters
        ----------
        kept : sequence of int
            Indices of samples.

        Returns
        -------
        Samples
            The subset.
        """
        written, saved = self.written, self.saved
        changes: Record = {"values": self.take(kept), "counts": None}
        for name in _LABELS:
            labels = getattr(self, name)
            changes[name] = [labels[i] for i in kept] if labels else ()
        for name in ("problems", "wrong"):
            by_index = getattr(self, name)
            changes[name] = {j: by_index[i] for j, i in enumerate(kept) if i in by_index}
        if written:
            changes["written"] = lambda chosen: written([kept[i] for i in chosen])
        if saved:
            changes["saved"] = lambda chosen, path: saved([kept[i] for i in chosen], path)
        return replace(self, **changes)

    @property
    def taken(self) -> str:
        """A description of the samples, their column and groups, and the unused columns."""
        n = len(self.values)
        kind = self.kind if n != 1 else self.kind.removesuffix("s")
        description = f"{n:,} {kind}"
        if self.column:
            description += f" of column {short_repr(self.column)}"
        if self.record:
            description += f" ({self.record})"
        for name, labels in (("groups", self.groups), ("sets", self.sets)):
            by = self.grouping.get(name)
            if labels:
                count = len(distinct_labels(labels))
                description += f", in {count:,} {name if count != 1 else name.removesuffix('s')}"
            if labels and by:
                description += f" by column {short_repr(by)}"
        if self.prompts and self.grouping.get("prompts"):
            count = len({*self.prompts})
            prompts = f"{count:,} prompt{'s' * (count != 1)}"
            description += (
                f", answers to {prompts} of column {short_repr(self.grouping['prompts'])}"
            )
        if by := self.grouping.get("weights"):
            description += f", weighted by column {short_repr(by)}"
        phrases = [description]
        if self.table:
            unused = self.left_out
            phrases += [f"left out: {join_names(unused, _LEFT_OUT_WIDTH)}"] if unused else []
            phrases += self.table.above
        return "; ".join([*phrases, *self.above])

    @property
    def left_out(self) -> list[str]:
        """The columns that are not used, with the reasons of some."""
        if not self.table or not (self.column or self.features):
            return []
        used = {*self.features}
        for path in filter(None, (self.column, *self.grouping.values())):
            used |= {path, get_path_start(path)}
        unused = [name for name in self.table.names if name not in used]
        return [f"{name} ({self.lost[name]})" if name in self.lost else name for name in unused]

    def place(self, i: int) -> str:
        """Describe the location of a sample.

        Parameters
        ----------
        i : int
            Index of the sample.

        Returns
        -------
        str
            The location, such as "line 3" or "row 3, column 'answer'".
        """
        column = self.wrong.get(i, self.column)
        return f"{self.unit} {self.places[i]}" + (f", column {column!r}" if column else "")
