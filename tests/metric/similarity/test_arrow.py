"""Arrow columns and tables, also in pandas, become arrays of numbers or lists."""

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
def test_from_arrow_returns_arrays_for_numbers_and_equal_length_lists(chunks, expected):
    result = from_arrow(column(*chunks))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, expected)


def test_from_arrow_keeps_dtype_of_fixed_size_lists():
    rows = column([[1.0, 2.0], [3.0, 4.0]], type=pa.list_(pa.float32(), 2))
    result = from_arrow(rows)
    assert (result.dtype, result.shape) == (np.float32, (2, 2))


@pytest.mark.parametrize(
    "values",
    [["a", "b"], [1, None], [[1.0], [2.0, 3.0]], [[1.0], None], [[1.0, None]], [["a"], ["b"]]],
    ids=str,
)
def test_from_arrow_returns_lists_for_other_columns(values):
    assert from_arrow(column(values)) == values
    assert numeric_values(column(values)) is None


def test_from_arrow_replaces_missing_table_values_with_nan():
    table = pa.table({"x": [1, None, 3], "y": [0.5, 1.5, None]})
    np.testing.assert_array_equal(from_arrow(table), [[1, 0.5], [np.nan, 1.5], [3, np.nan]])


def test_from_arrow_returns_dicts_for_other_tables():
    assert from_arrow(pa.table({"x": [1, 2], "y": ["a", "b"]})) == [
        {"x": 1, "y": "a"},
        {"x": 2, "y": "b"},
    ]
    nested = pa.table({"x": [[1.0], [2.0]]})
    assert from_arrow(nested) == [{"x": [1.0]}, {"x": [2.0]}]


def test_single_chunk_of_numbers_is_not_copied():
    array = pa.array(np.arange(6.0))
    rows = pa.chunked_array([pa.FixedSizeListArray.from_arrays(array, 3)])
    result = from_arrow(rows)
    assert np.shares_memory(result, array.to_numpy())
    chunks = row_chunks(rows)
    assert len(chunks) == 1
    assert np.shares_memory(chunks[0], array.to_numpy())


def test_row_chunks_returns_one_array_per_chunk_of_vectors():
    rows = column([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
    assert [chunk.tolist() for chunk in row_chunks(rows)] == [[[1, 2]], [[3, 4], [5, 6]]]
    for unsupported in (column([1, 2]), column(["a"]), column([[1.0], [None]]), [1]):
        assert row_chunks(unsupported) == []


def test_to_chunked_array_accepts_arrow_arrays():
    assert to_chunked_array(pa.array([1, 2])).to_pylist() == [1, 2]
    assert from_arrow(pa.array([[1.0, 2.0]])).shape == (1, 2)


def test_from_arrow_accepts_pandas_series():
    pd = pytest.importorskip("pandas")
    assert from_arrow(pd.Series([1, 2])).tolist() == [1, 2]
    series = pd.Series([[1.0, 2.0], [3.0, 4.0]], dtype=pd.ArrowDtype(pa.list_(pa.float64())))
    assert from_arrow(series).tolist() == [[1, 2], [3, 4]]
    assert row_chunks(pd.Series([1.0])) == []


def test_numeric_values_allow_missing_returns_nan_for_null():
    assert np.isnan(numeric_values(column([1, None]), allow_missing=True)).tolist() == [False, True]
