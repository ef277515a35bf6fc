"""The metrics by name, their properties and their options."""

import numpy as np

from ..core.arguments import number
from ..core.types import Options, PairFunction, Record
from ..hints import suggestion

# Metrics of `scipy.spatial.distance.cdist`, without the three that are computed here.
SCIPY_METRICS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "dice",
    "hamming",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)
METRICS = ("euclidean", "manhattan", "cosine", *SCIPY_METRICS)
# exp(−tD) is positive definite for distinct points at every t > 0: L1 and squared L2 distances and
# square roots of these, in some coordinates; Jaccard's is 1 minus a positive definite kernel.
NEGATIVE_TYPE = (
    "euclidean",
    "manhattan",
    "cityblock",
    "cosine",
    "sqeuclidean",
    "seuclidean",
    "mahalanobis",
    "correlation",
    "hamming",
    "jaccard",
)
# Metrics that are L2 distances in some coordinates.
HILBERT = ("euclidean", "seuclidean", "mahalanobis")
# Metrics of truth values, for which SciPy would take every number but 0 for true.
BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
# Distances that grow with the samples by the same factor.
HOMOGENEOUS = ("euclidean", "manhattan", "cityblock", "chebyshev", "mahalanobis")
# Largest asymmetry of distances, relative to the two entries, that counts as rounding; also the
# largest distance of a sample from itself, relative to its nearest neighbour.
SYMMETRY_TOLERANCE = 1e-6


def check_metric(metric: object, more: tuple[str, ...] = ()) -> None:
    """Raise a ValueError for an unknown metric; `more` names further ones to suggest."""
    known = (*METRICS, *more)
    if not callable(metric) and not (isinstance(metric, str) and metric in known):
        look = "All metrics of scipy.spatial.distance.cdist are known."
        raise ValueError(f"unknown `metric={metric!r}`. {suggestion(metric, known, look=look)}")


def check_options(metric: str | PairFunction, options: Options) -> Record:
    """Return the options of a metric, checked."""
    checked = dict(options)
    if callable(metric):
        return checked
    for option, value in options.items():
        if metric != "minkowski":
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; leave it out")
        checked[option] = number(option, value, "a number of at least 1", lambda p: p >= 1)
    return checked


def scatter(X: np.ndarray, option: str) -> np.ndarray:
    """Return the variances ("V") or inverse covariance ("VI") of rows, for a metric."""
    metric = {"V": "seuclidean", "VI": "mahalanobis"}[option]
    n, d = X.shape
    if n < 2:
        raise ValueError(
            f"metric {metric!r} divides by the spread of two or more samples, got {n}; take more, "
            f"or metric='euclidean'"
        )
    X = X.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        deviations = np.std(X - X[0], axis=0, ddof=1)
        variances = deviations**2
    constant = np.flatnonzero(~(np.isfinite(variances) & (variances > 0)))
    if constant.size:
        raise ValueError(
            f"metric {metric!r} divides by the variance of each column, but the variance of column "
            f"{constant[0]} is {variances[constant[0]]:.3g}; remove the column, or rescale it"
        )
    if option == "V":
        return variances
    # By way of the correlations, which do not depend on the units of the columns.
    standard = (X - X.mean(axis=0)) / deviations
    R = np.atleast_2d(np.cov(standard.T))
    values, vectors = np.linalg.eigh(R)
    eps = np.finfo(np.float64).eps
    noise = 8 * max(n, d) * eps * values[-1]
    rank = np.count_nonzero(values > noise)
    if rank < d:
        raise ValueError(
            f"metric 'mahalanobis' needs an invertible covariance, but the covariance of {n} "
            f"samples in {d} columns has rank {rank}; take more samples, or remove columns that "
            "follow from others"
        )
    return (vectors / values) @ vectors.T / np.outer(deviations, deviations)
