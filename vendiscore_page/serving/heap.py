"""Memory of the process: a single heap, and the return of free memory to the system."""

import contextlib
import ctypes
import gc

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h


def use_one_heap() -> None:
    """Let all threads share one heap; what they free would otherwise lie scattered in several."""
    _call_glibc("mallopt", _ARENA_MAX, 1)


def release_memory() -> None:
    """Return free memory to the system, which Python and glibc would keep."""
    gc.collect()
    _call_glibc("malloc_trim", 0)


def _call_glibc(name: str, *arguments: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # another C library
        getattr(ctypes.CDLL("libc.so.6"), name)(*arguments)
