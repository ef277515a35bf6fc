"""Covariances from single-precision products, at twice the speed, with their measured error."""

from __future__ import annotations

import math

import numpy as np

from ..arrays.namespace import Array, gram, row_blocks
from ..arrays.threads import in_order

# Columns among whose pairs the error is measured, and rows that say which columns are large.
COLUMNS = 16
ROWS = 1024
# The error, measured on a few pairs only, is trusted up to this factor.
SAFETY = 2.0
# Single-precision products are used where they move log VS by no more than this.
SINGLE_TOLERANCE = 1e-6


def covariance_single(X: np.ndarray, scale: np.ndarray, seed: int = 0) -> tuple[np.ndarray, float]:
    """Return FᵀF for F = diag(scale) X in float32, and its error, measured on pairs of columns."""
    n, d = X.shape
    rng = np.random.default_rng(seed)
    some = np.sort(rng.integers(0, n, min(n, ROWS)))
    norms = np.einsum("ij,ij,i->j", X[some], X[some], scale[some] ** 2)
    chance = 0.5 * norms / (norms.sum() or 1.0) + 0.5 / d
    chance /= chance.sum()
    drawn = np.sort(rng.choice(d, COLUMNS, p=chance))
    C, exact = np.zeros((d, d)), np.zeros((COLUMNS, COLUMNS))
    single = scale.astype(np.float32)

    def share(block: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return a block's part of C, and of the drawn columns of C in double precision."""
        rows = X[block]
        few = np.take(rows, drawn, axis=1) * scale[block, None]
        return gram((rows * single[block, None]).T), few.T @ few

    for coarse, fine in in_order(share, row_blocks(n, 2 * d, least=2 * d)):
        C += coarse
        exact += fine
    gap = C[np.ix_(drawn, drawn)] - exact
    weights = 1 / (COLUMNS * chance[drawn])
    return C, SAFETY * math.sqrt(float(weights @ gap**2 @ weights))


def sensitivity(shares: Array, q: float) -> float:
    """Return the norm of the gradient of log VS_q at shares of fixed sum; ∞ if one is zero."""
    if not np.all(shares > 0):
        return math.inf
    if q == 0:
        return 0.0  # the number of positive shares, as long as they stay positive
    if math.isinf(q):
        gradient = np.where(shares == shares.max(), 1 / shares, 0.0)
    elif q == 1:
        gradient = -np.log(shares)
    else:
        # Up to a constant, which the mean takes off: (λ^{q−1} − 1)/(1 − q) is exact as q → 1.
        top = shares.max()
        relative = shares / top
        powers = np.expm1((q - 1) * np.log(relative))
        gradient = q / (1 - q) * powers / top / np.sum(relative**q)
    return float(np.linalg.norm(gradient - gradient.mean()))
