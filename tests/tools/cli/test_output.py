"""Rows in print: digits for people, all digits for programs, columns and escapes."""

import io
import sys
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
    result = output.as_json({"q": float("inf"), "VS": 2.25, "x": float("nan")})
    assert result == '{\n "q": "inf",\n "VS": 2.25,\n "x": null\n}\n'


@pytest.mark.parametrize(
    ("form", "last"),
    [("text", ["b|1\n"]), ("md", ["`b|1`\n"]), ("latex", ["% b|1\n"]), ("csv", [])],
)
def test_a_signature_is_the_last_line_where_it_is_asked_for(form, last):
    asked = Namespace(format=form, signature=True)
    assert output.append_signatures(asked, ["a\n"], "b|1") == "\n".join(["a\n", *last])
    asked.signature = False
    assert output.append_signatures(asked, ["a\n"], "b|1") == "a\n"


ROWS = [
    {"name": "a", "n": 8, "score": 2.5, "size": 8, "matched": 2.5, "p": 0.5},
    {"name": "b", "n": 8, "score": 3.5, "size": 8, "matched": 3.5, "p": 0.5},
]


@pytest.fixture
def terminal(monkeypatch):
    """Make standard output a terminal."""
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_gets_all_columns_without_escape_sequences():
    assert output.format_text_table(ROWS) == output.format_table(ROWS)
    assert output.emphasize("a") == "a"


@pytest.mark.usefixtures("terminal")
def test_a_terminal_lists_constant_and_duplicate_columns_below_the_table():
    header, *lines = output.format_text_table(ROWS).splitlines()
    assert header == output.emphasize("name  score    p") == "\x1b[1mname  score    p\x1b[0m"
    assert lines == [
        "a       2.5  0.5",
        "b       3.5  0.5",
        "In all rows: n = 8, size = 8, matched = score",
    ]


@pytest.mark.usefixtures("terminal")
def test_columns_with_scores_and_the_first_column_are_always_shown():
    rows = [{"file": "a", "VS": 1.0, "n": 2}, {"file": "a", "VS": 1.0, "n": 3}]
    assert output.format_text_table(rows, ["VS"]).splitlines()[0].split()[0].endswith("file")
    assert "VS" in output.format_text_table(rows, ["VS"]).splitlines()[0]
    assert output.format_text_table(rows[:1]).count("\n") == 2


def test_standard_output_is_a_terminal_if_it_is_a_tty(monkeypatch):
    for stream, expected in ((io.StringIO(), False), (None, False)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert output.is_terminal() == expected
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert output.is_terminal()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_without_colours_gets_no_escape_sequences(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert output.emphasize("a") == "a"
    assert "\x1b" not in output.format_text_table(ROWS)


def test_csv_has_all_columns_on_a_terminal_as_well(terminal):
    header = output.FORMATS["csv"](ROWS, ()).splitlines()[0]
    assert header == "name,n,score,size,matched,p"
