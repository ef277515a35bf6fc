"""Scores of float32 rows from matrix products in single precision, if these are accurate enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ..core.eigenvalues import EigenvalueTolerance, NormalizedEigenvalues
from ..core.score import Solver, compute_hill_numbers
from ..similarity.covariance import compute_covariance
from ..similarity.features import UNIT_TOLERANCE
from ..support.namespace import (
    Array,
    has_exact_float32_matmul,
    is_numpy,
    is_torch,
    namespace,
    to_host,
)
from ..support.types import Number

# Limits for the use of single precision: the maximum of the error of log VS that is estimated in
# `decompose_in_single_precision`; the maximum of the largest eigenvalue; and the minimum of the
# effective number of diagonal entries, (Σ d)² / Σ d² for diagonal entries d. They ensure that the
# error of log VS is at most max(1e-8, min(2e-5, 1 % of log VS)): if the largest eigenvalue is at
# most 0.9, log VS of every order is at least 0.1, so 1 % of it exceeds 2e-5. The limits were
# verified in benchmarks/accuracy_grid.py and benchmarks/differential.py.
MAX_ERROR, MAX_EIGENVALUE, MIN_COLUMNS = 1e-5, 0.9, 16
MEAN_ROWS = 1000  # maximum number of rows whose mean is examined

Scores = tuple[list[Number], NormalizedEigenvalues | None]


class InaccurateError(ArithmeticError):
    """Scores computed from matrix products in single precision may not be accurate enough."""


def can_use_single_precision(X: Array, squared_lengths: Array) -> bool:
    """Return whether the rows of X may be multiplied in single precision to compute scores.

    They must have length 1; `squared_lengths` (n,) are their squared lengths. For tensors, the
    number of columns must also be less than the number of rows, and products of float32 tensors
    must not use a lower precision (TF32).
    """
    n, d = X.shape
    # Torch may use products of lower precision (TF32) for float32. Only XᵀX is supported for
    # tensors, not XXᵀ.
    if is_torch(X) and not (d < n and has_exact_float32_matmul(X)):
        return False
    return bool((abs(squared_lengths - 1) <= 2 * UNIT_TOLERANCE).all())


def compute_scores_if_accurate(
    X: Array,
    scale: Array | None,
    orders: Sequence[float],
    compute_eigenvalues: Callable[[Array], Array],
) -> Scores | None:
    """Compute scores of orders of at least 1, and the eigenvalues; None if they may be inaccurate.

    X are n rows of d features, with length 1. `scale` (n,) contains factors that normalize the rows
    of a tensor and divide them by √n. They matter for the gradient. For NumPy arrays they are
    ignored. `compute_eigenvalues` takes a matrix and returns its eigenvalues in ascending order.
    """
    n, d = X.shape
    # The squared length of the mean is a lower bound of the largest eigenvalue. That of some rows
    # suffices to avoid most products that are not accurate enough.
    mean = X[:: -(-n // MEAN_ROWS)].mean(0)
    if mean @ mean > MAX_EIGENVALUE:
        return None
    # The smaller of XᵀX and XXᵀ, which have the same non-zero eigenvalues.
    C = compute_covariance(X if d < n else X.T, scale, single_precision=True)
    trace = float(n) if is_numpy(C) else 1.0  # NumPy rows are not scaled
    solver = Solver(
        eigenvalues=partial(
            decompose_in_single_precision, trace=trace, compute_eigenvalues=compute_eigenvalues
        ),
        squared_norm=compute_squared_norm_in_double,
    )
    tolerance = EigenvalueTolerance(n, semidefinite=True)
    try:
        return compute_hill_numbers(C, orders, tolerance, "check", solver)
    except InaccurateError:
        return None


def compute_squared_norm_in_double(C: Array) -> Array:
    """Compute ‖C‖² / (tr C)² in float64, for a matrix C with entries in single precision.

    C is XᵀX or XXᵀ for a matrix X with unit-norm rows, and ‖C‖ is its Frobenius norm. An
    InaccurateError is raised if the largest eigenvalue of C / tr C may exceed MAX_EIGENVALUE. Then,
    log VS may be so small that its relative error is too large.
    """
    xp = namespace(C)
    A = xp.astype(C, xp.float64, copy=False)
    A = A / xp.linalg.trace(A)
    squared_norm = xp.sum(A * A)
    if squared_norm > MAX_EIGENVALUE**2:  # the norm is an upper bound of the largest eigenvalue
        raise InaccurateError
    return squared_norm


def decompose_in_single_precision(
    C: Array,
    vectors: bool = False,
    *,
    trace: float,
    compute_eigenvalues: Callable[[Array], Array],
) -> tuple[Array, None]:
    """Compute normalized eigenvalues of C; raise an InaccurateError if errors may be too large.

    C = XᵀX or XXᵀ is a product in single precision of a matrix X with unit-norm rows, and `trace`
    is its exact trace. `compute_eigenvalues` takes a matrix and returns its eigenvalues in
    ascending order. Eigenvectors are not computed: the second result is None, and `vectors` has no
    effect. It is a parameter, because all functions that compute eigenvalues for `Solver` have it.

    The exact eigenvalues are not negative. So the error of log VS is estimated from N, the absolute
    sum of the negative eigenvalues plus the error of the trace, relative to the trace: moving a
    mass of N among d eigenvalues changes log VS by about N (1 + log(d/N)). An InaccurateError is
    raised if this error exceeds MAX_ERROR, or if the largest eigenvalue exceeds MAX_EIGENVALUE. It
    is also raised if few diagonal entries dominate the trace, because then all errors of
    eigenvalues may be positive, so the estimate does not detect them.
    """
    xp = namespace(C)
    diagonal = to_host(xp.astype(xp.linalg.diagonal(C), xp.float64))
    if MIN_COLUMNS * np.sum(diagonal**2) > np.sum(diagonal) ** 2:
        raise InaccurateError
    if is_numpy(C):
        C = C.astype(np.float32, copy=False)  # a sum of products of blocks is in double precision
    values = xp.astype(compute_eigenvalues(C), xp.float64) / trace
    computed = to_host(values)
    mass = -float(computed[computed < 0].sum()) + abs(float(np.sum(diagonal)) / trace - 1)  # N
    error = mass * (1 + math.log(len(computed) / mass)) if mass > 0 else 0.0
    if not (error <= MAX_ERROR and computed[-1] <= MAX_EIGENVALUE):
        raise InaccurateError
    return values / values.sum(), None
