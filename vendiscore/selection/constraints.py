"""Constraints on a selection: how many samples, which first, how many of each group at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import integer, is_several
from ..resolve.group_labels import Groups
from ..similarity.weights import PerSample, per_sample


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints on a selection of `size` from n samples."""

    n: int
    size: int
    initial: list[int]  # places that are in, first
    group: np.ndarray  # (n,), the number of the group of each sample, all 0 without groups
    most: np.ndarray  # how many of each group may be in

    def open(self, places: list[int]) -> np.ndarray:
        """Return which samples (n,) may join those in `places`."""
        room = self._counts(places) < self.most
        allowed = room[self.group]
        allowed[places] = False
        return allowed

    def instead(self, places: list[int]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Return which candidates may come in for each of some members, positions in `places`."""
        room, group = self._counts(places) < self.most, self.group[places]

        def allowed(members: np.ndarray, candidates: np.ndarray) -> np.ndarray:
            joining = self.group[candidates]
            return room[joining] | (joining == group[members][:, None])

        return allowed

    def _counts(self, places: Any) -> np.ndarray:
        """Return how many of some samples are in each group."""
        return np.bincount(self.group[places], minlength=len(self.most))

    def newcomers(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return about `count` candidates of the largest values, in shares of groups as chosen."""
        most = -(-self.most * count // self.size)
        return Constraints(self.n, len(values), [], self.group, most).best(values)

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the selection of the largest sum of `values` (n,), greedily: it is a matroid."""
        order = np.argsort(-values, kind="stable")
        order = np.concatenate([self.initial, order[~np.isin(order, self.initial)]]).astype(int)
        groups = self.group[order]
        by_group = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[by_group], np.arange(len(self.most)))
        rank = np.empty(self.n, int)
        rank[by_group] = np.arange(self.n) - starts[groups[by_group]]
        return order[rank < self.most[groups]][: self.size]

    def even(self) -> np.ndarray:
        """Return weights (n,) that sum to 1, even within groups, as a mean of selections has."""
        inside = self._counts(self.initial)
        room, have = self.most - inside, self._counts(slice(None)) - inside
        chance = room / np.maximum(have, 1) * (self.size - len(self.initial)) / max(1, room.sum())
        p = chance[self.group] / self.size
        p[self.initial] = 1 / self.size
        return p

    def of(self, places: np.ndarray) -> Constraints:
        """Return the constraints of choosing all of `places`, which meets these."""
        initial = [places.tolist().index(place) for place in self.initial]
        return Constraints(len(places), self.size, initial, self.group[places], self.most)


def read_constraints(
    n: int, size: object, initial: list[int], groups: Groups | None, quota: object
) -> Constraints:
    """Return the constraints, if a selection can meet them, of places that were read."""
    size = integer("size", size, 1, n, f"there are {n} samples: take as many, or add some")
    if len(initial) > size:
        raise ValueError(
            f"`initial` must have at most the {size} samples of `size`, got {len(initial)}; raise "
            f"`size`, or leave some out"
        )
    if groups is None:
        if quota is None:
            return Constraints(n, size, initial, np.zeros(n, int), np.array([size]))
        raise ValueError(
            "`quota` needs `groups`: pass groups=, one label for each sample, or leave it out"
        )
    if quota is None:
        raise ValueError(
            "`groups` needs `quota`: pass quota=, how many of each group, or leave it out"
        )
    most = _read_quota(size, quota, groups)
    counts = np.bincount(groups.codes[initial], minlength=len(most))
    if (counts > most).any():
        over = int(np.argmax(counts > most))
        raise ValueError(
            f"`initial` has {counts[over]} of {groups.named(over)}, of which `quota` allows "
            f"{most[over]}; raise the quota, or leave some out"
        )
    return Constraints(n, size, initial, groups.codes, most)


def read_initial(n: int, initial: Any) -> list[int]:
    """Return places of n samples, none twice."""
    if initial is None:
        return []
    if not is_several(initial):
        raise TypeError(f"`initial` must be a list of places of samples, got {initial!r:.60}")
    remedy = f"places count from 0, and there are {n} samples"
    places = [integer("initial", place, 0, n - 1, remedy) for place in initial]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"`initial` must have no place twice, got {twice} twice; leave one out")
    return places


def _read_quota(size: int, quota: object, groups: Groups) -> np.ndarray:
    """Return how many of each group may be in."""
    have = np.bincount(groups.codes, minlength=len(groups))
    if not isinstance(quota, Mapping):
        cap = integer("quota", quota, 1, None, "or pass {label: count}")
        most = np.minimum(have, cap)
        if most.sum() < size:
            raise ValueError(
                f"`quota`={cap} leaves no more than {most.sum()} of {len(have)} groups, fewer than "
                f"the {size} of `size`; raise `quota`, or lower `size`"
            )
        return most
    wanted = {label: integer("quota", count, 0) for label, count in quota.items()}
    known = dict(zip(groups.labels, have.tolist(), strict=True))
    for label, count in wanted.items():
        if count > known.get(label, 0):
            raise ValueError(
                f"`quota` asks for {count} of group {label!r}, which has {known.get(label, 0)}; "
                f"lower it, or add samples of that group"
            )
    if (total := sum(wanted.values())) != size:
        raise ValueError(
            f"the counts of `quota` must sum to `size`={size}, got {total}; change one of the two, "
            f"or pass one number for at most that many of each group"
        )
    return np.array([wanted.get(label, 0) for label in groups.labels])


def read_quality(n: int, quality: object, kept: np.ndarray) -> np.ndarray:
    """Read scores of at least 0, of n samples or of those kept, one of which has more."""
    remedy = "; add a constant, or take exp(quality)"
    scores = _of_kept(per_sample(quality, "quality", least=0, remedy=remedy), n, kept)
    if sum(scores.tolist()) == np.inf:
        raise ValueError(
            f"`quality` must have a finite sum, got numbers up to {scores.max():g}; divide them by "
            f"the largest"
        )
    if not (scores > 0).any():
        raise ValueError(
            "`quality` must be above 0 for 1 sample or more, got 0; add a small constant"
        )
    return scores


def read_relevance(n: int, relevance: object, kept: np.ndarray) -> np.ndarray:
    """Read scores of any range as quality, exp((r − mean)/std), of which only ratios matter."""
    scores = _of_kept(per_sample(relevance, "relevance", remedy="; leave it out"), n, kept)
    size = np.abs(scores).max()
    scores = scores / size if size else scores  # whose squares are numbers
    spread = float(scores.std())
    if spread <= 1e-12:
        return np.ones(len(scores))
    return np.maximum(np.exp((scores - scores.max()) / spread), np.finfo(float).tiny)


def _of_kept(numbers: PerSample, n: int, kept: np.ndarray) -> np.ndarray:
    """Return the numbers of the samples kept, of n or of these."""
    scores = numbers.of(n, None, len(kept))
    return scores[kept] if len(scores) == n else scores
