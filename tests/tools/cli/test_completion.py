"""Scripts of completion name each command, and the options of each alone."""

import shutil
import subprocess

import pytest

from vendiscore.tools.cli.parser import COMMANDS, build_parser


def completed(script: str, *words: str) -> list[str]:
    """Return what bash offers for the last of some words."""
    typed = " ".join(f"'{word}'" for word in words)
    code = (
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _vendiscore; echo ${{COMPREPLY[*]}}\n"
    )
    done = subprocess.run(["bash", "-c", script + code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_and_their_options(run):
    code, script, err = run("completion", "bash")
    assert (code, err) == (0, "")
    assert completed(script, "vendiscore", "") == [*COMMANDS]
    assert completed(script, "vendiscore", "comp") == ["compare", "completion"]
    for name in COMMANDS:
        flags = sorted({*build_parser(name).flags.values()})
        assert completed(script, "vendiscore", name, "--") == flags
    assert completed(script, "vendiscore", "a.txt", "--refer") == ["--references"]
    assert completed(script, "vendiscore", "a.t") == []  # the default: names of files
    assert completed(script, "vendiscore", "compare", "--refer") == []


def test_zsh_script_contains_bash_script(run):
    assert run("completion", "zsh")[1].endswith(run("completion", "bash")[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_fish_script_lists_flags_of_command(run, name):
    lines = run("completion", "fish")[1].splitlines()
    (line,) = [line for line in lines if f"'__vendiscore_is {name}'" in line]
    assert {*build_parser(name).flags.values()} == {*line.split("'")[3].split()}
