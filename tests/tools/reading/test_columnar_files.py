"""Parquet files: rows of numbers are stacked, nested texts are read, limits are checked."""

import io
from dataclasses import replace

import numpy as np
import pytest

from vendiscore.report import Limits, ReadOptions, RefusedError, samples_of
from vendiscore.tools.reading.columnar_files import Columns
from vendiscore_page.parquet_footers import declared_values, largest_pages

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
VECTOR_OPTIONS = ReadOptions(kind="vectors", column="e")


@pytest.mark.parametrize(
    ("rows", "type_", "X", "problems"),
    [
        (
            [[1.0, None], [3.0], None, [4.0, 5.0]],
            pa.list_(pa.float64()),
            [[np.nan] * 2, [np.nan] * 2, [np.nan] * 2, [4, 5]],
            {
                0: "has null, which is not a number",
                1: "has 1 numbers, the first 2",
                2: "is null, not a row of numbers",
            },
        ),
        (
            [[], [2**53, 2], [3, 4]],
            pa.large_list(pa.int64()),
            [[np.nan] * 2, [2**53, 2], [3, 4]],
            {0: "has 0 numbers, the first 2"},
        ),
        (
            [None, [1, 2]],
            pa.list_(pa.float32(), 2),
            [[np.nan] * 2, [1, 2]],
            {0: "is null, not a row of numbers"},
        ),
        ([[True, False]], pa.list_(pa.bool_()), [[1, 0]], {}),
    ],
    ids=["float64", "int64", "float32", "bool"],
)
def test_rows_of_different_length_are_reported(rows, type_, X, problems):
    file = io.BytesIO()
    pq.write_table(pa.table({"e": pa.array(rows, type_)}), file)
    file.seek(0)
    result = samples_of(Columns(file, Limits()), VECTOR_OPTIONS)
    np.testing.assert_array_equal(result.values, X)
    assert result.problems == problems


def test_integers_not_exact_in_float64_are_reported():
    file = io.BytesIO()
    pq.write_table(pa.table({"e": [[1, 2], [2**53 + 1, 3]]}), file)
    file.seek(0)
    result = samples_of(Columns(file, Limits()), VECTOR_OPTIONS)
    assert "has the integer 9007199254740993" in result.problems[1]
    assert result.wrong == {1: "e"}


def test_too_many_numbers_are_rejected_by_footer_only_with_limits():
    file = io.BytesIO()
    pq.write_table(pa.table({"e": [[0.0] * 50_000] * 4, "n": [1, 2, 3, 4]}), file)
    assert file.tell() < 10_000
    low_limits = Limits(unpacked=400_000, declared=declared_values)  # 100,000 numbers
    column_limits = Limits(unpacked=4_000_000, columns=4_096, declared=declared_values)
    for limits, message in (
        (low_limits, "More than 100,000 numbers"),
        (column_limits, "50,000 columns are too many"),
    ):
        file.seek(0)
        with pytest.raises(RefusedError, match=message):
            samples_of(Columns(file, limits), replace(VECTOR_OPTIONS, limits=limits))
    file.seek(0)
    assert samples_of(Columns(file, Limits()), VECTOR_OPTIONS).values.shape == (4, 50_000)


def test_many_numeric_columns_are_read_with_and_without_nulls():
    names = [f"x{j}" for j in range(150)]
    for last_value in (7.0, None):
        file = io.BytesIO()
        pq.write_table(
            pa.table({**{name: [1.0, 2.0] for name in names}, "y": [3.0, last_value]}), file
        )
        result = samples_of(Columns(file, Limits()), ReadOptions())
        assert result.values.shape == (2, 151)
        assert result.features == [*names, "y"]
        assert result.problems == ({} if last_value else {1: "has null, which is not a number"})


def test_many_distinct_texts_fit_into_memory_limit():
    texts = [f"text {i} of many" for i in range(150_000)]
    table = pa.table({"text": texts, "of": [f"prompt {i % 50}" for i in range(150_000)]})
    file = io.BytesIO()
    pq.write_table(table, file)
    limits = Limits(unpacked=10_000_000)  # the texts have 3 MB
    columns = Columns(file, limits).table(["text", "of"])
    assert columns.column("text") == texts
    assert columns.column("of")[:51] == [f"prompt {i % 50}" for i in range(51)]


def test_nested_texts_round_trip_through_parquet():
    cells = {
        "lists": [["a", "a", None], [], None, ["b"]],
        "records": [{"role": "user", "said": ["x", "x"]}, None, {"role": None, "said": []}, {}],
        "bytes": [b"one", b"one", None, b""],
        "deep": [[["a"], ["a", "b"]], [], [None], None],
        "map": [[("k", "v")], [], None, [("k", "w")]],
    }
    types = {
        "records": pa.struct({"role": pa.string(), "said": pa.list_(pa.string())}),
        "map": pa.map_(pa.string(), pa.string()),
    }
    table = pa.table({name: pa.array(values, types.get(name)) for name, values in cells.items()})
    file = io.BytesIO()
    pq.write_table(table, file)
    result = Columns(file, Limits()).table(list(cells))
    for name in cells:
        assert result.column(name) == table[name].to_pylist()


def test_columns_are_read_in_portions_within_limits():
    table = pa.table({f"c{i}": [f"{i}" * 1_000_000, "x"] for i in range(8)})
    file = io.BytesIO()
    pq.write_table(table, file, use_dictionary=False, compression="zstd")
    limits = Limits(unpacked=12_000_000, largest_pages=largest_pages)  # pages of 2 MB at once
    result = Columns(file, limits).table(table.column_names)
    assert [result.column(name) for name in result.names] == list(table.to_pydict().values())
    low_limits = Limits(unpacked=5_000_000, largest_pages=largest_pages)
    with pytest.raises(RefusedError, match="'c0' has a page of 1 MB unpacked, more than 1 MB"):
        Columns(file, low_limits).table(["c0"])
    with pytest.raises(RefusedError, match="16 cells are too many: the limit is 10"):
        Columns(file, Limits(values=10)).table(table.column_names)
