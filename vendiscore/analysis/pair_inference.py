"""p-values by exchanging labels, with early stopping and adjustment for many pairs."""

import math
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

# So many permutations at least as extreme are enough, once STEP have been drawn.
ENOUGH = 20
STEP = 99
_NEAR = 10  # approximations on either side of a bar that are replaced at once
NO_ERROR = 1e-12  # the value that replaces a standard error of 0
EQUAL = 1e-9  # scores that differ by less are equal but for rounding


# A score or a difference with both ends of its interval.
Ends: TypeAlias = tuple[float, float, float]


class Statistic(NamedTuple):
    """T of a pair of sets, observed and with labels exchanged, and its intervals by level.

    `draw(count, bar)` is T of `count` exchanges, of which only the number that reach `bar` matters;
    `step` of them are drawn at once. `interval` is of the difference, `ratio` of a/b; `every` has
    T of all exchanges but the observed one, where these are few.
    """

    seen: float
    draw: Callable[[int, float], np.ndarray]
    interval: Callable[[float], Ends]
    ratio: Callable[[float], tuple[float, float]]
    step: int = STEP
    every: np.ndarray | None = None


class Null(NamedTuple):
    """p of a statistic, in (0, 1], and its number of permutations."""

    p: float
    drawn: int


def studentized(apart: ArrayLike, error: ArrayLike) -> np.ndarray:
    """Return T of differences and their errors, 0 for sets that are equal but for rounding."""
    T = apart / np.maximum(error, NO_ERROR)
    return np.where(np.abs(apart) < EQUAL, 0.0, T)


def permuted(pair: Statistic, permutations: int, level: float = 0.95) -> Generator[int, None, Null]:
    """Draw T with labels exchanged; yield the number drawn; stopping at 20 keeps p exact."""
    # A statistic that is equal but for rounding counts as extreme.
    bar = abs(pair.seen) * (1 - 1e-9)
    if pair.every is not None:
        extreme = int((abs(pair.every) >= bar).sum())
        return Null((extreme + 1) / (len(pair.every) + 1), len(pair.every))
    least = max(STEP, needed(level))
    done = beyond = 0
    while done < permutations and not (beyond >= ENOUGH and done >= least):
        count = min(pair.step if done else least, permutations - done)
        statistics = np.abs(pair.draw(count, bar))
        reached = beyond + np.cumsum(statistics >= bar)
        drawn = done + np.arange(1, count + 1)
        enough = (reached >= ENOUGH) & (drawn >= least)
        last = count - 1
        if enough.any():
            last = int(np.argmax(enough))
        done += last + 1
        beyond = int(reached[last])
        yield done
    return Null((beyond + 1) / (done + 1), done)  # Besag & Clifford, Biometrika 1991


def screened(near: np.ndarray, exact: Callable[[np.ndarray], np.ndarray], bar: float) -> np.ndarray:
    """Return statistics from approximations `near`, made exact from the bar outwards.

    The first are exact, and scale the others. Statistics nearest to the bar follow in
    batches, until no statistic of a batch changes sides.
    """
    count = min(2 * _NEAR, len(near))
    values = near.astype(float)
    values[:count] = exact(np.arange(count))
    first = near[:count]
    square = max(float(first @ first), 1e-300)
    scale = float(first @ values[:count]) / square
    values[count:] *= scale
    gaps = np.abs(values[count:] - bar)
    order = count + np.argsort(gaps, kind="stable")
    beyond = values[order] >= bar
    for above in (True, False):
        side = order[beyond == above]
        for start in range(0, len(side), _NEAR):
            at = side[start : start + _NEAR]
            values[at] = exact(at)
            stayed = (values[at] >= bar) == above
            if stayed.all():
                break
    return values


def needed(level: float, pairs: int = 1) -> int:
    """Return how many permutations the least adjusted p of so many pairs needs to be 1 − level."""
    least = pairs / (1 - level)
    return math.ceil(least - 1e-6) - 1


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p-values for the chance that any pair is falsely found to differ (Holm 1979)."""
    adjusted = np.empty(len(p))
    order = np.argsort(p, kind="stable")
    times = len(p) - np.arange(len(p))
    ascending = np.asarray(p)[order]
    raised = np.maximum.accumulate(ascending * times)
    adjusted[order] = np.minimum(1.0, raised)
    return adjusted.tolist()
