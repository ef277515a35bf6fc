"""Weights of a metric space: the solution w of Z w = 1 with Z = exp(−tD), at any scale t.

Z is formed in single precision in one work array and only approximately solved there; the residual
1 − Z w is always taken in double precision, from D itself, and solved for again. So the answer
is as good as one in double precision, at half the memory and less than half the work. Near the
convergence scale Z is close to the identity and conjugate gradients need a dozen products; where
they would take longer than a Cholesky factorisation, one is made, and preconditions them at its
own and all neighbouring scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.blas import dgemv

from .arrays import row_blocks
from .errors import IndefiniteError
from .triangles import Triangles

Method = Literal["auto", "cg", "cholesky"]
Correct = Callable[[np.ndarray], np.ndarray | None]
Precondition = Callable[[np.ndarray], np.ndarray] | None

EPS = float(np.finfo(np.float64).eps)
SINGLE = float(np.finfo(np.float32).eps) / 2

# Up to this size a factorisation in double precision takes a millisecond or two.
SMALL = 256
# The relative error of the magnitude that is aimed at, and the largest that is accepted.
TARGET = 1e-9
ACCEPTED = 1e-6
# By how much one round of conjugate gradients reduces the residual: what single precision can do.
CG_TOLERANCE = 1e-6
# n/25 products with a triangle of Z cost about as much as its Cholesky factorisation.
CG_STEPS = 25
ROUNDS = 20
# A factor serves scales down to this share of its own.
REACH = 0.25


@dataclass(frozen=True)
class Solution:
    """Weights at one scale and how good they are.

    Attributes
    ----------
    t : float
    weights : array (n,)
    magnitude : float
        1ᵀw + wᵀr with r = 1 − Z w, in which the error of the weights enters squared.
    residual : float
        max |r| in double precision, or a bound on it.
    error : float
        (residual + ε Σ|w|) Σ|w| / magnitude: a bound on the relative error of Σw if Σ|w| is that
        of the exact weights up to rounding; ε Σ|w| is what rounding D alone may do.
    method : str
        "cg", "preconditioned cg", "cholesky" or "float64 cholesky".
    steps : int
        Conjugate gradient steps taken.
    """

    t: float
    weights: np.ndarray
    magnitude: float
    residual: float
    error: float
    method: str
    steps: int = 0


class Solver:
    """Solves for the weights of one space at many scales, each once.

    Parameters
    ----------
    D : array (n, n)
        Distances of distinct points, float32 or float64; not changed.
    method : {"auto", "cg", "cholesky"}
        "auto" takes conjugate gradients as long as they are the faster and Z is known to be
        positive definite, which they cannot check.
    negative_type : bool
        Whether D is of negative type, so that Z is positive definite at every scale (Schoenberg).

    Notes
    -----
    One scale costs n²/2 exponentials in single and two or three times as many in double
    precision, and n² flops for each step of conjugate gradients or n³/3 for a factorisation.
    Memory: one work array of 4n² bytes besides D; 8n² where single precision does not do.
    """

    def __init__(
        self, D: np.ndarray, method: Method = "auto", *, negative_type: bool = False
    ) -> None:
        self.D, self.n, self.method = D, len(D), method
        self.negative_type = negative_type
        self._solved: dict[float, Solution] = {}
        self._work: Triangles | None = None
        self._diameter = float(D.max())
        self._double = 0.0  # the largest scale at which single precision did not do

    def __call__(self, t: float) -> Solution:
        """The solution at scale t > 0.

        Raises
        ------
        IndefiniteError
            If Z is singular or indefinite in double precision.
        TooLargeError
            If the work array does not fit in memory.
        """
        if t not in self._solved:
            self._solved[t] = self._solve(float(t))
        return self._solved[t]

    @property
    def solutions(self) -> list[Solution]:
        """All solutions so far, by scale."""
        return [self._solved[t] for t in sorted(self._solved)]

    def release(self) -> None:
        """Give the work array back; the next solve allocates it again."""
        self._work = None

    def _solve(self, t: float) -> Solution:
        solution = None
        if self.method == "cg" or (self.n > SMALL and t > self._double):
            gradients = self.method == "cg" or (self.method == "auto" and self.negative_type)
            solution = self._iterate(t) if gradients else self._factorise(t, np.float32)
        if solution is None:
            self._double = max(t, self._double)
            solution = self._factorise(t, np.float64)
        if solution is None:
            raise IndefiniteError(t)
        return solution

    def _iterate(self, t: float) -> Solution | None:
        """Conjugate gradients, with a factor of a nearby scale where there is need of one."""
        Z = self._similarities(np.float32)
        Z.fill(self.D, t)
        if math.isinf(Z.factored) or t > 1.5 * Z.factored:
            solution = self._gradients(t, None, max(50, self.n // CG_STEPS))
            if solution is not None:
                return solution
        elif t > REACH * Z.factored:
            solution = self._gradients(t, Z.solve, max(25, self.n // (3 * CG_STEPS)))
            if solution is not None:
                return solution
        return self._gradients(t, Z.solve, self.n) if Z.factorise(t) else None

    def _gradients(self, t: float, precondition: Precondition, limit: int) -> Solution | None:
        multiply = self._similarities(np.float32).multiply
        method = "cg" if precondition is None else "preconditioned cg"
        steps = 0

        def correct(r: np.ndarray, goal: float = TARGET / 32) -> np.ndarray | None:
            nonlocal steps
            # A few entries may be far above the mean, so some progress is asked for in any case.
            norm = float(np.linalg.norm(r))
            goal = max(CG_TOLERANCE * norm, min(goal * math.sqrt(self.n), norm / 100))
            e, taken = conjugate_gradients(multiply, r, goal, limit - steps, precondition)
            steps += taken
            return e

        w = self._start(t)
        # To half of the digits; the other half are left for the residual in double precision.
        e = correct(1.0 - multiply(w), CG_TOLERANCE / 8)
        if e is None:
            return None
        w = w + e
        r = 1.0 - self._product(t, w)
        e = correct(r)
        if e is None:
            return None
        # What is left after this needs no product in double precision if rounding in the single
        # one, of Z and of sums (Higham & Mary 2019), is small enough, as it is where e is.
        left = np.abs(r - multiply(e)).max()
        slack = SINGLE * (4 + t * self._diameter + 8 * math.sqrt(self.n))
        residual = float(left + slack * multiply(np.abs(e)).max())
        # 1ᵀZ⁻¹1 = 1ᵀw + wᵀr + rᵀZ⁻¹r, the last from e with an error of the order of |r| · left.
        value = float(w.sum() + w @ r + r @ e)
        solution = _solution(t, w + e, value, residual, method, steps)
        if solution.error <= TARGET:
            return solution
        return self._refine(t, w + e, correct, method, lambda: steps)

    def _factorise(self, t: float, dtype: type) -> Solution | None:
        Z = self._similarities(dtype)
        Z.fill(self.D, t)
        if not Z.factorise(t):
            return None
        method = "cholesky" if dtype is np.float32 else "float64 cholesky"
        return self._refine(t, Z.solve(np.ones(self.n)), Z.solve, method)

    def _refine(
        self,
        t: float,
        w: np.ndarray,
        correct: Correct,
        method: str,
        steps: Callable[[], int] = lambda: 0,
    ) -> Solution | None:
        """Correct w by its residual in double precision until the error is as wanted."""
        best: Solution | None = None
        for _ in range(ROUNDS):
            r = 1.0 - self._product(t, w)
            value = float(w.sum() + w @ r)
            found = _solution(t, w, value, float(np.abs(r).max()), method, steps())
            if not math.isfinite(found.error):
                break
            stuck = best is not None and found.residual > best.residual / 2
            if best is None or found.residual < best.residual:
                best = found
            if found.error <= TARGET or stuck:
                break
            e = correct(r)
            if e is None:
                return None
            w = w + e
        # Single precision passes what it cannot do on to double precision.
        accepted = TARGET if method != "float64 cholesky" else ACCEPTED
        return best if best is not None and best.error <= accepted else None

    def _start(self, t: float) -> np.ndarray:
        """The weights at up to three of the nearest scales solved so far, extrapolated to t."""
        near: list[Solution] = []
        for solution in sorted(self._solved.values(), key=lambda s: abs(s.t - t)):
            # Scales much closer to each other than to t would magnify their errors.
            if all(abs(solution.t - s.t) > abs(solution.t - t) / 4 for s in near):
                near.append(solution)
            if len(near) == 3:
                break
        start = np.zeros(self.n)
        for a in near:  # Lagrange's formula
            others = [b.t for b in near if b is not a]
            start += a.weights * math.prod((t - b) / (a.t - b) for b in others)
        return start

    def _similarities(self, dtype: type) -> Triangles:
        """The work array, kept as long as its precision does."""
        if self._work is None or self._work.dtype is not dtype:
            self._work = None  # so that there is never more than one
            self._work = Triangles(self.n, dtype)
        return self._work

    def _product(self, t: float, w: np.ndarray) -> np.ndarray:
        """Z @ w in double precision, Z never stored."""
        y = np.zeros(self.n)
        buffer = np.empty(0)
        for block in row_blocks(self.n, 12 * self.n):
            stop = block.stop
            square = np.exp(np.multiply(self.D[block, block], np.float64(-t)))
            y[block] += np.einsum("ij,j->i", square, w[block])
            if stop == self.n:
                break
            rows, columns = stop - block.start, self.n - stop
            buffer = buffer if buffer.size >= rows * columns else np.empty(rows * columns)
            z = buffer[: rows * columns].reshape(rows, columns)
            np.multiply(self.D[block, stop:], np.float64(-t), out=z)
            np.exp(z, out=z)
            # SciPy's BLAS, as in the steps between: NumPy's is another, with threads of its own.
            y[block] += dgemv(1.0, z.T, w[stop:], trans=1)
            y[stop:] += dgemv(1.0, z.T, w[block])
        return y


def _solution(
    t: float, w: np.ndarray, value: float, residual: float, method: str, steps: int
) -> Solution:
    absolute = float(np.abs(w).sum())
    error = (residual + EPS * absolute) * absolute / abs(value) if value else math.inf
    return Solution(t, w, value, residual, error, method, steps)


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    goal: float,
    steps: int,
    precondition: Precondition = None,
) -> tuple[np.ndarray | None, int]:
    """x with ‖b − A x‖ ≤ goal by the recurrence, and the steps it took.

    None if `steps` do not suffice or A turns out not to be positive definite.
    """
    x, r = np.zeros_like(b), b.copy()
    p, previous = np.zeros_like(b), 1.0
    for step in range(steps + 1):
        if float(r @ r) <= goal**2:
            return x, step
        z = r if precondition is None else precondition(r)
        inner = float(r @ z)
        p *= inner / previous
        p += z
        Ap = multiply(p)
        curvature = float(p @ Ap)
        if not curvature > 0:
            return None, step
        alpha, previous = inner / curvature, inner
        x += alpha * p
        r -= alpha * Ap
    return None, steps
