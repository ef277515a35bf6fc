"""Numerical quadrature of the integral that expresses powers of a matrix by its resolvent.

Let sinc(z) = sin(πz)/(πz). For x > 0, 0 < q < 2 and any b > 0, and with limits at q = 1,

    (x^q − x)/(1−q) = −x [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                      + q sinc(1−q) ∫₀^∞ t^{q−1} [log(1 + x/t) − x/(t+b)] dt.

The trapezoidal rule in u = log t with step h has an error of about 4π/ω e^{−πω} relative to x^q,
where ω = 2π/h. Proofs, and a bound for scores (Theorem 2): docs/identity.md.

S_q denotes the entropy Σ (λ^q − λ)/(1 − q) of the eigenvalues λ of a matrix.
"""

import math

import numpy as np
import scipy

from ..support.namespace import Array

# Error of log VS without sample i, divided by its weight p_i; far below the differences between
# samples.
TOLERANCE = 1e-10
# Maximum node, relative to the largest eigenvalue. At larger nodes, the integrand is the difference
# of two nearly equal terms, and consists of rounding errors.
MAX_NODE_RATIO = 1e8
# Relative error of omitting small nodes, divided by the tolerance. The integrand is at most t^q
# times a logarithm, which is less than 1/TRUNCATION_FACTOR.
TRUNCATION_FACTOR = 1e-2


def compute_quadrature_step(tolerance: float) -> float:
    """Compute the step in log t for a relative error `tolerance` of the change of S_q.

    The change is caused by adding or removing one sample. The formula solves 4π/ω e^{−πω} =
    `tolerance` approximately for ω = 2π/step; see the module docstring.
    """
    return 2 * math.pi**2 / math.log(16 * math.pi / tolerance)


def compute_quadrature_nodes(
    q: float,
    smallest: float,
    largest: float,
    tolerance: float = 1e-10,
    sample_weight: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute nodes t and weights w with Σ w f(t) ≈ q sinc(1−q) ∫ t^{q−1} f(t) dt.

    The matrix has a trace of about 1 and eigenvalues from `smallest` to `largest`, and
    `sample_weight` is the weight of the sample that is added or removed. For t below `smallest`,
    the integrand has the form t^q (α + β log t), which two nodes integrate exactly. There are no
    nodes at q = 2, because the factor sinc(1−q) is 0.
    """
    if q == 2:
        return np.empty(0), np.empty(0)
    step = compute_quadrature_step(tolerance)
    # The minimum node is so small that the form for t below `smallest` is accurate, or that
    # smaller nodes contribute less than the tolerance.
    negligible = TRUNCATION_FACTOR * tolerance
    eigenvalue_limit = (negligible * smallest**2) ** (1 / (1 + q))
    weight_limit = (negligible * sample_weight) ** (1 / q)
    min_node = max(eigenvalue_limit, weight_limit, 1e-290)  # at least 1e-290 to avoid underflow
    node_ratio = max(tolerance ** (-1 / (3 - q)), 10.0)
    max_node = largest * min(MAX_NODE_RATIO, node_ratio)
    # Nodes are multiples of the step in log t for every matrix, so errors cancel in differences
    # between sets.
    first = math.floor(math.log(min_node) / step)
    last = math.ceil(math.log(max_node) / step)
    u = step * np.arange(first, last + 1)
    t = np.exp(u)
    weights = step * t**q * (q * np.sinc(1 - q))
    # The first two nodes also represent the omitted smaller nodes, with the same zeroth and first
    # moment, Σ_{k≥1} e^{−qhk} and Σ_{k≥1} k e^{−qhk}.
    zeroth_moment = 1 / math.expm1(q * step)
    first_moment = zeroth_moment * (1 + zeroth_moment)
    first_weight = weights[0]
    weights[0] += first_weight * (zeroth_moment + first_moment)
    weights[1] -= first_weight * first_moment
    return t, weights


def compute_trace_term(q: float, b: np.ndarray | float) -> np.ndarray:
    """Compute the factor of x before the integral, −[b^{q−1} + (b^{q−1} − 1)/(q−1)].

    The second term is log b at q = 1, and accurate near 1.
    """
    log_b = np.log(b)
    log_power = (q - 1) * log_b
    term = -np.exp(log_power) - log_b * scipy.special.exprel(log_power)
    return np.asarray(term)


def log_score_from_change(
    values: np.ndarray,
    change: np.ndarray,
    trace: np.ndarray,
    q: float,
) -> np.ndarray:
    """Compute log VS_q of n changed matrices, shape (…, n); leading axes are independent sets.

    `values` (…, r) are the r eigenvalues of the original matrix; eigenvalues of 0 are ignored.
    `change` (…, n) is the change of S_q, and `trace` (…, n) the trace of each changed matrix, which
    is not 1. Scores are those of the changed matrix divided by its trace.
    """
    entropy = compute_entropies(values, q).sum(axis=-1, keepdims=True)
    S = (entropy + change) / trace
    log_score = np.log(trace) + log_score_from_entropy(S, q)
    return np.asarray(log_score)


def compute_surprisal(logs: np.ndarray, q: float) -> np.ndarray:
    """Compute (x^{q−1} − 1)/(1 − q) from `logs` = log x; −log x at q = 1.

    S_q is the mean of this quantity over the eigenvalues x, with weights x.
    """
    if q == 1:
        return -logs
    return np.expm1((q - 1) * logs) / (1 - q)


def compute_entropies(x: np.ndarray, q: float) -> np.ndarray:
    """Compute the terms (x^q − x)/(1 − q) of S_q, which are −x log x at q = 1 and 0 for x = 0."""
    logs = np.log(np.where(x > 0, x, 1.0))
    return x * compute_surprisal(logs, q)


def log_score_from_entropy(S: Array, q: float) -> Array:
    """Compute log VS_q of a matrix of trace 1 from its entropy S_q."""
    if q == 1:
        return S
    return np.log1p((1 - q) * S) / (1 - q)
