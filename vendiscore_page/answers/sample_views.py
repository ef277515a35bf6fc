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

MAP_SIZE = 1000  # of the map
MAX_SHOWN_FEATURES = 20  # columns of numbers that come back with their rows


def build_columns(report_data: ReportData, job: Job, samples: Samples, usable: list[int]) -> Record:
    """Return the columns of the table of samples; of many samples, only of the subsample."""
    explanation, labels = report_data.explanation, job.labels
    indices = report_data.indices.tolist()
    rows = [usable[i] for i in indices]
    cells = {name: [column[i] for i in rows] for name, column in samples.cells.items()}
    if 0 < len(samples.features) == samples.values.shape[1] <= MAX_SHOWN_FEATURES:
        cells |= dict(zip(samples.features, samples.values[rows].T.tolist(), strict=True))
    names = get_molecule_names(samples)
    return {
        "place": [samples.ids[i] for i in rows],
        "cells": order_cells(cells, samples.columns),
        "name": [names[i] for i in rows] if names else None,
        "text": None if job.texts is None else [job.texts(i) for i in indices],
        "image": [job.pictures[i].thumbnail for i in indices] if job.pictures else None,
        "group": None if labels is None else [labels[i] for i in indices],
        "nearest": explanation.neighbours.nearest.tolist() if explanation.n > 1 else [-1],
        "similarity": round_values(explanation.nearest_similarity, 4),
        "adds": round_values(-100 * np.expm1(-explanation.adds), 2),  # as a share of the score
    }


def order_cells(
    cells: Mapping[str, Sequence[object]], names: Sequence[str]
) -> list[tuple[str, Sequence[object]]]:
    """Return columns in the order of the table; JavaScript would reorder keys such as "2020"."""
    order = {name: position for position, name in enumerate(names)}
    return sorted(cells.items(), key=lambda column: order.get(column[0], len(order)))


def get_molecule_names(samples: Samples) -> list[str]:
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


def describe_duplicates(report_data: ReportData, threshold: float | None = None) -> Record:
    """Return groups of near-duplicates by their rows in the table, and the score without these."""
    explanation = report_data.explanation
    if threshold is not None:
        explanation = explanation.rethreshold(threshold)
    by_row = replace(explanation, places=np.arange(explanation.n))
    above, below = by_row.boundary()
    return {
        "threshold": explanation.threshold,
        "repeats": list(explanation.repeats.items()),
        "boundary": [*above[::-1], *below],
        "groups": [{"keep": keep, "rest": rest} for keep, rest in by_row.groups],
        "without": {
            "left": len(by_row.kept),
            report_data.key: explanation.score_without_duplicates,
            "of": explanation.n,
            "all": explanation.score,
        },
    }


def build_themes(report_data: ReportData) -> Record:
    """Return the merges of average linkage, each with the sample most similar to the others.

    Cut before its last c − 1 merges, the tree has c themes: as many as are effectively different.
    """
    K, n = report_data.K, report_data.explanation.n
    merges = average_linkage_tree(K)[:, :2].astype(int).tolist() if n > 1 else []
    members = [[i] for i in range(n)]
    sums = np.zeros(n)  # of the similarities of each sample to its theme
    typical = []
    for i, j in merges:
        between = K[np.ix_(members[i], members[j])]
        sums[members[i]] += between.sum(axis=1)
        sums[members[j]] += between.sum(axis=0)
        merged = sorted(members[i] + members[j])
        members.append(merged)
        typical.append(merged[int(sums[merged].argmax())])
    return {
        "count": max(1, round(report_data.explanation.score)),
        "merges": merges,
        "typical": typical,
    }


def build_map(report_data: ReportData) -> Record:
    """Return coordinates of each sample from 0 to 1000, of one scale; similar ones lie close."""
    XY = report_data.coordinates
    low, high = XY.min(axis=0), XY.max(axis=0)
    span = float((high - low).max())
    centred = (XY - (low + high) / 2) / (span if span > 0 else 1.0)
    x, y = np.round(MAP_SIZE * (centred.T + 0.5)).astype(int).tolist()
    return {"x": x, "y": y}


def round_values(column: np.ndarray, digits: int) -> list[float | None]:
    """Return numbers for JSON: rounded, without a negative zero; None for those that are none."""
    column = np.round(column, digits) + 0.0
    return [value if value == value else None for value in column.tolist()]
