"""Completion scripts offer all commands, and the options of the typed command."""

import shutil
import subprocess

import pytest

from vendiscore.tools.cli.parser import COMMANDS, build_parser


def complete_words(script: str, *words: str) -> list[str]:
    """Return the completions that bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    code = (
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _vendiscore; echo ${{COMPREPLY[*]}}\n"
    )
    process = subprocess.run(
        ["bash", "-c", script + code], capture_output=True, text=True, check=True
    )
    return process.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_and_their_options(run):
    code, script, err = run("completion", "bash")
    assert (code, err) == (0, "")
    assert complete_words(script, "vendiscore", "") == [*COMMANDS]
    assert complete_words(script, "vendiscore", "comp") == ["compare", "completion"]
    for name in COMMANDS:
        flags = sorted({*build_parser(name).flags.values()})
        assert complete_words(script, "vendiscore", name, "--") == flags
    assert complete_words(script, "vendiscore", "a.txt", "--refer") == ["--references"]
    assert complete_words(script, "vendiscore", "a.t") == []  # the default: names of files
    assert complete_words(script, "vendiscore", "compare", "--refer") == []


def test_zsh_script_contains_bash_script(run):
    assert run("completion", "zsh")[1].endswith(run("completion", "bash")[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_fish_script_lists_flags_of_command(run, name):
    lines = run("completion", "fish")[1].splitlines()
    (line,) = [line for line in lines if f"'__vendiscore_is {name}'" in line]
    assert {*build_parser(name).flags.values()} == {*line.split("'")[3].split()}
