"""Sets drawn down to one size: windows are runs of m of n samples in random order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
    jackknife,
)
from ..uncertainty.subsampling import halves_error, student_reach
from .comparison import Plan, SetRow
from .permutation import STEP, Ends, Statistic, screened
from .within_groups import Groups

MOST_WINDOWS = 4
MATCHED = 200  # default size: the time of a permutation grows with its cube
STACKED = 48  # samples in sets whose spectra are computed at once
_DRAWS = 10  # pairs of halves, for the errors of order 0
_NO_ERROR = 1e-12  # the value that replaces a standard error of 0
_EQUAL = 1e-9  # log VS of sets that differ by less are equal but for rounding


class Matched(NamedTuple):
    """log VS of m of n samples, and its standard error; arrays for many sets.

    `spread` of a single set is the error of its log deficit, by leaving out each of `units`.
    """

    log: Any
    error: Any
    spread: float = math.inf
    units: int = 0
    repeats: Repeats | None = None


def windows(n: int, m: int) -> list[slice]:
    """Return windows, runs of m of n places, that cover all places, or four such windows."""
    count = min(MOST_WINDOWS, math.ceil(n / m))
    used = min(n, MOST_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(int(start), int(start) + m) for start in starts]


def matched(score: Callable[[np.ndarray], Matched], order: np.ndarray, m: int) -> Matched:
    """Average the score over windows of m; the squared error of a window is scaled by m Σ c_i²."""
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


class Part:
    """Some samples, of which many subsets are scored.

    Errors leave out each sample, or each cluster if samples have the codes of clusters.
    """

    def __init__(
        self,
        similarity: Similarity,
        q: float,
        psd: PSD,
        m: int,
        codes: np.ndarray | None = None,
    ) -> None:
        self.n: int = similarity.n
        self.q, self.psd, self.codes = q, psd, codes
        self.similarity: Similarity = in_full(similarity, m)

    def score(self, places: np.ndarray) -> Matched:
        """Return log VS at `places` with its standard error (0 at order 0)."""
        part = self.similarity.take(places)
        if self.q == 0:
            found = vendi(part, [0.0], psd=self.psd)
            return Matched(math.log(scalar(found.values[0])), 0.0)
        spectrum = spectrum_of(part, psd=self.psd, vectors=True)
        of = jackknife(spectrum, self.q, _at(self.codes, places))
        return Matched(of.log, of.error, of.spread, of.units)

    def measured(self, order: np.ndarray, m: int, seed: int) -> Matched:
        """Return the score of m of the samples in `order`, with the numbers behind its interval."""
        found = matched(self.score, order, m)
        if self.codes is not None:
            return found._replace(units=len(np.unique(self.codes[order])))
        if self.q == 0:
            rng, half = np.random.default_rng(seed), min(self.n // 2, m)
            error = float(halves_error(self.n, self._log_of_rank, half, _DRAWS, rng))
            return found._replace(error=error, units=len(order))
        return found._replace(repeats=repeats_of(self.similarity.take(order[:m])))

    def ends(self, found: Matched, level: float, m: int) -> Ends:
        """Return a score of m samples, and both ends of its interval."""
        reach = student_reach(level, found.units) * found.error
        value = math.exp(found.log)
        if self.q == 0:
            low, high = ends(found.log, reach, m)
        else:
            known = Jackknife(found.log, found.error, found.spread, found.units)
            low, high = np.exp(log_ends(known, m, self.q, level, found.repeats)).tolist()
        return value, min(low, value), max(high, value)

    def quick(self, places: np.ndarray) -> Matched:
        """Return scores of sets at `places` (g, m) with errors by influence, which cost little."""
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

    def influence(self) -> np.ndarray:
        """Return the derivative of log VS of all samples in the share of each."""
        return influence(spectrum_of(self.similarity, psd=self.psd, vectors=True), self.q)

    def _influenced(self, places: np.ndarray) -> Matched:
        if self.q == 0:
            return self.score(places)
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd, vectors=True)
        error = influence_error(spectrum, self.q, _at(self.codes, places))
        return Matched(log_score(spectrum, self.q), error)

    def _log_of_rank(self, places: np.ndarray) -> float:
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd)
        return float(np.log(to_host(spectrum.profile([0.0])))[0])


class DrawnSets:
    """Sets without groups, each in a random order and cut to the number that is compared.

    Clusters stay in one piece: they are left out and exchanged as a whole.
    """

    def __init__(
        self,
        pool: Similarity,
        starts: np.ndarray,
        names: Sequence[str],
        plan: Plan,
        clusters: Groups | None = None,
    ) -> None:
        self.pool = pool
        self.plan = plan
        self.names = names
        self.codes: np.ndarray | None = None
        if clusters is not None:
            self.codes = _codes_of(clusters, names, pool.n, plan.q)
        self.rng: np.random.Generator = np.random.default_rng(plan.seed)
        self.sizes: list[int] = np.diff(starts).tolist()
        if plan.size is not None and plan.size > min(self.sizes):
            raise ValueError(
                f"`size` must be {min(self.sizes)} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m: int = plan.size or min(*self.sizes, MATCHED)
        self.members: list[np.ndarray] = [
            np.arange(a, b) for a, b in itertools.pairwise(starts.tolist())
        ]
        self.places: list[np.ndarray] = [
            np.concatenate(self._shuffled(_at(self.codes, own), own))[: MOST_WINDOWS * self.m]
            for own in self.members
        ]
        self.parts: list[Part] = [self._part(at, _at(self.codes, at)) for at in self.places]
        self.found: list[Matched] = [
            part.measured(np.arange(part.n), self.m, plan.seed) for part in self.parts
        ]

    def row(self, i: int) -> SetRow:
        """Return the row of set i."""
        n, own = self.sizes[i], self.members[i]
        whole = self._part(own, _at(self.codes, own), n)
        all_of_it = self._of(whole, whole.measured(np.arange(n), n, self.plan.seed), n)
        drawn = self._of(self.parts[i], self.found[i], self.m)
        return SetRow(self.names[i], n, *all_of_it, self.m, *drawn)

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j, with samples or clusters exchanged for p."""
        places = [self.places[i], self.places[j]]
        each = [_at(self.codes, own) for own in places]
        codes, units = None, len(places[0])
        if each[0] is not None and each[1] is not None:
            units = int(each[0].max()) + 1
            codes = np.concatenate([each[0], units + each[1]])
        both = self._part(np.concatenate(places), codes)

        def exact(splits: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
            found = []
            for alike in [splits] if codes is None else [[split] for split in splits]:
                m = min(self.m, *map(len, alike[0]))
                halves = (np.array(half) for half in zip(*alike, strict=True))
                found.append(studentized(*(matched(both.quick, half, m) for half in halves)))
            return np.concatenate(found)

        plain = self.plan.q == 0 or (codes is None and self.m <= STACKED)
        slopes = None if plain else both.influence()

        def near(halves: Sequence[np.ndarray]) -> float:
            assert slopes is not None
            m = min(self.m, *map(len, halves))
            means = (_mean(slopes[at], m, None if codes is None else codes[at]) for at in halves)
            return abs(float(studentized(*means)))

        def draw(count: int, bar: float) -> np.ndarray:
            splits = []
            for _ in range(count):
                mixed = self._shuffled(codes, np.arange(both.n))
                splits.append([np.concatenate(mixed[:units]), np.concatenate(mixed[units:])])
            if slopes is None:
                return exact(splits)
            close = np.array([near(halves) for halves in splits])
            return screened(close, lambda at: np.abs(exact([splits[k] for k in at])), bar)

        n = len(places[0])
        seen = float(exact([[np.arange(n), np.arange(n, both.n)]])[0])
        known = self._known(i), self._known(j)
        return Statistic(
            seen,
            draw,
            lambda level: _difference(*(ends_at(level) for ends_at in known)),
            lambda level: _ratio(*(ends_at(level) for ends_at in known)),
            STEP if slopes is None else self.plan.permutations,
        )

    def _known(self, i: int) -> Callable[[float], Ends]:
        return lambda level: self.parts[i].ends(self.found[i], level, self.m)

    def _of(self, part: Part, found: Matched, m: int) -> tuple[float, float, float, float]:
        """Return a score of m samples, its error and its interval."""
        value, low, high = part.ends(found, self.plan.level, m)
        return value, float(found.error) * value, low, high

    def _part(self, places: np.ndarray, codes: np.ndarray | None, m: int | None = None) -> Part:
        return Part(self.pool.take(places), self.plan.q, self.plan.psd, m or self.m, codes)

    def _shuffled(self, codes: np.ndarray | None, members: np.ndarray) -> list[np.ndarray]:
        """Return the members of each cluster, or each alone, in random order."""
        if codes is None:
            return list(self.rng.permutation(members)[:, None])
        order = np.argsort(codes, kind="stable")
        parts = np.split(members[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return [parts[at] for at in self.rng.permutation(len(parts))]


def _at(codes: np.ndarray | None, places: np.ndarray) -> np.ndarray | None:
    """Return the codes of clusters at some places, numbered from 0, if there are clusters."""
    return None if codes is None else np.unique(codes[places], return_inverse=True)[1]


def _codes_of(clusters: Groups, names: Sequence[str], n: int, q: float) -> np.ndarray:
    """Return the code of the cluster of each of n samples, from 0 in each set."""
    if not q:
        raise ValueError("`clusters` need an order above 0: pass q=0.1, or leave them out")
    codes: np.ndarray = np.empty(n, dtype=int)
    for i, name in enumerate(names):
        own = [each[i] for each in clusters if len(each[i])]
        if len(own) < LEAST:
            raise ValueError(
                f"`clusters` must be at least {LEAST} of each set, got {len(own)} of "
                f"`{name}`; add samples of other clusters, or leave that set out"
            )
        for code, places in enumerate(own):
            codes[places] = code
    return codes


def _mean(slopes: np.ndarray, m: int, codes: np.ndarray | None) -> Matched:
    """Return the mean of slopes over windows of m, and its standard error."""
    weights = window_weights(len(slopes), m)
    mean = float(slopes @ weights)
    if codes is None:
        return Matched(mean, float(slopes.std()) * math.sqrt(float(weights @ weights)))
    sums = np.bincount(codes, weights * (slopes - mean))
    own = np.bincount(codes, weights) > 0
    count = int(own.sum())
    square = count / max(count - 1, 1) * float(np.square(sums[own]).sum())
    return Matched(mean, math.sqrt(square))


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
    """Return the interval of a/b, from the interval of log a − log b."""
    if min(*a, *b) <= 0:
        return 0.0, math.inf
    _, low, high = _difference(*(tuple(np.log(ends).tolist()) for ends in (a, b)))
    return math.exp(low), math.exp(high)
