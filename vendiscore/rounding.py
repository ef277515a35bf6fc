"""Covariances from single-precision products, with the rounding error that they were made with.

Data that come in float32 can be multiplied in float32, at twice the speed, if that is known not
to matter. Rows are multiplied in blocks and the blocks added up in float64, so that errors do not
grow with n; the error of a block is measured, not bounded, by multiplying some blocks in both
precisions; and `sensitivity` says what an error of the covariance means for a score.
"""

from __future__ import annotations

import math

import numpy as np

from .arrays import Array, row_blocks

# One block in so many is also multiplied in float64.
MEASURED = 32
# and of its columns so many, spread over all.
COLUMNS = 128
# The error is measured on a few blocks only; it is trusted up to this factor.
SAFETY = 2.0


def covariance_single(X: np.ndarray, scale: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Fᵀ F for F = diag(scale) X in float32, and an estimate of its error in Frobenius norm.

    Rounding errors of different blocks are taken to be independent (the model of Higham & Mary,
    SIAM J. Sci. Comput. 2019), so those of b blocks of relative error ρ add up to ρ/√b.

    Parameters
    ----------
    X : array (n, d), float32
    scale : array (n,), optional

    Returns
    -------
    C : array (d, d), float64
    error : float
        Estimate of ‖C − Fᵀ F‖_F, absolute.
    """
    d = X.shape[1]
    C = np.zeros((d, d))
    buffer = np.empty((0, d), dtype=np.float32)
    single = None if scale is None else scale.astype(np.float32)
    errors, blocks = [], list(row_blocks(X.shape[0], 2 * d, least=2 * d))
    for number, block in enumerate(blocks):
        rows = X[block]
        if len(buffer) < len(rows):
            buffer = np.empty(rows.shape, dtype=np.float32)
        F = buffer[: len(rows)]
        np.multiply(rows, np.float32(1) if single is None else single[block, None], out=F)
        product = F.T @ F  # NumPy notices the transpose and does half the work (syrk)
        C += product
        if number % MEASURED == 0:
            some = slice(None, None, max(1, d // COLUMNS))
            exact = rows[:, some] * (np.float64(1) if scale is None else scale[block, None])
            gap = exact.T @ exact - product[some, some]
            errors.append(float(np.linalg.norm(gap) * d / len(gap) / np.trace(product)))
    error = SAFETY * max(errors) / math.sqrt(len(blocks)) * float(np.trace(C))
    return C, error


def sensitivity(shares: Array, q: float) -> float:
    """How much log VS_q moves, to first order, for a change of the shares of norm 1.

    The norm of the gradient of log VS_q at positive shares that keep their sum; infinite if some
    share is zero, where the gradient of small orders has no bound.

    >>> sensitivity(np.array([0.5, 0.5]), 1.0)
    0.0
    """
    if not np.all(shares > 0):
        return math.inf
    if q == 0:
        return 0.0  # the number of positive shares, as long as they stay positive
    if math.isinf(q):
        gradient = np.where(shares == shares.max(), 1 / shares, 0.0)
    elif q == 1:
        gradient = -np.log(shares)
    else:
        relative = shares / shares.max()
        gradient = q / (1 - q) * relative**q / shares / np.sum(relative**q)
    return float(np.linalg.norm(gradient - gradient.mean()))
