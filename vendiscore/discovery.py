"""Where kernels come from: the files of the package, files dropped beside it, other packages.

Importing one is all: it registers its kernels. What fails of another's is left out, with a
warning, and does not take everyone's kernels away.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from .errors import warn

ENTRY_POINTS = "vendiscore.kernels"

# Where kernels should have come from, and why they did not.
left_out: dict[str, str] = {}


def discover(kernels: MutableMapping[str, Any]) -> None:
    """Import all that registers kernels, which it does in `kernels`."""
    package = importlib.import_module(f"{__package__}.kernels")
    own, *dropped = package.__path__
    built_in = [module.name for module in pkgutil.iter_modules([own])]
    for name in built_in:
        importlib.import_module(f"{package.__name__}.{name}")
    for module in pkgutil.iter_modules(dropped):
        file = Path(dropped[0], module.name + ("" if module.ispkg else ".py"))
        with _all_or_none(kernels, str(file), "mend or remove that file"):
            if module.name in built_in:
                raise ValueError(f"{Path(own, file.name)} has that name; rename it")
            importlib.import_module(f"{package.__name__}.{module.name}")
    for entry in entry_points(group=ENTRY_POINTS):
        where = f"{entry.name!r} ({entry.value})"
        with _all_or_none(kernels, where, "update or uninstall that package"):
            entry.load()


@contextmanager
def _all_or_none(kernels: MutableMapping[str, Any], where: str, remedy: str) -> Iterator[None]:
    """Of the kernels that are registered here, none stays if there is an error."""
    before = set(kernels)
    try:
        yield
    except Exception as error:
        for name in set(kernels) - before:
            del kernels[name]
        left_out[where] = f"importing them failed with {type(error).__name__}: {error}; {remedy}"
        warn(f"the kernels of {where} are left out, because {left_out[where]}")
