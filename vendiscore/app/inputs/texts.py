"""Texts and molecules of tables: the column that holds them, and the one that groups them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...reading.columns import is_smiles, pick
from ...reading.json_documents import document, records
from ...reading.limits import Limits, RefusedError
from ...reading.tables import Table, checked_column, table
from ..quotas import MAX_SMILES, TABLE
from .samples import Samples, begins, described, split_by
from .strings import strings, written
from .submission import SINGULAR, Asked


def table_of(
    data: bytes, form: str, asked: Asked, limits: Limits = TABLE, numeric: bool = False
) -> Table:
    """The table in a file of CSV ("csv", "tsv") or JSON ("json", "jsonl")."""
    text, encoding = written(data)
    if form == "jsonl":
        return records(text, limits)
    if form == "json":
        return document(text, limits)
    is_sample = partial(is_smiles, longest=MAX_SMILES) if asked.kind == "molecules" else None
    tabs = form == "tsv" and not text.startswith("sep=")
    found = table(
        f"sep=\t\n{text}" if tabs else text,
        limits,
        numeric=numeric,
        is_sample=is_sample,
        encoding=encoding,
        header=asked.header,
    )
    return replace(found, skipped=0) if tabs else found


def of_table(
    read: Table,
    name: str,
    asked: Asked,
    kind: str = "texts",
    columns: Sequence[str] = (),
    more: bool = False,
) -> Samples:
    """The texts or molecules of a column."""
    column = chosen(read, asked, kind)
    if asked.blocks and not asked.by:
        raise RefusedError(
            "A table has no blocks of lines: pick the column that its rows are grouped by."
        )
    limit = TABLE.samples
    more = more or len(read.rows) > limit
    groups = labels(read, asked.by)[:limit] if asked.by else []
    found = strings(
        read.column(column)[:limit],
        read.places[:limit],
        read.unit,
        kind,
        asked.draw,
        {i: problem for i, problem in read.problems.items() if i < limit},
        groups,
    )
    facts = [f"{len(set(groups) - {''}):,} groups by column {asked.by!r:.60}"] if groups else []
    named = len(read.names) > 1 or read.header or columns
    known = f"of column {column!r:.60}" if named else "of text"
    shown = (value for i, value in enumerate(found.values) if i not in found.problems)
    total = found.total or len(found)
    note = described(name, total, known, read, facts, shown)
    first = [f"Only the first {limit:,} rows were read."] if more else []
    names = tuple(columns or read.names)
    return replace(
        found,
        notes=(note, *first, *found.notes),
        name=f"{name} › {column}" if named else name,
        columns=names if len(names) > 1 else (),
        column=column if named else None,
        by=asked.by or None,
        how=split_by(read.delimiter),
    )


def chosen(read: Table, asked: Asked, kind: str) -> str:
    """The column that is meant, or is asked for."""
    return pick(read, asked.column, SINGULAR[kind], TABLE)


def labels(read: Table, by: str) -> list[str]:
    """The group of each row."""
    cells = read.column(checked_column(read.names, by))
    return ["" if cell is None else str(cell).strip() for cell in cells]


def of_files(files: Sequence[tuple[str, bytes]], asked: Asked) -> Samples:
    """Each of several files of text as one sample."""
    decoded = [written(data)[0] for _, data in files]
    found = strings(decoded, [name for name, _ in files], "file", "texts", asked.draw)
    n = found.total or len(found)
    note = f"Read {n:,} files as one text each. {begins(found.values)}"
    return replace(found, notes=(note, *found.notes))
