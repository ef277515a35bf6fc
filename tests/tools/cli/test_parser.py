"""Help texts of commands: examples that run, sections, line lengths."""

import io
import re
import shlex
import sys

import numpy as np
import pytest

from vendiscore.cli import main
from vendiscore.tools.cli.parser import COMMANDS, build_parser

EXAMPLES = [
    line.strip()
    for command in COMMANDS.values()
    for line in command.examples.splitlines()
    if line.startswith("  vendiscore ")
]
# They need a network, or serve until they are interrupted.
NOT_RUN = ("vendiscore model ", "vendiscore page ")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Create the files that the examples read, in the current folder."""
    monkeypatch.chdir(tmp_path)
    texts = [f"the {word} {i % 3} of {i}" for i, word in enumerate("abcdefghij")]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    (tmp_path / "b.txt").write_text("\n".join(f"{text} again" for text in texts[::-1]))
    rows = [f"m{i % 2},p{i // 5},{text}" for i, text in enumerate(texts * 2)]
    (tmp_path / "answers.csv").write_text("\n".join(["model,prompt,answer", *rows]))
    rows = [f"p{i // 5},{text}" for i, text in enumerate(texts * 2)]
    for name in ("new.csv", "earlier.csv"):
        (tmp_path / name).write_text("\n".join(["prompt,answer", *rows]))
    np.savetxt("vectors.csv", np.random.default_rng(0).normal(size=(16, 3)), delimiter=",")
    np.save("vectors.npy", np.random.default_rng(0).normal(size=(16, 3)))
    np.savetxt("K.csv", [[1, 0.5], [0.5, 1]], delimiter=",")


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("files")
def test_help_examples_run(example, capsys):
    command = example.partition(" > ")[0]
    name = command.split()[1]
    assert example in build_parser(name if name in COMMANDS else "score").format_help()
    if command.startswith(NOT_RUN):
        build_parser(name).parse_intermixed_args(shlex.split(command)[2:])
        return
    if "--plot" in command:
        pytest.importorskip("matplotlib")
    assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


def test_help_command_equals_help_flag(run):
    assert run("help", "dedup") == run("dedup", "--help")
    assert run("help") == run("--help")


@pytest.mark.parametrize("command", [(), ("dedup",), ("compare",)])
def test_command_without_files_on_terminal_prints_help(run, command, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert run(*command) == run(*command, "--help")


def test_parser_converts_flags_and_sets_defaults():
    args = build_parser("compare").parse_intermixed_args(
        ["a", "b", "--level", "0.9", "--size", "5"]
    )
    assert (args.level, args.size, args.permutations, args.seed) == (0.9, 5, 999, 0)
    assert (args.files, args.by, args.quiet, args.column) == (["a", "b"], None, False, None)
    assert build_parser("explain").parse_intermixed_args([]).size == 10
    assert build_parser("table").parse_intermixed_args(["-k", "a", "-k", "b"]).kernel == ["a", "b"]
    for name in COMMANDS:
        assert re.search(r"examples:\n  \S", build_parser(name).format_help())


SECTIONS = ["arguments", "scoring", "grouping", "reading files", "output", "examples"]


def parse_sections(text):
    return re.findall(r"^([a-z ]+):$", text, re.MULTILINE)


def test_help_lists_commands_before_options_by_purpose():
    text = build_parser("score").format_help()
    assert text.startswith("usage: vendiscore [OPTIONS] [FILE ...]\n       vendiscore COMMAND")
    assert parse_sections(text) == ["commands", *SECTIONS]
    command_lines = text.partition("commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in command_lines] == [*COMMANDS]
    assert "Exit status: 0 on success" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_command_help_describes_command_and_every_option(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    parser = build_parser(command)
    text = parser.format_help()
    assert f"\n\n{parser.description.strip()}\n\n" in text
    assert max(map(len, text.splitlines())) <= 95
    assert [name for name in parse_sections(text) if name in SECTIONS] == [
        name for name in SECTIONS if name in parse_sections(text)
    ]
    for action in parser._actions:
        assert action.help, action


def test_help_fits_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "82")
    for command in COMMANDS:
        options = build_parser(command).format_help().partition("arguments:")[2]
        assert max(map(len, options.partition("examples:")[0].splitlines()), default=0) <= 82
