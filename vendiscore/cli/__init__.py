"""The command `vendiscore`: numbers, comparisons and choices of files, from a shell.

Codes: 0, and 1 for samples that cannot be read or used, 2 for a command that cannot be meant, 130
after Ctrl-C and 141 where whoever reads the output went away.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..progress import quiet
from .exit_codes import BROKEN_PIPE, DATA, INTERRUPTED, USAGE, UsageError, tell
from .parser import COMMANDS, parser

# What the library says of samples that it left out, by their places in a list: here it is said by
# their lines.
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
            from .start import arrays_alone, tokenizer_alone

            arrays_alone()
            tokenizer_alone()
        with _warnings_told(), quiet(not _is_terminal(sys.stderr)):
            sys.stdout.write(_run(command, args))
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


def _run(command: str, args: argparse.Namespace) -> str:
    if command == "compare":
        from . import command_compare

        return command_compare.run(args)
    if command in ("kernels", "measures"):
        from . import command_list

        return command_list.run(command, args.name)
    if command in ("select", "explain"):
        from . import command_select

        return (
            command_select.run_select(args)
            if command == "select"
            else command_select.run_explain(args)
        )
    from . import command_score

    return command_score.run(args)


def _joined(given: list[str]) -> list[str]:
    """The arguments, with `--split ---` as one, since argparse takes --- for an option."""
    for i in range(len(given) - 1):
        if given[i] == "--split" and given[i + 1].startswith("-"):
            return [*given[:i], f"--split={given[i + 1]}", *given[i + 2 :]]
    return given


def _speak_utf8() -> None:
    """Whatever the terminal says that it reads."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _close_stdout() -> None:
    """Python writes what is left when it ends, and would complain."""
    with suppress(OSError, ValueError):  # a stdout without a file, of a caller's own
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Warnings as one line each, without the code that they come from."""

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
