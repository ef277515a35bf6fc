"""The score without each cluster of samples, all from one spectrum.

With Y the rows of a cluster and S(t) = Yᵀ (A + tI)⁻¹ Y, the change of S_q is the integral of
`rank_one` with log det(I − S(t)) for log(1 − s(t)), and the trace of YYᵀ for c.
"""

from __future__ import annotations

import numpy as np

from ..arguments import DEFAULT_ORDER
from ..arrays.namespace import Array, row_blocks
from .hill import effective_number
from .quadrature import of_integral, of_trace, ridges
from .rank_one import TOLERANCE, check_order, log_of_trace, positive_parts
from .spectrum import EPS, Spectrum

# Clusters of more samples than this share of the dimensions are left out by new eigenvalues.
LARGE = 1 / 6


def leave_cluster_out(spectrum: Spectrum, clusters: np.ndarray, q: float = DEFAULT_ORDER) -> Array:
    """Find log VS_q, of order up to 2, without each cluster; `clusters` has codes 0 to m − 1.

    Time: O(n r s) for each of some dozens of nodes, of clusters of s samples.
    """
    if check_order(q) > 2:
        raise ValueError(f"`q` must be at most 2 to leave clusters out, got {q}")
    values, U = positive_parts(spectrum)
    counts = np.bincount(clusters)
    order = np.argsort(clusters, kind="stable")
    starts = np.cumsum(counts) - counts
    left = np.empty(len(counts))
    for size in np.unique(counts).tolist():
        own = np.flatnonzero(counts == size)
        for rows in row_blocks(len(own), 8 * size * max(len(values), 50 * size)):
            places = order[starts[own[rows], None] + np.arange(size)]
            without = _decomposed if size > LARGE * len(values) else _integrated
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

    def inner(weights: np.ndarray) -> np.ndarray:
        return np.asarray((G * weights) @ G.swapaxes(-1, -2))

    squares = np.square(G).sum(axis=1)
    trace = squares @ values
    b = (squares @ values**2 - np.square(inner(values)).sum(axis=(1, 2)) / 2) / trace
    change = trace * of_trace(q, b)
    if factor := of_integral(q):
        outside = np.eye(G.shape[1]) - inner(np.ones(len(values)))
        outside[np.abs(outside) < 1e-13 * len(values)] = 0.0  # as for one sample
        t, w = ridges(q, values[-1], values[0], TOLERANCE, share)
        for node, weight in zip(t.tolist(), w.tolist(), strict=True):
            if node < values[0]:
                rest = np.linalg.eigvalsh(outside + inner(node / (values + node)))
                logs = np.log(np.maximum(rest, np.finfo(float).tiny))
            else:
                logs = np.log1p(-np.linalg.eigvalsh(inner(values / (values + node))))
            change -= factor * weight * (logs.sum(axis=1) + trace / (node + b))
    return log_of_trace(values, -change, 1 - trace, q)
