"""Scores of a set as its near-duplicates are removed, the most redundant first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import integer
from .sample_table import Explanation

_DIGITS = 4  # decimal places of the default thresholds


@dataclass(frozen=True, eq=False)
class Thinning:
    """VS_q of a set without near-duplicates, and the number removed, at descending thresholds."""

    thresholds: np.ndarray
    removed: np.ndarray
    scores: np.ndarray

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as plain lists."""
        return {
            "thresholds": self.thresholds.tolist(),
            "removed": self.removed.tolist(),
            "VS": self.scores.tolist(),
        }


def thinning(explanation: Explanation, *, steps: int = 12) -> Thinning:
    """Compute the score without near-duplicates at several thresholds, one spectrum for each."""
    rows = [(1.0, 0, explanation.score)]
    for threshold in _even(explanation, integer("steps", steps)):
        at = explanation.rethreshold(threshold)
        removed = explanation.n - len(at.kept)
        if removed > rows[-1][1]:
            rows.append((threshold, removed, at.score_without_duplicates))
    return Thinning(*map(np.array, zip(*rows, strict=True)))


def _even(explanation: Explanation, steps: int) -> list[float]:
    """Return thresholds, descending to the floor, at which evenly more samples are repeats."""
    floor, closest = explanation.floor, np.sort(explanation.nearest_similarity)
    closest = closest[closest >= floor]
    if explanation.n < 2 or not len(closest):
        return []
    even = len(closest) - 1 - np.linspace(0, len(closest) - 1, steps).round().astype(int)
    unit = 10.0**_DIGITS
    levels = np.floor(np.minimum(closest[even], 1.0) * unit) / unit
    return np.unique(np.maximum(np.append(levels, floor), floor))[::-1].tolist()
