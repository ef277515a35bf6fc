"""Sets compared within groups: a difference for each prompt, and its mean over prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from ..core.namespace import row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.matrix import MatrixSimilarity
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of
from ..uncertainty.subsampling import bounded, mean_error, student
from .comparison import Plan, SetRow
from .permutation import Ends, Statistic

Groups = Sequence[Sequence[np.ndarray]]
# Similarities (g, N, N) of groups of equal sizes, these sizes, and the least of any set.
Stack: TypeAlias = tuple[np.ndarray, list[int], int]
_EQUAL = 1e-9  # mean scores that differ by less are equal but for rounding


class PairedSets:
    """Sets compared group by group, each drawn down to as many samples as all have in a group."""

    def __init__(self, pool: Similarity, groups: Groups, names: Sequence[str], plan: Plan) -> None:
        self.pool = pool
        self.names = names
        self.plan = plan
        self.rng = np.random.default_rng(plan.seed)
        self.groups: list[list[np.ndarray]] = []
        for sets in groups:
            least = min(map(len, sets))
            # Groups may be sorted: their first samples would not be a random draw.
            self.groups.append(
                [
                    places if len(places) == least else self.rng.permutation(places)
                    for places in sets
                ]
            )
        every = range(len(names))
        for K, _, _ in self._stacks(every):
            self._check(K)
        self.stacks: list[list[Stack]] = []
        for i in every:
            self.stacks.append(list(self._stacks([i])))

    def row(self, i: int) -> SetRow:
        """Return mean scores of set i over groups, of all samples and of as many as others have."""
        whole, matched = [], []
        n = size = 0
        for K, (members,), least in self.stacks[i]:
            n += len(K) * members
            size += len(K) * least
            whole.append(self._scores(K))
            matched.append(self._scores(K[:, :least, :least]))
        of_all = self._mean(whole, n)
        of_drawn = self._mean(matched, size)
        return SetRow(self.names[i], n, *of_all, size, *of_drawn)

    def pair(self, i: int, j: int) -> Statistic:
        """Return the mean difference over groups, and T of it with samples exchanged in them."""
        stacks = list(self._stacks([i, j]))
        a, b = self._halves(stacks, exchanged=False)
        ratios = a / a.mean() - b / b.mean()
        log_of_ratio = math.log(a.mean() / b.mean())

        def draw(count: int, bar: float) -> np.ndarray:
            statistics = np.empty(count)
            for i in range(count):
                statistics[i] = _T(*self._halves(stacks, exchanged=True))
            return statistics

        def interval(level: float) -> Ends:
            mean, _, low, high = student(a - b, level)
            return (0.0 if abs(mean) < _EQUAL else mean), low, high

        def ratio(level: float) -> tuple[float, float]:
            # The logarithm of a ratio of means is about the mean of `ratios` (delta method).
            _, _, low, high = student(ratios, level)
            return math.exp(log_of_ratio + low), math.exp(log_of_ratio + high)

        return Statistic(_T(a, b), draw, interval, ratio)

    def _halves(self, stacks: Sequence[Stack], exchanged: bool) -> np.ndarray:
        """Return VS of two sets in each group, (2, groups), with samples exchanged if asked."""
        scores = []
        for K, (first, second), least in stacks:
            together = np.arange(first + second)
            order = np.tile(together, (len(K), 1))
            if exchanged:
                order = self.rng.permuted(order, axis=1)
            halves = (
                order[:, :least],
                order[:, first : first + least],
            )
            of_halves = [self._scores(_submatrices(K, places)) for places in halves]
            scores.append(of_halves)
        return np.concatenate(scores, axis=1)

    def _stacks(self, sets: Sequence[int]) -> Iterator[Stack]:
        """Yield similarities (g, N, N) of groups of equal sizes, the sizes, and the least size."""
        alike: dict[tuple[int, ...], list[np.ndarray]] = {}
        for group in self.groups:
            members = [group[i] for i in sets]
            sizes = (*map(len, members), min(map(len, group)))
            alike.setdefault(sizes, []).append(np.concatenate(members))
        for (*counts, least), places in alike.items():
            for rows in row_blocks(len(places), 8 * sum(counts) ** 2):
                K = self.pool.stack(np.array(places[rows]))
                yield to_host(K), counts, least

    def _check(self, K: np.ndarray) -> None:
        """Raise or warn for matrices (g, N, N) that are not similarities."""
        together = Spectra(K, None, [], self.plan.psd)
        for matrix in K[together.unusual]:
            similarity = MatrixSimilarity(matrix).noted(roundoff=self.pool.roundoff)
            spectrum_of(similarity, psd=self.plan.psd)

    def _mean(self, scores: Sequence[np.ndarray], n: int) -> tuple[float, float, float, float]:
        """Return the mean score of groups with n samples in total, its error and its interval."""
        every = np.concatenate(scores)
        return bounded(every, self.plan.level, 1.0, n / len(every))

    def _scores(self, K: np.ndarray) -> np.ndarray:
        """Return VS_q of each matrix of a stack, (g,)."""
        plan = self.plan
        stack = Spectra(K, None, [plan.q], plan.psd)
        return stack.values[0]


def _T(a: np.ndarray, b: np.ndarray) -> float:
    """Return the studentized mean difference, 0 for means that are equal but for rounding."""
    mean, error = mean_error(a - b)
    return 0.0 if abs(mean) < _EQUAL else mean / max(error, 1e-12)


def _submatrices(K: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the similarities of the samples of each group at `places` (g, m)."""
    groups = np.arange(len(K))[:, None, None]
    rows, columns = places[:, :, None], places[:, None, :]
    return K[groups, rows, columns]
