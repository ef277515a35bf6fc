"""Other packages: optional ones, imported only by the call that needs them, and all versions."""

from __future__ import annotations

import importlib
from importlib.metadata import version
from types import ModuleType

from . import __version__
from .errors import MissingPackageError


def versions() -> dict[str, str]:
    """What a number was computed with."""
    names = ("numpy", "scipy", "evaluate")
    return {name: version(name) for name in names} | {"vendiscore": __version__}


def require(package: str, extra: str, purpose: str) -> ModuleType:
    """The module `package`, or a `MissingPackageError` with the command that installs it.

    Parameters
    ----------
    package : str
        Import name, perhaps of a submodule ("torchvision.models").
    extra : str
        The extra of this distribution that brings it.
    purpose : str
        What needs it, as the subject of a sentence.

    Raises
    ------
    MissingPackageError
        If the package is not installed. One that is installed but fails to import raises its own
        error: another installation would not mend it.

    >>> require("json", "text", "an example").dumps([1])
    '[1]'
    """
    root = package.partition(".")[0]
    try:
        importlib.import_module(root)
    except ModuleNotFoundError as error:
        if error.name != root:
            raise
        raise MissingPackageError(root, extra, purpose) from None
    return importlib.import_module(package)
