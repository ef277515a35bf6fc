"""Magnitudes in closed form, and exact magnitudes at 60 digits.

Points on a line, trees, cycles, complete graphs, cubes and grids: Leinster, Documenta Mathematica
2013 (a join at a point adds up: |A ∨ B| = |A| + |B| − 1; ℓ1 products multiply). A weighted tree is
a join of edges, so that its magnitude is 1 + Σ tanh(t·length/2); a line is a tree.
"""

import math

import mpmath
import numpy as np
from scipy.optimize import brentq

MP = mpmath.MPContext()
MP.dps = 60


def line_gaps(x):
    """Return the distances between neighbouring distinct points of a line."""
    return np.diff(np.unique(np.asarray(x, dtype=float) + 0.0))


def tree_magnitude(lengths, t):
    """Return mag(t) of any tree with edges of these lengths, or of a line with these gaps."""
    return 1 + math.fsum(math.tanh(t * g / 2) for g in lengths)


def tree_area(lengths, t):
    """Return the integral of the magnitude of a tree from 0 to t: t + Σ (2/g) log cosh(tg/2)."""

    def log_cosh(y):
        if y < 1e-3:
            return y * y / 2 - y**4 / 12
        return y + math.log1p(math.exp(-2 * y)) - math.log(2)

    return t + math.fsum(2 / g * log_cosh(t * g / 2) for g in lengths)


def tree_weights(n, edges, t):
    """Return the magnitude weights at scale t of the n vertices of a tree.

    Each edge is a tuple of two vertices, from 0 to n − 1, and its length.
    """
    contributions_by_vertex = [[1.0] for _ in range(n)]
    for a, b, length in edges:
        # (1 − tanh)/2, without cancelling
        removed = 1 / (1 + math.exp(min(700.0, t * length)))
        contributions_by_vertex[a].append(-removed)
        contributions_by_vertex[b].append(-removed)
    return np.array([math.fsum(contributions) for contributions in contributions_by_vertex])


def line_weights(x, t):
    """Return the magnitude weight of each sample on a line; identical samples share a weight."""
    x = np.asarray(x, dtype=float) + 0.0
    points, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    edges = [(i, i + 1, gap) for i, gap in enumerate(np.diff(points))]
    return (tree_weights(len(points), edges, t) / counts)[inverse]


def tree_distances(n, edges):
    """Return all distances in a tree whose edges (parent, child, length) come from the root
    outwards."""
    D = np.zeros((n, n))
    placed = [0]
    for a, b, length in edges:
        D[b, placed] = D[placed, b] = D[a, placed] + length
        placed.append(b)
    return D


def convergence_scale(f, n, epsilon=0.05):
    """Return where an increasing magnitude function reaches (1 − ε) n, by bisection."""
    target = (1 - epsilon) * n
    if target <= 1:
        return 0.0
    high = 1.0
    while f(high) < target:
        high *= 4
    low = high
    while f(low) > target:
        low /= 4
    return math.exp(
        brentq(lambda u: f(math.exp(u)) - target, math.log(low), math.log(high), xtol=1e-13)
    )


def homogeneous_magnitude(distances, t):
    """Return the magnitude of a homogeneous space, from one point's distances to all."""
    return len(distances) / math.fsum(math.exp(-t * d) for d in distances)


def cycle_distances(n):
    """Return distances in the cycle of n vertices."""
    i = np.arange(n)
    gap = np.abs(i[:, None] - i[None, :])
    return np.minimum(gap, n - gap).astype(float)


def bipartite_magnitude(n, m, t):
    """Return the magnitude of a complete bipartite graph, singular at (n−1)(m−1)e^{−2t} = 1."""
    q = MP.exp(-MP.mpf(t))
    a, b = 1 + (n - 1) * q**2, 1 + (m - 1) * q**2  # rows: a·u + m·q·v = 1, n·q·u + b·v = 1
    u = (b - m * q) / (a * b - n * m * q**2)
    v = (a - n * q) / (a * b - n * m * q**2)
    return float(n * u + m * v)


def exact_weights(D, t):
    """Return Z⁻¹ 1 at 60 digits, for distances in float64 or mpf."""
    n = len(D)
    Z = MP.matrix(n, n)
    for i in range(n):
        for j in range(n):
            Z[i, j] = MP.exp(-MP.mpf(t) * MP.mpf(D[i][j]))
    return list(MP.lu_solve(Z, MP.matrix([1] * n)))


def exact_magnitude(D, t):
    return float(MP.fsum(exact_weights(D, t)))


def exact_spread(D, t):
    return math.fsum(1 / math.fsum(math.exp(-t * float(d)) for d in row) for row in D)
