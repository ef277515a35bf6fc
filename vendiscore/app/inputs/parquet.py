"""Parquet: only the columns that are needed are read, and no more of them than fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

import numpy as np

from ...reading.limits import AskError, RefusedError
from ...reading.tables import Table, checked_column, listed
from ..quotas import MAX_READ, MAX_UNPACKED
from .matrices import check_width, of_array
from .samples import Samples
from .submission import Asked
from .texts import labels, of_table

_BATCH = 1_000
_LOOK = 200  # rows that tell what the columns are
_MOST = 100  # columns that are looked into


class Parquet:
    """A file of parquet, on disk or elsewhere.

    Attributes
    ----------
    rows : int
    strings, numbers, vectors : list of str
        The columns of texts, of numbers, and of rows of numbers.
    names : list of str
        All columns but pandas' index.
    all : list of str
        These, too.
    """

    def __init__(self, file: IO[bytes], most: int = MAX_READ) -> None:
        import pyarrow.parquet as pq

        with _told():
            schema = pq.read_schema(file)
            kinds = {field.name: _kind(field.type) for field in schema}
            # As dictionaries, so that what a file says once is held once.
            self._strings = [name for name, kind in kinds.items() if kind == "string"]
            file.seek(0)
            self._file = pq.ParquetFile(file, read_dictionary=self._strings)
        self._kinds, self._most = kinds, most
        self._types = {field.name: str(field.type) for field in schema}
        self.names = [name for name in kinds if not name.startswith("__index_level_")]
        self.all = list(kinds)
        self.rows: int = self._file.metadata.num_rows
        self.strings = [name for name in self.names if kinds[name] == "string"]
        self.numbers = [name for name in self.names if kinds[name] == "number"]
        self.vectors = [name for name in self.names if kinds[name] == "vector"]

    @property
    def more(self) -> bool:
        """Whether there are more rows than are read."""
        return self.rows > self._most

    def table(self, columns: Sequence[str], most: int | None = None) -> Table:
        """Columns as a table of cells."""
        most = min(self._most, most or self._most)
        cells: dict[str, list[Any]] = {name: [] for name in columns}
        size = rows = 0
        words = _Words()
        with _told():
            for batch in self._batches(columns):
                for name in columns:
                    cells[name] += words.listed(batch.column(name))
                rows += batch.num_rows
                size = words.size + 8 * rows * len(columns)
                if size > MAX_UNPACKED:
                    raise RefusedError(
                        f"The columns {listed(columns)} unpack to more than "
                        f"{MAX_UNPACKED // 10**6} MB; send a random part of the rows."
                    )
                if rows >= most:
                    break
        found = [list(row) for row in zip(*(cells[name][:most] for name in columns), strict=True)]
        return Table(list(columns), found, list(range(1, len(found) + 1)), encoding="")

    def head(self) -> Table:
        """The first rows of the columns that can be shown."""
        return self.table([*self.strings, *self.numbers][:_MOST], _LOOK)

    def matrix(self, columns: Sequence[str]) -> tuple[np.ndarray, dict[int, str]]:
        """Columns of numbers, or one of rows of numbers, and the problems of rows."""
        width = len(columns)
        check_width(self.rows, width)
        parts: list[np.ndarray] = []
        problems: dict[int, str] = {}
        start = 0
        vectors = self._kinds[columns[0]] == "vector"
        with _told():
            for batch in self._batches(columns):
                if vectors:
                    known = parts[0].shape[1] if parts else 0
                    found, bad = _stacked(batch.column(columns[0]), known)
                    problems |= {start + i: problem for i, problem in bad.items()}
                else:
                    found = np.column_stack([_floats(batch.column(name)) for name in columns])
                parts.append(found)
                start += len(found)
                if start * found.shape[1] * 8 > 2 * MAX_UNPACKED:
                    raise RefusedError(
                        f"More than {2 * MAX_UNPACKED // 8:,} numbers are too many for this page: "
                        f"send a random part of the rows."
                    )
                if start >= self._most:
                    break
        if not parts:
            raise RefusedError("There are no rows in the file.")
        X = np.concatenate(parts)[: self._most]
        return X, {i: problem for i, problem in problems.items() if i < len(X)}

    def column(self, name: str) -> str:
        """The name, if there is such a column."""
        return checked_column(self.names, name)

    def refused(self) -> RefusedError:
        """That there is nothing that can be read."""
        what = ", ".join(f"{name} ({self._types[name]:.40})" for name in self.names[:8])
        return RefusedError(f"Expected a column of texts or of numbers, got {what:.200}.")

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Batches of some columns, of no more row groups than are needed."""
        metadata = self._file.metadata
        needed: list[int] = []
        rows = 0
        # What row groups say of columns is not asked for: pyarrow ends the process where it is
        # damaged.
        while len(needed) < metadata.num_row_groups and rows < self._most:
            rows += metadata.row_group(len(needed)).num_rows
            needed.append(len(needed))
        batches: Iterator[Any] = self._file.iter_batches(
            _BATCH, row_groups=needed, columns=list(columns), use_threads=False
        )
        return batches


def kind_of(file: Parquet, asked: Asked) -> str:
    """Texts, unless there are none: then vectors."""
    if asked.column and file.column(asked.column) in (*file.numbers, *file.vectors):
        return "vectors"
    return "texts" if file.strings else "vectors"


def texts(file: Parquet, name: str, asked: Asked, kind: str, chosen: str) -> Samples:
    """The texts or molecules of a column that was chosen by the first rows."""
    columns = [chosen] if not asked.by or asked.by == chosen else [chosen, file.column(asked.by)]
    read = file.table(columns)
    found = replace(asked, column=chosen)
    return of_table(read, name, found, kind, columns=file.names, more=file.more)


def vectors(file: Parquet, name: str, asked: Asked) -> Samples:
    """The rows of numbers: a column of them, or the columns of numbers."""
    lost: list[str] = []
    if asked.column:
        columns = [file.column(asked.column)]
        if file.strings and columns[0] in file.strings:
            raise RefusedError(f"Column {asked.column!r:.60} holds texts, no numbers.")
    elif len(file.vectors) == 1:
        columns = file.vectors
    elif file.vectors:
        raise AskError(
            f"Which column holds the vectors: {listed(file.vectors)}?",
            [(column, {"column": column}) for column in file.vectors],
        )
    else:
        columns = [column for column in file.numbers if column != asked.by]
        lost = [c for c in file.all if c not in columns and c != asked.by]
    if not columns:
        raise file.refused()
    X, problems = file.matrix(columns)
    note = f" (left out, as no numbers: {listed(lost)})" if lost else ""
    chosen = f"[{columns!r}]" if lost or len(columns) < len(file.names) else ""
    expression = f"pd.read_parquet({name!r}){chosen}.to_numpy()"
    if columns == file.vectors or columns[0] in file.vectors:
        expression = f"np.stack(pd.read_parquet({name!r})[{columns[0]!r}].to_numpy())"
    groups = labels(file.table([file.column(asked.by)]), asked.by)[: len(X)] if asked.by else []
    found = of_array(X, name, asked, "numpy as np, pandas as pd", expression, note, problems)
    if groups and found.total > len(found):
        raise RefusedError(f"Groups of {found.total:,} rows are too many for this page.")
    one = len(columns) == 1 and len(file.names) > 1
    return replace(
        found,
        name=f"{name} › {columns[0]}" if one else name,
        columns=tuple(file.names) if len(file.names) > 1 else (),
        column=columns[0] if one else None,
        by=asked.by or None,
        groups=groups,
    )


class _Words:
    """Cells as Python has them; strings of one dictionary once."""

    def __init__(self) -> None:
        self._words: dict[int, list[Any]] = {}
        self.size = 0

    def listed(self, column: Any) -> list[Any]:
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


def _stacked(column: Any, width: int) -> tuple[np.ndarray, dict[int, str]]:
    """Rows of numbers of one length, 0 for that of the first, and which of them are not."""
    rows: list[Any] = column.to_pylist()
    width = width or len(next((row for row in rows if row), [0.0]))
    check_width(len(rows), width)
    X = np.zeros((len(rows), width))
    problems: dict[int, str] = {}
    for i, row in enumerate(rows):
        if row is None:
            problems[i] = "is null, no row of numbers"
        elif len(row) != width:
            problems[i] = f"has {len(row):,} numbers, the first {width:,}"
        else:
            X[i] = [np.nan if value is None else value for value in row]
    return X, problems


def _floats(column: Any) -> np.ndarray:
    import pyarrow as pa

    found: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


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


@contextmanager
def _told() -> Iterator[None]:
    """What pyarrow raises about a file, in plain words."""
    import pyarrow as pa

    try:
        yield
    except RefusedError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError):
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None
