"""The sets of a comparison: by name, or the parts of one collection by label, and their groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ..hints import remedy
from ..resolve.kernel import having
from ..resolve.kernel_request import SETTINGS, How
from ..resolve.sample_labels import Groups as Labels
from ..resolve.sample_labels import (
    check_labels,
    check_size,
    encode_labels,
    flatten_groups,
    group_by_prompt,
    label_names,
    name_sets,
    read_labels,
    sizes_of,
)
from ..resolve.sets import read_collection, resolve_pool, resolve_sets
from ..scoring.subsampling import MIN_SAMPLES
from ..similarity.base import Similarity
from ..similarity.members import members_of
from ..support.arguments import is_several
from ..support.errors import quoted, warn
from ..support.types import Options, Pool, Record, Samples
from .paired_comparison import Groups

# Labels of groups, for each set in order or by its name.
Labelled: TypeAlias = Sequence[object] | Options | None
# Samples set after set, the start of each set, and the groups within sets.
Partition: TypeAlias = tuple[Similarity, np.ndarray, Groups | None]


def read_sets(sets: Sequence[Samples], names: object, how: Options) -> Record:
    """Return the sets by name: A, B, … for sets without names."""
    given = sets[0] if len(sets) == 1 and isinstance(sets[0], Mapping) else sets
    if len(given) < 2:
        passed = []
        for name, value in how.items():
            if name not in SETTINGS and not having(name) and is_several(value):
                passed.append(name)
        if len(passed) > 1:
            named = ", ".join(f"{name!r}: {name}" for name in passed)
            raise TypeError(f"sets are not passed as keywords: pass compare({{{named}}})")
        if passed and (hint := remedy(passed[0], "keyword")):
            raise TypeError(f"unknown keyword `{passed[0]}`. {hint}")
        raise ValueError(
            f"compare needs two sets or more, got {len(given)}; pass compare(A, B), one dict of "
            f"them by name, or all samples in one list with the set of each as `by`"
        )
    return name_sets(given, names, "set")


def read_by(by: object, names: object) -> Labels:
    """Return the labels of samples, each a name of a set of enough samples."""
    if names is not None:
        raise ValueError("the labels in `by` already name the sets: leave `names` out")
    read = read_labels(by, "by")
    called = label_names(read, "by")
    names_or_none = [name if name.strip() else None for name in called]
    check_labels([names_or_none[code] for code in read.codes], "by")
    if len(called) < 2:
        raise ValueError(
            f"`by` must have two labels or more, which name the sets, got {called[0]!r} alone; add "
            f"the samples of another set, or call `compute` for the score of this one"
        )
    counts = np.bincount(read.codes)
    few = np.flatnonzero(counts < MIN_SAMPLES)
    if len(few):
        first = few[0]
        raise ValueError(
            f"`by` must have at least {MIN_SAMPLES} samples of each label, got {len(few)} of "
            f"{len(called)} labels with fewer, first of all {called[first]!r} with "
            f"{counts[first]}; add samples, leave out those labels, or, if they are prompts, pass "
            f"them as `groups`"
        )
    return Labels(tuple(called), read.codes)


def flat_sets(named: Record, groups: Labelled, how: How) -> tuple[Record, Labelled]:
    """Return flat sets, and their groups if the sets are lists of lists."""
    flat = {name: flatten_groups(samples, how, name=name) for name, samples in named.items()}
    nested = {name: found.codes.tolist() for name, (_, found) in flat.items() if found is not None}
    if not nested:
        return named, groups
    others = [f"`{name}` is not" for name in named if name not in nested]
    others += [] if groups is None else ["`groups` was passed too"]
    if others:
        raise ValueError(
            f"`{next(iter(nested))}` is a list of lists, which are groups, but {others[0]}: pass "
            "all sets as lists of lists, one list for each prompt, or all as one list"
        )
    return {name: samples for name, (samples, _) in flat.items()}, nested


def pooled_sets(
    named: Mapping[str, Samples | None],
    groups: object,
    how: How,
) -> Partition:
    """Return the samples of sets by name, one set after the other."""
    names = list(named)
    read = [read_collection(samples, how, name, mixed=True) for name, samples in named.items()]
    labels = None
    of_sets = []
    if groups is not None:
        sizes = sizes_of(read, how)
        labels = _labels(groups, dict(zip(names, sizes, strict=True)))
        every = encode_labels(labels)
        ends = np.cumsum(sizes)[:-1]
        of_sets = [Labels(every.labels, codes) for codes in np.split(every.codes, ends)]
    how, asked = group_by_prompt(how, read, of_sets)
    what = "groups"
    if asked is not None and labels is None:
        what = "prompts"
        labels = asked.of_samples
    pool = resolve_pool(read, replace(how, fit="pool"), names)
    codes = np.repeat(np.arange(len(names)), sizes_of(read, how))
    return partition(pool, codes, names, labels, what)


def sorted_sets(
    sets: Sequence[Pool],
    by: Labels,
    groups: object,
    how: How,
) -> Partition:
    """Return the samples sorted by their labels; `groups` has one label for each sample."""
    if len(sets) != 1 or (isinstance(sets[0], Mapping) and not isinstance(how.k, tuple)):
        many = len(sets[0]) if len(sets) == 1 else len(sets)
        raise ValueError(
            f"`by` names the set of each sample of one collection, got {many} sets; pass all "
            "samples as one list, or leave `by` out"
        )
    samples = read_collection(sets[0], how)
    if flatten_groups(samples, how)[1] is not None:
        raise ValueError(
            "`by` names the set of each sample, but the samples are a list of lists; pass all "
            "samples as one list, with the prompt of each as `groups`"
        )
    what = "groups"
    read = None if groups is None else read_labels(groups, what)
    how, asked = group_by_prompt(how, [samples], [read])
    if asked is not None and read is None:
        what = "prompts"
        read = asked
    pool = resolve_sets([samples], how, ["samples"])[0]
    if pool.fitted:
        pool = pool.noted(settings={**pool.settings, "fit": "pool"})
    n = pool.n + len(pool.dropped)
    check_size(by, n, "by")
    labels = None
    if read is not None:
        check_size(read, n, what)
        labels = read.of_samples
    return partition(pool, by.codes, by.labels, labels, what)


def _labels(groups: object, sizes: Mapping[str, int]) -> list[Hashable]:
    """Return the labels of the samples, set after set."""
    if isinstance(groups, Mapping):
        if set(groups) != set(sizes):
            raise ValueError(
                f"`groups` must have the names of the sets, {', '.join(map(repr, sizes))}, got "
                f"{', '.join(map(repr, groups))}"
            )
        groups = [groups[name] for name in sizes]
    each = list(groups) if is_several(groups) else []
    if len(each) != len(sizes) or not all(map(is_several, each)):
        kind = ValueError if is_several(groups) else TypeError
        raise kind(
            f"`groups` must be {len(sizes)} lists of labels, one for each set, got "
            f"{quoted(groups)}; pass groups=[labels_a, labels_b]"
        )
    every = []
    for (name, n), labels in zip(sizes.items(), each, strict=True):
        read = read_labels(labels, "groups")
        if len(read.codes) != n:
            raise ValueError(
                f"`groups` must have a label for each sample: `{name}` has {n} samples, got "
                f"{len(read.codes)} labels"
            )
        every += read.of_samples
    return every


def partition(
    pool: Similarity,
    codes: np.ndarray,
    names: Sequence[Hashable],
    labels: Sequence[Hashable] | None,
    what: str,
) -> Partition:
    """Return the pool sorted by set; codes and labels are of all samples that were passed."""
    kept = np.setdiff1d(np.arange(len(codes)), list(pool.dropped))
    order = np.argsort(codes[kept], kind="stable")
    if (np.diff(order) < 0).any():
        pool = pool.take(order)
    kept = kept[order]
    codes = codes[kept]
    starts = np.searchsorted(codes, np.arange(len(names) + 1))
    if labels is None:
        return pool, starts, None
    read = encode_labels([labels[i] for i in kept])
    groups = []
    alone = []
    for label, places in zip(read.labels, members_of(read.codes), strict=True):
        of_sets = [places[codes[places] == i] for i in range(len(names))]
        if what == "prompts" and min(map(len, of_sets)) < 2:
            alone.append(label)
            continue
        groups.append(of_sets)
        for name, members in zip(names, of_sets, strict=True):
            if len(members) < 2 and what == "groups":
                raise ValueError(
                    f"`groups` must have two samples or more of each set in each group, got "
                    f"{len(members)} of `{name}` in group {quoted(label)}; leave that group out of "
                    "all sets, or compare without `groups`"
                )
    if len(groups) < 2:
        with_two = " that all sets answer twice or more" if alone else ""
        raise ValueError(
            f"`{what}` must be two or more{with_two}, got {len(groups)}; compare without `{what}`"
        )
    if alone:
        warn(
            f"{len(alone)} of {len(read.labels)} prompts are left out, which some set does not "
            f"answer twice or more, first of all {quoted(alone[0])}"
        )
    return pool, starts, groups
