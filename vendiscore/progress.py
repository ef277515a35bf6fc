"""A progress bar that shows itself only when the work turns out to be long."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

_DELAY = 2.0  # seconds of work before a bar appears


def track(items: Iterable[Any], total: int | None, description: str) -> Iterator[Any]:
    """Iterate over `items` under a bar that `datasets.disable_progress_bars()` silences."""
    from tqdm.auto import tqdm

    # Nobody can have disabled the bars of `datasets` without importing it.
    disabled = "datasets" in sys.modules and sys.modules["datasets"].are_progress_bars_disabled()
    yield from tqdm(items, total=total, desc=description, delay=_DELAY, disable=disabled)
