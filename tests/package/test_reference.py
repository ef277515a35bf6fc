"""The reference documents every public name once, and docstrings list all parameters."""

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
REPORT = importlib.import_module("vendiscore.report")  # `vendiscore.report` is also the function
INTEGRATIONS = "vendiscore.integrations."  # these modules need optional packages
# A section heading of a numpydoc docstring.
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


CALLABLES = [entry for entry in ENTRIES if entry.kind not in ("module", "data")]


def parse_sections(documented):
    """Return {name: text} of a docstring; the text before the first section is under ""."""
    summary, *parts = HEADING.split(inspect.getdoc(documented) or "")
    return {"": summary} | dict(zip(parts[::2], parts[1::2], strict=True))


def parse_fields(text):
    """Return {names, type: description} of a section of parameters or attributes."""
    result, heading = {}, None
    for line in text.strip().splitlines():
        if line and not line.startswith(" "):
            heading = line
            result[heading] = ""
        elif heading:
            result[heading] += f"{line.strip()}\n"
    return result


def parse_names(text):
    """Return the names in a section of parameters or attributes, in order."""
    headings = [heading.partition(" : ")[0] for heading in parse_fields(text)]
    return [name.strip().lstrip("*") for heading in headings for name in heading.split(",")]


def signature_parameters(documented):
    return [name for name in inspect.signature(documented).parameters if name != "self"]


def described_parameters(sections):
    """Return the names of parameters in both sections of a docstring, in order."""
    return [
        name
        for heading in ("Parameters", "Other Parameters")
        for name in parse_names(sections.get(heading, ""))
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
    documented = load_path(entry.path)
    assert inspect.isclass(documented) == (entry.kind in ("class", "exception"))
    assert is_error(documented) == (entry.kind == "exception")
    for name in entry.members or ():
        member = inspect.getattr_static(documented, name)
        assert inspect.getdoc(member) or name in parse_names(
            parse_sections(documented)["Attributes"]
        )
    if entry.path not in PUBLIC:
        assert all(documented is not load_path(path) for path in PUBLIC)


@pytest.mark.parametrize("entry", CALLABLES, ids=str)
def test_docstring_lists_parameters_of_signature(entry):
    documented = load_path(entry.path)
    doc_sections = parse_sections(documented)
    if inspect.isclass(documented) and "Parameters" not in doc_sections:
        # Users do not construct it: it is raised, subclassed or returned.
        not_constructed_by_users = (
            "__init__" not in vars(documented)
            or is_error(documented)
            or isinstance(documented, abc.ABCMeta)
        )
        assert not_constructed_by_users or is_mentioned_elsewhere(documented)
        assert not_constructed_by_users or parse_names(doc_sections["Attributes"])
        return
    assert described_parameters(doc_sections) == [
        n for n in parameters_in_docstring_order(documented, doc_sections) if n
    ]


def parameters_in_docstring_order(documented, doc_sections):
    """Return the parameters of a signature in the order of the docstring."""
    described_names, parameter_names = (
        described_parameters(doc_sections),
        signature_parameters(documented),
    )
    return sorted(
        parameter_names,
        key=lambda name: (
            described_names.index(name) if name in described_names else len(described_names)
        ),
    )


def is_mentioned_elsewhere(documented):
    """Return whether the docstring of another documented object mentions it."""
    word = re.compile(rf"\b{documented.__name__}s?\b")
    for entry in CALLABLES:
        if (
            entry.path.startswith(INTEGRATIONS)
            or (other_object := load_path(entry.path)) is documented
        ):
            continue
        members = vars(other_object).values() if inspect.isclass(other_object) else ()
        if any(word.search(inspect.getdoc(item) or "") for item in (other_object, *members)):
            return True
    return False
