"""Docstrings of the public API are complete according to numpydoc's validator."""

import inspect
import tomllib
from functools import cached_property
from pathlib import Path

import pytest
from documented_paths import ENTRIES, is_error, load_path
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import get_validation_checks, validate

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CHECKS = get_validation_checks(set(CONFIG["numpydoc_validation"]["checks"]))
# Checks that errors and methods need not pass: cross-references and examples.
OPTIONAL = {"SA01", "EX01"}
OBJECTS = [entry.path for entry in ENTRIES if entry.kind not in ("module", "data")]


def list_members(entry):
    """Return the paths of the documented methods and properties of a class."""
    names = entry.members or ()
    if entry.has_all_members:  # those with a docstring, as autodoc does
        names = [
            name
            for name, member in vars(load_path(entry.path)).items()
            if not name.startswith("_")
            and (inspect.isroutine(member) or isinstance(member, (property, cached_property)))
            and member.__doc__
        ]
    return [f"{entry.path}.{name}" for name in names]


METHODS = [
    path
    for entry in ENTRIES
    if entry.kind in ("class", "exception")
    for path in list_members(entry)
]


def find_problems(path):
    """Return the findings of numpydoc for the object or member at a documented path."""
    if path in OBJECTS:
        documented_object = load_path(path)
        skipped = OPTIONAL if is_error(documented_object) else set()
        if inspect.isclass(documented_object) and is_made_by_package(documented_object):
            skipped = skipped | {"PR01"}
        documented = get_doc_object(documented_object)
    else:
        owner, _, name = path.rpartition(".")
        skipped = OPTIONAL
        member = inspect.getattr_static(load_path(owner), name)
        if isinstance(member, (property, cached_property)):
            skipped = skipped | {"RT01"}
        for wrapped in ("fget", "func", "__func__"):
            member = getattr(member, wrapped, member)
        documented = get_doc_object(member)
    errors = validate(documented)["errors"]
    return [(code, text) for code, text in errors if code in CHECKS - skipped]


def is_made_by_package(documented_class):
    """Return whether only the package constructs a class: it has attributes and no parameters."""
    documentation = get_doc_object(documented_class)
    return is_error(documented_class) or (
        bool(documentation["Attributes"]) and not documentation["Parameters"]
    )


@pytest.mark.parametrize("path", OBJECTS)
def test_public_objects_have_complete_docstrings(path):
    assert find_problems(path) == []


@pytest.mark.parametrize("path", METHODS)
def test_documented_methods_have_complete_docstrings(path):
    assert find_problems(path) == []


@pytest.mark.parametrize("path", OBJECTS)
def test_attributes_have_descriptions(path):
    documented_object = load_path(path)
    if inspect.isclass(documented_object):
        attributes = get_doc_object(documented_object)["Attributes"]
        attribute_names = [attribute.name for attribute in attributes if attribute.type]
        described = [attribute.name for attribute in attributes if attribute.desc]
        assert set(attribute_names) <= set(described)
