"""What is only in one of several sets: the samples that the others have least of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ...measures.divergences import surprise_of_first
from ...report import sentences
from ...similarity.base import Similarity
from ..given.parts import drawn
from .jobs import Job

SHOWN = 10  # samples of each set
MOST = 1_000  # samples of all sets together, since all are decomposed for each


def only(
    together: Similarity, jobs: Mapping[str, Job], places: Mapping[str, Sequence[int | str]]
) -> list[dict[str, Any]]:
    """For each set the samples that the others, taken together, have least of.

    Parameters
    ----------
    together : Similarity
        Of all samples, one set after the other, in the order of `jobs`.
    jobs : mapping of str to Job
    places : mapping of str to sequence
        Where each sample of a set stood.
    """
    sizes = [len(job.samples) for job in jobs.values()]
    starts = [0, *accumulate(sizes)]
    most = MOST // len(sizes)
    rows = [
        start + np.array(drawn(size, most, 0)) for start, size in zip(starts, sizes, strict=False)
    ]
    found = []
    for number, (name, job) in enumerate(jobs.items()):
        others = [each for i, each in enumerate(rows) if i != number]
        pool = together.take(np.concatenate([rows[number], *others]))
        surprise = surprise_of_first(pool, len(rows[number]))
        # Samples that have nothing in common with the others are many, and equal but for rounding.
        first = np.argsort(-np.round(surprise, 9), kind="stable")[:SHOWN]
        samples = [
            _shown(job, int(rows[number][i]) - starts[number], places[name])
            | {"surprise": round(float(surprise[i]), 4)}
            for i in first
        ]
        than = sentences.listed([other for other in jobs if other != name])
        found.append({"name": name, "than": than, "samples": samples})
    return found


def _shown(job: Job, i: int, places: Sequence[int | str]) -> dict[str, Any]:
    if job.pictures:
        return {"place": places[i], "image": job.pictures[i].thumbnail}
    return {"place": places[i], "text": job.texts(i) if job.texts else ""}
