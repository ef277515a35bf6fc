"""Areas under and between magnitude functions: all scales in one number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from ..arguments import flag
from ..arrays.namespace import Samples
from .scales import (
    Quadrature,
    adaptive_area,
    adaptive_distance,
    check_count,
    check_cut,
    check_epsilon,
    check_quadrature,
    convergence,
    evaluate,
    even_scales,
)
from .space import MetricSpace
from .spaces_of_samples import as_space, read_spaces


def mag_area(
    samples: Samples,
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    average: bool = False,
    quadrature: Quadrature = "trapezoid",
    **how: Any,
) -> float:
    """The area under the magnitude function, ∫₀^{t_cut} Mag(t) dt.

    Without `t_cut` it ends at the samples' own convergence scale, which is the larger the closer
    they are: a collapsed set gets the *largest* area. Two sets may only be compared over one
    interval: use `mag_areas` or `mag_diff`, or pass one `t_cut` for all. "MagArea" of `compute` is
    the same of vectors; of a kernel it ends where n samples with nothing in common converge.

    Parameters
    ----------
    samples : list, array or MetricSpace
        n samples; not changed.
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule; the paper uses 10, 20 and 30.
    epsilon : float, at least 1e-6 and below 1
        The cut-off is the samples' own convergence scale at ε …
    t_cut : float > 0, optional
        … unless given.
    average : bool
        Divide by the cut-off, as the reference implementation `magnipy` does for several sets:
        the mean magnitude, between 1 and n.
    quadrature : {"trapezoid", "adaptive"}
        "adaptive" gives the integral itself to 1e-6 relative, with 32 or 64 solves; the
        trapezoid rule with 30 scales is up to 1e-2 off it, below as a rule.
    **how
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    float
        At least the cut-off, at most n times that; in units of 1 / distance.

    Raises
    ------
    ArithmeticError
        If an area is beyond double precision, as it is up to a `t_cut` of 1e308.
    IndefiniteError
        If there is no magnitude at one of the scales.
    TypeError, ValueError, TooLargeError
        For arguments that are refused, and sets that are too large for memory.

    Notes
    -----
    One solve a scale, each O(n²) a step of conjugate gradients or O(n³); memory 12 n² bytes.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.3 and B.3.

    Examples
    --------
    >>> round(mag_area([0.0, 1.0], quadrature="adaptive"), 4)  # 2 ln((1 + e^t)/2), t = t_conv
    4.6052
    """
    n_scales, epsilon, t_cut = check_count(n_scales), check_epsilon(epsilon), check_cut(t_cut)
    average, quadrature = flag("average", average), check_quadrature(quadrature)
    space = as_space(samples, **how)
    cut = convergence(space, epsilon) if t_cut is None else t_cut
    return area_of(space, cut, n_scales, average, quadrature)


def mag_areas(
    sets: Iterable[Any],
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | Literal["median"] = "median",
    average: bool = False,
    quadrature: Quadrature = "trapezoid",
    **how: Any,
) -> list[float]:
    """The areas of several sets over one interval, so that they can be compared.

    Parameters
    ----------
    sets : iterable of samples
        Options that follow from the data (a bandwidth, a variance) follow from all together, or
        with fit="samples" from the first set.
    t_cut : float or "median"
        The common cut-off: by default the median of the sets' convergence scales (arXiv
        2311.16054, §3.4). For a reference set's pass `convergence_scale(reference)`.
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule.
    epsilon : float, at least 1e-6 and below 1
        Of the convergence scales.
    average : bool
        Divide by the cut-off: mean magnitudes.
    quadrature : {"trapezoid", "adaptive"}
        "adaptive" gives the integrals to 1e-6 relative.
    **how
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    list of float
        One for each set, in their order.

    Raises
    ------
    ArithmeticError
        If an area is beyond double precision, as it is up to a `t_cut` of 1e308.
    IndefiniteError
        If there is no magnitude at one of the scales.
    TypeError, ValueError, TooLargeError
        For arguments that are refused, no sets, and sets that are too large for memory.

    Notes
    -----
    All distances are in memory at once, 12 n² bytes for each set.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.3 and §3.4.

    Examples
    --------
    >>> [round(area, 3) for area in mag_areas([[0.0, 1.0], [0.0, 1.0, 1.0]])]
    [4.605, 4.605]
    """
    n_scales, epsilon = check_count(n_scales), check_epsilon(epsilon)
    average, quadrature = flag("average", average), check_quadrature(quadrature)
    cut = None if isinstance(t_cut, str) and t_cut == "median" else check_cut(t_cut)
    if isinstance(sets, (str, bytes, Mapping, MetricSpace)) or not isinstance(sets, Iterable):
        raise TypeError(
            f"`sets` must be several sets of samples, got {type(sets).__name__}; pass [samples, …]"
        )
    sets = list(sets)
    if not sets:
        raise ValueError("`sets` is empty: expected one or more sets of samples")
    spaces = read_spaces(sets, [f"sets[{i}]" for i in range(len(sets))], **how)
    if cut is None:
        cut = float(np.median([convergence(space, epsilon) for space in spaces]))
    return [area_of(space, cut, n_scales, average, quadrature) for space in spaces]


def mag_diff(
    samples: Samples,
    references: Samples,
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    average: bool = False,
    relative: bool = False,
    absolute: bool = False,
    quadrature: Quadrature = "trapezoid",
    **how: Any,
) -> float:
    """How much more diverse samples are than references: ∫₀^{t_cut} (Mag_samples − Mag_refs) dt.

    Parameters
    ----------
    samples, references : list, array or MetricSpace
        Two sets. Not changed.
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule.
    epsilon : float, at least 1e-6 and below 1
        The cut-off is the references' convergence scale at ε …
    t_cut : float > 0, optional
        … unless given.
    average : bool
        Divide by the cut-off: the mean difference.
    relative : bool
        Divide by the area under the references' function: −1 is no diversity at all, 0 the same.
    absolute : bool
        Integrate the absolute value of the difference, as the reference implementation does by
        default.
    quadrature : {"trapezoid", "adaptive"}
        "adaptive" gives the integral to 1e-6 relative; with `absolute`, to 1e-6 of the two areas.
    **how
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`. Options
        that follow from the data (a bandwidth, a variance) follow from the references; with
        fit="pool" from both sets, with fit="samples" from the samples.

    Returns
    -------
    float
        Negative where the samples are the less diverse (the paper's sign), unless `absolute`.

    Raises
    ------
    ArithmeticError
        If an area is beyond double precision, as it is up to a `t_cut` of 1e308.
    IndefiniteError
        If there is no magnitude at one of the scales.
    TypeError, ValueError, TooLargeError
        For arguments that are refused, references that are one point (whose scale is 0) unless
        the samples are, too, and sets that are too large for memory.

    Notes
    -----
    Two solves a scale, each O(n²) a step of conjugate gradients or O(n³).

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.4.

    Examples
    --------
    >>> mag_diff([0.0, 0.0], [0.0, 1.0], absolute=True) > 1
    True
    """
    n_scales, epsilon, t_cut = check_count(n_scales), check_epsilon(epsilon), check_cut(t_cut)
    average, quadrature = flag("average", average), check_quadrature(quadrature)
    relative, absolute = flag("relative", relative), flag("absolute", absolute)
    space, reference = read_spaces([samples, references], ["samples", "references"], **how)
    cut = convergence(reference, epsilon) if t_cut is None else t_cut
    return difference_of(space, reference, cut, n_scales, average, relative, absolute, quadrature)


@np.errstate(over="ignore", under="ignore")
def area_of(
    space: MetricSpace, t_cut: float, n_scales: int, average: bool, quadrature: Quadrature
) -> float:
    """`mag_area` of a space up to a cut-off, arguments trusted."""
    if t_cut == 0:
        _check_one_point(space, "the sets")
        return 1.0 if average else 0.0  # the mean over an empty interval is Mag(0)
    if quadrature == "adaptive":
        area = adaptive_area(space.magnitude, t_cut)
    else:
        scales, values = evaluate(space, even_scales(t_cut, n_scales))
        area = float(np.trapezoid(values, scales))
    return _check(area / t_cut if average else area)


@np.errstate(over="ignore", under="ignore")
def difference_of(
    space: MetricSpace,
    reference: MetricSpace,
    t_cut: float,
    n_scales: int,
    average: bool,
    relative: bool,
    absolute: bool,
    quadrature: Quadrature,
) -> float:
    if t_cut == 0:
        _check_one_point(space, "`references`")
        return 0.0
    base = area_of(reference, t_cut, n_scales, False, quadrature)
    if absolute and quadrature == "adaptive":
        size = base + area_of(space, t_cut, n_scales, False, quadrature)
        difference = adaptive_distance(
            lambda t: space.magnitude(t) - reference.magnitude(t), t_cut, size
        )
    elif absolute:
        scales = even_scales(t_cut, n_scales)
        gap = np.abs(evaluate(space, scales).values - evaluate(reference, scales).values)
        difference = _check(float(np.trapezoid(gap, scales)))
    else:
        difference = area_of(space, t_cut, n_scales, False, quadrature) - base
    if relative:
        return difference / base
    return difference / t_cut if average else difference


def _check_one_point(space: MetricSpace, of: str) -> None:
    """Raise where several points are measured up to a scale of 0, at which all sets are alike."""
    if space.distinct > 1:
        raise ValueError(
            f"there is no interval to measure {space.distinct} distinct points over: the "
            f"convergence scale of {of} is 0, since they are one point or `epsilon` is large; pass "
            f"`t_cut`, the scale to end at"
        )


def _check(area: float) -> float:
    if not 0 <= area < math.inf:
        raise ArithmeticError(
            f"the area came out as {area!r}, but is finite and at least 0; use another `t_cut`"
        )
    return area
