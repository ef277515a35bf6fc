"""Kernels and measures from files and installed packages; failing imports only warn."""

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

Thing = TypeVar("Thing")
# The folder for files of users: `vendiscore.kernels` has it as a second folder.
DROPPED = "kernels"
_ROOT = __name__.partition(".")[0]  # the package


class Plugins(Generic[Thing]):
    """A registry of kernels or of measures, by name."""

    _kinds: ClassVar[list[Plugins[Any]]] = []
    _loading: ClassVar[threading.RLock] = threading.RLock()
    # Files and packages that could not be imported, and why.
    left_out: ClassVar[dict[str, str]] = {}
    version: ClassVar[int] = 0  # increases with each change of a registry
    _dropped: ClassVar[bool] = False

    def __init__(self, what: str, home: str, names: Mapping[str, str]) -> None:
        self.what = what
        self.home = home
        # The module of each entry of the package, by its name.
        self.modules: dict[str, str] = {}
        for module, entries in names.items():
            self.modules |= dict.fromkeys(entries.split(), f"{_ROOT}.{home}.{module}")
        self.made: dict[str, tuple[Thing, Callable[..., object]]] = {}
        self._complete = False  # whether all modules are imported, the package's and others'
        self._kinds.append(self)

    def add(self, name: str, thing: Thing, function: Callable[..., object]) -> None:
        """Register a function's kernel or measure; raise a ValueError if another has its name."""
        if name in self.modules:  # the package's entry comes first
            importlib.import_module(self.modules[name])
        _, other = self.made.get(name, (None, None))
        if other and _name(other) != _name(function) and _file(other) != _file(function):
            raise ValueError(
                f"{self.what} {name!r} is already registered by {_name(other)} in "
                f"{_file(other)[0]}; choose another name for the one in {_file(function)[0]}"
            )
        self.made[name] = thing, function
        Plugins.version += 1

    @property
    def named(self) -> dict[str, Thing]:
        """All kernels or measures registered so far."""
        return {name: thing for name, (thing, _) in sorted(self.made.items())}

    def find(self, name: str) -> Thing | None:
        """Return the entry of that name; import its module, or all if the package has none."""
        if name not in self.made:
            if name in self.modules:
                importlib.import_module(self.modules[name])
            else:
                self.load()
        return self.made[name][0] if name in self.made else None

    def load(self) -> None:
        """Import every file and package that registers entries."""
        with self._loading:
            if not self._complete:
                self._complete = True
                for module in self.modules.values():
                    importlib.import_module(module)
                self._load_dropped()
                from importlib.metadata import entry_points  # 20 ms; built-in kernels do without

                for entry in entry_points(group=f"{_ROOT}.{self.home}"):
                    where = f"{entry.name!r} ({entry.value})"
                    with self._all_or_none(where, "update or uninstall that package"):
                        entry.load()

    @classmethod
    def _load_dropped(cls) -> None:
        if cls._dropped:
            return
        cls._dropped = True
        package = importlib.import_module(f"{_ROOT}.{DROPPED}")
        own, *dropped = package.__path__
        known = [module.name for module in pkgutil.iter_modules([own])]
        for folder in dropped:
            for module in pkgutil.iter_modules([folder]):
                file = Path(folder, module.name + ("" if module.ispkg else ".py"))
                with cls._all_or_none(str(file), "correct or remove that file"):
                    if module.name in known:
                        raise ValueError(f"{Path(own, file.name)} has that name; rename it")
                    importlib.import_module(f"{package.__name__}.{module.name}")

    @classmethod
    @contextmanager
    def _all_or_none(cls, where: str, remedy: str) -> Iterator[None]:
        """Undo all registrations, of any kind, if there is an error."""
        before = [set(kind.made) for kind in cls._kinds]
        try:
            yield
        except (Exception, SystemExit) as error:
            for kind, names in zip(cls._kinds, before, strict=True):
                for name in set(kind.made) - names - kind.modules.keys():
                    del kind.made[name]
            Plugins.version += 1
            why = f"importing them failed with {type(error).__name__}: {error}; {remedy}"
            cls.left_out[where] = why
            warn(f"the kernels of {where} are left out, because {why}")


def options_of(function: Callable[..., object]) -> Record:
    """Return the arguments of a function after the first, with their defaults."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


def summary_of(function: Callable[..., object]) -> str:
    """Return the first line of its docstring."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _file(function: Callable[..., object]) -> tuple[str, str]:
    """Return where a function is defined, whatever name its file was imported under."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return getattr(code, "co_filename", function.__module__), function.__qualname__
