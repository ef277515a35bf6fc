"""Columns of Arrow become arrays of numbers or lists, whatever library has them."""

import numpy as np
import pytest

from vendiscore.similarity.arrow import from_arrow, numeric_values, row_chunks, to_chunked_array

pa = pytest.importorskip("pyarrow")


def column(*chunks, type=None):
    return pa.chunked_array([pa.array(chunk, type) for chunk in chunks])


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([[1, 2], [3]], [1, 2, 3]),
        ([[0.5, 1.5]], [0.5, 1.5]),
        ([[True, False]], [True, False]),
        ([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], [[1, 2], [3, 4], [5, 6]]),
        ([[[[1], [2]], [[3], [4]]]], [[[1], [2]], [[3], [4]]]),
    ],
)
def test_numbers_and_lists_of_one_length_are_arrays(chunks, expected):
    result = from_arrow(column(*chunks))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, expected)


def test_lists_of_fixed_size_are_arrays():
    rows = column([[1.0, 2.0], [3.0, 4.0]], type=pa.list_(pa.float32(), 2))
    result = from_arrow(rows)
    assert (result.dtype, result.shape) == (np.float32, (2, 2))


@pytest.mark.parametrize(
    "values",
    [["a", "b"], [1, None], [[1.0], [2.0, 3.0]], [[1.0], None], [[1.0, None]], [["a"], ["b"]]],
    ids=str,
)
def test_other_columns_are_lists(values):
    assert from_arrow(column(values)) == values
    assert numeric_values(column(values)) is None


def test_a_table_of_numbers_is_an_array_with_nan_where_one_is_missing():
    table = pa.table({"x": [1, None, 3], "y": [0.5, 1.5, None]})
    np.testing.assert_array_equal(from_arrow(table), [[1, 0.5], [np.nan, 1.5], [3, np.nan]])


def test_rows_of_other_tables_are_dicts():
    assert from_arrow(pa.table({"x": [1, 2], "y": ["a", "b"]})) == [
        {"x": 1, "y": "a"},
        {"x": 2, "y": "b"},
    ]
    nested = pa.table({"x": [[1.0], [2.0]]})
    assert from_arrow(nested) == [{"x": [1.0]}, {"x": [2.0]}]


def test_one_chunk_of_numbers_is_not_copied():
    array = pa.array(np.arange(6.0))
    rows = pa.chunked_array([pa.FixedSizeListArray.from_arrays(array, 3)])
    result = from_arrow(rows)
    assert np.shares_memory(result, array.to_numpy())
    parts = row_chunks(rows)
    assert len(parts) == 1
    assert np.shares_memory(parts[0], array.to_numpy())


def test_chunks_of_vectors_are_given_one_by_one():
    rows = column([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
    assert [part.tolist() for part in row_chunks(rows)] == [[[1, 2]], [[3, 4], [5, 6]]]
    for other in (column([1, 2]), column(["a"]), column([[1.0], [None]]), [1]):
        assert row_chunks(other) == []


def test_a_column_of_one_chunk_can_be_an_array_of_arrow():
    assert to_chunked_array(pa.array([1, 2])).to_pylist() == [1, 2]
    assert from_arrow(pa.array([[1.0, 2.0]])).shape == (1, 2)


def test_data_frames_hand_out_their_own_arrays():
    pd = pytest.importorskip("pandas")
    assert from_arrow(pd.Series([1, 2])).tolist() == [1, 2]
    lists = pd.Series([[1.0, 2.0], [3.0, 4.0]], dtype=pd.ArrowDtype(pa.list_(pa.float64())))
    assert from_arrow(lists).tolist() == [[1, 2], [3, 4]]
    assert row_chunks(pd.Series([1.0])) == []


def test_integers_with_missing_ones_are_kept_if_asked_for():
    assert np.isnan(numeric_values(column([1, None]), allow_missing=True)).tolist() == [False, True]
