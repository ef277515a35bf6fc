"""Exit codes, error classes and messages on stderr."""

import signal
import sys

import pytest

from vendiscore.tools.cli import exit_codes
from vendiscore.tools.cli.exit_codes import DataError, UsageError, print_message


def test_exit_codes_follow_shell_conventions():
    assert 128 + signal.SIGPIPE == exit_codes.BROKEN_PIPE
    assert 128 + signal.SIGINT == exit_codes.INTERRUPTED
    assert (exit_codes.DATA, exit_codes.USAGE) == (1, 2)
    assert (exit_codes.ALARM, exit_codes.CHECK_DATA) == (1, 3)


def test_print_message_writes_line_to_stderr(capsys):
    print_message("a message")
    assert capsys.readouterr() == ("", "vendiscore: a message\n")


@pytest.mark.parametrize("stream", ["none", "closed"])
def test_print_message_ignores_missing_or_closed_stderr(stream, monkeypatch, tmp_path):
    if stream == "none":
        monkeypatch.setattr(sys, "stderr", None)
    else:
        file = (tmp_path / "stderr").open("w")
        file.close()
        monkeypatch.setattr(sys, "stderr", file)
    print_message("a message")


def test_data_and_usage_errors_are_unrelated_value_errors():
    assert issubclass(DataError, ValueError)
    assert issubclass(UsageError, ValueError)
    assert not issubclass(DataError, UsageError)
    assert not issubclass(UsageError, DataError)
