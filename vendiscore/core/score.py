"""The Vendi Score of a similarity matrix K, or of rows of features X with K = X Xᵀ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .checks import check_positive, check_unit_diagonal, checked_matrix, is_sound
from .hill import hill_number, within_range
from .namespace import Array, as_kind_of, gram, is_numpy, namespace, of_moderate_length
from .shares import Rounding, diagonal_shares, shares

# Returns all eigenvalues of a symmetric matrix, ascending.
Solver: TypeAlias = Callable[[np.ndarray], np.ndarray]

# Least sizes at which spectral/ takes one thread, finds one eigenvalue for order ∞, and takes two
# stages for all. They are not used here: a caller passes such a solver.
ALONE_SIZE, LANCZOS_SIZE, TWO_STAGE_SIZE = 192, 500, 1536
# Below so many multiplications, double precision takes a millisecond.
SINGLE_SIZE = 10**7
# Rows that are multiplied in single precision at once. From 1,024 to 16,384 rows the error is the
# same; fewer take longer.
SINGLE_ROWS = 8192
# If any squared length, or its inverse, is larger, all rows are rescaled and squared again.
FAR = 1e30
# A larger share is found in double precision: noise of 1e-5 would be a percent of the other shares.
NEARLY_ALL = 0.999


def score_K(
    K: np.ndarray,
    q: float,
    p: np.ndarray | None = None,
    normalize: bool = False,
    *,
    eigenvalues: Solver = np.linalg.eigvalsh,
) -> float:
    """Return the Vendi Score of finite similarities K (n, n), symmetric, 1 on the diagonal.

    The caller has read q, and p of sum 1. Orders but 2 refuse negative eigenvalues beyond rounding.
    VS_q = (Σ λ^q)^{1/(1−q)} with λ the eigenvalues of K_p = diag(√p) K diag(√p), of trace 1
    (arXiv 2210.02410, eq. 2; orders: arXiv 2310.12952, eq. 3). Order 2 is 1/‖K_p‖²_F.

    >>> score_K(np.array([[1.0, 0.0], [0.0, 1.0]]), q=1)
    2.0
    """
    n, diagonal = len(K), K.diagonal()
    spacing = float(np.finfo(K.dtype).eps) if K.dtype == np.float32 else 0.0
    if normalize or not is_sound(K):
        K, diagonal = checked_matrix(K, normalize, spacing)
    if p is None and np.count_nonzero(diagonal == 1) == n:
        K_p = K / n
    else:
        # A diagonal of 1 but for rounding becomes 1.
        scale = np.sqrt((1 / n if p is None else p) / diagonal)
        K_p = K * scale
        K_p *= scale[:, None]
    return _number(K_p, q, Rounding(n, False, spacing, lambda: CLIP), eigenvalues)


def score_X(
    X: np.ndarray,
    q: float,
    p: np.ndarray | None = None,
    normalize: bool = True,
    *,
    eigenvalues: Solver = np.linalg.eigvalsh,
) -> float:
    """Return the Vendi Score of finite rows X (n, d), whose dot products are similarities.

    The caller has read q, and p of sum 1. Rows become float64, but for many float32 rows without p.
    The smaller of XXᵀ and XᵀX is decomposed: they share all eigenvalues but zeros.

    >>> score_X(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]]), q=0)
    2.0
    """
    n, d = X.shape
    single = X.dtype == np.float32 and p is None and q >= 1 and d < n and n * d**2 >= SINGLE_SIZE
    X = X if single else X.astype(np.float64, copy=False)
    squares = _squares(X)
    if normalize:
        if not (squares.min() >= 1 / FAR and squares.max() <= FAR):
            X = of_moderate_length(X)  # cosines do not depend on it
            squares = _squares(X)
        check_positive(squares, "of `X` ")
    else:
        check_unit_diagonal(squares, rows=True, of="of `X` ")
    # Lengths of 1 but for rounding become 1, so that the trace is the sum of p.
    scale = np.sqrt((1 / n if p is None else p) / squares)
    rounding = Rounding(n, True, 0.0, lambda: CLIP)
    if single:
        values = without_noise(eigenvalues(covariance_single(X, scale).astype(np.float32)))
        if values[-1] < NEARLY_ALL:
            return float(hill_number(values[values > 0], q))
        return score_X(X.astype(np.float64), q, None, normalize, eigenvalues=eigenvalues)
    F = X * scale[:, None]
    # FᵀF (d, d) or FFᵀ (n, n)
    return _number(gram(F.T if d < n else F), q, rounding, eigenvalues)


# A matrix that passed the checks may not be a similarity; `compute` takes `psd`.
CLIP = "is the similarity positive semidefinite? psd='clip' sets negative eigenvalues to zero"


def _number(A: np.ndarray, q: float, rounding: Rounding, eigenvalues: Solver) -> float:
    """Return the Hill number of A, of trace 1; warn where rounding may have changed it."""
    if q == 2:
        return within_range(1 / np.vdot(A, A), rounding.n)
    exact = diagonal_shares(A)
    spectrum = exact[0] if exact else shares(eigenvalues(A), rounding)
    spectrum.warn_of_cut([q])
    return float(hill_number(spectrum.values[spectrum.values > 0], q))


def _squares(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        return np.vecdot(X, X)


def covariance_single(X: Array, scale: Array | None) -> Array:
    """Return FᵀF of F = diag(s) X by blocks of rows that are multiplied in single precision."""
    xp, d = namespace(X), X.shape[1]
    C = xp.zeros((d, d), dtype=xp.float64, device=X.device)
    s = None if scale is None else as_kind_of(scale, X)[:, None]
    out = np.empty_like(X[:SINGLE_ROWS]) if is_numpy(X) else None  # new memory takes longer
    for start in range(0, len(X), SINGLE_ROWS):
        block = slice(start, start + SINGLE_ROWS)
        F = X[block]
        if s is not None:
            F = F * s[block] if out is None else np.multiply(F, s[block], out=out[: len(F)])
        C += gram(F.T)
    return C


def without_noise(values: Array) -> Array:
    """Return ascending eigenvalues of products in single precision, of sum 1.

    Eigenvalues up to the size of the most negative one are noise and become 0. The others are
    divided by their sum: equal rows are rounded equally, which moves the trace.
    """
    xp = namespace(values)
    values = xp.astype(values, xp.float64)
    values = values * (values > abs(values[0]) * (values[0] < 0))
    return values / values.sum()
