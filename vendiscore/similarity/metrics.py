"""The supported metrics, their properties and their options."""

from ..support.arguments import check_float
from ..support.suggestions import suggest_name
from ..support.types import Options, PairFunction, Record

# Metrics of `scipy.spatial.distance.cdist` that depend only on the two rows, except those that this
# package computes itself.
SCIPY_METRICS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "hamming",
    "jensenshannon",
    "minkowski",
    "sqeuclidean",
)
METRICS = ("euclidean", "manhattan", "cosine", *SCIPY_METRICS)
# Metrics for which exp(−tD) is positive definite for distinct points and every t > 0: L1 and
# squared L2 distances in some coordinates, and their square roots.
NEGATIVE_TYPE = (
    "euclidean",
    "manhattan",
    "cityblock",
    "cosine",
    "sqeuclidean",
    "correlation",
    "hamming",
)
# Metrics with d(ax, ay) = a d(x, y) for a > 0.
HOMOGENEOUS = ("euclidean", "manhattan", "cityblock", "chebyshev")
# Maximum asymmetry of distances due to rounding, relative to the two entries; also the maximum
# distance of a sample to itself, relative to its nearest neighbour.
SYMMETRY_TOLERANCE = 1e-6


def check_metric(metric: object, extra_names: tuple[str, ...] = ()) -> None:
    """Raise a ValueError unless `metric` is a function or the name of a supported metric.

    `extra_names` are further names that the caller supports.
    """
    supported = (*METRICS, *extra_names)
    if not callable(metric) and not (isinstance(metric, str) and metric in supported):
        fallback = (
            "Supported are the metrics of scipy.spatial.distance for numeric vectors; pass any "
            "other metric as a function."
        )
        suggestion = suggest_name(metric, supported, fallback=fallback, kind="metric")
        raise ValueError(f"unknown `metric={metric!r}`. {suggestion}")


def check_metric_options(metric: str | PairFunction, options: Options) -> Record:
    """Validate the options of a metric, such as `exponent` of "minkowski", and return them."""
    checked = dict(options)
    for option, value in options.items():
        if metric != "minkowski":  # the only metric with an option, `exponent`
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; remove it")
        checked[option] = check_float(option, value, "a number of at least 1", lambda p: p >= 1)
    return checked
