"""The Vendi Score of a similarity matrix K, or of rows of features X with K = X Xᵀ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..support.namespace import (
    Array,
    disable_autocast,
    gram,
    is_numpy,
    is_torch,
    multiplies_exactly,
    namespace,
    of_moderate_length,
    to_host,
)
from .checks import check_positive, check_unit_diagonal, checked_matrix, is_sound
from .hill import hill_number, within_range
from .shares import Rounding, Shares, diagonal_shares, shares, shares_above

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
# Rows within this distance of length 1, as after normalization in float32, count as unit rows.
# It moves log VS by less than 1e-5.
UNIT_TOLERANCE = 1e-6
# Single precision is accurate enough where the bound of `solve_single` on the error of log VS, the
# largest eigenvalue, and the columns that share the trace stay within these limits. The accuracy
# contract is an error of log VS of at most max(1e-8, min(2e-5, 1 % of log VS)); where the largest
# eigenvalue is at most 0.9, log VS of every order is at least 0.1, and 1 % of it more than 2e-5.
# Tried in benchmarks/accuracy_grid.py and benchmarks/differential.py.
MAX_SINGLE_ERROR, MAX_SINGLE_EIGENVALUE, MIN_SINGLE_COLUMNS = 1e-5, 0.9, 16


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
    spacing = float(np.finfo(K.dtype).eps) if K.dtype == np.float32 else 0.0
    K = K.astype(np.float64, copy=False)
    n, diagonal = len(K), K.diagonal()
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

    The caller has read q, and p of sum 1. The smaller of XXᵀ and XᵀX is decomposed: they share all
    eigenvalues but zeros. Both are computed in float64, except where `can_use_single` allows single
    precision and the result is accurate enough.

    >>> score_X(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]]), q=0)
    2.0
    """
    n, d = X.shape
    if p is None and q >= 1 and in_single(X):
        score = _score_in_single(X, q, eigenvalues)
        if score is not None:
            return score
    few = n * d * min(n, d) < SINGLE_SIZE
    if few:
        X = X.astype(np.float64, copy=False)
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
    if few:
        F = X * scale[:, None]
        A = gram(F.T if d < n else F)
    elif d < n:
        A = covariance(X, scale)  # FᵀF (d, d)
    else:
        A = covariance(X.T, None)  # FFᵀ (n, n)
        A *= scale
        A *= scale[:, None]
    return _number(A, q, Rounding(n, True, 0.0, lambda: CLIP), eigenvalues)


# A matrix that passed the checks may not be a similarity; `compute` takes `psd`.
CLIP = "is the similarity positive semidefinite? psd='clip' sets negative eigenvalues to zero"


def _number(A: np.ndarray, q: float, rounding: Rounding, eigenvalues: Solver) -> float:
    """Return the Hill number of A, of trace 1; warn where rounding may have changed it."""
    if q == 2:
        return within_range(1 / np.vdot(A, A), rounding.n)
    exact = diagonal_shares(A)
    spectrum = exact[0] if exact else shares(eigenvalues(A), rounding)
    spectrum.warn_of_cut([q])
    return float(hill_number(spectrum.positive_at(q), q))


def _squares(X: np.ndarray) -> np.ndarray:
    """Return ‖x‖² of every row in float64, a block of rows at a time."""
    with np.errstate(over="ignore", under="ignore"):
        if X.dtype == np.float64:
            return np.vecdot(X, X)
        blocks = (X[i : i + SINGLE_ROWS] for i in range(0, len(X), SINGLE_ROWS))
        wide = (block.astype(np.float64) for block in blocks)
        return np.concatenate([np.vecdot(block, block) for block in wide])


def in_single(X: Array) -> bool:
    """Return whether rows are in single precision, and so many that it would save time."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= SINGLE_SIZE


def can_use_single(X: Array, squares: Array) -> bool:
    """Return whether rows X of squared lengths `squares` may be multiplied in single precision."""
    if not in_single(X) or (is_torch(X) and not multiplies_exactly(X)):
        return False
    return bool((abs(squares - 1) <= 2 * UNIT_TOLERANCE).all())


def _score_in_single(X: np.ndarray, q: float, eigenvalues: Solver) -> float | None:
    """Return the score from products in single precision, or None where that is not accurate."""
    n, d = X.shape
    with np.errstate(over="ignore", under="ignore"):
        squares = np.vecdot(X, X)
    if not can_use_single(X, squares):
        return None
    C = covariance(X if d < n else X.T, None, single=True)
    if q == 2:
        C = C.astype(np.float64, copy=False)
        squares = np.vdot(C, C) / np.trace(C) ** 2  # at least the square of the largest eigenvalue
        return within_range(1 / squares, n) if squares <= MAX_SINGLE_EIGENVALUE**2 else None
    spectrum = solve_single(C, n, eigenvalues)
    return None if spectrum is None else float(hill_number(spectrum.positive, q))


def covariance(X: Array, scale: Array | None, single: bool = False) -> Array:
    """Return FᵀF of F = diag(s) X by blocks of rows, added up in float64.

    If `single`, rows have length 1, blocks are multiplied in single precision, and the scale of
    NumPy rows is left out; that of tensors carries the gradient of their lengths.
    """
    xp = namespace(X)
    dtype, rows = (xp.float32, SINGLE_ROWS) if single else (xp.float64, SINGLE_ROWS // 4)
    if single and is_numpy(X):
        scale = None
    s = None if scale is None else xp.astype(scale, dtype)[:, None]
    out = np.empty_like(X[:rows], dtype) if is_numpy(X) else None  # new memory takes longer
    total = xp.float64 if out is None or len(X) > rows else dtype
    C: Array | float = 0.0
    with disable_autocast(X):
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            F = X[block]
            if s is not None:
                F = F * s[block] if out is None else np.multiply(F, s[block], out=out[: len(F)])
            F = xp.astype(F, dtype, copy=False)
            C = C + xp.astype(gram(F.T), total, copy=False)
    return C


def solve_single(C: Array, trace: float, eigenvalues: Callable[[Array], Array]) -> Shares | None:
    """Return the eigenvalues of C over their sum, or None where they are not accurate enough.

    C holds the products of unit rows in single precision, of a known trace. Its eigenvalues should
    not be negative: negative ones become 0, and no others. The sum N of their absolute values and
    of the error of the trace, both over the trace, says how large errors are: a mass of N that is
    wrongly spread over d eigenvalues, or taken from them, moves log VS by about N (1 + log(d/N)).
    Errors of few columns may all be positive, and show in neither.
    """
    xp = namespace(C)
    diagonal = to_host(xp.astype(xp.linalg.diagonal(C), xp.float64))
    if MIN_SINGLE_COLUMNS * np.sum(diagonal**2) > np.sum(diagonal) ** 2:
        return None
    if is_numpy(C):
        # From TWO_STAGE_SIZE on, two stages in double precision take less time than one in single.
        precise = np.float32 if len(C) < TWO_STAGE_SIZE else np.float64
        C = C.astype(precise, copy=False)
    values = xp.flip(xp.astype(eigenvalues(C), xp.float64)) / trace
    on_host = to_host(values)
    negative = -float(on_host[on_host < 0].sum())
    wrong = negative + abs(float(np.sum(diagonal)) / trace - 1)
    error = wrong * (1 + math.log(len(on_host) / wrong)) if wrong > 0 else 0.0
    if not (error <= MAX_SINGLE_ERROR and on_host[0] <= MAX_SINGLE_EIGENVALUE):
        return None
    rank = int((on_host > 0).sum())
    return Shares(values=shares_above(values, 0.0), negative_mass=negative, rank=rank)
