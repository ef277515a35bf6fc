"""Sets drawn down to one size: windows are runs of m of n samples in random order."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..core.namespace import row_blocks, to_host
from ..scoring.deficit import Repeats, log_ends, repeats_of
from ..scoring.jackknife import Jackknife, influence, influence_error, jackknife, of_samples
from ..scoring.subsampling import MIN_SAMPLES, halves_error, student_reach
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import log_score
from ..spectral.spectrum import Spectrum
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of
from .comparison import Plan, SetRow
from .permutation import EQUAL, STEP, Ends, Statistic, screened, studentized
from .within_groups import Groups

MOST_WINDOWS = 4
MATCHED = 200  # default size: the time of a permutation grows with its cube
STACKED = 48  # samples in sets whose spectra are computed at once
_DRAWS = 10  # pairs of halves, for the errors of order 0


def windows(n: int, m: int) -> list[slice]:
    """Return windows, runs of m of n places, that cover all places, or four such windows."""
    count = min(MOST_WINDOWS, math.ceil(n / m))
    used = min(n, MOST_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(start, start + m) for start in starts.tolist()]


def matched(score: Callable[[np.ndarray], Jackknife], order: np.ndarray, m: int) -> Jackknife:
    """Average the score over windows of m; the squared error of a window is scaled by m Σ c_i²."""
    n = order.shape[-1]
    weights = window_weights(n, m)
    share = m * float(weights @ weights)
    sets = [order[..., run] for run in windows(n, m)]
    scores = score(np.stack(sets))

    def mean_error(errors: np.ndarray) -> np.ndarray:
        mean_square = np.mean(errors**2, axis=0)
        return np.sqrt(share * mean_square)

    log = np.mean(scores.log, axis=0)
    error, spread, gain = map(mean_error, (scores.error, scores.spread, scores.gain))
    return Jackknife(log, error, spread, n, gain)


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
        self.units = self.n
        if self.codes is not None:
            self.units = int(self.codes.max()) + 1

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
        logs, errors, spreads, gains = numbers = np.zeros((4, count))
        singly = np.ones(count, dtype=bool)
        if q and m <= STACKED and self.codes is None:
            for rows in row_blocks(count, 16 * m * m):
                K = to_host(self.similarity.stack(sets[rows]))
                stack = Spectra(K, None, [q], self.plan.psd, vectors=True)
                logs[rows] = np.log(stack.values[0])
                if quick:
                    squares = np.square(stack.influence(q))
                    errors[rows] = np.sqrt(squares.sum(1)) / m
                else:
                    scores = of_samples(logs[rows], stack.without_each(q))
                    errors[rows] = scores.error
                    spreads[rows] = scores.spread
                    gains[rows] = scores.gain
                singly[rows] = stack.unusual  # which may be an error
        for i in np.flatnonzero(singly):
            members = sets[i]
            spectrum = self.spectrum(members, vectors=q > 0)
            codes = _at(self.codes, members)
            logs[i] = log_score(spectrum, q)
            if q and quick:
                errors[i] = influence_error(spectrum, q, codes)
            elif q:
                scores = jackknife(spectrum, q, codes)
                errors[i] = scores.error
                spreads[i] = scores.spread
                gains[i] = scores.gain
        logs, errors, spreads, gains = numbers.reshape(4, *places.shape[:-1])
        return Jackknife(logs, errors, spreads, 0, gains)

    @cached_property
    def matched(self) -> Jackknife:
        """log VS of m of the samples, with the numbers behind its interval."""
        known = matched(self.score, np.arange(self.n), self.m)
        known = replace(known, units=self.units)
        if self.plan.q:
            return known
        rng = np.random.default_rng(self.plan.seed)
        half = min(self.n // 2, self.m)
        error = halves_error(self.n, lambda places: self.score(places).log, half, _DRAWS, rng)
        return replace(known, error=float(error))

    @cached_property
    def repeats(self) -> Repeats | None:
        """The repeats among m of the samples; None for clusters, of which they say nothing."""
        if self.codes is not None:
            return None
        drawn = self.similarity.take(np.arange(self.m))
        return repeats_of(drawn)

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
        low = min(low, value)
        high = max(high, value)
        return value, low, high

    def row(self) -> tuple[float, float, float, float]:
        """Return the score of m samples, its error and its interval."""
        value, low, high = self.ends(self.plan.level)
        error = value * float(self.matched.error)
        return value, error, low, high


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
        plan = self.plan
        n = self.pool.n
        self.codes = None
        if self.clusters is not None:
            self.codes = _codes_of(self.clusters, self.names, n, plan.q)
        self.rng = np.random.default_rng(plan.seed)
        self.members = np.split(np.arange(n), self.starts[1:-1])
        least = min(map(len, self.members))
        if plan.size is not None and plan.size > least:
            raise ValueError(
                f"`size` must be {least} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m = plan.size or min(least, MATCHED)
        self.places = []
        for members in self.members:
            codes = _at(self.codes, members)
            _, order = self._splits(codes, len(members), 0, 1)[0]
            drawn = order[: MOST_WINDOWS * self.m]
            self.places.append(members[drawn])
        self.parts = [self._part(places, self.m) for places in self.places]

    def row(self, i: int) -> SetRow:
        """Return the row of set i."""
        members = self.members[i]
        n = len(members)
        matched = whole = self.parts[i].row()
        if n > self.m or not self.plan.q:  # errors of order 0 depend on the order of samples
            whole = self._part(members, n).row()
        return SetRow(self.names[i], n, *whole, self.m, *matched)

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j, with samples or clusters exchanged for p."""
        a = self.parts[i]
        b = self.parts[j]
        places = np.concatenate([self.places[i], self.places[j]])
        both = self._part(places, self.m)
        every = np.arange(both.n)
        codes = both.codes
        score = partial(both.score, quick=True)

        def exact(splits: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
            """Return T of both halves of each split; halves of clusters differ in size."""
            if codes is not None and len(splits) > 1:
                return np.concatenate([exact([split]) for split in splits])
            m = min(self.m, *map(len, splits[0]))
            first, second = map(np.array, zip(*splits, strict=True))
            return _T(matched(score, first, m), matched(score, second, m))

        def draw(count: int, bar: float) -> np.ndarray:
            splits = self._splits(codes, both.n, a.units, count)
            if slopes is None:
                return exact(splits)

            def exact_at(index: np.ndarray) -> np.ndarray:
                some = [splits[k] for k in index]
                return np.abs(exact(some))

            near = [self._near(slopes, codes, halves) for halves in splits]
            return screened(np.array(near), exact_at, bar)

        slopes = None
        step = STEP
        if self.plan.q != 0 and (codes is not None or self.m > STACKED):
            slopes = influence(both.spectrum(every), self.plan.q)
            step = self.plan.permutations
        observed = exact([np.split(every, [a.n])])
        return Statistic(
            float(observed[0]),
            draw,
            lambda level: _difference(a.ends(level), b.ends(level)),
            lambda level: _ratio(a.ends(level), b.ends(level)),
            step,
        )

    def _near(
        self,
        slopes: np.ndarray,
        codes: np.ndarray | None,
        halves: Sequence[np.ndarray],
    ) -> float:
        """Return T of two halves, about, from the slopes of log VS in the shares of samples."""
        m = min(self.m, *map(len, halves))
        means = [_mean(slopes[half], m, codes if codes is None else codes[half]) for half in halves]
        return abs(float(_T(*means)))

    def _part(self, places: np.ndarray, m: int) -> Part:
        return Part(self.pool.take(places), self.plan, m, _at(self.codes, places))

    def _splits(
        self,
        codes: np.ndarray | None,
        n: int,
        first: int,
        count: int,
    ) -> list[list[np.ndarray]]:
        """Split n places at random `count` times: `first` samples or clusters, and the rest."""
        if codes is None:
            return [np.split(self.rng.permutation(n), [first]) for _ in range(count)]
        splits = []
        for _ in range(count):
            clusters = self.rng.permutation(codes.max() + 1)
            rank = np.argsort(clusters)[codes]
            order = np.argsort(rank, kind="stable")
            cut = int(np.count_nonzero(rank < first))
            splits.append(np.split(order, [cut]))
        return splits


def _at(codes: np.ndarray | None, places: np.ndarray) -> np.ndarray | None:
    """Return the codes of clusters at some places, numbered from 0, if there are clusters."""
    if codes is None:
        return None
    _, numbered = np.unique(codes[places], return_inverse=True)
    return numbered


def _codes_of(
    clusters: Groups,
    names: Sequence[str],
    n: int,
    q: float,
) -> np.ndarray:
    """Return the code of the cluster of each of n samples, set after set."""
    if not q:
        raise ValueError("`clusters` need an order above 0: pass q=0.1, or leave them out")
    codes = np.empty(n, dtype=int)
    count = 0
    for i, name in enumerate(names):
        parts = [sets[i] for sets in clusters if len(sets[i])]
        if len(parts) < MIN_SAMPLES:
            raise ValueError(
                f"`clusters` must be at least {MIN_SAMPLES} of each set, got {len(parts)} of "
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
    of_clusters = np.bincount(codes, weights)
    count = int(np.count_nonzero(of_clusters))
    square = count / max(count - 1, 1) * float(sums @ sums)
    return Jackknife(mean, math.sqrt(square))


def _T(a: Jackknife, b: Jackknife) -> np.ndarray:
    """Return T of pairs of sets."""
    return studentized(a.log - b.log, np.hypot(a.error, b.error))


def _difference(a: Ends, b: Ends) -> Ends:
    """Return a minus b, and its interval (Zou & Donner 2008)."""
    x, x_low, x_high = a
    y, y_low, y_high = b
    apart = x - y
    if abs(apart) <= EQUAL * abs(x):
        apart = 0.0
    low = math.hypot(x - x_low, y_high - y)
    high = math.hypot(x_high - x, y - y_low)
    return apart, apart - low, apart + high


def _ratio(a: Ends, b: Ends) -> tuple[float, float]:
    """Return the interval of a/b, from the interval of log a − log b."""
    if min(*a, *b) <= 0:
        return 0.0, math.inf
    logs = np.log([a, b]).tolist()
    _, low, high = _difference(*logs)
    return math.exp(low), math.exp(high)
