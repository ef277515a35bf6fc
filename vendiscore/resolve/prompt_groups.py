"""Prompts as groups: samples that answer one prompt, and prompts within each of several sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..similarity.inputs import as_samples
from ..similarity.pools import size
from ..support.types import Samples
from .group_labels import Groups, check_labels, check_size, coded, is_hashable
from .kernel_request import How
from .prompt_places import is_one
from .sets import sizes_of


def answered(
    how: How,
    sets: Sequence[Samples],
    groups: Sequence[Groups | None] = (None,),
    *,
    clustered: bool = False,
    first: bool = False,
) -> tuple[How, Groups | None]:
    """Return `how` for sets in groups, and the samples of all sets, or of the first, by prompt.

    The latter is None without prompts, and for one prompt that is taken out of all samples.
    """
    if how.asked is None:
        return how, None
    asked = replace(how.asked, groups=tuple(groups))
    if how.prompts is not None:
        how = replace(how, prompts=asked)
        if is_one(asked.values, sets[0]) or size(asked.values) == 1:
            return how, None
    if clustered:
        raise ValueError(
            "`clusters` are for one set, and `prompts` are independent units; leave one of the two "
            "out"
        )
    every = []
    for values, places in asked.of_sets(sets, sizes_of(sets, how)):
        prompts = list(values)
        every += [prompts[place] for place in places]
        if first:
            break
    by_prompt = groups_of(every)
    check_labels(by_prompt.of_samples, "prompts")
    return how, by_prompt


def crossed(sets: Groups, asked: Groups) -> Groups:
    """Return groups by prompt within each of some sets, which are groups themselves."""
    check_size(sets, len(asked.codes))
    codes = np.stack([sets.codes, asked.codes])
    cells, inverse = np.unique(codes, axis=1, return_inverse=True)
    if cells.shape[1] == len(sets):  # each has one prompt
        return sets
    labels = [(sets.labels[i], asked.labels[j]) for i, j in cells.T.tolist()]
    return Groups(tuple(labels), inverse.ravel(), sets=Groups(sets.labels, cells[0]))


def groups_of(prompts: Sequence[object]) -> Groups:
    """Return samples with equal prompts as groups; messages are compared, which have no hash."""
    read = as_samples(prompts, "prompts", empty=True)
    prompts = [each.tolist() if hasattr(each, "tolist") else each for each in read]
    if all(map(is_hashable, prompts)):
        return coded(prompts)
    keys = list(map(_frozen, prompts))
    if all(map(is_hashable, keys)):
        numbers: dict[object, int] = {}
        return coded([numbers.setdefault(key, len(numbers)) for key in keys])
    firsts: list[object] = []  # of objects that can only be compared, one with each other
    for prompt in prompts:
        if prompt not in firsts:
            firsts.append(prompt)
    return coded([firsts.index(prompt) for prompt in prompts])


def _frozen(value: object) -> object:
    """Return a value that is equal for equal lists and dicts only; hashable if all items are."""
    if isinstance(value, Mapping):
        items = [(key, _frozen(each)) for key, each in value.items()]
        return (Mapping, frozenset(items)) if all(map(is_hashable, items)) else value
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_frozen, value))
    return value
