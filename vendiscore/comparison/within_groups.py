"""Sets compared within groups: a difference for each prompt, and its mean over prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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
_EQUAL = 1e-9  # mean scores that differ by less are equal but for rounding


class PairedSets:
    """Sets compared group by group, each drawn down to as many samples as all have in a group."""

    def __init__(self, pool: Similarity, groups: Groups, names: Sequence[str], plan: Plan) -> None:
        self.pool = pool
        self.names = names
        self.plan = plan
        self.rng: np.random.Generator = np.random.default_rng(plan.seed)
        rng = self.rng
        # Groups may be sorted: their first samples would not be a random draw.
        self.groups: list[list[np.ndarray]] = [
            [at if len(at) == min(map(len, own)) else rng.permutation(at) for at in own]
            for own in groups
        ]
        for K, _, _ in self._stacks(range(len(names))):  # an error is raised here, before any draws
            for own in K[Spectra(K, None, [], plan.psd).unusual]:
                spectrum_of(MatrixSimilarity(own).noted(roundoff=pool.roundoff), psd=plan.psd)
        self.stacks: list[list[tuple[np.ndarray, list[int], int]]] = [
            list(self._stacks([i])) for i in range(len(names))
        ]

    def row(self, i: int) -> SetRow:
        """Return mean scores of set i over groups, of all samples and of as many as others have."""
        stacks = self.stacks[i]
        whole = np.concatenate([self._scores(K) for K, _, _ in stacks])
        drawn = np.concatenate([self._scores(K[:, :m, :m]) for K, _, m in stacks])
        n = sum(len(own[i]) for own in self.groups)
        size = sum(len(K) * m for K, _, m in stacks)
        return SetRow(self.names[i], n, *self._mean(whole, n), size, *self._mean(drawn, size))

    def pair(self, i: int, j: int) -> Statistic:
        """Return the mean difference over groups, and T of it with samples exchanged in them."""
        stacks = list(self._stacks([i, j]))

        def scored(exchanged: bool) -> np.ndarray:
            """Return VS of both sets in each group, (2, groups)."""
            scores = []
            for K, (first, second), m in stacks:
                order = np.tile(np.arange(first + second), (len(K), 1))
                if exchanged:
                    order = self.rng.permuted(order, axis=1)
                halves = order[:, :m], order[:, first : first + m]
                scores.append([self._scores(_submatrices(K, places)) for places in halves])
            return np.concatenate(scores, axis=1)

        def T(a: np.ndarray, b: np.ndarray) -> float:
            mean, error = mean_error(a - b)
            return 0.0 if abs(mean) < _EQUAL else mean / max(error, 1e-12)

        a, b = scored(False)

        def ratio(level: float) -> tuple[float, float]:
            # The logarithm of a ratio of means is about the mean of these (delta method).
            _, _, low, high = student(a / a.mean() - b / b.mean(), level)
            log = math.log(a.mean() / b.mean())
            return math.exp(log + low), math.exp(log + high)

        def interval(level: float) -> Ends:
            mean, _, low, high = student(a - b, level)
            return (0.0 if abs(mean) < _EQUAL else mean), low, high

        def draw(count: int, bar: float) -> np.ndarray:
            return np.array([T(*scored(True)) for _ in range(count)])

        return Statistic(T(a, b), draw, interval, ratio)

    def _stacks(self, sets: Sequence[int]) -> Iterator[tuple[np.ndarray, list[int], int]]:
        """Yield similarities (g, N, N) of groups of equal sizes, the sizes, and the least size."""
        alike: dict[tuple[int, ...], list[np.ndarray]] = {}
        for own in self.groups:
            sizes = (*(len(own[i]) for i in sets), min(map(len, own)))
            alike.setdefault(sizes, []).append(np.concatenate([own[i] for i in sets]))
        for (*each, least), places in alike.items():
            for rows in row_blocks(len(places), 8 * sum(each) ** 2):
                yield to_host(self.pool.stack(np.array(places[rows]))), each, least

    def _mean(self, scores: np.ndarray, n: int) -> tuple[float, float, float, float]:
        """Return the mean score of groups with n samples in total, its error and its interval."""
        return bounded(scores, self.plan.level, 1.0, n / len(scores))

    def _scores(self, K: np.ndarray) -> np.ndarray:
        """Return VS_q of each matrix of a stack, (g,)."""
        return np.asarray(Spectra(K, None, [self.plan.q], self.plan.psd).values[0])


def _submatrices(K: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the similarities of the samples of each group at `places` (g, m)."""
    return K[np.arange(len(K))[:, None, None], places[:, :, None], places[:, None, :]]
