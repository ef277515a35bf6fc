"""Signs of life of long work: a bar that shows itself late, or one line where none can be drawn."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

_DELAY = 2.0  # seconds of work before a bar appears


def track(items: Iterable[Any], total: int | None, description: str) -> Iterator[Any]:
    """Iterate over `items` under a bar that `datasets.disable_progress_bars()` silences.

    Without a terminal, as in daemons, or with one that goes away, there is no bar.
    """
    from tqdm.auto import tqdm

    if _silenced():
        yield from items
    else:
        file: Any = _Terminal(sys.stderr)
        yield from tqdm(items, total=total, desc=description, delay=_DELAY, file=file)


def announce(sentence: str) -> None:
    """One line where a bar would be, for work that cannot be looked into."""
    if not _silenced():
        terminal = _Terminal(sys.stderr)
        terminal.write(f"{sentence}\n")
        terminal.flush()


def _silenced() -> bool:
    # Nobody can have disabled the bars of `datasets` without importing it.
    disabled = "datasets" in sys.modules and sys.modules["datasets"].are_progress_bars_disabled()
    return disabled or getattr(sys.stderr, "closed", sys.stderr is None)


class _Terminal:
    """A stream whose failures are nobody's; equal to it, so that tqdm takes its width."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __eq__(self, other: object) -> bool:
        return other is self.stream or other is self

    __hash__ = None  # type: ignore[assignment]

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()
