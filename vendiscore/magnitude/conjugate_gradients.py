"""Conjugate gradients (Hestenes & Stiefel 1952), and Lanczos' method for the ends of a spectrum."""

import math
from collections.abc import Callable

import numpy as np

Precondition = Callable[[np.ndarray], np.ndarray] | None

# Steps of Lanczos' method between restarts: an eigenvalue away from all others comes first.
_LANCZOS_STEPS = 8


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    goal: float,
    steps: int,
    precondition: Precondition = None,
    weight: np.ndarray | float = 1.0,
) -> tuple[np.ndarray | None, int]:
    """Return x with Σ weight (b − A x)² ≤ goal², or None if it fails, and the steps it took."""
    x = np.zeros_like(b)
    r = b.copy()
    p = np.zeros_like(b)
    previous = 1.0
    for step in range(steps + 1):
        if r @ (weight * r) <= goal**2:
            return x, step
        z = r if precondition is None else precondition(r)
        inner = r @ z
        p *= inner / previous
        p += z
        Ap = multiply(p)
        curvature = p @ Ap
        if not curvature > 0 or not inner > 0:
            return None, step
        alpha = inner / curvature
        previous = inner
        x += alpha * p
        r -= alpha * Ap
    return None, steps


def estimate_extreme_eigenvalue(
    multiply: Callable[[np.ndarray], np.ndarray], n: int, *, largest: bool
) -> float:
    """Estimate an end of the spectrum of a symmetric matrix (n, n) from inside; NaN if it fails."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh  # which few measures need

    matrix = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(n).standard_normal(n)  # ARPACK's own is drawn anew in each call
    end = "LA" if largest else "SA"
    steps = min(n, _LANCZOS_STEPS)
    try:
        values = eigsh(
            matrix, k=1, which=end, v0=start, ncv=steps, tol=0.01, return_eigenvectors=False
        )
    except ArpackError:
        return math.nan
    return float(values[0])
