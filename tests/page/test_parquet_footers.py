"""Counts from parquet footers match pyarrow, and damaged files are rejected."""

import io

import numpy as np
import pytest

from vendiscore.report import RefusedError
from vendiscore_page.parquet_footers import declared_values, largest_pages

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def encode_table(table, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


TABLES = {
    "texts and numbers": {"text": ["a", None, "b b"], "n": [1, 2, 3]},
    "lists": {"e": [[0.5, 1.5], [], None], "deep": [[["a"], ["b", "c"]], [], [[]]]},
    "structures": {"chat": [{"role": "user", "ids": [1, 2]}, None, {"role": "x", "ids": []}]},
    "no rows": {"text": pa.array([], pa.string())},
    "many columns": {f"column {i}": [True, False, None] for i in range(40)},
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("options", [{}, {"row_group_size": 1}, {"compression": "zstd"}])
def test_declared_values_match_pyarrow_metadata(name, options):
    data = encode_table(pa.table(TABLES[name]), **options)
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = declared_values(io.BytesIO(data))
    assert len(groups) == metadata.num_row_groups
    for i, group in enumerate(groups):
        columns = [metadata.row_group(i).column(j) for j in range(metadata.num_columns)]
        expected: dict[str, int] = {}
        for column in columns:
            column_name = column.path_in_schema.partition(".")[0]
            expected[column_name] = expected.get(column_name, 0) + column.num_values
        assert group == expected


def test_declared_values_survive_damaged_footers():
    data = encode_table(pa.table(TABLES["lists"]))
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    rng = np.random.default_rng(0)
    n_rejected = 0
    for _ in range(2_000):
        damaged = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(start, len(data))] = rng.integers(256)
        try:
            declared_values(io.BytesIO(bytes(damaged)))
        except RefusedError:
            n_rejected += 1
    assert n_rejected > 100


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "may be damaged"),
        (b"PAR1", "may be damaged"),
        (b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1", "may be damaged"),
        (b"PAR1" + b"\0" * 9_000_000 + (8_500_000).to_bytes(4, "little") + b"PAR1", "has 8 MB"),
        (b"PAR1" + b"\x1c" * 5_000 + (5_000).to_bytes(4, "little") + b"PAR1", "may be damaged"),
    ],
    ids=[
        "nothing",
        "magic bytes",
        "a false length",
        "a long footer",
        "structures within each other",
    ],
)
def test_declared_values_reject_invalid_footers(data, message):
    with pytest.raises(RefusedError, match=message):
        declared_values(io.BytesIO(data))


@pytest.mark.parametrize("name", TABLES)
def test_largest_pages_cover_requested_columns_only(name):
    data = io.BytesIO(encode_table(pa.table(TABLES[name]), row_group_size=1))
    groups = range(len(declared_values(data)))
    sizes = largest_pages(data, pa.table(TABLES[name]).column_names, groups)
    assert all(0 < size < 1_000 for size in sizes.values())
    assert largest_pages(data, [], groups) == {}


def test_largest_pages_return_unpacked_sizes():
    table = pa.table({"short": ["a", "b"], "long": ["x" * 1_000_000, "y"], "n": [1, 2]})
    data = io.BytesIO(encode_table(table, compression="zstd", use_dictionary=False))
    sizes = largest_pages(data, ["long", "n"], [0])
    assert 1_000_000 < sizes["long"] < 1_001_000
    assert 16 <= sizes["n"] < 100
    assert "short" not in sizes
    sizes = largest_pages(io.BytesIO(encode_table(table)), ["long"], [0])  # page of the dictionary
    assert 1_000_000 < sizes["long"] < 1_001_000


def test_largest_pages_reject_files_with_too_many_pages(monkeypatch):
    data = io.BytesIO(encode_table(pa.table({"n": range(100)}), row_group_size=1))
    monkeypatch.setattr("vendiscore_page.parquet_footers._MAX_PAGES", 50)
    with pytest.raises(RefusedError, match="more than 50 pages"):
        largest_pages(data, ["n"], range(100))


def test_largest_pages_survive_damaged_pages():
    data = encode_table(pa.table(TABLES["lists"]))
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    rng = np.random.default_rng(0)
    n_rejected = 0
    for _ in range(1_000):
        damaged = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(4, end)] = rng.integers(256)
        try:
            largest_pages(io.BytesIO(bytes(damaged)), ["e", "deep"], [0])
        except RefusedError:
            n_rejected += 1
    assert n_rejected > 20
