"""The metrics by name, their properties and their options."""

from __future__ import annotations

import numpy as np

from ..core.arguments import number, refuse_gradient
from ..core.namespace import is_torch
from ..core.types import Options, PairFunction, Record
from ..hints import suggestion

# Metrics of `scipy.spatial.distance.cdist`, without the three that are computed here.
SCIPY_METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "dice", "hamming"),
    *("jaccard", "jensenshannon", "mahalanobis", "minkowski", "rogerstanimoto", "russellrao"),
    *("seuclidean", "sokalsneath", "sqeuclidean", "yule"),
)
METRICS = ("euclidean", "manhattan", "cosine", *SCIPY_METRICS)
# exp(−tD) is positive definite for distinct points at every t > 0: L1 and squared L2 distances and
# square roots of these, in some coordinates; Jaccard's is 1 minus a positive definite kernel.
NEGATIVE_TYPE = frozenset(
    (
        *("euclidean", "manhattan", "cityblock", "cosine", "sqeuclidean", "seuclidean"),
        *("mahalanobis", "correlation", "hamming", "jaccard"),
    )
)
# Metrics that are L2 distances in some coordinates.
HILBERT = frozenset(("euclidean", "seuclidean", "mahalanobis"))
# Metrics of truth values, for which SciPy would take every number but 0 for true.
BOOLEAN = frozenset(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"))
# Distances that grow with the samples by the same factor.
HOMOGENEOUS = frozenset(("euclidean", "manhattan", "cityblock", "chebyshev", "mahalanobis"))
METRIC_OPTIONS = ("exponent", "w", "V", "VI")
# Largest asymmetry of distances, relative to the two entries, that counts as rounding; also the
# largest distance of a sample from itself, relative to its nearest neighbour.
SYMMETRY_TOLERANCE = 1e-6


def check_metric(metric: object, more: tuple[str, ...] = ()) -> None:
    """Raise a ValueError for an unknown metric; `more` names further ones to suggest."""
    known = (*METRICS, *more)
    if not callable(metric) and not (isinstance(metric, str) and metric in known):
        look = "All metrics of scipy.spatial.distance.cdist are known."
        raise ValueError(f"unknown `metric={metric!r}`. {suggestion(metric, known, look=look)}")


def check_options(metric: str | PairFunction, options: Options, d: int | None = None) -> Record:
    """Return the options of a metric on d columns, checked; without d, shapes are not checked."""
    given = {option: value for option, value in options.items() if value is not None}
    if callable(metric):
        return given
    takes = {"minkowski": ("exponent", "w"), "seuclidean": ("V",), "mahalanobis": ("VI",)}.get(
        metric, () if metric in ("jensenshannon", "precomputed") else ("w",)
    )
    for option in given:
        if option not in takes:
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; leave it out")
    if "exponent" in given:
        expected = "a number of at least 1"
        given["exponent"] = number("exponent", given["exponent"], expected, lambda p: p >= 1)
    for option in {"w", "V"} & set(given):
        given[option] = _numbers(option, given[option], d)
    if "VI" in given:
        given["VI"] = _inverse_covariance(given["VI"], d)
    return given


def _numbers(option: str, value: object, d: int | None) -> np.ndarray:
    expected = "a number for each column" if d is None else f"{d} numbers, one for each column"
    expected += ", each at least 0, not all 0" if option == "w" else ", each more than 0"
    values = _finite_array(option, value, expected, 1, d)
    wrong = values < 0 if option == "w" else values <= 0
    if wrong.any() or not values.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"`{option}` must be {expected}, got {values[i]} at [{i}]")
    return values


def _inverse_covariance(value: object, d: int | None) -> np.ndarray:
    size = "(d, d) for samples of d columns" if d is None else f"({d}, {d})"
    expected = f"an inverse covariance, a symmetric matrix {size} without negative eigenvalues"
    VI = _finite_array("VI", value, expected, 2, d)
    gap = np.abs(VI - VI.T)
    # Entries may have very different units, which the diagonal shows.
    units = np.sqrt(np.maximum(np.diagonal(VI), 0))
    if (gap > SYMMETRY_TOLERANCE * np.outer(units, units)).any():
        i, j = divmod(int(np.argmax(gap)), len(VI))
        raise ValueError(
            f"`VI` must be {expected}, got {VI[i, j]:.6g} at [{i}, {j}] and {VI[j, i]:.6g} at "
            f"[{j}, {i}]; pass (VI + VI.T) / 2 if that is meant"
        )
    VI = (VI + VI.T) / 2
    units[units == 0] = 1
    lowest = float(np.linalg.eigvalsh(VI / np.outer(units, units))[0])
    if lowest < -SYMMETRY_TOLERANCE:
        raise ValueError(f"`VI` must be {expected}, got an eigenvalue of {lowest:.3g} (scaled)")
    return np.asarray(VI)


def _finite_array(
    option: str, value: object, expected: str, ndim: int, d: int | None
) -> np.ndarray:
    """Read an array of finite numbers, with d along each of its dimensions."""
    refuse_gradient(f"`{option}`", **{option: value})
    try:
        array = np.asarray(value.cpu() if is_torch(value) else value)
        if array.dtype.kind not in "fiu":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{option}` must be {expected}, got {value!r:.60}") from None
    if array.ndim != ndim or len({*array.shape, d or len(array)}) > 1:
        raise ValueError(f"`{option}` must be {expected}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"`{option}` must be {expected}, got a value that is not finite")
    return array


def scatter(X: np.ndarray, option: str) -> np.ndarray:
    """Return the variances ("V") or inverse covariance ("VI") of rows, for a metric."""
    metric = {"V": "seuclidean", "VI": "mahalanobis"}[option]
    n, d = X.shape
    if n < 2:
        raise ValueError(
            f"metric {metric!r} takes `{option}` from the spread of two or more samples, got {n}; "
            f"pass {option}=…"
        )
    X = X.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        deviations = np.std(X - X[0], axis=0, ddof=1)
        variances = deviations**2
    constant = np.flatnonzero(~(np.isfinite(variances) & (variances > 0)))
    if constant.size:
        raise ValueError(
            f"metric {metric!r} divides by the variance of each column, but the variance of column "
            f"{constant[0]} is {variances[constant[0]]:.3g}; remove the column (or rescale it) or "
            f"pass {option}=…"
        )
    if option == "V":
        return np.asarray(variances)
    # By way of the correlations, which do not depend on the units of the columns.
    R = np.atleast_2d(np.cov(((X - X.mean(axis=0)) / deviations).T))
    values, vectors = np.linalg.eigh(R)
    rank = int((values > 8 * max(n, d) * np.finfo(np.float64).eps * values[-1]).sum())
    if rank < d:
        raise ValueError(
            f"metric 'mahalanobis' needs an invertible covariance, but the covariance of {n} "
            f"samples in {d} columns has rank {rank}; take more samples, remove columns that "
            "follow from others, or pass VI=…"
        )
    return np.asarray((vectors / values) @ vectors.T / np.outer(deviations, deviations))
