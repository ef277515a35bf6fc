"""The largest eigenvalue of a Similarity: proved by ‖K‖²_F − λ², or sought a second time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from ..errors import NotPSDError
from ..similarity.base import Similarity
from .stochastic import Krylov

TOLERANCE = 1e-9  # relative, of the eigenvalue
# Residuals, relative to the eigenvalue, at which an iteration without a proof ends: one of residual
# r has missed an eigenvalue that is larger by ε only if its start has less than r/ε of its vector.
CONVERGED, SEARCHED = 1e-12, 1e-9
SEARCHES = 5
# Steps, and bytes of their vectors, after which to give up.
STEPS = 400
BASIS_BYTES = 1 << 30


class Ritz(NamedTuple):
    """An approximate eigenpair and its residual norm, 0 if no eigenvalue can be larger."""

    value: float
    vector: np.ndarray
    residual: float


def largest_eigenvalue(
    similarity: Similarity, floor: float = -math.inf, seed: int = 0
) -> float | None:
    """Find λ_max by Lanczos iteration, or None if it is slow; NotPSDError for one below `floor`."""
    rng = np.random.default_rng(seed)
    n = similarity.n
    # Half √p, close to most top eigenvectors, and half noise, so that no eigenvector is missing.
    start = np.sqrt(np.maximum(similarity.diagonal(), 0))
    noise = rng.standard_normal(n)
    start = start / np.linalg.norm(start) + noise / np.linalg.norm(noise)
    for _ in range(SEARCHES):
        best = _iterate(similarity, start, floor)
        if best is None or best.residual == 0:
            break
        found = _iterate(similarity, rng.standard_normal(n), floor, best)
        if found is None:
            return None
        if found.value <= best.value * (1 + TOLERANCE):
            break
        start = best.vector + found.vector
    else:
        return None
    return None if best is None else best.value


def most_steps(n: int) -> int:
    """Return the number of steps to give up after; as many vectors of length n are allocated."""
    return min(STEPS, n, max(2, BASIS_BYTES // (8 * n)))


def _iterate(
    similarity: Similarity, start: np.ndarray, floor: float, known: Ritz | None = None
) -> Ritz | None:
    """Return the top Ritz pair of K, without the pair `known`, once its residual is small."""

    def multiply(V: np.ndarray) -> np.ndarray:
        W: np.ndarray = similarity.matmul(V)
        if known is not None:
            W -= known.value * known.vector[:, None] * (known.vector @ V)
        return W

    n, squares = similarity.n, 0.0
    krylov = Krylov(multiply, start[:, None], most_steps(n))
    for step in range(krylov.most):
        krylov.extend(step + 1)
        alphas, betas = np.ravel(krylov.diagonal), np.ravel(krylov.below)
        if not math.isfinite(betas[-1]):
            return None  # a search for all eigenvalues then tells the reason
        if (lowest := _extreme(alphas, betas[:-1], 0)[0]) < floor:
            raise NotPSDError(lowest, -lowest)
        theta, y = _extreme(alphas, betas[:-1], step)
        residual = abs(float(betas[-1] * y[-1]))
        enough = CONVERGED * theta if known is None else SEARCHED * known.value
        done = residual <= enough or step + 1 == n
        if not done and known is None and residual**2 <= TOLERANCE * theta**2:
            squares = squares or float(similarity.squared_norm())
            others = math.sqrt(max(0.0, squares - (theta - residual) ** 2))
            gap = theta - residual - others
            if gap > 0 and residual**2 <= TOLERANCE * theta * gap:
                return Ritz(theta, start, 0.0)
        if done:
            return Ritz(theta, krylov.basis[: step + 1].T @ y, residual)
    return None


def _extreme(alphas: np.ndarray, betas: np.ndarray, i: int) -> tuple[float, np.ndarray]:
    """Return the i-th eigenvalue of a tridiagonal matrix, in ascending order, with its vector."""
    values, vectors = scipy.linalg.eigh_tridiagonal(
        alphas, betas, select="i", select_range=(i, i), check_finite=False
    )
    return float(values[0]), vectors[:, 0]
