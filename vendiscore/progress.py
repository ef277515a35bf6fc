"""A progress bar that shows itself only when the work turns out to be long."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

_DELAY = 2.0  # seconds of work before a bar appears


def track(items: Iterable[Any], total: int | None, description: str) -> Iterator[Any]:
    """Iterate over `items` under a bar that `datasets.disable_progress_bars()` silences."""
    from tqdm.auto import tqdm

    # Nobody can have disabled the bars of `datasets` without importing it.
    disabled = "datasets" in sys.modules and sys.modules["datasets"].are_progress_bars_disabled()
    bar: Any = None
    if not disabled and not getattr(sys.stderr, "closed", True):
        with _without_terminal():
            bar = tqdm(total=total, desc=description, delay=_DELAY)
    try:
        for item in items:
            yield item
            if bar is not None:
                with _without_terminal():
                    bar.update()
    finally:
        if bar is not None:
            with _without_terminal():
                bar.close()


def _without_terminal() -> contextlib.suppress:
    """The errors of a terminal that is closed or gone, as in daemons: work goes on without it."""
    return contextlib.suppress(OSError, ValueError)
