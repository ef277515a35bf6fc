"""Magnitude, weights, spread and magnitude functions of samples."""

from collections.abc import Iterable

import numpy as np

from ..support.types import Samples
from .magnitude_options import check_magnitude_options, check_n_scales, check_scales
from .metric_space_builder import build_metric_space
from .scales import MagnitudeFunction, evaluate_magnitude, find_convergence_scale


def magnitude(samples: Samples, t: float = 1.0, **options: object) -> float:
    """Compute the magnitude of a set of samples at one scale.

    Magnitude is an effective number of points. It is near 1 if all distances are small at scale t,
    and near the number of distinct samples if all distances are large.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    t : float, default 1.0
        Scale in units of 1 / distance, at least 0.
    **options
        `metric`: for vectors "euclidean" (default), "manhattan", "cosine", another metric of
        `scipy.spatial.distance.cdist`, or a function of two rows; "precomputed" for distances of
        shape (n, n); for kernels "kernel" (default) for sqrt(2 - 2 k), or "1-k". `k`: the kernel.
        `score_K=True` if `samples` are a similarity matrix, `score_X=True` if they are features.
        Also `normalize`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    float
        The magnitude, at least 1. The relative error is at most 1e-9, or 1e-6 if the matrix
        exp(-t D) of the distances D is nearly singular.

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
    magnitude_function : Magnitude at several scales.
    magnitude_weights : Contribution of each sample.
    spread : A similar quantity for any metric.

    Notes
    -----
    Mag(t) = sum_ij (Z^-1)_ij with Z = exp(-t D) for the distances D, and Mag(0) = 1. Metrics of
    negative type are those for which Z is positive definite at all scales t > 0, such as Euclidean,
    Manhattan and kernel distances. For them, magnitude increases with t.

    Time is O(n^2 d) for the distances between vectors of d numbers. Each scale takes O(n^2) per
    step of conjugate gradients, or O(n^3) if a Cholesky factorization is faster. Memory is 12 n^2
    bytes per set.

    References
    ----------
    1. T. Leinster, "The Magnitude of Metric Spaces", Documenta Mathematica, 2013,
       definitions 1.1.2 and 2.1.

    Examples
    --------
    >>> round(magnitude([0.0, 1.0], t=1.0), 6)  # 2 / (1 + e^{−1})
    1.462117
    """
    checked = check_magnitude_options(t=t)
    return build_metric_space(samples, options, magnitude).magnitude(**checked)


def magnitude_weights(samples: Samples, t: float = 1.0, **options: object) -> np.ndarray:
    """Compute the magnitude weights: the contribution of each sample to the magnitude.

    A weight is near 1 for a sample far from all others at scale t, and may be negative inside a
    dense region. Identical samples share the weight of their point equally.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    t : float, default 1.0
        Scale in units of 1 / distance, above 0.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    array of shape (n,)
        Weights in the order of the samples; their sum is the magnitude.

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
    magnitude : The sum of the weights.
    explain : Contribution of each sample to the Vendi Score.

    Notes
    -----
    The weights w solve Z w = 1 with Z = exp(-t D) for the distances D, in double precision. For a
    bound of their errors, create a space with `as_space`; the bound is
    ``space.solve(t).weights_error``. Time and memory are those of `magnitude`.

    References
    ----------
    1. T. Leinster, "The Magnitude of Metric Spaces", Documenta Mathematica, 2013,
       section 1.1 (weightings).

    Examples
    --------
    >>> magnitude_weights([0.0, 100.0, 0.0], t=1.0)
    array([0.5, 1. , 0.5])
    """
    checked = check_magnitude_options(t=t)
    if checked["t"] == 0:
        raise ValueError("`t` must be above 0 for magnitude weights, got 0; pass a positive scale")
    return build_metric_space(samples, options, magnitude_weights).weights(**checked)


def spread(samples: Samples, t: float = 1.0, **options: object) -> float:
    """Compute Willerton's spread of a set of samples at one scale.

    Spread behaves like magnitude, but is between 1 and n for any metric, and no system of linear
    equations has to be solved.
    It is the diversity of order 0 of Leinster and Cobbold with uniform weights.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    t : float, default 1.0
        Scale in units of 1 / distance, at least 0.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    float
        The spread, between 1 and the number of distinct samples. It increases with t.

    Raises
    ------
    TooLargeError
        If the distances do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, the scale or options are invalid.

    See Also
    --------
    magnitude : The quantity that spread approximates.

    Notes
    -----
    Spread is sum_i 1 / sum_j exp(-t d_ij) for distances d_ij between distinct samples. Time is
    O(n^2 d) for the distances between vectors of d numbers, and O(n^2) per scale. Memory is 12 n^2
    bytes.

    References
    ----------
    1. S. Willerton, "Spread: A Measure of the Size of Metric Spaces", International Journal of
       Computational Geometry & Applications, 2015.

    Examples
    --------
    >>> round(spread([0.0, 1.0], t=1.0), 6)
    1.462117
    """
    checked = check_magnitude_options(t=t)
    return build_metric_space(samples, options, spread).spread(**checked)


def convergence_scale(samples: Samples, *, epsilon: float = 0.05, **options: object) -> float:
    """Compute the scale at which magnitude is close to the number of distinct samples.

    This is t_conv with Mag(t_conv) = (1 - epsilon) n for n distinct samples. It is large if some
    samples are close to each other.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    float
        The scale in units of 1 / distance. It is 0 if the magnitude at scale 0, which is 1, is at
        least (1 - epsilon) n, as for a single point. The relative error is at most the larger of
        1e-9 and 1e-10 / epsilon, unless magnitude hardly changes with the scale.

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
        If samples or options are invalid, or no such scale exists, for example because
        (1 - epsilon) n is 1 up to rounding.

    See Also
    --------
    magnitude_function : Magnitude up to this scale.
    mag_areas : Areas under several magnitude functions.

    Notes
    -----
    The scale is found by Brent's method, which computes about ten magnitudes. Time and memory are
    those of `magnitude` at each scale.

    References
    ----------
    1. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, definition 3.5 and appendix B.2.

    Examples
    --------
    >>> round(convergence_scale([0.0, 1.0]), 6)  # 2 / (1 + e^{−t}) = 1.9
    2.944439
    """
    checked = check_magnitude_options(epsilon=epsilon)
    return find_convergence_scale(
        build_metric_space(samples, options, convergence_scale), **checked
    )


def magnitude_function(
    samples: Samples,
    *,
    scales: Iterable[float] | None = None,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | None = None,
    **options: object,
) -> MagnitudeFunction:
    """Compute magnitude at several scales.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    scales : iterable of float, optional
        Scales, at least 0, in any order. By default `n_scales` evenly spaced scales from 0 to the
        convergence scale.
    n_scales : int, default 30
        Number of scales, including 0 and the upper limit, if `scales` is not given; at least 2.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    t_cut : float, optional
        Upper limit of the scales; by default the convergence scale of the samples.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    MagnitudeFunction
        A pair of arrays of shape (m,): `scales`, in ascending order, and `values`.

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
    magnitude : Magnitude at one scale.
    mag_area : Area under this function.
    magnitude_dimension : Slope of this function on logarithmic axes.

    Notes
    -----
    Time and memory are those of `magnitude` at each scale.

    References
    ----------
    1. T. Leinster, "The Magnitude of Metric Spaces", Documenta Mathematica, 2013,
       section 2.2.
    2. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, section 3.

    Examples
    --------
    >>> magnitude_function([0.0, 1.0], scales=[0, 1]).values.round(6)
    array([1.      , 1.462117])
    """
    scale_grid = None if scales is None else np.unique(check_scales("scales", scales))
    checked = check_magnitude_options(n_scales=n_scales, epsilon=epsilon, t_cut=t_cut)
    space = build_metric_space(samples, options, magnitude_function)
    if scale_grid is None:
        max_scale = checked["t_cut"] or find_convergence_scale(space, checked["epsilon"])
        scale_grid = np.linspace(0.0, max_scale, checked["n_scales"])
    return evaluate_magnitude(space, scale_grid)


def magnitude_dimension(
    samples: Samples,
    *,
    scales: Iterable[float] | None = None,
    n_scales: int = 30,
    epsilon: float = 0.05,
    **options: object,
) -> MagnitudeFunction:
    """Compute the magnitude dimension, d log Mag / d log t, at several scales.

    Mag(t) is the magnitude at scale t. The magnitude dimension is the slope of this function on
    logarithmic axes.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    scales : iterable of float, optional
        Scales above 0. By default `n_scales` geometrically spaced scales from t_conv / 100 to
        t_conv, the convergence scale.
    n_scales : int, default 30
        Number of scales if `scales` is not given; at least 3.
    epsilon : float, default 0.05
        Defines the convergence scale: the scale at which magnitude is (1 - epsilon) times the
        number of distinct samples. At least 1e-6, and below 1.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    MagnitudeFunction
        A pair of arrays: `scales`, in ascending order, and the slopes as `values`. The largest
        slope estimates the intrinsic dimension. Empty if all samples are identical.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or if scales are so close that their
        differences are rounding errors.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, scales or options are invalid.

    See Also
    --------
    magnitude_function : The values whose slope this is.

    Notes
    -----
    Slopes are computed by `numpy.gradient`: central differences inside, one-sided ones at the first
    and last scale. Time and memory are those of `magnitude` at each scale.

    References
    ----------
    1. R. Andreeva, K. Limbeck, B. Rieck and R. Sarkar, "Metric Space Magnitude and
       Generalisation in Neural Networks", TAG-ML, 2023, definition 3.

    Examples
    --------
    >>> line = [[i / 200] for i in range(201)]  # Mag(t) = 1 + t/2 for an interval
    >>> bool(magnitude_dimension(line, scales=[30, 31, 32]).values[1] > 0.9)
    True
    """
    n_scales = check_n_scales(n_scales, min_value=3)
    checked = check_magnitude_options(epsilon=epsilon)
    space = build_metric_space(samples, options, magnitude_dimension)
    if scales is None:
        t_conv = find_convergence_scale(space, **checked)
        if t_conv == 0:  # for example if all samples are identical
            return MagnitudeFunction(np.zeros(0), np.zeros(0))
        scale_grid = np.geomspace(t_conv / 100, t_conv, n_scales)
    else:
        scale_grid = np.unique(check_scales("scales", scales))
        if len(scale_grid) < 3 or scale_grid[0] == 0:
            raise ValueError(
                f"`scales` must contain at least 3 distinct scales, all above 0, got {scale_grid}"
            )
    slopes = np.gradient(np.log(evaluate_magnitude(space, scale_grid).values), np.log(scale_grid))
    if not np.isfinite(slopes).all():
        raise ArithmeticError(
            "cannot compute the magnitude dimension, because some scales are too close to each "
            "other; pass scales that are further apart"
        )
    return MagnitudeFunction(scale_grid, slopes)
