"""The web app reads files like the library and the command, or asks the same question."""

import json
import os
import pickle
from pathlib import Path

import pytest

from vendiscore.cli import main
from vendiscore.report import AskError, ReadOptions, RefusedError, read_data
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import offered_encoders, one_set
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.uploads import UserInput, read

for package in ("rdkit", "pyarrow", "PIL"):
    pytest.importorskip(package)
READING = Path(__file__).parents[2] / "tools" / "reading"
DATA = Path(os.environ.get("VENDISCORE_DATA", READING.parents[3] / "shared" / "data")) / "files"
ROWS = json.loads((READING / "readings.json").read_text(encoding="utf-8"))
# Names of read options, and of a value, on the page.
NAMES = {"by": "sets", "group_by": "by", "split": "separator"}
VALUES = {"row": "line"}


def get_file_name(row) -> str:
    return row["file"]


def find_file(row) -> Path:
    name = row["file"]
    path = DATA / name.removeprefix("shared/") if name.startswith("shared/") else None
    if path and not path.exists():
        pytest.skip(f"{path.name} is not in {DATA}; set VENDISCORE_DATA")
    return path or READING / "files" / name


def read_with_library_and_page(path: Path):
    """Return the samples or the error of the library and of the page."""
    data, result = path.read_bytes(), []
    for reader in (
        lambda: read_data(path.name, data, ReadOptions()),
        lambda: read(UserInput(files=[(path.name, data)])),
    ):
        try:
            result.append(reader())
        except RefusedError as error:
            result.append(error)
    return result


@pytest.mark.parametrize("row", ROWS, ids=get_file_name)
def test_samples_and_results_can_be_sent_to_another_process(row):
    data = find_file(row).read_bytes()
    try:
        samples = read(UserInput(files=[(get_file_name(row), data)]))
        copy = pickle.loads(pickle.dumps(samples))
        assert copy.subset([0]).place(0) == samples.subset([0]).place(0)
        result = run_steps(one_set.score(copy, Settings(leave_out=True)))
    except RefusedError:
        return
    answer = pickle.loads(pickle.dumps(result)).answer
    assert json.dumps(answer) == json.dumps(result.answer)


@pytest.mark.parametrize("row", ROWS, ids=get_file_name)
def test_page_reads_file_like_library(row):
    library, page = read_with_library_and_page(find_file(row))
    assert isinstance(library, AskError) == isinstance(page, AskError) == ("ask" in row)
    assert isinstance(library, RefusedError) == isinstance(page, RefusedError)
    if isinstance(library, AskError):
        assert page.question == library.question
        choices = [
            {NAMES.get(key, key): VALUES.get(str(x), x) for key, x in choice_options.items()}
            for _, choice_options in library.choices
        ]
        page_options = {"wide", "answers"}  # options for columns of answers
        assert [options for _, options in page.choices if not page_options & {*options}] == choices
    elif isinstance(library, RefusedError):
        assert library.message.lower() in str(page).lower()
    else:
        assert len(page) == len(library)
        assert list(map(str, page.groups)) == list(map(str, library.groups))
        assert list(page.sets) == list(library.sets)
        if library.kind in ("texts", "sequences", "molecules"):
            assert page.values == [text.strip() for text in library.values]
            if page.unit != "part":  # parts of a text are counted on the page
                assert list(page.places) == list(library.places)
        if library.kind == "vectors":
            assert page.values.tolist() == library.values.tolist()
        if library.table:
            assert page.sentence == f"{library.taken}."


@pytest.fixture
def ngrams_only(without_static, monkeypatch):
    """The page compares texts by n-grams, like the command, even if an encoder is cached."""
    monkeypatch.setattr(offered_encoders, "_list_networks", lambda kind: {})
    offered_encoders.list_offered.cache_clear()
    yield
    offered_encoders.list_offered.cache_clear()


@pytest.mark.filterwarnings("ignore:The interval of the mean over . groups has width 0")
@pytest.mark.parametrize("row", [row for row in ROWS if "take" in row], ids=get_file_name)
def test_page_score_equals_command_score(row, capsys, ngrams_only):
    path = find_file(row)
    assert main([str(path), "-f", "json", "--quiet", "--on-error", "skip"]) == 0
    printed = json.loads(capsys.readouterr().out)
    printed = printed if isinstance(printed, list) else [printed]
    samples = read(UserInput(files=[(path.name, path.read_bytes())]))
    answer = run_steps(one_set.score(samples, Settings(leave_out=True)))
    rows = answer.answer["by_set"] or [answer.answer]
    assert [item["VS"] for item in rows] == pytest.approx([item["VS"] for item in printed])
