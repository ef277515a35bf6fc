"""Constraints on a selection: its size, the initial samples, and the maximum per group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np

from ...resolve.sample_labels import GroupLabels
from ...similarity.weights import PerSampleValues, check_per_sample
from ...support.arguments import check_int, is_collection
from ...support.errors import short_repr


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on a selection of `size` of n samples.

    Attributes
    ----------
    size : int
        Number of samples to select.
    initial : list of int
        Indices of the samples that the selection starts with.
    group : array of int of shape (n,)
        Group code of each sample, from 0 to g - 1; 0 for all samples if there are no groups.
    max_counts : array of int of shape (g,)
        Maximum number of selected samples in each of g groups.
    """

    size: int
    initial: list[int]
    group: np.ndarray
    max_counts: np.ndarray

    def allowed(self, selected: list[int]) -> np.ndarray:
        """Return which of the n samples may be added to the selected ones, as booleans."""
        has_room = self._count_groups(selected) < self.max_counts
        is_allowed = has_room[self.group]
        is_allowed[selected] = False
        return is_allowed

    def allowed_swaps(
        self,
        selected: list[int],
        members: np.ndarray,
        candidates: np.ndarray,
    ) -> np.ndarray:
        """Return which candidates may replace which members, as booleans (m, c).

        `members` are m positions in `selected`, `candidates` are c indices of samples.
        """
        has_room = self._count_groups(selected) < self.max_counts
        group = self.group[selected]
        joining = self.group[candidates]
        leaving = group[members, None]
        return has_room[joining] | (joining == leaving)

    def _count_groups(self, indices: list[int] | slice) -> np.ndarray:
        """Count the samples in each of g groups, shape (g,)."""
        groups = self.group[indices]
        return np.bincount(groups, minlength=len(self.max_counts))

    def best_candidates(self, values: np.ndarray, count: int) -> np.ndarray:
        """Return the indices of about `count` samples with the largest `values`.

        `values` contains one number for each of the n samples. The groups contribute samples in
        proportion to their maximum numbers.
        """
        scaled_counts = self.max_counts * count / self.size
        max_counts = np.ceil(scaled_counts).astype(int)
        return Constraints(len(values), [], self.group, max_counts).best_selection(values)

    def best_selection(self, values: np.ndarray) -> np.ndarray:
        """Return the indices of the selection with the largest sum of `values`.

        `values` contains one number for each of the n samples. The greedy algorithm is exact,
        because the constraints form a matroid.
        """
        order = np.argsort(-values, kind="stable")
        remaining = order[~np.isin(order, self.initial)]
        order = np.concatenate([self.initial, remaining]).astype(int)
        groups = self.group[order]
        by_group = np.argsort(groups, kind="stable")
        ascending = groups[by_group]
        starts = np.searchsorted(ascending, np.arange(len(self.max_counts)))
        rank_in_group = np.empty(len(order), int)
        rank_in_group[by_group] = np.arange(len(order)) - starts[ascending]
        allowed = order[rank_in_group < self.max_counts[groups]]
        return allowed[: self.size]

    def uniform_weights(self) -> np.ndarray:
        """Return weights of the n samples that sum to 1, for example to initialize a selection.

        The weight of a sample is proportional to the probability that a random selection which
        meets the constraints contains it. So the weights within a group are equal, except those of
        the samples in `initial`, which every selection contains.
        """
        initial_counts = self._count_groups(self.initial)
        open_counts = self.max_counts - initial_counts
        available = self._count_groups(slice(None)) - initial_counts
        n_open = self.size - len(self.initial)
        probabilities = open_counts / np.maximum(available, 1) * n_open / max(1, open_counts.sum())
        p = probabilities[self.group] / self.size
        p[self.initial] = 1 / self.size
        return p

    def restricted_to(self, indices: np.ndarray) -> Constraints:
        """Return the constraints for ordering the selected samples `indices` again.

        Samples are then identified by their positions in `indices`. The selected samples must meet
        the constraints.
        """
        positions = {index: i for i, index in enumerate(indices.tolist())}
        initial = [positions[index] for index in self.initial]
        return Constraints(self.size, initial, self.group[indices], self.max_counts)


def parse_constraints(
    n: int,
    size: object,
    initial: list[int],
    groups: GroupLabels | None,
    quota: object,
) -> Constraints:
    """Build the constraints on a selection of n samples; raise if no selection can meet them.

    `initial` and `groups` are already validated.
    """
    hint = f"there are {n} samples"
    fraction = float(size) if isinstance(size, Real) else 0.0
    if 0 < fraction < 1:  # as in scikit-learn
        hint += f"; for a fraction of {fraction:g}, pass size={max(1, round(fraction * n))}"
    size = check_int("size", size, 1, n, hint)
    if len(initial) > size:
        raise ValueError(
            f"`initial` must have at most `size`={size} indices, got {len(initial)}; increase "
            f"`size`, or remove some indices"
        )
    if groups is None:
        if quota is None:
            one_group = np.zeros(n, int)
            return Constraints(size, initial, one_group, np.array([size]))
        raise ValueError(
            "`quota` requires `groups`; pass `groups`, a list of one label per sample, or remove "
            "`quota`"
        )
    if quota is None:
        raise ValueError(
            "`groups` requires `quota`; pass `quota`, the number of samples to select from each "
            "group, or remove `groups`"
        )
    max_counts = _parse_quota(size, quota, groups)
    counts = np.bincount(groups.codes[initial], minlength=len(max_counts))
    exceeding = np.flatnonzero(counts > max_counts)
    if len(exceeding):
        group = int(exceeding[0])
        raise ValueError(
            f"`initial` exceeds the quota of {groups.describe(group)}: {counts[group]} selected, "
            f"at most {max_counts[group]} allowed; increase `quota`, or remove some indices"
        )
    return Constraints(size, initial, groups.codes, max_counts)


def check_initial(n: int, initial: object) -> list[int]:
    """Validate `initial`, distinct indices of n samples, and return it as a list."""
    if initial is None:
        return []
    if not is_collection(initial):
        raise TypeError(f"`initial` must be a list of sample indices, got {short_repr(initial)}")
    hint = f"indices start at 0, and there are {n} samples"
    indices = [check_int(f"initial[{i}]", index, 0, n - 1, hint) for i, index in enumerate(initial)]
    if len(set(indices)) < len(indices):
        duplicate = Counter(indices).most_common(1)[0][0]
        raise ValueError(
            f"`initial` must have distinct indices, got {duplicate} more than once; remove the "
            f"duplicates"
        )
    return indices


def _parse_quota(size: int, quota: object, groups: GroupLabels) -> np.ndarray:
    """Return the maximum number of selected samples of each of g groups, shape (g,)."""
    available = np.bincount(groups.codes, minlength=len(groups))
    if not isinstance(quota, Mapping):
        cap = check_int("quota", quota, hint="or pass a dict {label: count}")
        max_counts = np.minimum(available, cap)
        if max_counts.sum() < size:
            raise ValueError(
                f"`quota`={cap} allows at most {max_counts.sum()} samples of {len(available)} "
                f"groups, but `size` is {size}; increase `quota`, or decrease `size`"
            )
        return max_counts
    counts = {label: check_int("quota", count, 0) for label, count in quota.items()}
    available_by_label = dict(zip(groups.labels, available.tolist(), strict=True))
    for label, count in counts.items():
        n_available = available_by_label.get(label, 0)
        if count > n_available:
            raise ValueError(
                f"`quota` of group {label!r} must be at most {n_available}, the size of the group, "
                f"got {count}; decrease it, or add samples of this group"
            )
    total = sum(counts.values())
    if total != size:
        raise ValueError(
            f"the counts of `quota` must sum to `size`={size}, got {total}; change `quota` or "
            f"`size`, or pass a single int, the maximum per group"
        )
    return np.array([counts.get(label, 0) for label in groups.labels])


def check_quality(n: int, quality: object, retained: np.ndarray) -> np.ndarray:
    """Validate quality scores, which are non-negative, and return those of retained samples.

    `quality` has one score for each of the n samples, or for each of the `retained` indices.
    """
    values = check_per_sample(
        quality, "quality", min_value=0, hint="; add a constant, or pass exp(quality)"
    )
    scores = _select_retained(values, n, retained)
    if sum(scores.tolist()) == np.inf:
        raise ValueError(
            f"`quality` must have a finite sum, got values up to {scores.max():g}; divide them by "
            f"the largest"
        )
    if not (scores > 0).any():
        raise ValueError(
            "`quality` must be above 0 for at least one sample, but all values are 0; add a small "
            "constant"
        )
    return scores


def check_relevance(n: int, relevance: object, retained: np.ndarray) -> np.ndarray:
    """Validate scores r of any range and sign, and convert them to quality, exp((r − mean)/std).

    The result, for retained samples, is scaled so that its maximum is 1, because only ratios
    matter. `relevance` has one score for each of the n samples, or for each of the `retained`
    indices.
    """
    values = check_per_sample(
        relevance, "relevance", hint="; replace it by a number, or remove the sample"
    )
    scores = _select_retained(values, n, retained)
    max_absolute = np.abs(scores).max()
    if max_absolute:
        scores = scores / max_absolute  # avoids overflow of their squares
    spread = float(scores.std())
    if spread <= 1e-12:
        return np.ones(len(scores))
    below_best = (scores - scores.max()) / spread
    return np.maximum(np.exp(below_best), np.finfo(float).tiny)


def _select_retained(values: PerSampleValues, n: int, retained: np.ndarray) -> np.ndarray:
    """Return the values of retained samples; `values` are those of all n or of retained samples."""
    scores = values.for_samples(n, None, len(retained))
    if len(scores) == n:
        return scores[retained]
    return scores
