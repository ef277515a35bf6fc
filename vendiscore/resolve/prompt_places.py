"""Prompts of samples, which are taken out of their similarity: one for all, a group or a sample."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np

from ..arrays.inputs import as_samples
from ..arrays.pools import pooled, size
from ..arrays.types import Samples
from ..registry.kernel import Kernel, list_kernels
from .kernel_build import distinct_samples


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts as passed, and for each set the group code of each sample."""

    values: Any
    groups: tuple[np.ndarray, ...] = ()

    def of_groups(self, *groups: np.ndarray) -> Prompts:
        """Return these prompts for samples in groups, each of which may have one prompt."""
        return replace(self, groups=groups)

    def placed(self, sets: Sequence[Samples], sizes: Sequence[int]) -> tuple[Any, np.ndarray]:
        """Return distinct prompts, and which of them each sample has, for all sets."""
        own: Sequence[Any] = [self.values] * len(sets)
        if isinstance(self.values, list) and len(self.values) == len(sets) > 1:
            lists = (isinstance(each, list) and _depth(each) is None for each in self.values)
            own = self.values if all(lists) else own
        groups: Sequence[Any] = self.groups or [None] * len(sets)
        values: list[Any] = []
        places = []
        known: dict[int, int] = {}
        for samples, n, prompts, codes in zip(sets, sizes, own, groups, strict=True):
            one = is_one(prompts, samples)
            if id(prompts) not in known:
                known[id(prompts)] = sum(size(each) for each in values)
                alone = prompts[None] if hasattr(prompts, "ndim") else [prompts]
                values.append(alone if one else prompts)
            start = known[id(prompts)]
            at = np.zeros(n, dtype=int) if one else _places(size(prompts), n, codes)
            places.append(start + at)
        distinct, _, inverse = distinct_samples(pooled(values))
        return distinct, inverse[np.concatenate(places)]


def read_prompts(prompts: object) -> Prompts:
    """Read `prompts`; only a comparison with samples can tell one prompt from a list of them."""
    single = isinstance(prompts, (str, bytes, os.PathLike, Mapping, set, frozenset))
    if single or not (hasattr(prompts, "__iter__") or hasattr(prompts, "__array__")):
        return Prompts(prompts)
    return Prompts(as_samples(prompts, "prompts"))


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
            others = [k.name for k in list_kernels() if k.psd and k.samples == kernel.samples]
            return (
                f"k={kernel.name!r}, which is not positive semidefinite, so that samples have no "
                f"part that a prompt explains: take {', '.join(others)}"
            )
    return ""


def is_one(prompts: object, samples: Any) -> bool:
    """Return whether prompts are one sample of the kind of the samples, for all."""
    depth = _depth(prompts)
    if depth is None:
        return not isinstance(prompts, list)
    first = samples[0] if isinstance(samples, list) and samples else samples
    return depth == (_depth(first) if first is not samples else samples.ndim - 1)


def _depth(x: object) -> int | None:
    """Return the number of dimensions of an array, or of lists of numbers, or None."""
    if hasattr(x, "ndim"):
        return int(x.ndim)
    if isinstance(x, Number):
        return 0
    first = _depth(x[0]) if isinstance(x, (list, tuple)) and x else None
    return None if first is None else first + 1


def _places(m: int, n: int, codes: np.ndarray | None) -> np.ndarray:
    """Return which of m prompts belongs to each of n samples."""
    groups = 0 if codes is None else int(codes.max(initial=-1)) + 1
    if m in (1, n):
        return np.arange(n) % m
    if codes is not None and m == groups:
        return codes
    of_groups = f", or one for each of {groups} groups" if groups else ""
    raise ValueError(
        f"`prompts` must be one prompt, or one for each of {n} samples{of_groups}, got {m}; repeat "
        f"a prompt for each of its samples"
    )
