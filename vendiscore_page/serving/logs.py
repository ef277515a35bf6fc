"""The log of the page: where something happened, without texts, which may quote visitors' input."""

import io
import logging
import sys
import threading
import traceback
from pathlib import PurePath
from typing import TextIO


def hide_input(shows_prints: bool = True) -> None:
    """Write only places for records of all loggers, and nothing that other threads print.

    With `shows_prints=False`, nothing that this thread prints is written, either.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LocationFormatter())
    logging.basicConfig(handlers=[handler], force=True)
    sys.stdout, sys.stderr = (
        _ThreadStream(sys.stdout, shows_prints),
        _ThreadStream(sys.stderr, shows_prints),
    )


class _LocationFormatter(logging.Formatter):
    """The place of a record, and types and places of its exception and of all that led to it."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [_format_location(record.pathname, record.lineno, record.funcName)]
        pending = [record.exc_info[1]] if record.exc_info else []
        seen: set[int] = set()
        while pending:
            error = pending.pop()
            if error is not None and id(error) not in seen:
                seen.add(id(error))
                lines.append(f"  {type(error).__qualname__}")
                frames = traceback.extract_tb(error.__traceback__)
                lines += (
                    f"    {_format_location(frame.filename, frame.lineno or 0, frame.name)}"
                    for frame in frames
                )
                pending += [error.__cause__ or error.__context__, *getattr(error, "exceptions", ())]
        return "\n".join(lines)


class _ThreadStream(io.TextIOBase):
    """A stream that takes what the thread which made it writes, and nothing else."""

    def __init__(self, stream: TextIO, shows_prints: bool = True) -> None:
        self._stream, self._thread = stream, threading.get_ident() if shows_prints else None

    def flush(self) -> None:
        self._stream.flush()

    def write(self, text: str) -> int:
        is_own_thread = threading.get_ident() == self._thread
        return self._stream.write(text) if is_own_thread else len(text)


def _format_location(path: str, line: int, function: str | None) -> str:
    return f"{'/'.join(PurePath(path).parts[-3:])}:{line} in {function}"
