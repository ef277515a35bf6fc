"""All pairwise distances of rows, as new matrices that the caller may overwrite."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from ..arguments import number
from ..arrays import memory
from ..arrays.inputs import as_matrix
from ..arrays.namespace import row_blocks, to_host
from ..errors import SampleError
from .metrics import BOOLEAN, HOMOGENEOUS, SYMMETRY_TOLERANCE, check_metric, check_options, scatter
from .pairs import DIRECT_COLUMNS, squares_of_all, symmetric_part

# Squared distances of unit vectors, from differences, that are no more than rounding: (32ε)².
UNIT_ROUNDING = 5e-29
# Powers below this have lost digits or vanished.
LOST = 1e-290
# Rows of this size are not rescaled before they are squared.
TAME = 1e50
# Below this share of the largest, squares of distances lose digits or vanish.
VANISHING = 1e-140


def distances(
    X: Any,
    metric: str | Callable[[Any, Any], float] = "euclidean",
    options: Mapping[str, Any] | None = None,
    name: str = "samples",
    places: Sequence[Any] | None = None,
) -> np.ndarray:
    """Return the distances (n, n) of all rows of X (n, d), with a diagonal of 0.

    "russellrao" is not 0 for a row and itself; its diagonal is set to 0.
    """
    check_metric(metric)
    X = numpy_rows(X, name)
    options = check_options(metric, options or {}, X.shape[1])
    try:
        with np.errstate(under="ignore", over="ignore"):
            return _distances(X, metric, options, name, places)
    except SampleError as error:
        raise (error if places is None else error.at(places)) from None


def _distances(
    X: np.ndarray,
    metric: str | Callable[[Any, Any], float],
    options: dict[str, Any],
    name: str,
    places: Sequence[Any] | None,
) -> np.ndarray:
    require_room(X)
    if callable(metric):
        return _by_function(X, metric, options, name, places)
    derived = {"seuclidean": "V", "mahalanobis": "VI"}.get(metric)
    if derived is not None and derived not in options:
        # SciPy counts each row twice, as one of either side.
        ratio = (2 * len(X) - 2) / (2 * len(X) - 1)
        options = {derived: scatter(X, derived) * (ratio if derived == "V" else 1 / ratio)}
    if metric == "seuclidean":
        D = euclidean(X / np.sqrt(options["V"]))
    elif metric == "euclidean" and not options:
        D = euclidean(X)
    elif metric in ("cosine", "correlation") and not options:
        D = _cosine(X, metric, name)
    elif metric == "minkowski":
        D = _minkowski(X, **options)
    else:
        if metric in BOOLEAN:
            check_truths(X, metric, name)
        shift = exponent_of(X) if metric in HOMOGENEOUS else 0
        rows = np.ldexp(X.astype(np.float64, copy=False), -shift) if shift else X
        D = np.asarray(
            scipy.spatial.distance.cdist(
                rows, rows, "cityblock" if metric == "manhattan" else metric, **options
            )
        )
        if metric == "jensenshannon":  # the one whose rounding is not the same both ways round
            D = (D + D.T) / 2
        if metric == "sqeuclidean" and not options:
            _check_lost(D, X, metric, name, places)
        if shift:
            np.ldexp(D, shift, out=D)
    np.fill_diagonal(D, 0.0)
    for block in row_blocks(len(D), 8 * len(D)):
        finite = np.isfinite(D[block])
        if not finite.all():
            i, j = divmod(int(np.argmin(finite)), len(D))
            i += block.start
            raise ValueError(
                f"metric {metric!r} is undefined (got {D[i, j]}) for rows {_place(places, i)} and "
                f"{_place(places, j)} of `{name}`; remove such rows or use another metric"
            )
    return D


def numpy_rows(X: Any, name: str = "samples") -> np.ndarray:
    """Return dense rows of finite numbers in NumPy; plain numbers are vectors of length 1."""
    if isinstance(X, (list, tuple, range)) and len(X) and isinstance(X[0], (int, float)):
        X = [[x] if isinstance(x, (int, float)) else x for x in X]
    elif getattr(X, "ndim", 2) == 1:
        X = X.to_numpy() if hasattr(X, "to_numpy") else X
        X = X.reshape(-1, 1)
    X = as_matrix(X, name)
    X = X.toarray() if hasattr(X, "toarray") else X
    return to_host(X)


def check_distances(D: Any, name: str = "samples") -> np.ndarray:
    """Return a distance matrix (n, n): finite, symmetric, at least 0, with a zero diagonal.

    The same matrix if it is exactly symmetric, otherwise (D + Dᵀ) / 2. Entries [i, j] and [j, i]
    may differ by 1e-6 of the larger of the two.
    """
    D = as_matrix(D, name)
    D = D.toarray() if hasattr(D, "toarray") else D
    D = to_host(D)
    n = D.shape[0]
    if D.shape[1] != n:
        raise ValueError(
            f"`{name}` with metric='precomputed' must be a square matrix of distances, got shape "
            f"{D.shape}; rows of numbers go with metric='euclidean'"
        )
    SampleError.check(
        {
            int(i): f"must have distance 0 to itself, got {D[i, i]:.6g}; is `{name}` a similarity "
            f"matrix? Then pass score_K=True instead of metric='precomputed'"
            for i in np.flatnonzero(np.diagonal(D))
        }
    )
    exact = True
    for block in row_blocks(n, 8 * n):
        rows, columns = D[block], D[:, block].T
        if rows.min() < 0:
            i, j = divmod(int(np.argmax(rows < 0)), n)
            raise ValueError(
                f"distances must be at least 0, got {rows[i, j]:.6g} at "
                f"[{i + block.start}, {j}] of `{name}`; check how they were made"
            )
        gap = np.abs(rows - columns)
        if not gap.any():
            continue
        exact = False
        with np.errstate(under="ignore"):
            wrong = gap > SYMMETRY_TOLERANCE * np.maximum(rows, columns)
        if wrong.any():
            i, j = divmod(int(np.argmax(wrong)), n)
            a = i + block.start
            raise ValueError(
                f"`{name}` must be a symmetric matrix of distances, got {D[a, j]:.6g} at [{a}, {j}]"
                f" and {D[j, a]:.6g} at [{j}, {a}]; pass (D + D.T) / 2 if that is meant"
            )
    if exact:
        return np.asarray(D)
    return np.asarray(symmetric_part(D.astype(np.float64, copy=False), "a symmetric copy of D"))


def exact_squares(X: np.ndarray) -> np.ndarray:
    """Return the squared distances (n, n) of all rows, exact also for rows that are close."""
    require_room(X)
    return squares_of_all(X)


def euclidean(X: np.ndarray) -> np.ndarray:
    """Return ‖x − y‖ for all rows of X (n, d), of any size that double precision holds."""
    shift = exponent_of(X)
    D = exact_squares(np.ldexp(X.astype(np.float64, copy=False), -shift) if shift else X)
    np.sqrt(D, out=D)
    if shift:
        np.ldexp(D, shift, out=D)
    mend_lost(D, X, math.ldexp(VANISHING, shift), lambda gap: np.linalg.norm(gap, axis=1))
    return D


def mend_lost(
    D: np.ndarray, X: np.ndarray, bound: float, length: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Compute again, in place, lengths of x − y below a bound, each in a unit of its own."""
    for block in row_blocks(len(D), 8 * len(D)):
        near, other = np.divmod(np.flatnonzero(D[block] < bound), len(D))
        near += block.start
        near, other = near[near != other], other[near != other]
        for part in row_blocks(len(near), 8 * X.shape[1]):
            gap = np.subtract(X[near[part]], X[other[part]], dtype=np.float64)
            largest = np.maximum(np.abs(gap).max(axis=1), np.finfo(np.float64).tiny)
            D[near[part], other[part]] = largest * length(gap / largest[:, None])


def drop_rounding(D: np.ndarray, rounding: float) -> None:
    """Set what is below `rounding` to 0, in place and without a mask of the size of D."""
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        rows[rows < rounding] = 0.0


def exponent_of(X: np.ndarray) -> int:
    """Return the power of two that rows are divided by before they are squared: 0 for most."""
    largest = float(np.abs(X).max(initial=0.0))
    return 0 if not largest or 1 / TAME < largest < TAME else math.frexp(largest)[1]


def require_room(X: np.ndarray) -> None:
    n, d = X.shape
    needed = 8 * n * n if d <= DIRECT_COLUMNS else 8 * n * (n + d)
    memory.require(needed, f"the distances of all pairs of {n} samples", "compare fewer samples")


def _minkowski(X: np.ndarray, exponent: float = 2.0, w: np.ndarray | float = 1.0) -> np.ndarray:
    """Return (Σ w |x − y|^p)^(1/p) of exponent p for all rows, of any size that double precision
    holds."""
    shift = math.frexp(float(np.abs(X).max(initial=0.0)))[1] + 1
    rows = np.ldexp(X.astype(np.float64, copy=False), -shift)
    D = np.asarray(
        scipy.spatial.distance.cdist(
            rows, rows, "minkowski", p=exponent, w=np.broadcast_to(w, X.shape[1])
        )
    )
    np.ldexp(D, shift, out=D)
    if math.isfinite(exponent):
        bound = (
            LOST ** (1 / exponent) / np.finfo(np.float64).eps
        )  # entries far below the largest as well
        mend_lost(
            D,
            X,
            math.ldexp(min(bound, 4.0), shift),
            lambda gap: (w * np.abs(gap) ** exponent).sum(axis=1) ** (1 / exponent),
        )
    return D


def _cosine(X: np.ndarray, metric: str, name: str) -> np.ndarray:
    """Return 1 − cos of rows, or of rows minus their mean, which is their correlation."""
    # 1 − u·v = ‖u − v‖²/2 for unit vectors, which keeps the digits of small angles.
    D = exact_squares(unit_rows(X, metric, name))
    drop_rounding(D, UNIT_ROUNDING)
    D /= 2
    return D


def unit_rows(X: np.ndarray, metric: str, name: str) -> np.ndarray:
    """Return rows divided by their lengths ("cosine"), after their means are taken off
    ("correlation").

    A SampleError for those that are zero, or constant.
    """
    largest = np.abs(X).max(axis=1).astype(np.float64)
    usable = largest > 0
    U = X / np.where(usable, largest, 1.0)[:, None]
    if metric == "correlation":
        for _ in range(2):  # the first mean is rounded to the size of the numbers
            U -= U.mean(axis=1, keepdims=True)
        # What is left of a constant row is rounding.
        usable &= np.abs(U).max(axis=1) > 8 * np.finfo(np.float64).eps
    what = "a zero vector" if metric == "cosine" else "a constant vector"
    SampleError.check(
        {
            int(i): f"is {what}, for which metric {metric!r} is undefined; remove it from "
            f"`{name}` or use another metric"
            for i in np.flatnonzero(~usable)
        }
    )
    U /= np.linalg.norm(U, axis=1)[:, None]
    return np.asarray(U)


def _by_function(
    X: np.ndarray,
    metric: Callable[..., float],
    options: dict[str, Any],
    name: str,
    places: Sequence[Any] | None,
) -> np.ndarray:
    """Return all n² pairs both ways round, checked."""
    n = len(X)
    D = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            rows = f"rows {_place(places, i)} and {_place(places, j)} of `{name}"
            try:
                value = metric(X[i], X[j], **options)
            except Exception as error:
                error.add_note(f"in `metric` of {rows}`")
                raise
            D[i, j] = number(f"metric(a, b)` of {rows}", value, "a number", lambda _: True)

    def refuse(i: int, j: int, problem: str, remedy: str) -> None:
        raise ValueError(
            f"`metric` must be {problem}, got {D[i, j]:.6g} for rows {_place(places, i)} and "
            f"{_place(places, j)} of `{name}`; {remedy}"
        )

    for wrong, problem in ((~np.isfinite(D), "finite"), (D < 0, "at least 0")):
        if wrong.any():
            refuse(*divmod(int(np.argmax(wrong)), n), problem, "remove such rows or mend it")
    own = D.diagonal().copy()
    np.fill_diagonal(D, np.inf)
    apart = own > SYMMETRY_TOLERANCE * D.min(axis=1)
    np.fill_diagonal(D, own)
    if apart.any():
        i = int(np.argmax(apart))
        refuse(i, i, "0 for a row and itself", "subtract that, or mend it")
    np.fill_diagonal(D, 0.0)
    wrong = np.abs(D - D.T) > SYMMETRY_TOLERANCE * np.maximum(D, D.T)
    if wrong.any():
        i, j = divmod(int(np.argmax(wrong)), n)
        refuse(
            i,
            j,
            f"symmetric (got {D[j, i]:.6g} the other way round)",
            "use lambda a, b: (f(a, b) + f(b, a)) / 2 if that is meant",
        )
    return (D + D.T) / 2


def check_truths(X: np.ndarray, metric: str, name: str) -> None:
    """Raise a SampleError for rows of other numbers than 0 and 1."""
    wrong = (X != 0) & (X != 1)
    SampleError.check(
        {
            int(i): f"has {X[i][wrong[i]][0]:.6g}, and metric {metric!r} is one of truth values, 0 "
            f"and 1; pass `{name}` > 0 if presence is meant, or use another metric"
            for i in np.flatnonzero(wrong.any(axis=1))
        }
    )


def _check_lost(
    D: np.ndarray, X: np.ndarray, metric: str, name: str, places: Sequence[Any] | None
) -> None:
    """Raise where a distance of rows that differ is too small for its power to have all digits."""
    for block in row_blocks(len(D), 8 * len(D)):
        near, other = np.nonzero(D[block] < LOST)
        for i, j in zip((near + block.start).tolist(), other.tolist(), strict=True):
            if i != j and (X[i] != X[j]).any():
                raise ValueError(
                    f"metric {metric!r} is too small for double precision (got {D[i, j]:.6g}) for "
                    f"rows {_place(places, i)} and {_place(places, j)} of `{name}`, which differ; "
                    f"use metric 'euclidean', or multiply all rows by a large number"
                )


def _place(places: Sequence[Any] | None, i: int) -> int:
    return i if places is None else int(np.atleast_1d(places[i])[0])
