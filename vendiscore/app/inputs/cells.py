"""Tables and columnar files of any kind of samples: what is in their cells decides which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...reading import tables
from ...reading.columnar_files import Columns
from ...reading.columns import is_prose
from ...reading.encodings import decode
from ...reading.formats import FORMATS, Parsing
from ...reading.limits import AskError, Limits, RefusedError
from ...reading.number_tables import plain_numbers
from ...reading.samples import Samples
from ...reading.tables import (
    MOLECULE_NAMES,
    OTHER_NAMES,
    TEXT_NAMES,
    Table,
    checked_column,
    is_named,
)
from ..quotas import NUMBERS, TABLE, check_count
from . import matrices, texts
from .kinds import are_molecules, are_numbers, share_of_molecules
from .submission import Asked, Kind

LARGE = 4_000_000  # bytes of numbers, from which NumPy reads them faster
_LOOK = 200  # rows that tell what the others are
_FIRST = replace(TABLE, samples=_LOOK)
_MOST_STRINGS = 40  # columns that are looked into for molecules
_NAMED = 0.25  # of the cells under such a name that must be molecules
_FEATURES = 3  # columns of numbers beside labels that make rows of numbers


def table_of(
    data: bytes, form: str, asked: Asked, limits: Limits = TABLE, numeric: bool = False
) -> Table:
    """Parse a file of CSV ("csv", "tsv") or JSON ("json", "jsonl")."""
    parse = FORMATS[form].parse
    assert parse is not None
    molecules = asked.kind == "molecules"
    how = Parsing(limits, guess=True, header=asked.header, numeric=numeric, molecules=molecules)
    found: Table = parse(data, how)
    return found


def of_cells(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    """Return the samples of a file of CSV or JSON."""
    csv = form in ("csv", "tsv")
    first = table_of(data, form, asked, _FIRST if csv else TABLE)
    check_count(len(first.rows), max(1, len(first.rows)), asked.kind or "samples")
    kinds = _kinds(first, asked)
    kind = asked.kind if asked.kind in kinds else kinds[0]
    if kind == "vectors":
        found = _numbers(name, data, form, asked) if csv else matrices.of_table(first, name, asked)
    else:
        wanted = replace(asked, kind=kind)
        found = _asking(table_of(data, form, wanted) if csv else first, name, wanted)
    return _with(found, kind, kinds)


def _numbers(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    if len(data) > LARGE and not asked.column and not asked.by:
        head = table_of(data, form, asked, _FIRST, numeric=True)
        text = decode(data, guess=True)[0]
        if found := plain_numbers(text, head, asked.header, asked.index, NUMBERS):
            return matrices.of_numbers(*found, name, asked, head.names)
    read = table_of(data, form, asked, NUMBERS, numeric=True)
    return matrices.of_table(read, name, asked)


def of_columns(file: Columns, name: str, asked: Asked) -> Samples:
    """Return the samples of a columnar file, wherever it is."""
    if asked.column:
        checked_column(file.names, asked.column)
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
        found = _vectors(file, name, asked)
    else:
        found = _asking(head, name, replace(asked, kind=kind), file)
    return _with(found, kind, kinds)


def _vectors(file: Columns, name: str, asked: Asked) -> Samples:
    """Return the rows of numbers: a column of them, or the columns of numbers."""
    columns = file.numeric(asked.column, [asked.by or ""])
    rows = columns[0] in file.vectors
    lost = [c for c in file.all if c not in columns and c != asked.by]
    lost = [] if asked.column or rows else lost
    matrices.check_width(file.rows, len(columns))
    X, problems = file.matrix(columns)
    note = f" (left out, as no numbers: {tables.join_names(lost)})" if lost else ""
    chosen = f"[{columns!r}]" if lost or len(columns) < len(file.names) else ""
    expression = f"pd.{file.reader}({name!r}){chosen}.to_numpy()"
    if rows:
        expression = f"np.stack(pd.{file.reader}({name!r})[{columns[0]!r}].to_numpy())"
    groups: list[str] = []
    if asked.by:
        groups = file.table([checked_column(file.names, asked.by)]).labels(asked.by)[: len(X)]
    bad = {i: what for i, (_, what) in problems.items()}
    found = matrices.of_array(X, name, asked, "numpy as np, pandas as pd", expression, note, bad)
    if groups and found.total > len(found):
        raise RefusedError(f"Groups of {found.total:,} rows are too many for this page.")
    one = columns[0] if len(columns) == 1 and len(file.names) > 1 else None
    return replace(
        found,
        name=f"{name} › {one}" if one else name,
        columns=tuple(file.names) if len(file.names) > 1 else (),
        column=one,
        by=asked.by or None,
        groups=groups,
    )


def _asking(read: Table, name: str, asked: Asked, file: Columns | None = None) -> Samples:
    """Return texts or molecules; where the column is to be asked for, the kind is no longer."""
    kind = str(asked.kind)
    try:
        if file is None:
            return texts.of_table(read, name, asked, kind)
        column = texts.choose_column(read, asked, kind)
    except AskError as error:
        choices = [(label, {**options, "kind": kind}) for label, options in error.choices]
        raise AskError(error.question, choices) from None
    beside = [] if asked.by in (None, "", column) else [checked_column(file.names, str(asked.by))]
    whole = file.table([column, *beside])
    return texts.of_table(
        whole, name, replace(asked, column=column), kind, columns=file.names, more=file.more
    )


def _with(samples: Samples, kind: str, kinds: Sequence[Kind]) -> Samples:
    return replace(samples, kinds=tuple(other for other in kinds if other != kind))


def _kinds(read: Table, asked: Asked) -> list[Kind]:
    """Return the kinds that the samples of a table can be, the likeliest first."""
    names = [asked.column] if asked.column in read.names else read.names
    names = [name for name in names if name != asked.by]
    at = {name: read.names.index(name) for name in names}
    cells = {name: [row[j] for row in read.rows[:_LOOK]] for name, j in at.items()}
    rows = [name for name in names if any(map(tables.is_row, cells[name]))]
    numbers = [name for name in names if name not in rows and tables.are_numbers(cells[name])]
    strings = {
        name: filled
        for name in names
        if name not in (*rows, *numbers) and (filled := _filled(cells[name]))
    }
    if not strings:
        return ["vectors"] if rows or numbers else ["texts"]
    found: list[Kind] = ["texts"]
    some = dict(list(strings.items())[:_MOST_STRINGS])
    if any(_are_molecules(name, filled) for name, filled in some.items()):
        found.insert(0, "molecules")
    elif any(share_of_molecules(filled) > 0.5 for filled in some.values()):
        found.append("molecules")
    if len(names) == 1 and are_numbers(next(iter(strings.values()))):
        return ["vectors", "texts"]  # apart by spaces
    features = [name for name in numbers if not is_named(name, OTHER_NAMES)]
    labels = not any(_is_text(name, filled) for name, filled in strings.items())
    if rows or features:
        first = found[0] == "texts" and labels and len(features) >= _FEATURES
        found.insert(0 if first else len(found), "vectors")
    return found


def _filled(cells: Sequence[Any]) -> list[str]:
    return [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]


def _are_molecules(name: str, cells: Sequence[str]) -> bool:
    if is_named(name, MOLECULE_NAMES):
        return share_of_molecules(cells) > _NAMED
    return are_molecules(cells)


def _is_text(name: str, cells: Sequence[str]) -> bool:
    prose = sum(map(is_prose, cells)) > 0.3 * len(cells)
    return is_named(name, TEXT_NAMES) or prose
