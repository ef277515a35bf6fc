"""At which scales to look: the convergence scale, areas up to it, and slopes in between."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.fft import dct
from scipy.optimize import toms748

from .arrays import row_blocks
from .progress import track
from .space import MetricSpace

Quadrature = Literal["trapezoid", "adaptive"]

# Relative accuracy of the convergence scale.
SCALE_TOLERANCE = 1e-9
# Relative to the log odds, which change with log t a few times less than by their own size.
CLOSE_ENOUGH = 1e-10
FLOOR = 1e-9
# Growing steps from the first guess in which the convergence scale is sought, up to e^400 of it.
STEPS = 13
# Relative accuracy of the adaptive area, and the panels after which it gives up.
AREA_TOLERANCE = 1e-6
LARGEST_RULE = 1024


class MagnitudeFunction(NamedTuple):
    """Values of Mag at scales, both of shape (m,), scales ascending."""

    scales: np.ndarray
    values: np.ndarray


def evaluate(space: MetricSpace, scales: np.ndarray) -> MagnitudeFunction:
    """Mag at ascending scales."""
    values = np.empty(len(scales))
    # From the largest scale down: weights near n are easy, and each is a start for the next.
    order = range(len(scales) - 1, -1, -1)
    for i in track(order, len(scales), "magnitude over scales"):
        values[i] = space.magnitude(float(scales[i]))
    return MagnitudeFunction(scales, values)


def even_scales(t_cut: float, n_scales: int) -> np.ndarray:
    """Evenly spaced from 0 to t_cut, both included."""
    return np.linspace(0.0, t_cut, n_scales)


def convergence(space: MetricSpace, epsilon: float) -> float:
    """`_convergence`, sought once for each space."""
    if epsilon not in space.converged:
        space.converged[epsilon] = _convergence(space, epsilon)
    return space.converged[epsilon]


def _convergence(space: MetricSpace, epsilon: float) -> float:
    """The scale at which Mag(t) = (1 − ε) n for n distinct points.

    Answered without a solve where Mag(0) = 1 is enough (0.0) and where all distances are equal;
    otherwise by TOMS 748 in log t, on a bracket that secants from a guess by nearest neighbours
    give. Where a magnitude that is not monotone has several such scales, one of
    them.
    """
    n = space.distinct
    target = (1 - epsilon) * n
    if n == 1 or target <= 1:
        return 0.0
    nearest, largest = _nearest(space.D)

    def log_odds(value: float) -> float:
        """For n points at one distance d this is td; nearly straight in t, and steep, for all."""
        value = min(max(value, 1 + FLOOR), n - FLOOR)
        return math.log(value * (n - 1) / (n - value))

    odds = log_odds(target)
    if nearest.min() == largest:  # n points at one distance d: n / (1 + (n − 1) e^{−td})
        return odds / largest

    def gap(t: float) -> float:
        found = log_odds(space.magnitude(t)) - odds
        # TOMS 748 would go on to close its bracket from the other side.
        return 0.0 if abs(found) <= CLOSE_ENOUGH * odds else found

    # Where a typical point still shares a share ε of itself with its nearest neighbour.
    t = first = math.log(1 / epsilon) / float(np.median(nearest))
    before, past = 0.0, -odds
    reach = 1.0
    for _ in range(STEPS):
        found = gap(t)
        if found == 0 or (before and (found < 0) != (past < 0)):
            break
        # A little further than the line through the last two points, to get a bracket.
        slope = (found - past) / (t - before)
        aim = t - 1.02 * found / slope if slope > 0 else math.inf * -found
        before, past = t, found
        t = min(aim, t * math.exp(reach)) if found < 0 else max(aim, t * math.exp(-reach))
        reach *= 1.5
    else:
        low, high = sorted((first, before))
        raise ValueError(
            f"no convergence scale between {low:.3g} and {high:.3g}: the "
            f"magnitude does not reach {target:.6g} of {n} points; pass t_cut=… or scales=…"
        )
    if found == 0:
        return t
    low, high = sorted((math.log(before), math.log(t)))
    root = toms748(lambda x: gap(math.exp(x)), low, high, xtol=SCALE_TOLERANCE, rtol=1e-15)
    return float(math.exp(root))


def _nearest(D: np.ndarray) -> tuple[np.ndarray, float]:
    """The distance from each point to its nearest other one, and the largest of all distances."""
    nearest = np.empty(len(D))
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block].copy()
        rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = np.inf
        nearest[block] = rows.min(axis=1)
    return nearest, float(D.max())


def adaptive_area(f: Callable[[float], float], t_cut: float) -> float:
    """∫₀^{t_cut} f(t) dt to about 1e-6 relative, by nested Clenshaw–Curtis rules.

    With t = t_cut u² the rules look closer at small scales, where clusters of different sizes
    show. The error of the rule with 2N panels is estimated from how fast the rules with N/2, N
    and 2N approach each other.

    Raises
    ------
    ValueError
        If 1024 panels do not suffice.
    """
    known: dict[float, float] = {}

    def g(u: float) -> float:
        if u not in known:
            known[u] = 2 * u * t_cut * f(t_cut * u * u) if u else 0.0
        return known[u]

    areas: list[float] = []
    panels = 4
    while panels <= LARGEST_RULE:
        areas.append(_clenshaw_curtis(g, panels))
        if len(areas) >= 3:
            before, last = abs(areas[-2] - areas[-3]), abs(areas[-1] - areas[-2])
            error = last * min(1.0, last / before) if before else last
            if error <= AREA_TOLERANCE * abs(areas[-1]):
                return areas[-1]
        panels *= 2
    raise ValueError(
        f"the area did not settle to {AREA_TOLERANCE:g} with {LARGEST_RULE} scales (is the "
        f"magnitude singular at some scale?); use quadrature='trapezoid'"
    )


def _clenshaw_curtis(g: Callable[[float], float], panels: int) -> float:
    """∫₀¹ g from its values at (1 + cos(πj/N))/2, exact for polynomials of degree N."""
    angles = np.arange(panels + 1) * (math.pi / panels)
    # cos² of the half angle; the same floats at every level, so that g is not asked twice
    values = [g(float(round(math.cos(angle / 2) ** 2, 15))) for angle in angles]
    c = dct(np.array(values), type=1)[::2] / panels
    c[[0, -1]] /= 2
    return float(np.sum(c / (1 - np.arange(0, panels + 1, 2) ** 2)))


def log_slope(scales: np.ndarray, values: np.ndarray) -> np.ndarray:
    """d log Mag / d log t at each scale > 0, by second-order differences."""
    return np.asarray(np.gradient(np.log(values), np.log(scales)))


def check_scale(name: str, t: Any) -> float:
    try:
        scale = float(t)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a scale, a number of at least 0, got {t!r}") from None
    if not 0 <= scale < np.inf:
        raise ValueError(f"`{name}` must be a finite scale of at least 0, got {t}")
    return scale


def check_cut(t_cut: Any) -> float | None:
    if t_cut is None:
        return None
    cut = check_scale("t_cut", t_cut)
    if cut == 0:
        raise ValueError("`t_cut` must be more than 0, got 0; leave it out for t_conv")
    return cut


def check_epsilon(epsilon: Any) -> float:
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.number)):
        raise TypeError(f"`epsilon` must be a number between 0 and 1, got {epsilon!r}")
    if not 0 < epsilon < 1:
        raise ValueError(f"`epsilon` must be between 0 and 1, got {epsilon}; 0.05 is usual")
    return float(epsilon)


def check_count(n_scales: Any, least: int = 2) -> int:
    if isinstance(n_scales, bool) or not isinstance(n_scales, (int, np.integer)):
        raise TypeError(f"`n_scales` must be an integer, got {n_scales!r}")
    if n_scales < least:
        raise ValueError(f"`n_scales` must be at least {least}, got {n_scales}; 30 is usual")
    return int(n_scales)


def check_quadrature(quadrature: Any) -> None:
    if quadrature not in ("trapezoid", "adaptive"):
        raise ValueError(f"`quadrature` must be 'trapezoid' or 'adaptive', got {quadrature!r}")
