"""Groups of samples in nested lists or labels."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from vendiscore.resolve.sample_labels import GroupLabels
from vendiscore.support.errors import short_repr
from vendiscore.tools.analysis.additive_model import find_connected_sets

from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SETS, RefusedError


def flatten_lists(
    values: object, item_name: str, rows: bool = False
) -> tuple[list[Any], GroupLabels | None]:
    """Return samples, or lists of them, as one list; and the groups if it was the latter."""
    if not isinstance(values, list):
        raise RefusedError(f"Expected a list of {item_name}, got {type(values).__name__}.")
    nested = [
        isinstance(value, list) and (not rows or any(isinstance(row, list) for row in value))
        for value in values
    ]
    if not any(nested):
        return values, None
    nested = [is_list or value == [] for is_list, value in zip(nested, values, strict=True)]
    if not all(nested):
        i = nested.index(False)
        raise RefusedError(
            f"Expected a list of {item_name}, or a list of groups, which are lists of {item_name}; "
            f"item {nested.index(True)} is a list, but item {i} is not: {short_repr(values[i])}."
        )
    sizes = [len(value) for value in values]
    if 0 in sizes:
        raise RefusedError(f"Group {sizes.index(0)} is empty; remove this group.")
    codes = np.repeat(np.arange(len(sizes)), sizes)
    all_samples = [sample for value in values for sample in value]
    return all_samples, GroupLabels(tuple(range(len(sizes))), codes, nested=True)


def split_by_group(samples: Sequence[object], groups: GroupLabels | None) -> list[Any]:
    """Return the samples as a list of lists, one for each group; as they are without groups."""
    if groups is None:
        return list(samples)
    group_indices = (np.flatnonzero(groups.codes == code) for code in range(len(groups)))
    return [[samples[i] for i in members.tolist()] for members in group_indices]


def make_position_formatter(
    groups: GroupLabels | None, word: str = "number"
) -> Callable[[int], str]:
    """Return a function that names sample i in messages: "number 3" or "number 1 of group 2"."""
    if groups is None or not groups.nested:
        return f"{word} {{}}".format
    return lambda i: "{} {} of group {}".format(word, *groups.position(i))


def label_groups_in_sets(samples: Samples) -> list[Hashable]:
    """Return the group of each sample within its set, such as a prompt of a model."""
    if not samples.groups:
        return list(samples.sets)
    pairs = zip(samples.sets, samples.groups, strict=True)
    return [f"{label} › {group}" for label, group in pairs]


def split_sets(samples: Samples) -> dict[str, Samples]:
    """Return the sets of samples, or their groups, by label; samples without one are in none.

    Sets keep the groups that their samples are in; groups that become sets have none.
    """
    labels, by = samples.sets or samples.groups, samples.sets_by or samples.by
    indices_by_label: dict[Hashable, list[int]] = {}
    for i, label in enumerate(labels):
        if label != "":
            indices_by_label.setdefault(label, []).append(i)
    if not 2 <= len(indices_by_label) <= MAX_SETS:
        column_name = f"in column {short_repr(by)}" if by else "sets"
        got = f"{len(indices_by_label):,} {column_name}" if labels else "one set without groups"
        raise RefusedError(
            f"Two to {MAX_SETS} sets or groups can be compared, got {got}; add a set, or select "
            f"the column with the set names under “Group column”."
        )
    common = replace(samples, python=None, notes=(), sentence="", sets=())
    common = common if samples.sets else replace(common, groups=())
    return {
        f"group {label}" if isinstance(label, int) else str(label): replace(
            common.subset(indices), total=len(indices)
        )
        for label, indices in indices_by_label.items()
    }


def check_kinds(sets: Mapping[str, Samples]) -> None:
    """Raise a RefusedError unless all sets have the same type of samples."""
    kinds = {samples.kind for samples in sets.values()}
    if len(kinds) > 1:
        got = " and ".join(sorted(kinds))
        raise RefusedError(f"All sets must have the same type of samples, got {got}.")


def check_grouped(labels: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """Return the indices of samples with a group; raise a RefusedError if they cannot be compared.

    `labels` contains the groups of the samples of each set, "" for none, and indices refer to the
    samples of all sets in a row. Two groups need at least two samples of two sets.
    """
    all_labels = list(chain(*labels))
    counts = Counter(
        label for set_labels in labels for label, n in Counter(set_labels).items() if n > 1
    )
    comparable = [label for label, n_sets in counts.items() if label != "" and n_sets > 1]
    if len(comparable) < 2:
        sets = "each set" if len(labels) == 2 else "two sets"
        raise RefusedError(
            "A comparison within groups requires two or more groups with at least two samples of "
            f"{sets}, but only {len(comparable)} of {len({*all_labels} - {''}):,} groups have "
            f"them; select “no groups” under “Group column”."
        )
    return np.flatnonzero([label != "" for label in all_labels])


def can_compare_within(sets: Sequence[Hashable], groups: Sequence[Hashable]) -> bool:
    """Return whether sets can be compared within groups; "" means no set or no group.

    Two sets need two groups with at least two samples of both. With more sets, which may have
    missing cells, each is connected to the others by such pairs of sets.
    """
    counts = Counter((s, g) for s, g in zip(sets, groups, strict=False) if s != "" and g != "")
    names = list(dict.fromkeys(label for label in sets if label != ""))
    sets_by_group: dict[Hashable, list[int]] = {}
    for (name, group), n in counts.items():
        if n > 1:
            sets_by_group.setdefault(group, []).append(names.index(name))
    is_present = np.zeros((len(names), len(sets_by_group)))
    for column, members in enumerate(sets_by_group.values()):
        is_present[members, column] = 1
    shares_two_groups = is_present @ is_present.T >= 2
    return len(names) > 1 and bool(find_connected_sets(shares_two_groups).all())
