"""Messages of the command go to stderr, if anybody can read it."""

import signal
import sys

import pytest

from vendiscore.tools.cli import exit_codes
from vendiscore.tools.cli.exit_codes import DataError, UsageError, print_message


def test_codes_are_those_of_the_shell():
    assert 128 + signal.SIGPIPE == exit_codes.BROKEN_PIPE
    assert 128 + signal.SIGINT == exit_codes.INTERRUPTED
    assert (exit_codes.DATA, exit_codes.USAGE) == (1, 2)


def test_a_message_is_a_line_on_stderr(capsys):
    print_message("a message")
    assert capsys.readouterr() == ("", "vendiscore: a message\n")


@pytest.mark.parametrize("stream", ["none", "closed"])
def test_nobody_may_be_there_to_read_it(stream, monkeypatch, tmp_path):
    if stream == "none":
        monkeypatch.setattr(sys, "stderr", None)
    else:
        file = (tmp_path / "stderr").open("w")
        file.close()
        monkeypatch.setattr(sys, "stderr", file)
    print_message("a message")


def test_both_errors_are_value_errors_and_neither_is_the_other():
    assert issubclass(DataError, ValueError)
    assert issubclass(UsageError, ValueError)
    assert not issubclass(DataError, UsageError)
    assert not issubclass(UsageError, DataError)
