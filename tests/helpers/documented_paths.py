"""Import objects by their documented paths, also if pytest left a module half imported.

pytest imports every module to run its examples, and skips those whose package is not installed.
What such a module had defined by then stays in `sys.modules`.
"""

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vendiscore import MissingPackageError

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "reference").glob("*.md"))
DIRECTIVE = re.compile(r"^\.\. (?:auto|py:)(\w+):: (\S+)\n(?:   :(members):(.*)\n)?", re.MULTILINE)


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


@dataclass(frozen=True)
class Entry:
    """An object that a page documents, such as ``.. autoclass:: vendiscore.State``.

    `members` are the names after the option ``:members:``, or None without names. The option
    without names documents all members.
    """

    page: str
    kind: str
    path: str
    members: tuple[str, ...] | None
    has_all_members: bool

    def __str__(self):
        return self.path


def iter_entries():
    """Yield an entry for each Sphinx directive in docs/reference that documents an object."""
    for page in PAGES:
        for kind, path, option, members in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            named_members = tuple(name.strip() for name in members.split(",") if name.strip())
            yield Entry(
                page=page.stem,
                kind=kind,
                path=path,
                members=named_members or None,
                has_all_members=option == "members" and not named_members,
            )


ENTRIES = list(iter_entries())
DOCUMENTED_MODULES = {entry.path for entry in ENTRIES if entry.kind == "module"}


def load_path(path):
    """Return the object at a documented path; skip the test if it needs a missing package."""
    if path in DOCUMENTED_MODULES:
        return importlib.import_module(path)
    module, _, name = path.rpartition(".")
    return import_name(module, name)


def is_error(thing):
    return isinstance(thing, type) and issubclass(thing, Exception)
