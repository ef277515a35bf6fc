"""Pytest hooks for tests and examples in docstrings.

Kernels and measures that an example registers are removed after it. With `--base`, tests that need
a package that is not installed are skipped.
"""

from collections.abc import Iterator
from doctest import UnexpectedException
from importlib.util import find_spec

import pytest

from vendiscore import list_kernels, list_measures
from vendiscore.resolve.registry import Registry
from vendiscore.support.optional import BASE_PACKAGES


@pytest.fixture
def restored_registries(monkeypatch):
    """Remove the kernels and measures that a test registers after the test."""
    list_kernels()  # loads all registrations
    list_measures()
    for registry in Registry._registries:
        monkeypatch.setattr(registry, "registrations", dict(registry.registrations))


@pytest.fixture(autouse=True)
def _restore_registries_after_example(request):
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("restored_registries")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """With `--base`, skip a test that fails because an optional package is not installed."""
    try:
        return (yield)
    except (ImportError, UnexpectedException) as error:
        # Doctest wraps exceptions of examples.
        cause = error.exc_info[1] if isinstance(error, UnexpectedException) else error
        name = (getattr(cause, "name", "") or "").partition(".")[0]
        is_missing = isinstance(cause, ImportError) and not find_spec(name or "vendiscore")
        if not item.config.getoption("--base", False) or name in BASE_PACKAGES or not is_missing:
            raise
        pytest.skip(f"needs {name}")
