"""Compute scores without each sample, or with further samples, from one spectrum.

Let y_i = √p_i x_i, A = Σ_i y_i y_iᵀ of trace 1, S_q(A) = tr (A^q − A)/(1 − q), c = yᵀy, b > 0 and
s(t) = yᵀ (A + tI)⁻¹ y, which is Σ_j λ_j U_ij²/(λ_j + t) for sample i of the set. Then

    S_q(A) − S_q(A − yyᵀ) = −c [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                            + q sinc(1−q) ∫₀^∞ t^{q−1} [−log(1 − s(t)) − c/(t+b)] dt,

and for an added sample, with log(1 + s) instead of −log(1 − s). Proof: docs/identity.md. With
b = yᵀAy/c ∓ c/2, few nodes are needed for orders up to 2. Above 2, samples are treated as clusters
of one sample.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.hill import log_power_mean
from ..support.arguments import DEFAULT_ORDER, check_float, check_order
from ..support.namespace import Array, row_blocks, to_float, to_host
from ..support.types import Number, Weights
from .leave_cluster_out import leave_cluster_out
from .quadrature import (
    TOLERANCE,
    compute_surprisal,
    log_score_from_change,
    quadrature_nodes,
    trace_term,
)
from .spectrum import Spectrum, positive_eigenpairs

RIDGE = 1e-9  # ridge of residual fractions, relative to the weight of a sample
MAX_SAMPLE_WEIGHT = 1 - 1e-12  # without a sample of more weight, nothing remains
# Error of log VS with a sample added, and maximum squared distance of a sample from the span of the
# set that may be due to rounding.
GAIN_TOLERANCE = 1e-13
SPAN_TOLERANCE = 1e-12


def leave_one_out(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute log VS_q of the set without each sample, shape (n,).

    If negative eigenvalues were clipped, the other samples are clipped as a set of their own.
    """
    q = check_order(q, allow_zero=False)
    clipped = spectrum.negative_eigenvalues is not None
    values, U = positive_eigenpairs(spectrum, q)
    if spectrum.n < 2:
        raise ValueError("a set of one sample has nothing left without it; pass two samples")
    left = np.empty(len(U))
    for rows, squares in _iter_squared_blocks(U):
        p = squares @ values
        if (p > MAX_SAMPLE_WEIGHT).any():
            i = int(np.argmax(p)) + rows.start
            raise ValueError(f"sample {i} has all the weight: without it nothing is left")
        if q <= 2 and not clipped:
            left[rows] = log_scores_leaving_each_out(values, squares, q, 1 / spectrum.n)
    if q > 2 or clipped:
        return leave_cluster_out(spectrum, np.arange(len(U)), q)
    return np.clip(left, 0.0, math.log(spectrum.n - 1))


def log_score_drops(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute log VS_q of the set minus log VS_q without each sample, shape (n,)."""
    return compute_log_score(spectrum, q) - leave_one_out(spectrum, q)


def relative_drops(log_drops: object) -> Array:
    """Convert drops in log VS to relative drops of the score."""
    return -np.expm1(-np.asarray(log_drops))


def log_scores_with_each_added(
    values: np.ndarray, squares: np.ndarray, q: float, weight: float
) -> np.ndarray:
    """Compute log VS_q of the set with each of m unit samples added, shape (m,), for q ≤ 2.

    `values` (r,) are the positive eigenvalues of the set, `squares` (m, r) the squared coordinates
    of the samples along its eigenvectors, and `weight` the weight of an added sample.
    """
    t, w = quadrature_nodes(q, values.min(), values.max(), GAIN_TOLERANCE, weight)
    resolvents = 1 / (values[:, None] + t)
    logs = np.empty(len(squares))
    for rows in row_blocks(len(squares), 32 * len(t), min_rows=1024):
        part = squares[rows]
        inside = part.sum(axis=1)
        lengths = np.where(inside > 1 - SPAN_TOLERANCE, inside, 1.0)  # 1 except for rounding
        outside = _squared_residuals(part, lengths) * weight
        g = part * weight  # squared coordinates of y = √w x
        c = lengths * weight
        b = (g @ values) / c + c / 2
        change = c * trace_term(q, b)
        s = g @ resolvents + outside[:, None] / t
        subtracted = c[:, None] / (t + b[:, None])
        integrand = np.log1p(s) - subtracted
        change += integrand @ w
        logs[rows] = log_score_from_change(values, change, 1 + c, q)
    return logs


def log_score_gains(spectrum: Spectrum, Z: np.ndarray, q: float, weight: float) -> np.ndarray:
    """Compute the gain in log VS_q by adding each unit sample, (m,), from coordinates Z (m, r)."""
    values = to_host(spectrum.values)
    logs = log_scores_with_each_added(values[values > 0], Z**2, q, weight)
    return logs - compute_log_score(spectrum, q)


def check_novelty_order(q: object) -> float:
    """Return the order q as a float; raise unless it is in (0, 2], as needed for gains."""
    return check_float(
        "q", q, "above 0 and at most 2 where samples are added", lambda x: 0 < x <= 2
    )


def compute_surprise(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute the surprisal log(xᵀ A^{q−1} x)/(1−q) of each sample, (n,); NaN for weight 0."""
    q = check_order(q, allow_zero=False)
    values, U = positive_eigenpairs(spectrum, q)
    found = np.empty(len(U))
    for rows, squares in _iter_squared_blocks(U):
        found[rows] = surprise_from_eigenvectors(values, squares, q)
    return found


def surprise_from_eigenvectors(
    values: np.ndarray,
    squares: np.ndarray,
    q: float,
) -> np.ndarray:
    """Compute surprisals (…, n) from eigenvalues (…, 1, r) and squared eigenvectors (…, n, r)."""
    with np.errstate(all="ignore"):
        parts = squares * values
        p = parts.sum(axis=-1, keepdims=True)
        shares = parts / p  # NaN for weight 0
        largest = values.max(axis=-1, keepdims=True)
        logs = np.log(np.where(values > 0, values, largest))
        if math.isinf(q):
            surprises = np.where(shares <= 1e-12, np.inf, -logs).min(axis=-1)
        else:
            surprises = log_power_mean(shares, logs, q)
    surprises[p[..., 0] == 0] = np.nan
    return np.maximum(surprises, 0.0)


def compute_influence(gaps: np.ndarray, q: float) -> np.ndarray:
    """Compute the slope of log VS_q in the weight of each sample, for finite q.

    `gaps` are the surprisals of the samples minus log VS_q of their set.
    """
    return q * compute_surprisal(-gaps, q)


def compute_residual_fractions(spectrum: Spectrum) -> Array:
    """Compute the fraction of each sample not explained by the others, 1/(K⁻¹)_ii, shape (n,)."""
    values, U = positive_eigenpairs(spectrum, 0)
    found = np.zeros(len(U))
    for rows, squares in _iter_squared_blocks(U):
        found[rows] = residual_fractions_from_eigenvectors(values, squares, spectrum.n)
    return found


def residual_fractions_from_eigenvectors(
    values: np.ndarray, squares: np.ndarray, n: int
) -> np.ndarray:
    """Compute residual fractions (…, n) from eigenvalues (…, r), squared eigenvectors (…, n, r)."""
    t = RIDGE / n
    column = values[..., None]
    shifted = column + t
    p = squares @ column
    explained = squares @ (column / shifted)
    rest = _squared_residuals(squares)[..., None] + t * (squares @ (1 / shifted))
    shares = np.zeros(p.shape)
    np.divide(t * explained, p * rest, out=shares, where=p > 0)
    return np.clip(shares[..., 0], 0.0, 1.0)


def compute_coverage(residual_fractions: np.ndarray, p: Weights | None = None) -> Number:
    """Compute 1 minus the weighted mean residual fraction; for labels, the Good–Turing coverage."""
    weights = None if p is None else to_host(p)
    return 1 - np.average(residual_fractions, axis=-1, weights=weights)


def compute_log_score(spectrum: Spectrum, q: float) -> float:
    """Compute log VS_q of the set."""
    return math.log(to_float(spectrum.effective_number(q)))


def log_scores_leaving_each_out(
    values: np.ndarray,
    squares: np.ndarray,
    q: float,
    sample_weight: float,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Compute log VS_q without each sample, (…, n), for q ≤ 2.

    `values` (…, r) are eigenvalues and `squares` (…, n, r) squared eigenvectors, which are 0 for
    eigenvalues of 0. `sample_weight` is a typical weight.
    """
    column = values[..., None]
    p = (squares @ column)[..., 0]
    second = (squares @ column**2)[..., 0]
    with np.errstate(all="ignore"):
        b = np.where(p > 0, second / p - p / 2, 1.0)
    change = p * trace_term(q, b)
    least = float(values[values > 0].min())
    largest = float(values.max())
    t, w = quadrature_nodes(q, least, largest, tolerance, sample_weight)
    # Use 1 − s for t below the largest eigenvalue and s above it, to avoid cancellation.
    mid = int(np.searchsorted(t, largest))
    below = t[:mid] / (column + t[:mid])
    above = -column / (column + t[mid:])
    logs = squares @ np.concatenate([below, above], axis=-1)
    low = logs[..., :mid]
    high = logs[..., mid:]
    low += _squared_residuals(squares)[..., None]
    with np.errstate(divide="ignore"):
        np.log(low, out=low)
    np.log1p(high, out=high)
    logs += p[..., None] / (t + b[..., None])
    change -= logs @ w
    return log_score_from_change(values, -change, 1 - p, q)


def _squared_residuals(squares: np.ndarray, lengths: np.ndarray | float = 1.0) -> np.ndarray:
    """Compute the squared length of each row outside the span, from squared coordinates in it."""
    outside = lengths - squares.sum(axis=-1)
    outside[outside < 1e-13 * squares.shape[-1]] = 0.0  # rounding errors matter at small t
    return outside


def _iter_squared_blocks(U: np.ndarray) -> Array:
    """Yield (rows, squared rows of U) in blocks."""
    for rows in row_blocks(len(U), 8 * U.shape[1]):
        yield rows, np.square(U[rows], dtype=np.float64)
