"""Imports by documented paths, also after pytest has left a module half imported.

pytest imports every module to run its examples, and skips those whose package is not installed.
What such a module had defined by then stays in `sys.modules`.
"""

import importlib
import sys
from typing import Any

import pytest

from vendiscore import MissingPackageError


def import_name(module: str, name: str) -> Any:
    """Return a name of a module; skip the test if the module needs a missing package."""
    if module in sys.modules and not hasattr(sys.modules[module], name):
        del sys.modules[module]
    try:
        return getattr(importlib.import_module(module), name)
    except MissingPackageError as error:
        pytest.skip(str(error))
    except ImportError as error:  # the module that it forwards is half imported
        if sys.modules.pop(error.name or "", None) is None:
            raise
        return import_name(module, name)
