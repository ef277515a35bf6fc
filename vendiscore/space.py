"""A finite metric space made from samples: distances between distinct points, solved at scales.

Samples become a space through a metric on vectors, a matrix of distances, or any registered
kernel; identical samples are one point, which is what makes magnitude indifferent to duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import memory
from .arrays import as_samples, is_numpy, is_torch, row_blocks
from .checks import check_arguments
from .distances import (
    METRIC_OPTIONS,
    NEGATIVE_TYPE,
    UNIT_ROUNDING,
    check_distances,
    check_metric,
    distances,
    exact_squares,
    numpy_rows,
)
from .errors import suggestion
from .registry import list_kernels
from .resolve import as_similarity
from .similarity import Similarity, identical_rows
from .solve import Method, Solution, Solver

KERNEL_METRICS = ("kernel", "1-k")
WAYS = ("k", "score_K", "score_X", "score_dual", "normalize")

# 2 − 2k of identical samples is zero up to this, from a matrix K.
KERNEL_ROUNDING = 1e-14
# k(x, y) ≤ 1 up to rounding in single precision.
KERNEL_TOLERANCE = 1e-5
# Distances from two samples at distance 0 may differ by this share of the largest distance.
TWIN_TOLERANCE = 1e-6


class MetricSpace:
    """Distinct points, the distances between them, and the samples that they came from.

    Parameters
    ----------
    D : array (n, n)
        Distances that were checked; samples at distance 0 become one point.
    inverse : int array, optional
        Which row of D each sample is, where identical samples were left out of D.
    settings : mapping
        How the distances were made: `metric`, `kernel` and their options.
    method : {"auto", "cg", "cholesky"}
    negative_type : bool
        How weights are solved for; see `solve.Solver`.

    Attributes
    ----------
    n, distinct : int
        Number of samples and of distinct points.
    D : array (distinct, distinct)
    settings : mapping

    Examples
    --------
    >>> space = MetricSpace(np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]))
    >>> space.n, space.distinct
    (3, 2)
    >>> space.weights(1.0).round(3)
    array([0.44 , 0.44 , 0.881])
    """

    def __init__(
        self,
        D: np.ndarray,
        inverse: np.ndarray | None = None,
        settings: Mapping[str, Any] | None = None,
        method: Method = "auto",
        *,
        negative_type: bool = False,
    ) -> None:
        first, twin = _merge(D)
        if len(first) < len(D):
            D = D[np.ix_(first, first)]
        self.inverse = twin if inverse is None else twin[inverse]
        self.D, self.settings = D, dict(settings or {})
        self.n, self.distinct = len(self.inverse), len(D)
        self.converged: dict[float, float] = {}  # convergence scales by ε
        self.solver = Solver(D, method, negative_type=negative_type)

    def solve(self, t: float) -> Solution:
        """Weights of the distinct points at scale t > 0, kept for the next call."""
        return self.solver(t)

    def magnitude(self, t: float) -> float:
        """Mag(t) for t ≥ 0, with Mag(0) = 1."""
        return 1.0 if t == 0 or self.distinct == 1 else self.solver.magnitude(t)

    def weights(self, t: float) -> np.ndarray:
        """The weight of each sample (n,); identical ones share that of their point equally."""
        w = np.ones(1) if self.distinct == 1 else self.solve(t).weights
        return np.asarray((w / np.bincount(self.inverse))[self.inverse])

    def spread(self, t: float) -> float:
        """Σ_i 1 / Σ_j exp(−t d_ij) over distinct points."""
        total = 0.0
        for block in row_blocks(self.distinct, 16 * self.distinct):
            total += float((1 / np.exp(self.D[block] * np.float64(-t)).sum(axis=1)).sum())
        return total


def as_space(
    samples: Any,
    *,
    metric: str | Callable[[Any, Any], float] | None = None,
    k: str | Callable[[Any, Any], float] | None = None,
    method: Method = "auto",
    like: MetricSpace | None = None,
    name: str = "samples",
    **options: Any,
) -> MetricSpace:
    """The MetricSpace of samples; every function of `magnitude` takes these arguments.

    Parameters
    ----------
    samples : list or array, Similarity or MetricSpace
        Rows of numbers, a matrix of distances (n, n) with `metric="precomputed"`, or what the
        kernel compares. A MetricSpace is taken as it is, with all that was solved for it.
    metric : str or callable, optional
        For vectors "euclidean" (the default), "manhattan", "cosine", any metric of
        `scipy.spatial.distance.cdist` or a function of two rows; "precomputed"; for a kernel
        "kernel" (the default), √(2 − 2k), or "1-k".
    k : str or callable, optional
        A registered kernel or a function; strings are compared by "ngram_overlap" without it.
        `score_K`, `score_X`, `score_dual` and `normalize` as in `scoring.compute`.
    method : {"auto", "cg", "cholesky"}
        How weights are solved for. "auto" checks at each scale that exp(−tD) is positive
        definite, by a Cholesky factorisation, unless the metric guarantees it ("euclidean",
        "manhattan", "cosine" and some of SciPy's, kernels known to be positive semidefinite); "cg"
        never does, and is the fast way for precomputed distances of which you know it.
    like : MetricSpace, optional
        Take options that follow from the data (a bandwidth, a variance) from this space, so that
        distances in both are comparable.
    name : str
        How to call the samples in an error.
    **options
        Options of the kernel, or of the metric (`p`, `w`, `V`, `VI`).

    Raises
    ------
    TypeError, ValueError
        For samples or options that do not fit; the message names the argument and the remedy.
    TooLargeError
        If the distances and one work array do not fit in memory, before they are allocated.

    Notes
    -----
    √(2 − 2k) is the distance in the kernel's feature space, of negative type: exp(−tD) is
    positive definite at every scale (Schoenberg). 1 − k is half its square.
    """
    if isinstance(samples, MetricSpace):
        return samples
    check_space(metric=metric, k=k, method=method, **options)
    if metric == "precomputed":
        D = check_distances(samples, name)
        return MetricSpace(D, settings={"metric": "precomputed"}, method=method)
    if not isinstance(samples, Similarity):
        raw = bool(options.get("score_K") or options.get("score_X") or options.get("score_dual"))
        samples = samples if raw else as_samples(samples, name)
        if not (raw or k is not None or metric in KERNEL_METRICS or _is_text(samples)):
            return _from_rows(samples, metric or "euclidean", options, method, like, name)
    if like is not None:
        known = _kernel_options()
        options = {o: v for o, v in like.settings.items() if o in known} | options
    similarity = as_similarity(samples, k=k, **options)
    return _from_similarity(similarity, str(metric or "kernel"), method)


def check_space(*, metric: Any = None, k: Any = None, method: Any = "auto", **options: Any) -> None:
    """Raise for arguments that `as_space` would not accept for any samples."""
    if method not in ("auto", "cg", "cholesky"):
        raise ValueError(f"`method` must be 'auto', 'cg' or 'cholesky', got {method!r}")
    if metric is not None:
        check_metric(metric, ("precomputed", *KERNEL_METRICS))
    kernel = k is not None or any(options.get(way) for way in WAYS)
    if kernel and metric is not None and metric not in KERNEL_METRICS:
        raise ValueError(
            f"`metric={metric!r}` and a kernel both say how to compare samples: leave one out, or "
            f"pass metric='kernel' or '1-k', which are distances from a kernel"
        )
    if kernel:
        check_arguments(options if k is None else {"k": k, **options})
    known = {*_kernel_options(), *METRIC_OPTIONS, *WAYS}
    for option in options:
        if option not in known:
            raise TypeError(f"unknown keyword `{option}`. {suggestion(option, known)}")
        of_vectors = metric is not None and not kernel and metric not in KERNEL_METRICS
        if of_vectors and (option not in METRIC_OPTIONS or metric == "precomputed"):
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; leave it out")


def _kernel_options() -> set[str]:
    return {option for kernel in list_kernels() for option in kernel.options}


def _is_text(samples: Any) -> bool:
    return isinstance(samples, list) and isinstance(samples[0], str)


def _from_rows(
    samples: Any,
    metric: str | Callable[[Any, Any], float],
    options: Mapping[str, Any],
    method: Method,
    like: MetricSpace | None,
    name: str,
) -> MetricSpace:
    for option, value in options.items():
        if option not in METRIC_OPTIONS and (value or option not in WAYS):
            raise TypeError(
                f"`{option}` belongs to a kernel: pass that as `k`, or leave `{option}` out for "
                f"metric {metric!r}"
            )
    X = numpy_rows(samples, name)
    options = {o: v for o, v in options.items() if v is not None and o in METRIC_OPTIONS}
    data = {"seuclidean": "V", "mahalanobis": "VI"}.get(str(metric))
    if data is not None and data not in options:
        options[data] = _scatter(X, data) if like is None else like.settings[data]
    groups = np.asarray(identical_rows(X))
    first, inverse = np.unique(groups, return_index=True, return_inverse=True)[1:]
    memory.require(
        12 * len(first) ** 2,
        f"the magnitude of {len(first)} distinct samples (distances and a work array)",
        "take fewer samples",
    )
    D = distances(X[first] if len(first) < len(X) else X, metric, options, name)
    label = metric if isinstance(metric, str) else getattr(metric, "__qualname__", repr(metric))
    negative_type = label in NEGATIVE_TYPE or (label == "minkowski" and options.get("p", 2) <= 2)
    settings = {"metric": label, **options}
    return MetricSpace(D, inverse, settings, method, negative_type=negative_type)


def _scatter(X: np.ndarray, option: str) -> np.ndarray:
    """What SciPy would derive from the data: variances, or the inverse covariance."""
    if option == "V":
        return np.asarray(np.var(X, axis=0, ddof=1))
    return np.asarray(np.linalg.inv(np.atleast_2d(np.cov(X.T))).T)


def _from_similarity(similarity: Similarity, metric: str, method: Method) -> MetricSpace:
    inverse = None
    groups = similarity.groups()
    if groups is not None:
        first, inverse = np.unique(groups, return_index=True, return_inverse=True)[1:]
        similarity = similarity.take(first) if len(first) < similarity.n else similarity
    n = similarity.n
    memory.require(
        12 * n * n,
        f"the magnitude of {n} distinct samples (distances and a work array)",
        "take fewer samples",
    )
    F: Any = similarity.features() if similarity.dim is not None and similarity.dim < n else None
    rounding = KERNEL_ROUNDING
    if is_numpy(F):
        rounding = UNIT_ROUNDING
        D = exact_squares(F)  # ‖f_i − f_j‖² keeps the digits that 2 − 2k loses for close pairs
    else:
        K = similarity.dense()
        D = K.detach().cpu().numpy() if is_torch(K) else K
        D *= -2
        D += 2
    np.fill_diagonal(D, 0.0)
    if D.min() < -2 * KERNEL_TOLERANCE:
        i, j = divmod(int(np.argmin(D)), n)
        raise ValueError(
            f"distances need a similarity of at most 1, got {1 - D[i, j] / 2:.6g} for samples {i} "
            f"and {j}; pass normalize=True or a positive semidefinite kernel with k(x, x) = 1"
        )
    D[rounding > D] = 0.0
    D = np.sqrt(D, out=D) if metric == "kernel" else np.divide(D, 2, out=D)
    name = "√(2−2k)" if metric == "kernel" else "1−k"
    settings = {"metric": name, **similarity.settings}
    return MetricSpace(D, inverse, settings, method, negative_type=similarity.psd)


def _merge(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first sample of each group at distance 0, and the group of each sample."""
    n = len(D)
    first = np.empty(n, dtype=int)
    for block in row_blocks(n, 2 * n):
        first[block] = np.argmax(D[block] == 0, axis=1)
    copies = np.flatnonzero(first < np.arange(n))
    if copies.size:
        tolerance = TWIN_TOLERANCE * float(D.max())
        for i in copies:
            gap = np.abs(D[i] - D[first[i]])
            if gap.max() > tolerance:
                j = int(np.argmax(gap))
                raise ValueError(
                    f"samples {first[i]} and {i} are at distance 0 but at distances "
                    f"{D[first[i], j]:.6g} and {D[i, j]:.6g} from sample {j}: no metric allows "
                    f"that; check how the distances were made"
                )
            first[i] = first[first[i]]
    points, inverse = np.unique(first, return_inverse=True)
    return points, inverse
