"""The reference has every public name once, and docstrings say what a reader needs."""

import abc
import importlib
import inspect
import re

import pytest
from documented_paths import ENTRIES, is_error, load_path

import vendiscore
from vendiscore import plots

PUBLIC = {f"vendiscore.{name}" for name in vendiscore.__all__}
PUBLIC |= {f"vendiscore.plots.{name}" for name in plots.__all__}
REPORT = importlib.import_module("vendiscore.report")  # whose name in the package is its function
OTHERS = "vendiscore.integrations."  # of which each needs the package that it is for
# A section of a docstring, as numpydoc has them.
HEAD = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


CALLABLES = [entry for entry in ENTRIES if entry.kind not in ("module", "data")]


def sections(thing):
    """Return {name: text} of a docstring; what comes before the first is under ""."""
    first, *rest = HEAD.split(inspect.getdoc(thing) or "")
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def fields(text):
    """Return {names, type: description} of a section of parameters or attributes."""
    result, now = {}, None
    for line in text.strip().splitlines():
        if line and not line.startswith(" "):
            now = line
            result[now] = ""
        elif now:
            result[now] += f"{line.strip()}\n"
    return result


def names(text):
    """Return the names in a section of parameters or attributes, in order."""
    heads = [head.partition(" : ")[0] for head in fields(text)]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def parameters(thing):
    return [name for name in inspect.signature(thing).parameters if name != "self"]


def described(sections):
    """Return the names of parameters in both sections of a docstring, in order."""
    return [
        name
        for head in ("Parameters", "Other Parameters")
        for name in names(sections.get(head, ""))
    ]


def public_path(name):
    """Return the path under which the reference has a name of `vendiscore.report`."""
    result = getattr(REPORT, name)
    if not inspect.ismodule(result):
        return f"vendiscore.report.{name}"
    path = result.__name__.replace(".tools.reports.", ".report.")
    return path.replace(".tools.", ".")  # modules in `tools` have their documented paths outside


PUBLIC |= {public_path(name) for name in REPORT.__all__ if name != "report"}


def test_every_public_name_is_documented_once():
    paths = [entry.path for entry in ENTRIES]
    assert sorted(path for path in paths if path in PUBLIC) == sorted(PUBLIC)
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_documented_objects_exist_under_public_paths(entry):
    thing = load_path(entry.path)
    assert inspect.isclass(thing) == (entry.kind in ("class", "exception"))
    assert is_error(thing) == (entry.kind == "exception")
    for name in entry.members or ():
        member = inspect.getattr_static(thing, name)
        assert inspect.getdoc(member) or name in names(sections(thing)["Attributes"])
    if entry.path not in PUBLIC:
        assert all(thing is not load_path(path) for path in PUBLIC)


@pytest.mark.parametrize("entry", CALLABLES, ids=str)
def test_docstring_lists_parameters_of_signature(entry):
    thing = load_path(entry.path)
    said = sections(thing)
    if inspect.isclass(thing) and "Parameters" not in said:
        # Nobody makes one: it is raised, subclassed, made as its parent is, or what a call returns.
        made = "__init__" not in vars(thing) or is_error(thing) or isinstance(thing, abc.ABCMeta)
        assert made or is_returned(thing)
        assert made or names(said["Attributes"])
        return
    assert described(said) == [n for n in in_order(thing, said) if n]


def in_order(thing, said):
    """Return the parameters of a signature in the order of the docstring, which is free to choose
    one."""
    told, own = described(said), parameters(thing)
    return sorted(own, key=lambda name: told.index(name) if name in told else len(told))


def is_returned(thing):
    """Return whether the docstring of something else that is documented speaks of it."""
    word = re.compile(rf"\b{thing.__name__}s?\b")
    for entry in CALLABLES:
        if entry.path.startswith(OTHERS) or (other := load_path(entry.path)) is thing:
            continue
        members = vars(other).values() if inspect.isclass(other) else ()
        if any(word.search(inspect.getdoc(each) or "") for each in (other, *members)):
            return True
    return False
