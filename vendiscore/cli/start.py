"""A start in a blink: what is needed of NumPy and NLTK without all else that they import."""

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


def arrays_alone() -> None:
    """Import what takes all names of NumPy, without its tools for Fortran and the like.

    That is a tenth of a short run. As for `tokenizer_alone`, they are there for whoever asks for
    them later.
    """
    import numpy as np

    held = [name for name in _LATER if name not in vars(np)]
    for name in held:
        setattr(np, name, None)
    with suppress(Exception):  # another version, which needs one of them
        for name in _WITH_ALL_OF_NUMPY:
            importlib.import_module(name)
    for name in held:
        if vars(np)[name] is None:
            delattr(np, name)


def tokenizer_alone() -> None:
    """Import the module of `NLTKWordTokenizer` as if its packages were empty.

    `import nltk` brings in SciPy's statistics, and scikit-learn and pandas where they are
    installed, which takes longer than to score a thousand texts. For a process of our own only,
    before it has threads: meanwhile the packages are there without their contents. They are taken
    away again, so that whoever imports them later gets them whole.
    """
    if any(name in sys.modules for name in _PACKAGES):
        return
    try:
        for name in _PACKAGES:
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
