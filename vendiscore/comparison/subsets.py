"""Sets drawn down to one size or coverage: windows are runs of m of n samples in random order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ..arrays.namespace import row_blocks, scalar, to_host
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import RIDGE, log_score
from ..spectral.spectrum import PSD
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from ..uncertainty.deficit import Repeats, log_ends, repeats_of
from ..uncertainty.jackknife import (
    Jackknife,
    ends,
    influence,
    influence_error,
    influence_of,
    jackknife,
    quantile,
)
from ..uncertainty.subsampling import MIN_SAMPLES, halves_error, student_reach
from .comparison import Plan, SetRow
from .permutation import STEP, screened

MOST_WINDOWS = 4
# Novelty above this share of a sample exceeds the ridge of the computation.
LEAST_NOVELTY = 1e-6
MOST = 500  # samples whose spectra are computed at once
MATCHED = 200  # default size: the time of a permutation grows with its cube
STACKED = 48  # samples in sets whose spectra are computed at once
_DRAWS = 10  # pairs of halves, for the errors of profiles and of order 0
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


def coverage_curve(similarity: Similarity, order: np.ndarray, draws: int = 8) -> np.ndarray:
    """Estimate the coverage (1 − mean novelty) of the first m samples of an order, m = 1 to n."""
    K = to_host(similarity.take(order).dense())
    K.flat[:: len(K) + 1] += RIDGE
    try:
        scipy.linalg.cholesky(K, lower=True, check_finite=False)
    except LinAlgError:  # negative eigenvalues, of rounding or by choice, are left out
        values, U = np.linalg.eigh(K)
        K = (U * np.maximum(values, 2 * RIDGE)) @ U.T
    # The m-th pivot in random order is an unbiased draw of the novelty in sets of m.
    n = len(K)
    pivots = np.zeros(n)
    for shift in range(draws):
        at = np.roll(np.arange(n), shift * n // draws)
        factor = scipy.linalg.cholesky(
            K[np.ix_(at, at)], lower=True, overwrite_a=True, check_finite=False
        )
        pivots += factor.diagonal() ** 2 / draws
    inverse = scipy.linalg.solve_triangular(factor, np.eye(n), lower=True, check_finite=False)
    least = (1 / np.einsum("ij,ij->j", inverse, inverse)).mean()
    falling = scipy.optimize.isotonic_regression(np.clip(pivots, 0, 1), increasing=False).x
    falling[-1] = 0.0
    return np.asarray(1 - np.clip(falling, least, 1))


def size_for(curve: np.ndarray, coverage: float) -> int:
    """Return the least number of samples that has that coverage; all, where none has."""
    return min(len(curve), int(np.searchsorted(curve, coverage - 1e-12)) + 1)


# A score or a difference with both ends of its interval.
Ends: TypeAlias = tuple[float, float, float]


class Statistic(NamedTuple):
    """T of a pair of sets, observed and with labels exchanged, and its intervals by level.

    `draw(count, bar)` is T of `count` exchanges, of which only the number that reach `bar` matters;
    `step` of them are drawn at once. `interval` is of the difference, `ratio` of a/b.
    """

    seen: float
    draw: Callable[[int, float], np.ndarray]
    interval: Callable[[float], Ends]
    ratio: Callable[[float], tuple[float, float]]
    step: int = STEP


class Part:
    """Some samples, of which many subsets are scored."""

    def __init__(self, similarity: Similarity, q: float, psd: PSD, m: int) -> None:
        self.psd = psd
        self.n: int = similarity.n
        self.q = q
        self.similarity: Similarity = in_full(similarity, m)

    def score(self, places: np.ndarray) -> Matched:
        """Return log VS at `places` with its standard error (0 at order 0)."""
        if len(places) == 1:
            return Matched(0.0, 0.0)
        part = self.similarity.take(places)
        if self.q == 0:
            found = vendi(part, [0.0], psd=self.psd)
            return Matched(math.log(scalar(found.values[0])), 0.0)
        of = jackknife(spectrum_of(part, psd=self.psd, vectors=True), self.q)
        return Matched(of.log, of.error, of.spread, of.units)

    def measured(self, order: np.ndarray, m: int, seed: int) -> Matched:
        """Return log VS of m of the samples in `order`, with the numbers behind its interval."""
        found = matched(self.score, order, m)
        if self.q == 0:
            return found._replace(error=float(self.halves(m, [0.0], seed)[0]), units=len(order))
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
        if q == 0 or m > STACKED:
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
        return Matched(log_score(spectrum, self.q), influence_error(spectrum, self.q))

    def influence(self) -> np.ndarray:
        """Return the derivative of log VS of all samples in the share of each."""
        return influence(spectrum_of(self.similarity, psd=self.psd, vectors=True), self.q)

    def profile(self, places: np.ndarray, orders: Sequence[float]) -> np.ndarray:
        """Return log VS of every order."""
        spectrum = spectrum_of(self.similarity.take(places), psd=self.psd)
        return np.log(to_host(spectrum.profile(orders)))

    def halves(self, m: int, orders: Sequence[float], seed: int) -> np.ndarray:
        """Return the standard errors of log VS of every order, by halves of all samples."""
        half, rng = min(self.n // 2, m), np.random.default_rng(seed)
        score = partial(self.profile, orders=orders)
        return np.asarray(halves_error(self.n, score, half, _DRAWS, rng))


class DrawnSets:
    """Sets without groups, each in a random order and cut to the number that is compared."""

    def __init__(
        self,
        pool: Similarity,
        starts: np.ndarray,
        names: Sequence[str],
        plan: Plan,
        make: Callable[..., Part] | None = None,
    ) -> None:
        self.pool = pool
        self.plan = plan
        self.names = names
        self.make = make or Part
        self.measure: bool = make is not None
        self.rng: np.random.Generator = np.random.default_rng(plan.seed)
        self.sizes: list[int] = np.diff(starts).tolist()
        if plan.size is not None and plan.size > min(self.sizes):
            raise ValueError(
                f"`size` must be {min(self.sizes)} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m: int = plan.size or min(*self.sizes, MATCHED)
        most = MOST_WINDOWS * (self.m if plan.match == "size" else MOST)
        self.members: list[np.ndarray] = [
            np.arange(a, b) for a, b in itertools.pairwise(starts.tolist())
        ]
        self.places: list[np.ndarray] = [self._order(own)[:most] for own in self.members]
        self.parts: list[Part] = [self._part(at) for at in self.places]
        orders = [(part, np.arange(part.n)) for part in self.parts]
        self.drawn: list[int]
        self.coverages: list[float]
        self.drawn, self.coverages = self._sizes(orders)
        least = min(self.coverages, default=0.0)
        if least > 1 - LEAST_NOVELTY:
            raise ValueError(
                "`match`='coverage' has nothing to match: every sample is explained by the others "
                "(more samples than features, or a wide kernel), so that all sets have a coverage "
                "of 1; pass match='size'"
            )
        for name, m in zip(names, self.drawn, strict=True):
            if m < MIN_SAMPLES:
                raise ValueError(
                    f"`match`='coverage' would draw `{name}` down to {m}, since another set has a "
                    f"coverage of {least:.2g}; pass match='size'"
                )
        self.found: list[Matched] = [
            part.measured(order, m, plan.seed)
            for (part, order), m in zip(orders, self.drawn, strict=True)
        ]

    def row(self, i: int) -> SetRow:
        """Return the row of set i."""
        n, m = self.sizes[i], self.drawn[i]
        whole, seed = self._part(self.members[i], n), self.plan.seed
        all_of_it = self._of(whole, whole.measured(np.arange(n), n, seed), n)
        coverage = min(self.coverages, default=None)
        drawn = self._of(self.parts[i], self.found[i], m)
        return SetRow(self.names[i], n, *all_of_it, m, coverage, *drawn)

    def _of(self, part: Part, found: Matched, m: int) -> tuple[float, float, float, float]:
        """Return a score of m samples, its error and its interval."""
        value, low, high = part.ends(found, self.plan.level, m)
        return value, part.standard_error(found), low, high

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j."""
        both = self._part(np.concatenate([self.places[i], self.places[j]]))
        n, first = both.n, len(self.places[i])
        rest = [coverage for at, coverage in enumerate(self.coverages) if at not in (i, j)]
        covered = self.plan.match == "coverage"

        def exact(orders: np.ndarray) -> np.ndarray:
            halves = orders[:, :first], orders[:, first:]
            if not covered:
                return studentized(*(matched(both.quick, half, self.m) for half in halves))
            found = []
            for a, b in zip(*halves, strict=True):
                mixed = [(both, a), (both, b)]
                sizes, _ = self._sizes(mixed, rest)
                own = (
                    matched(both.quick, at[None], m)
                    for (_, at), m in zip(mixed, sizes, strict=True)
                )
                found.append(studentized(*own))
            return np.concatenate(found)

        plain = covered or self.measure or self.m <= STACKED or self.plan.q == 0
        slopes = None if plain else both.influence()

        def draw(count: int, bar: float) -> np.ndarray:
            orders = np.array([self.rng.permutation(n) for _ in range(count)])
            if slopes is None:
                return exact(orders)
            halves = slopes[orders[:, :first]], slopes[orders[:, first:]]
            near = studentized(*(_mean(half, self.m) for half in halves))
            return screened(np.abs(near), lambda at: np.abs(exact(orders[at])), bar)

        seen = float(exact(np.arange(n)[None])[0])
        step = STEP if slopes is None else self.plan.permutations
        return self._statistic(i, j, seen, draw, step)

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
            step,
        )

    def _sizes(
        self, orders: Sequence[tuple[Part, np.ndarray]], others: Sequence[float] = ()
    ) -> tuple[list[int], list[float]]:
        """Return the matched size of each set, and its coverage where that is matched."""
        if self.plan.match == "size":
            return [self.m] * len(orders), []
        curves = [coverage_curve(part.similarity, order) for part, order in orders]
        coverages = [float(curve[-1]) for curve in curves]
        return [size_for(curve, min([*others, *coverages])) for curve in curves], coverages

    def profile(self, i: int) -> np.ndarray:
        """Return VS of set i at its matched size for every order, and both ends of its interval."""
        part, m, orders = self.parts[i], self.drawn[i], self.plan.orders
        runs = [part.profile(np.arange(part.n)[run], orders) for run in windows(part.n, m)]
        logs = np.mean(runs, axis=0)
        reach = quantile(self.plan.level) * part.halves(m, orders, self.plan.seed)
        return np.clip(np.exp([logs, logs - reach, logs + reach]), 1.0, float(m))

    def _order(self, members: np.ndarray) -> np.ndarray:
        return self.rng.permutation(members)

    def _part(self, places: np.ndarray, m: int | None = None) -> Part:
        samples, q, psd = self.pool.take(places), self.plan.q, self.plan.psd
        return self.make(samples, q, psd, m or self.m)

    def _known(self, i: int) -> Callable[[float], Ends]:
        found, part, m = self.found[i], self.parts[i], self.drawn[i]
        return lambda level: part.ends(found, level, m)


def _mean(slopes: np.ndarray, m: int) -> Matched:
    """Return means over windows of m of rows of slopes, with their standard errors."""
    weights = window_weights(slopes.shape[1], m)
    return Matched(slopes @ weights, slopes.std(1) * math.sqrt(float(weights @ weights)))


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
