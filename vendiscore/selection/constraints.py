"""What a selection must have: how many samples, which first, how many of each group at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..arguments import integer, is_several
from ..arrays.weights import check_each
from ..resolve.group_labels import check_labels


class Constraints:
    """The constraints on a selection of `size` from n samples.

    `initial` are places that are in, first; `group` (n,) numbers the group of each sample, all 0
    without groups; `most` is how many of each group may be in.
    """

    def __init__(
        self, n: int, size: int, initial: list[int], group: np.ndarray, most: np.ndarray
    ) -> None:
        self.n, self.size, self.initial, self.group, self.most = n, size, initial, group, most

    def open(self, places: list[int]) -> np.ndarray:
        """Return which samples (n,) may join those in `places`."""
        counts = np.bincount(self.group[places], minlength=len(self.most))
        room = counts < self.most
        allowed = np.ones(self.n, bool) if room.all() else room[self.group]
        allowed[places] = False
        return allowed

    def instead(self, places: list[int], members: np.ndarray) -> Callable[[slice], np.ndarray]:
        """Return which candidates of some columns may come in for each of `members`, positions."""
        chosen = np.zeros(self.n, bool)
        chosen[places] = True
        counts = np.bincount(self.group[places], minlength=len(self.most))
        room = (counts < self.most)[self.group]
        left = self.group[np.array(places)[members]][:, None]

        def allowed(columns: slice) -> np.ndarray:
            same = self.group[columns] == left
            return np.asarray((room[columns] | same) & ~chosen[columns])

        return allowed

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the places of a selection that has the largest sum of `values` (n,) of all.

        Sets with bounds on groups and a size are a matroid: greedy choice is exact.
        """
        order = np.argsort(-values, kind="stable")
        order = np.concatenate([self.initial, order[~np.isin(order, self.initial)]]).astype(int)
        groups = self.group[order]
        by_group = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[by_group], np.arange(len(self.most)))
        rank = np.empty(self.n, int)
        rank[by_group] = np.arange(self.n) - starts[groups[by_group]]
        return np.asarray(order[rank < self.most[groups]][: self.size])

    def even(self) -> np.ndarray:
        """Return weights (n,) that sum to 1, even within groups, as a mean of selections has."""
        inside = np.bincount(self.group[self.initial], minlength=len(self.most))
        room, have = self.most - inside, np.bincount(self.group, minlength=len(self.most)) - inside
        chance = room / np.maximum(have, 1) * (self.size - len(self.initial)) / max(1, room.sum())
        p = chance[self.group] / self.size
        p[self.initial] = 1 / self.size
        return p

    def of(self, places: np.ndarray) -> Constraints:
        """Return the constraints of choosing all of `places`, which meets these."""
        at = {int(place): i for i, place in enumerate(places)}
        initial = [at[place] for place in self.initial]
        return Constraints(len(places), self.size, initial, self.group[places], self.most)


def read_constraints(n: int, size: Any, initial: list[int], groups: Any, quota: Any) -> Constraints:
    """Return the constraints, if a selection can meet them, of places that were read."""
    size = integer("size", size, 1, n, f"there are {n} samples: take as many, or add some")
    if len(initial) > size:
        raise ValueError(
            f"`initial` must have at most the {size} samples of `size`, got {len(initial)}; raise "
            f"`size`, or leave some out"
        )
    if (groups is None) != (quota is None):
        given, missing, remedy = (
            ("quota", "groups", "pass groups=, one label for each sample")
            if groups is None
            else ("groups", "quota", "pass quota=, how many of each group")
        )
        raise ValueError(f"`{given}` needs `{missing}`: {remedy}, or leave `{given}` out")
    if groups is None:
        return Constraints(n, size, initial, np.zeros(n, int), np.array([size]))
    labels = _read_labels(n, groups)
    number = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    group = np.array([number[label] for label in labels])
    have = np.bincount(group)
    most = _read_quota(size, quota, number, have)
    counts = np.bincount(group[initial], minlength=len(most))
    if (counts > most).any():
        over = int(np.argmax(counts > most))
        raise ValueError(
            f"`initial` has {counts[over]} of group {list(number)[over]!r}, of which `quota` "
            f"allows {most[over]}; raise the quota, or leave some out"
        )
    return Constraints(n, size, initial, group, most)


def read_initial(n: int, initial: Any) -> list[int]:
    """Return places of n samples, none twice."""
    if initial is None:
        return []
    if not is_several(initial):
        raise TypeError(f"`initial` must be a list of places of samples, got {initial!r:.60}")
    remedy = f"places count from 0, and there are {n} samples"
    places = [integer("initial", place, 0, n - 1, remedy) for place in listed(initial)]
    twice = [place for place, count in Counter(places).items() if count > 1]
    if twice:
        raise ValueError(f"`initial` must have no place twice, got {twice[0]} twice; leave one out")
    return places


def _read_labels(n: int, groups: Any) -> list[Hashable]:
    if not is_several(groups) or isinstance(groups, Mapping):
        raise TypeError(f"`groups` must be a list of labels, one a sample, got {groups!r:.60}")
    labels = listed(groups)
    if len(labels) != n:
        raise ValueError(
            f"`groups` must have one label for each of the {n} samples, got {len(labels)}; pass "
            f"them in the order of the samples"
        )
    check_labels(labels, "groups")
    return labels


def _read_quota(
    size: int, quota: Any, number: Mapping[Hashable, int], have: np.ndarray
) -> np.ndarray:
    """Return how many of each group may be in."""
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
    for label, count in wanted.items():
        found = int(have[number[label]]) if label in number else 0
        if count > found:
            raise ValueError(
                f"`quota` asks for {count} of group {label!r}, which has {found}; lower it, or add "
                f"samples of that group"
            )
    total = sum(wanted.values())
    if total != size:
        raise ValueError(
            f"the counts of `quota` must sum to `size`={size}, got {total}; change one of the two, "
            f"or pass one number for at most that many of each group"
        )
    return np.array([wanted.get(label, 0) for label in number])


def read_quality(n: int, least: int, quality: Any) -> np.ndarray:
    """Read scores (n,) of at least 0, `least` of them above."""
    expected = "`quality` must be numbers of at least 0, one for each sample"
    if not is_several(quality):
        raise TypeError(f"{expected}, got {quality!r:.60}; pass a list or an array")
    try:
        scores = np.array([float(x) for x in listed(quality)])
    except (TypeError, ValueError):
        raise TypeError(f"{expected}, got {quality!r:.60}; pass plain numbers") from None
    if len(scores) != n:
        raise ValueError(f"{expected}, got {len(scores)} for {n}; pass them in the same order")
    good, remedy = np.isfinite(scores) & (scores >= 0), "; add a constant, or take exp(quality)"
    check_each("quality", scores, good, "must be finite and at least 0", remedy)
    with np.errstate(over="ignore"):
        total = scores.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"{expected}, got a sum that is too large, up to {scores.max():g}; divide them by the "
            f"largest"
        )
    if (scores > 0).sum() < least:
        raise ValueError(
            f"`quality` must be above 0 for {least} sample{'s' if least > 1 else ''} or more, got "
            f"{(scores > 0).sum()}; lower `size`, or add a small constant"
        )
    return scores


def listed(values: Iterable[Any]) -> list[Any]:
    """Return plain values of a list, an array, a tensor or a column."""
    return list(values.tolist() if hasattr(values, "tolist") else values)
