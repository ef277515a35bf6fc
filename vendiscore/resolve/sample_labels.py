"""The label of each sample: its group, cluster, set or prompt, from labels or from nested lists.

A tuple or a row of a table is one sample.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, TypeAlias

import numpy as np

from ..signature import digest
from ..similarity import sparse as sp
from ..similarity.inputs import as_samples, check_in_step, check_rows, unnested
from ..similarity.pools import pooled, shape_of, size
from ..similarity.shapes import check_label_shape
from ..support.arguments import is_several
from ..support.errors import SampleError, quoted
from ..support.namespace import is_numpy, is_torch
from ..support.types import Pool, Record, Samples
from .kernel import Kernel
from .kernel_build import distinct_samples
from .kernel_request import How, Prompts

# Prompts, and for each sample the place of its own.
Placed: TypeAlias = tuple[Pool, np.ndarray]
# Characters of a label that a message shows.
_SHOWN = 40
# Types of labels that are always hashable and never missing.
_PLAIN = {str, int, bool, bytes}


@dataclass(frozen=True, eq=False)
class Groups:
    """Labels in order of appearance (positions if `nested`), and the group code of every sample.

    Groups by prompt within several sets have the set of each in `sets`.
    """

    labels: tuple[Hashable, ...]
    codes: np.ndarray
    nested: bool = False
    sets: Groups | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def of_samples(self) -> list[Hashable]:
        """The label of each sample."""
        return [self.labels[code] for code in self.codes]

    @property
    def sizes(self) -> list[int] | None:
        """The sizes of groups 0, 1, 2, … one after the other, as lists of lists are; or None."""
        in_place = self.labels == tuple(range(len(self))) and (np.diff(self.codes) >= 0).all()
        return np.bincount(self.codes, minlength=len(self)).tolist() if in_place else None

    def named(self, group: int) -> str:
        """Return the name of a group for a message."""
        return f"group {self.labels[group]!r:.{_SHOWN}}"

    def place(self, i: int) -> tuple[int, int]:
        """Return the place of sample i of a list of lists in its group, and the group."""
        group = int(self.codes[i])
        return i - int(np.searchsorted(self.codes, group)), group

    def located(self, error: SampleError) -> SampleError:
        """Return an error about samples of a list of lists, with the place of each in its group."""
        if not self.nested:
            return error
        problems = {}
        for i, problem in error.problems.items():
            at, group = self.place(i)
            problems[i] = f"(sample {at} of {self.named(group)}) {problem}"
        return SampleError.of(problems)

    def __str__(self) -> str:
        sets = "" if self.sets is None else f"/{self.sets}"
        return f"{len(self)}@{digest(self.codes)}{sets}"


def flatten_groups(
    samples: Samples,
    how: How,
    labels: object = None,
    *,
    table: bool = False,
    stacks: bool = False,
    name: str = "samples",
) -> tuple[Pool, Groups | None]:
    """Return samples one after the other, and their Groups, or None if they have none.

    With `stacks` an array of one dimension more, or a list of arrays, has groups; else it is
    refused.
    """
    kind = "distances" if how.metric == "precomputed" else sample_kind(how, samples)
    if not stacks:
        _check_shape(samples, kind, table, name)
    members = None if table else _members(samples, kind, name)
    if members is None:
        return samples, None if labels is None else read_labels(labels)
    if labels is not None:
        raise ValueError(
            f"`{name}` is a list of lists, which are groups, but `groups` was passed too: pass one "
            "list of all samples with `groups`, or the list of lists alone"
        )
    array = hasattr(members, "ndim")  # groups of one size, one after the other
    sizes = [members.shape[1]] * len(members) if array else [size(member) for member in members]
    if 0 in sizes:
        raise ValueError(
            f"group {sizes.index(0)} of `{name}` is empty and has no score; remove it, or give it "
            f"the samples that it should have"
        )
    numbers = range(len(members))
    groups = Groups(tuple(numbers), np.repeat(numbers, sizes), nested=True)
    flat = members.reshape(sum(sizes), *members.shape[2:]) if array else pooled(members)
    return flat, groups


def takes_any_length(how: How) -> bool:
    """Return whether a sample may be a list or tuple of any length, numbers included."""
    if isinstance(how.k, Kernel):
        return how.k.samples in _SETS or how.k.samples not in _GROUPS
    return how.is_function


def read_labels(labels: object, name: str = "groups") -> Groups:
    """Return the Groups of labels, one for each sample; errors call the labels `name`."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(
            f"`{name}` must be a label for each sample, got one {type(labels).__name__} "
            f"{quoted(labels)}; of a table pass its column, such as df[{quoted(labels)}]"
        )
    read = as_samples(labels, name)
    if not isinstance(read, list):
        if read.ndim != 1:
            raise ValueError(
                f"`{name}` must be a label for each sample, got shape {tuple(read.shape)}; pass "
                f"one column of it"
            )
        read = read.tolist()
    if not _PLAIN.issuperset(map(type, read)):
        if all(isinstance(label, list) or getattr(label, "ndim", 0) for label in read):
            raise TypeError(
                f"`{name}` must be one list of labels in the order of all samples, got a list of "
                f"lists; put them one after the other"
            )
        read = [label.item() if isinstance(label, np.generic) else label for label in read]
        check_labels(read, name)
    return encode_labels(read)


def encode_labels(labels: Sequence[Hashable]) -> Groups:
    """Return the Groups of labels, all of which are hashable and not missing."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(label, len(places)) for label in labels]
    return Groups(tuple(places), np.array(codes, dtype=int))


def check_labels(labels: Sequence[object], name: str) -> None:
    """Raise for samples without a label, and for labels that are not hashable."""
    missing = {}
    for i, label in enumerate(labels):
        if not is_hashable(label):
            raise TypeError(
                f"`{name}` must be labels that are hashable, got {type(label).__name__} "
                f"{quoted(label)} for sample {i}; pass a string, a number or a tuple"
            )
        if is_missing(label):
            missing[i] = (
                f"has no label in `{name}`, but {label!r}; give it one, or leave that sample out"
            )
    SampleError.check(missing)


def is_hashable(label: object) -> bool:
    """Return whether a label is hashable: a tuple of lists has `__hash__`, but is not."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, which is not equal to itself, or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # NA is neither equal nor unequal
        return True


def check_size(groups: Groups, n: int, name: str = "groups") -> None:
    """Raise a ValueError unless there is a label for each of the n samples passed."""
    if len(groups.codes) != n:
        raise ValueError(
            f"`{name}` must have one label for each of {n} samples, got {len(groups.codes)}; pass "
            f"them in the order of the samples"
        )


def cluster_codes(read: Groups, kept: np.ndarray, least: int) -> np.ndarray:
    """Return the cluster code of each sample in `kept`; `least` clusters must remain."""
    check_size(read, len(kept), "clusters")
    codes = np.unique(read.codes[kept], return_inverse=True)[1]
    m = int(codes.max()) + 1
    if m < least:
        raise ValueError(
            f"`clusters` must be at least {least}, got {m} of {len(codes)} samples, which are too "
            "few to tell how others would score; add samples of other clusters, or leave them out"
        )
    return codes


def name_sets(sets: Mapping[Any, object] | Sequence[object], names: object, what: str) -> Record:
    """Return sets by name; `what` is "set" or "source", for messages."""
    if isinstance(sets, Mapping):
        if names is not None:
            raise ValueError(f"the dict already names the {what}s: leave `names` out")
        found = {str(name): each for name, each in sets.items()}
        if len(found) < len(sets):
            raise ValueError(f"two {what}s have names that are written alike; rename one")
        return found
    if names is not None and not is_several(names):
        raise TypeError(f"`names` must be strings, one for each {what}, got {quoted(names)}")
    read = _usual(sets) if names is None else list(map(str, names))
    if len(read) != len(sets) or len(set(read)) != len(read):
        raise ValueError(
            f"`names` must be {len(sets)} that all differ, one for each {what}, got {quoted(read)}"
        )
    return dict(zip(read, sets, strict=True))


def label_names(labels: Groups, argument: str) -> list[str]:
    """Return labels as names, which all differ."""
    found = [str(label) for label in labels.labels]
    times = Counter(found)
    if twice := [name for name in found if times[name] > 1]:
        raise ValueError(
            f"`{argument}` has two labels written {twice[0]!r}; pass labels of one type"
        )
    return found


def sizes_of(sets: Sequence[Samples], how: How) -> list[int]:
    """Return the number of samples of each set, which may have columns."""
    if not isinstance(how.k, tuple):
        return list(map(count_passed, sets))
    from .mixture import column

    return [count_passed(column(each, how.k[0])) for each in sets]


def count_passed(samples: Any) -> int:
    """Return the number of samples, with those that a Similarity leaves out."""
    if hasattr(samples, "n"):  # a Similarity or a MetricSpace
        return samples.n + len(getattr(samples, "dropped", ()))
    return size(samples)


def group_by_prompt(
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
    for values, places in of_sets(asked, sets, sizes_of(sets, how)):
        prompts = list(values)
        every += [prompts[place] for place in places]
        if first:
            break
    by_prompt = group_equal(every)
    check_labels(by_prompt.of_samples, "prompts")
    return how, by_prompt


def cross_groups(sets: Groups, asked: Groups) -> Groups:
    """Return groups by prompt within each of some sets, which are groups themselves."""
    check_size(sets, len(asked.codes))
    codes = np.stack([sets.codes, asked.codes])
    cells, inverse = np.unique(codes, axis=1, return_inverse=True)
    if cells.shape[1] == len(sets):  # each has one prompt
        return sets
    labels = [(sets.labels[i], asked.labels[j]) for i, j in cells.T.tolist()]
    return Groups(tuple(labels), inverse.ravel(), sets=Groups(sets.labels, cells[0]))


def group_equal(prompts: Sequence[object]) -> Groups:
    """Return samples with equal prompts as groups; messages are compared, which have no hash."""
    read = as_samples(prompts, "prompts", empty=True)
    prompts = [each.tolist() if hasattr(each, "tolist") else each for each in read]
    if all(map(is_hashable, prompts)):
        return encode_labels(prompts)
    keys = list(map(_frozen, prompts))
    if all(map(is_hashable, keys)):
        numbers: dict[object, int] = {}
        return encode_labels([numbers.setdefault(key, len(numbers)) for key in keys])
    firsts: list[object] = []  # of objects that can only be compared, one with each other
    for prompt in prompts:
        if prompt not in firsts:
            firsts.append(prompt)
    return encode_labels([firsts.index(prompt) for prompt in prompts])


def _frozen(value: object) -> object:
    """Return a value that is equal for equal lists and dicts only; hashable if all items are."""
    if isinstance(value, Mapping):
        items = [(key, _frozen(each)) for key, each in value.items()]
        return (Mapping, frozenset(items)) if all(map(is_hashable, items)) else value
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_frozen, value))
    return value


def flatten_prompts(
    prompts: Prompts, sets: Sequence[Samples], sizes: Sequence[int]
) -> tuple[Any, np.ndarray]:
    """Return distinct prompts, and which of them each sample has, for all sets."""
    values = []
    places = []
    start = 0
    for read, at in of_sets(prompts, sets, sizes):
        values.append(read)
        places.append(start + at)
        start += size(read)
    distinct, _, inverse = distinct_samples(pooled(values))
    return distinct, inverse[np.concatenate(places)]


def of_sets(prompts: Prompts, sets: Sequence[Samples], sizes: Sequence[int]) -> Iterator[Placed]:
    """Yield the prompts of each set, and which of them each of its samples has."""
    values = prompts.values
    nested = isinstance(values, list) and all(map(is_several, values))
    if prompts.taken:
        nested = depth(values, sets[0]) > 1
    by_set = [values] * len(sets)
    if len(sets) > 1 and nested and size(values) == len(sets):
        by_set = values
    for i, samples in enumerate(sets):
        groups = prompts.groups[i] if i < len(prompts.groups) else None
        of_kind = samples if prompts.taken else None
        yield _placed(by_set[i], of_kind, sizes[i], groups)


def _placed(prompts: Any, samples: Samples | None, n: int, groups: Any) -> Placed:
    """Return prompts, which are of the kind of any samples, and which each of n samples has."""
    if is_by_label(prompts, samples):
        return as_samples(list(prompts.values()), "prompts"), _of_labels(tuple(prompts), groups)
    if samples is not None and is_one(prompts, samples):
        return prompts[None] if hasattr(prompts, "ndim") else [prompts], np.zeros(n, dtype=int)
    nested = groups is not None and groups.nested and all(map(is_several, prompts))
    if samples is not None:
        nested = depth(prompts, samples) > 1
    if nested:
        prompts, sizes = unnested(prompts, "prompts")
        if set(sizes) != {1}:
            check_in_step("prompts", sizes, groups)
    m = size(prompts)
    if m == n or (m == 1 and n and samples is not None):
        return prompts, np.arange(n) % m
    if groups is not None and groups.labels == tuple(range(m)):  # as lists of lists are
        return prompts, np.asarray(groups.codes)
    of_groups = ""
    if groups is not None:
        of_groups = f", or a dict of group to prompt, such as {{{quoted(groups.labels[0])}: …}}"
    raise ValueError(
        f"`prompts` must be one prompt, or one for each of {n} samples{of_groups}, got {m}; repeat "
        f"a prompt for each of its samples"
    )


def _of_labels(labels: Sequence[object], groups: Any) -> np.ndarray:
    """Return for each sample the place of its group's label among `labels`."""
    if groups is None:
        raise TypeError(
            "`prompts` is a dict, which has the prompt of each group by its label, but the samples "
            "have no groups: pass `groups` too, or the prompts as a list"
        )
    place = {label: i for i, label in enumerate(labels)}
    if lacking := [label for label in groups.labels if label not in place]:
        raise ValueError(f"`prompts` must have a prompt of each group, got none of {lacking[0]!r}")
    if more := [label for label in labels if label not in groups.labels]:
        raise ValueError(
            f"`prompts` must have labels of groups, got {quoted(more[0])}, which no sample has; "
            "correct it, or leave it out"
        )
    return np.array([place[label] for label in groups.labels])[groups.codes]


def is_one(prompts: object, samples: object) -> bool:
    """Return whether prompts are one sample of the kind of the samples, for all."""
    if shape_of(prompts) is None:
        return not isinstance(prompts, list)
    return depth(prompts, samples) == 0


def is_by_label(prompts: object, samples: object) -> bool:
    """Return whether prompts are a dict by label of a group, and not a sample that is a dict."""
    if not isinstance(prompts, Mapping) or not prompts:
        return False
    records = isinstance(samples, list) and isinstance(samples[0], Mapping)
    return not records or all(isinstance(value, Mapping) for value in prompts.values())


def depth(prompts: object, samples: object) -> int:
    """Return how many lists prompts are in: 0 for one sample, 2 for a list of lists of them."""
    return _levels(prompts) - max(1, _levels(samples)) + 1


def _levels(x: object) -> int:
    """Return how many lists or dimensions stand around the first number or other thing."""
    shape = shape_of(x)
    if shape is not None:
        return len(shape)
    if not isinstance(x, list):
        return 0
    return 1 + (_levels(x[0]) if x else 0)


def _usual(sets: Sequence[object]) -> list[str]:
    """Name sets A, B, …, and folders by their names, or by their paths where names are the same."""
    from ..reading.folders import is_folder

    letters = [f"{letter}{i or ''}" for i in range(len(sets)) for letter in ascii_uppercase]
    paths = [os.fsdecode(each) if is_folder(each) else "" for each in sets]
    folders = [path and os.path.basename(os.path.abspath(path)) for path in paths]
    for names in (folders, paths):
        called = [name or letter for name, letter in zip(names, letters, strict=False)]
        if len(set(called)) == len(called):
            return called
    return letters[: len(sets)]


def _check_shape(samples: Samples, kind: str, table: bool, name: str) -> None:
    """Raise for arrays that have a dimension more than samples of their kind."""
    if kind in _OF_ROWS:
        check_rows(samples, name)
    if kind == "labels":
        check_label_shape(samples, name, table=table)


def _members(samples: Samples, kind: str, name: str) -> Any:
    """Return groups as a list of lists or arrays, or as one array; None if samples have none."""
    if not isinstance(samples, (list, tuple)) and not is_numpy(samples) and not is_torch(samples):
        return None
    is_group = _GROUPS.get(kind)
    if is_group is None:
        if kind in _MATRICES and all(_is_array(each) and each.ndim > 1 for each in samples):
            raise ValueError(
                f"`{name}` must be the {kind} of all samples as one matrix, got {len(samples)} "
                f"matrices; pass that one, to `compute` with `groups`, the label of each sample"
            )
        return None
    if hasattr(samples, "ndim"):
        parts = 3 if kind in _OF_ROWS else 2 if kind == "labels" else 0
        return samples if samples.ndim == parts else None
    some = [member for member in samples if not (isinstance(member, list) and not member)]
    if not all(map(is_group, some)) or not (some or kind in _NO_LISTS):
        return None
    return [m if isinstance(m, list) or not size(m) else as_samples(m) for m in samples]


def sample_kind(how: How, samples: Samples) -> str:
    """Return the kind of the samples, in the words that kernels use."""
    if how.given:
        return "vectors" if how.given == "X" else "similarities"
    if isinstance(how.k, Kernel):
        return how.k.samples
    if isinstance(how.k, tuple):
        columns = any(part.column for part in how.k)
        return "records" if columns else how.k[0].kernel.samples
    if how.k is not None:
        return "function"
    texts = isinstance(samples, (list, tuple)) and any(
        _is_list(member) and any(isinstance(one, str) for one in member) for member in samples
    )
    return "text" if texts else "vectors"


def _is_array(x: object) -> bool:
    return is_numpy(x) or is_torch(x) or sp.issparse(x)


def _is_list(member: object) -> bool:
    if isinstance(member, np.ndarray):
        return member.ndim == 1 and member.dtype.kind in "OUST"
    return isinstance(member, list)


def _is_list_of_rows(member: Any) -> bool:
    if isinstance(member, list):
        one = member[0]
        return isinstance(one, (list, tuple)) or getattr(one, "ndim", 0) == 1
    return _is_array(member) and member.ndim == 2


# By kind of sample: whether an element of the list is a group of samples.
_GROUPS: dict[str, Callable[[Any], bool]] = {
    "text": _is_list,
    "molecules": _is_list,
    "images": lambda member: (
        isinstance(member, list) and not isinstance(member[0], (int, float, list, np.number))
    ),
    "labels": lambda member: isinstance(member, list) or (is_numpy(member) and member.ndim == 1),
    "vectors": _is_list_of_rows,
    "class probabilities": _is_list_of_rows,
    "rows of bits": lambda member: (
        (isinstance(member, list) and type(member[0]).__module__.startswith("rdkit."))
        or _is_list_of_rows(member)
    ),
    # Frozensets and tuples are hashable, and may be labels.
    "sets of labels": lambda member: (
        isinstance(member, list) and all(isinstance(one, (list, set)) for one in member)
    ),
    "records": lambda member: (
        isinstance(member, list) and all(isinstance(one, Mapping) for one in member)
    ),
}
_MATRICES = ("similarities", "distances")
_OF_ROWS = ("vectors", "class probabilities", "rows of bits")
_SETS = ("labels", "sets of labels")
_NO_LISTS = ("text", "molecules", "images")  # kinds of which an empty list cannot be a sample
