"""Quadrature of the integral that expresses a power of a matrix by its resolvent.

For x > 0, 0 < q < 2 and any b > 0, with sinc(z) = sin(πz)/(πz) and limits at q = 1,

    (x^q − x)/(1−q) = −x [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                      + q sinc(1−q) ∫₀^∞ t^{q−1} [log(1 + x/t) − x/(t+b)] dt.

The trapezoid rule in u = log t with step h has an error of about 4π/ω e^{−πω}, ω = 2π/h, relative
to x^q. Proofs, and a bound for scores (Theorem 2): docs/identity.md.
"""

import math

import numpy as np
import scipy

from ..support.namespace import Array

# Error of log VS without sample i, divided by p_i; far below differences between samples.
TOLERANCE = 1e-10
# Maximum node, relative to the largest eigenvalue. Beyond it, the integrand, a difference of two
# terms close to c/t, consists of rounding errors.
MAX_NODE_RATIO = 1e8
# The integrand is at most t^q times a logarithm, which is less than 1/TRUNCATION_FACTOR.
TRUNCATION_FACTOR = 1e-2


def quadrature_step(tolerance: float) -> float:
    """Return the step in log t for a relative error `tolerance` of a rank-one change."""
    return 2 * math.pi**2 / math.log(16 * math.pi / tolerance)


def quadrature_nodes(
    q: float,
    smallest: float,
    largest: float,
    tolerance: float = 1e-10,
    sample_weight: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute nodes t and weights w with Σ w f(t) ≈ q sinc(1−q) ∫ t^{q−1} f(t) dt.

    For a matrix of trace about 1 with eigenvalues from `smallest` to `largest`. Below `smallest`,
    the integrand has the form t^q (α + β log t), which two nodes integrate. There are no nodes at
    q = 2.
    """
    if q == 2:
        return np.empty(0), np.empty(0)
    step = quadrature_step(tolerance)
    negligible = TRUNCATION_FACTOR * tolerance
    resolved = (negligible * smallest**2) ** (1 / (1 + q))
    of_share = (negligible * sample_weight) ** (1 / q)
    low = max(resolved, of_share, 1e-290)
    reach = max(tolerance ** (-1 / (3 - q)), 10.0)
    high = largest * min(MAX_NODE_RATIO, reach)
    # The grid does not depend on the matrix, so errors cancel in differences between sets.
    first = math.floor(math.log(low) / step)
    last = math.ceil(math.log(high) / step)
    u = step * np.arange(first, last + 1)
    t = np.exp(u)
    weights = step * t**q * (q * np.sinc(1 - q))
    # Σ_{k≥1} e^{−qhk} and Σ_{k≥1} k e^{−qhk}: zeroth and first moment of the omitted nodes below.
    below = 1 / math.expm1(q * step)
    far = below * (1 + below)
    lowest = weights[0]
    weights[0] += lowest * (below + far)
    weights[1] -= lowest * far
    return t, weights


def trace_term(q: float, b: np.ndarray | float) -> np.ndarray:
    """Compute the term before the integral per unit of trace, −[b^{q−1} + (b^{q−1} − 1)/(q−1)]."""
    logs = np.log(b)
    x = (q - 1) * logs
    term = -np.exp(x) - logs * scipy.special.exprel(x)
    return np.asarray(term)


def log_score_from_change(
    values: np.ndarray,
    change: np.ndarray,
    trace: np.ndarray,
    q: float,
) -> np.ndarray:
    """Compute log VS_q, (…, n), of matrices whose S_q is that of `values` (…, r) plus `change`.

    `change` and `trace` have shape (…, n); values of 0 are ignored.
    """
    entropy = compute_entropies(values, q).sum(axis=-1, keepdims=True)
    S = (entropy + change) / trace
    log_score = np.log(trace) + log_score_from_entropy(S, q)
    return np.asarray(log_score)


def compute_surprisal(logs: np.ndarray, q: float) -> np.ndarray:
    """Compute (x^{q−1} − 1)/(1 − q) from log x; −log x at q = 1. S_q is its mean."""
    if q == 1:
        return -logs
    return np.expm1((q - 1) * logs) / (1 - q)


def compute_entropies(x: np.ndarray, q: float) -> np.ndarray:
    """Compute (x^q − x)/(1 − q), which is −x log x at q = 1 and 0 for x = 0."""
    logs = np.log(np.where(x > 0, x, 1.0))
    return x * compute_surprisal(logs, q)


def log_score_from_entropy(S: Array, q: float) -> Array:
    """Compute log VS_q of a matrix of trace 1 from its entropy S_q = Σ (λ^q − λ)/(1 − q)."""
    if q == 1:
        return S
    return np.log1p((1 - q) * S) / (1 - q)
