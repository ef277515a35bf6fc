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
from .submission import ROLES, InputSettings, Kind

# Words in names of columns of sources, whose groups have a name of their own in titles.
SOURCES = "model|source|annotator|author|checkpoint|generator|seed|system|worker"
_PREVIEW_ROWS = 5_000  # from which roles are detected
_MAX_COLUMNS = 100  # that are examined
# Kinds of samples by what a column holds.
_KINDS: dict[str, Sequence[Kind]] = {
    "texts": ("texts",),
    "sequences": ("texts",),
    "lists": ("texts",),
    "molecules": ("molecules", "texts"),
    "vectors": ("vectors",),
    "numbers": ("vectors",),
}


def detect_kinds(table: Table, settings: InputSettings) -> list[Kind]:
    """Return the kinds of samples that the columns of a table hold."""
    names = [settings.column] if settings.column in table.names else table.names[:_MAX_COLUMNS]
    content_types = [column_kind(table, name) for name in names if name != settings.by]
    return list(
        dict.fromkeys(
            kind for content_type in content_types for kind in _KINDS.get(content_type, ())
        )
    )


def detect_roles(
    source: Table | Columns, used: Collection[str | None], settings: InputSettings
) -> dict[str, tuple[str, list[str]]]:
    """Return by role its column and the label of each row, "" for none.

    Roles are detected from the first rows. The columns in `used` contain the samples.
    """
    chosen = {role: getattr(settings, role) for role in ROLES}
    preview = source if isinstance(source, Table) else source.head()
    first_rows = replace(preview, rows=preview.rows[:_PREVIEW_ROWS])
    for column in filter(None, chosen.values()):
        first_rows.labels(column)  # refuses a name that is not there
    excluded = {*chosen.values(), *used}
    candidates = [name for name in preview.names[:_MAX_COLUMNS] if name not in excluded]
    labels = {
        name: first_rows.labels(name)
        for name in candidates
        if column_kind(first_rows, name) != "vectors"
    }
    for role in ROLES:
        if chosen[role] is None:
            first = next(iter(labels), "")
            fitting = [
                name for name in labels if _can_have_role(role, name, labels[name], name == first)
            ]
            # A column with the name of the role comes before others.
            chosen[role] = min(fitting, key=lambda name: role_of(name) != role, default="")
            labels.pop(chosen[role], None)
    columns = {role: column for role, column in chosen.items() if column}
    table = source
    if not isinstance(table, Table):
        table = table.table(list(dict.fromkeys(columns.values())) or table.names[:1])
    # Equal labels are one string, as a table can have 200,000 rows.
    roles = {role: (name, [*map(sys.intern, table.labels(name))]) for role, name in columns.items()}
    if "id" in roles and not settings.id and not _is_unique(roles["id"][1]):
        del roles["id"]
    return roles


def _can_have_role(role: str, name: str, cells: Sequence[str], is_first: bool) -> bool:
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
    distinct = {*cells} - {""}
    return 2 * sum(map(is_prose, distinct)) > len(distinct)


def find_answer_columns(table: Table) -> list[str]:
    """Return the columns of texts that may together hold the answers to each row's prompt."""
    names = [name for name in table.names[:_MAX_COLUMNS] if role_of(name) in ("text", "model", "")]
    names = [name for name in names if column_kind(table, name) == "texts"]
    return [name for name in names if _are_prose(table.labels(name))]


def are_answers(columns: Sequence[str]) -> bool:
    """Return whether columns are named as answers or models."""
    return len(columns) > 1 and all(role_of(name) in ("model", "text") for name in columns)


def melt_answers(table: Table, columns: Sequence[str], models: bool) -> Table:
    """Return a table with the cells of some columns in one, "answer".

    They make a list in each row or, as answers of `models`, a row each, with the name of their
    column in column "model".
    """
    answer_indices = [table.indices[name] for name in columns]
    other_indices = sorted({*range(len(table.names))} - {*answer_indices})
    names = [table.names[j] for j in other_indices]
    names += ["model", "answer"] if models else ["answer"]
    if len({*names}) < len(names):
        raise RefusedError("The table already has a column “model” or “answer”; rename it.")
    n_rows_each = len(answer_indices) if models else 1
    if (cells := len(table.rows) * n_rows_each * len(names)) > MAX_VALUES:
        raise RefusedError(
            f"With one row per answer, this table has {cells:,} cells, more than {MAX_VALUES:,}; "
            "remove columns or rows."
        )
    rows = []
    for row in table.rows:
        other_cells = [row[k] for k in other_indices]
        if models:
            rows += [[*other_cells, table.names[j], row[j]] for j in answer_indices]
        else:
            rows.append([*other_cells, [row[j] for j in answer_indices if row[j]]])
    return replace(
        table,
        names=names,
        rows=rows,
        places=[row_number for row_number in table.places for _ in range(n_rows_each)],
        problems={
            i * n_rows_each + k: problem
            for i, problem in table.problems.items()
            for k in range(n_rows_each)
        },
        header=None if table.header is None else names,
        origin=(),
    )
