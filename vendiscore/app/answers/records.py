"""A score as plain values for programs, with the samples wherever pairs are named."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis import sentences
from ...analysis.findings import ORDERS, Findings
from ...analysis.redundancy import redundant_pairs
from ...arrays.namespace import to_host
from ...signature import plain, plain_order
from ...similarity.matrix import MatrixSimilarity
from .jobs import Job

FEW = 4  # pairs that are named, and samples that stand alone


def record(found: Findings, job: Job) -> dict[str, Any]:
    """Return what the API returns of a score; samples are called by their places, from 0."""
    with np.errstate(all="ignore"):
        answer: dict[str, Any] = {
            "VS": found.value,
            **_sure(found),
            "n": found.n,
            "q": plain_order(found.order),
            "sentence": job.sentence(found),
        }
        details = dict(found.details)
        if found.grouped:
            answer["by_group"] = details.pop("groups")
        else:
            answer |= _whole(found, job)
        return answer | {"details": plain(details), "code": job.code(found)}


def _sure(found: Findings) -> dict[str, float]:
    beside = {f"VS_{name}": found.beside(name) for name in ("se", "low", "high")}
    return {name: value for name, value in beside.items() if value is not None}


def _whole(found: Findings, job: Job) -> dict[str, Any]:
    explained = found.explanation
    assert explained is not None
    distinct = int(found.details["distinct"])
    shares = to_host(found.spectrum.values)

    def named(place: int) -> dict[str, Any]:
        sample = job.texts(place) if job.texts is not None else None
        return {"place": place} if sample is None else {"place": place, "sample": sample}

    pairs = redundant_pairs(MatrixSimilarity(found.K), FEW) if found.n > 1 else []
    alone = found.neighbours.alone(min(FEW, max(1, len(found.places) // 3)))
    places = found.places.tolist()
    return {
        "verdict": sentences.verdict(found.n, found.value),
        "copies": sentences.copies(found.n, distinct, job.what) if distinct < found.n else "",
        "shares": [round(float(share), 9) for share in shares if share > 0],
        "profile": {f"{q:g}": float(value) for q, value in zip(ORDERS, found.profile, strict=True)},
        "alike": {
            "threshold": explained.threshold,
            "groups": [
                {"keep": named(keep), "rest": [named(place) for place in rest]}
                for keep, rest in explained.groups
            ],
            "VS_without": explained.score_without_duplicates,
        },
        "redundant_pairs": [
            {
                "a": named(places[pair.i]),
                "b": named(places[pair.j]),
                "similarity": pair.similarity,
            }
            for pair in pairs
        ],
        "stand_alone": [
            {**named(places[row]), "similarity_to_nearest": similarity} for row, similarity in alone
        ],
    }
