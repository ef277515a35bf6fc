"""A score with its standard error, and the options of an estimate."""

from dataclasses import dataclass

from ..support.types import Number


@dataclass(frozen=True)
class Estimate:
    """A score (`value`) with its standard error (`error`), which is 0 for exact scores.

    `route` is the name of the method that computed the score, such as "eigenvalues", and `reason` a
    text that says why this method was selected.
    """

    value: Number
    route: str
    reason: str
    error: float = 0.0


@dataclass(frozen=True)
class EstimateOptions:
    """Options of method="estimate", which estimates scores from products with random vectors.

    Two standard errors, divided by the score, are at most `rtol`. `seed` is the seed of the random
    vectors.
    """

    rtol: float = 2e-3
    seed: int = 0
