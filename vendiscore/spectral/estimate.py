"""A number with its error and its route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number, its error, and the route that found it, with the reason.

    `error` is an absolute standard error: 0 with proved bounds `low` and `high`, and if exact.
    Rounding is not counted, nor the effect of single precision, below 1e-6 (relative).
    """

    value: Any
    route: str
    why: str
    error: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def exact(self) -> bool:
        """Whether the number is exact up to rounding."""
        return not self.error and self.low is None

    @property
    def sureness(self) -> dict[str, float]:
        """Standard error or bounds, by the suffix of the number's name."""
        if self.low is None or self.high is None:
            return {"se": self.error}
        return {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class Estimating:
    """The request of an estimate instead of the exact number.

    `rtol` is the largest relative error: one standard error, or half the distance between bounds.
    """

    rtol: float = 1e-3
    seed: int = 0

    def check_orders(self, orders: Sequence[float]) -> None:
        """Raise a ValueError for order 0, of which there is no estimate."""
        if 0 in orders:
            raise ValueError(
                "q=0 counts eigenvalues above rounding, which an estimate cannot; pass a small "
                "order such as q=0.1, or leave `method` out"
            )
