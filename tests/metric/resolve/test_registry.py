"""A registry contains entries of the package, of user files and of installed packages."""

import importlib.metadata
import sys
import types
import warnings

import pytest

from vendiscore.resolve.registry import Registry, get_docstring_summary, get_option_defaults


@pytest.fixture
def registry(monkeypatch):
    """Return an isolated registry with two modules of the package."""
    monkeypatch.setattr(Registry, "_registries", [])
    monkeypatch.setattr(Registry, "import_errors", {})
    monkeypatch.setattr(Registry, "_loaded_local_files", True)
    return Registry("kernel", "made_up", {"first": "a b", "second": "c"})


def add_module(monkeypatch, registry, name, *entries, error=None):
    """Add a module of the package that registers entries when it is imported."""

    class Loader:
        def create_module(self, spec):
            return None

        def exec_module(self, module):
            if error:
                raise error
            for entry in entries:
                registry.add(entry, f"thing {entry}", make_function(entry))

    spec = importlib.machinery.ModuleSpec(f"vendiscore.made_up.{name}", Loader())
    sys.modules.setdefault("vendiscore.made_up", types.ModuleType("vendiscore.made_up"))
    sys.modules["vendiscore.made_up"].__path__ = []
    monkeypatch.setitem(sys.modules, "vendiscore.made_up", sys.modules["vendiscore.made_up"])
    finder = types.SimpleNamespace(
        find_spec=lambda fullname, path=None, target=None: spec if fullname == spec.name else None
    )
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.delitem(sys.modules, spec.name, raising=False)


def make_function(name, file="file.py", module=None):
    """Return a function whose source file is `file`."""
    scope = {"__name__": module or file.removesuffix(".py")}
    exec(
        compile(f"def {name}(samples, size=3, *, mode='x'):\n    'A {name}.'", file, "exec"), scope
    )
    return scope[name]


def test_find_imports_only_the_module_of_a_name(registry, monkeypatch):
    add_module(monkeypatch, registry, "first", "a", "b")
    add_module(monkeypatch, registry, "second", error=AssertionError("not needed"))
    assert registry.entries == {}
    assert registry.find("b") == "thing b"
    assert registry.entries == {"a": "thing a", "b": "thing b"}


def test_find_imports_all_modules_for_an_unknown_name(registry, monkeypatch):
    add_module(monkeypatch, registry, "first", "b", "a")
    add_module(monkeypatch, registry, "second", "c")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    assert registry.find("zzz") is None
    assert [*registry.entries] == ["a", "b", "c"]


def test_add_replaces_an_earlier_version_of_the_same_function_only(registry):
    version = Registry.version
    registry.add("x", 1, make_function("f"))
    registry.add("x", 2, make_function("f"))
    assert registry.entries == {"x": 2}
    assert Registry.version == version + 2
    registry.add("x", 3, make_function("f", module="imported_by_path"))  # the same file
    assert registry.find("x") == 3
    with pytest.raises(
        ValueError, match=r"'x' is already registered by imported_by_path\.f in file\.py"
    ):
        registry.add("x", 4, make_function("g", "other.py"))


def test_add_rejects_names_of_the_package(registry, monkeypatch):
    add_module(monkeypatch, registry, "second", "c")
    with pytest.raises(ValueError, match="'c' is already registered by file"):
        registry.add("c", "mine", make_function("mine", "other.py"))


class Entry:
    """An entry point of an installed package."""

    name, value = "extra", "package.module"

    def __init__(self, load):
        self.load = load


def test_load_imports_entry_points_once(registry, monkeypatch):
    for name, entries in (("first", "ab"), ("second", "c")):
        add_module(monkeypatch, registry, name, *entries)
    groups = []

    def entry_points(group):
        groups.append(group)
        return [Entry(lambda: registry.add("x", "thing x", make_function("x", "package.py")))]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    registry.load()
    registry.load()
    assert groups == ["vendiscore.made_up"]
    assert registry.find("x") == "thing x"


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(3)], ids=repr)
def test_load_discards_all_entries_of_a_failing_package(registry, monkeypatch, error):
    for name, entries in (("first", "ab"), ("second", "c")):
        add_module(monkeypatch, registry, name, *entries)
    other_registry = Registry("measure", "others", {})

    def load():
        registry.add("x", 1, make_function("x"))
        other_registry.add("y", 1, make_function("y"))
        raise error

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry(load)])
    with pytest.warns(
        UserWarning, match=r"cannot import the kernels of 'extra' \(package\.module\)"
    ):
        registry.load()
    assert [*registry.entries] == ["a", "b", "c"]
    assert other_registry.entries == {}
    assert "update or uninstall this package" in Registry.import_errors["'extra' (package.module)"]


def test_local_files_are_imported_unless_a_module_has_their_name(registry, monkeypatch, tmp_path):
    package_folder, local_folder = tmp_path / "own", tmp_path / "dropped"
    package_folder.mkdir()
    local_folder.mkdir()
    (package_folder / "text.py").write_text("")
    (local_folder / "text.py").write_text("")
    (local_folder / "good.py").write_text("loaded = True")
    (local_folder / "bad.py").write_text("raise KeyError('why')")
    package = types.ModuleType("vendiscore.dropped_kernels")
    package.__path__ = [str(package_folder), str(local_folder)]
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setattr("vendiscore.resolve.registry.LOCAL_FOLDER", "dropped_kernels")
    monkeypatch.setattr(Registry, "_loaded_local_files", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Registry._load_local_files()
        Registry._load_local_files()
    messages = sorted(str(warning.message) for warning in caught)
    assert len(messages) == 2
    assert "bad.py: KeyError" in messages[0]
    assert "KeyError: 'why'" in messages[0]
    reason = f"text.py must not have the name of the built-in file {package_folder / 'text.py'}"
    assert f"{reason}; rename it" in messages[1]
    assert sys.modules.pop("vendiscore.dropped_kernels.good").loaded


def test_option_defaults_and_summary_come_from_the_function():
    assert get_option_defaults(make_function("f")) == {"size": 3, "mode": "x"}
    assert get_docstring_summary(make_function("f")) == "A f."
    assert get_docstring_summary(lambda samples: None) == ""
