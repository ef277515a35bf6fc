"""A number with how sure it is and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number, how far it may be off, and the name of the route that found it, with the reason.

    `error` is an absolute standard error of random vectors, quadrature and products together: 0
    beside proved bounds `low` and `high`, and for an exact number. Rounding is not counted, nor
    what single precision may move, which is less than 1e-6 (relative).
    """

    value: Any
    route: str
    why: str
    error: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def exact(self) -> bool:
        """Whether nothing but rounding is between this and the number."""
        return not self.error and self.low is None

    @property
    def sureness(self) -> dict[str, float]:
        """Standard error or bounds, by what is added to the number's name."""
        if self.low is None or self.high is None:
            return {"se": self.error}
        return {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class Estimating:
    """The request of an estimate, where one will do instead of the exact number.

    `rtol` is the largest error relative to the number: one standard error, or half the distance
    between bounds. The number is off by less than two standard errors in about 95 of 100 runs.
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
