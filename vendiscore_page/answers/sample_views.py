"""The single samples of a result: their table, their map, their similarities in colours."""

import base64
from dataclasses import replace

import numpy as np

from vendiscore.plots.set_structure import averaged
from vendiscore.report import Findings

from ..aliases import Record
from ..inputs.visitor_samples import Samples
from .jobs import Job

CELLS = 200  # rows and columns of the heat map
SPAN = 1000  # of the map


def columns(found: Findings, job: Job, samples: Samples, kept: list[int]) -> Record:
    """Return the samples whose pairs were looked at: a list for each column of their table."""
    explained, labels = found.explanation, job.labels
    places = found.places.tolist()
    return {
        "place": [samples.ids[kept[i]] for i in places],
        "text": None if job.texts is None else [job.texts(i) for i in places],
        "image": [job.pictures[i].thumbnail for i in places] if job.pictures else None,
        "group": None if labels is None else [labels[i] for i in places],
        "nearest": explained.neighbours.nearest.tolist() if explained.n > 1 else [-1],
        "similarity": rounded(explained.nearest_similarity, 4),
        "adds": rounded(-100 * np.expm1(-found.adds), 2),  # as a share of the score
        "repeats": explained.duplicates.redundant_of.tolist(),
    }


def alike(found: Findings, threshold: float | None = None) -> Record:
    """Return groups of near-duplicates by their rows in the table, and the score without these."""
    explained = found.explanation
    if threshold is not None:
        explained = explained.rethreshold(threshold)
    by_row = replace(explained, places=np.arange(explained.n))
    above, below = by_row.boundary()
    return {
        "threshold": explained.threshold,
        "repeats": list(explained.repeats.items()),
        "boundary": [*above[::-1], *below],
        "groups": [{"keep": keep, "rest": rest} for keep, rest in by_row.groups],
        "without": {
            "left": len(by_row.kept),
            "VS": explained.score_without_duplicates,
            "of": explained.n,
            "all": explained.score,
        },
    }


def heat(found: Findings) -> Record:
    """Return similarities as base64 of bytes from `low` (0) to `high` (255), clustered."""
    order = found.seriated
    K = averaged(found.K[np.ix_(order, order)], CELLS)
    high = float(K.max())
    low = float(K.min()) if len(K) > 1 else 0.0
    if high - low < 1e-9:  # one colour, for its similarity between 0 and 1
        low, high = min(0.0, low), max(1.0, high)
    bytes_ = np.round(255 * (K - low) / (high - low)).astype(np.uint8)
    return {
        "cells": len(K),
        "order": order.tolist(),
        "values": base64.b64encode(bytes_.tobytes()).decode(),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def map_(found: Findings) -> Record:
    """Return coordinates of each sample from 0 to 1000, of one scale; similar ones lie close."""
    XY = found.coordinates
    low, high = XY.min(axis=0), XY.max(axis=0)
    span = float((high - low).max())
    centred = (XY - (low + high) / 2) / (span if span > 0 else 1.0)
    x, y = np.round(SPAN * (centred.T + 0.5)).astype(int).tolist()
    return {"x": x, "y": y}


def rounded(column: np.ndarray, digits: int) -> list[float | None]:
    """Return numbers for JSON: rounded, without a negative zero; None for those that are none."""
    column = np.round(column, digits) + 0.0
    return [value if value == value else None for value in column.tolist()]
