"""The log of the page: where something happened, without texts, which may quote visitors' input."""

import io
import logging
import sys
import threading
import traceback
from pathlib import PurePath
from types import FrameType
from typing import Any, TextIO

_WRITERS = ("traceback", "warnings", "contextlib", __name__)


def hide_input() -> None:
    """Keep the text that other threads write from now on out of streams and of all loggers."""
    own, made = threading.get_ident(), logging.getLogRecordFactory()

    def record(*args: object, **more: object) -> logging.LogRecord:
        found = made(*args, **more)
        if threading.get_ident() != own:
            error = found.exc_info[1] if found.exc_info else None
            found.msg = _told(_place(found.pathname, found.lineno, found.funcName), error)
            found.args, found.exc_info, found.exc_text, found.stack_info = (), None, None, None
        return found

    logging.setLogRecordFactory(record)
    # uvicorn takes these apart: address, path and query.
    logging.getLogger("uvicorn.access").addFilter(lambda _: False)
    sys.stdout, sys.stderr = _Places(sys.stdout, own), _Places(sys.stderr, own)


class _Places(io.TextIOBase):
    """A stream that gets the place of a text instead, unless thread `own` or a logger writes it."""

    def __init__(self, stream: TextIO, own: int) -> None:
        self._stream, self._own = stream, own

    def fileno(self) -> int:
        return self._stream.fileno()

    def flush(self) -> None:
        self._stream.flush()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        frame: FrameType | None = sys._getframe(1)
        if threading.get_ident() == self._own or _module(frame) == "logging":
            return self._stream.write(text)
        while frame and _module(frame) in _WRITERS:
            frame = frame.f_back
        error = sys.exc_info()[1]
        # An exception is written in many parts, and told once.
        new = text.endswith("\n") if error is None else not vars(error).get("_told")
        if new and frame:
            if error is not None:
                vars(error)["_told"] = True
            place = _place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
            self._stream.write(f"{_told(place, error)}\n")
            self._stream.flush()
        return len(text)


def _module(frame: FrameType | None) -> Any:
    return frame and frame.f_globals.get("__name__")


def _place(path: str, line: int, function: str | None) -> str:
    return f"{'/'.join(PurePath(path).parts[-3:])}:{line} in {function}"


def _told(place: str, error: BaseException | None) -> str:
    """Return the place, and the types and places of an exception and of all that led to it."""
    lines, left, seen = [place], [error], set()
    while left:
        each = left.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            lines.append(f"  {type(each).__qualname__}")
            frames = traceback.extract_tb(each.__traceback__)
            lines += (f"    {_place(at.filename, at.lineno or 0, at.name)}" for at in frames)
            left += [each.__cause__ or each.__context__, *getattr(each, "exceptions", ())]
    return "\n".join(lines)
