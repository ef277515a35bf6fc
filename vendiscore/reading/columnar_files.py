"""Columnar files (parquet): reads only the columns needed, and no more than fits in memory."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

import numpy as np

from ..optional import require
from .limits import WHOLE, Limits, RefusedError, inexact
from .number_tables import ask_vectors, check_width
from .samples import Samples
from .tables import Table, checked_column, join_names

pa: ModuleType = require("pyarrow", "app", "reading parquet")
pq: ModuleType = require("pyarrow.parquet", "app", "reading parquet")
_BATCH = 1_000
_LOOK = 200  # rows that show what the columns hold
_MOST = 100  # columns examined


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
    >>> Columns(file, Limits()).strings
    ['answer']
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
            raise RefusedError(f"More than one column is called {twice[0]!r:.60}; rename them.")
        self.rows: int = self._file.metadata.num_rows
        self.limits = limits
        self.more: bool = self.rows > limits.samples
        self.all: list[str] = list(self._kinds)
        self.names: list[str] = [name for name in self.all if not name.startswith("__index_level_")]
        self.strings: list[str]
        self.numbers: list[str]
        self.vectors: list[str]
        self.strings, self.numbers, self.vectors = (
            [name for name in self.names if self._kinds[name] == kind]
            for kind in ("string", "number", "vector")
        )

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
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
            _BATCH, row_groups=needed, columns=list(columns), use_threads=False
        )

    def _check_numbers(self, count: int) -> None:
        if count > (most := 2 * self.limits.unpacked // 8):
            raise RefusedError(
                f"More than {most:,} numbers are too many: send a random part of the rows."
            )

    def table(self, columns: Sequence[str], most: int | None = None) -> Table:
        """Read some columns, of no more rows than `most` and the limits allow."""
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
        names = list(columns)
        return Table(names, found, places, header=names, typed=True, more=self.more)

    def head(self) -> Table:
        """Read the first rows of the columns that can be shown."""
        return self.table([*self.strings, *self.numbers][:_MOST], _LOOK)

    def numeric_samples(self, column: str | None, others: Collection[str]) -> Samples:
        """Read numbers: a named column, the only column of rows, or all columns but `others`."""
        if column in self.strings:
            raise RefusedError(f"Column {column!r:.60} holds texts, not numbers.")
        if not column and len(self.vectors) > 1:
            raise ask_vectors(self.vectors)
        chosen = self.vectors or [name for name in self.numbers if name not in others]
        chosen = [checked_column(self.names, column)] if column else chosen
        if not chosen:
            raise self.refused()
        X, problems = self._matrix(chosen)
        known = {*chosen, *others}
        lost = [] if column or self.vectors else [c for c in self.all if c not in known]
        return Samples(
            X,
            range(1, len(X) + 1),
            "row",
            {i: what for i, (_, what) in problems.items()},
            kind="vectors",
            wrong={i: at for i, (at, _) in problems.items()},
            features=chosen,
            column=chosen[0] if len(chosen) == 1 and len(self.names) > 1 else None,
            lost=dict.fromkeys(lost, "no numbers"),
            table=Table(self.names, [], [], header=self.names, typed=True, more=self.more),
        )

    def _matrix(self, columns: Sequence[str]) -> tuple[np.ndarray, dict[int, tuple[str, str]]]:
        """Read columns of numbers, or one of rows, and each bad row's column and problem."""
        parts: list[np.ndarray] = []
        problems: dict[int, tuple[str, str]] = {}
        start = width = 0
        vectors = self._kinds[columns[0]] == "vector"
        types = (self._types[name] for name in columns)
        inner = {getattr(of, "value_type", of) for of in types}  # types of the numbers within rows
        real = np.float32 if inner <= {pa.float16(), pa.float32()} else np.float64
        check_width(len(columns), self.limits)
        with _damaged():
            for batch in self._batches(columns):
                if vectors:
                    rows = batch.column(columns[0])
                    lengths = rows.value_lengths().fill_null(-1).to_numpy()
                    width = width or int(next(filter(lambda n: n > 0, lengths), 1))
                    found = np.zeros((len(rows), check_width(width, self.limits)))
                    same = lengths == width
                    numbers = _floats(rows.filter(pa.array(same)).flatten())
                    found[same] = numbers.reshape(-1, width)
                    for i in np.flatnonzero(~same).tolist():
                        has = f"has {lengths[i]:,} numbers, the first {width:,}"
                        what = "is null, not a row of numbers" if lengths[i] < 0 else has
                        problems[start + i] = columns[0], what
                else:
                    found = np.column_stack([_floats(batch.column(name)) for name in columns])
                for i, k in np.argwhere(np.abs(found) >= WHOLE).tolist():
                    cell = rows[i][k] if vectors else batch.column(columns[k])[i]
                    if what := inexact(cell.as_py()):
                        problems.setdefault(start + i, (columns[0 if vectors else k], what))
                parts.append(found.astype(real, copy=False))
                start += len(found)
                self._check_numbers(start * found.shape[1])
                if start >= self.limits.samples:
                    break
        X = np.concatenate(parts)[: self.limits.samples] if parts else np.zeros((0, 1))
        return X, {i: problem for i, problem in sorted(problems.items()) if i < len(X)}

    def refused(self) -> RefusedError:
        """Return the error for a file none of whose columns can be read."""
        what = ", ".join(f"{name} ({self._types[name]!s:.40})" for name in self.names[:8])
        return RefusedError(f"Expected a column of texts or of numbers, got {what:.200}.")


class _Words:
    """Cells as Python values; strings of one dictionary are converted once."""

    def __init__(self) -> None:
        self._dictionary: Any = pa.array([])
        self._words: list[Any] = []
        self.size = 0

    def of(self, column: Any) -> list[Any]:
        if not pa.types.is_dictionary(column.type):
            return list(column.to_pylist())
        if not column.dictionary.equals(self._dictionary):
            self.size += column.dictionary.nbytes
            self._dictionary, self._words = column.dictionary, column.dictionary.to_pylist()
        return [None if i is None else self._words[i] for i in column.indices.to_pylist()]


def _floats(column: Any) -> np.ndarray:
    found: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


def _kind(of: Any) -> str:
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
