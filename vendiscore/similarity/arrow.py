"""Convert columns and tables of any library that supports Arrow to NumPy arrays or lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.optional import require
from ..support.types import SampleContainer

if TYPE_CHECKING:
    import pyarrow


def to_chunked_array(samples: object) -> pyarrow.ChunkedArray:
    """Convert an Arrow column or table of any library to pyarrow without copying.

    A table becomes a column of structs.
    """
    pa = require("pyarrow", "streaming", "a column of Arrow")
    if hasattr(samples, "__arrow_c_stream__"):
        return pa.chunked_array(samples)
    return pa.chunked_array([pa.array(samples)])


def from_arrow(samples: Any) -> SampleContainer:
    """Convert an Arrow column or table to an array if it contains only numbers, else to a list.

    A column of lists of numbers of equal length becomes an array as well. A column in a single
    chunk is not copied. A table of numbers becomes an array with one row per table row and NaN for
    missing numbers. Other tables become lists of dicts.
    """
    if _converts_to_numpy(samples):
        return samples.to_numpy()
    column = to_chunked_array(samples)
    is_table = hasattr(column.type, "fields")
    if not is_table:
        array = numeric_values(column)
        return column.to_pylist() if array is None else array
    columns = [numeric_values(child, allow_missing=True) for child in column.flatten()]
    vectors = [values for values in columns if values is not None and values.ndim == 1]
    return np.column_stack(vectors) if len(vectors) == len(columns) else column.to_pylist()


def row_chunks(samples: object) -> list[np.ndarray]:
    """Return each chunk of an Arrow column of vectors as an array that shares its memory.

    An array has one row per vector in the chunk. Returns [] if `samples` is not such a column.
    """
    if not hasattr(samples, "__arrow_c_stream__") or _converts_to_numpy(samples):
        return []
    arrays = [numeric_values(to_chunked_array(chunk)) for chunk in to_chunked_array(samples).chunks]
    rows = [array for array in arrays if array is not None and array.ndim == 2]
    return rows if len(rows) == len(arrays) else []


def _converts_to_numpy(samples: object) -> bool:
    """Return whether to convert samples by their method `to_numpy` instead of pyarrow.

    This is the case for pandas and polars, except for columns of lists.
    """
    has_method = hasattr(samples, "to_numpy") and not hasattr(samples, "to_pylist")
    return has_method and "list" not in str(getattr(samples, "dtype", "")).lower()


def numeric_values(
    column: pyarrow.ChunkedArray, *, allow_missing: bool = False
) -> np.ndarray | None:
    """Convert a column of numbers, or of lists of numbers of equal length, to an array.

    Returns None if the column has another type, or has missing values without `allow_missing`. With
    `allow_missing`, missing numbers become NaN.
    """
    types = require("pyarrow.types", "streaming", "a column of Arrow")
    number_type = column.type
    while types.is_fixed_size_list(number_type) or types.is_list(number_type):
        number_type = number_type.value_type
    is_number = (types.is_integer, types.is_floating, types.is_boolean)
    if not any(is_type(number_type) for is_type in is_number):
        return None
    values = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    # Flatten nested lists one level at a time; the length of lists is one dimension of the array.
    shape = [len(values)]
    while values.type != number_type:
        lengths = values.value_lengths()
        if values.null_count or len(lengths.unique()) > 1:
            return None
        shape.append(lengths[0].as_py() if shape[0] else 0)
        values = values.flatten()
    if values.null_count and not allow_missing:
        return None
    return values.to_numpy(zero_copy_only=False).reshape(shape)
