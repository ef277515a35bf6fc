"""Conjugate gradients (Hestenes & Stiefel 1952), and what they learn of the spectrum on their way.

The coefficients of the recurrence are the entries of Lanczos' tridiagonal matrix (Golub & Van Loan,
Matrix Computations, §11.3), whose least eigenvalue bounds the error that is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

Precondition = Callable[[np.ndarray], np.ndarray] | None


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    goal: float,
    steps: int,
    precondition: Precondition = None,
) -> tuple[np.ndarray | None, int, float]:
    """x with ‖b − A x‖ ≤ goal by the recurrence, the steps it took, and the least eigenvalue met.

    That is the least of Lanczos' tridiagonal matrix, of M⁻¹A if preconditioned, and never below
    that of the matrix itself. None if `steps` do not suffice or A turns out not to be positive
    definite.
    """
    x, r = np.zeros_like(b), b.copy()
    p, previous = np.zeros_like(b), 1.0
    diagonal: list[float] = []
    beside: list[float] = []
    alpha = math.inf
    for step in range(steps + 1):
        if float(r @ r) <= goal**2:
            return x, step, _least(diagonal, beside)
        z = r if precondition is None else precondition(r)
        inner = float(r @ z)
        beta = inner / previous
        p *= beta
        p += z
        Ap = multiply(p)
        curvature = float(p @ Ap)
        if not curvature > 0 or not inner > 0:
            return None, step, math.inf
        carried = beta / alpha
        if step:
            beside.append(math.sqrt(beta) / alpha)
        alpha, previous = inner / curvature, inner
        diagonal.append(1 / alpha + carried)
        x += alpha * p
        r -= alpha * Ap
    return None, steps, math.inf


def _least(diagonal: list[float], beside: list[float]) -> float:
    if not diagonal:
        return math.inf
    values = eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))
    # Rounding can take it below zero.
    return max(float(values[0]), float(np.finfo(np.float64).eps))
