"""Start a process of our own fast: import of NumPy and NLTK only what scoring texts needs."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from importlib.util import find_spec, module_from_spec

_WITH_ALL_OF_NUMPY = ("scipy.sparse", "array_api_compat.numpy")
# Of all names of NumPy those that are imported when they are asked for, and take the longest.
_LATER = ("f2py", "testing")
_PACKAGES = ("nltk", "nltk.tokenize")
_TOKENIZER = "nltk.tokenize.destructive"


def import_little() -> None:
    """Import NumPy without its tools for Fortran, and NLTK only for its tokenizer."""
    import numpy as np

    missing = [name for name in _LATER if name not in vars(np)]
    for name in missing:
        setattr(np, name, None)
    with suppress(Exception):  # another version, which needs one of them
        for name in _WITH_ALL_OF_NUMPY:
            importlib.import_module(name)
    for name in missing:
        if vars(np)[name] is None:
            delattr(np, name)
    if any(name in sys.modules for name in _PACKAGES):
        return
    try:
        for name in _PACKAGES:  # as if they were empty, while the tokenizer is imported
            spec = find_spec(name)
            if spec is None:
                return
            sys.modules[name] = module_from_spec(spec)
        importlib.import_module(_TOKENIZER)
    except Exception:  # another version, which is imported as a whole, later
        for name in [name for name in sys.modules if name.startswith("nltk.")]:
            del sys.modules[name]
    finally:
        for name in _PACKAGES:
            sys.modules.pop(name, None)
