"""Long work that pauses to say how far it is, so that a visitor can watch it and stop it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Value = TypeVar("Value")
# Yields words for who waits, and returns the result.
Steps = Generator[str, None, Value]


def finish(steps: Steps[Value]) -> Value:
    """Take all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Value = end.value
            return result
