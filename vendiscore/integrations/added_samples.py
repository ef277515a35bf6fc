"""Batches of samples: copied when added, since loops fill the same array again, and unconverted."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..arrays import sparse as sp
from ..arrays.inputs import as_matrix, as_samples
from ..arrays.pools import size
from ..core.namespace import is_numpy, is_torch
from ..core.types import Samples
from ..resolve.group_labels import takes_any_length
from ..resolve.kernel_request import How

_ATOMS = frozenset((str, int, float, bool, bytes, type(None)))


@dataclass
class Added:
    """Batches of samples, of references, and the labels of the groups of each batch of samples."""

    samples: list[Any] = field(default_factory=list)
    references: list[Any] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)

    def __add__(self, other: Added) -> Added:
        own = (self.samples + other.samples, self.references + other.references)
        return Added(*own, self.labels + other.labels)

    def __iadd__(self, other: Added) -> Added:  # of many batches, a sum by `+` would copy all
        self.samples += other.samples
        self.references += other.references
        self.labels += other.labels
        return self

    def __len__(self) -> int:
        return sum(map(size, self.samples))


def read(samples: Samples, kept: Sequence[object], how: How, name: str = "samples") -> Any:
    """Copy a batch that must go with those `kept`; `how` is what is known of the samples so far."""
    batch = as_samples(samples, name)
    if isinstance(batch, list) and getattr(samples, "ndim", 1) == 2:
        batch = [tuple(row) for row in batch]  # of a table, no lists of samples
    if not takes_any_length(how):
        _check_kind(batch, kept, name)
    numbers = isinstance(batch, list) and isinstance(batch[0], np.number)
    if numbers and len(set(map(type, batch))) == 1:
        return np.array(batch)  # as the array that they were taken from
    return _copied(batch)


def _check_kind(batch: object, kept: Sequence[object], name: str) -> None:
    """Raise where a batch has other samples than those kept, or rows of another length."""
    width = _width(batch, name)
    if kept and width != (before := _width(kept[0], name, checked=True)):
        error = TypeError if None in (before, width) else ValueError
        raise error(
            f"`{name}` must be of one kind in all batches, got {_say(before)} and now "
            f"{_say(width)}; this batch was not kept"
        )


def _say(width: int | None) -> str:
    return "samples that are not rows of numbers" if width is None else f"rows of {width} numbers"


def _width(batch: Any, name: str, *, checked: bool = False) -> int | None:
    """Return the length of the rows of numbers in a batch, or None if it has others or none."""
    if hasattr(batch, "shape"):
        if batch.ndim != 2:
            return None
    elif not any(map(_is_row, batch)):
        return None
    if checked:
        return int(batch.shape[1] if hasattr(batch, "shape") else len(batch[0]))
    return int(as_matrix(batch, name).shape[1])


def _is_row(sample: object) -> bool:
    if isinstance(sample, (list, tuple)):
        return bool(sample) and isinstance(sample[0], (int, float, np.number))
    if is_numpy(sample):
        return sample.ndim == 1 and sample.dtype.kind in "fiub"
    return is_torch(sample) and sample.ndim == 1


def _copied(sample: Any) -> Any:
    """Copy what loops write into: containers, arrays and images."""
    kind = type(sample)
    if kind in (list, tuple, set):
        return kind(sample) if _ATOMS.issuperset(map(type, sample)) else kind(map(_copied, sample))
    if kind is dict:
        return {key: _copied(value) for key, value in sample.items()}
    if is_torch(sample):
        return sample.detach().clone()
    if is_numpy(sample) or sp.issparse(sample):
        return sample.copy()
    if isinstance(sample, (list, dict, set, bytearray)):
        return copy.copy(sample)
    pillow = sys.modules.get("PIL.Image")
    if isinstance(sample, getattr(pillow, "Image", ())):
        try:
            return sample.copy()  # type: ignore[union-attr]
        except (OSError, SyntaxError, ValueError):
            pass  # a file that cannot be read: the kernel names it
    return sample


def labels_of(groups: object, n: int) -> list[Any]:
    """Return the labels of a batch of n samples."""
    labels = as_samples(groups, "groups")
    labels = labels.tolist() if hasattr(labels, "tolist") else labels
    if len(labels) != n:
        raise ValueError(
            f"`groups` must have one label for each of {n} samples, got {len(labels)}; pass them "
            f"in the order of the samples"
        )
    return labels


def labelled(added: Added, groups: object) -> Added:
    """Give the labels that `compute` got to the samples that have none."""
    if groups is None:
        return added
    pairs = list(zip(added.samples, added.labels, strict=True))
    sizes = [size(batch) if own is None else 0 for batch, own in pairs]
    if pairs and not any(sizes):
        raise ValueError(
            "`groups` was already passed when the samples were added: leave it out of compute()"
        )
    rest = iter(labels_of(groups, sum(sizes)))
    every = zip(sizes, added.labels, strict=True)
    labels = [list(islice(rest, n)) if n else own for n, own in every]
    return Added(added.samples, added.references, labels)


def all_labels(labels: list[Any], more: str = "") -> list[Any] | None:
    """Return the labels of all samples, or None if none has any."""
    given = [own for own in labels if own is not None]
    if given and len(given) < len(labels):
        raise ValueError(
            "`groups` must be given for all samples or for none, but some batches had labels and "
            f"others had none{more}"
        )
    return [label for own in given for label in own] if given else None
