"""The largest eigenvalues of diag(λ) ± g gᵀ, roots of 1 ± Σ_j g_j²/(λ_j − μ) = 0 (Golub 1973)."""

from __future__ import annotations

import math

import numpy as np

from ..arrays.namespace import row_blocks

# Halvings of an interval: to the last digit of a double.
HALVINGS = 54
# Eigenvalues whose powers are less than this share of the sum are left out.
NEGLIGIBLE = 1e-14


def powers(
    values: np.ndarray, squares: np.ndarray, outside: np.ndarray | float, q: float, sign: int
) -> np.ndarray:
    """Find log Σ μ^q of the eigenvalues of diag(λ) ± g gᵀ for each row g, or log μ_max at q = ∞.

    >>> left = powers(np.array([0.5, 0.5]), np.array([[0.25, 0.25]]), 0.0, 2.0, -1)
    >>> round(float(np.exp(left[0])), 12)  # 0.5² + 0²
    0.25
    """
    count = 1
    if not math.isinf(q):
        # After a gain there is one more, and each is pushed up, to its upper neighbour at most.
        shares = np.exp(q * np.log(values / values[0]))
        count = int(np.sum(shares * len(values) > NEGLIGIBLE)) + (sign > 0)
    shape = len(squares), count
    edges = np.append(values, 0.0)
    if sign > 0:
        first = (values[0] + squares.sum(axis=1) + outside)[:, None]
        lows = np.broadcast_to(edges[:count], shape)
        tops = np.concatenate([first, lows[:, :-1]], axis=1)
    else:
        lows, tops = (np.broadcast_to(edges[i : i + count], shape) for i in (1, 0))
    rest = np.broadcast_to(outside, len(squares))[:, None]
    found = np.empty(shape)
    for rows in row_blocks(len(squares), 8 * count * len(values)):
        low, top = lows[rows], tops[rows]
        with np.errstate(all="ignore"):
            for _ in range(HALVINGS):
                middle = (low + top) / 2
                sums = np.einsum("ir,ikr->ik", squares[rows], 1 / (values - middle[:, :, None]))
                secular = 1 + sign * (sums - rest[rows] / middle)
                # With μ a loss falls through its root, and a gain rises: ± 1/(λ − μ).
                above = sign * secular < 0
                low, top = np.where(above, middle, low), np.where(above, top, middle)
        found[rows] = (low + top) / 2
    largest = found[:, 0]
    with np.errstate(divide="ignore"):
        if math.isinf(q):
            return np.log(largest)
        sums = ((found / largest[:, None]) ** q).sum(axis=1)
        return np.asarray(q * np.log(largest) + np.log(sums))
