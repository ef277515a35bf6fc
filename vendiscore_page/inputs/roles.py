"""Columns of a table: kinds of samples that they hold, and roles of the others."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace

from vendiscore.report import (
    Columns,
    RefusedError,
    Table,
    column_kind,
    few_values,
    is_named,
    is_prose,
    role_of,
    share_of_numbers,
)
from vendiscore.tools.reading.names import PROMPT_NAMES

from ..quotas import MAX_VALUES
from .submission import ROLES, Asked, Kind

# Words in names of columns of sources, whose groups have a name of their own in titles.
SOURCES = "model|source|annotator|author|checkpoint|generator|seed|system|worker"
_LOOK = 5_000  # rows that tell what the others are
_MOST = 100  # columns that are looked into
# Kinds of samples by what a column holds.
_KINDS: dict[str, Sequence[Kind]] = {
    "texts": ("texts",),
    "sequences": ("texts",),
    "lists": ("texts",),
    "molecules": ("molecules", "texts"),
    "vectors": ("vectors",),
    "numbers": ("vectors",),
}


def kinds_of(read: Table, asked: Asked) -> list[Kind]:
    """Return the kinds of samples that the columns of a table hold."""
    names = [asked.column] if asked.column in read.names else read.names[:_MOST]
    held = [column_kind(read, name) for name in names if name != asked.by]
    return list(dict.fromkeys(kind for each in held for kind in _KINDS.get(each, ())))


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
    left = [name for name in head.names[:_MOST] if name not in known]
    labels = {name: some.labels(name) for name in left if column_kind(some, name) != "vectors"}
    for role in ROLES:
        if chosen[role] is None:
            first = next(iter(labels), "")
            fit = [name for name in labels if _fits(role, name, labels[name], name == first)]
            # A column with the name of the role comes before others.
            chosen[role] = min(fit, key=lambda name: role_of(name) != role, default="")
            labels.pop(chosen[role], None)
    there = {role: column for role, column in chosen.items() if column}
    read = source
    if not isinstance(read, Table):
        read = read.table(list(dict.fromkeys(there.values())) or read.names[:1])
    # Equal labels are one string, as a table can have 200,000 rows.
    roles = {role: (name, [*map(sys.intern, read.labels(name))]) for role, name in there.items()}
    if "id" in roles and not asked.id and not _is_unique(roles["id"][1]):
        del roles["id"]
    return roles


def _fits(role: str, name: str, cells: Sequence[str], is_first: bool) -> bool:
    """Return whether a column has a role, by its name and its cells."""
    named = role_of(name)
    different = {*cells} - {""}
    if role == "prompt":
        numbered = named == "id" and is_named(name, PROMPT_NAMES) and not _is_unique(cells)
        return bool(different) and (named == "prompt" or numbered)
    if role == "model":
        return named == "model" and 0 < len(different) < len(list(filter(None, cells)))
    numbers = share_of_numbers(cells) > 0.5
    if role == "id":
        whole = all(map(str.isdigit, cells)) if numbers else not any(map(is_prose, cells))
        first = is_first and named not in ("text", "prompt") and whole
        return _is_unique(cells) and (named == "id" or first)
    return few_values(cells) and (named == "label" or not (numbers or _are_prose(cells)))


def _is_unique(cells: Sequence[str]) -> bool:
    return len({*cells}) == len(cells) > 1 and all(cells)


def _are_prose(cells: Sequence[str]) -> bool:
    """Return whether most of the different cells have several words."""
    each = {*cells} - {""}
    return 2 * sum(map(is_prose, each)) > len(each)


def answer_columns(read: Table) -> list[str]:
    """Return the columns of texts that may together hold the answers to each row's prompt."""
    names = [name for name in read.names[:_MOST] if role_of(name) in ("text", "model", "")]
    names = [name for name in names if column_kind(read, name) == "texts"]
    return [name for name in names if _are_prose(read.labels(name))]


def are_answers(columns: Sequence[str]) -> bool:
    """Return whether columns are named as answers or models."""
    return len(columns) > 1 and all(role_of(name) in ("model", "text") for name in columns)


def melted(read: Table, columns: Sequence[str], models: bool) -> Table:
    """Return a table with the cells of some columns in one, "answer".

    They make a list in each row or, as answers of `models`, a row each, with the name of their
    column in column "model".
    """
    at = [read.indices[name] for name in columns]
    kept = sorted({*range(len(read.names))} - {*at})
    names = [read.names[j] for j in kept]
    names += ["model", "answer"] if models else ["answer"]
    if len({*names}) < len(names):
        raise RefusedError("The table already has a column “model” or “answer”; rename it.")
    times = len(at) if models else 1
    if (cells := len(read.rows) * times * len(names)) > MAX_VALUES:
        raise RefusedError(
            f"With one row per answer, this table has {cells:,} cells, more than {MAX_VALUES:,}; "
            "remove columns or rows."
        )
    rows = []
    for row in read.rows:
        others = [row[k] for k in kept]
        if models:
            rows += [[*others, read.names[j], row[j]] for j in at]
        else:
            rows.append([*others, [row[j] for j in at if row[j]]])
    return replace(
        read,
        names=names,
        rows=rows,
        places=[place for place in read.places for _ in range(times)],
        problems={i * times + k: what for i, what in read.problems.items() for k in range(times)},
        header=None if read.header is None else names,
        origin=(),
    )
