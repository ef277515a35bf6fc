"""Prompts that samples answer: their groups, and prompts to take out of similarities."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..similarity.inputs import as_samples, check_in_step, unnested
from ..similarity.pools import pooled, shape_of, size
from ..support.arguments import flag, is_several
from ..support.errors import quoted
from ..support.types import Pool, Samples
from .kernel import Kernel, psd_kernels
from .kernel_build import distinct_samples

# Prompts, and for each sample the place of its own.
Placed: TypeAlias = tuple[Pool, np.ndarray]


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts as passed, and for each set the Groups of its samples, or None.

    Only prompts that are `taken` out of similarities are of the kind of the samples.
    """

    values: Any
    taken: bool = True
    groups: tuple[Any, ...] = ()

    def placed(self, sets: Sequence[Samples], sizes: Sequence[int]) -> tuple[Any, np.ndarray]:
        """Return distinct prompts, and which of them each sample has, for all sets."""
        values = []
        places = []
        start = 0
        for read, at in self.of_sets(sets, sizes):
            values.append(read)
            places.append(start + at)
            start += size(read)
        distinct, _, inverse = distinct_samples(pooled(values))
        return distinct, inverse[np.concatenate(places)]

    def of_sets(self, sets: Sequence[Samples], sizes: Sequence[int]) -> Iterator[Placed]:
        """Yield the prompts of each set, and which of them each of its samples has."""
        values = self.values
        nested = isinstance(values, list) and all(map(is_several, values))
        if self.taken:
            nested = depth(values, sets[0]) > 1
        by_set = [values] * len(sets)
        if len(sets) > 1 and nested and size(values) == len(sets):
            by_set = values
        for i, samples in enumerate(sets):
            groups = self.groups[i] if i < len(self.groups) else None
            of_kind = samples if self.taken else None
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


def asked_and_taken(
    k: object,
    given: str,
    prompts: object,
    given_prompt: object,
    metric: object = None,
    within: object = True,
) -> tuple[Prompts | None, Prompts | None]:
    """Return the prompts that samples answer, and those to take out, which `given_prompt` says."""
    taken = given_prompt is not None and flag("given_prompt", given_prompt)
    if prompts is None:
        if taken:
            raise TypeError("`given_prompt` takes out `prompts`, which are missing: pass them, too")
        return None, None
    if not (taken or within):
        raise TypeError(
            "`prompts` say which samples answer one prompt, and this call looks at one set: pass "
            "given_prompt=True to take them out, or to `select` them as `groups`, with `quota`"
        )
    read = read_prompts(prompts, taken)
    if not taken:
        return read, None
    if why := why_not(k, given, None if metric in ("kernel", "1-k") else metric):
        raise TypeError(f"`prompts` cannot be taken out of {why}")
    return read, read


def read_prompts(prompts: object, taken: bool) -> Prompts:
    """Read `prompts`; only a comparison with samples can tell one prompt from a list of them."""
    single = isinstance(prompts, (str, bytes, os.PathLike, set, frozenset))
    if not (hasattr(prompts, "__iter__") or hasattr(prompts, "__array__")):
        single = True
    if single and not taken:
        raise TypeError(
            f"`prompts` must be a prompt for each sample, got {quoted(prompts)} alone: pass "
            f"given_prompt=True to take it out of the similarities of all"
        )
    if single or isinstance(prompts, Mapping):
        return Prompts(prompts, taken)
    return Prompts(as_samples(prompts, "prompts", empty=True), taken)


def why_not(k: object, given: str, metric: object) -> str:
    """Say why prompts cannot be taken out with this kernel or metric; "" if they can."""
    if given == "K":
        return "a similarity matrix, which has no row of the prompt: pass the samples, and `k`"
    if metric is not None:
        return f"distances by metric={metric!r}, which have no prompt: leave `metric` out"
    kernels = [part.kernel for part in k] if isinstance(k, tuple) else [k]
    for kernel in (each for each in kernels if isinstance(each, Kernel)):
        if kernel.samples == "labels" or kernel.name == "equivalence":
            return (
                f"k={kernel.name!r}, by which a prompt explains a sample wholly or not at all: "
                "pass a kernel with values between 0 and 1"
            )
        if not kernel.psd:
            return (
                f"k={kernel.name!r}, which is not positive semidefinite, so that samples have no "
                f"part that a prompt explains: take {psd_kernels(kernel.samples)}"
            )
    return ""


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
