"""Evaluation of magnitude at several scales, and search for the convergence scale.

At the convergence scale, the magnitude of n distinct points is (1 − ε) n, by default with ε = 0.05.
"""

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
# Accuracy of the log odds at the convergence scale, relative to their value.
LOG_ODDS_TOLERANCE = 1e-10
# Function values up to this are treated as 0 in the search for a root.
ROOT_ROUNDING = 1e-15
# Steps in log t of the search for the convergence scale: maximum step, and length of the first step
# relative to a Newton step. The step is doubled repeatedly.
MAX_SEARCH_STEP = 400.0
FIRST_STEP_FACTOR = 1.1
MAX_LOG_SCALE = math.log(1e307)
# The search starts from an estimate by the spread of a random subset of this size.
N_SAMPLED_POINTS = 128
GUESS_TOLERANCE = 0.01
# The secant method usually takes six to ten steps.
MAX_SECANT_STEPS = 50


class MagnitudeFunction(NamedTuple):
    """A pair of arrays: scales, and the magnitude or its slope at each of them.

    The slope is that of the log of the magnitude as a function of the log of the scale.

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
        scales = self.scales.round(4).tolist()
        scale_range = [*scales[:1], *scales[-1:]]  # empty if there are no scales
        return f"MagnitudeFunction(m={len(scales)}, scales in {scale_range})"

    def __str__(self) -> str:
        if not len(self.scales):
            return "No values, because there are no scales."
        return (
            f"{len(self.scales)} values, from {self.values[0]:.4g} at the scale "
            f"{self.scales[0]:.4g} to {self.values[-1]:.4g} at the scale {self.scales[-1]:.4g}."
        )

    def to_dict(self) -> Record:
        """Return both arrays as lists, for JSON."""
        return to_json_record(self._asdict())

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row per scale."""
        return make_frame({"scale": self.scales, "value": self.values})


def evaluate_magnitude(space: MetricSpace | StackedSpaces, scales: np.ndarray) -> MagnitudeFunction:
    """Compute the magnitude of a space, or of each of g stacked spaces, at each of T scales.

    `scales` has shape (T,), or (g, T) if the scales differ between stacked spaces. The result
    contains the scales and the magnitudes, which have shape (T,) for a space, and (g, T) for g
    stacked spaces.
    """
    if isinstance(space, StackedSpaces):
        return MagnitudeFunction(scales, space.compute_magnitudes(scales))
    values = np.empty(len(scales))
    # Start with the largest scale, which is easy to solve. Each solution speeds up the next one.
    order = np.argsort(-scales, kind="stable")
    n = space.distinct
    n_scales = len(scales)
    # A scale takes the time of about half a factorisation and some products, that is, 0.6 to 1.4 n³
    # operations for 3,000 points.
    work = n_scales * float(n) ** 3
    # The distances, and a work array of the solver in single precision.
    needed_bytes = 12.0 * n**2
    title = f"Magnitude of {n:,} points at {n_scales:,} scales"
    with announce_duration(title, work, needed_bytes, single_precision=True):
        for i in track(order, n_scales, "magnitude over scales"):
            values[i] = space.magnitude(float(scales[i]))
    return MagnitudeFunction(scales, values)


def compute_convergence_scale_of_equal_distances(n: int, unit: float, epsilon: float) -> float:
    """Compute the convergence scale of n points whose pairwise distances are all d = `unit`.

    It is the scale t at which the magnitude n / (1 + (n − 1) e^{−td}) is (1 − ε) n, where ε =
    `epsilon`; or 0 if there is no positive solution.
    """
    odds = (n - 1) * (1 - epsilon) / epsilon  # e^{td} at the solution
    return math.log(odds) / unit if odds > 1 else 0.0


def find_convergence_scale(space: MetricSpace | StackedSpaces, epsilon: float) -> Number:
    """Find the convergence scale t, at which the magnitude of n distinct points is (1 − ε) n.

    ε is `epsilon`. The result is a float for a MetricSpace, which caches it, and has shape (g,) for
    g stacked spaces.
    """
    if isinstance(space, StackedSpaces):
        return _search_convergence_scales(space, epsilon)
    with space.solver.lock, np.errstate(under="ignore", over="ignore"):
        if epsilon not in space.convergence_scales:
            space.convergence_scales[epsilon] = _search_convergence_scale(space, epsilon)
        return space.convergence_scales[epsilon]


def compute_log_odds(value: float | np.ndarray, n: int) -> np.ndarray:
    """Compute the log odds of magnitudes, for one or several spaces of n points.

    The log odds of a magnitude m between 1 and n are log(1 + n (m − 1)/(n − m)). If all distances
    between the n points are d, the log odds at scale t are td. For other sets they are nearly
    linear in t, which simplifies the search for the scale with a given magnitude.
    """
    return np.log1p(n * np.maximum(value - 1, 0.0) / np.maximum(n - value, 1e-15 * n))


def _search_convergence_scale(space: MetricSpace, epsilon: float) -> float:
    """Find a convergence scale: a scale t at which the magnitude of n distinct points is (1 − ε) n.

    ε is `epsilon`. The search in log t starts from an estimate: the scale at which the spread of
    the points is (1 − ε) n. The spread is the sum, over all points, of 1 divided by the sum of the
    similarities to all points. It is similar to the magnitude, but faster to compute. Both searches
    compare log odds (see `compute_log_odds`) instead of magnitudes M: log(1 + n (M − 1)/(n − M)),
    which is t d if all distances are d. If there are several convergence scales, any of them may be
    returned.
    """
    n = space.distinct
    target = (1 - epsilon) * n
    if n == 1 or target <= 1:
        return 0.0
    target_log_odds = float(compute_log_odds(target, n))  # those of the magnitude (1 − ε) n
    max_distance = space.solver.max_distance
    if space.solver.nearest_distances.min() == max_distance:
        # All distances are equal to d. Then the log odds at scale t are exactly t d.
        return target_log_odds / max_distance
    if target - 1 < RANGE_END_TOLERANCE:  # magnitudes close to 1 have few accurate digits
        raise ValueError(
            f"`epsilon` must be smaller: the magnitude (1 − ε) n at the convergence scale must "
            f"exceed 1 by at least {RANGE_END_TOLERANCE:g}, got ε = {epsilon!r} for n = {n} points"
        )

    # The spread is estimated from a random subset of points, with their distances to all points.
    rows = np.random.default_rng(n).permutation(n)[:N_SAMPLED_POINTS]
    sampled_distances = space.D[rows]

    def spread_difference(log_t: float) -> float:
        """Estimate `compute_log_odds` of the spread at the scale exp(log_t), minus the target.

        The root is the estimated scale at which the spread is (1 − ε) n, where ε is `epsilon`.
        """
        total_similarities = np.exp(sampled_distances * -np.exp(np.float64(log_t))).sum(axis=1)
        estimated_spread = n * (1 / total_similarities).mean()
        return float(compute_log_odds(estimated_spread, n)) - target_log_odds

    def magnitude_difference(log_t: float) -> float:
        """Compute `compute_log_odds` of the magnitude at the scale exp(log_t), minus the target.

        The root is the convergence scale, at which the magnitude is (1 − ε) n.
        """
        difference = float(compute_log_odds(space.magnitude(math.exp(log_t)), n)) - target_log_odds
        return 0.0 if abs(difference) <= LOG_ODDS_TOLERANCE * target_log_odds else difference

    # The scale at which the similarity of a typical point and its nearest neighbour is ε.
    typical_distance = np.median(space.solver.nearest_distances[rows])
    start = math.log(math.log(1 / epsilon)) - math.log(typical_distance)
    guess = _find_root(
        spread_difference,
        min(start, MAX_LOG_SCALE),
        slope=target_log_odds,  # if the log odds are a t, their slope in log t is a t as well
        tolerance=GUESS_TOLERANCE,
    )
    if not isinstance(guess, float):  # no root was found
        guess = start
    # The slope of the log odds of the spread is an estimate of that of the magnitude.
    spread_change = spread_difference(guess + GUESS_TOLERANCE) - spread_difference(guess)
    root = _find_root(
        magnitude_difference,
        min(guess, MAX_LOG_SCALE),
        slope=spread_change / GUESS_TOLERANCE,
        tolerance=SCALE_TOLERANCE,
    )
    if isinstance(root, float):
        return math.exp(root)
    low, high = (math.exp(limit) for limit in root)
    raise ValueError(
        f"no convergence scale found between {low:.3g} and {high:.3g}, because the magnitude of "
        f"{n} points does not reach {target:.6g}; pass t_cut=… or scales=…"
    )


def _search_convergence_scales(spaces: StackedSpaces, epsilon: float) -> Number:
    """Find the convergence scale of each of g spaces by the secant method, shape (g,).

    At this scale, the magnitude of the n points of a space is (1 − ε) n, where ε = `epsilon`. The
    secant method solves for the scale divided by a lower bound of it. The result is NaN for a space
    for which the method does not converge. Distances are of negative type, so magnitude increases
    with the scale, and each space has a single convergence scale.
    """
    target = (1 - epsilon) * spaces.n
    if target <= 1:
        return np.zeros(len(spaces.D))
    target_log_odds = compute_log_odds(target, spaces.n)
    # The convergence scale if all distances were equal to the largest. With smaller distances, it
    # is larger.
    lower_bounds = target_log_odds / spaces.D.max(axis=(1, 2))

    def compute_difference(x: np.ndarray) -> np.ndarray:
        """Compute f(M) − f((1 − ε) n) for the magnitudes M at the scales x · lower_bounds.

        f is `compute_log_odds`, a strictly increasing function. So the difference is 0 at the
        convergence scale, where the magnitude is (1 − ε) n.
        """
        values = spaces.compute_magnitudes((x * lower_bounds)[:, None])
        return compute_log_odds(values[:, 0], spaces.n) - target_log_odds

    # x is the scale divided by its lower bound. The secant method starts from two points, x = 1 and
    # a slightly larger one.
    previous_x = np.ones(len(lower_bounds))
    previous_difference = compute_difference(previous_x)
    x = previous_x + GUESS_TOLERANCE
    for _ in range(MAX_SECANT_STEPS):
        difference = compute_difference(x)
        step = difference * (x - previous_x) / (difference - previous_difference)
        # The differences of solved spaces are rounding errors, so their scales stay unchanged.
        step[np.abs(difference) <= LOG_ODDS_TOLERANCE * target_log_odds] = 0.0
        previous_x, previous_difference, x = x, difference, x - step
        if not (np.abs(step) > SCALE_TOLERANCE).any():
            break
    is_accurate = (np.abs(step) <= SCALE_TOLERANCE) & (target - 1 >= RANGE_END_TOLERANCE)
    return np.where(is_accurate, x * lower_bounds, np.nan)


def _find_root(
    f: Callable[[float], float], x: float, slope: float, tolerance: float
) -> float | tuple[float, float]:
    """Find a root of a function f that tends to increase, starting at x.

    Steps that double in length search for an interval in which the sign of f changes. In it,
    Brent's method finds the root up to `tolerance`. If there is no change of sign, the two ends of
    the searched range are returned instead. `slope` is an estimate of the slope of f at x, which
    determines the first step.
    """

    @cache
    def g(x: float) -> float:
        """Return f(x), or 0 if it may be a rounding error, so that x counts as a root."""
        y = f(x)
        return y if abs(y) > ROOT_ROUNDING else 0.0

    start = x
    end = x
    # The first step is a little longer than that of Newton's method, |g(x)| / slope.
    step = min(max(FIRST_STEP_FACTOR * abs(g(x)) / slope, tolerance), 1.0) if slope > 0 else 1.0
    # Continue until x is a root, or the sign of f differs between x and `end`.
    while g(x) and g(x) * g(end) >= 0:
        if step > MAX_SEARCH_STEP:
            return min(start, end), max(start, end)
        # The function increases, so go to smaller values if it is positive.
        x, end = end, min(end - math.copysign(step, g(x)), MAX_LOG_SCALE)
        step *= 2
    if not g(x):
        return x
    root: float = scipy.optimize.brentq(g, x, end, xtol=tolerance, maxiter=1000)
    return root
