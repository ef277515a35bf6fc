"""Labels of samples: the group, cluster, set or prompt of each sample.

Labels are passed as one label per sample, or defined by lists of lists of samples. A tuple, or a
row of a table, is a single sample and not a list of samples.
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
from ..similarity.group_indices import factorize
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

    The label of sample i is ``labels[codes[i]]``. If the samples were passed as lists of lists,
    `nested` is True, and the labels are the numbers 0, 1, … of the inner lists. If each group is a
    combination of a set and a prompt, `sets` contains the set of each group (not of each sample).
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
        """Group sizes, if samples are sorted by group as in lists of lists; otherwise None."""
        # Lists of lists have the labels 0, 1, …; other labels may have the same order by chance.
        is_sorted = self.labels == tuple(range(len(self))) and (np.diff(self.codes) >= 0).all()
        return np.bincount(self.codes, minlength=len(self)).tolist() if is_sorted else None

    def select(self, index: np.ndarray) -> GroupLabels:
        """Return the GroupLabels of the samples at `index`, with only the labels of these."""
        return encode_labels([self.labels[code] for code in self.codes[index]])

    def describe(self, group: int) -> str:
        """Return the name of the group with this number (from 0), for messages."""
        return f"group {self.labels[group]!r:.{_MAX_LABEL_CHARACTERS}}"

    def position(self, i: int) -> tuple[int, int]:
        """Return the position of sample i within its group, and the number of the group, from 0.

        Samples must be sorted by group, as in lists of lists.
        """
        # The codes are sorted, so `searchsorted` returns the first sample of the group.
        group = int(self.codes[i])
        return i - int(np.searchsorted(self.codes, group)), group

    def locate_error(self, error: SampleError) -> SampleError:
        """Return an error about the same unusable samples, with their positions in messages.

        If samples were passed as lists of lists, the message contains the group of each unusable
        sample and its position within it. Otherwise `error` is returned unchanged.
        """
        if not self.nested:
            return error
        problems = {}
        for i, problem in error.problems.items():
            position, group = self.position(i)
            problems[i] = f"(sample {position} of {self.describe(group)}) {problem}"
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
    """Return samples as a flat list or array, and their GroupLabels, or None without groups.

    Groups are defined by `labels`, one per sample, or by passing `samples` as a list of lists.
    `name` is the argument with the samples, for messages. `spec` determines the sample type, which
    distinguishes groups from samples that are lists themselves, such as vectors.

    With `stacks`, groups can also be arrays: each array in a list of arrays, or each entry along
    the first axis of an array that has one more dimension than a set of samples. Without `stacks`,
    such arrays raise a ValueError. With `table`, `samples` is a table whose rows are samples, so it
    is never split into groups.
    """
    sample_type = spec.get_sample_type(samples)
    # Arrays with an additional dimension are groups only with `stacks`. Each check raises an error
    # for them, with a hint.
    if sample_type in ROW_TYPES and not stacks:
        check_row_dimensions(samples, name)
    if sample_type == "labels" and not stacks:
        check_label_shape(samples, name, table=table)
    if table or not is_nested(samples, sample_type, name):
        return samples, None if labels is None else parse_group_labels(labels)
    if labels is not None:
        raise ValueError(
            f"`groups` cannot be combined with `{name}` as a list of lists, which already defines "
            "groups; remove `groups`, or pass all samples in one list"
        )
    # An array remains an array, so that its rows need not be converted.
    flat, sizes = flatten_nested(samples if hasattr(samples, "ndim") else list(samples), name)
    if 0 in sizes:
        raise ValueError(
            f"group {sizes.index(0)} of `{name}` is empty; remove this group, or add its samples"
        )
    group_codes = range(len(sizes))
    return flat, GroupLabels(tuple(group_codes), np.repeat(group_codes, sizes), nested=True)


def parse_group_labels(labels: object, name: str = "groups", n: int | None = None) -> GroupLabels:
    """Validate one label per sample and return them as GroupLabels.

    `name` is the argument that contains the labels, for messages. If `n` is passed, there must be
    n labels.

    Raises
    ------
    TypeError, ValueError
        If `labels` is not a collection of hashable values, or their number is not `n`.
    SampleError
        If labels are missing; the message lists the indices of these samples.
    """
    # A string is often the name of a column, and would otherwise be split into characters.
    if isinstance(labels, (str, bytes, os.PathLike)):
        is_path = isinstance(labels, os.PathLike)
        hint = f"for a column of a table, pass df[{short_repr(labels)}]"
        raise TypeError(
            f"`{name}` must contain one label per sample, got the {type(labels).__name__} "
            f"{short_repr(labels)}; {'pass a list of labels' if is_path else hint}"
        )
    values = as_samples(labels, name)
    if not isinstance(values, list):
        if values.ndim != 1:
            raise ValueError(
                f"`{name}` must be one-dimensional with one label per sample, got shape "
                f"{tuple(values.shape)}; pass one column"
            )
        values = values.tolist()
    # Labels of these types are hashable and not missing, so slower checks are skipped.
    if not _HASHABLE_TYPES.issuperset(map(type, values)):
        if all(isinstance(label, list) or getattr(label, "ndim", 0) for label in values):
            raise TypeError(
                f"`{name}` must be a flat list with one label per sample, got a list of "
                f"{len(values)} lists; if each of these lists has one label per sample, pass "
                f"list(zip(*{name})) to combine their labels; if each list has the labels of "
                f"other samples, concatenate the lists"
            )
        # Messages and results then show the label 1, not np.int64(1).
        values = [label.item() if isinstance(label, np.generic) else label for label in values]
        check_labels(values, name)
    groups = encode_labels(values)
    if n is not None:
        check_size(groups, n, name)
    return groups


def encode_labels(labels: Sequence[Hashable]) -> GroupLabels:
    """Return the GroupLabels of valid labels: hashable and not missing."""
    distinct, codes = factorize(labels)
    return GroupLabels(tuple(distinct), codes)


def check_labels(labels: Sequence[object], name: str) -> None:
    """Raise an error if labels are missing or not hashable; `name` is the argument with them."""
    if _HASHABLE_TYPES.issuperset(map(type, labels)):
        return
    missing = {}
    for i, label in enumerate(labels):
        if not is_hashable(label):
            raise TypeError(
                f"`{name}` must contain hashable labels, got {type(label).__name__} "
                f"{short_repr(label)} for sample {i}; pass strings, numbers or tuples"
            )
        if is_missing(label):
            missing[i] = (
                f"has no label in `{name}`, got {label!r}; set its label, or remove the sample"
            )
    SampleError.check(missing)


def is_hashable(label: object) -> bool:
    """Return whether a label is hashable. A tuple of lists is not, although it has `__hash__`."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN or pandas.NA."""
    # NaN differs from itself.
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # comparisons with NA return NA
        return True


def check_size(groups: GroupLabels, n: int, name: str = "groups") -> None:
    """Raise a ValueError unless there are n labels; `name` is their argument, for messages."""
    if len(groups.codes) != n:
        raise ValueError(
            f"`{name}` must contain one label per sample, got {len(groups.codes)} labels for {n} "
            f"samples"
        )


def name_sets(sets: Mapping[Any, object] | Sequence[object], names: object, label: str) -> Record:
    """Return sets by name, for functions that compare several sets.

    `sets` is a dict by name, or a list with the names in `names`, by default "A", "B", …. `label`
    is "set" or "source", for messages.
    """
    if isinstance(sets, Mapping):
        if names is not None:
            raise ValueError(
                f"`names` cannot be combined with a dict of {label}s, whose keys are the names; "
                f"remove `names`"
            )
        named = {str(name): samples for name, samples in sets.items()}
        if len(named) < len(sets):
            raise ValueError(
                f"names of {label}s must be distinct as strings, got {short_repr(list(sets))}; "
                f"rename one of them"
            )
        return named
    if names is not None and not is_collection(names):
        raise TypeError(
            f"`names` must be a list of strings, one per {label}, got {short_repr(names)}"
        )
    set_names = _default_names(sets) if names is None else list(map(str, names))
    if len(set_names) != len(sets) or len(set(set_names)) != len(set_names):
        raise ValueError(
            f"`names` must contain {len(sets)} distinct strings, one per {label}, got "
            f"{short_repr(set_names)}"
        )
    return dict(zip(set_names, sets, strict=True))


def _default_names(sets: Sequence[object]) -> list[str]:
    """Return default names of sets: the names of folders, and A, B, …, Z, A1, … for other sets.

    If names of folders are not unique, the paths that were passed are used instead.
    """
    from ..support.folders import is_folder

    # A, …, Z, A1, …, Z1, …: 26 names per set, more than needed.
    letters = [f"{letter}{i or ''}" for i in range(len(sets)) for letter in ascii_uppercase]
    paths = [os.fsdecode(samples) if is_folder(samples) else "" for samples in sets]
    folder_names = [path and os.path.basename(os.path.abspath(path)) for path in paths]
    # Names of folders if they are unique, otherwise paths. Sets that are not folders have empty
    # candidates, which are replaced by letters.
    for candidates in (folder_names, paths):
        names = [name or letter for name, letter in zip(candidates, letters, strict=False)]
        if len(set(names)) == len(names):
            return names
    return letters[: len(sets)]  # the same folder was passed twice


def format_labels(labels: GroupLabels, argument: str) -> list[str]:
    """Format the distinct labels as strings; raise a ValueError if two of them become equal.

    `argument` is the argument with the labels, for the message.
    """
    names = [str(label) for label in labels.labels]
    counts = Counter(names)
    if repeated := [name for name in names if counts[name] > 1]:
        raise ValueError(
            f"`{argument}` contains two different labels with the string {repeated[0]!r}; pass "
            f"labels of one type"
        )
    return names


def parse_set_labels(by: object, min_samples: int) -> GroupLabels:
    """Parse the argument `by`, which assigns samples to sets, into GroupLabels with string labels.

    Raise a ValueError unless there are at least two sets, each with at least `min_samples` samples.
    """
    groups = parse_group_labels(by, "by")
    names = format_labels(groups, "by")
    names_or_none = [name if name.strip() else None for name in names]  # blank names are missing
    check_labels([names_or_none[code] for code in groups.codes], "by")
    if len(names) < 2:
        raise ValueError(
            f"`by` must contain at least two distinct labels, got only {names[0]!r}; add the "
            f"samples of another set, or use `compute` to score one set"
        )
    counts = np.bincount(groups.codes)
    small = np.flatnonzero(counts < min_samples)
    if len(small):
        first = small[0]
        raise ValueError(
            f"each label of `by` must have at least {min_samples} samples, but {len(small)} of "
            f"{len(names)} labels have fewer, for example {names[first]!r} with {counts[first]}; "
            f"add samples, or remove these labels; if the labels are prompts, pass them as `groups`"
        )
    return GroupLabels(tuple(names), groups.codes)


def flatten_sets(sets: Record, groups: Any, spec: SimilaritySpec) -> tuple[Record, Any]:
    """Return flat sets by name, and the groups of their samples.

    If every set is a list of lists, each inner list is a group: the groups are returned as a dict
    from the name of a set to the number of the inner list of each of its samples. If no set is a
    list of lists, the sets and the argument `groups` are returned unchanged.
    """
    flat = {name: flatten_groups(samples, spec, name=name) for name, samples in sets.items()}
    codes_by_name = {
        name: labels.codes.tolist() for name, (_, labels) in flat.items() if labels is not None
    }
    if not codes_by_name:
        return sets, groups
    conflicts = [f"`{name}` is not" for name in sets if name not in codes_by_name]
    conflicts += [] if groups is None else ["`groups` was also passed"]
    if conflicts:
        raise ValueError(
            f"`{next(iter(codes_by_name))}` is a list of lists, which defines groups, but "
            f"{conflicts[0]}; pass every set as a list of lists, with one list per prompt, or "
            "every set as a flat list"
        )
    return {name: samples for name, (samples, _) in flat.items()}, codes_by_name


def parse_groups_by_set(
    groups: object, sizes: Mapping[str, int], name: str = "groups"
) -> list[GroupLabels]:
    """Return the GroupLabels of each set; equal labels have the same code in all sets.

    `groups` is a list of label lists in the order of the sets, or a dict of them by set name.
    `sizes` maps the name of each set to its number of samples. `name` is the argument with the
    labels, for messages.
    """
    if isinstance(groups, Mapping):
        if set(groups) != set(sizes):
            raise ValueError(
                f"the keys of `{name}` must be the names of the sets, "
                f"{', '.join(map(repr, sizes))}, got {', '.join(map(repr, groups))}"
            )
        groups = [groups[set_name] for set_name in sizes]
    labels_by_set = list(groups) if is_collection(groups) else []
    if len(labels_by_set) != len(sizes) or not all(map(is_collection, labels_by_set)):
        error = ValueError if is_collection(groups) else TypeError
        raise error(
            f"`{name}` must contain {len(sizes)} lists of labels, one per set, got "
            f"{short_repr(groups)}; pass {name}=[labels_a, labels_b]"
        )
    # The labels of all sets are encoded together, so that codes agree between sets.
    labels = []
    for (set_name, n), labels_of_set in zip(sizes.items(), labels_by_set, strict=True):
        set_groups = parse_group_labels(labels_of_set, name)
        if len(set_groups.codes) != n:
            raise ValueError(
                f"`{name}` must contain one label per sample, got {len(set_groups.codes)} labels "
                f"for the {n} samples of `{set_name}`"
            )
        labels += set_groups.sample_labels
    pooled = encode_labels(labels)
    boundaries = np.cumsum(list(sizes.values()))[:-1]
    return [GroupLabels(pooled.labels, codes) for codes in np.split(pooled.codes, boundaries)]


def count_samples_by_set(sets: Sequence[Samples], spec: SimilaritySpec) -> list[int]:
    """Return the number of samples that were passed as each set.

    For a Similarity, this includes samples that were dropped when it was built. For a mixture of
    kernels, a set may be a dict of columns, so the values of a column are counted.
    """
    if not isinstance(spec.k, tuple):
        return list(map(count_input_samples, sets))
    from .mixture import select_column

    # All columns have the same length, so the column of the first kernel (`spec.k[0]`) suffices.
    return [count_input_samples(select_column(samples, spec.k[0])) for samples in sets]


def count_input_samples(samples: Any) -> int:
    """Return the number of samples that were passed.

    For a Similarity, this includes samples that were dropped when it was built.
    """
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
    """Return a `spec` with flat prompts, and GroupLabels that group the samples by prompt.

    The GroupLabels cover the samples of all sets, or only of the first set if `first_set_only`.
    They are None if there are no prompts, or if similarities are conditioned on a single prompt for
    all samples. `groups` contains the groups of each set, because prompts can be passed as one
    prompt per group. If similarities are not conditioned on the prompts, `spec` is returned
    unchanged.
    """
    prompts = spec.grouping_prompts
    if prompts is None:
        return spec, None
    sizes = count_samples_by_set(sets, spec)
    values, prompt_indices = flatten_prompts(prompts, sets, sizes, groups)
    if prompts.condition:
        spec = replace(spec, grouping_prompts=PromptSpec(values, index=prompt_indices))
        # If all samples have the same prompt, it does not divide them into groups.
        is_single_prompt = nesting_depth(prompts.values, sets[0]) == 0
        if is_single_prompt or num_samples(prompts.values) == 1:
            return spec, None
    if first_set_only:
        prompt_indices = prompt_indices[: sizes[0]]
    # Prompts may occur several times in `values`, so they are first grouped themselves.
    prompt_groups = group_equal_prompts(values).select(prompt_indices)
    check_labels(prompt_groups.sample_labels, "prompts")
    return spec, prompt_groups


def cross_groups(sets: GroupLabels, prompts: GroupLabels) -> GroupLabels:
    """Group samples by set and prompt: one group per combination that occurs.

    `sets` and `prompts` hold the set and the prompt of each sample. If each set has a single
    prompt, `sets` is returned. Otherwise the attribute `sets` of the result holds the set of each
    group.
    """
    check_size(sets, len(prompts.codes))
    # Shape (2, n): the set and the prompt of each sample. `combinations` are its distinct columns,
    # and `inverse` is the combination of each sample.
    codes = np.stack([sets.codes, prompts.codes])
    combinations, inverse = np.unique(codes, axis=1, return_inverse=True)
    if combinations.shape[1] == len(sets):  # each set has a single prompt
        return sets
    labels = [(sets.labels[i], prompts.labels[j]) for i, j in combinations.T.tolist()]
    set_of_combination = GroupLabels(sets.labels, combinations[0])
    # `inverse` has two dimensions in NumPy 2.0.
    return GroupLabels(tuple(labels), inverse.ravel(), sets=set_of_combination)


def group_equal_prompts(prompts: Sequence[object]) -> GroupLabels:
    """Group prompts by equality. Prompts may be lists or dicts, such as chat messages."""
    values = as_samples(prompts, "prompts", empty=True)
    if sp.issparse(values):
        values = values.toarray()
    # Rows of numbers, and NumPy scalars, become lists and numbers.
    labels = [value.tolist() if hasattr(value, "tolist") else value for value in values]
    if all(map(is_hashable, labels)):
        return encode_labels(labels)
    keys = list(map(_freeze, labels))
    if all(map(is_hashable, keys)):
        # The labels of the result are numbers, because keys are not readable in messages.
        return encode_labels(encode_labels(keys).codes.tolist())
    distinct: list[object] = []  # compared by ==, because prompts are not hashable
    for label in labels:
        if label not in distinct:
            distinct.append(label)
    return encode_labels([distinct.index(label) for label in labels])


def _freeze(value: object) -> object:
    """Convert nested lists and dicts to tuples and frozensets, which are hashable.

    Equal values have equal results. A value that cannot be converted is returned unchanged.
    """
    if isinstance(value, Mapping):
        # The types in the results distinguish a dict from a set of pairs, and [1] from (1,).
        items = [(key, _freeze(entry)) for key, entry in value.items()]
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
    """Return a flat list of prompts, and the position in it of the prompt of each sample.

    The positions cover the samples of all sets, in their order. If similarities are conditioned on
    the prompts (`prompts.condition`), the list contains each distinct prompt once, and prompts have
    the type of the samples. Otherwise prompts only define groups, and can be any labels. `sizes`
    and `groups` contain the number of samples and the groups of each set. Raise a ValueError or
    TypeError unless there is a single prompt, one prompt per sample, or one prompt per group.
    """
    if prompts.index is not None:  # flattened by an earlier call
        return prompts.values, prompts.index
    passed_values = prompts.values
    # Prompts on which similarities are conditioned have the type of the samples, which tells a
    # prompt that is a list from a list of prompts. Prompts that only define groups have any type.
    similar_samples: Sequence[Samples | None] = sets if prompts.condition else [None] * len(sets)
    # Whether the prompts are a list with one list of prompts per set.
    is_by_set = (
        len(sets) > 1
        and nesting_depth(passed_values, similar_samples[0]) > 1
        and num_samples(passed_values) == len(sets)
    )
    if is_by_set and any(
        labels is not None and labels.sizes == _list_sizes(passed_values) for labels in groups or ()
    ):
        raise ValueError(
            "`prompts` is ambiguous: each of its lists may contain the prompts of one set, or be "
            "the prompt of one group (a conversation), because the numbers and lengths of the "
            "lists fit both; pass one list per set with one prompt per sample, or a dict from "
            "group to prompt, such as {0: …}"
        )
    prompt_lists = []
    positions_by_set = []
    start = 0  # position of the first prompt of the set among the prompts of all sets
    for i, n in enumerate(sizes):
        set_prompts, positions = _match_prompts(
            passed_values[i] if is_by_set else passed_values,
            similar_samples[i],
            n,
            groups[i] if groups else None,
        )
        prompt_lists.append(set_prompts)
        positions_by_set.append(start + positions)
        start += num_samples(set_prompts)
    values = concatenate_samples(prompt_lists)
    positions = np.concatenate(positions_by_set)
    if not prompts.condition:
        return values, positions
    distinct, _, inverse = find_distinct_samples(values)
    return distinct, inverse[positions]


def _match_prompts(
    prompts: Any, samples: Samples | None, n: int, groups: GroupLabels | None
) -> tuple[SampleContainer, np.ndarray]:
    """Return the prompts of a set as a flat list, and the position in it of each sample's prompt.

    `n` and `groups` are the number of samples and the groups of the set. `samples` is None if
    prompts only define groups. Otherwise prompts have the type of `samples`, which tells a prompt
    that is a list, such as a vector, from a list of prompts.
    """
    if _is_prompt_mapping(prompts, samples):
        return as_samples(list(prompts.values()), "prompts"), _match_labels(tuple(prompts), groups)
    depth = nesting_depth(prompts, samples)
    # An array of one prompt gets a further axis, for a list of one prompt.
    if depth == 0:  # a single prompt
        return prompts[None] if hasattr(prompts, "ndim") else [prompts], np.zeros(n, dtype=int)
    if depth > 1 and samples is None and all(map(_is_conversation, prompts)):
        # Each inner list is the chat history of one prompt, so it is not flattened.
        if (
            groups is not None
            and groups.nested
            # With one message per list and one sample per group, both readings are the same.
            and groups.sizes == _list_sizes(prompts) != [1] * len(groups)
        ):
            raise ValueError(
                "`prompts` is ambiguous: the number of messages in each list equals the size of "
                "the group, so a list can be one conversation or one prompt per sample; pass a "
                "dict from group to conversation, such as {0: …}, or one flat list with one prompt "
                "per sample"
            )
    elif depth > 1 and (samples is not None or (groups is not None and groups.nested)):
        # Lists of prompts, parallel to lists of samples.
        prompts, sizes = flatten_nested(prompts, "prompts")
        # Lists with one prompt each can contain the prompt of each group, which is handled below.
        if set(sizes) != {1}:
            check_same_grouping("prompts", sizes, groups)
    n_prompts = num_samples(prompts)
    # A list with a single prompt applies to all samples only if similarities are conditioned on it;
    # for grouping, it is probably an error.
    if n_prompts == n or (n_prompts == 1 and n and samples is not None):
        # 0, 1, …, n − 1, or n times 0 for a single prompt.
        return prompts, np.arange(n) % n_prompts
    # One prompt per group, without group labels: the groups are 0, 1, …, as for lists of lists.
    if groups is not None and groups.labels == tuple(range(n_prompts)):
        return prompts, groups.codes
    hint = ""
    if groups is not None:
        hint = (
            f", or pass a dict from group to prompt, such as {{{short_repr(groups.labels[0])}: …}}"
        )
    raise ValueError(
        f"`prompts` must contain one prompt per sample, got {n_prompts} prompts for {n} samples; "
        f"repeat each prompt for all of its samples{hint}"
    )


def _list_sizes(lists: Sequence[Any]) -> list[int]:
    """Return the length of each list. For a dict among them, which is one prompt, return 0."""
    return [0 if isinstance(entries, Mapping) else num_samples(entries) for entries in lists]


def _is_conversation(prompt: Sequence[object]) -> bool:
    """Return whether a prompt is a list of chat messages, which are dicts with a role."""
    return all(isinstance(message, Mapping) and "role" in message for message in prompt)


def _match_labels(labels: Sequence[object], groups: GroupLabels | None) -> np.ndarray:
    """Return for each sample the position of the label of its group in `labels`.

    `labels` are the keys of a dict from group label to prompt. Raise a ValueError unless they are
    the labels of `groups`.
    """
    if groups is None:
        raise TypeError(
            "`prompts` is a dict from group to prompt, but the samples have no groups; pass "
            "`groups`, or pass the prompts as a list"
        )
    index = {label: i for i, label in enumerate(labels)}
    if missing := [label for label in groups.labels if label not in index]:
        raise ValueError(
            f"`prompts` must contain the prompt of each group, but has no key {missing[0]!r}"
        )
    if unknown := [label for label in labels if label not in groups.labels]:
        raise ValueError(
            f"the keys of `prompts` must be group labels, got {short_repr(unknown[0])}, which is "
            f"the label of no sample; correct or remove this key"
        )
    return np.array([index[label] for label in groups.labels])[groups.codes]


def _is_prompt_mapping(prompts: object, samples: object) -> bool:
    """Return whether prompts are a dict from group label to prompt.

    Otherwise a dict is a single prompt; this is possible if `samples` are dicts, too.
    """
    if not isinstance(prompts, Mapping):
        return False
    # If samples are dicts, a dict of non-dicts is a single prompt of the same type.
    has_records = isinstance(samples, list) and isinstance(samples[0], Mapping)
    return not has_records or all(isinstance(value, Mapping) for value in prompts.values())
