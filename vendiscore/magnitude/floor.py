"""A lower bound on the spectrum of exp(−tD), proved where the distances are Hilbert's."""

from __future__ import annotations

import math

import numpy as np
import scipy

from ..core.namespace import row_blocks

# Share of Z that `Floor` keeps if all points but nearest neighbours are taken for orthogonal.
SHARE = 0.9


class Floor:
    """Lower bounds m with Z = exp(−tD) ⪰ diag(m), for every scale t at which one is known."""

    # In a Hilbert space exp(−tD) is a mixture of Gaussian matrices exp(−sD²) over s of Lévy's
    # distribution, which exceeds s with probability erf(t / 2√s). In those with s ≥ Λ/q_i² the row
    # of a point whose nearest neighbour is at q_i has entries of at most e^{−Λ} next to its 1. With
    # Λ = log(10 n (1 + 2 √(max q / min q))) these do not matter: m_i = 0.9 erf(t q_i / 2√Λ).
    # Elsewhere a bound is proved by a factorisation. With distances of negative type it holds at
    # all larger scales, by Schur's theorem: Z(t) is Z(t′) times exp(−(t − t′)D), entry by entry.

    def __init__(self, D: np.ndarray, negative_type: bool, hilbert: bool) -> None:
        self.monotone = negative_type
        self.proved: dict[float, float] = dict[float, float]()
        self.reach: np.ndarray | None = None
        self._D = D
        self.hilbert = hilbert

    def __call__(self, t: float) -> np.ndarray | float:
        """Return m, an array (n,) or one number; 0 if none is known."""
        if self.hilbert:
            if self.reach is None:
                q = nearest(self._D)
                spread = math.sqrt(float(q.max() / q.min()))
                self.reach = q / (2 * math.sqrt(math.log(10 * len(q) * (1 + 2 * spread))))
            m = np.maximum(SHARE * scipy.special.erf(t * self.reach), np.finfo(np.float64).tiny)
            return np.asarray(m)
        if not self.monotone:
            return self.proved.get(t, 0.0)
        return max((m for scale, m in self.proved.items() if scale <= t), default=0.0)


def nearest(D: np.ndarray) -> np.ndarray:
    """Return the distance from each point to its nearest other one."""
    found = np.empty(len(D))
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block].copy()
        rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = np.inf
        found[block] = rows.min(axis=1)
    return found
