"""A lazy alias of scipy.sparse, which is imported on first use because its import takes long."""

import importlib
from typing import Any

from ..support.namespace import is_sparse as issparse

__all__ = ["issparse"]  # other names of scipy.sparse are resolved by `__getattr__`


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("scipy.sparse"), name)
