"""Scores of a set as its near-duplicates are removed, the most redundant first."""

import numpy as np

from vendiscore.report import Findings

from ..aliases import Record

_DIGITS = 4  # decimal places of thresholds
_STEPS = 12


def thinning(found: Findings) -> Record:
    """Compute the score without near-duplicates at several thresholds, one spectrum for each."""
    explained = found.explanation
    thresholds, removed, scores = [1.0], [0], [explained.score]
    for threshold in sorted(_even(found), reverse=True):
        at = explained.rethreshold(threshold)
        repeats = explained.n - len(at.kept)
        if repeats > removed[-1]:
            thresholds.append(threshold)
            removed.append(repeats)
            scores.append(at.score_without_duplicates)
    return {"thresholds": thresholds, "removed": removed, "VS": scores}


def _even(found: Findings) -> list[float]:
    """Return thresholds above the floor at which evenly growing numbers of samples are repeats."""
    explained = found.explanation
    floor = explained.floor
    closest = -np.sort(-explained.nearest_similarity)
    closest = closest[closest >= floor]
    if explained.n < 2 or not len(closest):
        return []
    ends = np.unique(np.linspace(0, len(closest) - 1, _STEPS).round().astype(int))
    unit = 10.0**_DIGITS
    even = np.floor(np.minimum(closest[ends], 1.0) * unit) / unit
    return sorted({max(floor, float(value)) for value in even} | {floor})
