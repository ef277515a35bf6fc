"""Rows of tables that have more or fewer cells than there are names."""

import pytest

from vendiscore.report import FORMATS, Wanted


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
def test_a_row_has_a_cell_for_each_name(row, cells):
    table = FORMATS["csv"].parse(f"a,b,c\n4,5,6\n{row}\n7,8,9\n".encode(), Wanted())
    assert table.rows[1] == cells
