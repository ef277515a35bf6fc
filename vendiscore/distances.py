"""All pairwise distances of rows, as new matrices that the caller may overwrite."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from . import memory
from .arrays import Array, as_matrix, is_numpy, is_torch, namespace, row_blocks
from .errors import suggestion
from .similarity import identical_rows

# What `scipy.spatial.distance.cdist` knows, besides the three that are computed here.
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
METRIC_OPTIONS = ("p", "w", "V", "VI")

# Up to this many columns, differences are as fast as a matrix product, and exact.
DIRECT_COLUMNS = 16
# Squared distances below this share of the largest are recomputed from differences: the product
# loses as many of their digits, and the closest pairs decide the weights at large scales.
CLOSE = 1e-4
# Squared distances of unit vectors, from differences, that are no more than rounding: (4ε)².
UNIT_ROUNDING = 1e-30
# How far from symmetric, relative to its largest entry, a distance matrix may be by rounding.
SYMMETRY_TOLERANCE = 1e-6


def distances(
    X: Any,
    metric: str | Callable[[Any, Any], float] = "euclidean",
    options: Mapping[str, Any] | None = None,
    name: str = "samples",
) -> np.ndarray:
    """The distances of all pairs of rows of X (n, d).

    Parameters
    ----------
    X : array_like (n, d)
        Rows of finite numbers; sparse and torch arrays are brought to dense NumPy.
    metric : str or callable
        "euclidean", "manhattan", "cosine" (1 − cos), any metric of
        `scipy.spatial.distance.cdist`, or a function of two rows.
    options : mapping, optional
        Options of the metric: `p` (minkowski), `w`, `V` (seuclidean), `VI` (mahalanobis).
    name : str
        How to call X in an error.

    Returns
    -------
    array (n, n)
        float64, symmetric, at least 0, with a zero diagonal.

    Raises
    ------
    ValueError
        For an unknown metric (with a suggestion), rows that are not finite, or a metric that is
        undefined for a pair of rows, which is named.
    TooLargeError
        If n² numbers do not fit in memory, before they are allocated.

    Notes
    -----
    Time O(n² d), memory n². Euclidean and cosine distances of rows with more than 16 columns come
    from one matrix product, those of close pairs from differences.

    Examples
    --------
    >>> distances([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    """
    check_metric(metric)
    options = dict(options or {})
    X = numpy_rows(X, name)
    if metric == "euclidean" and not options:
        D = exact_squares(X)
        np.sqrt(D, out=D)
        return D
    if metric == "cosine" and not options:
        return _cosine(X, name)
    _require(X)
    # Some metrics are for one kind of number (bool) or one range; their complaints are SciPy's.
    D = np.asarray(cdist(X, X, "cityblock" if metric == "manhattan" else metric, **options))
    np.fill_diagonal(D, 0.0)
    if not np.isfinite(D).all():
        i, j = divmod(int(np.argmin(np.isfinite(D))), len(D))
        raise ValueError(
            f"metric {metric!r} is undefined (got {D[i, j]}) for rows {i} and {j} of `{name}`; "
            f"remove such rows or use another metric"
        )
    return D


def check_metric(metric: Any, more: tuple[str, ...] = ()) -> None:
    """Raise for a metric that `distances` does not know; `more` names others to suggest."""
    known = (*METRICS, *more)
    if not callable(metric) and metric not in known:
        raise ValueError(f"unknown `metric={metric!r}`. {suggestion(metric, known)}")


def numpy_rows(X: Any, name: str = "samples") -> np.ndarray:
    """Dense rows of finite numbers in NumPy; plain numbers are vectors of length 1."""
    if isinstance(X, (list, tuple, range)) and len(X) and isinstance(X[0], (int, float)):
        X = [[x] if isinstance(x, (int, float)) else x for x in X]
    elif getattr(X, "ndim", 2) == 1:
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
        X = X.reshape(-1, 1)
    X = as_matrix(X, name)
    X = X.toarray() if hasattr(X, "toarray") else X
    return X.detach().cpu().numpy() if is_torch(X) else np.asarray(X)


def squared_euclidean(X: Array) -> Array:
    """‖x − y‖² for all rows of X (n, d), in float64 with an exactly zero diagonal.

    Rows are centred first and distances taken from one matrix product, so the absolute error is
    about ε times the squared diameter. Time O(n² d), memory n².
    """
    _require(X)
    xp = namespace(X)
    X = xp.astype(X, xp.float64)
    X = X - xp.mean(X, axis=0)
    squares = xp.linalg.vecdot(X, X)
    D = X @ X.T
    D *= -2
    D += squares[:, None]
    D += squares[None, :]
    if not is_numpy(D):
        return D.clip(min=0.0).fill_diagonal_(0.0)
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    return D


def manhattan(X: Array) -> Array:
    """Σ_j |x_j − y_j| for all rows of X (n, d), in float64. Time O(n² d), memory n²."""
    _require(X)
    if is_torch(X):
        return sys.modules["torch"].cdist(X.double(), X.double(), p=1.0)
    return cdist(X, X, "cityblock")


def median_distance(D: Array, X: Array, power: int = 1) -> Array:
    """The median distance between distinct rows of X, given their distances to a power.

    Repeating a sample does not change it, so that duplicates and weights agree; it is 1 if all
    rows are equal. For a torch D it is a 0-d tensor that can be differentiated. Memory n²/2.

    Raises
    ------
    ValueError
        If it is 0, though rows differ.
    """
    n = D.shape[0]
    values = D.detach().cpu().numpy() if is_torch(D) else D
    groups = identical_rows(X.detach().cpu().numpy() if is_torch(X) else X)
    first = np.arange(n) if groups is None else np.unique(groups, return_index=True)[1]
    size = len(first) * (len(first) - 1) // 2
    if size == 0:
        return D[0, 0] + 1.0
    pairs = np.empty(size, values.dtype)
    start = 0
    for i, place in enumerate(first[:-1]):
        rest = values[place, place + 1 :] if len(first) == n else values[place, first[i + 1 :]]
        pairs[start : start + len(rest)] = rest
        start += len(rest)
    middle = ((size - 1) // 2, size // 2)
    pairs.partition(middle)
    low, high = pairs[list(middle)]
    if not low > 0:
        raise ValueError(
            "the median distance between distinct samples is 0 in double precision, which is no "
            "bandwidth; pass `sigma`"
        )
    if is_numpy(D):
        return (low ** (1 / power) + high ** (1 / power)) / 2
    return sum(_entry(D, values, first, value) ** (1 / power) for value in (low, high)) / 2


def _entry(D: Array, values: np.ndarray, first: np.ndarray, value: float) -> Array:
    """An entry of a torch D, between two of the rows `first`, that has this value."""
    for place in first:
        found = first[values[place, first] == value]
        if len(found):
            return D[int(place), int(found[0])]
    raise AssertionError("the value is an entry of D")


def check_distances(D: Any, name: str = "samples") -> np.ndarray:
    """A distance matrix (n, n): finite, symmetric, at least 0, with a zero diagonal; not copied.

    Raises
    ------
    ValueError
        Otherwise; the message names the first entry that is wrong.
    """
    D = as_matrix(D, name)
    D = D.toarray() if hasattr(D, "toarray") else D
    D = D.detach().cpu().numpy() if is_torch(D) else np.asarray(D)
    n = D.shape[0]
    if D.shape[1] != n:
        raise ValueError(
            f"`{name}` with metric='precomputed' must be a square matrix of distances, got shape "
            f"{D.shape}; rows of numbers go with metric='euclidean'"
        )
    off = np.flatnonzero(np.diagonal(D))
    if off.size:
        i = int(off[0])
        raise ValueError(
            f"a sample must have distance 0 to itself, got {D[i, i]:.6g} for sample {i}; is "
            f"`{name}` a similarity matrix? Then pass score_K=True instead of "
            f"metric='precomputed'"
        )
    tolerance = SYMMETRY_TOLERANCE * float(D.max(initial=0.0))
    for block in row_blocks(n, 8 * n):
        rows = D[block]
        if rows.min() < 0:
            i, j = divmod(int(np.argmax(rows < 0)), n)
            raise ValueError(
                f"distances must be at least 0, got {rows[i, j]:.6g} at "
                f"[{i + block.start}, {j}] of `{name}`; check how they were made"
            )
        gap = np.abs(rows - D[:, block].T)
        if gap.max() > tolerance:
            i, j = divmod(int(np.argmax(gap > tolerance)), n)
            a = i + block.start
            raise ValueError(
                f"`{name}` must be a symmetric matrix of distances, got {D[a, j]:.6g} at [{a}, {j}]"
                f" and {D[j, a]:.6g} at [{j}, {a}]; pass (D + D.T) / 2 if that is meant"
            )
    return np.asarray(D)


def exact_squares(X: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances with small relative error also where rows are close."""
    _require(X)
    if X.shape[1] <= DIRECT_COLUMNS:
        return np.asarray(cdist(X, X, "sqeuclidean"))
    D = squared_euclidean(X)
    bound = CLOSE * float(D.max())
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        near, other = np.nonzero(rows < bound)
        for part in row_blocks(len(near), 8 * X.shape[1]):
            gap = np.subtract(X[near[part] + block.start], X[other[part]], dtype=np.float64)
            rows[near[part], other[part]] = np.einsum("ij,ij->i", gap, gap)
    return np.asarray(D)


def _cosine(X: np.ndarray, name: str) -> np.ndarray:
    norms = np.linalg.norm(X.astype(np.float64, copy=False), axis=1)
    if not norms.all():
        i = int(np.argmin(norms))
        raise ValueError(
            f"metric 'cosine' is undefined for row {i} of `{name}`, a zero vector; remove it or "
            f"use another metric"
        )
    # 1 − u·v = ‖u − v‖²/2 for unit vectors, which keeps the digits of small angles.
    D = exact_squares(X / norms[:, None])
    D[D < UNIT_ROUNDING] = 0.0
    D /= 2
    return D


def _require(X: Array) -> None:
    n = X.shape[0]
    memory.require(8 * n * n, f"the distances of all pairs of {n} samples", "compare fewer samples")
