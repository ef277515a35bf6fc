"""Exit codes, errors and messages of a command."""

import sys

# Exit codes for unusable samples, for an invalid command, and of the shell: 128 and a signal.
DATA = 1
USAGE = 2
BROKEN_PIPE = 141
INTERRUPTED = 130
PROGRAM = "vendiscore"


class DataError(ValueError):
    """Samples that cannot be read or used; the message names the file and the place."""


class UsageError(ValueError):
    """An invalid command."""


def print_message(message: str) -> None:
    """Print a line on stderr, if anybody can read it."""
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
