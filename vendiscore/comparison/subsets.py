"""Sets drawn down to one size: windows are runs of m of n samples in random order.

Samples that came in clusters are left out and exchanged as a whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays.namespace import row_blocks, scalar, to_host
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import log_score
from ..spectral.spectrum import PSD
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from ..uncertainty.deficit import LEAST, Repeats, log_ends, repeats_of
from ..uncertainty.jackknife import (
    Jackknife,
    ends,
    influence,
    influence_error,
    influence_of,
    quantile,
    sampling_error,
)
from ..uncertainty.subsampling import halves_error, student_reach
from .comparison import Plan, SetRow
from .permutation import STEP, screened

MOST_WINDOWS = 4
MATCHED = 200  # samples, unless another size is asked for: a permutation takes its cube
STACKED = 48  # samples of sets whose spectra are found at once
_DRAWS = 10  # pairs of halves, for the errors of profiles and of order 0
_NO_ERROR = 1e-12  # what a standard error of 0 counts as
_EQUAL = 1e-9  # log VS of sets that differ by less are equal but for rounding


class Matched(NamedTuple):
    """log VS of m of n samples, and its standard error; of many sets, arrays.

    Of one, `spread` is the error of the logarithm of its deficit, from leaving out each of `units`.
    """

    log: Any
    error: Any
    spread: float = math.inf
    units: int = 0
    repeats: Repeats | None = None


def windows(n: int, m: int) -> list[slice]:
    """Return runs of m of n places that meet all of them, or as many as four windows can."""
    count = min(MOST_WINDOWS, math.ceil(n / m))
    used = min(n, MOST_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(int(start), int(start) + m) for start in starts]


def matched(score: Callable[[np.ndarray], Matched], order: np.ndarray, m: int) -> Matched:
    """Average the score over windows of m; its squared error is m Σ c_i² times that of a window."""
    weights = window_weights(order.shape[-1], m)
    runs = windows(len(weights), m)
    found = [score(order[..., run]) for run in runs]
    share = m * float(weights @ weights) / len(runs)
    error = (share * sum(each.error**2 for each in found)) ** 0.5
    spread = math.sqrt(share * sum(each.spread**2 for each in found))
    return Matched(sum(each.log for each in found) / len(runs), error, spread, len(weights))


def window_weights(n: int, m: int) -> np.ndarray:
    """Return the share that each of n places has in a mean over windows of m."""
    weights, runs = np.zeros(n), windows(n, m)
    for run in runs:
        weights[run] += 1 / (m * len(runs))
    return weights


# A score or a difference, and both ends of its interval.
Ends: TypeAlias = tuple[float, float, float]
# The places of the samples of two sets.
Split: TypeAlias = tuple[np.ndarray, np.ndarray]
# For each group or cluster, the places of its samples in each set.
Groups: TypeAlias = Sequence[Sequence[np.ndarray]]


class Statistic(NamedTuple):
    """T of a pair of sets as seen and as chance draws it, and intervals of some level.

    `draw(count, bar)` is T of so many exchanges, of which it matters whether they reach the bar;
    `step` of them are drawn at once. `interval` is of the difference, `usual` the same as samples
    mostly have it, without repeats that they might show; `ratio` is of a/b.
    """

    seen: float
    draw: Callable[[int, float], np.ndarray]
    interval: Callable[[float], Ends]
    ratio: Callable[[float], tuple[float, float]]
    usual: Callable[[float], Ends]
    step: int = STEP


class Part:
    """Some samples, of which many subsets are scored, and the code of the cluster of each."""

    codes: np.ndarray | None = None

    def __init__(self, similarity: Similarity, q: float, psd: PSD, m: int) -> None:
        self.n, self.q, self.psd = similarity.n, q, psd
        self.similarity = in_full(similarity, m)

    def score(self, places: np.ndarray) -> Matched:
        """Return log VS at `places` with its standard error (0 at order 0)."""
        codes = self._codes(places)
        if len(places) == 1 and codes is None:
            return Matched(0.0, 0.0)
        part = self.similarity.take(places)
        if self.q == 0:
            found = vendi(part, [0.0], psd=self.psd)
            return Matched(math.log(scalar(found.values[0])), 0.0)
        of = sampling_error(spectrum_of(part, psd=self.psd, vectors=True), self.q, codes)
        return Matched(of.log, of.error, of.spread, of.units)

    def measured(self, order: np.ndarray, m: int, seed: int) -> Matched:
        """Return log VS of m of the samples in order, with all that its interval needs."""
        found = matched(self.score, order, m)
        if self.q == 0:
            return found._replace(error=float(self.halves(m, [0.0], seed)[0]), units=len(order))
        if self.codes is not None:
            return found._replace(units=len(np.unique(self.codes[order])))
        return found._replace(repeats=repeats_of(self.similarity.take(order[:m])))

    def ends(self, found: Matched, level: float, m: int) -> Ends:
        """Return a score of m samples, and the ends of its interval, in [1, m]."""
        value = math.exp(found.log)
        if self.q == 0:
            low, high = ends(found.log, student_reach(level, found.units) * found.error, m)
        else:
            known = Jackknife(found.log, found.error, found.spread, math.nan, found.units)
            low, high = np.exp(log_ends(known, m, self.q, level, found.repeats)).tolist()
        return value, min(low, value), max(high, value)

    def standard_error(self, found: Matched) -> float:
        """Return the standard error of VS."""
        return math.exp(found.log) * float(found.error)

    def quick(self, places: np.ndarray) -> Matched:
        """Return log VS of sets at `places` (g, m) with errors by influence, which cost little."""
        q, m = self.q, places.shape[1]
        if q == 0 or m > STACKED or self.codes is not None:
            return Matched(*np.transpose([self._influenced(at)[:2] for at in places]))
        found = np.empty((2, len(places)))
        for rows in row_blocks(len(places), 16 * m * m):
            stack = Spectra(
                to_host(self.similarity.stack(places[rows])), None, [q], self.psd, vectors=True
            )
            logs = np.log(stack.values[0])
            if math.isinf(q):
                slopes = 1 - m * to_host(stack.vectors)[:, :, -1] ** 2
            else:
                slopes = influence_of(stack.surprises(q) - logs[:, None], q)
            found[:, rows] = logs, np.sqrt((slopes**2).sum(1)) / m
            for i in np.flatnonzero(stack.unusual):  # which may be an error
                found[:, rows.start + i] = self._influenced(places[rows.start + i])[:2]
        return Matched(*found)

    def _influenced(self, places: np.ndarray) -> Matched:
        if self.q == 0:
            return self.score(places)
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd, vectors=True)
        error = influence_error(spectrum, self.q, self._codes(places))
        return Matched(log_score(spectrum, self.q), error)

    def _codes(self, places: np.ndarray) -> np.ndarray | None:
        return None if self.codes is None else np.unique(self.codes[places], return_inverse=True)[1]

    def influence(self) -> np.ndarray:
        """Return the slope of log VS of all samples in the share of each."""
        return influence(spectrum_of(self.similarity, psd=self.psd, vectors=True), self.q)

    def profile(self, places: np.ndarray, orders: Sequence[float]) -> np.ndarray:
        """Return log VS of every order."""
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd)
        return np.log(to_host(spectrum.profile(orders)))

    def halves(self, m: int, orders: Sequence[float], seed: int) -> np.ndarray:
        """Return the standard errors of log VS of every order, by halves of samples or clusters."""
        units = self.n if self.codes is None else int(self.codes.max()) + 1
        half = min(units // 2, m) if self.codes is None else units // 2

        def score(some: np.ndarray) -> np.ndarray:
            places = some if self.codes is None else np.flatnonzero(np.isin(self.codes, some))
            return self.profile(places, orders)

        return np.asarray(halves_error(units, score, half, _DRAWS, np.random.default_rng(seed)))


class DrawnSets:
    """Sets without groups in a random order, of which as many samples as are looked at."""

    def __init__(
        self,
        pool: Similarity,
        starts: np.ndarray,
        names: Sequence[str],
        plan: Plan,
        make: Callable[..., Part] | None = None,
        clusters: Groups | None = None,
    ) -> None:
        self.pool, self.plan, self.names = pool, plan, names
        self.make, self.measure = make or Part, make is not None
        self.rng = np.random.default_rng(plan.seed)
        self.codes = None if clusters is None else self._clusters(clusters)
        self.sizes = np.diff(starts).tolist()
        if plan.size is not None and plan.size > min(self.sizes):
            raise ValueError(
                f"`size` must be {min(self.sizes)} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m = m = plan.size or min(*self.sizes, MATCHED)
        self.members = [np.arange(a, b) for a, b in itertools.pairwise(starts.tolist())]
        self.places = [self._order(own)[: MOST_WINDOWS * m] for own in self.members]
        self.parts = [self._part(at) for at in self.places]
        self.found = [part.measured(np.arange(part.n), m, plan.seed) for part in self.parts]

    def _clusters(self, clusters: Groups) -> np.ndarray:
        """Return a code for the cluster of each sample; those of two sets are two clusters."""
        if not self.plan.q:
            raise ValueError("`clusters` need an order above 0: pass q=0.1, or leave them out")
        own = [[each[i] for each in clusters if len(each[i])] for i in range(len(self.names))]
        for name, found in zip(self.names, own, strict=True):
            if len(found) < LEAST:
                raise ValueError(
                    f"`clusters` must be at least {LEAST} of each set, got {len(found)} of "
                    f"`{name}`; add samples of other clusters, or leave that set out"
                )
        codes = np.empty(self.pool.n, dtype=int)
        for code, places in enumerate(itertools.chain.from_iterable(own)):
            codes[places] = code
        return codes

    def row(self, i: int) -> SetRow:
        """Return what is known of set i."""
        n, m = self.sizes[i], self.m
        whole = self._part(self.members[i], n)
        all_of_it = self._of(whole, whole.measured(np.arange(n), n, self.plan.seed), n)
        return SetRow(self.names[i], n, *all_of_it, m, *self._of(self.parts[i], self.found[i], m))

    def _of(self, part: Part, found: Matched, m: int) -> tuple[float, float, float, float]:
        """Return a score of m samples, its error and its interval."""
        value, low, high = part.ends(found, self.plan.level, m)
        return value, part.standard_error(found), low, high

    def pair(self, i: int, j: int) -> Statistic:
        """Return how sets i and j differ."""
        both, n = self._part(np.concatenate([self.places[i], self.places[j]])), len(self.places[i])
        first = n if both.codes is None else int(both.codes[:n].max()) + 1  # samples, or clusters
        plain = self.measure or self.m <= STACKED or self.plan.q == 0
        slopes = None if plain and both.codes is None else both.influence()

        def exact(half: np.ndarray, m: int) -> Matched:
            return matched(both.quick, half, m)

        def draw(count: int, bar: float) -> np.ndarray:
            splits = [self._split(both, first) for _ in range(count)]
            if slopes is None:
                return self._apart(splits, exact)
            near = self._apart(splits, lambda half, m: _mean(slopes, both.codes, half, m))
            return screened(
                np.abs(near), lambda at: np.abs(self._apart([splits[k] for k in at], exact)), bar
            )

        seen = float(self._apart([(np.arange(n), np.arange(n, both.n))], exact)[0])
        step = STEP if slopes is None else self.plan.permutations
        return self._statistic(i, j, seen, draw, step)

    def _split(self, both: Part, first: int) -> Split:
        """Return the samples of two sets in random order, cut after so many units."""
        if both.codes is None:
            order = self.rng.permutation(both.n)
            return order[:first], order[first:]
        mixed = self._shuffled(both.codes, np.arange(both.n))
        return np.concatenate(mixed[:first]), np.concatenate(mixed[first:])

    def _apart(
        self, splits: Sequence[Split], find: Callable[[np.ndarray, int], Matched]
    ) -> np.ndarray:
        """Return T of pairs of sets, found at once for those of the same sizes."""
        sizes, found = np.array([len(a) for a, _ in splits]), np.empty(len(splits))
        for size in np.unique(sizes):
            at = np.flatnonzero(sizes == size)
            halves = [np.array([splits[k][side] for k in at]) for side in (0, 1)]
            m = min(self.m, *(half.shape[1] for half in halves))
            found[at] = studentized(*(find(half, m) for half in halves))
        return found

    def _statistic(
        self, i: int, j: int, seen: float, draw: Callable[[int, float], np.ndarray], step: int
    ) -> Statistic:
        """Return a statistic with its intervals."""
        known = self._known(i), self._known(j)
        return Statistic(
            seen,
            draw,
            lambda level: _difference(*(set_at(level) for set_at in known)),
            lambda level: _ratio(*(set_at(level) for set_at in known)),
            lambda level: _difference(*(set_at(level, True) for set_at in known)),
            step,
        )

    def profile(self, i: int) -> np.ndarray:
        """Return VS of set i as drawn down for every order, and both ends of its interval."""
        part, m, orders = self.parts[i], self.m, self.plan.orders
        runs = [part.profile(np.arange(part.n)[run], orders) for run in windows(part.n, m)]
        logs = np.mean(runs, axis=0)
        reach = quantile(self.plan.level) * part.halves(m, orders, self.plan.seed)
        return np.clip(np.exp([logs, logs - reach, logs + reach]), 1.0, float(m))

    def _order(self, members: np.ndarray) -> np.ndarray:
        """Return members in random order, those of a cluster one after the other."""
        if self.codes is None:
            return self.rng.permutation(members)
        return np.concatenate(self._shuffled(self.codes[members], members))

    def _shuffled(self, codes: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
        """Return the members of each cluster, in random order of the clusters."""
        order = np.argsort(codes, kind="stable")
        parts = np.split(members[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return [parts[at] for at in self.rng.permutation(len(parts))]

    def _part(self, places: np.ndarray, m: int | None = None) -> Part:
        part = self.make(self.pool.take(places), self.plan.q, self.plan.psd, m or self.m)
        if self.codes is not None:
            part.codes = np.unique(self.codes[places], return_inverse=True)[1]
        return part

    def _known(self, i: int) -> Callable[..., Ends]:
        found, part, m = self.found[i], self.parts[i], self.m
        bare = found if math.isinf(found.spread) else found._replace(repeats=None)
        return lambda level, usual=False: part.ends(bare if usual else found, level, m)


def _mean(slopes: np.ndarray, codes: np.ndarray | None, half: np.ndarray, m: int) -> Matched:
    """Return means over windows of m of the slopes at rows of places, and their standard errors."""
    weights, own = window_weights(half.shape[1], m), slopes[half]
    means = own @ weights
    if codes is None:
        return Matched(means, own.std(1) * math.sqrt(float(weights @ weights)))
    squares = np.empty(len(half))
    for i, at in enumerate(half):
        sums = np.bincount(codes[at], weights * (own[i] - means[i]))
        some = np.bincount(codes[at], weights) > 0
        count = int(some.sum())
        squares[i] = count / max(count - 1, 1) * float(np.square(sums[some]).sum())
    return Matched(means, np.sqrt(squares))


def studentized(a: Matched, b: Matched) -> np.ndarray:
    """Return T of pairs of sets, and 0 where sets are equal but for rounding."""
    apart = a.log - b.log
    T = apart / np.maximum(np.hypot(a.error, b.error), _NO_ERROR)
    return np.where(np.abs(apart) < _EQUAL, 0.0, T)


def _difference(a: Ends, b: Ends) -> Ends:
    """Return a minus b, and its interval (Zou & Donner 2008)."""
    (x, x_low, x_high), (y, y_low, y_high) = a, b
    apart = 0.0 if abs(x - y) <= _EQUAL * abs(x) else x - y
    low, high = math.hypot(x - x_low, y_high - y), math.hypot(x_high - x, y - y_low)
    return apart, apart - low, apart + high


def _ratio(a: Ends, b: Ends) -> tuple[float, float]:
    """Return the interval of a/b, that of a difference of logarithms."""
    if min(*a, *b) <= 0:
        return 0.0, math.inf
    _, low, high = _difference(*(tuple(np.log(ends).tolist()) for ends in (a, b)))
    return math.exp(low), math.exp(high)
