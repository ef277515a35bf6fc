"""The Vendi Score of a similarity matrix K, or of rows of features X with K = X Xᵀ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .checks import check_positive, check_unit_diagonal, checked_matrix, is_sound
from .hill import hill_number, within_range
from .namespace import Array, gram, is_numpy, namespace, of_moderate_length
from .shares import Rounding, diagonal_shares, shares

# Returns all eigenvalues of a symmetric matrix, ascending.
Solver: TypeAlias = Callable[[np.ndarray], np.ndarray]

# Least sizes at which spectral/ takes one thread, finds one eigenvalue for order ∞, and takes two
# stages for all. They are not used here: a caller passes such a solver.
ALONE_SIZE, LANCZOS_SIZE, TWO_STAGE_SIZE = 192, 500, 1536
# Below so many multiplications, double precision takes a millisecond; and rows that are multiplied
# in single at once: from 1,024 to 16,384 the error is the same, and fewer take longer.
SINGLE_SIZE, SINGLE_ROWS = 10**7, 16_384
# If any squared length, or its inverse, is larger, all rows are rescaled and squared again.
FAR = 1e30
# A larger share is found in double precision: noise of 1e-5 would be a percent of the other shares.
NEARLY_ALL = 0.999
# Lengths that differ by no more, as of rows normalised in single precision, are of one length.
EVEN = 1e-6


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

    The caller has read q, and p of sum 1. Rows become float64, but where products are `in_single`.
    The smaller of XXᵀ and XᵀX is decomposed: they share all eigenvalues but zeros.

    >>> score_X(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]]), q=0)
    2.0
    """
    n, d = X.shape
    few = n * d * min(n, d) < SINGLE_SIZE
    single = not few and p is None and q >= 1 and in_single(X)
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
    F, s = (X, scale) if d < n and not few else (X * scale[:, None], None)
    F = F if d < n else F.T
    A = gram(F.T) if few else covariance(F, s, single)  # FᵀF (d, d) or FFᵀ (n, n)
    if not single:
        return _number(A, q, Rounding(n, True, 0.0, lambda: CLIP), eigenvalues)
    values = without_noise(eigenvalues(A.astype(np.float32, copy=False)))
    if values[-1] < NEARLY_ALL:
        return float(hill_number(values[values > 0], q))
    return score_X(X.astype(np.float64), q, None, normalize, eigenvalues=eigenvalues)


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


def in_single(X: Array) -> bool:
    """Return whether rows in single precision are so many that their products stay in it."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= SINGLE_SIZE


def covariance(X: Array, scale: Array | None, single: bool = False) -> Array:
    """Return FᵀF of F = diag(s) X by blocks of rows; one s for all is left out if `single`."""
    xp = namespace(X)
    dtype, rows = (xp.float32, SINGLE_ROWS) if single else (xp.float64, SINGLE_ROWS // 4)
    if single and scale is not None and is_numpy(X) and np.ptp(scale) <= EVEN * scale[0]:
        scale = None
    s = None if scale is None else xp.astype(scale, dtype)[:, None]
    out = np.empty_like(X[:rows], dtype) if is_numpy(X) else None  # new memory takes longer
    total = xp.float64 if out is None or len(X) > rows else dtype
    C: Array | float = 0.0
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        F = X[block]
        if s is not None:
            F = F * s[block] if out is None else np.multiply(F, s[block], out=out[: len(F)])
        F = xp.astype(F, dtype, copy=False)
        C = C + xp.astype(gram(F.T), total, copy=False)
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
