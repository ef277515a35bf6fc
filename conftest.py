"""Keep what an example registers to itself, and skip by `--base` what needs a missing package."""

from collections.abc import Iterator
from doctest import UnexpectedException
from importlib.util import find_spec

import pytest

from vendiscore import list_kernels, list_measures
from vendiscore.resolve.registry import Registry
from vendiscore.support.optional import BASE_PACKAGES


@pytest.fixture
def own_registry(monkeypatch):
    """Forget after the test what it registers."""
    list_kernels()
    list_measures()
    for kind in Registry._registries:
        monkeypatch.setattr(kind, "registrations", dict(kind.registrations))


@pytest.fixture(autouse=True)
def _examples_have_their_own(request):
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("own_registry")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    except (ImportError, UnexpectedException) as error:
        cause = error.exc_info[1] if isinstance(error, UnexpectedException) else error
        name = (getattr(cause, "name", "") or "").partition(".")[0]
        missing = isinstance(cause, ImportError) and not find_spec(name or "vendiscore")
        if not item.config.getoption("--base", False) or name in BASE_PACKAGES or not missing:
            raise
        pytest.skip(f"needs {name}")
