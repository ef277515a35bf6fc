"""Scales of magnitude: the convergence scale, areas up to it, and slopes in between."""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from ..support.progress import announce_duration, track
from ..support.summary import make_frame, to_json_record
from ..support.types import Frame, Number, Record
from .magnitude_options import RANGE_END_TOLERANCE
from .space import MetricSpace, StackedSpaces

# Relative accuracy of the convergence scale.
SCALE_TOLERANCE = 1e-9
# Relative to the log odds, which change with log t a few times less than by their own size.
LOG_ODDS_TOLERANCE = 1e-10
# Values that count as 0, of a function whose root is sought.
ROOT_ROUNDING = 1e-15
# The longest of the growing steps in log t in which the convergence scale is sought, and how far
# beyond where the slope leads the first of them ends.
MAX_SEARCH_STEP = 400.0
FIRST_STEP_FACTOR = 1.1
MAX_LOG_SCALE = math.log(1e307)
# The spread of so many points gives a good start, and a slope in log t, for the search.
N_SAMPLED_POINTS = 128
GUESS_TOLERANCE = 0.01
# The secant method takes six to ten steps.
MAX_SECANT_STEPS = 50


class MagnitudeFunction(NamedTuple):
    """A pair of arrays: scales, and the magnitude or its slope at each of them.

    Attributes
    ----------
    scales : array of shape (m,)
        Scales in ascending order.
    values : array of shape (m,)
        Magnitudes or slopes at these scales.

    See Also
    --------
    vendiscore.magnitude_function : Compute magnitudes.
    vendiscore.magnitude_dimension : Compute slopes.

    Examples
    --------
    >>> from vendiscore import magnitude_function
    >>> scales, values = magnitude_function([0.0, 1.0], scales=[0, 1, 100])
    >>> values.round(2)
    array([1.  , 1.46, 2.  ])
    """

    scales: np.ndarray
    values: np.ndarray

    def __repr__(self) -> str:
        ends = self.scales.round(4).tolist()
        return f"MagnitudeFunction(m={len(ends)}, scales in {[*ends[:1], *ends[-1:]]})"

    def __str__(self) -> str:
        if not len(self.scales):
            return "No scales, and so no values."
        return (
            f"{len(self.scales)} values, from {self.values[0]:.4g} at the scale "
            f"{self.scales[0]:.4g} to {self.values[-1]:.4g} at the scale {self.scales[-1]:.4g}."
        )

    def to_dict(self) -> Record:
        """Return both arrays as lists, for JSON."""
        return to_json_record(self._asdict())

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with a row for each scale."""
        return make_frame({"scale": self.scales, "value": self.values})


def evaluate_magnitude(space: MetricSpace | StackedSpaces, scales: np.ndarray) -> MagnitudeFunction:
    """Evaluate Mag at scales (T,), in the order given; of several spaces (g, T)."""
    if isinstance(space, StackedSpaces):
        return MagnitudeFunction(scales, space.compute_magnitudes(scales))
    values = np.empty(len(scales))
    # From the largest scale down: weights near n are easy, and each is a start for the next.
    order = np.argsort(-scales, kind="stable")
    n = space.distinct
    count = len(scales)
    # A scale takes about half a factorisation and its products: 0.6 to 1.4 n³ at 3,000 points.
    work = count * float(n) ** 3
    size = 12.0 * n**2
    with announce_duration(
        f"Magnitude of {n:,} points at {count:,} scales", work, size, single_precision=True
    ):
        for i in track(order, count, "magnitude over scales"):
            values[i] = space.magnitude(float(scales[i]))
    return MagnitudeFunction(scales, values)


def dissimilar_cutoff(n: int, unit: float, epsilon: float) -> float:
    """Return the scale with n / (1 + (n − 1) e^{−td}) = (1 − ε) n: t_conv of n points at d."""
    odds = (n - 1) * (1 - epsilon) / epsilon
    return math.log(odds) / unit if odds > 1 else 0.0


def find_convergence_scale(space: MetricSpace | StackedSpaces, epsilon: float) -> Number:
    """Find the scale at which Mag(t) = (1 − ε) n for n distinct points, once for each space."""
    if isinstance(space, StackedSpaces):
        return _search_convergence_scales(space, epsilon)
    with space.solver.lock, np.errstate(under="ignore", over="ignore"):
        if epsilon not in space.convergence_scales:
            space.convergence_scales[epsilon] = _search_convergence_scale(space, epsilon)
        return space.convergence_scales[epsilon]


def compute_log_odds(value: float | np.ndarray, n: int) -> np.ndarray:
    """Return the log odds of a magnitude between 1 and n, of one or several spaces.

    They are td for n points at one distance d, and nearly straight in t, and steep, for all.
    """
    return np.log1p(n * np.maximum(value - 1, 0.0) / np.maximum(n - value, 1e-15 * n))


def _search_convergence_scale(space: MetricSpace, epsilon: float) -> float:
    """Find it in log t, from where the spread of some points says that it is; one of several."""
    n = space.distinct
    target = (1 - epsilon) * n
    if n == 1 or target <= 1:
        return 0.0
    odds = float(compute_log_odds(target, n))
    largest = space.solver.max_distance
    if space.solver.nearest_distances.min() == largest:
        return odds / largest  # n points at one distance d: n / (1 + (n − 1) e^{−td})
    if target - 1 < RANGE_END_TOLERANCE:
        raise ValueError(
            f"`epsilon` must leave (1 − ε) n more than {RANGE_END_TOLERANCE:g} above Mag(0) = 1, "
            f"got {epsilon!r} for {n} points, and magnitudes are known to 1e-9; use a smaller one"
        )

    rows = np.random.default_rng(n).permutation(n)[:N_SAMPLED_POINTS]
    some = space.D[rows]

    def spread_gap(x: float) -> float:
        ordinary = np.exp(some * -np.exp(np.float64(x))).sum(axis=1)
        return float(compute_log_odds(n * (1 / ordinary).mean(), n)) - odds

    def gap(x: float) -> float:
        value = space.magnitude(math.exp(x))
        difference = float(compute_log_odds(value, n)) - odds
        return 0.0 if abs(difference) <= LOG_ODDS_TOLERANCE * odds else difference

    # Where a typical point still shares a share ε of itself with its nearest neighbour.
    typical = np.median(space.solver.nearest_distances[rows])
    first = math.log(math.log(1 / epsilon)) - math.log(typical)
    guess = _find_root(spread_gap, min(first, MAX_LOG_SCALE), odds, GUESS_TOLERANCE)
    if not isinstance(guess, float):
        guess = first
    slope = (spread_gap(guess + GUESS_TOLERANCE) - spread_gap(guess)) / GUESS_TOLERANCE
    root = _find_root(gap, min(guess, MAX_LOG_SCALE), slope, SCALE_TOLERANCE)
    if isinstance(root, float):
        return math.exp(root)
    low, high = (math.exp(end) for end in root)
    raise ValueError(
        f"no convergence scale between {low:.3g} and {high:.3g}: the magnitude does not reach "
        f"{target:.6g} of {n} points; pass t_cut=… or scales=…"
    )


def _search_convergence_scales(spaces: StackedSpaces, epsilon: float) -> Number:
    """Find the scales (g,) by the secant method; NaN where one by one is safer.

    Magnitude grows with the scale where distances are of negative type: there is one.
    """
    target = (1 - epsilon) * spaces.n
    if target <= 1:
        return np.zeros(len(spaces.D))
    odds = compute_log_odds(target, spaces.n)
    # Points that are all at the largest distance converge at `first`, and others later.
    first = odds / spaces.D.max(axis=(1, 2))

    def gap(x: np.ndarray) -> np.ndarray:
        values = spaces.compute_magnitudes((x * first)[:, None])
        return compute_log_odds(values[:, 0], spaces.n) - odds

    before = np.ones(len(first))
    behind = gap(before)
    x = before + GUESS_TOLERANCE
    for _ in range(MAX_SECANT_STEPS):
        ahead = gap(x)
        step = ahead * (x - before) / (ahead - behind)
        step[np.abs(ahead) <= LOG_ODDS_TOLERANCE * odds] = 0.0
        before, behind, x = x, ahead, x - step
        if not (np.abs(step) > SCALE_TOLERANCE).any():
            break
    sure = (np.abs(step) <= SCALE_TOLERANCE) & (target - 1 >= RANGE_END_TOLERANCE)
    return np.where(sure, x * first, np.nan)


def _find_root(
    f: Callable[[float], float], x: float, slope: float, tolerance: float
) -> float | tuple[float, float]:
    """Return x with f(x) = 0, of an f that grows on the whole, or the two ends of the search."""

    @cache
    def g(x: float) -> float:
        y = f(x)
        return y if abs(y) > ROOT_ROUNDING else 0.0

    start = x
    end = x
    step = min(max(FIRST_STEP_FACTOR * abs(g(x)) / slope, tolerance), 1.0) if slope > 0 else 1.0
    while g(x) and g(x) * g(end) >= 0:
        if step > MAX_SEARCH_STEP:
            return min(start, end), max(start, end)
        x, end = end, min(end - math.copysign(step, g(x)), MAX_LOG_SCALE)
        step *= 2
    if not g(x):
        return x
    root: float = scipy.optimize.brentq(g, x, end, xtol=tolerance, maxiter=1000)
    return root
