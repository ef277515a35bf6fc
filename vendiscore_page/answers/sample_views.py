"""The single samples of a result: their table, their map, their themes and near-duplicates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vendiscore.report import ReportData
from vendiscore.tools.analysis.layout import average_linkage_tree
from vendiscore.tools.reading.names import MOLECULE_LABELS, is_named

from ..aliases import Record
from ..inputs.visitor_samples import Samples
from .jobs import Job

SPAN = 1000  # of the map
FEATURES = 20  # columns of numbers that come back with their rows


def columns(found: ReportData, job: Job, samples: Samples, kept: list[int]) -> Record:
    """Return the samples whose pairs were looked at: a list for each column of their table."""
    explained, labels = found.explanation, job.labels
    places = found.indices.tolist()
    rows = [kept[i] for i in places]
    cells = {name: [column[i] for i in rows] for name, column in samples.cells.items()}
    if 0 < len(samples.features) == samples.values.shape[1] <= FEATURES:
        cells |= dict(zip(samples.features, samples.values[rows].T.tolist(), strict=True))
    names = molecule_names(samples)
    return {
        "place": [samples.ids[i] for i in rows],
        "cells": cells_in_order(cells, samples.columns),
        "name": [names[i] for i in rows] if names else None,
        "text": None if job.texts is None else [job.texts(i) for i in places],
        "image": [job.pictures[i].thumbnail for i in places] if job.pictures else None,
        "group": None if labels is None else [labels[i] for i in places],
        "nearest": explained.neighbours.nearest.tolist() if explained.n > 1 else [-1],
        "similarity": rounded(explained.nearest_similarity, 4),
        "adds": rounded(-100 * np.expm1(-explained.adds), 2),  # as a share of the score
    }


def cells_in_order(
    cells: Mapping[str, Sequence[object]], names: Sequence[str]
) -> list[tuple[str, Sequence[object]]]:
    """Return columns in the order of the table; JavaScript would reorder keys such as "2020"."""
    order = {name: position for position, name in enumerate(names)}
    return sorted(cells.items(), key=lambda column: order.get(column[0], len(order)))


def molecule_names(samples: Samples) -> list[str]:
    """Return the names of molecules, from their lines or from a column of names; [] without one.

    If the names are the ids, the page shows them in any case.
    """
    if samples.kind != "molecules":
        return []
    if samples.names:
        return list(samples.names)
    used = {samples.column, samples.by, samples.sets_by}
    used |= {column for column, _ in samples.roles.values()}
    for name, cells in samples.cells.items():
        if name not in used and is_named(name, MOLECULE_LABELS):
            return ["" if cell is None else str(cell) for cell in cells]
    return []


def alike(found: ReportData, threshold: float | None = None) -> Record:
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
            found.key: explained.score_without_duplicates,
            "of": explained.n,
            "all": explained.score,
        },
    }


def themes(found: ReportData) -> Record:
    """Return the merges of average linkage, each with the sample most similar to the others.

    Cut before its last c − 1 merges, the tree has c themes: as many as are effectively different.
    """
    K, n = found.K, found.explanation.n
    merges = average_linkage_tree(K)[:, :2].astype(int).tolist() if n > 1 else []
    members = [[i] for i in range(n)]
    sums = np.zeros(n)  # of the similarities of each sample to its theme
    typical = []
    for i, j in merges:
        between = K[np.ix_(members[i], members[j])]
        sums[members[i]] += between.sum(axis=1)
        sums[members[j]] += between.sum(axis=0)
        both = sorted(members[i] + members[j])
        members.append(both)
        typical.append(both[int(sums[both].argmax())])
    return {"count": max(1, round(found.explanation.score)), "merges": merges, "typical": typical}


def map_(found: ReportData) -> Record:
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
