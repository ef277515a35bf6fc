"""A score with its standard error, and the options of an estimate."""

from dataclasses import dataclass

from ..support.types import Number


@dataclass(frozen=True)
class Estimate:
    """A score, its standard error (0 if exact), the route that computed it, and the reason."""

    value: Number
    route: str
    reason: str
    error: float = 0.0


@dataclass(frozen=True)
class EstimateOptions:
    """Options of method="estimate"; `rtol` bounds two standard errors, relative to the score."""

    rtol: float = 2e-3
    seed: int = 0
