"""Effective answers of each model to each prompt as a matrix, and all answers on a map."""

from collections.abc import Hashable, Sequence

import numpy as np

from vendiscore import Similarity, compute
from vendiscore.report import find
from vendiscore.signature import plain

from ..aliases import Record
from ..inputs.parts import draw_indices
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
    VS: list[list[float | None]] = [[None] * len(columns) for _ in prompts]
    cells = list(zip(sets, groups, strict=True))
    for cell in compute(together, groups=cells, q=q, details=True)["details"]["groups"]:
        model, prompt = cell["group"]
        n[prompts[prompt]][columns[model]] = cell["n"]
        VS[prompts[prompt]][columns[model]] = cell["VS"]
    return {"models": list(models), "prompts": list(map(str, prompts)), "n": n, "VS": VS}


@np.errstate(all="ignore")
def mapped(together: Similarity, columns: Record, cells: Record) -> Record:
    """Place samples on a map, with their columns and table cells; of many samples, a random part.

    `repeats` is the first sample of the same set and group that a sample repeats, itself for none.
    """
    places = draw_indices(together.n, MAPPED, 0)
    part = together.take(np.array(places))

    def chosen(every: Record) -> Record:
        return {name: [values[i] for i in places] for name, values in every.items() if values}

    found = chosen(columns)
    pairs = list(zip(found["set"], found.get("group", found["set"]), strict=True))
    codes = np.array([pairs.index(pair) for pair in pairs])
    alike = (np.array(part.dense()) >= SAME - 1e-9) & (codes[:, None] == codes)
    np.fill_diagonal(alike, True)
    first = alike.argmax(axis=1)
    while (first[first] < first).any():
        first = first[first]
    coordinates = map_(find(places, None, {}, similarity=part))
    return {**coordinates, **found, "repeats": first.tolist(), "cells": plain(chosen(cells))}
