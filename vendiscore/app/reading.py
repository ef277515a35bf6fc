"""From a pasted box or an uploaded file to samples.

Nothing here trusts a file: sizes are read from headers and compared with the limits before
anything is unpacked, pickles are never loaded, and a number in a header is only believed where
the file is as long as it says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from ..reading.columns import is_smiles, pick
from ..reading.tables import Table, check_lines, decode, listed, records, table
from .limits import (
    MAX_SAMPLES,
    MAX_SMILES,
    MAX_TEXT,
    MAX_UPLOAD,
    TABLE,
    RefusedError,
    check_count,
)
from .matrices import as_matrix, check_shape, matrix_of, not_finite
from .samples import Samples, begins, described

Value = TypeVar("Value")
TABLES = (".csv", ".tsv", ".jsonl")
TEXT_FILES = (".txt", *TABLES)
MATRIX_FILES = (".npy", ".csv", ".tsv", ".parquet")
# What may stand between two texts of a box or a .txt file; anything else that a visitor types is
# itself the sign.
LINE, BLANK = "a new line", "a blank line"
BLOCKS = "Blank lines separate groups"


def lines(box: Any, separator: str = LINE, what: str = "text", blocks: bool = False) -> Samples:
    """The texts of a box, apart from each other by new lines, blank lines or a sign.

    A sign counts where it has a line of its own; if it nowhere has, wherever it stands. With
    `blocks`, lines between blank lines are a group.
    """
    if not isinstance(box, str):
        raise RefusedError(f"Expected text, one sample a line, got {type(box).__name__}.")
    if not isinstance(separator, str) or not separator.strip():
        raise RefusedError(f"Say what stands between two {what}s: {LINE}, {BLANK} or a sign.")
    if blocks and separator != LINE:
        raise RefusedError(
            f"Groups are blocks of lines, and each line is a {what}: pick “{LINE}” under “Between "
            f"two texts”, or untick “{BLOCKS}”."
        )
    check_lines(box, TABLE)
    rows = [line.strip() for line in re.split(r"\r\n|\r|\n", box.removeprefix("\ufeff"))]
    filled = [(i, line) for i, line in enumerate(rows, 1) if line]
    if separator == LINE:
        found = _texts(
            [line for _, line in filled], [i for i, _ in filled], "line", what, _hint(rows, what)
        )
        return _in_blocks(found) if blocks else found
    sign = "" if separator == BLANK else separator.strip()
    alone = sign in rows
    parts = "\n".join("\0" if row == sign else row for row in rows).split("\0")
    if not alone:
        parts = box.split(sign) if sign else parts
    values = [part.strip() for part in parts if part.strip()]
    unit = "part" if sign else "paragraph"
    note = f"Read {len(values):,} {unit}s, separated by {sign or BLANK!s:.40}. {begins(values)}"
    return _texts(values, range(1, len(values) + 1), unit, what, (note,))


def texts(
    path: str,
    column: str | None = None,
    what: str = "text",
    separator: str = LINE,
    blocks: bool = False,
    by: str | None = None,
) -> Samples:
    """The texts or molecules of a .txt file (as in a box) or of a column of a table.

    Groups are the `blocks` of a .txt file, or samples with the same cell in the column `by`.
    """
    name = Path(path).name
    if _kind(path, TEXT_FILES) == ".txt":
        found = lines(decode(Path(path).read_bytes())[0], separator, what, blocks)
        said = f"Read {len(found):,} {found.unit}s of {name:.60}. {begins(found.values)}"
        return replace(found, notes=(said, *(found.notes if separator == LINE else ())))
    if blocks and not by:
        raise RefusedError(
            f"A table has no blocks of lines: pick the column that its rows are grouped by, or "
            f"untick “{BLOCKS}”."
        )
    read = _table(path, what)
    check_count(len(read.rows), MAX_SAMPLES, f"{what}s")
    chosen = pick(read, column, what, TABLE)
    groups = _labels(read, by) if by else []
    values = read.column(chosen)
    strings = ["" if value is None else value for value in values]
    problems = {
        i: f"is {type(value).__name__}, not a string"
        for i, value in enumerate(strings)
        if not isinstance(value, str)
    } | dict(read.problems)
    problems |= {i: f"has no group in column {by!r:.60}" for i, g in enumerate(groups) if not g}
    facts = [f"{len(set(groups) - {''}):,} groups by column {by!r:.60}"] if by else []
    strings = [str(value).strip() for value in strings]
    known = f"of column {chosen!r:.60}" if len(read.names) > 1 or read.header else "of text"
    usable = (string for i, string in enumerate(strings) if i not in problems and string.strip())
    note = described(name, len(strings), known, read, facts, usable)
    found = _texts(strings, read.places, read.unit, what, (note,), problems)
    return replace(found, groups=groups)


def columns(path: str, what: str = "text") -> tuple[list[str], str | None]:
    """The columns one can pick from, none but for a table, and the one that is clearly meant."""
    if Path(path).suffix.lower() not in TABLES:
        return [], None
    read = _table(path, what)
    try:
        return read.names, pick(read, None, what, TABLE)
    except RefusedError:
        return read.names, None


def matrix(path: str) -> Samples:
    """The rows of numbers of a .npy, .csv, .tsv or .parquet file."""
    kind = _kind(path, MATRIX_FILES)
    if kind == ".npy":
        name = Path(path).name
        X = as_matrix(_npy(path))
        return _of_array(X, path, "", "numpy as np", f"np.load({name!r})")
    if kind == ".parquet":
        return _parquet(path)
    text, encoding = decode(Path(path).read_bytes())
    return matrix_of(table(text, TABLE, numeric=True, encoding=encoding), Path(path).name)


def numbers(box: Any) -> Samples:
    """The rows of numbers of a box, apart by commas, semicolons, tabs or spaces."""
    if not isinstance(box, str):
        raise RefusedError(f"Expected rows of numbers, got {type(box).__name__}.")
    return matrix_of(table(box, TABLE, numeric=True, typed=True))


def _texts(
    values: list[str],
    places: Any,
    unit: str,
    what: str,
    notes: tuple[str, ...] = (),
    problems: Mapping[int, str] = MappingProxyType({}),
) -> Samples:
    check_count(len(values), MAX_SAMPLES, f"{what}s")
    longest = MAX_SMILES if what == "molecule" else MAX_TEXT
    found = dict(problems)
    for i, value in enumerate(values):
        if not value.strip():
            found.setdefault(i, "is empty")
        elif len(value) > longest:
            found.setdefault(i, f"has {len(value):,} characters, more than {longest:,}")
    return Samples(values, places, unit, dict(sorted(found.items())), notes)


def _in_blocks(found: Samples) -> Samples:
    """Lines, with those between the same blank lines as a group, numbered from 1."""
    places = [int(place) for place in found.places]
    groups = np.cumsum(np.diff(places, prepend=-1) > 1).tolist()
    note = f"Read {len(found):,} lines in {groups[-1]:,} groups, separated by blank lines."
    return replace(found, notes=(note,), groups=groups)


def _labels(read: Table, by: str) -> list[str]:
    if by not in read.names:
        raise RefusedError(f"There is no column {by!r:.60}; the file has {listed(read.names)}.")
    return ["" if cell is None else str(cell).strip() for cell in read.column(by)]


def _hint(rows: list[str], what: str) -> tuple[str, ...]:
    """What to say where lines may be parts of longer texts."""
    blocks = [block.split("\n") for block in re.split(r"\n\n+", "\n".join(rows).strip("\n"))]
    if what == "molecule" or len(blocks) < 2 or max(map(len, blocks)) < 2:
        return ()
    return (
        f"Took each of the {sum(map(len, blocks)):,} lines for a {what}. They stand in "
        f"{len(blocks):,} paragraphs: if each of these is one {what}, pick “{BLANK}” under "
        f"“Between two texts”.",
    )


def _table(path: str, what: str = "text") -> Table:
    _kind(path, TABLES)
    text, encoding = decode(Path(path).read_bytes())
    if Path(path).suffix.lower() == ".jsonl":
        return records(text, TABLE)
    is_sample = partial(is_smiles, longest=MAX_SMILES) if what == "molecule" else None
    return table(text, TABLE, is_sample=is_sample, encoding=encoding)


def size(path: str) -> int:
    """The bytes of an uploaded file, if it is still there and not too large."""
    try:
        found = Path(path).stat().st_size
    except OSError:
        raise RefusedError(
            "The upload is gone (files are deleted soon after use): upload it again."
        ) from None
    if found > MAX_UPLOAD:
        raise RefusedError(
            f"The file has {found / 1e6:.0f} MB; this page takes up to {MAX_UPLOAD // 10**6} MB."
        )
    if found == 0:
        raise RefusedError("The file is empty.")
    return found


def _kind(path: str, known: tuple[str, ...]) -> str:
    size(path)
    kind = Path(path).suffix.lower()
    if kind not in known:
        raise RefusedError(
            f"Files of type {kind or 'unknown'!r:.20} cannot be read here; "
            f"this tab takes {listed(known)}."
        )
    return kind


def _npy(path: str) -> np.ndarray:
    with Path(path).open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            shape, _, dtype = read(file) if read else (None, None, None)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            shape = None
        if shape is None or dtype is None:
            raise RefusedError("This is not a .npy array (its header cannot be read).")
        if dtype.kind not in "fiub":
            raise RefusedError(
                f"The array holds {dtype} values; only real numbers are read, never pickled "
                f"objects."
            )
        if len(shape) not in (1, 2):
            raise RefusedError(f"Expected a table of rows and columns, got shape {shape}.")
        check_shape(shape[0], shape[1] if len(shape) == 2 else 1)
        promised = math.prod(shape) * dtype.itemsize
        there = size(path) - file.tell()
        if promised != there:
            raise RefusedError(
                f"The array says it has {promised:,} bytes but the file holds {there:,}; "
                f"it is damaged."
            )
        file.seek(0)
        array: np.ndarray = np.load(file, allow_pickle=False)
    return array


def _parquet(path: str) -> Samples:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def is_number(kind: Any) -> bool:
        return bool(
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        )

    def read() -> tuple[np.ndarray, list[str], list[str]]:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
        check_shape(file.metadata.num_rows, len(schema))
        # pandas' index is a column, too, unless it only counts the rows.
        lost = [f for f in schema if not is_number(f.type) or f.name.startswith("__index_level_")]
        names = [field.name for field in schema if field not in lost]
        if not names:
            raise RefusedError(
                f"Column {schema[0].name!r:.60} holds {str(schema[0].type)[:60]}, and no other "
                f"holds numbers."
            )
        table = file.read(columns=names, use_threads=False)
        columns = [column.cast(pa.float64(), safe=False).to_numpy() for column in table.columns]
        return np.column_stack(columns), names, [field.name for field in lost]

    X, names, lost = _reading(read, pa.ArrowException, "parquet")
    note = f" (left out, as no numbers: {listed(lost)})" if lost else ""
    columns = f"[{names!r}]" if lost else ""
    expression = f"pd.read_parquet({Path(path).name!r}){columns}.to_numpy()"
    return _of_array(X, path, note, "numpy as np, pandas as pd", expression)


def _of_array(X: np.ndarray, path: str, note: str, modules: str, expression: str) -> Samples:
    def python(left: Collection[int], square: bool) -> tuple[str, str]:
        rows = sorted(left)
        shorter = f"np.delete({expression}, {rows}, axis=0)" if rows else expression
        return modules, f"np.delete({shorter}, {rows}, axis=1)" if rows and square else shorter

    said = f"Read {X.shape[0]:,} rows of {X.shape[1]} numbers of {Path(path).name:.60}{note}."
    return Samples(X, range(1, len(X) + 1), "row", not_finite(X), (said,), python)


def _reading(read: Callable[[], Value], errors: type[Exception], what: str) -> Value:
    try:
        return read()
    except RefusedError:
        raise
    except (errors, OSError, ValueError, MemoryError):
        raise RefusedError(f"This {what} file cannot be read; it may be damaged.") from None
