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
    max_norm: float,
    max_steps: int,
    precondition: Precondition = None,
    residual_weights: np.ndarray | float = 1.0,
) -> tuple[np.ndarray | None, int]:
    """Solve A x = b by conjugate gradients until √Σ v_i r_i² ≤ `max_norm`.

    A is a symmetric positive definite matrix, r = b − A x is the residual, and v are the weights
    `residual_weights`. `multiply(p)` computes A p, and `precondition(r)`, if given, approximates
    A⁻¹ r. Returns x and the number of steps. x is None if `max_steps` steps are not enough, or if A
    or the preconditioner is not positive definite.
    """
    x = np.zeros_like(b)
    r = b.copy()
    p = np.zeros_like(b)  # search direction
    previous_rz = 1.0  # any positive number, because p is 0 in the first step
    for step in range(max_steps + 1):
        if r @ (residual_weights * r) <= max_norm**2:
            return x, step
        z = r if precondition is None else precondition(r)  # the preconditioned residual
        rz = r @ z
        # The next search direction, conjugate to the previous ones.
        p *= rz / previous_rz
        p += z
        Ap = multiply(p)
        curvature = p @ Ap
        if not curvature > 0 or not rz > 0:  # also true for NaN
            return None, step
        step_length = rz / curvature
        previous_rz = rz
        x += step_length * p
        r -= step_length * Ap
    return None, max_steps


def estimate_extreme_eigenvalue(
    multiply: Callable[[np.ndarray], np.ndarray], n: int, *, largest: bool
) -> float:
    """Estimate the largest or smallest eigenvalue of a symmetric matrix with n rows.

    `multiply` computes the product of the matrix with a vector. The estimate by Lanczos iteration
    never lies outside the range of the eigenvalues, apart from rounding errors, so the largest one
    may be underestimated. It is NaN if the iteration fails.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh  # slow to import

    matrix = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(n).standard_normal(n)  # reproducible, unlike ARPACK's default
    which = "LA" if largest else "SA"
    basis_size = min(n, _LANCZOS_STEPS)
    try:
        values = eigsh(
            matrix, k=1, which=which, v0=start, ncv=basis_size, tol=0.01, return_eigenvectors=False
        )
    except ArpackError:
        return math.nan
    return float(values[0])
