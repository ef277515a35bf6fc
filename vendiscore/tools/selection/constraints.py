"""Constraints on a selection: how many samples, which first, how many of each group at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...resolve.sample_labels import GroupLabels
from ...similarity.weights import PerSampleValues, check_per_sample
from ...support.arguments import check_int, is_collection
from ...support.errors import short_repr


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints on a selection of `size` from n samples."""

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

    def instead(
        self,
        places: list[int],
        members: np.ndarray,
        candidates: np.ndarray,
    ) -> np.ndarray:
        """Return which candidates may come in for each of some members, positions in `places`."""
        room = self._counts(places) < self.most
        group = self.group[places]
        joining = self.group[candidates]
        leaving = group[members, None]
        return room[joining] | (joining == leaving)

    def _counts(self, places: list[int] | slice) -> np.ndarray:
        """Return how many of some samples are in each group."""
        groups = self.group[places]
        return np.bincount(groups, minlength=len(self.most))

    def newcomers(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return about `count` candidates of the largest values, in shares of groups as chosen."""
        shares = self.most * count / self.size
        most = np.ceil(shares).astype(int)
        return Constraints(len(values), [], self.group, most).best(values)

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the selection of the largest sum of `values` (n,), greedily: it is a matroid."""
        order = np.argsort(-values, kind="stable")
        rest = order[~np.isin(order, self.initial)]
        order = np.concatenate([self.initial, rest]).astype(int)
        groups = self.group[order]
        by_group = np.argsort(groups, kind="stable")
        ascending = groups[by_group]
        starts = np.searchsorted(ascending, np.arange(len(self.most)))
        rank = np.empty(len(order), int)
        rank[by_group] = np.arange(len(order)) - starts[ascending]
        allowed = order[rank < self.most[groups]]
        return allowed[: self.size]

    def even(self) -> np.ndarray:
        """Return weights (n,) that sum to 1, even within groups, as a mean of selections has."""
        inside = self._counts(self.initial)
        room = self.most - inside
        have = self._counts(slice(None)) - inside
        open_places = self.size - len(self.initial)
        chance = room / np.maximum(have, 1) * open_places / max(1, room.sum())
        p = chance[self.group] / self.size
        p[self.initial] = 1 / self.size
        return p

    def of(self, places: np.ndarray) -> Constraints:
        """Return the constraints of choosing all of `places`, which meets these."""
        index = {place: i for i, place in enumerate(places.tolist())}
        initial = [index[place] for place in self.initial]
        return Constraints(self.size, initial, self.group[places], self.most)


def read_constraints(
    n: int,
    size: object,
    initial: list[int],
    groups: GroupLabels | None,
    quota: object,
) -> Constraints:
    """Return the constraints, if a selection can meet them, of places that were read."""
    size = check_int("size", size, 1, n, f"there are {n} samples: take as many, or add some")
    if len(initial) > size:
        raise ValueError(
            f"`initial` must have at most the {size} samples of `size`, got {len(initial)}; raise "
            f"`size`, or leave some out"
        )
    if groups is None:
        if quota is None:
            one_group = np.zeros(n, int)
            return Constraints(size, initial, one_group, np.array([size]))
        raise ValueError(
            "`quota` needs `groups`: pass groups=, one label for each sample, or leave it out"
        )
    if quota is None:
        raise ValueError(
            "`groups` needs `quota`: pass quota=, how many of each group, or leave it out"
        )
    most = _read_quota(size, quota, groups)
    counts = np.bincount(groups.codes[initial], minlength=len(most))
    too_many = np.flatnonzero(counts > most)
    if len(too_many):
        over = int(too_many[0])
        raise ValueError(
            f"`initial` has {counts[over]} of {groups.describe(over)}, of which `quota` allows "
            f"{most[over]}; raise the quota, or leave some out"
        )
    return Constraints(size, initial, groups.codes, most)


def read_initial(n: int, initial: object) -> list[int]:
    """Return places of n samples, none twice."""
    if initial is None:
        return []
    if not is_collection(initial):
        raise TypeError(f"`initial` must be a list of places of samples, got {short_repr(initial)}")
    remedy = f"places count from 0, and there are {n} samples"
    places = [check_int("initial", place, 0, n - 1, remedy) for place in initial]
    if len(set(places)) < len(places):
        twice = Counter(places).most_common(1)[0][0]
        raise ValueError(f"`initial` must have no place twice, got {twice} twice; leave one out")
    return places


def _read_quota(size: int, quota: object, groups: GroupLabels) -> np.ndarray:
    """Return how many of each group may be in."""
    have = np.bincount(groups.codes, minlength=len(groups))
    if not isinstance(quota, Mapping):
        cap = check_int("quota", quota, hint="or pass {label: count}")
        most = np.minimum(have, cap)
        if most.sum() < size:
            raise ValueError(
                f"`quota`={cap} leaves no more than {most.sum()} of {len(have)} groups, fewer than "
                f"the {size} of `size`; raise `quota`, or lower `size`"
            )
        return most
    wanted = {label: check_int("quota", count, 0) for label, count in quota.items()}
    known = dict(zip(groups.labels, have.tolist(), strict=True))
    for label, count in wanted.items():
        if count > known.get(label, 0):
            raise ValueError(
                f"`quota` asks for {count} of group {label!r}, which has {known.get(label, 0)}; "
                f"lower it, or add samples of that group"
            )
    total = sum(wanted.values())
    if total != size:
        raise ValueError(
            f"the counts of `quota` must sum to `size`={size}, got {total}; change one of the two, "
            f"or pass one number for at most that many of each group"
        )
    return np.array([wanted.get(label, 0) for label in groups.labels])


def read_quality(n: int, quality: object, kept: np.ndarray) -> np.ndarray:
    """Read scores of at least 0, of n samples or of those kept, one of which has more."""
    remedy = "; add a constant, or take exp(quality)"
    numbers = check_per_sample(quality, "quality", min_value=0, hint=remedy)
    scores = _of_kept(numbers, n, kept)
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
    numbers = check_per_sample(relevance, "relevance", hint="; leave it out")
    scores = _of_kept(numbers, n, kept)
    size = np.abs(scores).max()
    if size:
        scores = scores / size  # whose squares are numbers
    spread = float(scores.std())
    if spread <= 1e-12:
        return np.ones(len(scores))
    below_best = (scores - scores.max()) / spread
    return np.maximum(np.exp(below_best), np.finfo(float).tiny)


def _of_kept(numbers: PerSampleValues, n: int, kept: np.ndarray) -> np.ndarray:
    """Return the numbers of the samples kept, of n or of these."""
    scores = numbers.for_samples(n, None, len(kept))
    if len(scores) == n:
        return scores[kept]
    return scores
