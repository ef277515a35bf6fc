"""How much memory there is, asked before a large allocation instead of after it fails."""

from __future__ import annotations

from pathlib import Path

import psutil

from .errors import TooLargeError

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """Bytes that can be allocated now: the machine's, or the container's if that is less."""
    available = int(psutil.virtual_memory().available)
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = (_CGROUP / "memory.current").read_text().strip()
    except OSError:
        return available
    return available if limit == "max" else min(available, int(limit) - int(used))


def require(needed: int, what: str, remedy: str) -> None:
    """Raise `TooLargeError` if `needed` bytes are more than are available.

    >>> require(1000, "a small array", "nothing to do")
    """
    available = available_bytes()
    if needed > available:
        raise TooLargeError(
            f"{what} needs {needed / 1e9:,.1f} GB ({needed:,} bytes) and {available / 1e9:,.1f} GB "
            f"are available; {remedy}"
        )
