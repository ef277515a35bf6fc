"""How much memory something holds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np


def size_of(value: Any) -> int:
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
        elif type(one).__module__.startswith(("vendiscore.", "PIL.", "scipy.sparse")):
            waiting.extend(getattr(one, "__dict__", {}).values())
    return total
