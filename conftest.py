"""Kernels and measures that an example registers are gone after it."""

import pytest

from vendiscore import list_kernels, list_measures
from vendiscore.resolve.plugins import Plugins


@pytest.fixture
def own_registry(monkeypatch):
    """What is registered is forgotten after the test."""
    list_kernels()
    list_measures()
    for kind in Plugins._kinds:
        monkeypatch.setattr(kind, "made", dict(kind.made))


@pytest.fixture(autouse=True)
def _examples_have_their_own(request):
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("own_registry")
