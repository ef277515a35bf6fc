"""The examples of docs/reference/cli.md print what stands there."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vendiscore.cli import main

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(
    r"```console\n(.*?)```",
    (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
SHELL = f'vendiscore() {{ PYTHONPATH="{ROOT}" "{sys.executable}" -m vendiscore "$@"; }}\n'


def examples() -> list[tuple[str, str]]:
    """Commands and what they print."""
    parts = [part.partition("\n") for block in BLOCKS for part in block.split("$ ") if part]
    return [(command, expected) for command, _, expected in parts]


@pytest.fixture
def printed(capfd, monkeypatch, tmp_path):
    """What a command prints in a folder of its own: ours here, others by the shell."""
    monkeypatch.chdir(tmp_path)

    def run(command: str) -> str:
        if command.startswith("vendiscore "):
            main(shlex.split(command)[1:])
        else:
            subprocess.run(["bash", "-c", SHELL + command], check=True)
        found = capfd.readouterr()
        return found.err + found.out

    return run


def test_the_examples_of_the_page_run(printed):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in examples():
        found = printed(command)
        assert doctest.OutputChecker().check_output(expected, found, flags), f"{command}\n{found}"
    assert len(examples()) > 8
