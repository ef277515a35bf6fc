"""Covariances from single-precision products, at twice the speed, with bounds of their error."""

from __future__ import annotations

import math

import numpy as np

from ..arrays.namespace import Array, gram
from ..arrays.threads import in_order

# Random signs that the error is measured with, and standard errors added to its mean square.
PROBES, SURE = 8, 4
# Rows are multiplied so many at a time, or so many numbers, and added up in double precision: of
# 2,048 rows of 512 the error is 1.6 times as large, of 128 additions take as long as products.
ROWS, ENTRIES = 512, 1 << 17
# Single-precision products are used where they move log VS by no more than this.
SINGLE_TOLERANCE = 1e-6


def covariance_single(
    X: np.ndarray, scale: np.ndarray, trace: float, seed: int = 0
) -> tuple[np.ndarray, float]:
    """Return FᵀF for F = diag(scale) X in float32, of this trace, and the norm of its error.

    The error E is measured over all rows, by E z = C z − Fᵀ(F z) in double precision for a few
    random signs z: ‖E z‖² is ‖E‖² on average.
    """
    n, d = X.shape
    signs = np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), (d, PROBES))
    single, squares = scale.astype(np.float32), scale**2
    rows = max(ROWS, ENTRIES // d, d // 2)

    def share(block: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return a block's parts of C and of Fᵀ(F z)."""
        some = X[block]
        # In single precision F z is off by as much for each row, at random; sums of it are not.
        weights = (some @ signs) * squares[block, None]
        return gram((some * single[block, None]).T), weights.T @ some.astype(np.float64)

    C, products = np.zeros((d, d)), np.zeros((PROBES, d))
    for part, of_signs in in_order(share, (slice(at, at + rows) for at in range(0, n, rows))):
        C += part
        products += of_signs
    # Scales that are alike are rounded alike, which the trace tells.
    C *= trace / np.trace(C)
    gaps = np.square(C @ signs - products.T).sum(axis=0)
    most = gaps.mean() + SURE * gaps.std(ddof=1) / math.sqrt(PROBES)
    return C, math.hypot(math.sqrt(most), d * np.finfo(float).eps)


def nearest_shares(values: np.ndarray) -> np.ndarray:
    """Return the shares of sum 1 that are nearest to descending values: none is negative."""
    excess = (np.cumsum(values) - 1) / np.arange(1, len(values) + 1)
    return np.maximum(values - excess[np.flatnonzero(values > excess)[-1]], 0.0)


def log_number_bound(shares: Array, error: float, q: float) -> float:
    """Bound the change of log VS_q between shares and others at most `error` away in norm.

    By Hoffman and Wielandt shares of matrices differ in norm by no more than the matrices do. For
    q up to 2 the sum of f(λ) = (λ − λ^q)/(q − 1), which is concave, is held between its tangents at
    shares that are raised to a threshold, and a parabola below: tangents at shares near zero would
    be of any slope. f(y) + f'(y)(λ − y) − f(λ) ≤ y^(q−2) (λ − y)² for all λ ≥ 0.
    """
    top, error = float(shares.max()), max(error, np.finfo(float).eps)
    if q == 0:
        # The number of positive shares, as long as all stay far from zero.
        return 0.0 if 2 * error < shares.min() else math.inf
    if math.isinf(q):
        return _log_ratio(error / top, 1.0)
    if q > 2:
        relative, error = shares / top, error / top
        slope = np.linalg.norm((relative + error) ** (q - 1))
        return _log_ratio(q * error * float(slope) / float(np.sum(relative**q)), q - 1)
    least = error / math.sqrt(len(shares))
    moved = min(_tangent_bound(shares, error, q, least * 2.0**i) for i in range(-2, 5))
    if q == 1:
        return moved
    return _log_ratio(abs(q - 1) * moved / float(np.sum(shares**q)), abs(q - 1))


def _tangent_bound(shares: np.ndarray, error: float, q: float, threshold: float) -> float:
    raised = np.maximum(shares, threshold)
    logs = _log(raised, q)
    # Slopes but for a constant, which changes that sum to 0 do not meet.
    moved = error * q * float(np.linalg.norm(logs - logs.mean()))
    low = shares < threshold
    small, log = shares[low], _log(np.array([threshold]), q)
    # By how much the tangent at the threshold is above f at smaller shares.
    gaps = threshold * (1 + (q - 1) * log) - small * (1 + q * log)
    above = float(np.sum(gaps + small * _log(np.maximum(small, 1e-300), q)))
    curve = raised ** (q - 2)
    below = 2 * float(curve.max()) * error**2 + 2 * float(curve[low] @ (threshold - small) ** 2)
    return moved + max(above, below - above)


def _log(x: np.ndarray, q: float) -> np.ndarray:
    """Return (x^(q−1) − 1)/(q − 1), which is log x at q = 1."""
    logs = np.log(x)
    return logs if q == 1 else np.expm1((q - 1) * logs) / (q - 1)


def _log_ratio(change: float, factor: float) -> float:
    return -math.log1p(-change) / factor if change < 1 else math.inf
