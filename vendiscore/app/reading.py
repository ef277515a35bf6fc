"""From a pasted box or an uploaded file to texts or to rows of numbers.

Nothing here trusts a file: sizes are read from headers and compared with the limits before
anything is unpacked, pickles are never loaded, and a number in a header is only believed where
the file is as long as it says.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .limits import (
    MAX_COLUMNS,
    MAX_SAMPLES,
    MAX_TEXT,
    MAX_UPLOAD,
    MAX_VALUES,
    RefusedError,
    check_count,
    check_texts,
)

Value = TypeVar("Value")
TEXT_FILES = (".txt", ".csv", ".jsonl")
MATRIX_FILES = (".npy", ".csv", ".parquet")


def lines(box: Any) -> list[str]:
    """The lines of a text box that are not blank, without white space around them."""
    if not isinstance(box, str):
        raise RefusedError(f"Expected text, one sample a line, got {type(box).__name__}.")
    return [line.strip() for line in box.splitlines() if line.strip()]


def texts(path: str, column: str | None = None, what: str = "text") -> list[str]:
    """The texts of a .txt (one a line), .csv (one column) or .jsonl file."""
    if _kind(path, TEXT_FILES) == ".txt":
        return lines(_decode(path))
    rows = _records(path, MAX_SAMPLES + 1)
    check_count(len(rows), MAX_SAMPLES, f"{what}s")
    names = list(rows[0])
    name = column or names[0]
    if name not in names:
        raise RefusedError(f"There is no column {name!r:.60}; the file has {_list(names)}.")
    values = [row.get(name) for row in rows]
    for i, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise RefusedError(
                f"Row {i} has no {what} in column {name!r:.60}, got {value!r:.60}; "
                f"remove such rows or pick another column."
            )
    return check_texts([str(value) for value in values], what=what)


def columns(path: str) -> list[str]:
    """The columns one can pick from: those of a .csv or .jsonl file, none of other files."""
    if Path(path).suffix.lower() not in (".csv", ".jsonl"):
        return []
    rows = _records(path, 1)
    return list(rows[0]) if rows else []


def matrix(path: str) -> np.ndarray:
    """The rows of numbers of a .npy, .csv (a header is skipped) or .parquet file."""
    kind = _kind(path, MATRIX_FILES)
    if kind == ".npy":
        return check_matrix(_npy(path))
    if kind == ".parquet":
        return check_matrix(_parquet(path))
    return numbers(_decode(path))


def numbers(box: str) -> np.ndarray:
    """Rows of numbers from text: one row a line, split by commas, semicolons, tabs or spaces."""
    rows = lines(box)
    if rows and _split(rows[0]) and not _is_number(_split(rows[0])[0]):
        rows = rows[1:]  # a header
    check_count(len(rows), MAX_SAMPLES, "rows")
    _check_shape(len(rows), len(_split(rows[0])))
    out = np.empty((len(rows), len(_split(rows[0]))))
    for i, row in enumerate(rows):
        cells = _split(row)
        if len(cells) != out.shape[1]:
            raise RefusedError(
                f"Row {i} has {len(cells):,} numbers and row 0 has {out.shape[1]:,}; "
                f"every row needs as many."
            )
        try:
            out[i] = [float(cell) for cell in cells]
        except ValueError:
            bad = next(cell for cell in cells if not _is_number(cell))
            raise RefusedError(f"Row {i} has {bad!r:.60}, which is not a number.") from None
    return check_matrix(out)


def check_matrix(X: Any) -> np.ndarray:
    """A finite float64 matrix (n, d) within the limits."""
    try:
        X = np.asarray(X)
    except ValueError:
        raise RefusedError("Every row needs as many numbers as the first.") from None
    if X.dtype.kind not in "fiub":
        raise RefusedError(f"Expected rows of real numbers, got {X.dtype} values.")
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise RefusedError(f"Expected a table of rows and columns, got shape {X.shape}.")
    _check_shape(*X.shape)
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        value = X[row][~np.isfinite(X[row])][0]
        raise RefusedError(f"Row {row} has {value}; remove or fill in such rows first.")
    return np.asarray(X, dtype=np.float64)


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
            f"this tab takes {_list(known)}."
        )
    return kind


def _decode(path: str) -> str:
    size(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8."
        ) from None


def _records(path: str, limit: int) -> list[dict[str, Any]]:
    text = _decode(path)
    if Path(path).suffix.lower() == ".jsonl":
        return [_json(line, i) for i, line in enumerate(islice(lines(text), limit))]
    return list(islice(_csv(text), limit))


def _csv(text: str) -> Iterable[dict[str, Any]]:
    reader = csv.reader(_narrow(io.StringIO(text, newline="")), strict=True)
    try:
        header = [name.strip() or f"column {i}" for i, name in enumerate(next(reader, []))]
        for row in reader:
            if row:
                yield dict(zip(header, row, strict=False))
    except csv.Error as error:
        raise RefusedError(
            f"Line {reader.line_num} is not valid CSV ({error}); cells may have up to "
            f"{MAX_TEXT:,} characters and quotes must be closed."
        ) from None


def _narrow(rows: Iterable[str]) -> Iterator[str]:
    """The rows as they come, but none with more columns than are allowed: a cheap look first."""
    for row in rows:
        if row.count(",") >= max(MAX_COLUMNS, MAX_TEXT):  # no row of texts within the limits
            _check_shape(1, row.count(",") + 1)
        yield row


def _json(line: str, i: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise RefusedError(f"Line {i} is not valid JSON: {line!r:.60}.") from None
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict) or not value:
        raise RefusedError(f"Line {i} must be a JSON object or string, got {line!r:.60}.")
    return value


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
        _check_shape(shape[0], shape[1] if len(shape) == 2 else 1)
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


def _parquet(path: str) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read() -> np.ndarray:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
        _check_shape(file.metadata.num_rows, len(schema))
        for field in schema:
            kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
            if not any(is_kind(field.type) for is_kind in kinds):
                raise RefusedError(
                    f"Column {field.name!r:.60} holds {str(field.type)[:60]}; "
                    f"every column must be numbers."
                )
        table = file.read(use_threads=False)
        for name in table.column_names:
            if table[name].null_count:
                raise RefusedError(f"Column {name!r:.60} has missing values; fill them in first.")
        return np.column_stack([column.to_numpy() for column in table.columns])

    return _reading(read, pa.ArrowException, "parquet")


def _reading(read: Callable[[], Value], errors: type[Exception], what: str) -> Value:
    try:
        return read()
    except RefusedError:
        raise
    except (errors, OSError, ValueError, MemoryError):
        raise RefusedError(f"This {what} file cannot be read; it may be damaged.") from None


def _check_shape(rows: int, width: int) -> None:
    if width > MAX_COLUMNS:
        raise RefusedError(f"{width:,} columns are too many: the limit is {MAX_COLUMNS:,}.")
    check_count(rows, MAX_SAMPLES, "rows")
    check_count(width, MAX_COLUMNS, "columns")
    if rows * width > MAX_VALUES:
        raise RefusedError(
            f"{rows:,} × {width:,} numbers are too many: this page takes up to {MAX_VALUES:,}."
        )


def _split(row: str) -> list[str]:
    width = max(row.count(separator) for separator in ",;\t") + 1
    if width > MAX_COLUMNS:
        _check_shape(1, width)
    return [cell for cell in re.split(r"[,;\t ]+", row) if cell]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _list(names: Iterable[str]) -> str:
    shown = list(islice(names, 9))
    return ", ".join(f"{name:.40}" for name in shown[:8]) + (" …" if len(shown) > 8 else "")
