"""Roles of a table's columns: the model, prompt, label and id of each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from vendiscore.report import (
    Columns,
    RefusedError,
    Table,
    few_values,
    is_prose,
    role_of,
    share_of_numbers,
)

from ..quotas import MAX_VALUES
from .submission import ROLES, Asked

# Words in names of columns of sources, whose groups have a name of their own in titles.
SOURCES = "model|source|annotator|author|checkpoint|generator|seed|system|worker"
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_LOOK = 5_000  # rows that tell what the others are
_MOST = 100  # columns that are looked into
_SHORT = 100  # characters of a name


def roles_of(
    source: Table | Columns, used: Collection[str | None], asked: Asked
) -> dict[str, tuple[str, list[str]]]:
    """Return by role its column and the label of each row, "" for none.

    The first rows tell what the columns are; columns that are `used` hold the samples.
    """
    chosen = {role: getattr(asked, role) for role in ROLES}
    head = source if isinstance(source, Table) else source.head()
    some = replace(head, rows=head.rows[:_LOOK])
    for column in filter(None, chosen.values()):
        some.labels(column)  # refuses a name that is not there
    known = {*chosen.values(), *used}
    left = [name for name in head.names[:_MOST] if name not in known and not some.holds_rows(name)]
    labels = {name: some.labels(name) for name in left}
    for role in ROLES:
        if chosen[role] is None:
            chosen[role] = _column_of(role, labels)
            labels.pop(chosen[role], None)
    there = {role: column for role, column in chosen.items() if column}
    read = source
    if not isinstance(read, Table):
        read = read.table(list(dict.fromkeys(there.values())) or read.names[:1])
    same: dict[str, str] = {}  # equal labels as one string: a table can have 200,000 rows
    roles = {
        role: (column, [same.setdefault(label, label) for label in read.labels(column)])
        for role, column in there.items()
    }
    ids = roles.get("id", ("", []))[1]
    if not asked.id and len({*ids} - {""}) < len(ids):
        roles.pop("id", None)
    return roles


def _column_of(role: str, labels: dict[str, list[str]]) -> str:
    """Return the column of a role: by its name, or else by its cells, "" for none."""
    named = [name for name in labels if role_of(name) == role]
    if role == "prompt":
        ids = [name for name in labels if role_of(name) == "id" and _is_of_prompts(name)]
        named = [name for name in named if any(labels[name])]
        named += [name for name in ids if not _is_unique(labels[name])]
    elif role == "id":
        first = [name for name in list(labels)[:1] if _numbers_or_names_rows(name, labels[name])]
        named = [*(name for name in named if _is_unique(labels[name])), *first]
    else:
        named = [name for name in named if _repeats(labels[name])]
        if role == "label":
            named = [name for name in named if len({*labels[name]} - {""}) > 1]
            named += [
                name for name in labels if few_values(labels[name]) and _is_word(labels[name])
            ]
    return next(iter(named), "")


def _is_of_prompts(name: str) -> bool:
    return any(role_of(word) == "prompt" for word in _WORD.findall(name))


def _is_short(cells: Sequence[str]) -> bool:
    return 0 < max(map(len, cells), default=0) <= _SHORT


def _is_unique(cells: Sequence[str]) -> bool:
    return _is_short(cells) and len({*cells}) == len(cells) > 1 and all(cells)


def _repeats(cells: Sequence[str]) -> bool:
    often = Counter(filter(None, cells))
    return _is_short(cells) and len(often) < often.total()


def _is_word(cells: Sequence[str]) -> bool:
    """Return whether cells are short and neither numbers nor prose."""
    return _is_short(cells) and share_of_numbers(cells) < 0.5 and not _are_prose(cells)


def _are_prose(cells: Sequence[str]) -> bool:
    """Return whether most of the different cells have several words."""
    each = {*cells} - {""}
    return 2 * sum(map(is_prose, each)) > len(each)


def _numbers_or_names_rows(name: str, cells: Sequence[str]) -> bool:
    """Return whether unique cells are whole numbers, or single words, such as names."""
    words = share_of_numbers(cells) < 0.5 and not any(" " in cell for cell in cells)
    counted = role_of(name) == "" and all(map(str.isdigit, cells))
    return _is_unique(cells) and role_of(name) != "text" and (counted or words)


def answer_columns(read: Table) -> list[str]:
    """Return the columns of texts that may each hold the answers of one model."""
    some = replace(read, rows=read.rows[:_LOOK])
    names = [name for name in read.names[:_MOST] if role_of(name) in ("text", "model", "")]
    names = [name for name in names if not some.holds_rows(name)]
    return [name for name in names if _are_prose(some.labels(name))]


def are_models(columns: Sequence[str]) -> bool:
    """Return whether columns are named as the answers of several models."""
    return len(columns) > 1 and all(role_of(name) in ("model", "text") for name in columns)


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
    if cells > MAX_VALUES:
        raise RefusedError(
            f"With a row for each answer this table has {cells:,} cells, more than {MAX_VALUES:,}; "
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
