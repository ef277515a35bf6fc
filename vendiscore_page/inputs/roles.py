"""Roles of a table's columns: the model, prompt, label and id of each row, by names and cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vendiscore.report import (
    MODEL_NAMES,
    OTHER_NAMES,
    PROMPT_NAMES,
    TEXT_NAMES,
    RefusedError,
    Table,
    is_named,
    is_prose,
    role_of,
    share_of_numbers,
)

from ..quotas import MAX_CELLS
from .submission import ROLES, Asked

# Words in names of columns of sources, whose groups have a name of their own in titles.
SOURCES = "model|source|annotator|author|checkpoint|generator|seed|system|worker"
ID_NAMES = re.compile("(id|uid|uuid|key|index|idx|nr|no|number|nummer|row)s?")
_LABEL_NAMES = re.compile(
    "(label|class|classe|klasse|category|categorie|kategorie|group|gruppe|topic|thema|genre"
    "|language|sprache|split)s?"
)
_NO_ANSWERS = re.compile("(reference|target|title|name|date|time|url|comment|explanation|reason)s?")
_LOOK = 5_000  # rows that tell what the others are
_MOST = 100  # columns that are looked into
_SHORT = 100  # characters of a name
_LABELS = 20  # values of a column that nothing but its cells calls a label


@dataclass(frozen=True)
class _Column:
    name: str
    cells: Sequence[str]

    def named(self, pattern: re.Pattern[str]) -> bool:
        return is_named(self.name, pattern)

    @cached_property
    def times(self) -> Counter[str]:
        return Counter(cell for cell in self.cells if cell)

    @property
    def filled(self) -> int:
        return self.times.total()

    @property
    def is_short(self) -> bool:
        return 0 < max(map(len, self.times), default=0) <= _SHORT

    @property
    def is_unique(self) -> bool:
        return self.is_short and len(self.times) == len(self.cells) > 1

    @property
    def is_prose(self) -> bool:
        return 2 * sum(map(is_prose, self.times)) > len(self.times)

    @property
    def is_label(self) -> bool:
        few = 2 <= len(self.times) <= min(_LABELS, self.filled // 2)
        return few and self.is_short and not self.is_prose and share_of_numbers(self.cells) < 0.5


def roles_of(
    head: Table, whole: Callable[[list[str]], Table], used: Collection[str | None], asked: Asked
) -> dict[str, tuple[str, list[str]]]:
    """Return by role its column and the label of each row, "" for none.

    The first rows, `head`, tell what the columns are; `whole` reads some of them; columns that are
    `used` hold the samples.
    """
    found = {role: getattr(asked, role) for role in ROLES}
    some = replace(head, rows=head.rows[:_LOOK])
    for column in filter(None, found.values()):
        some.labels(column)  # refuses a name that is not there
    chosen = {*found.values(), *used}
    left = [
        _Column(name, some.labels(name))
        for name in head.names[:_MOST]
        if name not in chosen and not some.holds_rows(name)
    ]
    prompts = some.labels(found["prompt"]) if found["prompt"] else []
    for role in ROLES:
        if found[role] is None:
            column = _FINDERS[role](left, prompts)
            left = [each for each in left if each is not column]
            found[role] = column.name if column else ""
            prompts = list(column.cells) if column and role == "prompt" else prompts
    there = {role: column for role, column in found.items() if column}
    read = whole(list(dict.fromkeys(there.values())))
    same: dict[str, str] = {}  # equal labels as one string: a table can have 200,000 rows
    labels = {
        role: (column, [same.setdefault(label, label) for label in read.labels(column)])
        for role, column in there.items()
    }
    own = labels.get("id", ("", []))[1]
    if not asked.id and len({*own} - {""}) < len(own):
        labels.pop("id", None)
    return labels


def _prompt(left: Sequence[_Column], _: Sequence[str]) -> _Column | None:
    """Find the prompts by their name, or else by the name of their ids."""
    named = [each for each in left if role_of(each.name) == "prompt" and each.times]
    ids = [each for each in left if role_of(each.name) == "id" and each.named(PROMPT_NAMES)]
    return next(iter([*named, *(each for each in ids if not each.is_unique)]), None)


def _model(left: Sequence[_Column], _: Sequence[str]) -> _Column | None:
    """Find the models by their name."""
    named = [each for each in left if role_of(each.name) == "model" and each.is_short]
    return next((each for each in named if len(each.times) < each.filled), None)


def _id(left: Sequence[_Column], _: Sequence[str]) -> _Column | None:
    """Find the ids: unique, by their name, or in a first column that counts or has no blanks."""
    named = [each for each in left if each.named(ID_NAMES) and each.is_unique]
    for each in left[:1] if left and not named else ():
        counted = _counts(each.cells)
        words = share_of_numbers(each.cells) < 0.5 and not any(" " in cell for cell in each.times)
        known = each.named(TEXT_NAMES) or (each.named(OTHER_NAMES) and not words)
        if each.is_unique and (counted or words) and not known:
            return each
    return next(iter(named), None)


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells are 0, 1, 2, … or 1, 2, 3, …"""
    numbers = [*map(str, range(len(cells) + 1))]
    return list(cells) in (numbers[:-1], numbers[1:])


def _label(left: Sequence[_Column], _: Sequence[str]) -> _Column | None:
    """Find a label: by its name, or as few short values that repeat."""
    named = [each for each in left if each.named(_LABEL_NAMES) and each.is_short]
    named = [each for each in named if 1 < len(each.times) < each.filled]
    return next(iter([*named, *(each for each in left if each.is_label)]), None)


_FINDERS: Mapping[str, Callable[[Sequence[_Column], Sequence[str]], _Column | None]] = {
    "prompt": _prompt,
    "model": _model,
    "id": _id,
    "label": _label,
}


def answer_columns(read: Table) -> list[str]:
    """Return the columns of texts that may each hold the answers of one model."""
    some = replace(read, rows=read.rows[:_LOOK])
    known = (PROMPT_NAMES, ID_NAMES, _LABEL_NAMES, _NO_ANSWERS)
    names = [c for c in read.names[:_MOST] if not any(is_named(c, each) for each in known)]
    names = [c for c in names if not some.holds_rows(c)]
    return [c for c in names if (own := _Column(c, some.labels(c))).times and own.is_prose]


def are_models(columns: Sequence[str]) -> bool:
    """Return whether columns are named as the answers of several models."""
    return len(columns) > 1 and all(
        is_named(name, MODEL_NAMES) or is_named(name, TEXT_NAMES) for name in columns
    )


def melted(read: Table, columns: Sequence[str]) -> Table:
    """Return a table with a row for each cell of some columns, whose names are in column "model".

    A table with one column of answers for each model becomes one with a row for each answer.
    """
    kept = [j for j, name in enumerate(read.names) if name not in columns]
    at = [read.names.index(name) for name in columns]
    names = [read.names[j] for j in kept]
    if "model" in names or "answer" in names:
        raise RefusedError("A column is called “model” or “answer” already; rename it.")
    names += ["model", "answer"]
    cells = len(read.rows) * len(columns) * len(names)
    if cells > MAX_CELLS:
        raise RefusedError(
            f"With a row for each answer this table has {cells:,} cells, more than {MAX_CELLS:,}; "
            "remove columns or rows."
        )
    rows = [[*(row[k] for k in kept), read.names[j], row[j]] for row in read.rows for j in at]
    return replace(
        read,
        names=names,
        rows=rows,
        places=[place for place in read.places for _ in at],
        problems={
            i * len(at) + k: what for i, what in read.problems.items() for k in range(len(at))
        },
        header=None if read.header is None else names,
        origin=(),
    )
