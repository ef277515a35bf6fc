"""The command `vendiscore`: score, compare, select and explain the samples of files."""

import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from ...support.progress import quiet
from .exit_codes import (
    BROKEN_PIPE,
    CHECK_DATA,
    DATA,
    INTERRUPTED,
    PROGRAM,
    USAGE,
    UsageError,
    print_message,
)
from .notes import Notes
from .parser import COMMANDS, build_parser, describe_unknown_command

_WORD_PATTERN = re.compile(r"\w[\w-]*")  # a command, or a file name without extension
# The library's warning about dropped samples, which the command lists by line instead.
_DROPPED_SAMPLES_WARNING = r"dropped \d+ of \d+ samples that .* cannot use"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `argv` holds the arguments after the program name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):  # regardless of the encoding of the terminal
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if arguments[:1] == ["help"]:  # `vendiscore help COMMAND`
        arguments = [*arguments[1:], "--help"]
    command = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "score"
    reads_stdin = not arguments and COMMANDS[command].formats
    if reads_stdin and sys.stdin and sys.stdin.isatty():
        arguments = ["--help"]  # instead of waiting for samples from the keyboard
    # A first argument that is not a command is a file, or, if this file does not exist, possibly a
    # misspelled command.
    may_be_command = command == "score" and arguments and _WORD_PATTERN.fullmatch(arguments[0])
    if may_be_command and not Path(arguments[0]).exists():
        files = [file.name for file in Path().iterdir()]
        print_message(f"error: {describe_unknown_command(arguments[0], files)}")
        return USAGE
    parser = build_parser(command)
    try:
        args = parser.parse_arguments(arguments)
        args.use_flags = parser.replace_keywords_by_flags
        args.notes = Notes(
            args.use_flags, getattr(args, "quiet", False), getattr(args, "verbose", False)
        )
        args.exit_code = 0  # commands can change it
        # The command line, as a list and as text; messages add suggested flags to it.
        args.words = [PROGRAM, *([command] * (command != "score")), *arguments]
        args.command_line = shlex.join(args.words)
    except SystemExit as end:  # from --help, --version and errors of argparse
        # argparse has already printed the message.
        return end.code if isinstance(end.code, int) else USAGE
    data_error_code = CHECK_DATA if command == "check" else DATA
    if sys.stdout is None or sys.stdout.closed:
        print_message("error: cannot print results: standard output is closed")
        return data_error_code
    try:
        with warnings.catch_warnings(), quiet(getattr(args, "quiet", False)):
            _collect_warnings(args.notes)
            module = import_module(f".{COMMANDS[command].module}", __name__)
            run_command = getattr(module, f"run_{command}")
            try:
                output = run_command(args)
                # Some commands print a first number before they compute others.
                for part in [output] if isinstance(output, str) else output:
                    args.notes.print_all()
                    sys.stdout.write(part)
                    sys.stdout.flush()
            finally:
                args.notes.print_all()
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe. Without a replacement of stdout, Python
        # prints an error when it flushes stdout at exit.
        with suppress(OSError, ValueError), open(os.devnull, "w") as null_device:
            os.dup2(null_device.fileno(), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (LookupError, ValueError, TypeError, ImportError, MemoryError, OSError) as error:
        if isinstance(error, ImportError) and (error.name or "").split(".")[0] == PROGRAM:
            raise  # a damaged installation, not an error of the user
        print_message(f"error: {parser.replace_keywords_by_flags(str(error))}")
        return USAGE if isinstance(error, UsageError) else data_error_code
    return args.exit_code


def _collect_warnings(notes: Notes) -> None:
    """Add each UserWarning that is emitted from now on to `notes`; ignore other warnings.

    The command prints these notes before its results. The caller restores the warning filters.
    """
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    warnings.filterwarnings("ignore", _DROPPED_SAMPLES_WARNING, UserWarning)
    # from matplotlib, for characters that its font lacks; SVG files contain the text itself
    warnings.filterwarnings("ignore", r"Glyph \d+", UserWarning)
    warnings.showwarning = lambda message, *_, **__: notes.add_warning(str(message))
