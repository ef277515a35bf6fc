"""Texts and molecules: strings that cannot be used are found as they are read, and described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import Any

from ...errors import MissingPackageError
from ...kernels.molecules import unreadable
from ...reading.columns import pick
from ...reading.encodings import decode
from ...reading.limits import RefusedError
from ...reading.samples import Samples
from ...reading.tables import DELIMITERS, Table, join_names
from ..quotas import MAX_SMILES, MAX_TEXT, TABLE, check_count
from .parts import fitting, part_note
from .submission import SINGULAR, Asked

_KEPT = 200  # characters of a sample that is too long to be used


def strings(
    values: Sequence[Any],
    places: Sequence[int | str],
    unit: str,
    kind: str,
    draw: int = 0,
    problems: Mapping[int, str] = MappingProxyType({}),
    groups: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Samples:
    """Return as many strings as fit as samples, with what keeps some from being used."""
    n = len(values)
    check_count(n, max(1, n), kind)
    longest = MAX_SMILES if kind == "molecules" else MAX_TEXT

    def size(i: int) -> int:
        length = len(values[i]) if isinstance(values[i], str) else 0
        return length if length <= longest else 0

    kept = fitting(n, size, draw)
    found: dict[int, str] = {}
    texts: list[str] = []
    for j, i in enumerate(kept):
        text, problem = _usable(values[i], longest)
        texts.append(text)
        if problem := problems.get(i, problem):
            found[j] = problem
        elif groups and not groups[i]:
            found[j] = "has no group"
    if kind == "molecules":
        found = dict(sorted({**_unreadable(texts), **found}.items()))
    part = len(kept) < n
    return Samples(
        texts,
        [places[i] for i in kept],
        unit,
        found,
        (*notes, part_note(len(kept), n, kind)) if part else tuple(notes),
        groups=[groups[i] for i in kept] if groups else (),
        kind=kind,
        total=n,
        draw=draw,
    )


def _usable(value: Any, longest: int) -> tuple[str, str]:
    """Return a sample as a string, and what keeps it from being used, or ""."""
    if value is not None and not isinstance(value, str):
        return str(value)[:_KEPT], f"is {type(value).__name__}, not a string"
    text = (value or "").strip()
    if len(text) > longest:
        return f"{text[:_KEPT]}…", f"has {len(text):,} characters, more than {longest:,}"
    return text, "" if text else "is empty"


def _unreadable(texts: Sequence[str]) -> dict[int, str]:
    """Return the molecules that RDKit cannot read, none without RDKit."""
    try:
        return unreadable(texts)
    except MissingPackageError:
        return {}


def of_table(
    read: Table,
    name: str,
    asked: Asked,
    kind: str = "texts",
    columns: Sequence[str] = (),
    more: bool = False,
) -> Samples:
    """Return the texts or molecules of a column of a table."""
    column = choose_column(read, asked, kind)
    if asked.blocks and not asked.by:
        raise RefusedError(
            "A table has no blocks of lines: pick the column that its rows are grouped by."
        )
    limit = TABLE.samples
    more = more or len(read.rows) > limit
    groups = read.labels(asked.by)[:limit] if asked.by else []
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
    note = describe_table(name, total, known, read, facts, shown)
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


def choose_column(read: Table, asked: Asked, kind: str) -> str:
    """Return the column that is meant, or ask for it."""
    return pick(read, asked.column, SINGULAR[kind], TABLE)


def of_files(files: Sequence[tuple[str, bytes]], asked: Asked) -> Samples:
    """Return each of several files of text as one sample."""
    decoded = [decode(data, guess=True)[0] for _, data in files]
    found = strings(decoded, [name for name, _ in files], "file", "texts", asked.draw)
    n = found.total or len(found)
    note = f"Read {n:,} files as one text each. {begins(found.values)}"
    return replace(found, notes=(note, *found.notes))


def split_by(delimiter: str) -> str:
    """Say how the cells of a table were told apart; "" for one column."""
    if not delimiter:
        return ""
    return f"split by {DELIMITERS.get(delimiter, repr(delimiter))}"


def describe_table(
    name: str, n: int, what: str, table: Table, facts: Iterable[str], shown: Iterable[str]
) -> str:
    """Say what was read: `Read 3 rows of column 'a' of a.csv (the first row names …). …`."""
    known = [
        split_by(table.delimiter) if table.delimiter != "," else "",
        "read as Windows-1252, as it is not UTF-8" if table.encoding == "cp1252" else "",
        *facts,
    ]
    if table.header is not None and not table.typed:
        known.insert(0, f"the first row names the columns {join_names(table.names):.90}")
    elif not table.typed:
        known.insert(0, "no row of names")
    said = "; ".join(fact for fact in known if fact)
    how = f" ({said})" if said else ""
    return f"Read {n:,} {table.unit}s {what} of {name:.60}{how}. {begins(shown)}"


def begins(shown: Iterable[str]) -> str:
    """Show the first few samples, each on one line."""
    first = list(islice((" ".join(text.split()) for text in shown), 4))
    cut = [f"{text[:36]}…" if len(text) > 37 else text for text in first[:3]]
    return f"It begins: {' · '.join(cut)}{' · …' if len(first) > 3 else ''}"
