"""How much memory something holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp


def size_of(value: Any) -> int:
    """Return bytes of the arrays, strings and objects that a value leads to, each counted once."""
    seen: set[int] = set()
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            base = one
            while isinstance(base.base, np.ndarray):
                base = base.base
            if base is not one:
                waiting.append(base)
            else:
                total += one.nbytes
            continue
        total += sys.getsizeof(one, 0)
        waiting.extend(_parts(one))
    return total


def _parts(one: Any) -> Iterator[Any]:
    if isinstance(one, (str, bytes, int, float)):
        return
    if sp.issparse(one):
        yield from (one.data, getattr(one, "indices", None), getattr(one, "indptr", None))
    elif isinstance(one, Mapping):
        yield from one.values()
    elif isinstance(one, (list, tuple, set, frozenset)):
        yield from one
    elif type(one).__module__.startswith(("vendiscore.", "PIL.")) and hasattr(one, "__dict__"):
        yield from vars(one).values()
