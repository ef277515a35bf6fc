"""Shell sessions in the documentation print the documented output."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from vendiscore.cli import main
from vendiscore.tools.reading import names

ROOT = Path(__file__).resolve().parents[3]
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
PAGES = [p for p in sorted((ROOT / "docs").rglob("*.md")) if SESSION.search(p.read_text("utf-8"))]
SHELL = f'vendiscore() {{ PYTHONPATH="{ROOT}" "{sys.executable}" -m vendiscore "$@"; }}\n'


def parse_examples(page: Path) -> list[tuple[str, str]]:
    """Return pairs of a command and its documented output."""
    blocks = SESSION.findall(page.read_text(encoding="utf-8"))
    sessions = [
        session for block in blocks for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return [(command, expected) for command, _, expected in (p.partition("\n") for p in sessions)]


@pytest.fixture
def run_command(capfd, monkeypatch, tmp_path, without_static):
    """Return a function that runs a command in a new folder and returns its output."""
    monkeypatch.chdir(tmp_path)

    def run(command: str) -> str:
        if command.startswith("vendiscore "):
            main(shlex.split(command)[1:])
        else:
            subprocess.run(["bash", "-c", SHELL + command], check=True)
        result = capfd.readouterr()
        return result.err + result.out

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_console_examples_print_documented_output(page, run_command):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in parse_examples(page):
        result = run_command(command)
        assert doctest.OutputChecker().check_output(expected, result, flags), f"{command}\n{result}"


def test_readme_shows_complete_output_of_example(run_command, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^vendiscore answers\.csv .*$", readme, re.MULTILINE)
    (expected,) = re.findall(r"```text\n(vendiscore: answers\.csv.*?)```", readme, re.DOTALL)
    shutil.copy(ROOT / "docs" / "tutorials" / "data" / "answers.csv", tmp_path)
    assert run_command(line) == expected


WORDS = {
    "samples": names.TEXT_NAMES,
    "molecules": names.MOLECULE_NAMES,
    "sequences of letters": names.SEQUENCE_NAMES,
    "lists of lines, which are joined to one text": names.LINE_NAMES,
    "prompts": names.PROMPT_NAMES,
    "models": names.MODEL_NAMES,
    "ids": names.ID_NAMES,
    "references": names.REFERENCE_NAMES,
    "labels": names.LABEL_NAMES,
    "others": names.OTHER_NAMES,
    "results, which are numbers about a row": names.RESULT_NAMES,
    "species, of a table of abundances": names.SPECIES_NAMES,
    "genes and proteins, of a table of counts": names.GENE_NAMES,
    "sites, of a table of abundances": names.SITE_NAMES,
}


@pytest.mark.parametrize("heading", WORDS)
def test_cli_reference_lists_recognized_column_names(heading):
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    (table_cell,) = re.findall(rf"^\| {heading} \| (.*) \|$", page, re.MULTILINE)
    words = table_cell.split(", ")
    assert all(names.is_named(word, WORDS[heading]) for word in words)
    stems = [word[:-1] if len(word) > 4 else word for word in words]  # "stor" has "storie"
    pattern_words = re.findall(r"[^\W\d_]{2,}", WORDS[heading].pattern)
    assert [word for word in pattern_words if not word.startswith(tuple(stems))] == []


def test_cli_reference_has_more_than_eight_examples() -> None:
    commands = {command for command, _ in parse_examples(ROOT / "docs" / "reference" / "cli.md")}
    assert len(commands) > 8


def test_cli_reference_shows_score_by_meaning(tmp_path, monkeypatch, run):
    pytest.importorskip("tokenizers")
    if find_spec("wordllama") is None:
        pytest.skip("needs wordllama")
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    (documented,) = re.findall(r"```text\n(.*? by meaning .*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("See Spot run.\nSee Spot.\nLook, Jane.\n")
    printed = run("a.txt")[1].splitlines()
    assert [line for line in printed if line in documented.splitlines()] == documented.splitlines()
