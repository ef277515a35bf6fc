"""Files as samples: what was read, where each sample stood, and what kind it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .exit_codes import DataError, places, tell

# What the samples of a file can be; "values" are those of a column of JSON that are none of these.
KINDS = ("text", "molecules", "vectors", "images", "values")
NO_SAMPLES = "there are no samples in it"


@dataclass(frozen=True)
class Wanted:
    """How a file is to be read.

    Attributes
    ----------
    kind : str
        What the kernel compares, "" where none is named.
    column, by, group_by, quality : str or None
        Names of columns.
    split : str
        What stands between two texts of a file of lines: "row", "blank", or the line that does.
    type : str or None
        What the file is, where its name does not say.
    encoding : str or None
    skip : bool
        Whether samples that cannot be read are left out.
    """

    kind: str = ""
    column: str | None = None
    by: str | None = None
    group_by: str | None = None
    quality: str | None = None
    split: str = "row"
    type: str | None = None
    encoding: str | None = None
    skip: bool = False

    @property
    def others(self) -> list[str]:
        """The columns that are not samples."""
        return list(filter(None, dict.fromkeys([self.by, self.group_by, self.quality])))


@dataclass(frozen=True)
class Source:
    """The samples of one file.

    Attributes
    ----------
    name : str
        As messages call the file.
    kind : str
        One of `KINDS`.
    values : list or array
    numbers : sequence of int or str
        Of each sample: its line or row, counted from 1, or the name of its file.
    unit : str
        What `numbers` count: "line", "row", "image" or "file".
    column : str
        The column of a table that the samples are.
    sets, groups, quality : sequence
        What the columns of `by`, `group_by` and `quality` hold.
    problems : mapping of int to (str, str)
        By index: the column, or "", and what keeps a sample from being used, as a predicate.
    notes : tuple of str
        What was decided without having been said.
    written : callable
        From indices to the text that writes those samples as the file had them.
    """

    name: str
    kind: str
    values: Any
    numbers: Sequence[int | str]
    unit: str = "line"
    column: str = ""
    sets: Sequence[Hashable] = ()
    groups: Sequence[Hashable] = ()
    quality: Sequence[float] = ()
    problems: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    written: Callable[[Sequence[int]], str] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def where(self, index: int, column: str | None = None) -> str:
        """The place of a sample in its file, "line 3" or "row 3, column 'answer'"."""
        column = self.column if column is None else column
        return f"{self.unit} {self.numbers[index]}" + (f", column {column!r}" if column else "")

    def take(self, kept: Sequence[int]) -> Source:
        """Some of the samples, without problems."""
        array = isinstance(self.values, np.ndarray)
        written = self.written
        return replace(
            self,
            values=self.values[list(kept)] if array else [self.values[i] for i in kept],
            numbers=[self.numbers[i] for i in kept],
            sets=[self.sets[i] for i in kept] if self.sets else (),
            groups=[self.groups[i] for i in kept] if self.groups else (),
            quality=[self.quality[i] for i in kept] if self.quality else (),
            problems={},
            written=written and (lambda some: written([kept[i] for i in some])),
        )

    def text(self, kept: Sequence[int]) -> str:
        """Some of the samples as the file had them; where it was none of text, their numbers."""
        if self.written is not None:
            return self.written(kept)
        return "".join(f"{self.numbers[i]}\n" for i in kept)


def usable(source: Source, wanted: Wanted) -> Source:
    """The samples that could be read."""
    if source.problems:
        found = {source.where(i, column): said for i, (column, said) in source.problems.items()}
        check(source, found, wanted.skip)
        source = source.take([i for i in range(len(source)) if i not in source.problems])
    if not len(source):
        raise DataError(f"{source.name}: {NO_SAMPLES}")
    return source


def check(source: Source, found: Mapping[str, str], skip: bool) -> None:
    """Say which samples of a file cannot be used, as an error or, if they are left out, a note."""
    if skip:
        of = "sample is" if len(found) == 1 else "samples are"
        tell(f"{source.name}: {len(found):,} {of} left out: {places(found)}")
        return
    (where, said), more = next(iter(found.items())), len(found) - 1
    others = f" (and {more:,} more: {_listed(list(found)[1:])})" if more else ""
    remedy = "" if "; " in said else "; mend or remove it"
    raise DataError(
        f"{source.name}, {where} {said}{others}{remedy}, or pass --on-error skip to leave out what "
        f"cannot be used"
    )


def _listed(names: Iterable[str]) -> str:
    names = [name.partition(", column ")[0] for name in names]
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
