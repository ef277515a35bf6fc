"""Sets compared within groups: a difference for each prompt, and its mean over prompts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..arguments import is_several
from ..arrays.namespace import to_host
from ..similarity.base import Similarity
from ..spectral.vendi import spectrum_of
from ..uncertainty.subsampling import mean_error, student
from .comparison import SetRow
from .options import Plan
from .subsets import Statistic

Groups = Sequence[Sequence[np.ndarray]]
# Numbers of the matrices that are decomposed in one call.
_BLOCK = 1 << 21


def read_groups(groups: Any, names: Sequence[str], starts: np.ndarray, dropped: Any) -> Groups:
    """The places in the pool of the samples of each set in each group, in order of appearance."""
    each = _of_sets(groups, names)
    ends = np.cumsum([0, *map(len, each)])
    kept = np.setdiff1d(np.arange(ends[-1]), list(dropped))
    for i, name in enumerate(names):
        held = np.searchsorted(kept, ends[i + 1]) - np.searchsorted(kept, ends[i])
        if held != starts[i + 1] - starts[i]:
            raise ValueError(
                f"`groups` must have a label for each sample: `{name}` has "
                f"{starts[i + 1] - starts[i]} samples, got {held} labels"
            )
    labels = [label for one in each for label in one]
    places: dict[Hashable, list[list[int]]] = {}
    for place, label in enumerate(labels[i] for i in kept):
        own = places.setdefault(label, [[] for _ in names])
        own[int(np.searchsorted(starts, place, "right")) - 1].append(place)
    for label, own in places.items():
        for name, members in zip(names, own, strict=True):
            if len(members) < 2:
                raise ValueError(
                    f"`groups` must have two samples or more of each set in each group, got "
                    f"{len(members)} of `{name}` in group {label!r:.60}; leave that group out of "
                    f"all sets, or compare without `groups`"
                )
    if len(places) < 2:
        raise ValueError(
            f"`groups` must be two or more, got {len(places)}; compare without `groups`"
        )
    return [[np.array(members) for members in own] for own in places.values()]


def _of_sets(groups: Any, names: Sequence[str]) -> list[list[Hashable]]:
    """The labels of each set, in order."""
    if isinstance(groups, Mapping):
        if set(groups) != set(names):
            raise ValueError(
                f"`groups` must have the names of the sets, {', '.join(map(repr, names))}, got "
                f"{', '.join(map(repr, groups))}"
            )
        groups = [groups[name] for name in names]
    remedy = "pass one list of labels for each set: groups=[labels_a, labels_b]"
    if not is_several(groups):
        raise TypeError(f"`groups` must be lists of labels, got {groups!r:.60}; {remedy}")
    each = list(groups)
    if len(each) != len(names) or not all(map(is_several, each)):
        raise ValueError(
            f"`groups` must be {len(names)} lists of labels, one for each set, got {each!r:.60}; "
            f"{remedy}"
        )
    read = [
        to_host(labels).tolist() if hasattr(labels, "ndim") else list(labels) for labels in each
    ]
    for labels in read:
        for label in labels:
            if not isinstance(label, Hashable) or label != label:
                raise TypeError(
                    f"`groups` must be of labels such as strings or integers, got {label!r:.60}; "
                    f"name every group"
                )
    return read


def shuffled(groups: Groups, rng: np.random.Generator) -> Groups:
    """The groups, in a random order where a set has more samples than another: the first are drawn.

    As they came they may be sorted, and what comes first of those is no sample of the group.
    """
    return [
        [places if len(places) == min(map(len, own)) else rng.permutation(places) for places in own]
        for own in groups
    ]


class _Stack(NamedTuple):
    """Groups of one size: similarities K (g, N, N) of their samples, set after set.

    `sizes` is how many each group has of each of these sets, `matched` the least of all sets.
    """

    K: np.ndarray
    sizes: tuple[int, ...]
    matched: int


def _stacks(pool: Similarity, groups: Groups, sets: Sequence[int]) -> Iterator[_Stack]:
    """The groups by how many samples they have of the sets."""
    alike: dict[tuple[int, ...], list[np.ndarray]] = {}
    for own in groups:
        sizes = (*(len(own[i]) for i in sets), min(map(len, own)))
        alike.setdefault(sizes, []).append(np.concatenate([own[i] for i in sets]))
    for (*held, least), places in alike.items():
        K = np.stack([to_host(pool.take(at).dense()) for at in places])
        yield _Stack(K, tuple(held), least)


def paired_rows(
    pool: Similarity, groups: Groups, names: Sequence[str], plan: Plan
) -> tuple[list[SetRow], list[np.ndarray]]:
    """Mean scores over groups, whole and of as many samples as all sets have in a group."""
    for own in groups:
        spectrum_of(pool.take(np.concatenate(own)), psd=plan.psd)  # or an error, once and for all
    rows, profiles = [], []
    for i, name in enumerate(names):
        stacks = list(_stacks(pool, groups, [i]))
        whole = np.concatenate([np.exp(_logs(stack.K, plan.q)) for stack in stacks])
        drawn = [stack.K[:, : stack.matched, : stack.matched] for stack in stacks]
        of = {
            q: np.concatenate([np.exp(_logs(K, q)) for K in drawn]) for q in (plan.q, *plan.orders)
        }
        row = SetRow(
            name,
            sum(len(own[i]) for own in groups),
            *student(whole, plan.level),
            sum(min(map(len, own)) for own in groups),
            None,
            *student(of[plan.q], plan.level),
        )
        rows.append(row)
        ends = np.array([student(of[q], plan.level) for q in plan.orders])
        profiles += [ends[:, [0, 2, 3]].T] if plan.orders else []
    return rows, profiles


def paired_pairs(
    pool: Similarity,
    groups: Groups,
    pairs: Sequence[tuple[int, int]],
    plan: Plan,
    rng: np.random.Generator,
) -> list[Statistic]:
    """For each pair the mean difference over groups, and T of it with samples exchanged in them."""
    return [_pair(list(_stacks(pool, groups, pair)), plan, rng) for pair in pairs]


def _pair(stacks: list[_Stack], plan: Plan, rng: np.random.Generator) -> Statistic:
    def gaps(exchanged: bool) -> np.ndarray:
        """VS of one set minus that of the other, in each group."""
        found = []
        for K, (first, second), m in stacks:
            order = np.tile(np.arange(first + second), (len(K), 1))
            if exchanged:
                order = rng.permuted(order, axis=1)
            a, b = (np.exp(_logs(K, plan.q, order[:, at : at + m])) for at in (0, first))
            found.append(a - b)
        return np.concatenate(found)

    def statistic(apart: np.ndarray) -> float:
        mean, error = mean_error(apart)
        return 0.0 if abs(mean) < 1e-9 else mean / max(error, 1e-12)

    seen = gaps(False)
    mean, error = mean_error(seen)
    return Statistic(
        statistic(seen),
        lambda: statistic(gaps(True)),
        lambda reach: (mean, mean - reach * max(error, 1e-12), mean + reach * max(error, 1e-12)),
    )


def _logs(K: np.ndarray, q: float, places: np.ndarray | None = None) -> np.ndarray:
    """log VS_q of each matrix of a stack, (g,), or of what `places` (g, m) take of it."""
    m = K.shape[1] if places is None else places.shape[1]
    found = np.empty(len(K))
    step = max(1, _BLOCK // m**2)
    for start in range(0, len(K), step):
        part = K[start : start + step]
        if places is not None:
            at = places[start : start + step]
            part = part[np.arange(len(part))[:, None, None], at[:, :, None], at[:, None, :]]
        values = np.linalg.eigvalsh(part)
        values[values < m * np.finfo(float).eps * values[:, -1:]] = 0.0
        values /= values.sum(axis=1, keepdims=True)
        found[start : start + step] = _log_number(values, q)
    return np.maximum(found, 0.0)


def _log_number(values: np.ndarray, q: float) -> np.ndarray:
    """The log of the effective number of each row of shares."""
    if q == 1:
        return -scipy.special.xlogy(values, values).sum(axis=1)
    if math.isinf(q):
        return -np.log(values[:, -1])
    if q == 0:
        return np.log((values > 0).sum(axis=1))
    if abs(q - 1) < 0.5:  # as `log_power_mean` has it
        logs = np.log(np.where(values > 0, values, 1.0))
        return np.asarray(np.log1p((values * np.expm1((q - 1) * logs)).sum(axis=1)) / (1 - q))
    # The largest share is taken out, whose power may vanish.
    top = values[:, -1:]
    powers = np.where(values > 0, values / top, 0.0)
    powers[powers > 0] **= q
    return np.asarray((np.log(powers.sum(axis=1)) + q * np.log(top[:, 0])) / (1 - q))
