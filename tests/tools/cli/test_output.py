"""Tables and numbers in output: rounded or exact, aligned columns, escape sequences."""

import io
import sys
from argparse import Namespace

import pytest

from vendiscore.tools.cli import output


def test_format_short_rounds_and_format_exact_keeps_all_digits():
    values = (3.90657412, 12345.678, float("inf"), float("nan"), 1234, None, True, "a")
    expected = ["3.907", "12,346", "inf", "nan", "1,234", "", "True", "a"]
    assert [output.format_short(x) for x in values] == expected
    assert output.format_exact(0.1 + 0.2) == "0.30000000000000004"


def test_tables_are_formatted_as_text_markdown_and_latex():
    rows = [{"file": "a.txt", "VS": 2.5}, {"file": "b|c", "VS": 10.0}]
    assert output.format_table(rows) == "file    VS\na.txt  2.5\nb|c     10\n"
    assert output.format_markdown(rows[1:]) == "| file | VS |\n|---|--:|\n| b\\|c | 10 |\n"
    latex = output.format_latex([{"set": "a_b & 5 %", "VS": 2.5}])
    assert latex.splitlines()[2:5] == [r"set & VS \\", r"\midrule", r"a\_b \& 5 \% & 2.5 \\"]


def test_as_json_writes_infinity_as_string_and_nan_as_null():
    result = output.as_json({"q": float("inf"), "VS": 2.25, "x": float("nan")})
    assert result == '{\n "q": "inf",\n "VS": 2.25,\n "x": null\n}\n'


@pytest.mark.parametrize(
    ("output_format", "expected_lines"),
    [("text", ["b|1\n"]), ("md", ["`b|1`\n"]), ("latex", ["% b|1\n"]), ("csv", [])],
)
def test_append_signatures_adds_last_line_if_requested(output_format, expected_lines):
    options = Namespace(format=output_format, signature=True)
    assert output.append_signatures(options, ["a\n"], "b|1") == "\n".join(["a\n", *expected_lines])
    options.signature = False
    assert output.append_signatures(options, ["a\n"], "b|1") == "a\n"


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


def test_text_table_in_pipe_has_all_columns_and_no_escape_sequences():
    assert output.format_text_table(ROWS) == output.format_table(ROWS)
    assert output.emphasize("a") == "a"


@pytest.mark.usefixtures("terminal")
def test_text_table_on_terminal_moves_constant_columns_below():
    header, *lines = output.format_text_table(ROWS).splitlines()
    assert header == output.emphasize("name  score    p") == "\x1b[1mname  score    p\x1b[0m"
    assert lines == [
        "a       2.5  0.5",
        "b       3.5  0.5",
        "In all rows: n = 8, size = 8, matched = score",
    ]


@pytest.mark.usefixtures("terminal")
def test_text_table_on_terminal_keeps_first_and_score_columns():
    rows = [{"file": "a", "VS": 1.0, "n": 2}, {"file": "a", "VS": 1.0, "n": 3}]
    assert output.format_text_table(rows, ["VS"]).splitlines()[0].split()[0].endswith("file")
    assert "VS" in output.format_text_table(rows, ["VS"]).splitlines()[0]
    assert output.format_text_table(rows[:1]).count("\n") == 2


def test_is_terminal_returns_false_without_tty(monkeypatch):
    for stream, expected in ((io.StringIO(), False), (None, False)):
        monkeypatch.setattr(sys, "stdout", stream)
        assert output.is_terminal() == expected
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert output.is_terminal()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_color_and_dumb_terminals_get_no_escape_sequences(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert output.emphasize("a") == "a"
    assert "\x1b" not in output.format_text_table(ROWS)


def test_csv_on_terminal_has_all_columns(terminal):
    header = output.FORMATS["csv"](ROWS, ()).splitlines()[0]
    assert header == "name,n,score,size,matched,p"
