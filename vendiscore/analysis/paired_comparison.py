"""Sets compared within groups: a difference for each prompt, and its mean over prompts."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..scoring.subsampling import bounded, mean_error, student
from ..similarity.base import Similarity
from ..similarity.matrix import MatrixSimilarity
from ..similarity.members import submatrices
from ..spectral.stacks import Spectra
from ..spectral.vendi_scores import spectrum_of
from ..support.namespace import row_blocks, to_host
from .comparison import CompareOptions, SetRow
from .pair_inference import EQUAL, Ends, Statistic, studentized

Groups = Sequence[Sequence[np.ndarray]]
_ENUMERATED = 12  # with fewer groups, all signs of their differences are tried
# Similarities (g, N, N) of groups of equal sizes, these sizes, and the least of any set.
Stack: TypeAlias = tuple[np.ndarray, list[int], int]


@dataclass
class PairedSets:
    """Sets compared group by group, each drawn down to as many samples as all have in a group."""

    pool: Similarity
    groups: Groups
    names: Sequence[str]
    plan: CompareOptions

    def __post_init__(self) -> None:
        psd = self.plan.psd
        self.rng: np.random.Generator = np.random.default_rng(self.plan.seed)
        groups = []
        for sets in self.groups:
            least = min(map(len, sets))
            drawn = []
            for places in sets:
                if len(places) > least:  # groups may be sorted
                    places = self.rng.permutation(places)
                drawn.append(places)
            groups.append(drawn)
        self.groups = groups
        for K, _, _ in self._stacks(range(len(self.names))):
            unusual = Spectra(K, None, [], psd).unusual
            for matrix in K[unusual]:  # it raises or warns for what is not a similarity
                similarity = MatrixSimilarity(matrix)
                similarity = similarity.noted(roundoff=self.pool.roundoff)
                spectrum_of(similarity, psd=psd)

    def row(self, i: int) -> SetRow:
        """Return mean scores of set i over groups, of all samples and of as many as others have."""
        whole = []
        matched = []
        n = size = 0
        for K, (members,), least in self._stacks([i]):
            n += len(K) * members
            size += len(K) * least
            whole.append(self._scores(K))
            matched.append(self._scores(K[:, :least, :least]))
        of_all = self._mean(whole, n)
        of_drawn = self._mean(matched, size)
        groups = len(self.groups)
        return SetRow(self.names[i], n, *of_all, size, *of_drawn, n / groups, size / groups)

    def pair(self, i: int, j: int) -> Statistic:
        """Return the mean difference over groups, and T of it with labels exchanged in them.

        For groups that stand for others, sets exchange their names in some groups, so that
        differences change signs. For these groups alone, sets exchange samples.
        """
        stacks = list(self._stacks([i, j]))
        a, b = self._halves(stacks, exchanged=False)
        differences = a - b
        mean_a = a.mean()
        mean_b = b.mean()
        ratios = a / mean_a - b / mean_b
        log_of_ratio = math.log(mean_a / mean_b)

        def draw(count: int, bar: float) -> np.ndarray:
            if self.plan.effects == "random":
                return of_signs(self.rng.choice([-1, 1], (count, len(a))))
            halves = (self._halves(stacks, exchanged=True) for _ in range(count))
            return np.array([_T(first - second) for first, second in halves])

        def of_signs(signs: np.ndarray) -> np.ndarray:
            return np.array([_T(row) for row in signs * differences])

        every = None
        if self.plan.effects == "random" and len(a) < _ENUMERATED:
            others = itertools.product([1, -1], repeat=len(a) - 1)  # all signs turned: the same |T|
            every = of_signs(np.array([(1, *signs) for signs in others])[1:])

        def interval(level: float) -> Ends:
            mean, _, low, high = student(differences, level)
            if abs(mean) < EQUAL:
                mean = 0.0
                if high - low < EQUAL:  # differences that are 0 but for rounding
                    low = high = 0.0
            return mean, low, high

        def ratio(level: float) -> tuple[float, float]:
            # The logarithm of a ratio of means is about the mean of `ratios` (delta method).
            _, _, low, high = student(ratios, level)
            low += log_of_ratio
            high += log_of_ratio
            return math.exp(low), math.exp(high)

        return Statistic(_T(differences), draw, interval, ratio, every=every)

    def _halves(self, stacks: Sequence[Stack], exchanged: bool) -> np.ndarray:
        """Return VS of two sets in each group, (2, groups), with samples exchanged if asked."""
        scores = []
        for K, (first, second), least in stacks:
            places = np.arange(first + second)
            order = np.tile(places, (len(K), 1))
            if exchanged:
                order = self.rng.permuted(order, axis=1)
            of_halves = []
            for half in np.split(order, [first], axis=1):
                part = submatrices(K, half[:, :least])
                of_halves.append(self._scores(part))
            scores.append(of_halves)
        return np.concatenate(scores, axis=1)

    def _stacks(self, sets: Sequence[int]) -> Iterator[Stack]:
        """Yield similarities (g, N, N) of groups of equal sizes, the sizes, and the least size."""
        alike: dict[tuple[int, ...], list[np.ndarray]] = {}
        for group in self.groups:
            members = [group[i] for i in sets]
            least = min(map(len, group))
            sizes = (*map(len, members), least)
            alike.setdefault(sizes, []).append(np.concatenate(members))
        for (*counts, least), places in alike.items():
            for rows in row_blocks(len(places), 8 * sum(counts) ** 2):
                some = np.array(places[rows])
                K = to_host(self.pool.stack(some))
                yield K, counts, least

    def _mean(self, scores: Sequence[np.ndarray], n: int) -> tuple[float, float, float, float]:
        """Return the mean score of groups with n samples in total, its error and its interval."""
        every = np.concatenate(scores)
        mean_size = n / len(every)
        return bounded(every, self.plan.level, 1.0, mean_size)

    def _scores(self, K: np.ndarray) -> np.ndarray:
        """Return VS_q of each matrix of a stack, (g,)."""
        spectra = Spectra(K, None, [self.plan.q], self.plan.psd)
        return spectra.values[0]


def _T(differences: np.ndarray) -> float:
    """Return T of the mean difference over groups."""
    mean, error = mean_error(differences)
    return float(studentized(mean, error))
