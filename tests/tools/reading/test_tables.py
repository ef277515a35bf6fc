"""Table rows with more or fewer cells than the header."""

import pytest

from vendiscore.report import FORMATS, Wanted, read_data


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
    table = FORMATS["csv"].parse(f"a,b,c\n4,5,6\n{row}\n7,8,9\n".encode(), Wanted())
    assert table.rows[1] == cells


@pytest.mark.parametrize("quote", ["'", '""'])
def test_qualtrics_metadata_rows_are_skipped(quote):
    metadata_row = ",".join(f'"{{{quote}ImportId{quote}: {quote}Q{i}{quote}}}"' for i in (1, 2))
    text = f"ResponseSet,Q2\nSet,Why do you say so?\n{metadata_row}\nDefault Set,I like it a lot\n"
    result = read_data("a.csv", text.encode(), Wanted())
    assert (result.column, result.values) == ("Q2", ["I like it a lot"])
