"""Tables of any kind of samples: what is in their cells decides which."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...reading.columns import is_prose
from ...reading.json_documents import is_row
from ...reading.limits import AskError, Limits
from ...reading.tables import (
    MOLECULE_NAMES,
    OTHER_NAMES,
    TEXT_NAMES,
    Table,
    is_named,
    share_of_numbers,
)
from ..quotas import MAX_CELLS, MAX_COLUMNS, MAX_LINES, MAX_SMILES, MAX_TEXT, NUMBERS, check_count
from . import grids, matrices, parquet, strings, texts
from .kinds import are_molecules, are_numbers, share_of_molecules
from .samples import Samples
from .submission import Asked, Kind

_LOOK = 200  # rows that tell what the others are
_FIRST = Limits(_LOOK, MAX_COLUMNS, MAX_CELLS, MAX_TEXT, MAX_SMILES, MAX_LINES)
_MOST_STRINGS = 40  # columns that are looked into for molecules
_NAMED = 0.25  # of the cells under such a name that must be molecules
_FEATURES = 3  # columns of numbers beside labels that make rows of numbers


def of_cells(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    """The samples of a file of CSV or JSON."""
    csv = form in ("csv", "tsv")
    first = texts.table_of(data, form, asked, _FIRST) if csv else texts.table_of(data, form, asked)
    check_count(len(first.rows), max(1, len(first.rows)), asked.kind or "samples")
    kinds = _kinds(first, asked)
    kind = asked.kind if asked.kind in kinds else kinds[0]
    if kind == "vectors":
        found = _numbers(name, data, form, asked) if csv else matrices.of_values(first, name, asked)
    else:
        wanted = replace(asked, kind=kind)
        read = texts.table_of(data, form, wanted) if csv else first
        found = _asking(read, name, wanted)
    return _with(found, kind, kinds)


def _numbers(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    if len(data) > grids.LARGE:
        head = texts.table_of(data, form, asked, _FIRST, numeric=True)
        if plain := grids.grid(strings.written(data)[0], head, name, asked):
            return plain
    read = texts.table_of(data, form, asked, NUMBERS, numeric=True)
    return matrices.of_table(read, name, asked)


def of_parquet(name: str, data: bytes, asked: Asked) -> Samples:
    """The samples of a file of parquet."""
    return of_opened(parquet.Parquet(io.BytesIO(data)), name, asked)


def of_opened(file: parquet.Parquet, name: str, asked: Asked) -> Samples:
    """The samples of an opened file of parquet, wherever it is."""
    if asked.column:
        file.column(asked.column)
    head = file.head()
    kinds = _kinds(head, asked) if head.names else []
    if asked.column in file.vectors:
        kinds = ["vectors"]
    elif file.vectors and "vectors" not in kinds:
        kinds.append("vectors")
    if not kinds:
        raise file.refused()
    kind = asked.kind if asked.kind in kinds else kinds[0]
    if kind == "vectors":
        found = parquet.vectors(file, name, asked)
    else:
        found = _asking(head, name, replace(asked, kind=kind), file)
    return _with(found, kind, kinds)


def _asking(read: Table, name: str, asked: Asked, file: parquet.Parquet | None = None) -> Samples:
    """Texts or molecules; where the column is to be asked for, the kind is no longer."""
    kind = str(asked.kind)
    try:
        if file is None:
            return texts.of_table(read, name, asked, kind)
        return parquet.texts(file, name, asked, kind, texts.chosen(read, asked, kind))
    except AskError as error:
        choices = [(label, {**options, "kind": kind}) for label, options in error.choices]
        raise AskError(error.question, choices) from None


def _with(samples: Samples, kind: str, kinds: Sequence[Kind]) -> Samples:
    return replace(samples, kinds=tuple(other for other in kinds if other != kind))


def _kinds(read: Table, asked: Asked) -> list[Kind]:
    """What the samples of a table can be, what they are first."""
    names = [asked.column] if asked.column in read.names else read.names
    names = [name for name in names if name != asked.by]
    at = {name: read.names.index(name) for name in names}
    cells = {name: [row[j] for row in read.rows[:_LOOK]] for name, j in at.items()}
    rows = [name for name in names if any(map(is_row, cells[name]))]
    numeric = [name for name in names if name not in rows and _are_numbers(cells[name])]
    strings = {
        name: filled
        for name in names
        if name not in (*rows, *numeric) and (filled := _filled(cells[name]))
    }
    if not strings:
        return ["vectors"] if rows or numeric else ["texts"]
    found: list[Kind] = ["texts"]
    some = dict(list(strings.items())[:_MOST_STRINGS])
    if any(_are_molecules(name, filled) for name, filled in some.items()):
        found.insert(0, "molecules")
    elif any(share_of_molecules(filled) > 0.5 for filled in some.values()):
        found.append("molecules")
    if len(names) == 1 and are_numbers(next(iter(strings.values()))):
        return ["vectors", "texts"]  # apart by spaces
    features = [name for name in numeric if not is_named(name, OTHER_NAMES)]
    labels = not any(_is_text(name, filled) for name, filled in strings.items())
    if rows or features:
        first = found[0] == "texts" and labels and len(features) >= _FEATURES
        found.insert(0 if first else len(found), "vectors")
    return found


def _are_numbers(cells: Sequence[Any]) -> bool:
    return share_of_numbers("" if c is None or isinstance(c, bool) else c for c in cells) > 0.5


def _filled(cells: Sequence[Any]) -> list[str]:
    return [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]


def _are_molecules(name: str, cells: Sequence[str]) -> bool:
    if is_named(name, MOLECULE_NAMES):
        return share_of_molecules(cells) > _NAMED
    return are_molecules(cells)


def _is_text(name: str, cells: Sequence[str]) -> bool:
    prose = sum(map(is_prose, cells)) > 0.3 * len(cells)
    return is_named(name, TEXT_NAMES) or prose
