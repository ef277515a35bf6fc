"""Products of float32 rows in single precision, for scores that these give accurately enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..core.eigenvalues import EigenvalueTolerance, NormalizedEigenvalues, normalize_above
from ..core.score import compute_hill_numbers
from ..similarity.covariance import covariance
from ..support.namespace import Array, is_numpy, is_torch, multiplies_exactly, namespace, to_host
from ..support.types import Number
from .eigen import TWO_STAGE_SIZE

# Below so many multiplications, double precision takes a millisecond.
SINGLE_SIZE = 10**7
# Rows within this distance of length 1, as after normalization in float32, count as unit rows.
# It moves log VS by less than 1e-5.
UNIT_TOLERANCE = 1e-6
# Single precision is accurate enough if the bound of `solve_in_single` on the error of log VS, the
# largest eigenvalue, and the columns that share the trace stay within these limits. The accuracy
# contract is an error of log VS of at most max(1e-8, min(2e-5, 1 % of log VS)); if the largest
# eigenvalue is at most 0.9, log VS of every order is at least 0.1, and 1 % of it more than 2e-5.
# Tried in benchmarks/accuracy_grid.py and benchmarks/differential.py.
MAX_ERROR, MAX_EIGENVALUE, MIN_COLUMNS = 1e-5, 0.9, 16

Scores = tuple[list[Number], NormalizedEigenvalues | None]


def can_save_time(X: Array) -> bool:
    """Return whether rows are in single precision, and so many that it would save time."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= SINGLE_SIZE


def can_use_single(X: Array, squares: Array) -> bool:
    """Return whether rows X of squared lengths `squares` may be multiplied in single precision."""
    if not can_save_time(X):
        return False
    if is_torch(X) and not (X.shape[1] < X.shape[0] and multiplies_exactly(X)):
        return False
    return bool((abs(squares - 1) <= 2 * UNIT_TOLERANCE).all())


def compute_scores(
    X: Array,
    scale: Array | None,
    orders: Sequence[float],
    solve: Callable[[Array], Array],
) -> Scores | None:
    """Return scores of orders from 1 on, and eigenvalues, or None if they are not accurate enough.

    `scale` (n,) divides rows of tensors by their lengths and √n, for the sake of its gradient.
    `solve` returns the eigenvalues of a matrix, ascending.
    """
    n, d = X.shape
    C = covariance(X if d < n else X.T, scale, single=True)
    trace = n if is_numpy(C) else 1.0  # rows of arrays are not scaled
    if set(orders) == {2.0}:
        return _score_order_2(C, n)
    eigenvalues = solve_in_single(C, trace, solve)
    if eigenvalues is None:
        return None
    return [eigenvalues.hill_number(q) for q in orders], eigenvalues


def _score_order_2(C: Array, n: int) -> Scores | None:
    """Return the score of order 2 from the norm of C, which sums up squares in float64."""
    xp = namespace(C)
    A = xp.astype(C, xp.float64, copy=False)
    A = A / xp.linalg.trace(A)
    scores, eigenvalues = compute_hill_numbers(A, [2.0], EigenvalueTolerance(n))
    # 1/Σλ² ≤ 1/λ_max²
    return None if scores[0] < 1 / MAX_EIGENVALUE**2 else (scores, eigenvalues)


def solve_in_single(
    C: Array, trace: float, solve: Callable[[Array], Array]
) -> NormalizedEigenvalues | None:
    """Return the eigenvalues of C over their sum, or None if they are not accurate enough.

    C holds the products of unit rows in single precision, of a known trace. Its eigenvalues should
    not be negative: negative ones become 0, and no others. The sum N of their absolute values and
    of the error of the trace, both over the trace, says how large errors are: a mass of N that is
    wrongly spread over d eigenvalues, or taken from them, moves log VS by about N (1 + log(d/N)).
    Errors of few columns may all be positive, and show in neither.
    """
    xp = namespace(C)
    diagonal = to_host(xp.astype(xp.linalg.diagonal(C), xp.float64))
    if MIN_COLUMNS * np.sum(diagonal**2) > np.sum(diagonal) ** 2:
        return None
    if is_numpy(C):
        # From TWO_STAGE_SIZE on, two stages in double precision take less time than one in single.
        C = C.astype(np.float32 if len(C) < TWO_STAGE_SIZE else np.float64, copy=False)
    values = xp.flip(xp.astype(solve(C), xp.float64)) / trace
    computed = to_host(values)
    negative_mass = -float(computed[computed < 0].sum())
    mass = negative_mass + abs(float(np.sum(diagonal)) / trace - 1)
    error = mass * (1 + math.log(len(computed) / mass)) if mass > 0 else 0.0
    if not (error <= MAX_ERROR and computed[0] <= MAX_EIGENVALUE):
        return None
    return NormalizedEigenvalues(
        values=normalize_above(values, 0.0), computed=computed, negative_mass=negative_mass
    )
