"""Samples and results of visitors, kept for a while and up to a size, in memory alone."""

import gc
import secrets
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..quotas import MAX_STORED, STORE_SECONDS, RefusedError
from .heap import release_memory

_EVERY = 60  # seconds between two sweeps
_MOST_OF_OWNER = 64  # values of one visitor, whose page uses about ten


@dataclass
class _Thing:
    value: object
    nbytes: int
    until: float
    owner: str


class Kept:
    """Values by random keys; the longest unused goes first, beyond a quarter a visitor's own.

    Nor does a visitor keep more than 64 values, because many small ones scatter over the memory.
    """

    def __init__(self, most: int = MAX_STORED, seconds: float = STORE_SECONDS) -> None:
        self.nbytes: int = 0
        self.most = most
        self.seconds = seconds
        self._things: OrderedDict[str, _Thing] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, value: object, nbytes: int, owner: str = "") -> str:
        """Keep a value of so many bytes, and return its random key."""
        if nbytes > self.most:
            raise RefusedError(
                f"These samples take {nbytes / 1e6:,.0f} MB of memory; this page stores up to "
                f"{self.most / 1e6:,.0f} MB. Send fewer samples."
            )
        key = secrets.token_urlsafe()
        with self._lock:
            own = [old for old, thing in self._things.items() if owner and thing.owner == owner]
            while own and (
                len(own) >= _MOST_OF_OWNER
                or nbytes + sum(self._things[old].nbytes for old in own) > self.most // 4
            ):
                self._drop(own.pop(0))
            self._things[key] = _Thing(value, nbytes, time.monotonic() + self.seconds, owner)
            self.nbytes += nbytes
            while self.nbytes > self.most:
                self._drop(next(iter(self._things)))
        return key

    def get(self, key: Any) -> object:
        with self._lock:
            thing = self._things.get(key) if isinstance(key, str) else None
            if thing is None or thing.until < time.monotonic():
                return None
            thing.until = time.monotonic() + self.seconds
            self._things.move_to_end(key)
            return thing.value

    def take(self, key: Any) -> object:
        """Return a value, which is kept no longer; None if there is none."""
        value = self.get(key)
        with self._lock:
            self._drop(key)
        return value

    def sweep(self) -> None:
        with self._lock:
            now = time.monotonic()
            for key in [key for key, thing in self._things.items() if thing.until < now]:
                self._drop(key)

    def _drop(self, key: str) -> None:
        if thing := self._things.pop(key, None):
            self.nbytes -= thing.nbytes


def tidy(kept: Kept) -> None:
    """Sweep from now on, in a thread that ends with the process."""
    gc.collect()
    gc.freeze()  # the page itself stays, so that collecting takes no time

    def run() -> None:
        while True:
            time.sleep(_EVERY)
            kept.sweep()
            release_memory()

    threading.Thread(target=run, daemon=True, name="tidy").start()


def size_of(value: object) -> int:
    """Return bytes of the arrays, strings and objects that a value leads to, each counted once."""
    seen: set[int] = set()
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        while isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        total += one.nbytes if isinstance(one, np.ndarray) else sys.getsizeof(one, 0)
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting.extend(one)
        elif type(one).__module__.startswith(
            ("vendiscore.", "vendiscore_page.", "PIL.", "scipy.sparse")
        ):
            waiting.extend(gc.get_referents(one))
    return total
