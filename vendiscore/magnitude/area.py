"""Areas under and between magnitude functions: all scales in one number."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from ..support.arguments import is_collection
from ..support.types import Number, Samples
from .magnitude_options import check_magnitude_options
from .metric_space_builder import build_metric_space, build_metric_spaces
from .scales import evaluate_magnitude, find_convergence_scale
from .space import MetricSpace, StackedSpaces


def mag_area(
    samples: Samples,
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    average: bool = False,
    **options: object,
) -> float:
    """Integrate the magnitude function of samples: ∫₀^{t_cut} Mag(t) dt.

    Without `t_cut` it ends at the samples' own convergence scale, so that a collapsed set gets the
    *largest* area: compare sets by `mag_areas` or `mag_diff`, or pass one `t_cut` for all.
    "MagArea" of a kernel in `compute` ends where n samples with nothing in common converge.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule; the paper uses 10, 20 and 30. With 30 it is up
        to 1.2e-2 off the integral where clusters are far narrower than apart, with 1,000 3e-4.
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    t_cut : float > 0, optional, the scale to end at; by default the samples' own t_conv at ε
    average : bool
        Divide by the cut-off: the mean magnitude, between 1 and n, as `magnipy` does for sets.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    float, at least the cut-off and at most n times that, in units of 1 / distance

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.3 and B.3.

    Examples
    --------
    >>> round(mag_area([0.0, 1.0], n_scales=1000), 4)  # 2 ln((1 + e^t)/2), t = t_conv
    4.6052
    """
    own = check_magnitude_options(n_scales=n_scales, epsilon=epsilon, t_cut=t_cut, average=average)
    return _compute_areas([build_metric_space(samples, options)], **own)[0]


def mag_areas(
    sets: Iterable[Samples],
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | Literal["median"] = "median",
    average: bool = False,
    **options: object,
) -> list[float]:
    """Integrate the magnitude functions of several sets over one interval, to compare them.

    Parameters
    ----------
    sets : iterable of samples
        Options that follow from data (a bandwidth) follow from all, or by fit="samples" the first.
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule; the paper uses 10, 20 and 30. With 30 it is up
        to 1.2e-2 off the integral where clusters are far narrower than apart, with 1,000 3e-4.
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    t_cut : float, such as `convergence_scale(reference)`, or "median" of the sets' own scales
    average : bool
        Divide by the cut-off: the mean magnitude, between 1 and n, as `magnipy` does for sets.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    list of float, one for each set, in their order

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.3 and §3.4.

    Examples
    --------
    >>> [round(area, 3) for area in mag_areas([[0.0, 1.0], [0.0, 1.0, 1.0]])]
    [4.605, 4.605]
    """
    cut = None if isinstance(t_cut, str) and t_cut == "median" else t_cut
    own = check_magnitude_options(n_scales=n_scales, epsilon=epsilon, t_cut=cut, average=average)
    if isinstance(sets, Mapping) or not is_collection(sets):
        raise TypeError(
            f"`sets` must be several sets of samples, got {type(sets).__name__}; pass [samples, …]"
        )
    sets = list(sets)
    if not sets:
        raise ValueError("`sets` is empty: expected one or more sets of samples")
    names = [f"sets[{i}]" for i in range(len(sets))]
    return _compute_areas(build_metric_spaces(sets, names, **options), **own)


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
    **options: object,
) -> float:
    """Measure how much more diverse samples are than references: ∫ (Mag_samples − Mag_refs) dt.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    references : list, array or MetricSpace that samples are compared with; not changed
    n_scales : int ≥ 2
        Evenly spaced scales of the trapezoid rule; the paper uses 10, 20 and 30. With 30 it is up
        to 1.2e-2 off the integral where clusters are far narrower than apart, with 1,000 3e-4.
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    t_cut : float > 0, optional
        Where to end. Default: the references' t_conv at ε, above 0 unless both sets are one point.
    average : bool, to divide by the cut-off: the mean difference
    relative : bool, to divide by the references' area: −1 means a diversity of 0, 0 the same area
    absolute : bool
        Integrate the absolute difference, as the reference implementation does, by the trapezoid.
    **options
        As for `magnitude`. Options that follow from data (a bandwidth) follow from the references;
        by fit="pool" from both sets, by fit="samples" from the samples.

    Returns
    -------
    float, negative where the samples are the less diverse (the paper's sign), unless `absolute`

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.4.

    Examples
    --------
    >>> mag_diff([0.0, 0.0], [0.0, 1.0], absolute=True) > 1
    True
    """
    own = check_magnitude_options(
        epsilon=epsilon,
        t_cut=t_cut,
        n_scales=n_scales,
        average=average,
        relative=relative,
        absolute=absolute,
    )
    spaces = build_metric_spaces([samples, references], ["samples", "references"], **options)
    return float(compute_area_difference(*spaces, **own))


def _compute_areas(
    spaces: Sequence[MetricSpace],
    t_cut: float | None,
    epsilon: float,
    n_scales: int,
    average: bool,
) -> list[float]:
    """Return the areas of spaces up to a cut-off, by default their median convergence scale."""
    cut = t_cut or float(np.median([find_convergence_scale(space, epsilon) for space in spaces]))
    return [float(compute_area(space, cut, n_scales, average)) for space in spaces]


@np.errstate(over="ignore", under="ignore")
def compute_area(
    space: MetricSpace | StackedSpaces, t_cut: Number, n_scales: int, average: bool
) -> Number:
    """Return `mag_area` of a space up to a cut-off, arguments trusted; of several spaces (g,)."""
    if isinstance(space, StackedSpaces):
        t_cut = np.where(t_cut, t_cut, np.nan)  # an empty interval is looked at one by one
    elif t_cut == 0:
        _check_one_point(space, "the sets")
        return 1.0 if average else 0.0  # the mean over an empty interval is Mag(0)
    scales, values = evaluate_magnitude(space, np.linspace(0.0, t_cut, n_scales, axis=-1))
    area = np.trapezoid(values, scales)
    return _check_area(area / t_cut if average else area)


@np.errstate(over="ignore", under="ignore")
def compute_area_difference(
    space: MetricSpace | StackedSpaces,
    reference: MetricSpace,
    *,
    t_cut: float | None,
    epsilon: float,
    n_scales: int,
    average: bool,
    relative: bool,
    absolute: bool,
) -> Number:
    """Return `mag_diff` of two spaces, arguments trusted; of several and references (g,)."""
    cut = t_cut or find_convergence_scale(reference, epsilon)
    if cut == 0:
        if isinstance(space, StackedSpaces):
            return np.full(len(space.D), np.nan)
        _check_one_point(space, "`references`")
        return 0.0
    base = compute_area(reference, cut, n_scales, False)
    if absolute:
        scales = np.linspace(0.0, cut, n_scales)
        gap = np.abs(
            evaluate_magnitude(space, scales).values - evaluate_magnitude(reference, scales).values
        )
        difference = _check_area(np.trapezoid(gap, scales))
    else:
        difference = compute_area(space, cut, n_scales, False) - base
    if relative:
        return difference / base
    return difference / cut if average else difference


def _check_one_point(space: MetricSpace, label: str) -> None:
    """Raise where several points are measured up to a scale of 0, at which all sets are alike."""
    if space.distinct > 1:
        raise ValueError(
            f"there is no interval to measure {space.distinct} distinct points over: the "
            f"convergence scale of {label} is 0, since they are one point or `epsilon` is large; "
            f"pass `t_cut`, the scale to end at"
        )


def _check_area(area: Number) -> Number:
    """Return a finite area of at least 0; of several, NaN is looked at one by one."""
    if np.ndim(area) == 0 and not 0 <= area < math.inf:
        raise ArithmeticError(
            f"the area came out as {area:g}, but must be finite and at least 0; use another `t_cut`"
        )
    return area
