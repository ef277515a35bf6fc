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
    handler.setFormatter(_Places())
    logging.basicConfig(handlers=[handler], force=True)
    sys.stdout, sys.stderr = _Own(sys.stdout, shows_prints), _Own(sys.stderr, shows_prints)


class _Places(logging.Formatter):
    """The place of a record, and types and places of its exception and of all that led to it."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [_place(record.pathname, record.lineno, record.funcName)]
        left = [record.exc_info[1]] if record.exc_info else []
        seen: set[int] = set()
        while left:
            error = left.pop()
            if error is not None and id(error) not in seen:
                seen.add(id(error))
                lines.append(f"  {type(error).__qualname__}")
                frames = traceback.extract_tb(error.__traceback__)
                lines += (f"    {_place(at.filename, at.lineno or 0, at.name)}" for at in frames)
                left += [error.__cause__ or error.__context__, *getattr(error, "exceptions", ())]
        return "\n".join(lines)


class _Own(io.TextIOBase):
    """A stream that takes what the thread which made it writes, and nothing else."""

    def __init__(self, stream: TextIO, shows_prints: bool = True) -> None:
        self._stream, self._thread = stream, threading.get_ident() if shows_prints else None

    def flush(self) -> None:
        self._stream.flush()

    def write(self, text: str) -> int:
        own = threading.get_ident() == self._thread
        return self._stream.write(text) if own else len(text)


def _place(path: str, line: int, function: str | None) -> str:
    return f"{'/'.join(PurePath(path).parts[-3:])}:{line} in {function}"
