"""From samples to a metric space: by distances of rows, given distances, or those of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arguments import one_of
from ..arrays import memory
from ..arrays.distances import UNIT_ROUNDING, check_distances, distances, numpy_rows
from ..arrays.identical import identical_rows
from ..arrays.inputs import as_samples
from ..arrays.metrics import (
    HILBERT,
    METRIC_OPTIONS,
    NEGATIVE_TYPE,
    check_metric,
    check_options,
    scatter,
)
from ..arrays.namespace import refuse_gradient, row_blocks, to_host
from ..arrays.squares import CLOSE, drop_rounding, exact_squares
from ..hints import suggestion
from ..registry import list_kernels
from ..resolve import as_similarity
from ..resolve.how import check_arguments
from ..resolve.mixture import is_mixture
from ..signature import plain
from ..similarity.base import Similarity
from .solver import METHODS, Method
from .space import MetricSpace

KERNEL_METRICS = ("kernel", "1-k")
WAYS = ("k", "score_K", "score_X", "score_dual", "normalize")
# 2 − 2k of identical samples is zero up to this many ε of a matrix K's precision: 1e-14.
KERNEL_ROUNDING = 45
# k(x, y) ≤ 1, and k(x, y) = k(y, x), up to rounding in single precision.
KERNEL_TOLERANCE = 1e-5


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
    positive definite at every scale (Schoenberg). 1 − k is half its square. Where a kernel has
    features, close pairs keep their digits. A matrix of similarities alone knows 2 − 2k to some ε
    of its precision: samples that it has within 1e-14 (single precision: 5e-6) count as
    identical, so that distances below 1e-7 (2e-3) are not told from 0, and those ten times that
    have two digits.
    """
    if isinstance(samples, MetricSpace):
        return samples
    check_space(metric=metric, k=k, method=method, **options)
    refuse_gradient(samples, "magnitude")
    options = {o: value for o, value in options.items() if value is not None}
    if metric == "precomputed":
        D = check_distances(samples, name)
        return MetricSpace(D, settings={"metric": "precomputed"}, method=method)
    if not isinstance(samples, Similarity):
        raw = bool(options.get("score_K") or options.get("score_X") or options.get("score_dual"))
        samples = samples if raw or is_mixture(k) else as_samples(samples, name)
        if not (raw or k is not None or metric in KERNEL_METRICS or _is_text(samples)):
            return _from_rows(samples, metric or "euclidean", options, method, like, name)
    for option in METRIC_OPTIONS:
        if option in options:
            raise TypeError(
                f"`{option}` is an option of metrics of vectors, not of kernels: leave it out"
                f"{'; magnitude takes no weights of samples' if option == 'p' else ''}"
            )
    if like is not None:
        options = _together(like.fitted, options)
    similarity = as_similarity(samples, k=k, **options)
    with np.errstate(under="ignore", over="ignore"):
        space = _from_similarity(similarity, str(metric or "kernel"), method)
    space.notes = similarity.notes
    return space


def check_space(*, metric: Any = None, k: Any = None, method: Any = "auto", **options: Any) -> None:
    """Raise for arguments that `as_space` would not accept for any samples."""
    one_of("method", method, METHODS)
    if metric is not None:
        check_metric(metric, ("precomputed", *KERNEL_METRICS))
    kernel = k is not None or any(options.get(way) for way in WAYS)
    if kernel and metric is not None and metric not in KERNEL_METRICS:
        raise ValueError(
            f"`metric={metric!r}` and a kernel both say how to compare samples: leave one out, or "
            f"pass metric='kernel' or '1-k', which are distances from a kernel"
        )
    of_metric = {o: options[o] for o in METRIC_OPTIONS if options.get(o) is not None}
    if kernel:
        of_kernel = {o: value for o, value in options.items() if o not in METRIC_OPTIONS}
        check_arguments(of_kernel if k is None else {"k": k, **of_kernel})
    known = {
        *_kernel_options(),
        *METRIC_OPTIONS,
        *WAYS,
        *(("options", "combine") if is_mixture(k) else ()),
    }
    of_vectors = metric is not None and not kernel and metric not in KERNEL_METRICS
    for option, value in options.items():
        if option not in known:
            look = (
                "See help(vendiscore.mag_area), and help(vendiscore.get_kernel('rbf')) of a kernel."
            )
            hint = suggestion(option, known, mark="`", look=look)
            raise TypeError(f"unknown keyword `{option}`. {hint}")
        if of_vectors and value is not None and option not in METRIC_OPTIONS:
            raise TypeError(f"`{option}` is not an option of metric {metric!r}; leave it out")
    if of_vectors:
        check_options(metric, of_metric)
    elif "p" in of_metric:
        raise TypeError(
            f"`p` is the exponent of metric='minkowski', got {of_metric['p']!r:.40} without it; "
            f"magnitude takes no weights of samples: leave `p` out"
        )


def _kernel_options() -> set[str]:
    return {option for kernel in list_kernels() for option in kernel.options}


def _together(fitted: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and from `fitted` what was not; mappings within likewise."""
    both = dict(fitted)
    for name, value in given.items():
        inner = isinstance(value, Mapping) and isinstance(both.get(name), Mapping)
        both[name] = _together(both[name], value) if inner else value
    return both


def _is_text(samples: Any) -> bool:
    """Whether there are strings, or lists of them, which are refused as kernels refuse them."""
    if not isinstance(samples, list):
        return False
    firsts = (s[0] if isinstance(s, (list, tuple)) and s else s for s in samples)
    return any(isinstance(first, str) for first in firsts)


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
    options = {o: v for o, v in options.items() if o in METRIC_OPTIONS}
    options = check_options(metric, options, X.shape[1])
    data = None if callable(metric) else {"seuclidean": "V", "mahalanobis": "VI"}.get(metric)
    fitted = {}
    if data is not None and data not in options:
        known = None if like is None else like.fitted.get(data)
        fitted = {data: scatter(X, data) if known is None else known}
        options = check_options(metric, fitted, X.shape[1])
    groups = np.asarray(identical_rows(X))
    first, inverse = np.unique(groups, return_index=True, return_inverse=True)[1:]
    _require(len(first))
    order = np.argsort(inverse, kind="stable")
    places = np.split(order, np.searchsorted(inverse[order], np.arange(1, len(first))))
    D = distances(X[first] if len(first) < len(X) else X, metric, options, name, places)
    label = metric if isinstance(metric, str) else plain(metric)
    p = options.get("p", 2.0) if metric == "minkowski" else None
    return MetricSpace(
        D,
        inverse,
        {"metric": label, **options},
        method,
        negative_type=label in NEGATIVE_TYPE or (p is not None and p <= 2),
        hilbert=label in HILBERT or p == 2,
        fitted=fitted,
        # Zero may stand for what is below it, in the distances of unit vectors.
        slack=1e-14 if metric in ("cosine", "correlation") else 0.0,
    )


def _require(n: int) -> None:
    memory.require(
        12 * n * n,
        f"the magnitude of {n} distinct samples (distances and a work array)",
        "take fewer samples",
    )


def _from_similarity(similarity: Similarity, metric: str, method: Method) -> MetricSpace:
    refuse_gradient(similarity.diagonal(), "magnitude")
    inverse = None
    groups = similarity.groups()
    first = np.arange(similarity.n)
    if groups is not None:
        first, inverse = np.unique(groups, return_index=True, return_inverse=True)[1:]
        similarity = similarity.take(first) if len(first) < similarity.n else similarity
    n = similarity.n
    _require(n)
    F: Any = similarity.features() if similarity.dim is not None else None
    hilbert = similarity.psd
    if F is not None and not sp.issparse(F):
        rounding = UNIT_ROUNDING
        D = exact_squares(np.asarray(to_host(F), np.float64))
    else:
        D = _squares(similarity, first)
        rounding = KERNEL_ROUNDING * _precision(similarity)
        if F is not None:
            rounding = UNIT_ROUNDING
            _mend_close(D, F)
    smallest = _check_squares(D, first)
    drop_rounding(D, rounding)
    if F is None:
        # Rounding of a matrix that is not small beside the squares may be of any type.
        hilbert = hilbert and smallest > 20 * n * rounding
    if metric == "kernel":
        np.sqrt(D, out=D)
    else:
        D /= 2
        hilbert = False
    name = "√(2−2k)" if metric == "kernel" else "1−k"
    return MetricSpace(
        D,
        inverse,
        {"metric": name, **similarity.settings},
        method,
        negative_type=similarity.psd,
        hilbert=hilbert,
        fitted=similarity.fitted,
        slack=4 * rounding**0.5,
    )


def _squares(similarity: Similarity, places: np.ndarray) -> np.ndarray:
    """k(x, x) + k(y, y) − 2 k(x, y) of all pairs, symmetric, with a zero diagonal."""
    K = to_host(similarity.dense())
    n = len(K)
    diagonal = K.diagonal().copy()
    for block in row_blocks(n, 8 * n):
        upper, lower = K[block, block.start :], K[block.start :, block].T
        gap = np.abs(upper - lower)
        if not gap.max() <= KERNEL_TOLERANCE:
            i, j = divmod(int(np.argmax(np.where(np.isnan(gap), np.inf, gap))), n - block.start)
            i, j = i + block.start, j + block.start
            raise ValueError(
                f"distances need a symmetric and finite similarity, got {K[i, j]:.6g} for samples "
                f"{places[i]} and {places[j]} and {K[j, i]:.6g} the other way round; mend the "
                f"kernel"
            )
        upper = (upper + lower) / 2
        upper *= -2
        upper += diagonal[block, None]
        upper += diagonal[None, block.start :]
        K[block, block.start :] = upper
        K[block.start :, block] = upper.T
    np.fill_diagonal(K, 0.0)
    return np.asarray(K)


def _precision(similarity: Similarity) -> float:
    """ε of the numbers that a matrix of similarities is given in."""
    kind = str(getattr(getattr(similarity, "K", None), "dtype", "float64"))
    return float(np.finfo(np.float32 if kind.endswith("float32") else np.float64).eps)


def _mend_close(D: np.ndarray, F: Any) -> None:
    """Squared distances of rows of sparse F that are close, from their differences, in place."""
    for block in row_blocks(len(D), 8 * len(D)):
        near, other = np.nonzero(D[block] < CLOSE)
        near += block.start
        near, other = near[near < other], other[near < other]
        for part in row_blocks(len(near), 2048):
            gap = F[near[part]] - F[other[part]]
            squares = np.asarray(gap.multiply(gap).sum(axis=1)).ravel()
            D[near[part], other[part]] = squares
            D[other[part], near[part]] = squares


def _check_squares(D: np.ndarray, places: np.ndarray) -> float:
    """The least of D beside its diagonal; a ValueError for entries that no distance has."""
    smallest = np.inf
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block].copy()
        rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = np.inf
        least = float(rows.min())
        if not least >= -2 * KERNEL_TOLERANCE:
            i, j = divmod(int(np.argmin(rows)), len(D))
            raise ValueError(
                f"distances need a similarity of at most 1, got {1 - rows[i, j] / 2:.6g} for "
                f"samples {places[i + block.start]} and {places[j]}; pass normalize=True or a "
                f"positive semidefinite kernel with k(x, x) = 1"
            )
        smallest = min(smallest, least)
    return smallest
