"""Exit codes, errors and messages of a command."""

from __future__ import annotations

import sys

# Of samples that cannot be read or used, of an invalid command, and of the shell: 128 and a signal.
DATA, USAGE, BROKEN_PIPE, INTERRUPTED = 1, 2, 141, 130
PROGRAM = "vendiscore"


class DataError(ValueError):
    """Samples that cannot be read or used; the message names the file and the place."""


class UsageError(ValueError):
    """A command that cannot be meant."""


def tell(message: str) -> None:
    """Print a line on stderr, if anybody can read it."""
    if sys.stderr is not None and not sys.stderr.closed:
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
