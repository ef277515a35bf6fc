"""Columns of batches of any type are selected and concatenated."""

import numpy as np
import pytest

from vendiscore.tools.streams.arrow_tables import concatenate_tables, select_columns

pa = pytest.importorskip("pyarrow")


def test_columns_are_selected_in_the_requested_order_without_repeats():
    batch = {"a": [1, 2], "b": ["x", "y"], "c": [[1.0], [2.0]]}
    frame = pytest.importorskip("pandas").DataFrame(batch)
    for data in (batch, pa.table(batch), pa.record_batch(batch), frame):
        table = select_columns(data, ["c", "a", "c"])
        assert table.column_names == ["c", "a"]
        assert table["c"].to_pylist() == [[1.0], [2.0]]


def test_missing_column_and_unequal_lengths_raise():
    with pytest.raises(ValueError, match=r"no column 'anser'\. Did you mean 'answer'"):
        select_columns({"answer": [1], "b": [2]}, ["anser"])
    with pytest.raises(TypeError, match=r"cannot convert a batch .* columns of equal length"):
        select_columns({"a": [1], "b": [2, 3]}, ["a"])


def test_tables_with_different_types_are_concatenated():
    first = pa.table(
        {
            "a": pa.array(["x", "y"]).dictionary_encode(),
            "b": pa.array([1], "int8").take(pa.array([0, 0])),
        }
    )
    second = pa.table({"b": pa.array([300], "int32"), "a": pa.array(["z"], pa.large_string())})
    empty = pa.table({"a": pa.nulls(0), "b": pa.nulls(0)})
    table = concatenate_tables([first, second, empty], ["b", "a"])
    assert table.to_pydict() == {"b": [1, 1, 300], "a": ["x", "y", "z"]}


def test_types_without_a_common_type_raise():
    tables = [pa.table({"a": np.arange(2)}), pa.table({"a": ["1"]})]
    with pytest.raises(TypeError, match="column 'a' has the types int64 and string in different"):
        concatenate_tables(tables, ["a"])
