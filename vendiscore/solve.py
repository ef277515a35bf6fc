"""Weights of a metric space: the solution w of Z w = 1 with Z = exp(−tD), at any scale t.

Z is formed in single precision in one work array and only approximately solved there; the residual
1 − Z w is always taken in double precision, from D itself, and solved for again. So the answer
is as good as one in double precision, at half the memory and less than half the work. Near the
convergence scale Z is close to the identity and conjugate gradients need a dozen products; where
they take longer than a Cholesky factorisation, that is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.blas import ssymv
from scipy.linalg.lapack import dpotrf, dpotrs, spotrf, spotrs

from . import memory
from .arrays import row_blocks
from .errors import IndefiniteError

Method = Literal["auto", "cg", "cholesky"]
Correct = Callable[[np.ndarray], np.ndarray | None]

EPS = float(np.finfo(np.float64).eps)

# Up to this size a factorisation in double precision takes a millisecond or two.
SMALL = 256
# The relative error of the magnitude that is aimed at, and the largest that is accepted.
TARGET = 1e-10
ACCEPTED = 1e-6
# By how much one round of conjugate gradients reduces the residual: what single precision can do.
CG_TOLERANCE = 1e-6
# n/25 products with a triangle of Z cost about as much as its Cholesky factorisation.
CG_STEPS = 25
ROUNDS = 20


@dataclass(frozen=True)
class Solution:
    """Weights at one scale and how good they are.

    Attributes
    ----------
    t : float
    weights : array (n,)
    magnitude : float
        1ᵀw + wᵀr, in which the error of the weights enters squared.
    residual : float
        max |r| with r = 1 − Z w, in double precision.
    error : float
        (max |r| + ε Σ|w|) Σ|w| / magnitude: a bound on the relative error of Σw if Σ|w| is that
        of the exact weights up to rounding; ε Σ|w| is what rounding D alone may do.
    method : str
        "cg", "cholesky" or "float64 cholesky".
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
        "auto" takes conjugate gradients as long as they are the faster.

    Notes
    -----
    One scale costs n²/2 exponentials in single and two or three times as many in double
    precision, and n² flops for each step of conjugate gradients or n³/3 for a factorisation.
    Memory: one work array of 4n² bytes besides D; 8n² where single precision does not do.
    """

    def __init__(self, D: np.ndarray, method: Method = "auto") -> None:
        self.D, self.n, self.method = D, len(D), method
        self._solved: dict[float, Solution] = {}
        self._work: np.ndarray | None = None
        self._stalled = 0.0  # the largest scale at which conjugate gradients were too slow

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
        if self.n > SMALL or self.method == "cg":
            if self.method == "cg" or (self.method == "auto" and t > self._stalled):
                solution = self._iterate(t)
                if solution is None:
                    self._stalled = max(t, self._stalled)
            if solution is None and self.method != "cg":
                solution = self._factorise(t, np.float32)
        return solution or self._factorise(t, np.float64, last=True)  # type: ignore[return-value]

    def _iterate(self, t: float) -> Solution | None:
        Z = self._similarities(t, np.float32)
        limit = self.n if self.method == "cg" else max(50, self.n // CG_STEPS)
        steps = 0

        def multiply(v: np.ndarray) -> np.ndarray:
            return np.asarray(ssymv(1.0, Z, v.astype(np.float32), lower=1), np.float64)

        def correct(r: np.ndarray) -> np.ndarray | None:
            nonlocal steps
            e, taken = conjugate_gradients(multiply, r, CG_TOLERANCE, limit - steps)
            steps += taken
            return e

        w = self._start(t)
        r = 1.0 - multiply(w)
        e = correct(r)
        return None if e is None else self._refine(t, w + e, correct, "cg", lambda: steps)

    def _factorise(self, t: float, dtype: type, last: bool = False) -> Solution | None:
        A = self._similarities(t, dtype)
        single = dtype is np.float32
        potrf, potrs = (spotrf, spotrs) if single else (dpotrf, dpotrs)
        L, info = potrf(A, lower=1, clean=0, overwrite_a=1)
        if info:
            if last:
                raise IndefiniteError(t)
            return None

        def correct(r: np.ndarray) -> np.ndarray:
            return np.asarray(potrs(L, r.astype(dtype), lower=1)[0], np.float64)

        solution = self._refine(
            t, correct(np.ones(self.n)), correct, "cholesky" if single else "float64 cholesky"
        )
        if last and solution is None:
            raise IndefiniteError(t)
        return solution

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
            absolute, residual = float(np.abs(w).sum()), float(np.abs(r).max())
            value = float(w.sum() + w @ r)
            error = (residual + EPS * absolute) * absolute / abs(value)
            if not np.isfinite(error):
                break
            stuck = best is not None and residual > best.residual / 2
            if best is None or residual < best.residual:
                best = Solution(t, w, value, residual, error, method, steps())
            if error <= TARGET or stuck:
                break
            e = correct(r)
            if e is None:
                return None
            w = w + e
        # Single precision passes what it cannot do on to double precision.
        accepted = TARGET if method != "float64 cholesky" else ACCEPTED
        return best if best is not None and best.error <= accepted else None

    def _start(self, t: float) -> np.ndarray:
        """The weights at the nearest scales solved so far, extrapolated where there are two."""
        near = sorted(self._solved.values(), key=lambda s: abs(s.t - t))[:2]
        if not near:
            return np.zeros(self.n)
        a = near[0]
        if len(near) == 1 or abs(near[1].t - t) > 4 * abs(near[1].t - a.t):
            return a.weights
        slope: np.ndarray = (near[1].weights - a.weights) / (near[1].t - a.t)
        return a.weights + (t - a.t) * slope

    def _similarities(self, t: float, dtype: type) -> np.ndarray:
        """exp(−tD) in the lower triangle of a Fortran-ordered array that is used again."""
        if self._work is None or self._work.dtype != dtype:
            self._work = None
            bytes_ = np.dtype(dtype).itemsize * self.n**2
            memory.require(
                bytes_, f"the similarities of {self.n} distinct samples", "compare fewer samples"
            )
            self._work = np.empty((self.n, self.n), dtype)
        for block in row_blocks(self.n, 12 * self.n):
            z = self._work[block, block.start :]
            np.multiply(self.D[block, block.start :], np.float64(-t), out=z, casting="same_kind")
            np.exp(z, out=z)
        return np.asarray(self._work.T)

    def _product(self, t: float, w: np.ndarray) -> np.ndarray:
        """Z @ w in double precision, Z never stored."""
        y = np.zeros(self.n)
        buffer = np.empty((0, 0))
        for block in row_blocks(self.n, 12 * self.n):
            start, stop = block.start, block.stop
            if buffer.size < (stop - start) * (self.n - start):
                buffer = np.empty((stop - start) * (self.n - start))
            z = buffer[: (stop - start) * (self.n - start)].reshape(stop - start, -1)
            np.multiply(self.D[block, start:], np.float64(-t), out=z)
            np.exp(z, out=z)
            y[block] += z @ w[start:]
            y[stop:] += w[block] @ z[:, stop - start :]
        return y


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray], b: np.ndarray, tolerance: float, steps: int
) -> tuple[np.ndarray | None, int]:
    """x with ‖b − A x‖ ≤ tolerance · ‖b‖ by the recurrence, and the steps it took.

    None if `steps` do not suffice or A turns out not to be positive definite.
    """
    x = np.zeros_like(b)
    r, p = b.copy(), b.copy()
    square = float(r @ r)
    goal = tolerance**2 * square
    for step in range(steps):
        if square <= goal:
            return x, step
        Ap = multiply(p)
        curvature = float(p @ Ap)
        if not curvature > 0:
            return None, step
        alpha = square / curvature
        x += alpha * p
        r -= alpha * Ap
        square, previous = float(r @ r), square
        p *= square / previous
        p += r
    return (x, steps) if square <= goal else (None, steps)
