"""The label of each sample (group, cluster, set or prompt), from labels or from nested lists.

A tuple or a row of a table is a single sample.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

import numpy as np

from ..similarity import sparse as sp
from ..similarity.concatenation import concatenate_samples, num_samples
from ..similarity.sample_arrays import (
    as_samples,
    check_row_dimensions,
    check_same_grouping,
    flatten_nested,
)
from ..similarity.shapes import (
    ROW_TYPES,
    check_label_shape,
    is_nested,
    nesting_depth,
)
from ..support.arguments import is_collection
from ..support.errors import SampleError, short_repr
from ..support.signature import compute_digest
from ..support.types import Record, SampleContainer, Samples
from .kernel_builder import find_distinct_samples
from .similarity_spec import PromptSpec, SimilaritySpec

# Maximum number of characters of a label in a message.
_MAX_LABEL_CHARACTERS = 40
# Label types that are always hashable and never missing.
_HASHABLE_TYPES = {str, int, bool, bytes}


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """Distinct labels in order of appearance, and an integer code per sample.

    For nested lists (`nested`), labels are positions of the lists. `sets` holds the set of each
    group if samples are grouped by prompt within several sets.
    """

    labels: tuple[Hashable, ...]
    codes: np.ndarray
    nested: bool = False
    sets: GroupLabels | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sample_labels(self) -> list[Hashable]:
        """The label of each sample."""
        return [self.labels[code] for code in self.codes]

    @property
    def sizes(self) -> list[int] | None:
        """Group sizes if the samples of each group are consecutive, as in nested lists; or None."""
        in_place = self.labels == tuple(range(len(self))) and (np.diff(self.codes) >= 0).all()
        return np.bincount(self.codes, minlength=len(self)).tolist() if in_place else None

    def select(self, index: np.ndarray) -> GroupLabels:
        """Return the GroupLabels of a subset, with only the labels that occur in it."""
        return encode_labels([self.labels[code] for code in self.codes[index]])

    def describe(self, group: int) -> str:
        """Return the name of a group for messages."""
        return f"group {self.labels[group]!r:.{_MAX_LABEL_CHARACTERS}}"

    def position(self, i: int) -> tuple[int, int]:
        """Return the position of sample i within its group in a list of lists, and the group."""
        group = int(self.codes[i])
        return i - int(np.searchsorted(self.codes, group)), group

    def locate_error(self, error: SampleError) -> SampleError:
        """Return a copy of the error with positions within the groups of a list of lists."""
        if not self.nested:
            return error
        problems = {}
        for i, problem in error.problems.items():
            at, group = self.position(i)
            problems[i] = f"(sample {at} of {self.describe(group)}) {problem}"
        return SampleError.from_problems(problems)

    def __str__(self) -> str:
        sets = "" if self.sets is None else f"/{self.sets}"
        return f"{len(self)}@{compute_digest(self.codes)}{sets}"


def flatten_groups(
    samples: Any,
    spec: SimilaritySpec,
    labels: object = None,
    *,
    table: bool = False,
    stacks: bool = False,
    name: str = "samples",
) -> tuple[SampleContainer, GroupLabels | None]:
    """Return samples as a flat list or array, and their GroupLabels or None.

    Groups are defined by `labels`, one per sample, or by nested lists. With `stacks`, an array with
    an additional dimension or a list of arrays is also nested; without, it raises a ValueError. The
    rows of a `table` are samples.
    """
    kind = spec.get_sample_type(samples)
    if kind in ROW_TYPES and not stacks:
        check_row_dimensions(samples, name)
    if kind == "labels" and not stacks:
        check_label_shape(samples, name, table=table)
    if table or not is_nested(samples, kind, name):
        return samples, None if labels is None else parse_group_labels(labels)
    if labels is not None:
        raise ValueError(
            f"`{name}` is a list of lists, which are groups, but `groups` was passed too: pass one "
            "list of all samples with `groups`, or the list of lists alone"
        )
    flat, sizes = flatten_nested(samples if hasattr(samples, "ndim") else list(samples), name)
    if 0 in sizes:
        raise ValueError(
            f"group {sizes.index(0)} of `{name}` is empty and has no score; remove it, or give it "
            f"the samples that it should have"
        )
    numbers = range(len(sizes))
    return flat, GroupLabels(tuple(numbers), np.repeat(numbers, sizes), nested=True)


def parse_group_labels(labels: object, name: str = "groups", n: int | None = None) -> GroupLabels:
    """Return the GroupLabels of n labels, which errors call `name`.

    Raises
    ------
    TypeError, ValueError
        If `labels` is not a collection of n hashable values.
    SampleError
        If labels are missing; lists all of them.
    """
    if isinstance(labels, (str, bytes)):
        raise TypeError(
            f"`{name}` must be a label for each sample, got one {type(labels).__name__} "
            f"{short_repr(labels)}; of a table pass its column, such as df[{short_repr(labels)}]"
        )
    values = as_samples(labels, name)
    if not isinstance(values, list):
        if values.ndim != 1:
            raise ValueError(
                f"`{name}` must be a label for each sample, got shape {tuple(values.shape)}; pass "
                f"one column of it"
            )
        values = values.tolist()
    if not _HASHABLE_TYPES.issuperset(map(type, values)):
        if all(isinstance(label, list) or getattr(label, "ndim", 0) for label in values):
            raise TypeError(
                f"`{name}` must be one list of labels in the order of all samples, got a list of "
                f"lists; put them one after the other"
            )
        values = [label.item() if isinstance(label, np.generic) else label for label in values]
        check_labels(values, name)
    groups = encode_labels(values)
    if n is not None:
        check_size(groups, n, name)
    return groups


def encode_labels(labels: Sequence[Hashable]) -> GroupLabels:
    """Return the GroupLabels of labels that are hashable and not missing."""
    code_of: dict[Hashable, int] = {}
    codes = [code_of.setdefault(label, len(code_of)) for label in labels]
    return GroupLabels(tuple(code_of), np.array(codes, dtype=int))


def check_labels(labels: Sequence[object], name: str) -> None:
    """Raise if labels are missing or not hashable."""
    if _HASHABLE_TYPES.issuperset(map(type, labels)):
        return
    missing = {}
    for i, label in enumerate(labels):
        if not is_hashable(label):
            raise TypeError(
                f"`{name}` must be labels that are hashable, got {type(label).__name__} "
                f"{short_repr(label)} for sample {i}; pass a string, a number or a tuple"
            )
        if is_missing(label):
            missing[i] = (
                f"has no label in `{name}`, but {label!r}; give it one, or leave that sample out"
            )
    SampleError.check(missing)


def is_hashable(label: object) -> bool:
    """Return whether a label is hashable; tuples of lists have `__hash__` but are not."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # comparisons with NA return NA
        return True


def check_size(groups: GroupLabels, n: int, name: str = "groups") -> None:
    """Raise a ValueError unless there are n labels."""
    if len(groups.codes) != n:
        raise ValueError(
            f"`{name}` must have one label for each of {n} samples, got {len(groups.codes)}; pass "
            f"them in the order of the samples"
        )


def name_sets(sets: Mapping[Any, object] | Sequence[object], names: object, label: str) -> Record:
    """Return sets by name; `label` is "set" or "source", for messages."""
    if isinstance(sets, Mapping):
        if names is not None:
            raise ValueError(f"the dict already names the {label}s: leave `names` out")
        named = {str(name): samples for name, samples in sets.items()}
        if len(named) < len(sets):
            raise ValueError(f"two {label}s have names that are written alike; rename one")
        return named
    if names is not None and not is_collection(names):
        raise TypeError(f"`names` must be strings, one for each {label}, got {short_repr(names)}")
    distinct = _default_names(sets) if names is None else list(map(str, names))
    if len(distinct) != len(sets) or len(set(distinct)) != len(distinct):
        raise ValueError(
            f"`names` must be {len(sets)} that all differ, one for each {label}, got "
            f"{short_repr(distinct)}"
        )
    return dict(zip(distinct, sets, strict=True))


def _default_names(sets: Sequence[object]) -> list[str]:
    """Name sets A, B, …; folders by their names, or by their paths if names are not unique."""
    from ..support.folders import is_folder

    letters = [f"{letter}{i or ''}" for i in range(len(sets)) for letter in ascii_uppercase]
    paths = [os.fsdecode(samples) if is_folder(samples) else "" for samples in sets]
    folders = [path and os.path.basename(os.path.abspath(path)) for path in paths]
    for candidates in (folders, paths):
        names = [name or letter for name, letter in zip(candidates, letters, strict=False)]
        if len(set(names)) == len(names):
            return names
    return letters[: len(sets)]


def format_labels(labels: GroupLabels, argument: str) -> list[str]:
    """Format labels as strings; raise a ValueError if two distinct labels have the same string."""
    names = [str(label) for label in labels.labels]
    counts = Counter(names)
    if repeated := [name for name in names if counts[name] > 1]:
        raise ValueError(
            f"`{argument}` has two labels written {repeated[0]!r}; pass labels of one type"
        )
    return names


def parse_set_labels(by: object, min_samples: int) -> GroupLabels:
    """Return the set of each sample as GroupLabels; check the number of samples of each set."""
    groups = parse_group_labels(by, "by")
    names = format_labels(groups, "by")
    names_or_none = [name if name.strip() else None for name in names]
    check_labels([names_or_none[code] for code in groups.codes], "by")
    if len(names) < 2:
        raise ValueError(
            f"`by` must have two labels or more, which name the sets, got {names[0]!r} alone; add "
            f"the samples of another set, or call `compute` for the score of this one"
        )
    counts = np.bincount(groups.codes)
    small = np.flatnonzero(counts < min_samples)
    if len(small):
        first = small[0]
        raise ValueError(
            f"`by` must have at least {min_samples} samples of each label, got {len(small)} of "
            f"{len(names)} labels with fewer, first of all {names[first]!r} with "
            f"{counts[first]}; add samples, leave out those labels, or, if they are prompts, pass "
            f"them as `groups`"
        )
    return GroupLabels(tuple(names), groups.codes)


def flatten_sets(sets: Record, groups: Any, spec: SimilaritySpec) -> tuple[Record, Any]:
    """Return flat sets by name, and their groups if the sets are lists of lists."""
    flat = {name: flatten_groups(samples, spec, name=name) for name, samples in sets.items()}
    nested = {name: found.codes.tolist() for name, (_, found) in flat.items() if found is not None}
    if not nested:
        return sets, groups
    reasons = [f"`{name}` is not" for name in sets if name not in nested]
    reasons += [] if groups is None else ["`groups` was passed too"]
    if reasons:
        raise ValueError(
            f"`{next(iter(nested))}` is a list of lists, which are groups, but {reasons[0]}: pass "
            "all sets as lists of lists, one list for each prompt, or all as one list"
        )
    return {name: samples for name, (samples, _) in flat.items()}, nested


def parse_groups_by_set(groups: object, sizes: Mapping[str, int]) -> list[GroupLabels]:
    """Return the GroupLabels of each set, with common codes, from a list or dict."""
    if isinstance(groups, Mapping):
        if set(groups) != set(sizes):
            raise ValueError(
                f"`groups` must have the names of the sets, {', '.join(map(repr, sizes))}, got "
                f"{', '.join(map(repr, groups))}"
            )
        groups = [groups[name] for name in sizes]
    labels_by_set = list(groups) if is_collection(groups) else []
    if len(labels_by_set) != len(sizes) or not all(map(is_collection, labels_by_set)):
        error = ValueError if is_collection(groups) else TypeError
        raise error(
            f"`groups` must be {len(sizes)} lists of labels, one for each set, got "
            f"{short_repr(groups)}; pass groups=[labels_a, labels_b]"
        )
    labels = []
    for (name, n), labels_of_set in zip(sizes.items(), labels_by_set, strict=True):
        of_set = parse_group_labels(labels_of_set, "groups")
        if len(of_set.codes) != n:
            raise ValueError(
                f"`groups` must have a label for each sample: `{name}` has {n} samples, got "
                f"{len(of_set.codes)} labels"
            )
        labels += of_set.sample_labels
    together = encode_labels(labels)
    ends = np.cumsum(list(sizes.values()))[:-1]
    return [GroupLabels(together.labels, codes) for codes in np.split(together.codes, ends)]


def count_samples_by_set(sets: Sequence[Samples], spec: SimilaritySpec) -> list[int]:
    """Return the number of samples of each set, which may be a table."""
    if not isinstance(spec.k, tuple):
        return list(map(count_input_samples, sets))
    from .mixture import select_column

    return [count_input_samples(select_column(each, spec.k[0])) for each in sets]


def count_input_samples(samples: Any) -> int:
    """Return the number of samples, including those dropped by a Similarity."""
    if hasattr(samples, "n"):  # a Similarity or a MetricSpace
        return samples.n + len(getattr(samples, "dropped", ()))
    return num_samples(samples)


def group_by_prompt(
    spec: SimilaritySpec,
    sets: Sequence[Samples],
    groups: Sequence[GroupLabels | None] | None = None,
    *,
    first_set_only: bool = False,
) -> tuple[SimilaritySpec, GroupLabels | None]:
    """Return `spec` with flat prompts, and GroupLabels by prompt of all sets, or of the first.

    The GroupLabels are None without prompts, or if similarities of all samples are conditioned on a
    single prompt.
    """
    asked = spec.grouping_prompts
    if asked is None:
        return spec, None
    sizes = count_samples_by_set(sets, spec)
    values, index = flatten_prompts(asked, sets, sizes, groups)
    if asked.condition:
        spec = replace(spec, grouping_prompts=PromptSpec(values, index=index))
        if nesting_depth(asked.values, sets[0]) == 0 or num_samples(asked.values) == 1:
            return spec, None
    by_prompt = group_equal_prompts(values).select(index[: sizes[0]] if first_set_only else index)
    check_labels(by_prompt.sample_labels, "prompts")
    return spec, by_prompt


def cross_groups(sets: GroupLabels, prompts: GroupLabels) -> GroupLabels:
    """Return groups by prompt within each of several sets, which are groups themselves."""
    check_size(sets, len(prompts.codes))
    codes = np.stack([sets.codes, prompts.codes])
    cells, inverse = np.unique(codes, axis=1, return_inverse=True)
    if cells.shape[1] == len(sets):  # each set has a single prompt
        return sets
    labels = [(sets.labels[i], prompts.labels[j]) for i, j in cells.T.tolist()]
    return GroupLabels(tuple(labels), inverse.ravel(), sets=GroupLabels(sets.labels, cells[0]))


def group_equal_prompts(prompts: Sequence[object]) -> GroupLabels:
    """Return GroupLabels of equal prompts, which may be lists or dicts such as chat messages."""
    values = as_samples(prompts, "prompts", empty=True)
    if sp.issparse(values):
        values = values.toarray()
    labels = [value.tolist() if hasattr(value, "tolist") else value for value in values]
    if all(map(is_hashable, labels)):
        return encode_labels(labels)
    keys = list(map(_freeze, labels))
    if all(map(is_hashable, keys)):
        return encode_labels(encode_labels(keys).codes.tolist())
    firsts: list[object] = []  # prompts that are not hashable
    for label in labels:
        if label not in firsts:
            firsts.append(label)
    return encode_labels([firsts.index(label) for label in labels])


def _freeze(value: object) -> object:
    """Convert lists and dicts to values that compare equal for equal content."""
    if isinstance(value, Mapping):
        items = [(key, _freeze(each)) for key, each in value.items()]
        return (Mapping, frozenset(items)) if all(map(is_hashable, items)) else value
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_freeze, value))
    return value


def flatten_prompts(
    prompts: PromptSpec,
    sets: Sequence[Samples],
    sizes: Sequence[int],
    groups: Sequence[GroupLabels | None] | None = None,
) -> tuple[Any, np.ndarray]:
    """Return prompts as a flat list, and the index of the prompt of each sample of all sets.

    Conditioning prompts are listed once each. Raises a ValueError or TypeError unless there is a
    single prompt, one prompt per sample, or one per group.
    """
    if prompts.index is not None:
        return prompts.values, prompts.index
    passed = prompts.values
    kinds: Sequence[Samples | None] = sets if prompts.condition else [None] * len(sets)
    by_set = (
        len(sets) > 1 and nesting_depth(passed, kinds[0]) > 1 and num_samples(passed) == len(sets)
    )
    if by_set and any(own is not None and own.sizes == _list_sizes(passed) for own in groups or ()):
        raise ValueError(
            "`prompts` has as many lists as there are sets, of the sizes of the groups, so that "
            "each may belong to a set or to a group; pass for each set a list of one prompt per "
            "sample, or a dict of group to prompt, such as {0: …}"
        )
    pools = []
    indices = []
    start = 0
    for i, n in enumerate(sizes):
        own = groups[i] if groups else None
        pool, index = _match_prompts(passed[i] if by_set else passed, kinds[i], n, own)
        pools.append(pool)
        indices.append(start + index)
        start += num_samples(pool)
    values = concatenate_samples(pools)
    index = np.concatenate(indices)
    if not prompts.condition:
        return values, index
    distinct, _, inverse = find_distinct_samples(values)
    return distinct, inverse[index]


def _match_prompts(
    prompts: Any, samples: Samples | None, n: int, groups: GroupLabels | None
) -> tuple[SampleContainer, np.ndarray]:
    """Return the prompts of a set as a flat list, and the index of the prompt of each sample."""
    if _is_prompt_mapping(prompts, samples):
        return as_samples(list(prompts.values()), "prompts"), _match_labels(tuple(prompts), groups)
    depth = nesting_depth(prompts, samples)
    if depth == 0:
        return prompts[None] if hasattr(prompts, "ndim") else [prompts], np.zeros(n, dtype=int)
    if depth > 1 and samples is None and all(map(_is_conversation, prompts)):
        if (
            groups is not None
            and groups.nested
            and groups.sizes == _list_sizes(prompts) != [1] * len(groups)
        ):
            raise ValueError(
                "`prompts` has a list of messages of the size of each group, so that each may be "
                "the conversation of a group, or a prompt for each of its samples; pass a dict of "
                "group to conversation, such as {0: …}, or one list of a prompt for each sample"
            )
    elif depth > 1 and (samples is not None or (groups is not None and groups.nested)):
        prompts, sizes = flatten_nested(prompts, "prompts")
        if set(sizes) != {1}:
            check_same_grouping("prompts", sizes, groups)
    m = num_samples(prompts)
    if m == n or (m == 1 and n and samples is not None):
        return prompts, np.arange(n) % m
    if groups is not None and groups.labels == tuple(range(m)):  # true for lists of lists
        return prompts, groups.codes
    of_groups = ""
    if groups is not None:
        of_groups = f", or a dict of group to prompt, such as {{{short_repr(groups.labels[0])}: …}}"
    raise ValueError(
        f"`prompts` must be one prompt, or one for each of {n} samples{of_groups}, got {m}; repeat "
        f"a prompt for each of its samples"
    )


def _list_sizes(lists: Sequence[Any]) -> list[int]:
    return [0 if isinstance(each, Mapping) else num_samples(each) for each in lists]


def _is_conversation(prompt: Sequence[object]) -> bool:
    return all(isinstance(message, Mapping) and "role" in message for message in prompt)


def _match_labels(labels: Sequence[object], groups: GroupLabels | None) -> np.ndarray:
    """Return for each sample the index of its group in `labels`."""
    if groups is None:
        raise TypeError(
            "`prompts` is a dict, which has the prompt of each group by its label, but the samples "
            "have no groups: pass `groups` too, or the prompts as a list"
        )
    index = {label: i for i, label in enumerate(labels)}
    if lacking := [label for label in groups.labels if label not in index]:
        raise ValueError(f"`prompts` must have a prompt of each group, got none of {lacking[0]!r}")
    if more := [label for label in labels if label not in groups.labels]:
        raise ValueError(
            f"`prompts` must have labels of groups, got {short_repr(more[0])}, which no sample "
            f"has; correct it, or leave it out"
        )
    return np.array([index[label] for label in groups.labels])[groups.codes]


def _is_prompt_mapping(prompts: object, samples: object) -> bool:
    """Return whether prompts are a dict by group label, and not a single prompt that is a dict."""
    if not isinstance(prompts, Mapping):
        return False
    records = isinstance(samples, list) and isinstance(samples[0], Mapping)
    return not records or all(isinstance(value, Mapping) for value in prompts.values())
