"""Columns of Arrow, of any library that hands them out, as arrays of numbers or as lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.optional import require
from ..support.types import SampleContainer

if TYPE_CHECKING:
    import pyarrow


def to_chunked_array(samples: object) -> pyarrow.ChunkedArray:
    """Return a column in pyarrow, a table as a column of structs, without a copy."""
    pa = require("pyarrow", "arrow", "a column of Arrow")
    if hasattr(samples, "__arrow_c_stream__"):
        return pa.chunked_array(samples)
    return pa.chunked_array([pa.array(samples)])


def from_arrow(samples: Any) -> SampleContainer:
    """Return numbers, and lists of them of one length, as an array; anything else as a list.

    One chunk is not copied. A table of numbers is an array (n, d), NaN where one is missing; of any
    other, rows are dicts. pandas and polars turn all but lists into arrays themselves.
    """
    if _converts_to_numpy(samples):
        return samples.to_numpy()
    column = to_chunked_array(samples)
    if not hasattr(column.type, "fields"):
        found = numeric_values(column)
        return column.to_pylist() if found is None else found
    columns = [numeric_values(part, allow_missing=True) for part in column.flatten()]
    numbers = [values for values in columns if values is not None and values.ndim == 1]
    return np.column_stack(numbers) if len(numbers) == len(columns) else column.to_pylist()


def row_chunks(samples: object) -> list[np.ndarray]:
    """Return the chunks of a column of vectors, which share its memory; [] of other samples."""
    if not hasattr(samples, "__arrow_c_stream__") or _converts_to_numpy(samples):
        return []
    arrays = [numeric_values(to_chunked_array(chunk)) for chunk in to_chunked_array(samples).chunks]
    rows = [array for array in arrays if array is not None and array.ndim == 2]
    return rows if len(rows) == len(arrays) else []


def _converts_to_numpy(samples: object) -> bool:
    """Return whether pandas or polars has anything but lists, which NumPy has as they are."""
    own = hasattr(samples, "to_numpy") and not hasattr(samples, "to_pylist")
    return own and "list" not in str(getattr(samples, "dtype", "")).lower()


def numeric_values(
    column: pyarrow.ChunkedArray, *, allow_missing: bool = False
) -> np.ndarray | None:
    """Return a column of numbers, or of lists of them of one length, as an array; else None."""
    types = require("pyarrow.types", "arrow", "a column of Arrow")
    kind = column.type
    while types.is_fixed_size_list(kind) or types.is_list(kind):
        kind = kind.value_type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        return None
    values = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    shape = [len(values)]
    while values.type != kind:
        lengths = values.value_lengths()
        if values.null_count or len(lengths.unique()) > 1:
            return None
        shape.append(lengths[0].as_py() if shape[0] else 0)
        values = values.flatten()
    if values.null_count and not allow_missing:
        return None
    return values.to_numpy(zero_copy_only=False).reshape(shape)
