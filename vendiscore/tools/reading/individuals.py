"""Individuals of a table of counts, which are stored as counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, overload

import numpy as np


class RepeatedLabels(Sequence[str]):
    """A sequence of labels, each of them repeated, which is stored without the repetitions."""

    def __init__(self, labels: Sequence[str], times: np.ndarray) -> None:
        present = np.flatnonzero(times)
        self.labels: list[str] = [labels[i] for i in present.tolist()]
        self._times = times[present]
        self._ends = np.cumsum(self._times)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(repeat, self.labels, self._times.tolist()))

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]  # raises an IndexError
        return self.labels[int(np.searchsorted(self._ends, i, "right"))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.repeat(np.array(self.labels, dtype), self._times)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


@dataclass(frozen=True)
class CountTable:
    """Numbers of individuals, shape (sites, species), with the group and set of each site."""

    counts: np.ndarray
    species: Sequence[str]
    groups: Sequence[str] = ()
    sets: Sequence[str] = ()

    def select_set(self, label: str) -> CountTable:
        """Return the sites of a set."""
        is_in_set = np.array(self.sets) == label
        groups = [group for group, is_kept in zip(self.groups, is_in_set, strict=False) if is_kept]
        return CountTable(self.counts[is_in_set], self.species, groups)

    @property
    def individuals(self) -> RepeatedLabels:
        """The species of each individual, site by site."""
        return RepeatedLabels([*self.species] * len(self.counts), self.counts.ravel())

    @property
    def group_labels(self) -> Sequence[str]:
        """The group of each individual; empty without groups."""
        return RepeatedLabels(self.groups, self.counts.sum(axis=1)) if self.groups else []

    @property
    def keywords(self) -> dict[str, Any]:
        """Keywords of `compute`: `counts`, and `groups` of sites if there are any."""
        if not self.groups:
            return {"counts": self.counts.sum(axis=0)}
        is_empty = self.counts.sum(axis=1) == 0
        groups = [group for group, empty in zip(self.groups, is_empty, strict=True) if not empty]
        return {"counts": self.counts[~is_empty], "groups": groups}
