"""Kernels and measures that an example registers are gone after it."""

import pytest

from vendiscore.plugins import Plugins


@pytest.fixture(autouse=True)
def _registry_as_it_was(request, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        for kind in Plugins._kinds:
            kind.load()
            monkeypatch.setattr(kind, "made", dict(kind.made))
