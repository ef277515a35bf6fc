"""Removes what uploads leave behind, on disk and in memory.

gradio deletes the uploads it knows of (`delete_cache`); uploads that broke off half-way stay as
nameless files, and the folders of deleted ones stay empty.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
import time
from pathlib import Path

KEEP = 900  # seconds that an upload can be used again, with other settings
EVERY = 60
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h


def sweep(folder: Path, age: float) -> int:
    """Delete orphaned files and empty folders older than `age` seconds; how many there were."""
    removed = 0
    before = time.time() - age
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # in use, or deleted by someone else
            if path.stat().st_mtime > before:
                continue
            if path.is_dir():
                path.rmdir()
                removed += 1
            elif path.name.startswith("tmp"):
                path.unlink()
                removed += 1
    return removed


def stored(folder: Path) -> int:
    """The bytes of all files in a folder and below."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # deleted by someone else
                total += os.stat(os.path.join(base, name)).st_size
    return total


def give_back() -> None:
    """Return memory that is not used any more to the system; Python and glibc keep it otherwise."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def start() -> None:
    """Tidy up every minute from now on, in a thread that ends with the process."""
    folder = Path(os.environ["GRADIO_TEMP_DIR"])
    with contextlib.suppress(OSError, AttributeError):
        # One heap for all threads: in one for each, what they free lies scattered.
        ctypes.CDLL("libc.so.6").mallopt(_ARENA_MAX, 1)
    gc.collect()
    gc.freeze()  # the page itself stays, so that collecting takes no time

    def run() -> None:
        while True:
            time.sleep(EVERY)
            sweep(folder, KEEP)
            give_back()

    threading.Thread(target=run, daemon=True, name="tidy").start()
