"""Weights of a metric space: the solution w of Z w = 1 with Z = exp(−tD), at any scale t.

Weights are extrapolated from scales solved before; their residual 1 − Z w is taken in double
precision from D itself, and Z kept in single precision, in one work array, where the correction is
solved for. So the answer is as good as one in double precision, at half the memory and less than
half the work, and the magnitude, in which errors enter squared, needs few digits of it. Near the
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

from .errors import IndefiniteError
from .gradients import Precondition, conjugate_gradients
from .triangles import Triangles, product

Method = Literal["auto", "cg", "cholesky"]
Correct = Callable[[np.ndarray], np.ndarray | None]

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
        Relative error of the magnitude: at most (rᵀZ⁻¹r + ε (Σ|w|)²) / magnitude, where the least
        eigenvalue that conjugate gradients met stands for Z; ε Σ|w| is what rounding D may do.
    weights_error : float
        (residual + ε Σ|w|) Σ|w| / magnitude: a bound on the relative error of Σw if Σ|w| is that
        of the exact weights up to rounding, and on `error`.
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
    weights_error: float
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
    One scale costs n²/2 exponentials in double precision, two or three times as many where the
    weights are asked for, and 2n² flops for each step of conjugate gradients or n³/3 for a
    factorisation.
    Memory: one work array of 4n² bytes besides D; 8n² where single precision does not do.
    """

    def __init__(
        self, D: np.ndarray, method: Method = "auto", *, negative_type: bool = False
    ) -> None:
        self.D, self.n, self.method = D, len(D), method
        self.negative_type = negative_type
        self._solved: dict[float, Solution] = {}
        self._work: Triangles | None = None
        # ‖r‖² / rᵀZ⁻¹r of the last residual left, which says how far the next has to go.
        self._curvature = 1e-2
        self._lowest: list[tuple[float, float]] = []  # scales and eigenvalues met there
        self._double = 0.0  # the largest scale at which single precision did not do

    def __call__(self, t: float) -> Solution:
        """The solution at scale t > 0, its weights as accurate as its magnitude.

        Raises
        ------
        IndefiniteError
            If Z is singular or indefinite in double precision.
        TooLargeError
            If the work array does not fit in memory.
        """
        return self._known(t, weights=True)

    def magnitude(self, t: float) -> float:
        """The magnitude at scale t > 0, which needs half the digits of the weights; errors as
        for a call."""
        return self._known(t, weights=False).magnitude

    def _known(self, t: float, *, weights: bool) -> Solution:
        known = self._solved.get(t)
        rough = known is not None and "cg" in known.method and known.weights_error > TARGET
        if known is None or (weights and rough):
            self._solved[t] = self._solve(float(t), weights)
        return self._solved[t]

    @property
    def solutions(self) -> list[Solution]:
        """All solutions so far, by scale."""
        return [self._solved[t] for t in sorted(self._solved)]

    def release(self) -> None:
        """Give the work array back; the next solve allocates it again."""
        self._work = None

    def _solve(self, t: float, weights: bool) -> Solution:
        solution = None
        if self.method == "cg" or (self.n > SMALL and t > self._double):
            gradients = self.method == "cg" or (self.method == "auto" and self.negative_type)
            solution = self._iterate(t, weights) if gradients else self._factorise(t, np.float32)
        if solution is None:
            self._double = max(t, self._double)
            solution = self._factorise(t, np.float64)
        if solution is None:
            raise IndefiniteError(t)
        return solution

    def _iterate(self, t: float, weights: bool) -> Solution | None:
        """Conjugate gradients, with a factor of a nearby scale where there is need of one."""
        Z = self._similarities(np.float32)
        w = self._start(t)
        start = w, 1.0 - Z.fill(self.D, t, w)
        if math.isinf(Z.factored) or t > 1.5 * Z.factored:
            limit = max(50, self.n // CG_STEPS)
            solution = self._gradients(t, *start, None, limit, weights)
            if solution is not None:
                return solution
        elif t > REACH * Z.factored:
            limit = max(25, self.n // (3 * CG_STEPS))
            solution = self._gradients(t, *start, Z.solve, limit, weights)
            if solution is not None:
                return solution
        if not Z.factorise(t):
            return None
        return self._gradients(t, *start, Z.solve, self.n, weights)

    def _gradients(
        self,
        t: float,
        w: np.ndarray,
        r: np.ndarray,
        precondition: Precondition,
        limit: int,
        weights: bool,
    ) -> Solution | None:
        """Corrections to w, of residual r, by conjugate gradients in single precision."""
        multiply = self._similarities(np.float32).multiply
        method = "cg" if precondition is None else "preconditioned cg"
        slack = SINGLE * (4 + 8 * math.sqrt(self.n))
        steps, least = 0, math.inf

        def correct(r: np.ndarray, goal: float = TARGET / 32) -> np.ndarray | None:
            nonlocal steps, least
            norm, goal = float(np.linalg.norm(r)), goal * math.sqrt(self.n)
            if weights or norm > goal or math.isinf(self._least(t, precondition)):
                # A few entries may be far above the mean, so some progress is asked for.
                goal = min(goal, norm / 100)
            goal = max(CG_TOLERANCE * norm, goal)
            e, taken, lowest = conjugate_gradients(multiply, r, goal, limit - steps, precondition)
            steps, least = steps + taken, min(least, lowest)
            return e

        for rounds in range(2):
            if weights:
                # To half of the digits; the other half are left for the next residual.
                goal = TARGET / 32 if rounds else CG_TOLERANCE / 8
            else:
                goal = math.sqrt(TARGET / 32 * self._curvature)
            e = correct(r, goal)
            if e is None:
                return None
            f = r - multiply(e)
            # Rounding in the single product, of Z and of sums (Higham & Mary 2019).
            rounding = slack * multiply(np.abs(e))
            residual = float(np.abs(f).max() + rounding.max())
            # 1ᵀZ⁻¹1 = 1ᵀw + wᵀr + rᵀe + eᵀf + fᵀZ⁻¹f, and the last is what is left out.
            value = float(w.sum() + w @ r + r @ e + e @ f)
            if precondition is None:
                self._lowest.append((t, least))
            least = min(least, self._least(t, precondition))
            energy = float(f @ (f if precondition is None else precondition(f))) / least
            if energy:
                self._curvature = min(1.0, float(f @ f) / energy) / 2
            # Rows round independently of each other, but for two of each entry; 8√n is for the
            # worst of n rows, and a quarter of twice that for their sum.
            left = energy + float(np.linalg.norm(e * rounding)) / 4
            solution = _solution(t, w + e, value, residual, method, steps, left)
            if (solution.weights_error if weights else solution.error) <= TARGET:
                return solution
            w = w + e
            r = 1.0 - product(self.D, t, w)
        return self._refine(t, w, correct, method, lambda: steps)

    def _factorise(self, t: float, dtype: type) -> Solution | None:
        Z = self._similarities(dtype)
        Z.fill(self.D, t, np.zeros(self.n))
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
            r = 1.0 - product(self.D, t, w)
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
        """The weights at up to four of the nearest scales solved so far, extrapolated to t."""
        near: list[Solution] = []
        for solution in sorted(self._solved.values(), key=lambda s: abs(s.t - t)):
            # Scales much closer to each other than to t would magnify their errors.
            if all(abs(solution.t - s.t) > abs(solution.t - t) / 4 for s in near):
                near.append(solution)
            if len(near) == 4:
                break
        start = np.zeros(self.n)
        for a in near:  # Lagrange's formula
            others = [b.t for b in near if b is not a]
            start += a.weights * math.prod((t - b) / (a.t - b) for b in others)
        return start

    def _least(self, t: float, precondition: Precondition) -> float:
        """The least eigenvalue met at scales from t on; few steps may miss it, but it only grows
        with the scale. Infinite if there is none."""
        if precondition is not None:
            return math.inf
        return min((lowest for scale, lowest in self._lowest if scale >= t), default=math.inf)

    def _similarities(self, dtype: type) -> Triangles:
        """The work array, kept as long as its precision does."""
        if self._work is None or self._work.dtype is not dtype:
            self._work = None  # so that there is never more than one
            self._work = Triangles(self.n, dtype)
        return self._work


def _solution(
    t: float,
    w: np.ndarray,
    value: float,
    residual: float,
    method: str,
    steps: int,
    left: float = math.inf,
) -> Solution:
    """`left` is a bound on rᵀZ⁻¹r, if there is one."""
    if not value:
        return Solution(t, w, value, residual, math.inf, math.inf, method, steps)
    absolute = float(np.abs(w).sum())
    of_weights = (residual + EPS * absolute) * absolute / abs(value)
    error = min(of_weights, (left + EPS * absolute**2) / abs(value))
    return Solution(t, w, value, residual, error, of_weights, method, steps)
