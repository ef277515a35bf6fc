"""The score without each cluster of samples, all from one spectrum.

With Y the rows of a cluster, λ the eigenvalues of A and μ the eigenvalues of A − YYᵀ:

- up to order 2, with S(t) = Yᵀ (A + tI)⁻¹ Y, the change of S_q is the integral of `rank_one` with
  log det(I − S(t)) for log(1 − s(t)), and the trace of YYᵀ for c;
- above it, with S(z) = I + Yᵀ (zI − A)⁻¹ Y, the change of Σ λ^q is the integral of
  z^q tr(S⁻¹ S′)/2πi along a circle through 0 around all λ, a line for 1/z;
- at q = ∞ the largest μ is bisected for: as many λ as negative eigenvalues of S(μ) lie above it.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.arguments import DEFAULT_ORDER, read_order
from ..core.hill import effective_number, log_of_trace
from ..core.namespace import Array, row_blocks
from ..core.shares import EPS
from .quadrature import TOLERANCE, of_integral, of_trace, ridges
from .spectrum import Spectrum, positive_parts

# Clusters of more samples than this share of the dimensions are left out by new eigenvalues.
LARGE = 1 / 6
_DIGITS = 30.0  # of the integral along a circle: e^−30 is missed
_REACH = 5.0  # the circle reaches beyond the largest eigenvalue by this share over the order
_LOST = 1e-5  # of Σ λ^q; where less is left, digits are lost, and new eigenvalues are found
_HALVINGS = 48


def leave_cluster_out(spectrum: Spectrum, clusters: np.ndarray, q: float = DEFAULT_ORDER) -> Array:
    """Find log VS_q without each cluster; `clusters` has codes 0 to m − 1.

    Time: O(n r s) for each of some dozens of nodes, of clusters of s samples.
    """
    q = read_order(q, zero=False)
    values, U = positive_parts(spectrum)
    counts = np.bincount(clusters)
    order = np.argsort(clusters, kind="stable")
    starts = np.cumsum(counts) - counts
    left = np.empty(len(counts))
    usual = _largest if math.isinf(q) else _integrated if q <= 2 else _encircled
    for size in np.unique(counts).tolist():
        own = np.flatnonzero(counts == size)
        for rows in row_blocks(len(own), 16 * size * max(len(values), 50 * size)):
            places = order[starts[own[rows], None] + np.arange(size)]
            without = _decomposed if size > max(1, LARGE * len(values)) else usual
            left[own[rows]] = without(values, U[places], q, 1 / spectrum.n)
    return np.clip(left, 0.0, np.log(spectrum.n - counts))


def _decomposed(values: np.ndarray, G: np.ndarray, q: float, share: float) -> np.ndarray:
    """Return log VS_q without each cluster, from the eigenvalues of what is left."""
    Y = G * np.sqrt(values)
    left = np.diag(values) - Y.swapaxes(-1, -2) @ Y
    found = np.maximum(np.linalg.eigvalsh(left), 0.0)
    found[found < found[:, -1:] * len(values) * EPS] = 0.0
    return np.log([effective_number(each / each.sum(), q) for each in found])


def _integrated(values: np.ndarray, G: np.ndarray, q: float, share: float) -> np.ndarray:
    """Return log VS_q without each of some clusters of one size, of eigenvectors (g, s, r)."""
    trace = _traces(values, G)
    squares = np.square(G).sum(axis=1)
    b = (squares @ values**2 - np.square(_inner(G, values)).sum(axis=(1, 2)) / 2) / trace
    change = trace * of_trace(q, b)
    if factor := of_integral(q):
        outside = _outside(G)
        t, w = ridges(q, values[-1], values[0], TOLERANCE, share)
        for node, weight in zip(t.tolist(), w.tolist(), strict=True):
            if node < values[0]:
                rest = np.linalg.eigvalsh(outside + _inner(G, node / (values + node)))
                logs = np.log(np.maximum(rest, np.finfo(float).tiny))
            else:
                logs = np.log1p(-np.linalg.eigvalsh(_inner(G, values / (values + node))))
            change -= factor * weight * (logs.sum(axis=1) + trace / (node + b))
    return log_of_trace(values, -change, 1 - trace, q)


def _encircled(values: np.ndarray, G: np.ndarray, q: float, share: float) -> np.ndarray:
    """Return the same of an order above 2; the trapezoid rule is for w = (1 + i sinh u)/c."""
    x, outside = values / values[0], _outside(G)
    width = min(1.0, _REACH / q)  # of the strip of u in which the integrand has no pole
    step = 2 * math.pi * width / (_DIGITS - q * math.log1p(-math.sin(width)))
    c = 1 + width
    whole = float((x**q).sum())
    left = np.full(len(G), whole)
    for u in step * np.arange(math.ceil(math.acosh(math.exp(_DIGITS / q)) / step) + 1):
        z = c / (1 + 1j * math.sinh(u))
        S = outside + _inner(G, z / (z - x))
        slope = _inner(G, x / (z - x) ** 2)
        traces = np.trace(np.linalg.solve(S, slope), axis1=1, axis2=2)
        weight = step / (math.pi * c) * math.cosh(u) * (0.5 if u == 0 else 1.0)
        left -= weight * (z ** (q + 2) * traces).real
    found = np.log(np.maximum(left, _LOST * whole)) + q * math.log(values[0])
    found = (found - q * np.log(1 - _traces(values, G))) / (1 - q)
    for rows in row_blocks(len(G), 8 * len(values) ** 2, least=1):
        lost = rows.start + np.flatnonzero(left[rows] <= _LOST * whole)
        if len(lost):
            found[lost] = _decomposed(values, G[lost], q, share)
    return np.asarray(found)


def _largest(values: np.ndarray, G: np.ndarray, q: float, share: float) -> np.ndarray:
    """Return the same at q = ∞, from the largest eigenvalue of what is left."""
    low, high, outside = np.zeros(len(G)), np.full(len(G), values[0]), _outside(G)
    for _ in range(_HALVINGS):
        middle = ((low + high) / 2)[:, None]
        apart = np.where(middle == values, EPS * middle, middle - values)
        S = outside + _inner(G, middle / apart)
        signs = S[:, 0] if S.shape[1] == 1 else np.linalg.eigvalsh(S)
        above = (values > middle).sum(axis=1) > (signs < 0).sum(axis=1)
        low, high = np.where(above, middle[:, 0], low), np.where(above, high, middle[:, 0])
    return np.asarray(np.log1p(-_traces(values, G)) - np.log(high))


def _inner(G: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return G diag(w) Gᵀ of each cluster, with weights (r,) of all or (g, r) of each."""
    each = weights[:, None] if weights.ndim == 2 else weights
    return np.asarray((G * each) @ G.swapaxes(-1, -2))


def _outside(G: np.ndarray) -> np.ndarray:
    """Return I − GGᵀ of each cluster, without rounding, as for one sample."""
    outside = np.eye(G.shape[1]) - _inner(G, np.ones(G.shape[2]))
    outside[np.abs(outside) < 1e-13 * G.shape[2]] = 0.0
    return outside


def _traces(values: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Return the weight of each cluster, the trace of YYᵀ."""
    return np.asarray(np.square(G).sum(axis=1) @ values)
