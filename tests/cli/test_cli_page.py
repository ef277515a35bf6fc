"""Sessions of a shell in the documentation print what stands there."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vendiscore.cli import main

ROOT = Path(__file__).resolve().parents[2]
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
PAGES = [p for p in sorted((ROOT / "docs").rglob("*.md")) if SESSION.search(p.read_text("utf-8"))]
SHELL = f'vendiscore() {{ PYTHONPATH="{ROOT}" "{sys.executable}" -m vendiscore "$@"; }}\n'


def examples(page: Path) -> list[tuple[str, str]]:
    """Return commands and what they print."""
    blocks = SESSION.findall(page.read_text(encoding="utf-8"))
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, expected) for command, _, expected in (p.partition("\n") for p in parts)]


@pytest.fixture
def printed(capfd, monkeypatch, tmp_path):
    """The output of a command in a folder of its own: ours runs here, others run in the shell."""
    monkeypatch.chdir(tmp_path)

    def run(command: str) -> str:
        if command.startswith("vendiscore "):
            main(shlex.split(command)[1:])
        else:
            subprocess.run(["bash", "-c", SHELL + command], check=True)
        found = capfd.readouterr()
        return found.err + found.out

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, printed):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in examples(page):
        found = printed(command)
        assert doctest.OutputChecker().check_output(expected, found, flags), f"{command}\n{found}"


def test_the_page_of_the_command_has_a_session_of_each() -> None:
    commands = {command for command, _ in examples(ROOT / "docs" / "reference" / "cli.md")}
    assert len(commands) > 8
