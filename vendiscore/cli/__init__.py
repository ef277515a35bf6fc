"""The command `vendiscore`: score, compare, select and explain the samples of files.

Exit codes: 0, and 1 for samples that cannot be read or used, 2 for an invalid command, 130 after
Ctrl-C and 141 after the reader of the output went away.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from ..progress import quiet
from .exit_codes import BROKEN_PIPE, DATA, INTERRUPTED, USAGE, UsageError, tell
from .parser import COMMANDS, parser

# The library's warning about samples that it left out, which the command names by their lines.
_LEFT_OUT = r".* left out \d+ of \d+ samples, as asked"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `argv` is what follows the name of the program."""
    given = list(sys.argv[1:] if argv is None else argv)
    _speak_utf8()
    given = _joined(given)
    command = given.pop(0) if given and given[0] in COMMANDS else "score"
    try:
        args = parser(command).parse_intermixed_args(given)
    except SystemExit as end:  # of --help, --version, and what argparse refuses
        return end.code if isinstance(end.code, int) else USAGE
    if sys.stdout is None or sys.stdout.closed:
        tell("error: standard output is closed, so that nothing can be printed")
        return DATA
    try:
        if argv is None and command not in ("kernels", "measures"):
            from .start import import_little

            import_little()
        with _warnings_told(), quiet(not _is_terminal(sys.stderr)):
            module = import_module(f".{COMMANDS[command].module}", __name__)
            sys.stdout.write(getattr(module, f"run_{command}")(args))
            sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except UsageError as error:
        tell(f"error: {error}")
        return USAGE
    except (ValueError, TypeError, ImportError, MemoryError, OSError) as error:
        tell(f"error: {error}")
        return DATA
    return 0


def _joined(given: list[str]) -> list[str]:
    """Join `--split ---` to one argument, since argparse takes --- for an option."""
    for i in range(len(given) - 1):
        if given[i] == "--split" and given[i + 1].startswith("-"):
            return [*given[:i], f"--split={given[i + 1]}", *given[i + 2 :]]
    return given


def _speak_utf8() -> None:
    """Write UTF-8, whatever the terminal claims to read."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _close_stdout() -> None:
    """Redirect stdout to nowhere: Python flushes it at its end, and would complain."""
    with suppress(OSError, ValueError):  # a stdout without a file, of a caller's own
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Print warnings as one line each, without the code that they come from."""

    def show(message: Warning | str, *others: Any, **more: Any) -> None:
        tell(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", _LEFT_OUT, UserWarning)
        warnings.showwarning = show
        yield


def _is_terminal(stream: Any) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
