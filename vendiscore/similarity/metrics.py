"""The metrics by name, their properties and their options."""

from ..support.arguments import check_float
from ..support.suggestions import suggest_name
from ..support.types import Options, PairFunction, Record

# Metrics of `scipy.spatial.distance.cdist` of two rows alone, without those computed here.
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
# exp(−tD) is positive definite for distinct points at every t > 0: L1 and squared L2 distances and
# square roots of these, in some coordinates.
NEGATIVE_TYPE = (
    "euclidean",
    "manhattan",
    "cityblock",
    "cosine",
    "sqeuclidean",
    "correlation",
    "hamming",
)
# Distances that grow with the samples by the same factor.
HOMOGENEOUS = ("euclidean", "manhattan", "cityblock", "chebyshev")
# Largest asymmetry of distances, relative to the two entries, that counts as rounding; also the
# largest distance of a sample from itself, relative to its nearest neighbour.
SYMMETRY_TOLERANCE = 1e-6


def check_metric(metric: object, extra_names: tuple[str, ...] = ()) -> None:
    """Raise a ValueError for an unknown metric; `extra_names` are further ones to suggest."""
    supported = (*METRICS, *extra_names)
    if not callable(metric) and not (isinstance(metric, str) and metric in supported):
        fallback = (
            "Those of scipy.spatial.distance for numbers are known; of others pass the function."
        )
        suggestion = suggest_name(metric, supported, fallback=fallback, kind="metric")
        raise ValueError(f"unknown `metric={metric!r}`. {suggestion}")


def check_metric_options(metric: str | PairFunction, options: Options) -> Record:
    """Return the options of a metric, checked."""
    checked = dict(options)
    for option, value in options.items():
        if metric != "minkowski":
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; leave it out")
        checked[option] = check_float(option, value, "a number of at least 1", lambda p: p >= 1)
    return checked
