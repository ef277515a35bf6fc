"""Check that inputs are rejected with a short message, in little time and memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import pytest

from vendiscore_page.inputs.uploads import UserInput
from vendiscore_page.quotas import RefusedError

_MAX_MEMORY = 1_500_000  # kB of peak memory


def make_upload(name: str, data: bytes | str) -> UserInput:
    return UserInput(files=[(name, data.encode() if isinstance(data, str) else data)])


def get_rejection_message(work: Callable[..., Any], *args: Any) -> str:
    """Return the error message; check that the call takes little time and memory."""
    start = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RefusedError) as caught:
        work(*args)
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < _MAX_MEMORY
    message = str(caught.value)
    assert "Traceback" not in message
    assert len(message) < 400
    return message
