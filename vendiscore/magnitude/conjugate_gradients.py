"""Conjugate gradients (Hestenes & Stiefel 1952), and Lanczos iteration for extreme eigenvalues."""

import math
from collections.abc import Callable

import numpy as np

Precondition = Callable[[np.ndarray], np.ndarray] | None

# Number of Lanczos steps between restarts; extreme eigenvalues that are isolated converge first.
_LANCZOS_STEPS = 8


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    goal: float,
    steps: int,
    precondition: Precondition = None,
    weight: np.ndarray | float = 1.0,
) -> tuple[np.ndarray | None, int]:
    """Solve A x = b by conjugate gradients until Σ weight (b − A x)² ≤ goal².

    Returns x and the number of steps. x is None if `steps` steps are not enough, or if A or the
    preconditioner is not positive definite.
    """
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
    """Estimate the largest or smallest eigenvalue of a symmetric matrix with n rows.

    The estimate is between the smallest and the largest eigenvalue. It is NaN if the iteration
    fails. `multiply` returns the product of the matrix with a vector.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh  # slow to import

    matrix = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(n).standard_normal(n)  # reproducible, unlike ARPACK's default
    which = "LA" if largest else "SA"
    steps = min(n, _LANCZOS_STEPS)
    try:
        values = eigsh(
            matrix, k=1, which=which, v0=start, ncv=steps, tol=0.01, return_eigenvectors=False
        )
    except ArpackError:
        return math.nan
    return float(values[0])
