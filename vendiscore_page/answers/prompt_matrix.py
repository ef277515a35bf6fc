"""Effective answers of each model to each prompt as a matrix, and all answers on a map."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from vendiscore import Similarity, compute
from vendiscore.report import compute_report_data, key_at

from ..aliases import Record
from ..inputs.file_code import draw_indices
from .jobs import Job
from .sample_views import map_

MAPPED = 1_000  # samples on the map
SAME = 0.95  # the similarity from which an answer repeats another


def prompt_matrix(
    together: Similarity,
    sets: Sequence[str],
    groups: Sequence[Hashable],
    models: Sequence[str],
    q: float,
) -> Record:
    """Score the answers of each set in each group, as `compute` does with both as groups.

    Columns are `models`; a cell is null where a model has no answers.
    """
    prompts = {prompt: place for place, prompt in enumerate(dict.fromkeys(groups))}
    columns = {model: place for place, model in enumerate(models)}
    n: list[list[int]] = [[0] * len(columns) for _ in prompts]
    key = key_at(q)
    scores: list[list[float | None]] = [[None] * len(columns) for _ in prompts]
    cells = list(zip(sets, groups, strict=True))
    for cell in compute(together, groups=cells, q=q, details=True)["details"]["groups"]:
        model, prompt = cell["group"]
        n[prompts[prompt]][columns[model]] = cell["n"]
        scores[prompts[prompt]][columns[model]] = cell[key]
    return {"models": list(models), "prompts": list(map(str, prompts)), "n": n, key: scores}


def columns_of(jobs: Mapping[str, Job]) -> Record:
    """Return the set, the words and the picture of each sample, set after set."""
    return {
        "set": [name for name, job in jobs.items() for _ in job.samples],
        "text": [x.texts(i) for x in jobs.values() if x.texts for i in range(len(x.samples))],
        "image": [picture.thumbnail for job in jobs.values() for picture in job.pictures],
    }


def sampled(together: Similarity, columns: Record) -> tuple[list[int], Record]:
    """Return at most `MAPPED` samples, as many of each set, and their columns.

    `repeats` is the first sample of the same set and group that a sample repeats, itself for none.
    """
    sets = np.array(columns["set"])
    places = np.arange(len(sets))
    if len(sets) > MAPPED:
        every = [np.flatnonzero(sets == name) for name in dict.fromkeys(columns["set"])]
        most = MAPPED // len(every)
        places = np.concatenate([own[draw_indices(len(own), most, 0)] for own in every])
    K = np.array(together.take(places).dense(), float)
    found = {name: [values[i] for i in places] for name, values in columns.items() if values}
    cells = zip(found["set"], found.get("group", found["set"]), strict=True)
    numbers: Record = {}
    codes = np.array([numbers.setdefault(repr(cell), len(numbers)) for cell in cells])
    alike = (K >= SAME - 1e-9) & (codes[:, None] == codes)
    np.fill_diagonal(alike, True)
    first = alike.argmax(axis=1)
    while (first[first] < first).any():
        first = first[first]
    return places.tolist(), found | {"repeats": first.tolist()}


@np.errstate(all="ignore")
def coordinates(together: Similarity, places: list[int]) -> Record:
    """Return where some samples are on a map of them."""
    return map_(compute_report_data(places, None, {}, similarity=together.take(np.array(places))))
