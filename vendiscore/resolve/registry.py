"""Registration of kernels and measures from files and installed packages.

A file or package that cannot be imported causes only a warning.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from ..support.errors import warn
from ..support.types import Record

Entry = TypeVar("Entry")
# Folder for kernels of users, also searched by the package `vendiscore.kernels`.
LOCAL_FOLDER = "kernels"
_ROOT = __name__.partition(".")[0]  # name of this package


class Registry(Generic[Entry]):
    """A registry of kernels or measures by name, imported on demand."""

    _registries: ClassVar[list[Registry[Any]]] = []
    _loading: ClassVar[threading.RLock] = threading.RLock()
    # Reasons why files and packages could not be imported, by file or package.
    import_errors: ClassVar[dict[str, str]] = {}
    version: ClassVar[int] = 0  # incremented by each change of a registry
    _loaded_local_files: ClassVar[bool] = False

    def __init__(self, kind: str, package: str, names: Mapping[str, str]) -> None:
        self.kind = kind
        self.package = package
        # The module of each built-in entry, by name.
        self.modules: dict[str, str] = {}
        for module, entries in names.items():
            self.modules |= dict.fromkeys(entries.split(), f"{_ROOT}.{package}.{module}")
        self.registrations: dict[str, tuple[Entry, Callable[..., object]]] = {}
        self._is_complete = False  # whether all modules and plugins have been imported
        self._registries.append(self)

    def add(self, name: str, entry: Entry, function: Callable[..., object]) -> None:
        """Register an entry; raise a ValueError if another function has the same name."""
        if name in self.modules:  # import the built-in entry first
            importlib.import_module(self.modules[name])
        _, other = self.registrations.get(name, (None, None))
        if (
            other
            and _qualified_name(other) != _qualified_name(function)
            and _find_definition(other) != _find_definition(function)
        ):
            raise ValueError(
                f"{self.kind} {name!r} is already registered by {_qualified_name(other)} in "
                f"{_find_definition(other)[0]}; choose another name for the one in "
                f"{_find_definition(function)[0]}"
            )
        self.registrations[name] = entry, function
        Registry.version += 1

    @property
    def entries(self) -> dict[str, Entry]:
        """All kernels or measures registered so far."""
        return {name: thing for name, (thing, _) in sorted(self.registrations.items())}

    def find(self, name: str) -> Entry | None:
        """Return the entry with this name or None; import its module, or everything if unknown."""
        if name not in self.registrations:
            if name in self.modules:
                importlib.import_module(self.modules[name])
            else:
                self.load()
        return self.registrations[name][0] if name in self.registrations else None

    def load(self) -> None:
        """Import all files and packages that register entries."""
        with self._loading:
            if not self._is_complete:
                self._is_complete = True
                for module in self.modules.values():
                    importlib.import_module(module)
                self._load_local_files()
                # takes 20 ms and is not needed for built-in entries
                from importlib.metadata import entry_points

                for entry in entry_points(group=f"{_ROOT}.{self.package}"):
                    where = f"{entry.name!r} ({entry.value})"
                    with self._undo_on_error(where, "update or uninstall that package"):
                        entry.load()

    @classmethod
    def _load_local_files(cls) -> None:
        if cls._loaded_local_files:
            return
        cls._loaded_local_files = True
        package = importlib.import_module(f"{_ROOT}.{LOCAL_FOLDER}")
        own, *dropped = package.__path__
        known = [module.name for module in pkgutil.iter_modules([own])]
        for folder in dropped:
            for module in pkgutil.iter_modules([folder]):
                file = Path(folder, module.name + ("" if module.ispkg else ".py"))
                with cls._undo_on_error(str(file), "correct or remove that file"):
                    if module.name in known:
                        raise ValueError(f"{Path(own, file.name)} has that name; rename it")
                    importlib.import_module(f"{package.__name__}.{module.name}")

    @classmethod
    @contextmanager
    def _undo_on_error(cls, source: str, hint: str) -> Iterator[None]:
        """Undo all registrations made within this context if an error occurs."""
        before = [set(kind.registrations) for kind in cls._registries]
        try:
            yield
        except (Exception, SystemExit) as error:
            for kind, names in zip(cls._registries, before, strict=True):
                for name in set(kind.registrations) - names - kind.modules.keys():
                    del kind.registrations[name]
            Registry.version += 1
            why = f"importing them failed with {type(error).__name__}: {error}; {hint}"
            cls.import_errors[source] = why
            warn(f"the kernels of {source} are left out, because {why}")


def get_option_defaults(function: Callable[..., object]) -> Record:
    """Return the parameters of a function after the first, with their defaults."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def get_docstring_summary(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _qualified_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _find_definition(function: Callable[..., object]) -> tuple[str, str]:
    """Return the file and name of a function, independent of the module name of the file."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return getattr(code, "co_filename", function.__module__), function.__qualname__
