"""A number with its error and its route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number, its absolute standard error, and its route with the reason."""

    value: Any
    route: str
    why: str
    error: float = 0.0

    @property
    def exact(self) -> bool:
        """True if the number is exact up to rounding."""
        return not self.error


@dataclass(frozen=True)
class Estimating:
    """The request of an estimate; `rtol` is two standard errors, relative to the score."""

    rtol: float = 2e-3
    seed: int = 0

    @property
    def error(self) -> float:
        """The largest standard error, as a share of the score."""
        return self.rtol / 2
