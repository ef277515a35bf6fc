"""Exit codes, errors and messages of the command."""

import sys

ALARM = 1  # `check` found a decrease of diversity
DATA = 1  # samples cannot be read or used
USAGE = 2  # the command is invalid
CHECK_DATA = 3  # as DATA, in `check`, where 1 means an alarm
BROKEN_PIPE = 141  # 128 + SIGPIPE
INTERRUPTED = 130  # 128 + SIGINT
PROGRAM = "vendiscore"


class DataError(ValueError):
    """Samples cannot be read or used; the message names the file and the position."""


class UsageError(ValueError):
    """The command is invalid."""


def print_message(message: str) -> None:
    """Print a line on stderr; do nothing if stderr is closed."""
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
