"""Numerical quadrature of the integral that expresses powers of a matrix by its resolvent.

The resolvent of a matrix A is (A + tI)⁻¹. With it, scores without each sample are computed from the
spectrum of all samples.

Let sinc(z) = sin(πz)/(πz). For x > 0, 0 < q < 2 and any b > 0, and with limits at q = 1,

    (x^q − x)/(1−q) = −x [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                      + q sinc(1−q) ∫₀^∞ t^{q−1} [log(1 + x/t) − x/(t+b)] dt.

The trapezoidal rule in u = log t with step h has an error of about 4π/ω e^{−πω} relative to x^q,
where ω = 2π/h. Proofs, and a bound for scores (Theorem 2): docs/identity.md.

S_q denotes the entropy Σ (λ^q − λ)/(1 − q) of the eigenvalues λ of a matrix, −Σ λ log λ at q = 1.
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
    """Compute the step of the trapezoidal rule in log t for a relative error of `tolerance`.

    The error is that of the change of the entropy S_q = Σ (λ^q − λ)/(1 − q) of the eigenvalues λ of
    a set, if one sample is added or removed. The change is an integral over t > 0. The formula is
    an approximate solution h = 2π/ω of 4π/ω e^{−πω} = `tolerance`, where the left side is the error
    of the rule with step h.
    """
    return 2 * math.pi**2 / math.log(16 * math.pi / tolerance)


def compute_quadrature_nodes(
    q: float,
    smallest: float,
    largest: float,
    tolerance: float = 1e-10,
    sample_weight: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute nodes t and weights w with Σ w f(t) ≈ q sinc(1−q) ∫₀^∞ t^{q−1} f(t) dt.

    Here, sinc(z) = sin(πz)/(πz). Such integrals are the change of the entropy of order q of a
    matrix if one sample is added or removed. The matrix, that of the set, has a trace of about 1
    and eigenvalues from `smallest` to `largest`. `sample_weight` is the weight of the sample, and
    `tolerance` the relative error.

    For t below `smallest`, the integrand, as a function of log t, is about t^q (α + β log t) with
    constants α and β. Two nodes integrate this form exactly. There are no nodes at q = 2, because
    the factor sinc(1−q) is 0.
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
    # Above the largest eigenvalue, f(t) decreases like t^−3, so nodes above this multiple of the
    # eigenvalue contribute less than the tolerance.
    node_ratio = max(tolerance ** (-1 / (3 - q)), 10.0)
    max_node = largest * min(MAX_NODE_RATIO, node_ratio)
    # Nodes are multiples of the step in log t for every matrix, so errors cancel in differences
    # between sets.
    first = math.floor(math.log(min_node) / step)
    last = math.ceil(math.log(max_node) / step)
    u = step * np.arange(first, last + 1)
    t = np.exp(u)
    weights = step * t**q * (q * np.sinc(1 - q))
    # The first two nodes also represent the omitted smaller nodes. At the k-th node before the
    # first one, f is extrapolated linearly in log t, f(t_−k) ≈ (1 + k) f(t_0) − k f(t_1), and the
    # weight is smaller than the first one by the factor e^{−qhk}, with h = `step`. Summation over
    # k ≥ 1 gives the moments Σ e^{−qhk} and Σ k e^{−qhk}.
    zeroth_moment = 1 / math.expm1(q * step)
    first_moment = zeroth_moment * (1 + zeroth_moment)
    first_weight = weights[0]
    weights[0] += first_weight * (zeroth_moment + first_moment)
    weights[1] -= first_weight * first_moment
    return t, weights


def compute_trace_term(q: float, b: np.ndarray | float) -> np.ndarray:
    """Compute −[b^{q−1} + (b^{q−1} − 1)/(q−1)], also accurately for q near 1.

    For any b > 0, (x^q − x)/(1 − q) equals this number times x, plus an integral over t > 0 that
    depends on b (derivation: docs/identity.md). Summed over the eigenvalues x of a matrix, the
    first term is this number times the trace. At q = 1, (b^{q−1} − 1)/(q−1) is its limit log b.
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

    The original matrix is the weighted similarity matrix of a set. Each changed matrix is that
    matrix after one sample or cluster is added or removed. It is divided by its trace, `trace`
    (…, n), before it is scored. `values` (…, r) are the r eigenvalues of the original matrix;
    eigenvalues of 0 are ignored. `change` (…, n) is S_q of each changed matrix minus S_q of the
    original one, where S_q = Σ (λ^q − λ)/(1 − q) for the eigenvalues λ of a matrix.
    """
    entropy = compute_entropies(values, q).sum(axis=-1, keepdims=True)
    # For eigenvalues μ with the sum c, Σ (μ/c)^q = c^{1−q} · (Σ μ^q / c). The first factor adds
    # log c to log VS.
    S = (entropy + change) / trace
    log_score = np.log(trace) + log_score_from_entropy(S, q)
    return np.asarray(log_score)


def compute_surprisal(logs: np.ndarray, q: float) -> np.ndarray:
    """Compute (x^{q−1} − 1)/(1 − q) from `logs` = log x; −log x at q = 1.

    The mean of this quantity over the eigenvalues x of a matrix of trace 1, weighted by x, is the
    entropy Σ (x^q − x)/(1 − q) of order q.
    """
    if q == 1:
        return -logs
    return np.expm1((q - 1) * logs) / (1 - q)


def compute_entropies(x: np.ndarray, q: float) -> np.ndarray:
    """Compute (x^q − x)/(1 − q) for each eigenvalue x; −x log x at q = 1, and 0 for x = 0.

    The sum of these terms is the entropy S_q of order q.
    """
    logs = np.log(np.where(x > 0, x, 1.0))
    return x * compute_surprisal(logs, q)


def log_score_from_entropy(S: Array, q: float) -> Array:
    """Compute log VS_q from S, the entropy Σ (λ^q − λ)/(1 − q) of eigenvalues λ that sum to 1."""
    if q == 1:
        return S
    # Σ λ^q is 1 + (1 − q) S, and VS_q is (Σ λ^q)^{1/(1−q)}.
    return np.log1p((1 - q) * S) / (1 - q)
