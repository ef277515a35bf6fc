"""Columnar files (parquet): only needed columns are read, and no more than fits in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from ...support.errors import short_repr
from ...support.exact_integers import MAX_EXACT_INTEGER
from ...support.optional import require
from .limits import Limits, RefusedError
from .names import join_names
from .number_tables import check_width
from .tables import Table

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch
    from pyarrow import Table as ArrowTable

pa: ModuleType = require("pyarrow", "app", "reading parquet")
pq: ModuleType = require("pyarrow.parquet", "app", "reading parquet")
pc: ModuleType = require("pyarrow.compute", "app", "reading parquet")
_BATCH_ROWS = 1_000
_PREVIEW_ROWS = 200  # from which the content of columns is detected
# Logical types of bytes that pyarrow can keep as dictionaries.
_STRING_TYPES = ("STRING", "NONE", "JSON", "BSON", "ENUM")
# Shares of `Limits.unpacked` that pages may take: texts are held as a page, by Arrow and by Python
# at once, numbers as a page and by Arrow.
_MAX_TEXT_PAGES = 1 / 6
_MAX_NUMBER_PAGES = 2 / 3
# Bytes of a value in a list: in Arrow, with the levels of the format, and in Python.
_ARROW_BYTES = 16
_PYTHON_BYTES = 96
_NESTED_PYTHON_BYTES = 768  # a higher value, because nested values take longer to process


class Columns:
    """The columns of a parquet file, read when they are needed.

    Parameters
    ----------
    file : binary file
        The open file.
    limits : Limits
        Maximum sizes.

    Raises
    ------
    RefusedError
        If the file is damaged, has duplicate column names, or exceeds `limits`.

    See Also
    --------
    vendiscore.report.samples_of : Read the samples of a file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> pq.write_table(pa.table({"answer": ["a cat", "a dog"], "score": [1.0, 0.5]}), file)
    >>> Columns(file, Limits()).names
    ['answer', 'score']
    """

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        with _parquet_errors():
            schema = pq.read_schema(file)
            self._types = {field.name: field.type for field in schema}
            self._kinds = {
                name: _detect_type(arrow_type) for name, arrow_type in self._types.items()
            }
            file.seek(0)
            self._source = file
            # As dictionaries, to store a string once in memory if the file stores it once.
            leaves = pq.ParquetFile(file).schema
            leaves = [leaves.column(i) for i in range(len(leaves))]
            leaves = [leaf for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
            strings = [leaf.path for leaf in leaves if leaf.logical_type.type in _STRING_TYPES]
            file.seek(0)
            self._file = pq.ParquetFile(file, read_dictionary=strings)
        if duplicates := [name for name, count in Counter(schema.names).items() if count > 1]:
            raise RefusedError(
                f"More than one column is called {short_repr(duplicates[0])}; rename them."
            )
        check_width(len(self._kinds), limits)
        self.rows: int = self._file.metadata.num_rows
        self.limits = limits
        self.more: bool = self.rows > limits.samples
        # Without the index that pandas stores as a column.
        self.names: list[str] = [
            name for name in self._kinds if not name.startswith("__index_level_")
        ]

    def _select_row_groups(self, max_rows: int) -> tuple[list[int], int]:
        """Return the first row groups that have `max_rows` rows, and how many rows they have.

        Metadata of columns in row groups is not read: if damaged, pyarrow ends the process.
        """
        row_groups: list[int] = []
        rows = 0
        while len(row_groups) < self._file.metadata.num_row_groups and rows < max_rows:
            rows += self._file.metadata.row_group(len(row_groups)).num_rows
            row_groups.append(len(row_groups))
        return row_groups, rows

    def _iter_portions(self, columns: Sequence[str], max_rows: int) -> Iterator[list[str]]:
        """Yield lists of columns that can be unpacked together.

        Sizes and numbers of values that the file declares are checked before anything is unpacked.
        """
        row_groups, rows = self._select_row_groups(max_rows)
        if self.limits.declared is not None:
            groups = self.limits.declared(self._source)
            values = Counter[str]()
            for i in row_groups:
                values += groups[i]
            vectors = [name for name in columns if self._kinds[name] == "vector"]
            if vectors:
                count = sum(values[name] for name in vectors)
                self._check_numbers(count)
                check_width(count // max(1, rows * len(vectors)), self.limits)
            max_values = self.limits.unpacked // _ARROW_BYTES
            for name in columns:
                if self._kinds[name] == "other" and values[name] > max_values:
                    raise RefusedError(
                        f"{values[name]:,} values in the column {short_repr(name)} are too many: "
                        f"send a random part of the rows."
                    )
        fractions = self._compute_page_fractions(columns, row_groups)
        portion: list[str] = []
        fraction = 0.0
        for name in columns:
            fraction += fractions[name]
            if portion and fraction > 1:
                yield portion
                portion, fraction = [], fractions[name]
            portion.append(name)
        yield portion

    def _compute_page_fractions(
        self, columns: Sequence[str], row_groups: Sequence[int]
    ) -> dict[str, float]:
        """Return the share of all memory for pages that each column takes, or refuse a column."""
        if self.limits.largest_pages is None:
            return dict.fromkeys(columns, 0.0)
        sizes = self.limits.largest_pages(self._source, columns, row_groups)
        fractions = {}
        for name in columns:
            is_text = self._kinds[name] in ("string", "other")
            max_size = self.limits.unpacked * (_MAX_TEXT_PAGES if is_text else _MAX_NUMBER_PAGES)
            if sizes[name] > max_size:
                raise RefusedError(
                    f"The column {short_repr(name)} has a page of {sizes[name] / 1e6:,.0f} MB "
                    f"unpacked, more than {max_size / 1e6:,.0f} MB; save it with smaller pages, as "
                    f"by data_page_size of pyarrow."
                )
            fractions[name] = sizes[name] / max_size
        return fractions

    def _iter_batches(self, columns: Sequence[str], max_rows: int) -> Iterator[RecordBatch]:
        """Yield batches of some columns, from no more row groups than needed."""
        row_groups, _ = self._select_row_groups(max_rows)
        yield from self._file.iter_batches(
            min(max_rows, _BATCH_ROWS),
            row_groups=row_groups,
            columns=list(columns),
            use_threads=False,
        )

    def _check_numbers(self, count: int) -> None:
        if count > (max_numbers := 2 * self.limits.unpacked // 8):
            raise RefusedError(
                f"More than {max_numbers:,} numbers are too many: send a random part of the rows."
            )

    def table(self, columns: Sequence[str], most: int | None = None) -> Table:
        """Read some columns.

        Parameters
        ----------
        columns : sequence of str
            Column names.
        most : int, optional
            Maximum number of rows; by default that of the limits.

        Returns
        -------
        Table
            The columns.
        """
        most = min(self.limits.samples, most or self.limits.samples)
        if (count := len(columns) * min(self.rows, most)) > self.limits.values:
            raise RefusedError(
                f"{count:,} cells are too many: the limit is {self.limits.values:,}; name fewer "
                f"columns, or send a random part of the rows."
            )
        cells: dict[str, list[object]] = {name: [] for name in columns}
        total = _ByteCounter(self.limits.unpacked)
        with _parquet_errors():
            for portion in self._iter_portions(columns, most):
                n_rows = 0
                converters = {
                    name: _CellConverter(name, total, self._kinds[name] == "vector")
                    for name in portion
                }
                for batch in self._iter_batches(portion, most):
                    for name in portion:
                        cells[name] += converters[name].convert(batch.column(name))
                    n_rows += batch.num_rows
                    if n_rows >= most:
                        break
        rows = [list(row) for row in zip(*(cells[name][:most] for name in columns), strict=True)]
        row_numbers = range(1, len(rows) + 1)
        names = list(columns)
        return Table(names, rows, row_numbers, header=names, typed=True, more=self.more)

    def head(self) -> Table:
        """Read the first rows of the file, from which the roles of its columns are detected.

        Returns
        -------
        Table
            The first rows of all columns.
        """
        return self.table(self.names, _PREVIEW_ROWS)

    def json_lines(self, rows: Sequence[int]) -> str:
        """Return some rows with all their columns, as one JSON object per line."""
        table = self._read_rows(rows)
        for name, arrow_type in self._types.items():
            if (
                pa.types.is_binary(arrow_type)
                or pa.types.is_large_binary(arrow_type)
                or pa.types.is_struct(arrow_type)
            ):
                raise RefusedError(
                    f"column {short_repr(name)} has type {arrow_type}, which is not printed; write "
                    f"the rows into a file with --output FILE.parquet"
                )
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist())
        return "".join(f"{line}\n" for line in lines)

    def save_rows(self, rows: Sequence[int], path: str) -> None:
        """Write some rows with all their columns into a parquet file."""
        pq.write_table(self._read_rows(rows), path)

    def _read_rows(self, rows: Sequence[int]) -> ArrowTable:
        with _parquet_errors():
            self._source.seek(0)
            return pq.read_table(self._source).take(list(rows))

    def matrix(self, names: Sequence[str]) -> np.ndarray | None:
        """Read numeric columns, or one column of vectors of equal length.

        Parameters
        ----------
        names : sequence of str
            Column names.

        Returns
        -------
        array of shape (n, d) or None
            The numbers; None if columns have other types or values are missing or not exact.
        """
        kinds = {self._kinds.get(name) for name in names}
        if kinds != {"number"} and (kinds != {"vector"} or len(names) > 1):
            return None
        inner = {getattr(self._types[name], "value_type", self._types[name]) for name in names}
        real = np.float32 if inner <= {pa.float16(), pa.float32()} else np.float64
        parts: list[np.ndarray] = []
        numbers = 0
        with _parquet_errors():
            if len(list(self._iter_portions(names, self.limits.samples))) > 1:
                raise RefusedError(
                    f"The columns {join_names(names)} have pages too large to be unpacked "
                    f"together; save them with smaller pages, as by data_page_size of pyarrow."
                )
            for batch in self._iter_batches(names, self.limits.samples):
                columns = [batch.column(name) for name in names]
                rows = np.column_stack([_to_floats(column) for column in columns])
                numbers += rows.size
                self._check_numbers(numbers)
                check_width(rows.shape[1], self.limits)
                if rows.shape[1] != (parts or [rows])[0].shape[1]:
                    return None
                if not (np.abs(rows) < MAX_EXACT_INTEGER).all():
                    return None
                parts.append(rows.astype(real, copy=False))
                if sum(map(len, parts)) >= self.limits.samples:
                    break
        return np.concatenate(parts)[: self.limits.samples] if parts else None


class _ByteCounter:
    """Bytes that columns unpacked to; more than `max_size` are refused."""

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self._size = 0

    def add(self, size: int, name: str) -> None:
        self._size += size
        if self._size > self.max_size:
            raise RefusedError(
                f"The columns up to {short_repr(name)} unpack to more than "
                f"{self.max_size // 10**6} MB; send a random part of the rows."
            )


class _CellConverter:
    """Cells of a column as Python values; strings of one dictionary are converted once."""

    def __init__(self, name: str, total: _ByteCounter, is_vector: bool) -> None:
        self._name = name
        self._is_vector = is_vector
        self._total = total
        self._dictionary: Array = pa.array([])
        self._words: list[object] = []

    def convert(self, column: Array) -> list[object]:
        if not pa.types.is_dictionary(column.type):
            values, size = _count_unpacked(column)
            if values > self._total.max_size // (
                _PYTHON_BYTES if self._is_vector else _NESTED_PYTHON_BYTES
            ):
                raise RefusedError(
                    f"{values:,} values in {len(column):,} rows of the column "
                    f"{short_repr(self._name)} are too many: leave the column out, or send a "
                    f"random part of the rows."
                )
            self._total.add(size, self._name)
            return column.to_pylist()
        n_converted = len(self._dictionary)
        dictionary = column.dictionary
        if not dictionary.slice(0, n_converted).equals(self._dictionary):
            n_converted, self._words = 0, []
        new = dictionary.slice(n_converted)  # dictionaries of later batches go on from the former
        self._total.add(new.nbytes, self._name)
        self._words += new.to_pylist()
        self._dictionary = dictionary
        return [None if i is None else self._words[i] for i in column.indices.to_pylist()]


def _count_unpacked(column: Array) -> tuple[int, int]:
    """Return the number of values in the cells of a column, and their bytes as values of Python."""
    types = pa.types
    if types.is_dictionary(column.type):
        lengths = pc.binary_length(column.dictionary)
        return len(column), pc.sum(lengths.take(column.indices.drop_null())).as_py() or 0
    if types.is_struct(column.type):
        inner = column.flatten()
    elif types.is_map(column.type):
        inner = [column.keys, column.items]
    elif types.is_nested(column.type) and hasattr(column, "flatten"):
        inner = [column.flatten()]
    else:
        return len(column), column.nbytes
    counts = [_count_unpacked(child) for child in inner]
    return sum(values for values, _ in counts), sum(size for _, size in counts)


def _to_floats(column: Array) -> np.ndarray:
    """Return numbers, or a row for each list of as many; NaN for null, or for lists that differ."""
    if pa.types.is_primitive(column.type):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    lengths = set(column.value_lengths().to_pylist())
    if len(lengths) > 1 or not all(lengths):
        return np.full((len(column), 1), np.nan)
    return _to_floats(column.flatten()).reshape(len(column), -1)


def _detect_type(arrow_type: DataType) -> str:
    types = pa.types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "string"
    if (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_boolean(arrow_type)
    ):
        return "number"
    if (
        types.is_list(arrow_type)
        or types.is_large_list(arrow_type)
        or types.is_fixed_size_list(arrow_type)
    ):
        return "vector" if _detect_type(arrow_type.value_type) == "number" else "other"
    return "other"


@contextmanager
def _parquet_errors() -> Iterator[None]:
    """Replace errors of pyarrow about a file by a RefusedError."""
    try:
        yield
    except RefusedError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError):
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None
