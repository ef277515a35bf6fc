"""Registries of kernels and measures, including those from local files and installed packages.

If a file or package cannot be imported, a warning is emitted and its entries are not registered.
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
# Name of the folder in which users add kernels. It is on the path of `vendiscore.kernels`.
LOCAL_FOLDER = "kernels"
_ROOT = __name__.partition(".")[0]  # name of this package


class Registry(Generic[Entry]):
    """A registry of kernels or measures by name, imported on demand.

    `kind` is "kernel" or "measure", for messages. `package` is the subpackage with the modules that
    define the built-in entries. `names` maps each of these modules to the names of its entries,
    separated by spaces.
    """

    _registries: ClassVar[list[Registry[Any]]] = []
    _loading: ClassVar[threading.RLock] = threading.RLock()
    # Reasons why files and packages could not be imported, by file or package.
    import_errors: ClassVar[dict[str, str]] = {}
    # Incremented by each change of a registry. Part of the key of a cache of parsed requests, so
    # that requests parsed before a change are not reused.
    version: ClassVar[int] = 0
    _loaded_local_files: ClassVar[bool] = False

    def __init__(self, kind: str, package: str, names: Mapping[str, str]) -> None:
        self.kind = kind
        self.package = package
        # The module of each built-in entry, by name.
        self.modules: dict[str, str] = {}
        for module, entry_names in names.items():
            self.modules |= dict.fromkeys(entry_names.split(), f"{_ROOT}.{package}.{module}")
        # Each registered entry with its function, by name.
        self.registrations: dict[str, tuple[Entry, Callable[..., object]]] = {}
        self._is_complete = False  # whether all modules and plugins have been imported
        self._registries.append(self)

    def add(self, name: str, entry: Entry, function: Callable[..., object]) -> None:
        """Register an entry and the function that defines it.

        Raise a ValueError if another function is registered under this name. A function that was
        reloaded or imported again, as another module, replaces the earlier one.
        """
        if name in self.modules:  # import the built-in entry first
            importlib.import_module(self.modules[name])
        _, other_function = self.registrations.get(name, (None, None))
        if (
            other_function
            and _qualified_name(other_function) != _qualified_name(function)
            and _find_definition(other_function) != _find_definition(function)
        ):
            raise ValueError(
                f"{self.kind} {name!r} is already registered by {_qualified_name(other_function)} "
                f"in {_find_definition(other_function)[0]}; choose another name for the "
                f"{self.kind} in {_find_definition(function)[0]}"
            )
        self.registrations[name] = entry, function
        Registry.version += 1

    @property
    def entries(self) -> dict[str, Entry]:
        """All kernels or measures registered so far, by name."""
        return {name: entry for name, (entry, _) in sorted(self.registrations.items())}

    def find(self, name: str) -> Entry | None:
        """Return the entry with this name, or None if there is none.

        If no entry with this name is registered yet, the module of the built-in entry is imported.
        If the name is not built in, all modules, local files and installed plugins are imported.
        """
        if name not in self.registrations:
            if name in self.modules:
                importlib.import_module(self.modules[name])
            else:
                self.load()
        return self.registrations[name][0] if name in self.registrations else None

    def load(self) -> None:
        """Import all modules, local files and installed packages that register entries."""
        with self._loading:
            if not self._is_complete:
                self._is_complete = True  # set first: an imported module may call `load`
                for module in self.modules.values():
                    importlib.import_module(module)
                self._load_local_files()
                # The import takes 20 ms, and built-in entries do not need it.
                from importlib.metadata import entry_points

                for entry in entry_points(group=f"{_ROOT}.{self.package}"):
                    source = f"{entry.name!r} ({entry.value})"
                    with self._undo_on_error(source, "update or uninstall this package"):
                        entry.load()

    @classmethod
    def _load_local_files(cls) -> None:
        """Import the files that users added to the folder `kernels`; warn about failing ones.

        They may register kernels and measures, so this is done once for all registries.
        """
        if cls._loaded_local_files:
            return
        cls._loaded_local_files = True
        package = importlib.import_module(f"{_ROOT}.{LOCAL_FOLDER}")
        # The first folder is part of this package; local folders were added to its path later.
        builtin_folder, *local_folders = package.__path__
        builtin_names = [module.name for module in pkgutil.iter_modules([builtin_folder])]
        for folder in local_folders:
            for module in pkgutil.iter_modules([folder]):
                file = Path(folder, module.name + ("" if module.ispkg else ".py"))
                with cls._undo_on_error(str(file), "correct or remove this file"):
                    if module.name in builtin_names:
                        raise ValueError(
                            f"{file.name} must not have the name of the built-in file "
                            f"{Path(builtin_folder, file.name)}; rename it"
                        )
                    importlib.import_module(f"{package.__name__}.{module.name}")

    @classmethod
    @contextmanager
    def _undo_on_error(cls, source: str, hint: str) -> Iterator[None]:
        """Catch an error within this context, undo registrations made in it, and emit a warning.

        `source` names the file or package that is imported, and `hint` ends the warning.
        """
        names_before = [set(registry.registrations) for registry in cls._registries]
        try:
            yield
        # A file may be a script that calls sys.exit().
        except (Exception, SystemExit) as error:
            for registry, names in zip(cls._registries, names_before, strict=True):
                # Built-in entries (`modules`) may have been imported by the failing file, and
                # remain valid.
                for name in set(registry.registrations) - names - registry.modules.keys():
                    del registry.registrations[name]
            Registry.version += 1
            reason = f"{type(error).__name__}: {error}; {hint}"
            cls.import_errors[source] = reason
            warn(f"cannot import the kernels of {source}: {reason}")


def get_option_defaults(function: Callable[..., object]) -> Record:
    """Return the options of the function of a kernel or measure, as a dict to their defaults.

    The options are all parameters except the first one, which receives the samples.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def get_docstring_summary(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _qualified_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _find_definition(function: Callable[..., object]) -> tuple[str, str]:
    """Return the file and qualified name of a function.

    Unlike the module name, they do not change if a file is imported again as another module.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    return getattr(code, "co_filename", function.__module__), function.__qualname__
