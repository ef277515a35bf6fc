"""SciPy's sparse arrays, under SciPy's names, imported at their first use.

The import takes longer than NumPy's, and small sets do not need it.
"""

import importlib
from typing import Any

from ..support.namespace import is_sparse as issparse

__all__ = ["issparse"]  # and all other names of scipy.sparse


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("scipy.sparse"), name)
