"""The largest eigenvalue of a Similarity from a few products, with a bound on its error."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from .errors import NotPSDError
from .similarity import Similarity

# Relative accuracy of the eigenvalue, and the number of steps after which to give up.
TOLERANCE = 1e-9
STEPS = 200


def largest_eigenvalue(
    similarity: Similarity, floor: float = -math.inf, seed: int = 0
) -> float | None:
    """λ_max by Lanczos iteration with full reorthogonalisation, or None if it is slow.

    The start mixes √p, which is close to the top eigenvector of most similarity matrices, with
    noise from `seed`, so that no eigenvector is missed. It stops when the residual r of the top
    Ritz pair proves an error below TOLERANCE: the eigenvalue nearest to the Ritz value θ
    is within min(r, r²/gap) of it (Parlett, The Symmetric Eigenvalue Problem, §11.7).

    A Ritz value below `floor`, which proves an eigenvalue below it, raises NotPSDError; that none
    is met proves nothing.

    Cost: one product K @ v a step, n·steps numbers of memory.
    """
    n = similarity.n
    start = np.sqrt(np.maximum(similarity.diagonal(), 0))
    noise = np.random.default_rng(seed).standard_normal(n)
    v = start / np.linalg.norm(start) + 0.1 * noise / np.linalg.norm(noise)
    steps = min(STEPS, n)
    V = np.empty((steps, n))
    alphas: list[float] = []
    betas: list[float] = []
    v /= np.linalg.norm(v)
    for step in range(steps):
        V[step] = v
        w = similarity.matmul(v)
        alphas.append(float(v @ w))
        for _ in range(2):  # twice is enough (Giraud et al., 2005)
            w -= V[: step + 1].T @ (V[: step + 1] @ w)
        beta = float(np.linalg.norm(w))
        ritz, vectors = scipy.linalg.eigh_tridiagonal(alphas, betas)
        if ritz[0] < floor:
            raise NotPSDError(float(ritz[0]), -float(ritz[0]))
        theta, residual = float(ritz[-1]), beta * abs(float(vectors[-1, -1]))
        gap = theta - float(ritz[-2]) if step else 0.0
        error = min(residual, residual**2 / gap) if gap > residual else residual
        if error <= TOLERANCE * theta or step + 1 == n:
            return theta
        betas.append(beta)
        v = w / beta
    return None
