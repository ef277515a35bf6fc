"""Sets drawn down to one size: windows are runs of m of n samples in random order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..core.namespace import row_blocks, to_host
from ..scoring.deficit import LEAST, Repeats, log_ends, repeats_of
from ..scoring.jackknife import Jackknife, influence, influence_error, jackknife, of_samples
from ..scoring.subsampling import halves_error, student_reach
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import log_score
from ..spectral.spectrum import Spectrum
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of
from .comparison import Plan, SetRow
from .permutation import STEP, Ends, Statistic, screened
from .within_groups import Groups

MOST_WINDOWS = 4
MATCHED = 200  # default size: the time of a permutation grows with its cube
STACKED = 48  # samples in sets whose spectra are computed at once
_DRAWS = 10  # pairs of halves, for the errors of order 0
_NO_ERROR = 1e-12  # the value that replaces a standard error of 0
_EQUAL = 1e-9  # log VS of sets that differ by less are equal but for rounding


def windows(n: int, m: int) -> list[slice]:
    """Return windows, runs of m of n places, that cover all places, or four such windows."""
    count = min(MOST_WINDOWS, math.ceil(n / m))
    used = min(n, MOST_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(int(start), int(start) + m) for start in starts]


def matched(score: Callable[[np.ndarray], Jackknife], order: np.ndarray, m: int) -> Jackknife:
    """Average the score over windows of m; the squared error of a window is scaled by m Σ c_i²."""
    n = order.shape[-1]
    weights = window_weights(n, m)
    scores = score(np.stack([order[..., run] for run in windows(n, m)]))
    share = m * float(weights @ weights)
    error = np.sqrt(share * np.mean(scores.error**2, axis=0))
    spread = np.sqrt(share * np.mean(scores.spread**2, axis=0))
    return Jackknife(np.mean(scores.log, axis=0), error, spread, n)


def window_weights(n: int, m: int) -> np.ndarray:
    """Return the share that each of n places has in a mean over windows of m."""
    weights = np.zeros(n)
    runs = windows(n, m)
    for run in runs:
        weights[run] += 1 / (m * len(runs))
    return weights


@dataclass
class Part:
    """Some samples in random order, of which runs of m are scored.

    Errors leave out each sample, or each cluster if samples have the codes of clusters.
    """

    similarity: Similarity
    plan: Plan
    m: int
    codes: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.n = self.similarity.n
        self.similarity = in_full(self.similarity, self.m)
        self.units = self.n if self.codes is None else int(self.codes.max()) + 1

    def spectrum(self, places: np.ndarray, vectors: bool = True) -> Spectrum:
        """Return the spectrum of the samples at `places`."""
        part = self.similarity.take(places)
        return spectrum_of(part, psd=self.plan.psd, vectors=vectors)

    def score(self, places: np.ndarray, quick: bool = False) -> Jackknife:
        """Return log VS of sets at `places` (…, m) with standard errors (0 at order 0).

        Small sets are scored as stacks. `quick` errors are by influence, which costs little.
        """
        q = self.plan.q
        sets = places.reshape(-1, places.shape[-1])
        count, m = sets.shape
        numbers, singly = np.zeros((3, count)), np.ones(count, dtype=bool)
        if q and m <= STACKED and self.codes is None:
            for rows in row_blocks(count, 16 * m * m):
                K = to_host(self.similarity.stack(sets[rows]))
                stack = Spectra(K, None, [q], self.plan.psd, vectors=True)
                logs = numbers[0, rows] = np.log(stack.values[0])
                if quick:
                    squares = np.square(stack.influence(q))
                    numbers[1, rows] = np.sqrt(squares.sum(1)) / m
                else:
                    scores = of_samples(logs, stack.without_each(q))
                    numbers[1:, rows] = scores.error, scores.spread
                singly[rows] = stack.unusual  # which may be an error
        for i in np.flatnonzero(singly):
            members = sets[i]
            spectrum = self.spectrum(members, vectors=q > 0)
            codes = _at(self.codes, members)
            numbers[0, i] = log_score(spectrum, q)
            if q and quick:
                numbers[1, i] = influence_error(spectrum, q, codes)
            elif q:
                scores = jackknife(spectrum, q, codes)
                numbers[1:, i] = scores.error, scores.spread
        return Jackknife(*numbers.reshape(3, *places.shape[:-1]))

    @cached_property
    def matched(self) -> Jackknife:
        """log VS of m of the samples, with the numbers behind its interval."""
        known = replace(matched(self.score, np.arange(self.n), self.m), units=self.units)
        if self.plan.q:
            return known
        rng, half = np.random.default_rng(self.plan.seed), min(self.n // 2, self.m)
        error = halves_error(self.n, lambda places: self.score(places).log, half, _DRAWS, rng)
        return replace(known, error=float(error))

    @cached_property
    def repeats(self) -> Repeats | None:
        """The repeats among m of the samples; None for clusters, of which they say nothing."""
        if self.codes is not None:
            return None
        return repeats_of(self.similarity.take(np.arange(self.m)))

    def ends(self, level: float) -> Ends:
        """Return the score of m samples, and both ends of its interval."""
        known = self.matched
        value = math.exp(known.log)
        if self.plan.q == 0:
            reach = student_reach(level, known.units) * known.error
            low = math.exp(max(0.0, known.log - reach))
            high = math.exp(min(math.log(self.m), known.log + reach))
        else:
            logs = log_ends(known, self.m, self.plan.q, level, self.repeats)
            low, high = np.exp(logs).tolist()
        return value, min(low, value), max(high, value)

    def row(self) -> tuple[float, float, float, float]:
        """Return the score of m samples, its error and its interval."""
        value, low, high = self.ends(self.plan.level)
        return value, float(self.matched.error) * value, low, high


@dataclass
class DrawnSets:
    """Sets without groups, each in a random order and cut to the number that is compared.

    Clusters stay in one piece: they are left out and exchanged as a whole.
    """

    pool: Similarity
    starts: np.ndarray
    names: Sequence[str]
    plan: Plan
    clusters: Groups | None = None

    def __post_init__(self) -> None:
        plan, n = self.plan, self.pool.n
        self.codes: np.ndarray | None = None
        if self.clusters is not None:
            self.codes = _codes_of(self.clusters, self.names, n, plan.q)
        self.rng = np.random.default_rng(plan.seed)
        self.members = np.split(np.arange(n), self.starts[1:-1])
        sizes = list(map(len, self.members))
        if plan.size is not None and plan.size > min(sizes):
            raise ValueError(
                f"`size` must be {min(sizes)} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m = plan.size or min(*sizes, MATCHED)
        self.places: list[np.ndarray] = []
        for members in self.members:
            _, order = self._splits(_at(self.codes, members), len(members), 0, 1)[0]
            self.places.append(members[order[: MOST_WINDOWS * self.m]])
        self.parts = [self._part(places, self.m) for places in self.places]

    def row(self, i: int) -> SetRow:
        """Return the row of set i."""
        members = self.members[i]
        n = len(members)
        whole = part = self.parts[i]
        if n > self.m or not self.plan.q:  # errors of order 0 depend on the order of samples
            whole = self._part(members, n)
        return SetRow(self.names[i], n, *whole.row(), self.m, *part.row())

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j, with samples or clusters exchanged for p."""
        a, b = self.parts[i], self.parts[j]
        both = self._part(np.concatenate([self.places[i], self.places[j]]), self.m)
        codes = both.codes
        score = partial(both.score, quick=True)

        def exact(splits: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
            """Return T of both halves of each split; halves of clusters differ in size."""
            if codes is not None and len(splits) > 1:
                return np.concatenate([exact([split]) for split in splits])
            m = min(self.m, *map(len, splits[0]))
            halves = (np.array(half) for half in zip(*splits, strict=True))
            return studentized(*(matched(score, half, m) for half in halves))

        def draw(count: int, bar: float) -> np.ndarray:
            splits = self._splits(codes, both.n, a.units, count)
            if slopes is None:
                return exact(splits)
            near = np.array([self._near(slopes, codes, halves) for halves in splits])
            return screened(near, lambda at: np.abs(exact([splits[k] for k in at])), bar)

        slopes, step = None, STEP
        if self.plan.q != 0 and (codes is not None or self.m > STACKED):
            slopes = influence(both.spectrum(np.arange(both.n)), self.plan.q)
            step = self.plan.permutations
        return Statistic(
            float(exact([np.split(np.arange(both.n), [a.n])])[0]),
            draw,
            lambda level: _difference(a.ends(level), b.ends(level)),
            lambda level: _ratio(a.ends(level), b.ends(level)),
            step,
        )

    def _near(
        self, slopes: np.ndarray, codes: np.ndarray | None, halves: Sequence[np.ndarray]
    ) -> float:
        """Return T of two halves, about, from the slopes of log VS in the shares of samples."""
        m = min(self.m, *map(len, halves))
        means = (_mean(slopes[at], m, None if codes is None else codes[at]) for at in halves)
        return abs(float(studentized(*means)))

    def _part(self, places: np.ndarray, m: int) -> Part:
        return Part(self.pool.take(places), self.plan, m, _at(self.codes, places))

    def _splits(
        self, codes: np.ndarray | None, n: int, first: int, count: int
    ) -> list[list[np.ndarray]]:
        """Split n places at random `count` times: `first` samples or clusters, and the rest."""
        splits = []
        for _ in range(count):
            cut = first
            if codes is None:
                order = self.rng.permutation(n)
            else:
                clusters = self.rng.permutation(codes.max() + 1)
                rank = np.argsort(clusters)[codes]
                order = np.argsort(rank, kind="stable")
                cut = int(np.count_nonzero(rank < first))
            splits.append(np.split(order, [cut]))
        return splits


def _at(codes: np.ndarray | None, places: np.ndarray) -> np.ndarray | None:
    """Return the codes of clusters at some places, numbered from 0, if there are clusters."""
    return None if codes is None else np.unique(codes[places], return_inverse=True)[1]


def _codes_of(clusters: Groups, names: Sequence[str], n: int, q: float) -> np.ndarray:
    """Return the code of the cluster of each of n samples, set after set."""
    if not q:
        raise ValueError("`clusters` need an order above 0: pass q=0.1, or leave them out")
    codes, count = np.empty(n, dtype=int), 0
    for i, name in enumerate(names):
        parts = [sets[i] for sets in clusters if len(sets[i])]
        if len(parts) < LEAST:
            raise ValueError(
                f"`clusters` must be at least {LEAST} of each set, got {len(parts)} of "
                f"`{name}`; add samples of other clusters, or leave that set out"
            )
        for code, places in enumerate(parts, count):
            codes[places] = code
        count += len(parts)
    return codes


def _mean(slopes: np.ndarray, m: int, codes: np.ndarray | None) -> Jackknife:
    """Return the mean of slopes over windows of m, and its standard error."""
    weights = window_weights(len(slopes), m)
    mean = float(slopes @ weights)
    if codes is None:
        root = math.sqrt(float(weights @ weights))
        return Jackknife(mean, float(slopes.std()) * root)
    sums = np.bincount(codes, weights * (slopes - mean))
    count = int(np.count_nonzero(np.bincount(codes, weights)))
    square = count / max(count - 1, 1) * float(sums @ sums)
    return Jackknife(mean, math.sqrt(square))


def studentized(a: Jackknife, b: Jackknife) -> np.ndarray:
    """Return T of pairs of sets, and 0 where sets are equal but for rounding."""
    apart = a.log - b.log
    T = apart / np.maximum(np.hypot(a.error, b.error), _NO_ERROR)
    return np.where(np.abs(apart) < _EQUAL, 0.0, T)


def _difference(a: Ends, b: Ends) -> Ends:
    """Return a minus b, and its interval (Zou & Donner 2008)."""
    x, x_low, x_high = a
    y, y_low, y_high = b
    apart = x - y
    if abs(apart) <= _EQUAL * abs(x):
        apart = 0.0
    low = math.hypot(x - x_low, y_high - y)
    high = math.hypot(x_high - x, y - y_low)
    return apart, apart - low, apart + high


def _ratio(a: Ends, b: Ends) -> tuple[float, float]:
    """Return the interval of a/b, from the interval of log a − log b."""
    if min(*a, *b) <= 0:
        return 0.0, math.inf
    _, low, high = _difference(*(tuple(np.log(ends).tolist()) for ends in (a, b)))
    return math.exp(low), math.exp(high)
