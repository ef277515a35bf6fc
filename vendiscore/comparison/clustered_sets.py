"""Sets of samples in clusters, which are left out and exchanged as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..similarity.base import Similarity
from ..spectral.rank_one import log_score
from ..spectral.vendi import spectrum_of
from ..uncertainty.deficit import LEAST
from ..uncertainty.jackknife import influence_error, jackknife
from ..uncertainty.subsampling import halves_error
from .comparison import Plan
from .permutation import screened
from .subsets import DrawnSets, Matched, Part, Statistic, matched, studentized, window_weights
from .within_groups import Groups


class ClusteredPart(Part):
    """Some samples, each with the code of its cluster."""

    codes: np.ndarray

    def score(self, places: np.ndarray) -> Matched:
        """Return log VS at `places` with its standard error by leaving out whole clusters."""
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd, vectors=True)
        of = jackknife(spectrum, self.q, self._codes(places))
        return Matched(of.log, of.error, of.spread, of.units)

    def measured(self, order: np.ndarray, m: int, seed: int) -> Matched:
        """Return log VS of m of the samples in `order`, with the numbers behind its interval."""
        clusters = len(np.unique(self.codes[order]))
        return matched(self.score, order, m)._replace(units=clusters)

    def quick(self, places: np.ndarray) -> Matched:
        """Return log VS of sets at `places` (g, m) with errors by influence."""
        found = []
        for at in places:
            spectrum = spectrum_of(self.similarity.take(at), psd=self.psd, vectors=True)
            error = influence_error(spectrum, self.q, self._codes(at))
            found.append((log_score(spectrum, self.q), error))
        return Matched(*np.transpose(found))

    def halves(self, m: int, orders: Sequence[float], seed: int) -> np.ndarray:
        """Return the standard errors of log VS of every order, by halves of all clusters."""
        clusters = int(self.codes.max()) + 1

        def score(some: np.ndarray) -> np.ndarray:
            return self.profile(np.flatnonzero(np.isin(self.codes, some)), orders)

        rng = np.random.default_rng(seed)
        return np.asarray(halves_error(clusters, score, clusters // 2, 10, rng))

    def _codes(self, places: np.ndarray) -> np.ndarray:
        return np.unique(self.codes[places], return_inverse=True)[1]


class ClusteredSets(DrawnSets):
    """Sets without groups, the clusters of each in a random order."""

    def __init__(
        self,
        pool: Similarity,
        starts: np.ndarray,
        clusters: Groups,
        names: Sequence[str],
        plan: Plan,
    ) -> None:
        if plan.match == "coverage" or not plan.q:
            raise ValueError(
                "`clusters` are for sets matched by size, at orders above 0: leave them out, or "
                "`match` and q=0"
            )
        self.codes: np.ndarray = np.empty(pool.n, dtype=int)
        for i, name in enumerate(names):
            own = [each[i] for each in clusters if len(each[i])]
            if len(own) < LEAST:
                raise ValueError(
                    f"`clusters` must be at least {LEAST} of each set, got {len(own)} of "
                    f"`{name}`; add samples of other clusters, or leave that set out"
                )
            for code, places in enumerate(own):
                self.codes[places] = code
        super().__init__(pool, starts, names, plan)

    def _order(self, members: np.ndarray) -> np.ndarray:
        """Return members in random order, each cluster in one piece."""
        return np.concatenate(self._shuffled(self.codes[members], members))

    def _part(self, places: np.ndarray, m: int | None = None) -> Part:
        part = ClusteredPart(self.pool.take(places), self.plan.q, self.plan.psd, m or self.m)
        part.codes = np.unique(self.codes[places], return_inverse=True)[1]
        return part

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j, with whole clusters exchanged for its p-value."""
        places = [self.places[i], self.places[j]]
        both = self._part(np.concatenate(places))
        assert isinstance(both, ClusteredPart)
        each = [np.unique(self.codes[own], return_inverse=True)[1] for own in places]
        first = int(each[0].max()) + 1
        both.codes = np.concatenate([each[0], first + each[1]])
        slopes = both.influence()

        def exact(splits: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
            found = []
            for halves in splits:
                m = min(self.m, *map(len, halves))
                found.append(studentized(*(matched(both.quick, at[None], m) for at in halves)))
            return np.concatenate(found)

        def near(halves: Sequence[np.ndarray]) -> float:
            m = min(self.m, *map(len, halves))
            means = (_mean(slopes[at], both.codes[at], m) for at in halves)
            return abs(float(studentized(*means)))

        def draw(count: int, bar: float) -> np.ndarray:
            splits = []
            for _ in range(count):
                mixed = self._shuffled(both.codes, np.arange(both.n))
                splits.append([np.concatenate(mixed[:first]), np.concatenate(mixed[first:])])
            close = np.array([near(halves) for halves in splits])
            return screened(close, lambda at: np.abs(exact([splits[k] for k in at])), bar)

        n = len(places[0])
        seen = exact([[np.arange(n), np.arange(n, both.n)]])
        return self._statistic(i, j, float(seen[0]), draw, self.plan.permutations)

    def _shuffled(self, codes: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
        """Return the members of each cluster, in random order of the clusters."""
        order = np.argsort(codes, kind="stable")
        parts = np.split(members[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return [parts[at] for at in self.rng.permutation(len(parts))]


def _mean(slopes: np.ndarray, codes: np.ndarray, m: int) -> Matched:
    """Return the mean of slopes over windows of m, and its standard error by clusters."""
    weights = window_weights(len(slopes), m)
    mean = float(slopes @ weights)
    sums = np.bincount(codes, weights * (slopes - mean))
    own = np.bincount(codes, weights) > 0
    count = int(own.sum())
    square = count / max(count - 1, 1) * float(np.square(sums[own]).sum())
    return Matched(mean, math.sqrt(square))
