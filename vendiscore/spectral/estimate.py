"""A number with how sure it is and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number, how far it may be off, and the route by which it came.

    Attributes
    ----------
    value : float (or 0-d torch tensor)
    route : str
        Name of what found it, such as "covariance".
    why : str
        Why that one, in words.
    error : float
        Standard error. 0 for an exact number: rounding is not counted, nor what single precision
        may move, which is less than 1e-6 (relative).
    low, high : float, optional
        Bounds that are proved, where there are any.
    """

    value: Any
    route: str
    why: str
    error: float = 0.0
    low: float | None = None
    high: float | None = None
