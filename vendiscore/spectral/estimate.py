"""A number with its error and its route."""

from __future__ import annotations

from collections.abc import Sequence
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

    def check_orders(self, orders: Sequence[float]) -> None:
        """Raise a ValueError for order 0, which cannot be estimated."""
        if 0 in orders:
            raise ValueError(
                "q=0 counts eigenvalues above rounding, which an estimate cannot; pass a small "
                "order such as q=0.1, or leave `method` out"
            )
