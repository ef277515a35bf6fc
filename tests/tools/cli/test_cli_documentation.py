"""Sessions of a shell in the documentation print what stands there."""

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


def examples(page: Path) -> list[tuple[str, str]]:
    """Return commands and what they print."""
    blocks = SESSION.findall(page.read_text(encoding="utf-8"))
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, expected) for command, _, expected in (p.partition("\n") for p in parts)]


@pytest.fixture
def printed(capfd, monkeypatch, tmp_path, without_static):
    """The output of a command in a folder of its own: ours runs here, others run in the shell."""
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
def test_console_examples_print_documented_output(page, printed):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in examples(page):
        result = printed(command)
        assert doctest.OutputChecker().check_output(expected, result, flags), f"{command}\n{result}"


def test_readme_shows_complete_output_of_example(printed, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^vendiscore answers\.csv .*$", readme, re.MULTILINE)
    (shown,) = re.findall(r"```text\n(vendiscore: answers\.csv.*?)```", readme, re.DOTALL)
    shutil.copy(ROOT / "docs" / "tutorials" / "data" / "answers.csv", tmp_path)
    assert printed(line) == shown


WORDS = {
    "samples": names.TEXT_NAMES,
    "molecules": names.MOLECULE_NAMES,
    "sequences of letters": names.SEQUENCE_NAMES,
    "prompts": names.PROMPT_NAMES,
    "models": names.MODEL_NAMES,
    "ids": names.ID_NAMES,
    "labels": names.LABEL_NAMES,
    "others": names.OTHER_NAMES,
    "species, of a table of abundances": names.SPECIES_NAMES,
    "sites, of a table of abundances": names.SITE_NAMES,
}


@pytest.mark.parametrize("heading", WORDS)
def test_cli_reference_lists_recognized_column_names(heading):
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    (listed,) = re.findall(rf"^\| {heading} \| (.*) \|$", page, re.MULTILINE)
    words = listed.split(", ")
    assert all(names.is_named(word, WORDS[heading]) for word in words)
    stems = [word[:-1] if len(word) > 4 else word for word in words]  # "stor" has "storie"
    known = re.findall("[a-z]{2,}", WORDS[heading].pattern)
    assert [word for word in known if not word.startswith(tuple(stems))] == []


def test_cli_reference_has_more_than_eight_examples() -> None:
    commands = {command for command, _ in examples(ROOT / "docs" / "reference" / "cli.md")}
    assert len(commands) > 8


def test_cli_reference_shows_score_by_meaning(tmp_path, monkeypatch, run):
    pytest.importorskip("tokenizers")
    if find_spec("wordllama") is None:
        pytest.skip("needs wordllama")
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*? by meaning .*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("See Spot run.\nSee Spot.\nLook, Jane.\n")
    printed = run("a.txt")[1].splitlines()
    assert [line for line in printed if line in shown.splitlines()] == shown.splitlines()
