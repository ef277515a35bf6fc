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
_BATCH = 1_000
_LOOK = 200  # rows that show what the columns hold
# Logical types of bytes that pyarrow can keep as dictionaries.
_BYTES = ("STRING", "NONE", "JSON", "BSON", "ENUM")
# Shares of `Limits.unpacked` that pages may take: texts are held as a page, by Arrow and by Python
# at once, numbers as a page and by Arrow.
_TEXT_PAGES = 1 / 6
_NUMBER_PAGES = 2 / 3
# Bytes of a value in a list: in Arrow, with the levels of the format, and in Python.
_IN_ARROW = 16
_IN_PYTHON = 96
_NESTED_IN_PYTHON = 768  # which takes longer, as every value is looked into


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
        with _damaged():
            schema = pq.read_schema(file)
            self._types = {field.name: field.type for field in schema}
            self._kinds = {name: _kind(of) for name, of in self._types.items()}
            file.seek(0)
            self._source = file
            # As dictionaries, so that a string that the file stores once is held once.
            leaves = pq.ParquetFile(file).schema
            leaves = [leaves.column(i) for i in range(len(leaves))]
            leaves = [leaf for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
            strings = [leaf.path for leaf in leaves if leaf.logical_type.type in _BYTES]
            file.seek(0)
            self._file = pq.ParquetFile(file, read_dictionary=strings)
        if twice := [name for name, times in Counter(schema.names).items() if times > 1]:
            raise RefusedError(
                f"More than one column is called {short_repr(twice[0])}; rename them."
            )
        check_width(len(self._kinds), limits)
        self.rows: int = self._file.metadata.num_rows
        self.limits = limits
        self.more: bool = self.rows > limits.samples
        # Without the index that pandas stores as a column.
        self.names: list[str] = [
            name for name in self._kinds if not name.startswith("__index_level_")
        ]

    def _row_groups(self, most: int) -> tuple[list[int], int]:
        """Return the first row groups that have `most` rows, and how many rows they have.

        Metadata of columns in row groups is not read: if damaged, pyarrow ends the process.
        """
        needed: list[int] = []
        rows = 0
        while len(needed) < self._file.metadata.num_row_groups and rows < most:
            rows += self._file.metadata.row_group(len(needed)).num_rows
            needed.append(len(needed))
        return needed, rows

    def _portions(self, columns: Sequence[str], most: int) -> Iterator[list[str]]:
        """Yield as many columns at a time as can be unpacked together.

        Sizes and numbers of values that the file declares are checked before anything is unpacked.
        """
        needed, rows = self._row_groups(most)
        if self.limits.declared is not None:
            groups = self.limits.declared(self._source)
            values = Counter[str]()
            for i in needed:
                values += groups[i]
            vectors = [name for name in columns if self._kinds[name] == "vector"]
            if vectors:
                count = sum(values[name] for name in vectors)
                self._check_numbers(count)
                check_width(count // max(1, rows * len(vectors)), self.limits)
            most_values = self.limits.unpacked // _IN_ARROW
            for name in columns:
                if self._kinds[name] == "other" and values[name] > most_values:
                    raise RefusedError(
                        f"{values[name]:,} values in the column {short_repr(name)} are too many: "
                        f"send a random part of the rows."
                    )
        shares = self._shares_of_pages(columns, needed)
        some: list[str] = []
        share = 0.0
        for name in columns:
            share += shares[name]
            if some and share > 1:
                yield some
                some, share = [], shares[name]
            some.append(name)
        yield some

    def _shares_of_pages(self, columns: Sequence[str], needed: Sequence[int]) -> dict[str, float]:
        """Return the share of all memory for pages that each column takes, or refuse a column."""
        if self.limits.largest_pages is None:
            return dict.fromkeys(columns, 0.0)
        sizes = self.limits.largest_pages(self._source, columns, needed)
        shares = {}
        for name in columns:
            is_text = self._kinds[name] in ("string", "other")
            most = self.limits.unpacked * (_TEXT_PAGES if is_text else _NUMBER_PAGES)
            if sizes[name] > most:
                raise RefusedError(
                    f"The column {short_repr(name)} has a page of {sizes[name] / 1e6:,.0f} MB "
                    f"unpacked, more than {most / 1e6:,.0f} MB; save it with smaller pages, as by "
                    f"data_page_size of pyarrow."
                )
            shares[name] = sizes[name] / most
        return shares

    def _batches(self, columns: Sequence[str], most: int) -> Iterator[RecordBatch]:
        """Yield batches of some columns, from no more row groups than needed."""
        needed, _ = self._row_groups(most)
        yield from self._file.iter_batches(
            min(most, _BATCH), row_groups=needed, columns=list(columns), use_threads=False
        )

    def _check_numbers(self, count: int) -> None:
        if count > (most := 2 * self.limits.unpacked // 8):
            raise RefusedError(
                f"More than {most:,} numbers are too many: send a random part of the rows."
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
        total = _Total(self.limits.unpacked)
        with _damaged():
            for some in self._portions(columns, most):
                rows = 0
                words = {name: _Words(name, total, self._kinds[name] == "vector") for name in some}
                for batch in self._batches(some, most):
                    for name in some:
                        cells[name] += words[name].of(batch.column(name))
                    rows += batch.num_rows
                    if rows >= most:
                        break
        found = [list(row) for row in zip(*(cells[name][:most] for name in columns), strict=True)]
        places = range(1, len(found) + 1)
        names = list(columns)
        return Table(names, found, places, header=names, typed=True, more=self.more)

    def head(self) -> Table:
        """Read the first rows.

        Returns
        -------
        Table
            The first rows of all columns.
        """
        return self.table(self.names, _LOOK)

    def json_lines(self, rows: Sequence[int]) -> str:
        """Return some rows with all their columns, as one JSON object per line."""
        table = self._rows(rows)
        for name, of in self._types.items():
            if pa.types.is_binary(of) or pa.types.is_large_binary(of) or pa.types.is_struct(of):
                raise RefusedError(
                    f"column {short_repr(name)} has type {of}, which is not printed; write the "
                    f"rows into a file with --output FILE.parquet"
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
        with _damaged():
            if len(list(self._portions(names, self.limits.samples))) > 1:
                raise RefusedError(
                    f"The columns {join_names(names)} have pages too large to be unpacked "
                    f"together; save them with smaller pages, as by data_page_size of pyarrow."
                )
            for batch in self._batches(names, self.limits.samples):
                columns = [batch.column(name) for name in names]
                rows = np.column_stack([_floats(column) for column in columns])
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


class _Total:
    """Bytes that columns unpacked to; more than `most` are refused."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._size = 0

    def add(self, size: int, name: str) -> None:
        self._size += size
        if self._size > self.most:
            raise RefusedError(
                f"The columns up to {short_repr(name)} unpack to more than {self.most // 10**6} "
                f"MB; send a random part of the rows."
            )


class _Words:
    """Cells of a column as Python values; strings of one dictionary are converted once."""

    def __init__(self, name: str, total: _Total, is_vector: bool) -> None:
        self._name = name
        self._is_vector = is_vector
        self._total = total
        self._dictionary: Array = pa.array([])
        self._words: list[object] = []

    def of(self, column: Array) -> list[object]:
        if not pa.types.is_dictionary(column.type):
            values, size = _unpacked(column)
            if values > self._total.most // (_IN_PYTHON if self._is_vector else _NESTED_IN_PYTHON):
                raise RefusedError(
                    f"{values:,} values in {len(column):,} rows of the column "
                    f"{short_repr(self._name)} are too many: leave the column out, or send a "
                    f"random part of the rows."
                )
            self._total.add(size, self._name)
            return column.to_pylist()
        known = len(self._dictionary)
        dictionary = column.dictionary
        if not dictionary.slice(0, known).equals(self._dictionary):
            known, self._words = 0, []
        new = dictionary.slice(known)  # dictionaries of later batches go on from the former
        self._total.add(new.nbytes, self._name)
        self._words += new.to_pylist()
        self._dictionary = dictionary
        return [None if i is None else self._words[i] for i in column.indices.to_pylist()]


def _unpacked(column: Array) -> tuple[int, int]:
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
    counts = [_unpacked(each) for each in inner]
    return sum(values for values, _ in counts), sum(size for _, size in counts)


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
