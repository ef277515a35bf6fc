"""Columnar files (parquet): only the columns that are needed are read, and no more than fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from ..arguments import inexact
from ..optional import require
from .limits import AskError, Limits, RefusedError
from .tables import Table, checked_column, join_names

_BATCH = 1_000
_LOOK = 200  # rows that tell what the columns are
_MOST = 100  # columns that are looked into
_EXACT = 2**53  # up to which every integer is a float64


class Columns:
    """The columns of a file: their names by what they hold, and their cells in batches."""

    def __init__(
        self,
        schema: Any,
        rows: int,
        batches: Callable[[Sequence[str]], Iterator[Any]],
        limits: Limits,
        reader: str = "read_parquet",  # of pandas
    ) -> None:
        often = Counter(schema.names)
        if twice := [name for name, times in often.items() if times > 1]:
            raise RefusedError(f"More than one column is called {twice[0]!r:.60}; rename them.")
        self.rows, self.limits, self.reader = rows, limits, reader
        self._batches = batches
        self._types = {field.name: field.type for field in schema}
        self._kinds = {name: _kind(of) for name, of in self._types.items()}
        self.all: list[str] = list(self._kinds)
        self.names = [name for name in self.all if not name.startswith("__index_level_")]
        self.strings, self.numbers, self.vectors = (
            [name for name in self.names if self._kinds[name] == kind]
            for kind in ("string", "number", "vector")
        )

    @property
    def more(self) -> bool:
        """Whether there are more rows than are read."""
        return self.rows > self.limits.samples

    def table(self, columns: Sequence[str], most: int | None = None) -> Table:
        """Read columns as a table of cells."""
        most = min(self.limits.samples, most or self.limits.samples)
        cells: dict[str, list[Any]] = {name: [] for name in columns}
        rows = 0
        words = _Words()
        with _damaged():
            for batch in self._batches(columns):
                for name in columns:
                    cells[name] += words.of(batch.column(name))
                rows += batch.num_rows
                if words.size + 8 * rows * len(columns) > self.limits.unpacked:
                    raise RefusedError(
                        f"The columns {join_names(columns)} unpack to more than "
                        f"{self.limits.unpacked // 10**6} MB; send a random part of the rows."
                    )
                if rows >= most:
                    break
        found = [list(row) for row in zip(*(cells[name][:most] for name in columns), strict=True)]
        places = range(1, len(found) + 1)
        return Table(list(columns), found, places, header=list(columns), typed=True)

    def head(self) -> Table:
        """Read the first rows of the columns that can be shown."""
        return self.table([*self.strings, *self.numbers][:_MOST], _LOOK)

    def numeric(self, column: str | None, others: Collection[str] = ()) -> list[str]:
        """Return the columns of the numbers: the one that is named, one of rows, or all others."""
        if column:
            found = [checked_column(self.names, column)]
            if found[0] in self.strings:
                raise RefusedError(f"Column {column!r:.60} holds texts, no numbers.")
            return found
        if len(self.vectors) > 1:
            raise AskError(
                f"Which column holds the vectors: {join_names(self.vectors)}?",
                [(name, {"column": name}) for name in self.vectors],
            )
        found = self.vectors or [name for name in self.numbers if name not in others]
        if not found:
            raise self.refused()
        return found

    def matrix(self, columns: Sequence[str]) -> tuple[np.ndarray, dict[int, tuple[str, str]]]:
        """Read columns of numbers, or one of rows; by row the column of a problem; and it."""
        parts: list[np.ndarray] = []
        problems: dict[int, tuple[str, str]] = {}
        start = 0
        vectors = self._kinds[columns[0]] == "vector"
        real = np.float32 if all(_is_single(self._types[name]) for name in columns) else np.float64
        self.check_width(len(columns))
        with _damaged():
            for batch in self._batches(columns):
                if vectors:
                    known = parts[0].shape[1] if parts else 0
                    found, bad = self._stacked(batch.column(columns[0]), known)
                    problems |= {start + i: (columns[0], what) for i, what in bad.items()}
                else:
                    found = np.column_stack([_floats(batch.column(name)) for name in columns])
                    for name in columns:
                        for i, what in _inexact(batch.column(name)):
                            problems.setdefault(start + i, (name, what))
                parts.append(found.astype(real, copy=False))
                start += len(found)
                if start * found.shape[1] * 8 > 2 * self.limits.unpacked:
                    raise RefusedError(
                        f"More than {2 * self.limits.unpacked // 8:,} numbers are too many: send a "
                        f"random part of the rows."
                    )
                if start >= self.limits.samples:
                    break
        X = np.concatenate(parts)[: self.limits.samples] if parts else np.zeros((0, 1))
        return X, {i: problem for i, problem in sorted(problems.items()) if i < len(X)}

    def check_width(self, width: int) -> None:
        """Raise a RefusedError for more columns than are read."""
        if width > self.limits.columns:
            raise RefusedError(
                f"{width:,} columns are too many: the limit is {self.limits.columns:,}."
            )

    def refused(self) -> RefusedError:
        """Return the error for a file of which nothing can be read."""
        what = ", ".join(f"{name} ({self._types[name]!s:.40})" for name in self.names[:8])
        return RefusedError(f"Expected a column of texts or of numbers, got {what:.200}.")

    def _stacked(self, column: Any, width: int) -> tuple[np.ndarray, dict[int, str]]:
        """Stack rows of numbers of one length, 0 for that of the first; name those of others."""
        rows: list[Any] = column.to_pylist()
        width = width or len(next((row for row in rows if row), [0.0]))
        self.check_width(width)
        X = np.zeros((len(rows), width))
        problems: dict[int, str] = {}
        whole = _is_whole(column.type.value_type)
        for i, row in enumerate(rows):
            if row is None:
                problems[i] = "is null, no row of numbers"
            elif len(row) != width:
                problems[i] = f"has {len(row):,} numbers, the first {width:,}"
            elif whole and (what := next(filter(None, map(inexact, row)), "")):
                problems[i] = what
            else:
                X[i] = [np.nan if value is None else value for value in row]
        return X, problems


def parquet(file: IO[bytes], limits: Limits) -> Columns:
    """Open a file of parquet, on disk or elsewhere."""
    require("pyarrow", "app", "reading parquet")
    pq: Any = require("pyarrow.parquet", "app", "reading parquet")
    with _damaged():
        schema = pq.read_schema(file)
        # As dictionaries, so that what a file says once is held once.
        strings = [field.name for field in schema if _kind(field.type) == "string"]
        file.seek(0)
        opened = pq.ParquetFile(file, read_dictionary=strings)

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of some columns, of no more row groups than are needed."""
        needed: list[int] = []
        rows = 0
        # What row groups say of columns is not asked for: pyarrow ends the process where it is
        # damaged.
        while len(needed) < opened.metadata.num_row_groups and rows < limits.samples:
            rows += opened.metadata.row_group(len(needed)).num_rows
            needed.append(len(needed))
        found: Iterator[Any] = opened.iter_batches(
            _BATCH, row_groups=needed, columns=list(columns), use_threads=False
        )
        return found

    return Columns(schema, opened.metadata.num_rows, batches, limits)


class _Words:
    """Cells as Python has them; strings of one dictionary once."""

    def __init__(self) -> None:
        self._words: dict[int, list[Any]] = {}
        self.size = 0

    def of(self, column: Any) -> list[Any]:
        import pyarrow as pa

        if not pa.types.is_dictionary(column.type):
            return list(column.to_pylist())
        last = column.dictionary.buffers()[-1]
        key = last.address if last is not None else 0
        if len(self._words.get(key, ())) != len(column.dictionary):
            self.size += column.dictionary.nbytes
            self._words = {key: column.dictionary.to_pylist()}
        words = self._words[key]
        return [None if i is None else words[i] for i in column.indices.to_pylist()]


def _floats(column: Any) -> np.ndarray:
    import pyarrow as pa

    found: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


def _inexact(column: Any) -> Iterator[tuple[int, str]]:
    """Yield the integers that double precision does not hold."""
    if not _is_whole(column.type):
        return
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    for i in np.flatnonzero(
        (values > _EXACT) | (values < -_EXACT if values.dtype.kind == "i" else False)
    ):
        if what := inexact(values[i]):
            yield int(i), what


def _is_whole(of: Any) -> bool:
    """Return whether a column has integers of which some are no float64."""
    import pyarrow as pa

    return bool(pa.types.is_integer(of) and of.bit_width == 64)


def _kind(of: Any) -> str:
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(of):
        of = of.value_type
    if types.is_string(of) or types.is_large_string(of):
        return "string"
    if types.is_integer(of) or types.is_floating(of) or types.is_boolean(of):
        return "number"
    if types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of):
        return "vector" if _kind(of.value_type) == "number" else "other"
    return "other"


def _is_single(of: Any) -> bool:
    """Return whether a column has numbers, or rows of them, in single precision or less."""
    import pyarrow as pa

    inner = getattr(of, "value_type", of)
    return bool(pa.types.is_float32(inner) or pa.types.is_float16(inner))


@contextmanager
def _damaged() -> Iterator[None]:
    """Say in plain words what pyarrow raises about a file."""
    import pyarrow as pa

    try:
        yield
    except RefusedError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError):
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None
