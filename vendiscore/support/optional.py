"""Import of optional packages; the error about a missing package shows how to install it."""

import importlib
import sys
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType

from .. import __version__

# Required packages; pyproject.toml has the versions. In a Hugging Face Space, the package may be
# imported without having been installed, so this module reports all missing packages at once.
BASE_PACKAGES = ("array_api_compat", "numpy", "psutil", "scipy", "threadpoolctl", "tqdm")
# Further packages that are needed together with a package of an extra, by (package, extra).
_ADDITIONAL_PACKAGES = {
    ("torch", "text"): ("transformers",),
    ("torch", "images"): ("torchvision", "transformers", "PIL"),
    ("transformers", "train"): ("accelerate", "torch"),
}
# Modules whose package has another name on PyPI.
_PYPI_NAMES = {"PIL": "pillow", "sklearn": "scikit-learn"}


def _missing(names: tuple[str, ...]) -> list[str]:
    """Return the names of packages that are not installed."""
    return [name for name in names if sys.modules.get(name) is None and find_spec(name) is None]


def _format_pip_command(names: list[str]) -> str:
    return " ".join(["pip install", *(_PYPI_NAMES.get(name, name) for name in names)])


if _missing_base := _missing(BASE_PACKAGES):
    raise ModuleNotFoundError(
        f"vendiscore requires packages that are not installed; run "
        f"`{_format_pip_command(_missing_base)}`",
        name=_missing_base[0],
    )


class MissingPackageError(ImportError):
    """An optional package that this call needs is not installed.

    The message includes the command that installs it.

    Attributes
    ----------
    package : str
        The missing module.
    extra : str
        The extra of vendiscore that installs it.
    purpose : str
        What needs the package.
    command : str
        The command that installs it.

    Examples
    --------
    >>> raise MissingPackageError("rdkit", "molecules", "k='morgan'", "pip install rdkit")
    Traceback (most recent call last):
    ...
    vendiscore.support.optional.MissingPackageError: k='morgan' needs the package 'rdkit', ...
    """

    def __init__(self, package: str, extra: str, purpose: str, command: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed: {command}",
            name=package,
        )
        self.package = package
        self.extra = extra
        self.purpose = purpose
        self.command = command

    def __reduce__(self) -> tuple[type, tuple[str, ...]]:
        return type(self), (self.package, self.extra, self.purpose, self.command)


def versions() -> dict[str, str]:
    """Return the versions of vendiscore and of the packages that scores depend on.

    `evaluate` is included if it is installed.
    """
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

    package_versions = {name: version(name) for name in ("numpy", "scipy")}
    with suppress(PackageNotFoundError):
        package_versions["evaluate"] = version("evaluate")
    return package_versions | {"vendiscore": __version__}


def require(package: str, extra: str, purpose: str) -> ModuleType:
    """Import and return `package`; raise a MissingPackageError if it is not installed.

    `extra` is the extra of vendiscore that installs it, and `purpose` is what needs it, for the
    message.
    """
    root = package.partition(".")[0]
    # Import the package before its submodule, to distinguish a missing package from a missing
    # submodule.
    try:
        importlib.import_module(root)
    except ModuleNotFoundError as error:
        if error.name != root:  # the package is installed, but not a package that it imports
            raise
        other_packages = _missing(_ADDITIONAL_PACKAGES.get((root, extra), ()))
        raise MissingPackageError(
            root, extra, purpose, _format_pip_command([root, *other_packages])
        ) from None
    return importlib.import_module(package)


def is_network(x: object) -> bool:
    """Return whether `x` is a `torch.nn.Module`, without importing torch."""
    return any(
        base.__module__.partition(".")[0] == "torch" and base.__name__ == "Module"
        for base in type(x).__mro__
    )
