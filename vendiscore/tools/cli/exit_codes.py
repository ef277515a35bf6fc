"""Exit codes, errors and messages of the command."""

import sys

# Exit codes for unusable samples, for invalid commands, and for interrupts (128 + signal).
DATA = 1
USAGE = 2
BROKEN_PIPE = 141
INTERRUPTED = 130
PROGRAM = "vendiscore"


class DataError(ValueError):
    """Samples cannot be read or used; the message names the file and the position."""


class UsageError(ValueError):
    """The command is invalid."""


def print_message(message: str) -> None:
    """Print a line on stderr, if it is open."""
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
