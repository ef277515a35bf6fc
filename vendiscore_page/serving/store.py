"""Samples and results of users, stored in memory up to a time and a size."""

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

_SWEEP_SECONDS = 60  # seconds between two sweeps
_MAX_PER_OWNER = 64  # values of one visitor, whose page uses about ten


@dataclass
class _Entry:
    value: object
    nbytes: int
    expires: float
    owner: str


class Store:
    """Values by random keys. If they exceed the size limit, the least recently used is deleted.

    The values of a user take at most a quarter of the limit, and a user has at most 64 values,
    because many small values fragment the memory. Otherwise, values of this user are deleted first.
    """

    def __init__(self, most: int = MAX_STORED, seconds: float = STORE_SECONDS) -> None:
        self.nbytes: int = 0
        self.most = most
        self.seconds = seconds
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
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
            owner_keys = [
                key_of_owner
                for key_of_owner, entry in self._entries.items()
                if owner and entry.owner == owner
            ]
            while owner_keys and (
                len(owner_keys) >= _MAX_PER_OWNER
                or nbytes + sum(self._entries[key_of_owner].nbytes for key_of_owner in owner_keys)
                > self.most // 4
            ):
                self._drop(owner_keys.pop(0))
            self._entries[key] = _Entry(value, nbytes, time.monotonic() + self.seconds, owner)
            self.nbytes += nbytes
            while self.nbytes > self.most:
                self._drop(next(iter(self._entries)))
        return key

    def get(self, key: Any) -> object:
        with self._lock:
            entry = self._entries.get(key) if isinstance(key, str) else None
            if entry is None or entry.expires < time.monotonic():
                return None
            entry.expires = time.monotonic() + self.seconds
            self._entries.move_to_end(key)
            return entry.value

    def take(self, key: Any) -> object:
        """Return a value, which is kept no longer; None if there is none."""
        value = self.get(key)
        with self._lock:
            self._drop(key)
        return value

    def sweep(self) -> None:
        with self._lock:
            now = time.monotonic()
            for key in [key for key, entry in self._entries.items() if entry.expires < now]:
                self._drop(key)

    def _drop(self, key: str) -> None:
        if entry := self._entries.pop(key, None):
            self.nbytes -= entry.nbytes


def start_sweeping(store: Store) -> None:
    """Sweep from now on, in a thread that ends with the process."""
    gc.collect()
    gc.freeze()  # the page itself stays, so that collecting takes no time

    def run() -> None:
        while True:
            time.sleep(_SWEEP_SECONDS)
            store.sweep()
            release_memory()

    threading.Thread(target=run, daemon=True, name="tidy").start()


def measure_size(value: object) -> int:
    """Return bytes of the arrays, strings and objects that a value leads to, each counted once."""
    seen: set[int] = set()
    total, queue = 0, [value]
    while queue:
        item = queue.pop()
        while isinstance(item, np.ndarray) and isinstance(item.base, np.ndarray):
            item = item.base
        if id(item) in seen or isinstance(item, type):
            continue
        seen.add(id(item))
        total += item.nbytes if isinstance(item, np.ndarray) else sys.getsizeof(item, 0)
        if isinstance(item, Mapping):
            queue.extend(item.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            queue.extend(item)
        elif type(item).__module__.startswith(
            ("vendiscore.", "vendiscore_page.", "PIL.", "scipy.sparse")
        ):
            queue.extend(gc.get_referents(item))
    return total
