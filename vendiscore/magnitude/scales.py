"""At which scales to look: the convergence scale, areas up to it, and slopes in between."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq, toms748

from ..arguments import integer, is_several, number, one_of
from ..progress import track
from .floor import nearest
from .space import MetricSpace

Quadrature = Literal["trapezoid", "adaptive"]
QUADRATURES: tuple[Quadrature, ...] = ("trapezoid", "adaptive")

MOST_SCALES = 10**6
# Relative accuracy of the convergence scale.
SCALE_TOLERANCE = 1e-9
# Relative to the log odds, which change with log t a few times less than by their own size.
CLOSE_ENOUGH = 1e-10
# Magnitudes are known to 1e-9: so near to 1 or n, three digits of the distance to it are.
NEAR_END = 1e-6
# Growing steps from the first guess in which the convergence scale is sought, up to e^400 of it.
STEPS = 13
LARGEST_SCALE = 1e307
# Relative accuracy of the adaptive area, and the panels before which it does not trust its
# estimate and after which it gives up.
AREA_TOLERANCE = 1e-6
SMALLEST_RULE, LARGEST_RULE = 32, 1024
# What is below this share of the cut-off has no part in the area that shows, but at scales so small
# similarities are all 1 in double precision.
LEAST_SCALE = 1e-8
# Areas between two functions are cut where they cross, into so many pieces at most; differences
# below this share of the magnitudes have no sign.
MOST_PIECES = 64
NOISE = 1e-8


class MagnitudeFunction(NamedTuple):
    """Values of Mag at scales, both of shape (m,), scales ascending."""

    scales: np.ndarray
    values: np.ndarray


def evaluate(space: MetricSpace, scales: np.ndarray) -> MagnitudeFunction:
    """Mag at scales, in the order given."""
    values = np.empty(len(scales))
    # From the largest scale down: weights near n are easy, and each is a start for the next.
    order = np.argsort(-scales, kind="stable")
    for i in track(order, len(scales), "magnitude over scales"):
        values[i] = space.magnitude(float(scales[i]))
    return MagnitudeFunction(scales, values)


def even_scales(t_cut: float, n_scales: int) -> np.ndarray:
    """Evenly spaced from 0 to t_cut, both included."""
    return np.linspace(0.0, t_cut, n_scales)


def usual_cut(space: MetricSpace, epsilon: float) -> float:
    """Where an area ends unless that is said, so that areas can be compared where they can.

    If the distances have a unit, the convergence scale of as many samples at that distance from
    each other, n / (1 + (n − 1) e^{−td}) = (1 − ε) n; else that of the samples.
    """
    if space.unit is None:
        return convergence(space, epsilon)
    odds = (space.n - 1) * (1 - epsilon) / epsilon
    return math.log(odds) / space.unit if odds > 1 else 0.0


def convergence(space: MetricSpace, epsilon: float) -> float:
    """`_convergence`, sought once for each space."""
    with space.solver.lock, np.errstate(under="ignore", over="ignore"):
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
    closest, largest = nearest(space.D), float(space.D.max())

    def log_odds(above: float, below: float) -> float:
        """Of a magnitude so far above 1 and below n. For n points at one distance d this is td;
        nearly straight in t, and steep, for all."""
        return math.log1p(n * max(above, 0.0) / max(below, 1e-15 * n))

    odds = log_odds((n - 1) - epsilon * n, epsilon * n)
    if closest.min() == largest:  # n points at one distance d: n / (1 + (n − 1) e^{−td})
        return odds / largest
    if target - 1 < NEAR_END:
        raise ValueError(
            f"`epsilon` must leave (1 − ε) n more than {NEAR_END:g} above Mag(0) = 1, got "
            f"{epsilon!r} for {n} points, and magnitudes are known to 1e-9; use a smaller one"
        )

    def gap(t: float) -> float:
        value = space.magnitude(t)
        found = log_odds(value - 1, n - value) - odds
        # TOMS 748 would go on to close its bracket from the other side.
        return 0.0 if abs(found) <= CLOSE_ENOUGH * odds else found

    # Where a typical point still shares a share ε of itself with its nearest neighbour.
    t = first = min(math.log(1 / epsilon) / float(np.median(closest)), LARGEST_SCALE)
    before, past = 0.0, -odds
    reach = 1.0
    for _ in range(STEPS):
        found = gap(t)
        bracketed = found == 0 or (before > 0 and (found < 0) != (past < 0))
        if bracketed:
            break
        # A little further than the line through the last two points, to get a bracket.
        slope = (found - past) / (t - before)
        aim = t - 1.02 * found / slope if slope > 0 else math.inf * -found
        before, past = t, found
        if found < 0:
            t = min(aim, t * math.exp(reach), LARGEST_SCALE)
        else:
            t = max(aim, t * math.exp(-reach))
        if t == before:
            break
        reach *= 1.5
    if not bracketed:
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


def adaptive_area(f: Callable[[float], float], t_cut: float, size: float | None = None) -> float:
    """∫₀^{t_cut} f(t) dt to 1e-6 of itself (or of `size`), by nested Clenshaw–Curtis rules.

    With t = t_cut u³ the rules look closer at small scales, where clusters of different sizes
    show. A rule of 32 panels or more is taken if the one of half the panels agrees with it to
    1e-6, which is the error of that one: in 6,000 sets of points on a line of gaps over up to
    nine orders of magnitude, no error was above 3e-7.

    Raises
    ------
    ValueError
        If 1024 panels do not suffice.
    """
    return _integral(_warped(f, t_cut), 0.0, 1.0, size)[0]


def adaptive_distance(f: Callable[[float], float], t_cut: float, size: float) -> float:
    """∫₀^{t_cut} |f(t)| dt to about 1e-6 of `size`, cut where f changes its sign.

    Raises
    ------
    ValueError
        As for `adaptive_area`, or if f changes its sign more than 64 times.
    """
    g = _warped(f, t_cut)
    noise = NOISE * size  # of g, which is t_cut du/dt f
    total, pieces, left = 0.0, 0, [(0.0, 1.0)]
    while left:
        a, b = left.pop()
        area, nodes = _integral(g, a, b, size)
        nodes = [u for u in nodes if abs(g(u)) > noise]
        cuts = [
            float(brentq(g, u, v, xtol=1e-6))
            for u, v in itertools.pairwise(nodes)
            if (g(u) < 0) != (g(v) < 0)
        ]
        pieces += len(cuts)
        if pieces > MOST_PIECES:
            raise ValueError(
                f"the two magnitude functions cross more than {MOST_PIECES} times; use "
                f"quadrature='trapezoid'"
            )
        if cuts:
            edges = [a, *cuts, b]
            left += itertools.pairwise(edges)
        else:
            total += abs(area)
    return total


def _warped(f: Callable[[float], float], t_cut: float) -> Callable[[float], float]:
    """g with ∫₀¹ g(u) du = ∫₀^{t_cut} f(t) dt for t = t_cut u³, each asked once."""
    known: dict[float, float] = {}

    def g(u: float) -> float:
        if u not in known:
            known[u] = 3 * u**2 * t_cut * f(t_cut * max(u**3, LEAST_SCALE)) if u else 0.0
        return known[u]

    return g


def _integral(
    g: Callable[[float], float], a: float, b: float, size: float | None
) -> tuple[float, list[float]]:
    """∫ g from a to b, and where the last rule looked, ascending."""
    before = math.inf
    panels = SMALLEST_RULE // 2
    while panels <= LARGEST_RULE:
        # cos² of the half angle; the same floats at every level, so that g is not asked twice
        angles = np.arange(panels + 1) * (math.pi / panels)
        nodes = [a + (b - a) * float(round(math.cos(x / 2) ** 2, 15)) for x in angles]
        area = (b - a) * _clenshaw_curtis(np.array([g(u) for u in nodes]))
        if abs(area - before) <= AREA_TOLERANCE * (abs(area) if size is None else size):
            return area, nodes[::-1]
        before = area
        panels *= 2
    raise ValueError(
        f"the area did not settle to {AREA_TOLERANCE:g} with {LARGEST_RULE} scales (is the "
        f"magnitude singular at some scale?); use quadrature='trapezoid'"
    )


def _clenshaw_curtis(values: np.ndarray) -> float:
    """∫₀¹ of a function with values at (1 + cos(πj/N))/2, exact for polynomials of degree N."""
    panels = len(values) - 1
    c = dct(values, type=1)[::2] / panels
    c[[0, -1]] /= 2
    return float(np.sum(c / (1 - np.arange(0, panels + 1, 2) ** 2)))


def log_slope(scales: np.ndarray, values: np.ndarray) -> np.ndarray:
    """d log Mag / d log t at each scale > 0, by second-order differences."""
    return np.asarray(np.gradient(np.log(values), np.log(scales)))


def check_scale(name: str, t: Any) -> float:
    """A scale as a float."""
    # Adding 0.0 makes a zero of −0.0.
    return 0.0 + number(name, t, "a finite scale of at least 0", lambda t: 0 <= t < math.inf)


def check_scales(name: str, t: Any) -> list[float]:
    """One scale or several as floats; an error names the first that is none."""
    scales = [check_scale(name, item) for item in (t if is_several(t) else [t])]
    if not scales:
        raise ValueError(
            f"`{name}` must be a scale or several, got none: an empty list, or an iterator that "
            f"has been used up"
        )
    return scales


def check_cut(t_cut: Any) -> float | None:
    if t_cut is None:
        return None
    return number(
        "t_cut",
        t_cut,
        "a finite scale of more than 0",
        lambda t: 0 < t < math.inf,
        "leave it out for t_conv",
    )


def check_epsilon(epsilon: Any) -> float:
    read = number(
        "epsilon", epsilon, "a number between 0 and 1", lambda e: 0 < e < 1, "0.05 is usual"
    )
    if read < NEAR_END:
        raise ValueError(
            f"`epsilon` must be at least {NEAR_END:g}, got {read!r}: magnitudes are known to 1e-9, "
            f"which does not say how far from n they are; 0.05 is usual"
        )
    return read


def check_count(n_scales: Any, least: int = 2) -> int:
    return integer("n_scales", n_scales, least, MOST_SCALES, "30 is usual")


def check_quadrature(quadrature: Any) -> Quadrature:
    return one_of("quadrature", quadrature, QUADRATURES)
