"""Areas under and between magnitude functions, which summarize all scales.

A magnitude function maps a scale, which multiplies all distances, to the magnitude of a set.
"""

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
    """Compute the area under the magnitude function of a set of samples.

    Do not compare sets by their areas up to their own convergence scales (the default): a set of
    nearly identical samples has the *largest* area, because its convergence scale is the largest.
    Use `mag_areas` or `mag_diff`, or pass the same `t_cut` for all sets.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    n_scales : int, default 30
        Number of evenly spaced scales of the trapezoidal rule, at least 2; Limbeck et al. use 10 to
        30. If clusters are much narrower than the distances between them, the error of the integral
        is up to 1.2e-2 with 30 scales, and up to 3e-4 with 1000.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    t_cut : float, optional
        Upper limit of the scales; by default the convergence scale of the samples.
    average : bool, default False
        Divide by the upper limit. The result is the mean magnitude, between 1 and n, as
        the package magnipy of Limbeck et al. computes for several sets.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    float
        The area, between t_cut and n t_cut, in units of 1 / distance. With `average`, the mean
        magnitude, between 1 and n.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or rounding errors are too large.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, scales or options are invalid.

    See Also
    --------
    mag_areas : Areas of several sets over the same scales.
    mag_diff : Difference between two sets.
    magnitude_function : The function that is integrated.

    Notes
    -----
    The measure "MagArea" of `compute` with a kernel integrates up to the convergence scale of n
    samples that have nothing in common. Time and memory are those of `magnitude` at each
    scale.

    References
    ----------
    1. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, definition 3.3 and appendix B.3.

    Examples
    --------
    >>> round(mag_area([0.0, 1.0], n_scales=1000), 4)  # 2 ln((1 + e^t)/2), t = t_conv
    4.6052
    """
    checked = check_magnitude_options(
        n_scales=n_scales, epsilon=epsilon, t_cut=t_cut, average=average
    )
    return _compute_areas([build_metric_space(samples, options, mag_area)], **checked)[0]


def mag_areas(
    sets: Iterable[Samples],
    *,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | Literal["median"] = "median",
    average: bool = False,
    **options: object,
) -> list[float]:
    """Compute the areas under the magnitude functions of several sets over the same scales.

    Parameters
    ----------
    sets : iterable of samples
        The sets, each of them like `samples` of `mag_area`. Options that are fitted to data, such
        as a bandwidth, are fitted to all sets together, or with ``fit="samples"`` to the first set.
    n_scales : int, default 30
        Number of evenly spaced scales of the trapezoidal rule, at least 2; Limbeck et al. use 10 to
        30. If clusters are much narrower than the distances between them, the error of the integral
        is up to 1.2e-2 with 30 scales, and up to 3e-4 with 1000.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    t_cut : float or "median", default "median"
        Upper limit of the scales: a number, such as ``convergence_scale(reference)``, or the median
        of the convergence scales of the sets.
    average : bool, default False
        Divide by the upper limit. The result is the mean magnitude, between 1 and n, as
        the package magnipy of Limbeck et al. computes for several sets.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    list of float
        One area per set, in their order.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or rounding errors are too large.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, scales or options are invalid.

    See Also
    --------
    mag_area : Area of one set.
    mag_diff : Difference between two sets.
    convergence_scale : Scale at which magnitude is close to the number of samples.

    Notes
    -----
    Time and memory are those of `magnitude` at each scale.

    References
    ----------
    1. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, definition 3.3 and section 3.4.

    Examples
    --------
    >>> [round(area, 3) for area in mag_areas([[0.0, 1.0], [0.0, 1.0, 1.0]])]
    [4.605, 4.605]
    """
    # The median of the convergence scales is the default of `_compute_areas`.
    max_scale = None if isinstance(t_cut, str) and t_cut == "median" else t_cut
    checked = check_magnitude_options(
        n_scales=n_scales, epsilon=epsilon, t_cut=max_scale, average=average
    )
    if isinstance(sets, Mapping) or not is_collection(sets):
        raise TypeError(
            f"`sets` must be a list of sets of samples, got {type(sets).__name__}; pass "
            f"[samples, …]"
        )
    sets = list(sets)
    if not sets:
        raise ValueError(
            "`sets` must contain at least one set of samples, got none; pass [samples]"
        )
    names = [f"sets[{i}]" for i in range(len(sets))]
    return _compute_areas(build_metric_spaces(sets, names, mag_areas, **options), **checked)


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
    """Compute the difference between the areas under two magnitude functions.

    It is positive if the samples are more diverse than the references.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    references : list, array-like, Similarity or MetricSpace
        The set to compare with. Not modified.
    n_scales : int, default 30
        Number of evenly spaced scales of the trapezoidal rule, at least 2; Limbeck et al. use 10 to
        30. If clusters are much narrower than the distances between them, the error of the integral
        is up to 1.2e-2 with 30 scales, and up to 3e-4 with 1000.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    t_cut : float, optional
        Upper limit of the scales; by default the convergence scale of the references. It must be
        above 0 unless both sets consist of one point.
    average : bool, default False
        Divide by the upper limit. The result is the mean difference.
    relative : bool, default False
        Divide by the area of the references: 0 means the same area, negative values mean that
        the samples are less diverse. Values are above -1. `average` then has no effect.
    absolute : bool, default False
        Integrate the absolute difference, as the implementation of Limbeck et al. does.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`. Options that
        are fitted to data, such as a bandwidth, are fitted to the references, with ``fit="pool"``
        to both sets, with ``fit="samples"`` to the samples.

    Returns
    -------
    float
        The difference; positive if the samples are more diverse, non-negative if `absolute`.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or rounding errors are too large.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, scales or options are invalid.

    See Also
    --------
    mag_areas : Areas of several sets.
    compare : Test whether one set is more diverse than another.

    Notes
    -----
    Time and memory are those of `magnitude` at each scale.

    References
    ----------
    1. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, definition 3.4.

    Examples
    --------
    >>> mag_diff([0.0, 0.0], [0.0, 1.0], absolute=True) > 1
    True
    """
    checked = check_magnitude_options(
        epsilon=epsilon,
        t_cut=t_cut,
        n_scales=n_scales,
        average=average,
        relative=relative,
        absolute=absolute,
    )
    spaces = build_metric_spaces(
        [samples, references], ["samples", "references"], mag_diff, **options
    )
    return float(compute_area_difference(*spaces, **checked))


def _compute_areas(
    spaces: Sequence[MetricSpace],
    t_cut: float | None,
    epsilon: float,
    n_scales: int,
    average: bool,
) -> list[float]:
    """Compute the areas under the magnitude functions of several spaces, from scale 0 to `t_cut`.

    If `t_cut` is None, it is the median of the convergence scales of the spaces, at which the
    magnitude of n distinct points is (1 − ε) n, where ε = `epsilon`. The areas are computed by the
    trapezoidal rule with `n_scales` scales. If `average`, they are divided by `t_cut`.
    """
    if t_cut is None:
        t_cut = float(np.median([find_convergence_scale(space, epsilon) for space in spaces]))
    return [float(compute_area(space, t_cut, n_scales, average)) for space in spaces]


@np.errstate(over="ignore", under="ignore")
def compute_area(
    space: MetricSpace | StackedSpaces, t_cut: Number, n_scales: int, average: bool
) -> Number:
    """Compute the area under the magnitude function of a space, from scale 0 to `t_cut`.

    For g stacked spaces, the result has shape (g,), and `t_cut` may also have this shape. The area
    of a stacked space is NaN if it must be computed by a MetricSpace, for example because points
    are identical. The trapezoidal rule with `n_scales` scales is used. If `average`, the area is
    divided by `t_cut`. Arguments are not validated.
    """
    if isinstance(space, StackedSpaces):
        t_cut = np.where(t_cut, t_cut, np.nan)  # a limit of 0 needs a MetricSpace
    elif t_cut == 0:
        _check_has_one_point(space, "the sets")
        return 1.0 if average else 0.0  # the mean over an empty interval is Mag(0)
    # Scales have shape (n_scales,), or (g, n_scales) if `t_cut` differs between stacked spaces.
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
    """Compute the area under the magnitude function of a space minus that of a reference space.

    For g stacked spaces, the result has shape (g,). It is NaN for a stacked space that must be
    scored as a MetricSpace, for example because points are identical. The areas are those from
    scale 0 to `t_cut`. If `t_cut` is None, it is the convergence scale of the reference, at which
    its magnitude is (1 − ε) n for n distinct points, where ε = `epsilon`. `n_scales`, `average`,
    `relative` and `absolute` are the parameters of `mag_diff`. Arguments are not validated.
    """
    max_scale = find_convergence_scale(reference, epsilon) if t_cut is None else t_cut
    if max_scale == 0:
        if isinstance(space, StackedSpaces):
            return np.full(len(space.D), np.nan)
        _check_has_one_point(space, "`references`")
        return 0.0  # both sets consist of a single point
    reference_area = compute_area(reference, max_scale, n_scales, average=False)
    if absolute:
        scales = np.linspace(0.0, max_scale, n_scales)
        differences = np.abs(
            evaluate_magnitude(space, scales).values - evaluate_magnitude(reference, scales).values
        )
        area = _check_area(np.trapezoid(differences, scales))
    else:
        area = compute_area(space, max_scale, n_scales, average=False) - reference_area
    if relative:  # the same with and without `average`
        return area / reference_area
    return area / max_scale if average else area


def _check_has_one_point(space: MetricSpace, label: str) -> None:
    """Raise a ValueError if a space has several distinct points.

    It is called if the upper limit of the scales is 0, for which only the area of a single point is
    defined. `label` names the sets whose convergence scales determine the limit, for the message.
    """
    if space.distinct > 1:
        raise ValueError(
            f"the area of {space.distinct} distinct points requires an upper limit above 0, but "
            f"the convergence scale of {label} is 0, because {label} consist of a single point or "
            f"`epsilon` is too large; pass `t_cut`, the upper limit of the scales"
        )


def _check_area(area: Number) -> Number:
    """Return the area under a magnitude function, or between two of them.

    Raises an ArithmeticError unless it is finite and at least 0. An array of areas is returned
    without checks.
    """
    if np.ndim(area) == 0 and not 0 <= area < math.inf:
        raise ArithmeticError(
            f"the area of the magnitude function must be finite and at least 0, got {area:g}; pass "
            f"a smaller `t_cut`"
        )
    return area
