"""Sets drawn down to one size: windows are runs of m of n samples in random order."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..scoring.deficit import Repeats, log_ends, repeats_of
from ..scoring.jackknife import Jackknife, influence, influence_error, jackknife
from ..scoring.subsampling import halves_error, student_reach
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import log_score
from ..spectral.spectrum import Spectrum
from ..spectral.stacks import Spectra
from ..spectral.vendi_scores import spectrum_of
from ..support.namespace import row_blocks, to_host
from .comparison import CompareOptions, SetRow
from .pair_inference import EQUAL, STEP, Ends, Statistic, screened, studentized

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
    """Average the score and its error over windows of m of some orders (…, n)."""
    sets = [order[..., run] for run in windows(order.shape[-1], m)]
    scores = score(np.stack(sets))
    error = windows_error(scores.error, order.shape[-1], m)
    return Jackknife(np.mean(scores.log, axis=0), error)


def windows_error(errors: float | np.ndarray, n: int, m: int) -> np.ndarray:
    """Return the error of a mean over windows from the error of each, scaled by √(m Σ c_i²)."""
    weights = window_weights(n, m)
    return np.sqrt(m * float(weights @ weights) * np.mean(errors**2, axis=0))


def window_weights(n: int, m: int) -> np.ndarray:
    """Return the share that each of n places has in a mean over windows of m."""
    weights = np.zeros(n)
    runs = windows(n, m)
    for run in runs:
        weights[run] += 1 / (m * len(runs))
    return weights


@dataclass
class Part:
    """Some samples in random order, of which runs of m are scored; errors leave out each sample."""

    similarity: Similarity
    plan: CompareOptions
    m: int

    def __post_init__(self) -> None:
        self.n: int = self.similarity.n
        self.similarity = in_full(self.similarity, self.m)

    def spectrum(self, places: np.ndarray) -> Spectrum:
        """Return the spectrum of the samples at `places`."""
        return spectrum_of(self.similarity.take(places), psd=self.plan.psd, vectors=True)

    def score(self, places: np.ndarray) -> Jackknife:
        """Return log VS of sets at `places` (…, m), with errors by influence, which costs little.

        Small sets are scored as stacks. At order 0, errors are 0.
        """
        q = self.plan.q
        sets = places.reshape(-1, places.shape[-1])
        count, m = sets.shape
        logs, errors = numbers = np.zeros((2, count))
        singly = np.ones(count, dtype=bool)
        if q and m <= STACKED:
            for rows in row_blocks(count, 16 * m * m):
                K = to_host(self.similarity.stack(sets[rows]))
                stack = Spectra(K, None, [q], self.plan.psd, vectors=True)
                logs[rows] = np.log(stack.values[0])
                errors[rows] = np.linalg.norm(stack.influence(q), axis=1) / m
                singly[rows] = stack.unusual  # which may be an error
        for i in np.flatnonzero(singly):
            spectrum = self.spectrum(sets[i])
            logs[i] = log_score(spectrum, q)
            if q:
                errors[i] = influence_error(spectrum, q)
        return Jackknife(*numbers.reshape(2, *places.shape[:-1]))

    @cached_property
    def matched(self) -> Jackknife:
        """log VS of m of the samples, with the numbers behind its interval."""
        every = np.arange(self.n)
        if not self.plan.q:
            log = float(matched(self.score, every, self.m).log)
            rng = np.random.default_rng(self.plan.seed)
            half = min(self.n // 2, self.m)
            error = halves_error(self.n, lambda part: self.score(part).log, half, _DRAWS, rng)
            return Jackknife(log, float(error), units=self.n)
        scores = []
        for run in windows(self.n, self.m):
            one = jackknife(self.spectrum(every[run]), self.plan.q)
            scores.append((one.log, one.error, one.spread, one.gain))
        logs, *errors = np.array(scores).T
        error, spread, gain = windows_error(np.transpose(errors), self.n, self.m).tolist()
        return Jackknife(float(logs.mean()), error, spread, self.n, gain)

    @cached_property
    def repeats(self) -> Repeats | None:
        """The repeats among m of the samples."""
        similarity = self.similarity.take(np.arange(self.m))
        return repeats_of(similarity, self.plan.allow_repeats)

    def ends(self, level: float, exact: bool = False) -> Ends:
        """Return the score of m samples, and both ends of its interval.

        With `exact`, neither tail of the share of the commonest kind exceeds half of 1 − level:
        a difference needs this, because the direction of a verdict depends on one tail.
        """
        known = self.matched
        value = math.exp(known.log)
        if self.plan.q:
            repeats = self.repeats
            if exact and repeats is not None:
                repeats = repeats._replace(exact=True)
            ends = log_ends(known, self.m, self.plan.q, level, repeats)
        else:
            reach = student_reach(level, known.units) * float(known.error)
            log = float(known.log)
            ends = max(0.0, log - reach), min(math.log(self.m), log + reach)
        low, high = np.exp(ends).tolist()
        return value, min(low, value), max(high, value)

    def row(self) -> tuple[float, float, float, float]:
        """Return the score of m samples, its error and its interval."""
        value, low, high = self.ends(self.plan.level)
        error = value * float(self.matched.error)
        return value, error, low, high


@dataclass
class DrawnSets:
    """Sets without groups, each in a random order and cut to the number that is compared."""

    pool: Similarity
    starts: np.ndarray
    names: Sequence[str]
    plan: CompareOptions

    def __post_init__(self) -> None:
        plan = self.plan
        self.rng: np.random.Generator = np.random.default_rng(plan.seed)
        self.members: list[np.ndarray] = np.split(np.arange(self.pool.n), self.starts[1:-1])
        least = min(map(len, self.members))
        if plan.size is not None and plan.size > least:
            raise ValueError(
                f"`size` must be {least} at most, the size of the smallest set, got "
                f"{plan.size}; leave that set out to compare at a larger one"
            )
        self.m: int = plan.size or min(least, MATCHED)
        self.places: list[np.ndarray] = []
        for members in self.members:
            drawn = self.rng.permutation(members)[: MOST_WINDOWS * self.m]
            self.places.append(drawn)
        self.parts: list[Part] = [self._part(places, self.m) for places in self.places]

    def row(self, i: int) -> SetRow:
        """Return the row of set i."""
        members = self.members[i]
        n = len(members)
        matched = whole = self.parts[i].row()
        if n > self.m or not self.plan.q:  # errors of order 0 depend on the order of samples
            whole = self._part(members, n).row()
        return SetRow(self.names[i], n, *whole, self.m, *matched)

    def pair(self, i: int, j: int) -> Statistic:
        """Return the statistic of sets i and j, with samples exchanged for p."""
        a = self.parts[i]
        b = self.parts[j]
        places = np.concatenate([self.places[i], self.places[j]])
        both = self._part(places, self.m)
        every = np.arange(both.n)

        def exact(orders: np.ndarray) -> np.ndarray:
            """Return T of both halves of each order of all samples."""
            first, second = np.split(orders, [a.n], axis=1)
            return _T(matched(both.score, first, self.m), matched(both.score, second, self.m))

        def draw(count: int, bar: float) -> np.ndarray:
            orders = self.rng.permuted(np.tile(every, (count, 1)), axis=1)
            if slopes is None:
                return exact(orders)
            of_halves = np.split(slopes[orders], [a.n], axis=1)
            near = np.abs(_T(*(_mean(half, self.m) for half in of_halves)))
            return screened(near, lambda index: np.abs(exact(orders[index])), bar)

        slopes = None
        step = STEP
        if self.plan.q and self.m > STACKED:
            slopes = influence(both.spectrum(every), self.plan.q)
            step = self.plan.permutations
        observed = exact(every[None])
        return Statistic(
            float(observed[0]),
            draw,
            lambda level: _difference(a.ends(level, exact=True), b.ends(level, exact=True)),
            lambda level: _ratio(a.ends(level, exact=True), b.ends(level, exact=True)),
            step,
        )

    def _part(self, places: np.ndarray, m: int) -> Part:
        return Part(self.pool.take(places), self.plan, m)


def _mean(slopes: np.ndarray, m: int) -> Jackknife:
    """Return means of slopes (g, n) over windows of m, and their standard errors."""
    weights = window_weights(slopes.shape[1], m)
    return Jackknife(slopes @ weights, slopes.std(axis=1) * np.linalg.norm(weights))


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
