"""Effective answers of each model to each prompt as a matrix, and all answers on a map."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from vendiscore import Similarity, compute
from vendiscore.report import compute_report_data, key_at

from ..aliases import Record
from ..inputs.file_code import draw_indices
from .jobs import Job
from .sample_views import build_map

MAX_MAPPED = 1_000  # samples on the map
DUPLICATE_SIMILARITY = 0.95  # the similarity from which an answer repeats another


def compute_prompt_matrix(
    pooled: Similarity,
    sets: Sequence[str],
    groups: Sequence[Hashable],
    models: Sequence[str],
    q: float,
) -> Record:
    """Score the answers of each set in each group, as `compute` does with both as groups.

    Columns are `models`; a cell is null where a model has no answers.
    """
    prompts = {prompt: index for index, prompt in enumerate(dict.fromkeys(groups))}
    columns = {model: index for index, model in enumerate(models)}
    n: list[list[int]] = [[0] * len(columns) for _ in prompts]
    key = key_at(q)
    scores: list[list[float | None]] = [[None] * len(columns) for _ in prompts]
    cells = list(zip(sets, groups, strict=True))
    for cell in compute(pooled, groups=cells, q=q, details=True)["details"]["groups"]:
        model, prompt = cell["group"]
        n[prompts[prompt]][columns[model]] = cell["n"]
        scores[prompts[prompt]][columns[model]] = cell[key]
    return {"models": list(models), "prompts": list(map(str, prompts)), "n": n, key: scores}


def collect_columns(jobs: Mapping[str, Job]) -> Record:
    """Return the set, the words and the picture of each sample, set after set."""
    return {
        "set": [name for name, job in jobs.items() for _ in job.samples],
        "text": [x.texts(i) for x in jobs.values() if x.texts for i in range(len(x.samples))],
        "image": [picture.thumbnail for job in jobs.values() for picture in job.pictures],
    }


def draw_samples(pooled: Similarity, columns: Record) -> tuple[list[int], Record]:
    """Return at most `MAX_MAPPED` samples, as many of each set, and their columns.

    `repeats` is the first sample of the same set and group that a sample repeats, itself for none.
    """
    sets = np.array(columns["set"])
    indices = np.arange(len(sets))
    if len(sets) > MAX_MAPPED:
        set_indices = [np.flatnonzero(sets == name) for name in dict.fromkeys(columns["set"])]
        max_per_set = MAX_MAPPED // len(set_indices)
        indices = np.concatenate(
            [members[draw_indices(len(members), max_per_set, 0)] for members in set_indices]
        )
    K = np.array(pooled.take(indices).dense(), float)
    drawn_columns = {
        name: [values[i] for i in indices] for name, values in columns.items() if values
    }
    cells = zip(drawn_columns["set"], drawn_columns.get("group", drawn_columns["set"]), strict=True)
    cell_codes: Record = {}
    codes = np.array([cell_codes.setdefault(repr(cell), len(cell_codes)) for cell in cells])
    are_duplicates = (K >= DUPLICATE_SIMILARITY - 1e-9) & (codes[:, None] == codes)
    np.fill_diagonal(are_duplicates, True)
    first = are_duplicates.argmax(axis=1)
    while (first[first] < first).any():
        first = first[first]
    return indices.tolist(), drawn_columns | {"repeats": first.tolist()}


@np.errstate(all="ignore")
def compute_coordinates(pooled: Similarity, indices: list[int]) -> Record:
    """Return where some samples are on a map of them."""
    return build_map(
        compute_report_data(indices, None, {}, similarity=pooled.take(np.array(indices)))
    )
