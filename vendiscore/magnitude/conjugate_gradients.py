"""Conjugate gradients (Hestenes & Stiefel 1952), and Lanczos' method for the ends of a spectrum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

Precondition = Callable[[np.ndarray], np.ndarray] | None

# Steps of Lanczos' method after which an end of a spectrum is known well enough, at most and at
# least: from a random start it is off by half with probability 1.65 √n e^{−√½ (2·24 − 1)}, 1e-13
# for n = 10⁴ (Kuczyński & Woźniakowski 1992), and an eigenvalue away from all others comes first.
LANCZOS_STEPS = 24
LANCZOS_LEAST = 8


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    goal: float,
    steps: int,
    precondition: Precondition = None,
    weight: np.ndarray | float = 1.0,
) -> tuple[np.ndarray | None, int]:
    """Return x with Σ weight (b − A x)² ≤ goal², or None if it fails, and the steps it took."""
    x, r = np.zeros_like(b), b.copy()
    p, previous = np.zeros_like(b), 1.0
    for step in range(steps + 1):
        if float(r @ (weight * r)) <= goal**2:
            return x, step
        z = r if precondition is None else precondition(r)
        inner = float(r @ z)
        p *= inner / previous
        p += z
        Ap = multiply(p)
        curvature = float(p @ Ap)
        if not curvature > 0 or not inner > 0:
            return None, step
        alpha, previous = inner / curvature, inner
        x += alpha * p
        r -= alpha * Ap
    return None, steps


def spectrum_ends(multiply: Callable[[np.ndarray], np.ndarray], n: int) -> tuple[float, float]:
    """Estimate the ends of the spectrum of a symmetric matrix (n, n), from inside, to a hundredth.

    >>> [round(end, 9) for end in spectrum_ends(lambda v: np.array([1.0, 2.0, 5.0]) * v, 3)]
    [1.0, 5.0]
    """
    rng = np.random.default_rng(n)
    v = rng.standard_normal(n)
    basis = [v / np.linalg.norm(v)]
    diagonal: list[float] = []
    beside: list[float] = []
    before = np.array([np.inf, 0.0])
    for step in range(1, min(n, LANCZOS_STEPS) + 1):
        w = multiply(basis[-1])
        diagonal.append(float(basis[-1] @ w))
        ends = scipy.linalg.eigvalsh_tridiagonal(diagonal, beside)[[0, -1]]
        settled = (np.abs(ends - before) <= 0.01 * np.abs(ends)).all()
        if not np.isfinite(ends).all() or (step >= LANCZOS_LEAST and settled):
            break
        before = ends
        for _ in range(2):  # twice is enough (Giraud et al. 2005)
            for u in basis:
                w -= (u @ w) * u
        norm = float(np.linalg.norm(w))
        if norm <= 1e-10 * np.abs(ends).max():
            break
        beside.append(norm)
        basis.append(w / norm)
    return float(ends[0]), float(ends[-1])
