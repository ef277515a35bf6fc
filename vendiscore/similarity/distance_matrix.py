"""Compute and validate matrices of pairwise distances; callers may overwrite the results."""

import math

import numpy as np

from ..core.checks import check_sample_values
from ..support.arguments import check_float
from ..support.namespace import row_blocks, to_host
from ..support.types import Options, PairFunction, Rows
from .metrics import SYMMETRY_TOLERANCE
from .nearest_neighbours import MIN_RELIABLE_POWER, MetricDistances
from .row_distances import (
    UNDERFLOW_RATIO,
    PairFormatter,
    check_distance_memory,
    check_finite_distances,
    find_asymmetry,
    minkowski_distances,
    recompute_close_pairs,
    scale_by_power_of_two,
    scaling_exponent,
    squared_distances,
    symmetrize,
)
from .sample_arrays import as_samples, as_vectors

# Squared distances of unit vectors up to (32ε)² may be rounding errors.
UNIT_ROUNDING = 5e-29

Metric = str | PairFunction


@np.errstate(under="ignore", over="ignore")
def compute_distances(
    X: np.ndarray,
    metric: Metric = "euclidean",
    options: Options | None = None,
    name: str = "samples",
    format_pair: PairFormatter = "rows {} and {}".format,
) -> np.ndarray:
    """Compute the distances between the n rows of X, shape (n, n), with a zero diagonal.

    `options` are options of the metric. Raises a ValueError for distances that are not finite. In
    messages, `name` is the argument that contains the rows, and `format_pair(i, j)` describes rows
    i and j.
    """
    options = options or {}
    if callable(metric):
        return _evaluate_metric(X, metric, format_pair)
    if metric in ("cosine", "correlation"):
        # For unit vectors, 1 − u·v = ‖u − v‖²/2, which is accurate for small angles.
        D = squared_distances(normalize_rows(X, metric, name))
        D[D < UNIT_ROUNDING] = 0.0
        D /= 2
    elif metric == "euclidean":
        D = _euclidean_distances(X)
    else:
        check_distance_memory(X)
        all_rows = slice(0, len(X))
        D = MetricDistances(X, metric, options, format_pair).block(all_rows, all_rows)
        if metric == "sqeuclidean":
            _check_underflow(D, X, format_pair)
    check_finite_distances(D, metric, format_pair)
    return D


def as_numpy_rows(X: Rows, name: str = "samples") -> np.ndarray:
    """Convert samples to a finite, dense NumPy matrix with one row per sample.

    A sample that is a number becomes a row with one entry. `name` is the argument in messages.
    """
    X = as_vectors(as_samples(X, name), name)
    return to_host(X.toarray() if hasattr(X, "toarray") else X)


def check_distances(D: Rows, name: str = "samples") -> np.ndarray:
    """Validate a square distance matrix D and return it, made exactly symmetric.

    Distances must be finite, at least 0, zero on the diagonal, and symmetric up to rounding. `name`
    is the argument in messages.
    """
    D = as_numpy_rows(D, name)
    n = len(D)
    if D.shape[1] != n:
        raise ValueError(
            f"`{name}` with metric='precomputed' must be a square matrix of distances, got shape "
            f"{D.shape}; for rows of numbers, pass metric='euclidean'"
        )
    diagonal = D.diagonal()
    check_sample_values(
        diagonal,
        diagonal == 0,
        "must have distance 0 to itself, got {:.6g}; for a similarity matrix, pass score_K=True "
        "instead of metric='precomputed'",
    )
    if D.min() < 0:
        i, j = divmod(int(np.argmin(D)), n)
        raise ValueError(
            f"distances must be at least 0, got {D[i, j]:.6g} at [{i}, {j}] of `{name}`; check how "
            f"they were computed"
        )
    with np.errstate(under="ignore"):
        asymmetric_pair = find_asymmetry(D, SYMMETRY_TOLERANCE)
    if asymmetric_pair is not None:
        i, j = asymmetric_pair
        raise ValueError(
            f"`{name}` must be a symmetric matrix of distances, got {D[i, j]:.6g} at [{i}, {j}] "
            f"and {D[j, i]:.6g} at [{j}, {i}]; pass their mean, (D + D.T) / 2"
        )
    if find_asymmetry(D, tolerance=0.0) is None:
        return D
    return symmetrize(D.astype(np.float64, copy=False), "a symmetric copy of D")


def normalize_rows(X: np.ndarray, metric: str, name: str) -> np.ndarray:
    """Scale rows of X to unit norm; for metric "correlation", first subtract the mean of each row.

    Raises a SampleError for zero vectors if the metric is "cosine", and for constant vectors if it
    is "correlation". `name` is the argument in messages.
    """
    # Divide rows by their largest entry first, so that squares do not overflow or underflow.
    largest = np.abs(X).max(axis=1).astype(np.float64)
    is_usable = largest > 0
    U = X / np.where(is_usable, largest, 1.0)[:, None]
    if metric == "correlation":
        for _ in range(2):  # the second pass removes the rounding error of the first mean
            U -= U.mean(axis=1, keepdims=True)
        # A constant row is now zero up to rounding.
        rounding = 8 * np.finfo(np.float64).eps
        is_usable &= np.abs(U).max(axis=1) > rounding
    problem = "a constant vector"
    if metric == "cosine":
        problem = "a zero vector"
    check_sample_values(
        largest,
        is_usable,
        f"is {problem}, for which metric {metric!r} is undefined; remove it from `{name}` or use "
        "another metric",
    )
    U /= np.linalg.norm(U, axis=1)[:, None]
    return U


def _euclidean_distances(X: np.ndarray) -> np.ndarray:
    """Compute ‖x − y‖ for all pairs of rows x and y of X (n, d), without overflow or underflow."""
    scale_exponent = scaling_exponent(X)
    D = squared_distances(scale_by_power_of_two(X, -scale_exponent))
    np.sqrt(D, out=D)
    if scale_exponent:
        np.ldexp(D, scale_exponent, out=D)
    # The squares of smaller distances may have underflowed.
    min_reliable_distance = math.ldexp(UNDERFLOW_RATIO, scale_exponent)
    recompute_close_pairs(D, min_reliable_distance, lambda i, j: minkowski_distances(X, i, j))
    return D


def _check_underflow(D: np.ndarray, X: np.ndarray, format_pair: PairFormatter) -> None:
    """Raise a ValueError if a squared distance in D underflows for two different rows of X.

    `format_pair(i, j)` describes rows i and j in the message.
    """
    for block in row_blocks(len(D), 8 * len(D)):
        rows, columns = np.nonzero(D[block] < MIN_RELIABLE_POWER)
        rows += block.start
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
            if (X[i] != X[j]).any():
                raise ValueError(
                    f"metric 'sqeuclidean' underflows (got {D[i, j]:.6g}) for {format_pair(i, j)}, "
                    f"which differ; use metric='euclidean', or multiply all rows by a large number"
                )


def _evaluate_metric(X: np.ndarray, metric: PairFunction, format_pair: PairFormatter) -> np.ndarray:
    """Compute the distances (n, n) of the n rows of X by a user's function of two rows, `metric`.

    Raises a ValueError unless distances are symmetric, and 0 for a row and itself, up to rounding.
    Both orders of each pair are evaluated, and the result contains their mean. `format_pair(i, j)`
    describes rows i and j in messages.
    """
    check_distance_memory(X)
    n = len(X)
    D = np.empty((n, n))

    def raise_invalid(index: tuple[int, int], requirement: str, hint: str) -> None:
        """Raise a ValueError about the distance D[index], which does not meet the requirement."""
        raise ValueError(
            f"`metric` must be {requirement}, got {D[index]:.6g} for {format_pair(*index)}; {hint}"
        )

    for i, j in np.ndindex(n, n):
        try:
            value = metric(X[i], X[j])
        except Exception as error:
            error.add_note(f"raised by `metric` for {format_pair(i, j)}")
            raise
        D[i, j] = check_float(
            "metric(a, b)",
            value,
            f"a finite number of at least 0 for {format_pair(i, j)}",
            lambda d: 0 <= d < math.inf,
            "remove such rows, or correct the function",
        )
    # The distance of a row to itself may be a rounding error, relative to its nearest neighbour.
    off_diagonal = np.where(np.eye(n, dtype=bool), np.inf, D)
    tolerance = SYMMETRY_TOLERANCE * off_diagonal.min(axis=1)
    invalid = np.flatnonzero(D.diagonal() > tolerance)
    if invalid.size:
        raise_invalid((invalid[0], invalid[0]), "0 for a row and itself", "correct the function")
    np.fill_diagonal(D, 0.0)
    pair = find_asymmetry(D, SYMMETRY_TOLERANCE)
    if pair is not None:
        requirement = f"symmetric (got {D[pair[::-1]]:.6g} in the other order)"
        hint = "pass the mean of both, such as lambda a, b: (f(a, b) + f(b, a)) / 2"
        raise_invalid(pair, requirement, hint)
    return (D + D.T) / 2
