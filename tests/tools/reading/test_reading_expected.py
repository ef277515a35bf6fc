"""Expected readings: the samples that are read from each file, or the offered choices.

`readings.json` has a row for each file of tests/tools/reading/files, and for each file of
`VENDISCORE_DATA`/files as "shared/NAME". It was written before the reader, without running it.
A row has `file`, `why` (a reason), the name of a known `record` where there is one, and
one of three outcomes:

- `take`: `kind` of the samples; `column`, the path of the answers in their record (a list where
  several columns are one, omitted if the file has no names or all columns count); `n`, the number
  of samples; `groups`, the number of sets that are scored separately (omitted for a single set);
  `models` and `prompts`, the number of different ones (omitted if the file names none);
  `left_out`, names that must be reported as left out; `first`, the first sample (numbers as %.6g,
  60 characters at most); `rows_left_out`, the number of rows that must be reported as left out;
  `VS`, the Vendi Score of order 1 with default settings, computed by hand if samples are equal
  or share nothing (vectors by cosine): of the set, the mean of its prompts or sites, or of each
  model.
- `ask`: an ambiguity `about` a column, the grouping, the keys of a JSON object (layout), a matrix,
  the separator (split) or the type, and the `choices` that
  must be among the offered ones, in this order.
- `refuse`: an error, `because` of the reason.

For `counts`, `n` is the number of species, `groups` the number of sites, `first` the first site.
"""

import csv
import json
import math
import os
import re
import runpy
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vendiscore.cli import main
from vendiscore.report import AskError, ReadOptions, read_data

HERE = Path(__file__).parent
FILES = HERE / "files"
DATA = Path(os.environ.get("VENDISCORE_DATA", HERE.parents[3] / "shared" / "data")) / "files"
ROWS: list[dict[str, Any]] = json.loads((HERE / "readings.json").read_text(encoding="utf-8"))
pq = pytest.importorskip("pyarrow.parquet")
GENERATED = runpy.run_path(str(HERE / "make_files.py"))["GENERATED"]
MAX_BYTES = 4096

SAMPLE_TYPES = {"texts", "vectors", "molecules", "sequences", "images", "matrix", "counts"}
QUESTIONS = {"column", "grouping", "layout", "matrix", "split", "type"}
REQUIRED_KEYS = {"kind", "n", "first"}
OMITTED = {"column": None, "groups": None, "models": None, "prompts": None, "left_out": []}
OPTIONAL_KEYS = {*OMITTED, "rows_left_out", "VS"}
RECORDS = {
    "AlpacaEval",
    "HELM",
    "Hugging Face embeddings",
    "Hugging Face images",
    "Hugging Face viewer",
    "Inspect",
    "OTU table",
    "OpenAI batch",
    "ShareGPT",
    "TRL",
    "chat",
    "every_eval_ever",
    "generations",
    "lighteval",
    "lm-eval",
    "vLLM requests",
}
READABLE = [{**row, "take": OMITTED | row["take"]} for row in ROWS if "take" in row]
AMBIGUOUS = [row for row in ROWS if "ask" in row]


def file_name(row: dict[str, Any]) -> str:
    """Return the file name of a row, as the id of its test."""
    return row["file"]


def find_file(row: dict[str, Any]) -> Path:
    """Return the path of the file of a row; skip the test if a shared file is missing."""
    name = row["file"]
    if not name.startswith("shared/"):
        return FILES / name
    path = DATA / name.removeprefix("shared/")
    if not path.exists():
        pytest.skip(f"{path.name} is not in {DATA}; set VENDISCORE_DATA")
    return path


def read_text(path: Path) -> str:
    """Return the characters of a text file, without its byte order mark."""
    data = path.read_bytes()
    if data.startswith(b"\xff\xfe"):
        return data[2:].decode("utf-16-le")
    return data.decode("utf-8-sig")


def read_documents(path: Path) -> list[Any]:
    """Return the JSON documents of a file, its lines or its zip members; [] for other files."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            return [json.loads(archive.read(name)) for name in archive.namelist()]
    if path.suffix == ".jsonl":
        documents, text = [], read_text(path).strip()
        while text:
            value, end = json.JSONDecoder().raw_decode(text)
            documents.append(value)
            text = text[end:].lstrip()
        return documents
    if path.suffix in {".json", ".ipynb"}:
        return [json.loads(read_text(path))]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return []


def iter_nodes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each key of a document, or "" for list items, with its value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from iter_nodes(inner)
    if isinstance(value, list):
        for inner in value:
            yield "", inner
            yield from iter_nodes(inner)


def read_cells(path: Path) -> list[list[str]]:
    """Return the cells of a delimited file by its most common delimiter, or by runs of spaces.

    The cells of a FASTA file are the keys of its headers.
    """
    text = read_text(path)
    if path.suffix == ".fa":
        return [re.findall(r"(\w+)=", text)]
    if not any(delimiter in text for delimiter in ",;\t"):
        return [re.split(" {2,}", line.strip()) for line in text.splitlines()]
    delimiter = max(",;\t", key=text.count)
    return list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))


def collect_names(path: Path) -> set[str]:
    """Return every key of a document, or every cell of a table."""
    parsed = read_documents(path)
    if parsed:
        return {key for key, _ in iter_nodes(parsed)}
    return {cell for line in read_cells(path) for cell in line}


def collect_strings(path: Path) -> set[str]:
    """Return every text of a document, every cell of a table, every line of a text."""
    texts = {
        value.strip() for _, value in iter_nodes(read_documents(path)) if isinstance(value, str)
    }
    if texts:
        return texts
    cells = {cell.strip() for line in read_cells(path) for cell in line}
    return cells | {line.strip() for line in read_text(path).splitlines()}


def equals_file(path: Path, data: bytes, scratch: Path) -> bool:
    """Return whether a file has the given bytes, or, for parquet and zip, the same content."""
    if path.read_bytes() == data:
        return True
    new_file = scratch / path.name
    new_file.write_bytes(data)
    if path.suffix == ".parquet":
        return pq.read_table(path).equals(pq.read_table(new_file), check_metadata=True)
    return path.suffix == ".eval" and read_documents(path) == read_documents(new_file)


@pytest.mark.parametrize("name", GENERATED)
def test_make_files_reproduces_committed_files(name, tmp_path):
    assert equals_file(FILES / name, GENERATED[name](), tmp_path)


def test_files_are_small_and_text_unless_generated():
    for path in FILES.iterdir():
        assert path.stat().st_size <= MAX_BYTES, path.name
        if path.name not in GENERATED:
            assert "\0" not in read_text(path), path.name


def test_every_test_file_has_an_expected_result():
    names = [row["file"] for row in ROWS]
    assert len(names) == len(set(names))
    repository_files = {name for name in names if not name.startswith("shared/")}
    assert repository_files == {path.name for path in FILES.iterdir()}
    assert len(repository_files) >= 40


def test_every_file_in_data_folder_has_an_expected_result():
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is not a folder; set VENDISCORE_DATA")
    shared = {row["file"] for row in ROWS if row["file"].startswith("shared/")}
    assert shared == {f"shared/{path.name}" for path in DATA.iterdir()}


@pytest.mark.parametrize("row", ROWS, ids=file_name)
def test_expected_result_of_a_file_has_a_reason_and_one_outcome(row):
    assert len({"take", "ask", "refuse"} & set(row)) == 1
    assert set(row) <= {"file", "why", "record", "take", "ask", "refuse"}
    assert row["why"].endswith(".")
    assert row.get("record", "chat") in RECORDS


@pytest.mark.parametrize("row", READABLE, ids=file_name)
def test_expected_numbers_are_consistent(row):
    take = row["take"]
    assert set(take) >= REQUIRED_KEYS
    assert set(take) - REQUIRED_KEYS <= OPTIONAL_KEYS
    assert take["kind"] in SAMPLE_TYPES
    groups = take["groups"] or 1
    assert take["n"] >= 2
    if take["kind"] != "counts":
        assert groups <= take["n"]
    if take["models"] and take["prompts"] and take["groups"]:
        assert groups == take["models"] * take["prompts"]
    elif take["groups"] and take["kind"] != "counts":
        assert groups == take["models"] or groups == take["prompts"]
    assert take.get("rows_left_out", 1) >= 1


@pytest.mark.parametrize("row", READABLE, ids=file_name)
def test_expected_scores_lie_between_1_and_n(row):
    score = row["take"].get("VS", 1.0)
    values = score.values() if isinstance(score, dict) else [score]
    assert len(values) == (row["take"]["models"] or 1)
    assert all(1.0 <= value <= row["take"]["n"] for value in values)
    assert all(math.isfinite(value) for value in values)


@pytest.mark.parametrize("row", READABLE, ids=file_name)
def test_expected_columns_occur_in_file(row):
    take = row["take"]
    column = take["column"]
    paths = column if isinstance(column, list) else [column] if column else []
    expected_names = set(take["left_out"])
    names = collect_names(find_file(row))
    for path in paths:
        keys = path.replace("[0]", "").replace("[]", "").split(".")
        expected_names |= {path} if path in names else set(keys)
    assert expected_names <= names


@pytest.mark.parametrize("row", READABLE, ids=file_name)
def test_expected_first_sample_occurs_in_file(row):
    take = row["take"]
    first, path = take["first"], find_file(row)
    if take["kind"] == "images":
        assert first is None
        return
    assert 0 < len(first) <= 60
    if take["kind"] in {"texts", "molecules"}:
        starts = [text.startswith(first) for text in collect_strings(path)]
        lines = [line.split()[0] == first for line in molecule_lines(path)]
        assert any(starts + lines)
    if take["kind"] == "sequences":
        assert first in read_text(path).replace("\n", "")
    if take["kind"] in {"vectors", "counts"}:
        numbers = [float(number) for number in first.split(", ") if number[-1:].isdigit()]
        assert len(numbers) >= 2


def molecule_lines(path: Path) -> list[str]:
    """Return the non-blank lines of a list of molecules; [] for other files."""
    if path.suffix != ".smi":
        return []
    return [line for line in read_text(path).splitlines() if line.strip()]


@pytest.mark.parametrize("row", AMBIGUOUS, ids=file_name)
def test_expected_choices_occur_in_file(row):
    ask = row["ask"]
    assert set(ask) == {"about", "choices"}
    assert ask["about"] in QUESTIONS
    assert len(ask["choices"]) == len(set(ask["choices"])) >= 1
    names = collect_names(find_file(row))
    if ask["about"] == "column":
        assert set(ask["choices"]) <= names
        assert len(ask["choices"]) >= 2
    if ask["about"] == "grouping":
        assert set(ask["choices"]) - {"pool"} <= names
    if ask["about"] in {"type", "matrix"}:
        assert set(ask["choices"]) <= SAMPLE_TYPES


@pytest.mark.parametrize("row", [row for row in ROWS if "refuse" in row], ids=file_name)
def test_expected_refusals_state_reason(row):
    assert set(row["refuse"]) == {"because"}
    assert 1 < len(row["refuse"]["because"].split()) <= 12


@pytest.mark.parametrize("row", READABLE, ids=file_name)
def test_reader_matches_expected_samples(row):
    path, take = find_file(row), row["take"]
    samples = read_data(path.name, path.read_bytes(), ReadOptions())
    counts = take["kind"] == "counts"
    assert samples.kind == ("labels" if counts else take["kind"])
    assert not samples.problems
    if not counts:
        assert len(samples) == take["n"]
    pairs = {*zip(samples.sets or samples.groups, samples.groups or samples.sets, strict=True)}
    assert len(pairs) == (take["groups"] or 0)
    assert len({*samples.sets}) == (take["models"] if (take["models"] or 1) > 1 else 0)
    for name in take["left_out"]:
        assert any(
            ignored == name or ignored.startswith(f"{name} (") for ignored in samples.left_out
        )
    if "rows_left_out" in take:
        dropped_text = samples.taken.partition(";")[2]
        assert (
            dropped_text.count("row ") == take["rows_left_out"]
            or f"{take['rows_left_out']} rows" in dropped_text
        )


@pytest.mark.parametrize("row", AMBIGUOUS, ids=file_name)
def test_reader_offers_expected_choices(row):
    path = find_file(row)
    with pytest.raises(AskError) as caught:
        read_data(path.name, path.read_bytes(), ReadOptions())
    offered = [{*map(str, choice.values())} | {*choice} for _, choice in caught.value.choices]
    type_names = {"texts": "txt", "molecules": "smi"}
    for choice in row["ask"]["choices"]:
        assert (
            any(type_names.get(choice, choice) in options for options in offered)
            or choice == "vectors"
        )


@pytest.mark.parametrize("row", [row for row in READABLE if "VS" in row["take"]], ids=file_name)
def test_command_prints_expected_score(row, capsys):
    path, expected = find_file(row), row["take"]["VS"]
    assert main([str(path), "-f", "json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    rows = printed if isinstance(printed, list) else [printed]
    scores = {result.get("file", ""): result["VS"] for result in rows}
    if isinstance(expected, dict) and len(expected) == len(scores) > 1:
        assert scores == pytest.approx(expected)
    else:
        score = next(iter(expected.values())) if isinstance(expected, dict) else expected
        assert [*scores.values()] == pytest.approx([score])


@pytest.mark.parametrize("row", AMBIGUOUS, ids=file_name)
def test_command_suggests_commands_for_ambiguous_file(row, capsys):
    assert main([str(find_file(row))]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"\n  vendiscore {find_file(row)} " in printed.err
