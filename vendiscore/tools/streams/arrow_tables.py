"""Convert batches of rows from any library to Arrow tables, and concatenate them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...similarity.sample_arrays import check_in_memory
from ...support.errors import short_repr
from ...support.optional import require
from ...support.suggestions import suggest_name

if TYPE_CHECKING:
    import pyarrow

# What requires pyarrow, for the error if it is missing.
PURPOSE = "a stream of record batches"


def select_columns(batch: object, names: Sequence[str]) -> pyarrow.Table:
    """Return columns of a batch as a pyarrow table; raise a ValueError if a column is missing."""
    check_in_memory(batch, "batch")
    pa = require("pyarrow", "streaming", PURPOSE)
    try:
        table = pa.table(batch)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise TypeError(
            f"cannot convert a batch to an Arrow table: {error}; pass columns of equal length, "
            f"each with values of one type"
        ) from None
    check_column_names(names, table.column_names)
    return table.select(list(dict.fromkeys(names)))


def concatenate_tables(tables: Sequence[pyarrow.Table], names: Sequence[str]) -> pyarrow.Table:
    """Concatenate columns of tables, converted to a type that represents the values of all tables.

    Raises
    ------
    TypeError
        If the types of a column have no common type, such as Booleans and numbers, or if the
        conversion would change values, such as integers above 2**53 converted to floats.
    """
    pa = require("pyarrow", "streaming", PURPOSE)
    columns = {}
    for name in names:
        chunks = [table[name] for table in tables]
        if len({chunk.type for chunk in chunks}) > 1:
            chunks = list(map(_without_encoding, chunks))
        single_columns = [pa.table({name: chunk}) for chunk in chunks]
        try:
            columns[name] = pa.concat_tables(single_columns, promote_options="permissive")[name]
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            types = " and ".join(dict.fromkeys(str(chunk.type) for chunk in chunks))
            raise TypeError(
                f"column {short_repr(name)} has the types {types} in different batches, which "
                f"cannot be combined ({error}); cast the column to one type, for example with "
                f"batch.cast(schema)"
            ) from None
    return pa.table(columns)


def _without_encoding(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return a column with dictionary or string-view encoding as plain values."""
    pa = require("pyarrow", "streaming", PURPOSE)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def check_column_names(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise a ValueError unless all names are columns."""
    for name in names:
        if name not in columns:
            raise ValueError(
                f"there is no column {short_repr(name)}. {suggest_name(name, columns)}"
            )
