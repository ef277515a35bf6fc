"""Columnar files (parquet): only needed columns are read, and no more than fits in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from ..core.errors import quoted
from ..optional import require
from .limits import WHOLE, Limits, RefusedError
from .names import join_names
from .number_tables import check_width
from .tables import Table

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch
    from pyarrow import Table as ArrowTable

pa: ModuleType = require("pyarrow", "app", "reading parquet")
pq: ModuleType = require("pyarrow.parquet", "app", "reading parquet")
_BATCH = 1_000
_LOOK = 200  # rows that show what the columns hold


class Columns:
    """The columns of a parquet file: their names by the type of their values, and their cells.

    Parameters
    ----------
    file : binary file, of which parts are read as they are needed
    limits : Limits

    Raises
    ------
    RefusedError
        For a damaged file, columns of one name, and more than `limits` allow.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> pq.write_table(pa.table({"answer": ["a cat", "a dog"], "score": [1.0, 0.5]}), file)
    >>> Columns(file, Limits()).names
    ['answer', 'score']
    """

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        with _damaged():
            schema = pq.read_schema(file)
            self._types = {field.name: field.type for field in schema}
            self._kinds = {name: _kind(of) for name, of in self._types.items()}
            # As dictionaries, so that a string that the file stores once is held once.
            strings = [name for name, kind in self._kinds.items() if kind == "string"]
            file.seek(0)
            self._source = file
            self._file = pq.ParquetFile(file, read_dictionary=strings)
        if twice := [name for name, times in Counter(schema.names).items() if times > 1]:
            raise RefusedError(f"More than one column is called {quoted(twice[0])}; rename them.")
        check_width(len(self._kinds), limits)
        self.rows: int = self._file.metadata.num_rows
        self.limits = limits
        self.more: bool = self.rows > limits.samples
        # Without the index that pandas stores as a column.
        self.names = [name for name in self._kinds if not name.startswith("__index_level_")]

    def _batches(self, columns: Sequence[str], most: int = _BATCH) -> Iterator[RecordBatch]:
        """Yield batches of some columns, from no more row groups than needed."""
        needed: list[int] = []
        rows = 0
        # Metadata of columns in row groups is not read: if damaged, pyarrow ends the process.
        while len(needed) < self._file.metadata.num_row_groups and rows < self.limits.samples:
            rows += self._file.metadata.row_group(len(needed)).num_rows
            needed.append(len(needed))
        vectors = [name for name in columns if self._kinds[name] == "vector"]
        if vectors and self.limits.declared is not None:
            groups = self.limits.declared(self._source)
            count = sum(groups[i][name] for i in needed for name in vectors)
            self._check_numbers(count)
            check_width(count // max(1, rows * len(vectors)), self.limits)
        yield from self._file.iter_batches(
            min(most, _BATCH), row_groups=needed, columns=list(columns), use_threads=False
        )

    def _check_numbers(self, count: int) -> None:
        if count > (most := 2 * self.limits.unpacked // 8):
            raise RefusedError(
                f"More than {most:,} numbers are too many: send a random part of the rows."
            )

    def table(self, columns: Sequence[str], most: int | None = None) -> Table:
        """Read some columns, of no more rows than `most` and the limits allow."""
        most = min(self.limits.samples, most or self.limits.samples)
        cells: dict[str, list[object]] = {name: [] for name in columns}
        rows = 0
        words = _Words()
        with _damaged():
            for batch in self._batches(columns, most):
                for name in columns:
                    cells[name] += words.of(batch.column(name))
                rows += batch.num_rows
                if words.size > self.limits.unpacked:
                    raise RefusedError(
                        f"The columns {join_names(columns)} unpack to more than "
                        f"{self.limits.unpacked // 10**6} MB; send a random part of the rows."
                    )
                if rows >= most:
                    break
        found = [list(row) for row in zip(*(cells[name][:most] for name in columns), strict=True)]
        places = range(1, len(found) + 1)
        names = list(columns)
        return Table(names, found, places, header=names, typed=True, more=self.more)

    def head(self) -> Table:
        """Read the first rows."""
        return self.table(self.names, _LOOK)

    def json_lines(self, rows: Sequence[int]) -> str:
        """Return some rows with all their columns, as one JSON object per line."""
        table = self._rows(rows)
        for name, of in self._types.items():
            if pa.types.is_binary(of) or pa.types.is_large_binary(of) or pa.types.is_struct(of):
                raise RefusedError(
                    f"column {quoted(name)} has type {of}, which is not printed; write the rows "
                    "into a file with --output FILE.parquet"
                )
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist())
        return "".join(f"{line}\n" for line in lines)

    def save_rows(self, rows: Sequence[int], path: str) -> None:
        """Write some rows with all their columns into a parquet file."""
        pq.write_table(self._rows(rows), path)

    def _rows(self, rows: Sequence[int]) -> ArrowTable:
        with _damaged():
            self._source.seek(0)
            return pq.read_table(self._source).take(list(rows))

    def matrix(self, names: Sequence[str]) -> np.ndarray | None:
        """Return columns of numbers, or one of rows of as many numbers each.

        None stands for columns of another kind, and for numbers that are missing or not exact.
        """
        kinds = {self._kinds.get(name) for name in names}
        if kinds != {"number"} and (kinds != {"vector"} or len(names) > 1):
            return None
        inner = {getattr(self._types[name], "value_type", self._types[name]) for name in names}
        real = np.float32 if inner <= {pa.float16(), pa.float32()} else np.float64
        parts: list[np.ndarray] = []
        numbers = 0
        with _damaged():
            for batch in self._batches(names):
                columns = [batch.column(name) for name in names]
                rows = np.column_stack([_floats(column) for column in columns])
                numbers += rows.size
                self._check_numbers(numbers)
                check_width(rows.shape[1], self.limits)
                if rows.shape[1] != (parts or [rows])[0].shape[1]:
                    return None
                if not (np.abs(rows) < WHOLE).all():
                    return None
                parts.append(rows.astype(real, copy=False))
        return np.concatenate(parts)[: self.limits.samples] if parts else None


class _Words:
    """Cells as Python values; strings of one dictionary are converted once."""

    def __init__(self) -> None:
        self._dictionary: Array = pa.array([])
        self._words: list[object] = []
        self.size = 0

    def of(self, column: Array) -> list[object]:
        if not pa.types.is_dictionary(column.type):
            self.size += column.nbytes
            return column.to_pylist()
        if not column.dictionary.equals(self._dictionary):
            self.size += column.dictionary.nbytes
            self._dictionary, self._words = column.dictionary, column.dictionary.to_pylist()
        return [None if i is None else self._words[i] for i in column.indices.to_pylist()]


def _floats(column: Array) -> np.ndarray:
    """Return numbers, or a row for each list of as many; NaN for null, or for lists that differ."""
    if pa.types.is_primitive(column.type):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    lengths = set(column.value_lengths().to_pylist())
    if len(lengths) > 1 or not all(lengths):
        return np.full((len(column), 1), np.nan)
    return _floats(column.flatten()).reshape(len(column), -1)


def _kind(of: DataType) -> str:
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
def _damaged() -> Iterator[None]:
    """Replace errors that pyarrow raises about a file by one in plain words."""
    try:
        yield
    except RefusedError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError):
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None
