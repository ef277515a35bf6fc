"""The magnitude function, and its value at the scale that a visitor picks."""

from __future__ import annotations

from typing import NamedTuple

from ..magnitude.curve import REACH, Curve, magnitude_curve
from ..similarity.base import Similarity

FURTHEST = REACH  # that can be picked, in convergence scales


class Zoom(NamedTuple):
    """A magnitude function, a scale t that was picked, the magnitude there and at t = 1."""

    curve: Curve
    t: float
    magnitude: float
    unzoomed: float


def zoomed(similarity: Similarity, zoom: float = 1.0) -> Zoom | None:
    """The magnitude function at `zoom` convergence scales.

    None if all samples are the same: then there is no scale to look at.

    Raises
    ------
    ValueError, ArithmeticError
        If the distances √(2 − 2k) are no metric, or a magnitude was not found.
    """
    curve = magnitude_curve(similarity)
    if curve.convergence == 0:
        return None
    t = zoom * curve.convergence
    return Zoom(curve, t, curve.at(t), curve.at(1.0))
