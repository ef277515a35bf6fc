"""Rows in print: digits for people, all digits for programs, columns and escapes."""

from argparse import Namespace

import pytest

from vendiscore.tools.cli import output


def test_cells_have_digits_for_people_or_all_of_them():
    values = (3.90657412, 12345.678, float("inf"), float("nan"), 1234, None, True, "a")
    expected = ["3.907", "12,346", "inf", "nan", "1,234", "", "True", "a"]
    assert [output.format_short(x) for x in values] == expected
    assert output.format_exact(0.1 + 0.2) == "0.30000000000000004"


def test_tables_are_aligned_or_of_markdown_or_latex():
    rows = [{"file": "a.txt", "VS": 2.5}, {"file": "b|c", "VS": 10.0}]
    assert output.format_table(rows) == "file    VS\na.txt  2.5\nb|c     10\n"
    assert output.format_markdown(rows[1:]) == "| file | VS |\n|---|--:|\n| b\\|c | 10 |\n"
    made = output.format_latex([{"set": "a_b & 5 %", "VS": 2.5}])
    assert made.splitlines()[2:5] == [r"set & VS \\", r"\midrule", r"a\_b \& 5 \% & 2.5 \\"]


def test_json_has_no_infinity():
    found = output.as_json({"q": float("inf"), "VS": 2.25, "x": float("nan")})
    assert found == '{\n "q": "inf",\n "VS": 2.25,\n "x": null\n}\n'


@pytest.mark.parametrize(
    ("form", "last"),
    [("text", ["b|1\n"]), ("md", ["`b|1`\n"]), ("latex", ["% b|1\n"]), ("csv", [])],
)
def test_a_signature_is_the_last_line_where_it_is_asked_for(form, last):
    asked = Namespace(format=form, signature=True)
    assert output.append_signatures(asked, ["a\n"], "b|1") == "\n".join(["a\n", *last])
    asked.signature = False
    assert output.append_signatures(asked, ["a\n"], "b|1") == "a\n"
