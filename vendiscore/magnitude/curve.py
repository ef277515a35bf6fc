"""The magnitude function of a set, for its picture and for the scale that a visitor picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..similarity.base import Similarity
from .distances import as_space
from .scales import convergence

EPSILON = 0.05  # the convergence scale is where magnitude reaches (1 − ε) of all points
STEPS = 24
FURTHEST = 1.5  # scales are drawn up to this many convergence scales


@dataclass(frozen=True)
class Scale:
    """Magnitude at many scales.

    Attributes
    ----------
    distinct : int
        Number of distinct samples, which magnitude approaches.
    scales, values : array
        Mag(t) at t from 0 to 1.5 convergence scales.
    convergence : float
        Where Mag(t) = 0.95 · distinct.
    chosen, magnitude : float
        The scale asked for and Mag(t) there.
    unzoomed : float
        Mag(1), which distances as they are give.
    """

    distinct: int
    scales: np.ndarray
    values: np.ndarray
    convergence: float
    chosen: float
    magnitude: float
    unzoomed: float


def look(similarity: Similarity, zoom: float = 1.0) -> Scale | None:
    """The magnitude function of a similarity through the distances √(2 − 2k).

    Parameters
    ----------
    similarity : Similarity
    zoom : float
        The scale asked for, in convergence scales.

    Returns
    -------
    Scale or None
        None if all samples are the same: there is no scale to look at.
    """
    space = as_space(similarity)
    limit = convergence(space, EPSILON)
    if limit == 0:
        return None
    scales = np.linspace(0, FURTHEST * limit, STEPS + 1)
    values = np.array([space.magnitude(t) for t in scales])
    chosen = zoom * limit
    at = space.magnitude(chosen)
    return Scale(space.distinct, scales, values, limit, chosen, at, space.magnitude(1.0))
