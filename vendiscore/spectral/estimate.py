"""A score with its standard error, and the options of an estimate."""

from dataclasses import dataclass

from ..support.types import Number


@dataclass(frozen=True)
class Estimate:
    """A score with its standard error, which is 0 for exact scores.

    `route` is the name of the method that computed the score, and `reason` why it was selected.
    """

    value: Number
    route: str
    reason: str
    error: float = 0.0


@dataclass(frozen=True)
class EstimateOptions:
    """Options of method="estimate": a tolerance and the seed of the random vectors.

    Two standard errors, relative to the score, are at most `rtol`.
    """

    rtol: float = 2e-3
    seed: int = 0
