"""SciPy's sparse arrays, under SciPy's names: imported by the first who makes one.

Their import takes longer than that of NumPy, and few texts and vectors need none.
"""

from __future__ import annotations

import importlib
from typing import Any

from .namespace import is_sparse as issparse

__all__ = ["issparse"]  # and all that SciPy has


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("scipy.sparse"), name)
