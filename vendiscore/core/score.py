"""The Vendi Score: the Hill number of the eigenvalues of a weighted similarity matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support.namespace import Array, gram, is_torch, namespace, rescale_rows, to_float
from ..support.types import Number
from .checks import check_matrix, check_positive_diagonal, check_unit_diagonal
from .eigenvalues import (
    PSD,
    Eigensolver,
    EigenvalueTolerance,
    NormalizedEigenvalues,
    compute_eigenvalues,
    decompose_with_numpy,
)
from .hill import RANGE_TOLERANCE, clip_to_range

# Rows are rescaled before squaring if a squared length, or its inverse, exceeds this limit.
MAX_SQUARED_NORM = 1e30


def compute_squared_norm(A: Array) -> Array | float:
    """Compute the sum of squared entries of a symmetric matrix A, or of each matrix of a stack.

    This sum equals the sum of the squared eigenvalues.
    """
    if A.ndim == 2 and not is_torch(A):
        return np.vdot(A, A)
    return (A * A).sum((-2, -1))


class Solver(NamedTuple):
    """Functions that compute eigenvalues and norms of a matrix; by default those of NumPy.

    Attributes
    ----------
    eigenvalues : callable
        Takes the matrix, and whether to compute eigenvectors. Returns the eigenvalues in ascending
        order, and the eigenvectors as columns or None.
    squared_norm : callable
        Computes the sum of squared entries, for order 2.
    largest_eigenvalue : callable, optional
        Computes the largest eigenvalue, for order ∞. By default all eigenvalues are computed.
    vectors : bool, default False
        Whether to compute eigenvectors as well.
    """

    eigenvalues: Eigensolver = decompose_with_numpy
    squared_norm: Callable[[Any], Array | float] = compute_squared_norm
    largest_eigenvalue: Callable[[Any], Array | float] | None = None
    vectors: bool = False


NUMPY_SOLVER = Solver()


def compute_hill_numbers(
    A: Array,
    orders: Sequence[float],
    tolerance: EigenvalueTolerance,
    psd: PSD = "check",
    solver: Solver = NUMPY_SOLVER,
) -> tuple[list[Number], NormalizedEigenvalues | None]:
    """Compute the Hill numbers of the eigenvalues of a weighted similarity matrix A.

    All Vendi Scores are computed by this function. The score of order q is (Σ λ^q)^{1/(1−q)}, where
    λ are the eigenvalues of A. This is the number of positive eigenvalues at q = 0, exp(−Σ λ log λ)
    at q = 1, 1/‖A‖² at q = 2 and 1/λ_max at q = ∞.

    Negative eigenvalues raise an error or are set to zero, see `psd`. If order 2 is the only
    order, eigenvalues are not computed and negative ones remain undetected. The same is true of
    order ∞ if the solver has `largest_eigenvalue`. With any further order, or with psd="clip" for
    a matrix that may have negative eigenvalues, all orders are computed from the eigenvalues.

    Parameters
    ----------
    A : array (m, m) or (g, m, m)
        Symmetric matrix with m rows, of trace 1, in float64: diag(√p) K diag(√p) for similarities
        K and weights p, or Xᵀ diag(p) X for features X. For a stack of g matrices, every score is
        an array (g,).
    orders : sequence of float
        Orders of the scores, in [0, ∞].
    tolerance : EigenvalueTolerance
        Number of samples, and bounds of rounding errors in eigenvalues.
    psd : {"check", "clip"}, default "check"
        Raise an error for negative eigenvalues beyond rounding errors, or set them to zero.
    solver : Solver
        Functions that compute eigenvalues and norms. `A` may be of any type that they accept, for
        example a matrix on disk.

    Returns
    -------
    scores : list of float (of arrays for a stack, of 0-d tensors for torch)
        A score between 1 and n for each order. For a matrix of a stack that cannot be a similarity
        matrix, the score of order 2 is NaN; for other orders see `is_impossible` of `eigenvalues`.
    eigenvalues : NormalizedEigenvalues or None
        None if no order needed the eigenvalues.

    Raises
    ------
    NotPSDError, ValueError
        For a single matrix with eigenvalues that no similarity matrix can have.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410, eq. (2); orders: Pasarkar & Dieng,
    arXiv 2310.12952, eq. (3).

    Examples
    --------
    >>> (score,), _ = compute_hill_numbers(np.eye(4) / 4, [2.0], EigenvalueTolerance(4))
    >>> score
    4.0
    """
    if orders and can_skip_eigenvalues(orders, tolerance.semidefinite, psd, solver):
        return [score_without_eigenvalues(A, q, tolerance, solver) for q in orders], None
    eigenvalues = compute_eigenvalues(A, tolerance, psd, solver.eigenvalues, solver.vectors)
    if eigenvalues.values.ndim == 1:
        eigenvalues.warn_about_truncation(orders)
    return [eigenvalues.hill_number(q) for q in orders], eigenvalues


def can_skip_eigenvalues(
    orders: Sequence[float], semidefinite: bool, psd: PSD, solver: Solver
) -> bool:
    """Return whether all scores can be computed from the norm or the largest eigenvalue.

    The Frobenius norm of the matrix is sufficient for order 2, and the largest eigenvalue for order
    ∞, if `solver` has a function that computes it. `semidefinite` is whether the matrix is positive
    semidefinite by construction. If it may have negative eigenvalues, psd="clip" needs all
    eigenvalues.
    """
    if solver.vectors or (psd == "clip" and not semidefinite):
        return False
    for q in orders:
        is_supported = q == 2 or (q == math.inf and solver.largest_eigenvalue is not None)
        if not is_supported:
            return False
    return True


def score_without_eigenvalues(
    A: Array, q: float, tolerance: EigenvalueTolerance, solver: Solver
) -> Number:
    """Compute the score of order 2 or ∞ of a weighted similarity matrix A of trace 1.

    It is 1/‖A‖² with the Frobenius norm for q = 2, and 1/λ_max with the largest eigenvalue of A for
    q = ∞, so the eigendecomposition of A is not needed.
    """
    if q == 2:
        return check_range(1 / solver.squared_norm(A), q, tolerance)
    assert solver.largest_eigenvalue is not None
    return check_range(1 / solver.largest_eigenvalue(A), q, tolerance)


def check_range(value: Array | float, q: float, tolerance: EigenvalueTolerance) -> Number:
    """Clip the score(s) `value` of order q to [1, n], where n = `tolerance.n` is the sample size.

    Clipping only removes rounding errors: a ValueError is raised if a single score is outside of
    this range by a relative error of more than RANGE_TOLERANCE. In an array with the scores of
    several matrices, such scores become NaN instead.
    """
    n = tolerance.n
    if getattr(value, "ndim", 0):
        xp = namespace(value)
        is_possible = (value >= 1 - RANGE_TOLERANCE) & (value <= n * (1 + RANGE_TOLERANCE))
        return clip_to_range(xp.where(is_possible, value, math.nan), n)
    if not 1 - RANGE_TOLERANCE <= to_float(value) <= n * (1 + RANGE_TOLERANCE):
        raise ValueError(
            f"the Vendi Score of order {q:g} must be between 1 and {n}, the number of samples, got "
            f"{to_float(value):.6g}; {tolerance.describe_cause()}"
        )
    return clip_to_range(value, n)


def weight_matrix(
    K: np.ndarray, p: np.ndarray | None = None, normalize: bool = False
) -> tuple[np.ndarray, EigenvalueTolerance]:
    """Validate the similarities K (n, n) of n samples, and compute diag(√p) K diag(√p) of trace 1.

    The weights p are uniform by default. With `normalize`, k(x, y) is first divided by
    √(k(x, x) k(y, y)). Also returns bounds of the rounding errors in eigenvalues. The caller must
    check that entries are finite, because the errors raised here do not mention NaN or infinity.
    """
    n = len(K)
    precision = 0.0
    if K.dtype != np.float64:
        precision = float(np.finfo(K.dtype).eps)
        K = K.astype(np.float64)
    K, diagonal = check_matrix(K, normalize, precision)
    if p is None and np.count_nonzero(diagonal == 1) == n:
        return K / n, EigenvalueTolerance(n, precision)
    # Dividing by the diagonal normalizes K, or makes diagonal entries that are 1 up to rounding
    # exactly 1.
    scale = np.sqrt((1 / n if p is None else p) / diagonal)
    A = K * scale
    A *= scale[:, None]
    return A, EigenvalueTolerance(n, precision)


def weight_features(
    X: np.ndarray, p: np.ndarray | None = None, normalize: bool = True
) -> tuple[np.ndarray, EigenvalueTolerance]:
    """Compute the smaller of FFᵀ (n, n) and FᵀF (d, d), which have the same non-zero eigenvalues.

    The rows of F are the features X (n, d) of n samples, divided by their lengths and multiplied by
    √p, so that the trace is 1. The weights p are uniform by default. Without `normalize`, lengths
    must be 1 up to rounding. Also returns bounds of the rounding errors in eigenvalues.
    """
    n, d = X.shape
    X = X.astype(np.float64, copy=False)
    squared_norms = _compute_squared_norms(X)
    if normalize:
        if not (
            squared_norms.min() >= 1 / MAX_SQUARED_NORM and squared_norms.max() <= MAX_SQUARED_NORM
        ):
            X = rescale_rows(X)  # does not change cosines
            squared_norms = _compute_squared_norms(X)
        check_positive_diagonal(squared_norms, "of `X` ")
    else:
        check_unit_diagonal(squared_norms, has_features=True, prefix="of `X` ")
    # Dividing by lengths that are 1 up to rounding makes the trace equal to the sum of p.
    F = X * np.sqrt((1 / n if p is None else p) / squared_norms)[:, None]
    return gram(F.T if d < n else F), EigenvalueTolerance(n, semidefinite=True)


def _compute_squared_norms(X: np.ndarray) -> np.ndarray:
    """Compute the squared norm of each row of X; the caller handles overflow and underflow."""
    with np.errstate(over="ignore", under="ignore"):
        return np.vecdot(X, X)


def score_K(
    K: np.ndarray,
    q: float,
    p: np.ndarray | None = None,
    normalize: bool = False,
    *,
    solver: Solver = NUMPY_SOLVER,
) -> float:
    """Compute the Vendi Score of finite, symmetric similarities K (n, n) with unit diagonal.

    VS_q = (Σ λ^q)^{1/(1−q)} with the eigenvalues λ of diag(√p) K diag(√p). The caller validates the
    order q and the weights p, which must sum to 1 and are uniform by default. With `normalize`,
    k(x, y) is divided by √(k(x, x) k(y, y)), so the diagonal need only be positive. Negative
    eigenvalues beyond rounding errors raise an error, except at order 2. `solver` contains the
    functions that compute eigenvalues and norms.

    >>> score_K(np.array([[1.0, 0.0], [0.0, 1.0]]), q=1)
    2.0
    """
    A, tolerance = weight_matrix(K, p, normalize)
    values, _ = compute_hill_numbers(A, [q], tolerance, solver=solver)
    return values[0]


def score_X(
    X: np.ndarray,
    q: float,
    p: np.ndarray | None = None,
    normalize: bool = True,
    *,
    solver: Solver = NUMPY_SOLVER,
) -> float:
    """Compute the Vendi Score of n samples from finite features X (n, d).

    Similarities are dot products of rows, which are divided by their lengths if `normalize`. The
    caller validates the order q and the weights p, which must sum to 1 and are uniform by default.
    Computations are in float64. `solver` contains the functions that compute eigenvalues and norms.

    >>> score_X(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]]), q=0)
    2.0
    """
    A, tolerance = weight_features(X, p, normalize)
    values, _ = compute_hill_numbers(A, [q], tolerance, solver=solver)
    return values[0]
