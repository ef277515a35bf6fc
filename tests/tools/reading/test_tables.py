"""Rows with more or fewer cells than the header, delimiters, and columns aligned by spaces."""

import pandas as pd
import pytest

from vendiscore.report import FORMATS, AskError, Limits, ReadOptions, read_data
from vendiscore.tools.reading.tables import detect_delimiter, iter_aligned_rows, parse_table


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("1,2,3", ["1", "2", "3"]),
        ("1,2", ["1", "2", ""]),
        ("1,,,,", ["1", "", ""]),
        ("1,2,3,,", ["1", "2", "3"]),
        ("1,2,3, and more", ["1", "2", "3, and more"]),
    ],
)
def test_rows_are_padded_or_joined_to_header_length(row, cells):
    table = FORMATS["csv"].parse(f"a,b,c\n4,5,6\n{row}\n7,8,9\n".encode(), ReadOptions())
    assert table.rows[1] == cells


@pytest.mark.parametrize("quote", ["'", '""'])
def test_qualtrics_metadata_rows_are_skipped(quote):
    metadata_row = ",".join(f'"{{{quote}ImportId{quote}: {quote}Q{i}{quote}}}"' for i in (1, 2))
    text = f"ResponseSet,Q2\nSet,Why do you say so?\n{metadata_row}\nDefault Set,I like it a lot\n"
    result = read_data("a.csv", text.encode(), ReadOptions())
    assert (result.column, result.values) == ("Q2", ["I like it a lot"])


@pytest.mark.parametrize(
    ("text", "numeric", "sign"),
    [
        ("text,embedding\nhello you,[0.1 0.2]\nbye now,[0.4 0.5]\n", True, ","),
        ("hello you,[0.1 0.2]\nbye now,[0.4 0.5]\n", True, ","),
        ("time;x\n2020-01-01 00:00;5.3\n2020-01-02 00:00;6.3\n", True, ";"),
        ("wer;was\nbob;hello, world\nann;bye, now\n", False, ";"),
        ("0,5 1,2\n0,3 2,2\n", True, " "),
        ("0,5;1,2\n0,3;2,2\n", True, ";"),
        ("1 2 3\n4 5 6\n", True, " "),
        ("1 2 3\n4 5 6\n", False, ""),
        ("notes of a day\nx;y\n1,5;2\n", False, ";"),
    ],
)
def test_sign_that_splits_all_rows_alike_is_delimiter(text, numeric, sign):
    assert detect_delimiter(text, numeric, Limits()) == sign


FRAME = pd.DataFrame({"answer": ["a cat sat", "a dog ran", "an owl flew far"], "n": [1, 2, 3]})


@pytest.mark.parametrize("index", [True, False])
def test_printed_table_is_read(index):
    text = FRAME.to_string(index=index)
    result = read_data("a.csv", text.encode(), ReadOptions())
    assert (result.column, result.values) == ("answer", list(FRAME["answer"]))
    assert result.written([1]).count("\n") == 2
    assert read_data("a.csv", result.written([1]).encode(), ReadOptions()).values == ["a dog ran"]
    with pytest.raises(AskError) as caught:
        read_data("a.txt", text.encode(), ReadOptions())
    assert caught.value.choices[0][1] == {"type": "csv"}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "id   x  y\n a 1.5 20\n b  22  1",
            [["id", "x", "y"], ["a", "1.5", "20"], ["b", "22", "1"]],
        ),
        (
            "name   of\nNew Y  a b\n\nRome   c",
            [["name", "of"], ["New Y", "a b"], [], ["Rome", "c"]],
        ),
        ("Hello.  How are you?\nWell now.  I am fine.", []),
        ("a b\nc d", []),
        ("a  b\nc", []),
        ("a  b", []),
        ("", []),
    ],
)
def test_aligned_columns_are_split_by_runs_of_spaces(text, rows):
    assert list(iter_aligned_rows(text.split("\n"))) == rows


def test_equal_column_names_are_numbered():
    header = ",".join(["name"] * 4_000)
    table = FORMATS["csv"].parse(f"{header}\n{header}\n".encode(), ReadOptions(header=True))
    assert table.names[:2] == ["name", "name (2)"]
    assert table.names[-1] == "name (4000)"


def test_spaces_are_kept_beside_quoted_cells_with_delimiters():
    text = 'a,b\n"x, ""y""", z\n"u", w\n'
    assert parse_table(text, ReadOptions(), delimiter=",").rows == [['x, "y"', " z"], ["u", " w"]]
    assert parse_table('a,b\n1, "x, y"\n', ReadOptions(), delimiter=",").rows == [["1", "x, y"]]
