"""The magnitude of a metric space: how many effectively different points, at every scale."""

from collections.abc import Iterable

import numpy as np

from ..support.types import Samples
from .magnitude_options import check_magnitude_options, check_n_scales, check_scales
from .metric_space_builder import build_metric_space
from .scales import MagnitudeFunction, evaluate_magnitude, find_convergence_scale


def magnitude(samples: Samples, t: float = 1.0, **options: object) -> float:
    """Return the magnitude at one scale: Mag(t) = 1ᵀ Z⁻¹ 1 with Z = exp(−tD); Mag(0) = 1.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    t : float ≥ 0, a scale in units of 1 / distance
    **options
        How far samples are apart, as `as_space` takes it: `metric`, for vectors "euclidean" (the
        default), "manhattan", "cosine", a metric of `scipy.spatial.distance.cdist` or a function
        of two rows, with its options; "precomputed" for distances (n, n); for a kernel "kernel"
        (the default), √(2 − 2k), or "1-k". `k`, `score_K`, `score_X`, `normalize` and options of
        the kernel, as for `compute`. `solver`: "auto", "cg" or "cholesky".

    Returns
    -------
    float
        At least 1, to 1e-9 relative (1e-6 where Z is nearly singular). For distances of negative
        type (Euclidean, Manhattan, kernel) it grows with t, up to the number of distinct samples.

    Raises
    ------
    ArithmeticError
        If a number is beyond double precision, or only rounding is left of it.
    IndefiniteError
        If Z is singular or indefinite at a scale, so that magnitude is undefined; metrics that are
        not of negative type may make it so at small scales.
    TypeError, ValueError
        For samples, scales or options that do not fit; the message names the argument and the
        remedy.
    TooLargeError
        If the distances and one work array do not fit in memory, before they are allocated.

    Notes
    -----
    Time O(n² d) for the distances, then for each scale O(n²) a step of conjugate gradients, or
    O(n³) where a factorisation is faster; memory 12 n² bytes for each set.

    References
    ----------
    Leinster, Documenta Mathematica 2013, Definitions 1.1.2 and 2.1.

    Examples
    --------
    >>> round(magnitude([0.0, 1.0], t=1.0), 6)  # 2 / (1 + e^{−1})
    1.462117
    """
    own = check_magnitude_options(t=t)
    return build_metric_space(samples, options).magnitude(**own)


def magnitude_weights(samples: Samples, t: float = 1.0, **options: object) -> np.ndarray:
    """Return the weights w with Z w = 1 for Z = exp(−tD): how much of the magnitude each sample is.

    Identical samples share the weight of their point equally, so that the sum is Mag(t). A weight
    is near 1 for a point far from all others at scale t and may be negative inside a dense set.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    t : float > 0, in units of 1 / distance
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    array (n,)
        In the order of the samples, as right as a solve in double precision: a MetricSpace's
        `solve(t).weights_error` is a bound.

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Leinster, Documenta Mathematica 2013, §1.1 (weightings).

    Examples
    --------
    >>> magnitude_weights([0.0, 100.0, 0.0], t=1.0)
    array([0.5, 1. , 0.5])
    """
    own = check_magnitude_options(t=t)
    if own["t"] == 0:
        raise ValueError("`t` must be more than 0 for weights, got 0: Z is then singular")
    return build_metric_space(samples, options).weights(**own)


def spread(samples: Samples, t: float = 1.0, **options: object) -> float:
    """Return Willerton's spread at scale t: Σ_i 1 / Σ_j exp(−t d_ij) over distinct samples.

    It behaves like magnitude, lies between 1 and n for any metric, and needs no solve: the
    diversity of order 0 of Leinster and Cobbold at uniform weights.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    t : float ≥ 0, a scale in units of 1 / distance
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    float, between 1 and the number of distinct samples; grows with t

    Raises
    ------
    TypeError, ValueError, TooLargeError
        For samples or options that do not fit, and sets that are too large for memory.

    Notes
    -----
    Time O(n² d) for the distances, then O(n²); memory 12 n² bytes.

    References
    ----------
    Willerton, International Journal of Computational Geometry & Applications 2015.

    Examples
    --------
    >>> round(spread([0.0, 1.0], t=1.0), 6)
    1.462117
    """
    own = check_magnitude_options(t=t)
    return build_metric_space(samples, options).spread(**own)


def convergence_scale(samples: Samples, *, epsilon: float = 0.05, **options: object) -> float:
    """Find the scale t_conv at which Mag(t) = (1 − ε) n, for n distinct samples.

    It is the larger the closer samples are to each other. Samples without such a scale, and an ε
    so large that (1 − ε) n is 1 but for rounding, are refused. It takes up to ten magnitudes.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    float
        In units of 1 / distance; 0 where Mag(0) = 1 is enough, as for a single point. To 1e-9
        relative, or 1e-10/ε; less well where the magnitude hardly changes with the scale.

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Limbeck et al., arXiv 2311.16054, Definition 3.5 and B.2 (TOMS 748).

    Examples
    --------
    >>> round(convergence_scale([0.0, 1.0]), 6)  # 2 / (1 + e^{−t}) = 1.9
    2.944439
    """
    own = check_magnitude_options(epsilon=epsilon)
    return find_convergence_scale(build_metric_space(samples, options), **own)


def magnitude_function(
    samples: Samples,
    *,
    scales: Iterable[float] | None = None,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    **options: object,
) -> MagnitudeFunction:
    """Return Mag(t) at `scales`, by default at evenly spaced ones from 0 to the convergence scale.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    scales : floats ≥ 0, in any order, optional; they come back ascending
    n_scales : int ≥ 2, of evenly spaced scales, both ends included, without `scales`
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    t_cut : float > 0, optional, the scale to end at; by default the samples' own t_conv at ε
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    MagnitudeFunction, with `scales`, ascending, and `values`, both of shape (m,)

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Leinster, Documenta Mathematica 2013, §2.2; Limbeck et al., arXiv 2311.16054, §3.

    Examples
    --------
    >>> magnitude_function([0.0, 1.0], scales=[0, 1]).values.round(6)
    array([1.      , 1.462117])
    """
    chosen = None if scales is None else np.unique(check_scales("scales", scales))
    own = check_magnitude_options(n_scales=n_scales, epsilon=epsilon, t_cut=t_cut)
    space = build_metric_space(samples, options)
    if chosen is None:
        last = own["t_cut"] or find_convergence_scale(space, own["epsilon"])
        chosen = np.linspace(0.0, last, own["n_scales"])
    return evaluate_magnitude(space, chosen)


def magnitude_dimension(
    samples: Samples,
    *,
    scales: Iterable[float] | None = None,
    n_scales: int = 30,
    epsilon: float = 0.05,
    **options: object,
) -> MagnitudeFunction:
    """Return the magnitude dimension at each scale, d log Mag / d log t.

    Parameters
    ----------
    samples : list, array or MetricSpace, of n samples; not changed
    scales : floats > 0, optional
        Without it, `n_scales` geometrically spaced ones from t_conv / 100 to t_conv. Slopes are
        second-order differences; an ArithmeticError names scales so near that they are rounding.
    n_scales : int ≥ 3, without `scales`
    epsilon : float, at least 1e-6 and below 1
        How far from converged the magnitude is at a convergence scale, as a share of n.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    MagnitudeFunction
        `scales`, ascending, and slopes as `values`, the largest one estimate of the intrinsic
        dimension. Empty where all samples are the same.

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Andreeva, Limbeck, Rieck & Sarkar, TAG-ML 2023, Definition 3.

    Examples
    --------
    >>> line = [[i / 200] for i in range(201)]  # Mag(t) = 1 + t/2 for an interval
    >>> bool(magnitude_dimension(line, scales=[30, 31, 32]).values[1] > 0.9)
    True
    """
    n_scales = check_n_scales(n_scales, min_value=3)
    own = check_magnitude_options(epsilon=epsilon)
    space = build_metric_space(samples, options)
    if scales is None:
        t_conv = find_convergence_scale(space, **own)
        if t_conv == 0:
            return MagnitudeFunction(np.zeros(0), np.zeros(0))
        chosen = np.geomspace(t_conv / 100, t_conv, n_scales)
    else:
        chosen = np.unique(check_scales("scales", scales))
        if len(chosen) < 3 or chosen[0] == 0:
            raise ValueError(f"`scales` must be at least 3 different ones > 0, got {chosen}")
    slopes = np.gradient(np.log(evaluate_magnitude(space, chosen).values), np.log(chosen))
    if not np.isfinite(slopes).all():
        raise ArithmeticError(
            "the slopes of log Mag are not finite: these scales are too near to each other"
        )
    return MagnitudeFunction(chosen, slopes)
