"""A number with its error and its route."""

from dataclasses import dataclass

from ..support.types import Number


@dataclass(frozen=True)
class Estimate:
    """A number, its absolute standard error, and its route with the reason."""

    value: Number
    route: str
    reason: str
    error: float = 0.0


@dataclass(frozen=True)
class EstimateOptions:
    """The request of an estimate; `rtol` is two standard errors, relative to the score."""

    rtol: float = 2e-3
    seed: int = 0
