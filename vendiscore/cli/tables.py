"""Tables as samples: CSV, lines of JSON, parquet; their column of texts, or those of numbers."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays.inputs import inexact
from ..hints import suggestion
from ..optional import require
from ..reading.columns import is_smiles, pick
from ..reading.limits import Limits, RefusedError
from ..reading.number_tables import numbers_of
from ..reading.tables import Table, listed, share_of_numbers, table
from . import arrays
from .exit_codes import DataError
from .sources import Source, Wanted

_ALL = Limits(smiles=1_000)
# By index of the row: what is wrong with it, and in which column.
Problems = dict[int, tuple[str, str]]


def of_csv(text: str, name: str, wanted: Wanted) -> Source:
    """A column of texts, or all columns of numbers where there are no others but an index."""
    is_sample = partial(is_smiles, longest=_ALL.smiles) if wanted.kind == "molecules" else None
    read = table(text, _ALL, numeric=wanted.kind == "vectors", is_sample=is_sample)
    if not read.rows:
        return Source(name, "text", [], [])
    if wanted.kind != "vectors" and not wanted.kind and _is_of_numbers(read, wanted):
        read = table(text, _ALL, numeric=True)
        wanted = replace(wanted, kind="vectors")
    problems: Problems = {i: ("", said) for i, said in read.problems.items()}
    written = partial(_written, read)
    if wanted.kind == "vectors":
        return _numbers(read, name, wanted, problems, written)
    return _values(read, name, wanted, problems, written)


def of_json(text: str, name: str, kind: str, wanted: Wanted) -> Source:
    """Objects, strings or rows of numbers: one a line, or in the array of a .json file."""
    problems: Problems = {}
    rows: list[Any] = []
    places: list[int] = []
    if kind == "json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, {_not_json(error, None)}") from None
        if not isinstance(found, list):
            raise DataError(f"{name}: expected an array of samples, got {type(found).__name__}")
        rows, places = found, list(range(1, len(found) + 1))
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    else:
        every = [line.removesuffix("\r") for line in text.split("\n")]
        lines = [line for line in every if line.strip()]
        places = [i for i, line in enumerate(every, 1) if line.strip()]
        for i, line in enumerate(lines):
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                rows.append(None)
                problems[i] = "", _not_json(error, places[i])
    unit = "line" if kind == "jsonl" else "element"

    def written(kept: Sequence[int]) -> str:
        if kind == "json":
            return "[" + ",\n ".join(lines[i] for i in kept) + "]\n"
        return "".join(f"{lines[i]}\n" for i in kept)

    if not rows or len(problems) == len(rows):
        return Source(name, "text", rows, places, unit, problems=problems, written=written)
    first = next(row for i, row in enumerate(rows) if i not in problems)
    if not isinstance(first, dict):
        source = _of_column(rows, name, places, unit, "", wanted, problems)
        return replace(source, written=written)
    for i, row in enumerate(rows):
        if not isinstance(row, dict) and i not in problems:
            problems[i] = "", f"is {_said(row)}, where the first is an object"
    objects = [row if isinstance(row, dict) else {} for row in rows]
    names = list(dict.fromkeys(key for row in objects for key in row))
    cells = [[row.get(key) for key in names] for row in objects]
    read = Table(names, cells, places, unit, header=names)
    return _values(read, name, wanted, problems, written)


def of_parquet(data: bytes, name: str, wanted: Wanted) -> Source:
    """A column of texts or of rows of numbers, or all columns of numbers."""
    pa = require("pyarrow", "app", "reading parquet")
    pq = require("pyarrow.parquet", "app", "reading parquet")
    try:
        often = Counter(pq.read_schema(io.BytesIO(data)).names)
        if twice := [column for column, times in often.items() if times > 1]:
            raise DataError(f"{name} has more than one column called {twice[0]!r}; rename them")
        found = pq.read_table(io.BytesIO(data), use_threads=False)
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{name}: it is no parquet file, or damaged ({error!s:.80})") from None
    names = [column for column in found.column_names if not column.startswith("__index_level_")]
    others = wanted.others
    kinds = {column: found.schema.field(column).type for column in names}
    numeric = [c for c in names if _is_number(pa, kinds[c]) and c not in others]
    if (
        wanted.column is None
        and wanted.kind in ("", "vectors")
        and numeric
        and (wanted.kind or len(numeric) + len(others) == len(names))
    ):
        real = pa.float32() if all(_is_single(pa, kinds[c]) for c in numeric) else pa.float64()
        columns = [found.column(c).cast(real, safe=False).to_numpy() for c in numeric]
        X = np.column_stack(columns)
        source = replace(arrays.of_array(X, name, wanted), notes=_left(names, numeric, others))
        beside = {c: found.column(_named(names, c, name)).to_pylist() for c in others}
        problems: Problems = {}
        for c in numeric:
            if pa.types.is_integer(kinds[c]) and kinds[c].bit_width == 64:
                for i, said in _inexact(found.column(c).to_pylist()):
                    problems.setdefault(i, (c, said))
        return _beside(source, wanted, beside, problems)
    rows = found.select(names).to_pylist()
    cells = [[row[c] for c in names] for row in rows]
    read = Table(names, cells, list(range(1, len(cells) + 1)), header=names)
    source = _values(read, name, wanted, {}, None)
    if source.kind == "vectors" and _is_single(pa, kinds[source.column or names[0]]):
        source = replace(source, values=source.values.astype(np.float32))
    return source


def _values(
    read: Table,
    name: str,
    wanted: Wanted,
    problems: Problems,
    written: Callable[[Sequence[int]], str] | None,
) -> Source:
    """The column that is meant, with the groups beside it."""
    others = [_named(read.names, c, name) for c in wanted.others]
    rest = [column for column in read.names if column not in others]
    notes: tuple[str, ...] = ()
    if wanted.column is not None:
        column = _named(read.names, wanted.column, name)
    elif len(rest) == 1:
        column = rest[0]
    elif not rest:
        but = f" beside {listed(others)}" if others else ""
        raise DataError(f"{name} has no columns{but}, and so no samples")
    else:
        at = [read.names.index(c) for c in rest]
        narrowed = replace(read, names=rest, rows=[[row[j] for j in at] for row in read.rows])
        column = _meant(narrowed, name, wanted)
        notes = (f"the samples are column {column!r} of {listed(read.names)} (--column)",)
    shown = column if len(read.names) > 1 or read.header else ""
    source = _of_column(read.column(column), name, read.places, read.unit, shown, wanted, problems)
    beside = {c: read.column(c) for c in others}
    return replace(_beside(source, wanted, beside, problems), notes=notes, written=written)


def _meant(read: Table, name: str, wanted: Wanted) -> str:
    rows = [c for c in read.names if any(_is_row(v) for v in read.column(c)[:20])]
    if wanted.kind == "vectors" and len(rows) == 1:
        return rows[0]
    try:
        return pick(read, None, "molecule" if wanted.kind == "molecules" else "text", _ALL)
    except RefusedError as error:
        if not wanted.kind and len(rows) == 1:
            return rows[0]
        said = str(error).replace("; pick a column:", "; name one with --column:")
        raise DataError(f"{name}: {said}") from None


def _of_column(
    values: Sequence[Any],
    name: str,
    places: Sequence[int],
    unit: str,
    column: str,
    wanted: Wanted,
    problems: Problems,
) -> Source:
    """What a column holds: strings, rows of numbers, or anything where labels are compared."""
    source = Source(name, wanted.kind or "text", values, places, unit, column, problems=problems)
    if wanted.kind == "values":
        return source
    first = next((v for i, v in enumerate(values) if v is not None and i not in problems), None)
    if wanted.kind in ("", "vectors") and _is_row([first]):  # a column of numbers
        values = [None if value is None else [value] for value in values]
        source, first = replace(source, values=values), [first]
    if wanted.kind == "vectors" or (not wanted.kind and _is_row(first)):
        return _rows(source, len(first) if isinstance(first, list) else 0)
    for i, value in enumerate(values):
        if i not in problems and not isinstance(value, str):
            problems[i] = column, "is missing" if value is None else f"is {_said(value)}, no string"
    return replace(source, values=[v if isinstance(v, str) else "" for v in values])


def _rows(source: Source, width: int) -> Source:
    X = np.zeros((len(source), max(1, width)))
    problems = dict(source.problems)
    for i, value in enumerate(source.values):
        if i in problems:
            continue
        if not _is_row(value) or not width:
            problems[i] = source.column, f"is {_said(value)}, no row of numbers"
        elif len(value) != width:
            problems[i] = source.column, f"has {len(value)} numbers, the first {width}"
        elif inexact := next(_inexact(value), None):
            problems[i] = source.column, inexact[1]
        else:
            X[i] = value
    return replace(source, kind="vectors", values=X, problems=dict(sorted(problems.items())))


def _numbers(
    read: Table,
    name: str,
    wanted: Wanted,
    problems: Problems,
    written: Callable[[Sequence[int]], str],
) -> Source:
    others = [_named(read.names, c, name) for c in wanted.others]
    beside = {c: read.column(c) for c in others}
    chosen = None
    if wanted.column is not None:
        whole = wanted.column in read.names
        asked = [wanted.column] if whole else wanted.column.split(",")
        chosen = [read.names.index(_named(read.names, c, name)) for c in asked]
    at = [j for j, c in enumerate(read.names) if c not in others]
    if others and chosen is None:
        header = None if read.header is None else [read.header[j] for j in at]
        rows = [[row[j] for j in at] for row in read.rows]
        read = replace(read, names=[read.names[j] for j in at], rows=rows, header=header)
    found = numbers_of(read, chosen=chosen)
    for i, (said, j) in found.problems.items():
        problems[i] = "" if j is None else read.names[j], said
    source = Source(
        name, "vectors", found.X, read.places, read.unit, problems=problems, written=written
    )
    lost = tuple(f"column {read.names[j]!r} is left out: {why}" for j, why in found.lost.items())
    return replace(_beside(source, wanted, beside, problems), notes=lost)


def _beside(
    source: Source, wanted: Wanted, columns: Mapping[str, Sequence[Any]], problems: Problems
) -> Source:
    """Add the sets, groups and quality of the samples."""
    quality: list[float] = []
    problems = {**source.problems, **problems}
    sets = _labels(columns, wanted.by, "set", problems)
    groups = _labels(columns, wanted.group_by, "group", problems)
    if by := wanted.quality:
        for i, value in enumerate(columns[by]):
            try:
                quality.append(float(value))
            except (TypeError, ValueError, OverflowError):
                quality.append(0.0)
                problems.setdefault(i, (by, f"is {_said(value)}, no number"))
    problems = dict(sorted(problems.items()))
    return replace(source, sets=sets, groups=groups, quality=quality, problems=problems)


def _labels(
    columns: Mapping[str, Sequence[Any]], by: str | None, what: str, problems: Problems
) -> list[str]:
    """Read the labels of a column; empty ones are added to `problems`."""
    if by is None:
        return []
    labels = ["" if _is_missing(value) else str(value).strip() for value in columns[by]]
    for i, label in enumerate(labels):
        if not label:
            problems.setdefault(i, (by, f"is empty, so that the sample has no {what}"))
    return labels


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN is not equal to itself


def _is_of_numbers(read: Table, wanted: Wanted) -> bool:
    """Whether the columns that may be meant are of numbers, all of them."""
    if wanted.column in read.names:
        return share_of_numbers(read.column(str(wanted.column))) > 0.5
    rest = [column for column in read.names if column not in wanted.others]
    return bool(rest) and all(share_of_numbers(read.column(column)) > 0.5 for column in rest)


def _named(names: Sequence[str], column: str, name: str) -> str:
    if column not in names:
        raise DataError(f"{name} has no column {column!r}. {suggestion(column, names)}")
    return column


def _left(names: Sequence[str], kept: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    left = [column for column in names if column not in (*kept, *others)]
    return (f"columns {listed(left)} are left out: no numbers",) if left else ()


def _is_number(pa: Any, kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_single(pa: Any, kind: Any) -> bool:
    """Return whether a column has numbers, or rows of them, in single precision or less."""
    inner = getattr(kind, "value_type", kind)
    return bool(pa.types.is_float32(inner) or pa.types.is_float16(inner))


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(x, (int, float, np.floating)) and not isinstance(x, bool) for x in value)
    )


def _inexact(values: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """The places of integers that double precision does not hold, and what is said of them."""
    return ((i, said) for i, value in enumerate(values) if (said := inexact(value)))


def _said(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.40}" if value is not None else "null"


def _not_json(error: Exception, line: int | None) -> str:
    """What is wrong, and where: the line where it is not known otherwise."""
    if isinstance(error, json.JSONDecodeError):
        if line:
            return f"is no JSON at column {error.colno}: {error.msg}"
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return f"is no JSON that can be read ({type(error).__name__})"


def _written(read: Table, kept: Sequence[int]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=read.delimiter or ",", lineterminator="\n")
    if read.header is not None:
        writer.writerow(read.names)
    writer.writerows(read.rows[i] for i in kept)
    return out.getvalue()
