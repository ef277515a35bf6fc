"""The integral over all ridges by which a power of a matrix follows from its resolvent.

For x > 0, 0 < q < 2 and any b > 0, with sinc(z) = sin(πz)/(πz) and its limit at q = 1,

    (x^q − x)/(1−q) = −x [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                      + q sinc(1−q) ∫₀^∞ t^{q−1} [log(1 + x/t) − x/(t+b)] dt.

The trapezoid rule for u = log t in steps of h misses about 4π/ω e^{−πω}, ω = 2π/h, of each x^q.
Proofs, and the bound for whole scores (Theorem 2): docs/identity.md.
"""

import math

import numpy as np
import scipy

from ..support.namespace import Array

# Error of log VS of the other samples, times 1/p_i: far below differences between samples.
TOLERANCE = 1e-10
# Past so many times the largest eigenvalue the integrand, a difference of c/t from itself, is lost
# in rounding.
MAX_NODE_RATIO = 1e8
# The integrand is at most t^q times the log of a number: less than 1/TRUNCATION_FACTOR.
TRUNCATION_FACTOR = 1e-2


def quadrature_step(tolerance: float) -> float:
    """Return the step in log t that leaves an error of `tolerance` of a rank-one change."""
    return 2 * math.pi**2 / math.log(16 * math.pi / tolerance)


def quadrature_nodes(
    q: float,
    smallest: float,
    largest: float,
    tolerance: float = 1e-10,
    sample_weight: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Find nodes t and weights w with Σ w f(t) = q sinc(1−q) ∫ t^{q−1} f(t) dt, none at q = 2.

    For a matrix of trace about 1. Below its smallest eigenvalue the integrand is t^q (α + β log t):
    two nodes stand for it.
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
    # A grid that does not move with the matrix: numbers of two of them share their errors.
    first = math.floor(math.log(low) / step)
    last = math.ceil(math.log(high) / step)
    u = step * np.arange(first, last + 1)
    t = np.exp(u)
    weights = step * t**q * (q * np.sinc(1 - q))
    # Σ_{k≥1} e^{−qhk} and Σ_{k≥1} k e^{−qhk}: the nodes below, and how far they are.
    below = 1 / math.expm1(q * step)
    far = below * (1 + below)
    lowest = weights[0]
    weights[0] += lowest * (below + far)
    weights[1] -= lowest * far
    return t, weights


def trace_term(q: float, b: np.ndarray | float) -> np.ndarray:
    """Return the term before the integral, for each unit of trace: −[b^{q−1} + …]."""
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
    """Return log VS_q of matrices of some trace, whose S_q is S_q of `values` (…, r) plus a change.

    Changes and traces have the shape (…, n); values of 0 are ignored.
    """
    entropy = compute_entropies(values, q).sum(axis=-1, keepdims=True)
    S = (entropy + change) / trace
    log_score = np.log(trace) + log_score_from_entropy(S, q)
    return np.asarray(log_score)


def compute_surprisal(logs: np.ndarray, q: float) -> np.ndarray:
    """Return (x^{q−1} − 1)/(1 − q) from log x, of which S_q is the mean; −log x at q = 1."""
    if q == 1:
        return -logs
    return np.expm1((q - 1) * logs) / (1 - q)


def compute_entropies(x: np.ndarray, q: float) -> np.ndarray:
    """Return (x^q − x)/(1 − q), or its limit −x log x; 0 of 0."""
    logs = np.log(np.where(x > 0, x, 1.0))
    return x * compute_surprisal(logs, q)


def log_score_from_entropy(S: Array, q: float) -> Array:
    """Return log VS_q of a matrix of trace 1, from its S_q = Σ (λ^q − λ)/(1 − q)."""
    if q == 1:
        return S
    return np.log1p((1 - q) * S) / (1 - q)
