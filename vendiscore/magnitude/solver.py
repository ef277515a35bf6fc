"""Solver of Z w = 1, Z = exp(−tD), for the magnitude weights w of a metric space.

D are the distances, and t is the scale. Solutions have error bounds.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from ..support.namespace import row_blocks
from ..support.types import Record
from .conjugate_gradients import Precondition, conjugate_gradients, estimate_extreme_eigenvalue
from .magnitude_options import SolverName
from .triangular_storage import TriangularArrays, multiply_similarities

EPS = float(np.finfo(np.float64).eps)
SINGLE_EPS = float(np.finfo(np.float32).eps) / 2

# Up to this size, a factorisation in double precision takes 1 to 2 ms.
MAX_DIRECT_SIZE = 256
# Target and maximum accepted relative error of the magnitude.
TARGET_ERROR = 1e-9
MAX_ERROR = 1e-6
# Factor by which one run of conjugate gradients reduces the residual, limited by single precision.
CG_TOLERANCE = 1e-6
# n/25 products with a triangle of Z take about as long as its Cholesky factorisation.
CG_STEP_DIVISOR = 25
MAX_REFINEMENTS = 20
# A Cholesky factor at scale t is used as preconditioner for scales of at least this fraction of t.
# It also proves a bound of the eigenvalues at larger scales.
MIN_FACTOR_RATIO = 0.25
# Maximum number of solved scales from which the initial weights are extrapolated.
N_EXTRAPOLATION_SCALES = 6
DOUBLE_CHOLESKY = "float64 cholesky"
# Factor of the bound m_i in `_diagonal_bound`, which covers the influence of other points.
BOUND_FRACTION = 0.9


@dataclass(frozen=True)
class Solution:
    """The weights of a metric space at one scale, with error bounds.

    Attributes
    ----------
    t : float
        The scale.
    weights : ndarray (n,)
        Approximate solution w of Z w = 1 for n points; its residual is r = 1 − Z w.
    magnitude : float
        The magnitude 1ᵀw + wᵀr.
    residual : float
        Upper bound of max |r|.
    error : float
        Upper bound of the relative error of the magnitude: (rᵀm⁻¹r + ε (Σ|w|)²) / magnitude, for a
        vector m with Z ⪰ diag(m) and machine epsilon ε.
    weights_error : float
        Upper bound of the errors of the weights, relative to the largest weight:
        √(rᵀm⁻¹r / min m) / max |w|.
    method : str
        How the weights were computed.
    """

    t: float
    weights: np.ndarray
    magnitude: float
    residual: float
    error: float
    weights_error: float
    method: str

    @property
    def is_final(self) -> bool:
        """True if the weights are accurate or cannot be computed more accurately."""
        return self.method == DOUBLE_CHOLESKY or self.weights_error <= TARGET_ERROR


class IndefiniteError(ValueError):
    """Similarities exp(−tD) that are singular or indefinite at a scale, so magnitude is undefined.

    Attributes
    ----------
    t : float
        The scale.

    Examples
    --------
    >>> from vendiscore.magnitude import magnitude
    >>> side = np.array([0, 0, 0, 1, 1])  # distance 2 on one side, 1 across
    >>> D = 2.0 - (side[:, None] != side) - 2 * np.eye(5)
    >>> try:
    ...     magnitude(D, t=0.1, metric="precomputed")
    ... except IndefiniteError as error:
    ...     error.t
    0.1
    """

    def __init__(self, t: float) -> None:
        super().__init__(t)
        self.t = t

    def __str__(self) -> str:
        return (
            f"the similarities exp(−tD) at scale t={self.t:.6g} are singular or indefinite, so the "
            f"magnitude is undefined or cannot be computed in double precision. Use larger scales "
            f"(scales=… or t=…), use distances of negative type (metric 'euclidean' or "
            f"'manhattan', or a kernel with metric='kernel'), or remove nearly identical samples"
        )


class Solver:
    """Computes and caches the magnitude weights of n points at each scale.

    In addition to the distances D, it uses 4n² bytes in single precision, and 8n² bytes in double
    precision.

    Parameters
    ----------
    D : ndarray (n, n)
        Distances.
    method : {"auto", "cg", "cholesky"}, default "auto"
        The `solver` of `as_space`.
    negative_type : bool, default False
        Whether the distances are of negative type, so that exp(−tD) is positive definite.
    hilbert : bool, default False
        Whether the distances are those of points in a Hilbert space.
    """

    def __init__(
        self,
        D: np.ndarray,
        method: SolverName = "auto",
        *,
        negative_type: bool = False,
        hilbert: bool = False,
    ) -> None:
        self.D = D
        self.method = method
        self.n: int = len(D)
        self.negative_type: bool = negative_type or hilbert
        self.hilbert = hilbert
        self.lock: threading.RLock = threading.RLock()
        self._solutions: dict[float, Solution] = {}
        self._work: TriangularArrays | None = None
        # Lower bound of the eigenvalues of Z proved by a factorisation, for each scale.
        self._proved_bounds: dict[float, float] = {}
        self.max_distance: float = float(D.max(initial=0.0))
        self._max_double_scale = 0.0  # largest scale at which single precision was too inaccurate

    def __getstate__(self) -> Record:
        return {**vars(self), "lock": None, "_work": None}

    def __setstate__(self, state: Record) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()

    def __call__(self, t: float) -> Solution:
        """Compute accurate weights and the magnitude at scale t > 0."""
        return self._get_solution(t, weights=True)

    def magnitude(self, t: float) -> float:
        """Compute the magnitude at scale t > 0, for which less accurate weights are enough."""
        try:
            return self._get_solution(t, weights=False).magnitude
        except IndefiniteError:
            # At very small scales the magnitude is 1 up to TARGET_ERROR. It is at most the
            # magnitude of an n-dimensional ball around all points, whose expansion begins with
            # 1 + t r √π Γ((n + 1)/2)/Γ(n/2) (Barceló & Carbery, Amer. J. Math. 2018). The radius r
            # is at most 1/√2 of the diameter (Jung), and the factor at most 1.3 √n.
            if self.hilbert and 2 * math.sqrt(self.n) * t * self.max_distance <= TARGET_ERROR:
                return 1.0
            raise

    def _get_solution(self, t: float, *, weights: bool) -> Solution:
        """Return the cached solution at scale t, or compute it; accurate weights if `weights`."""
        with self.lock, np.errstate(under="ignore", over="ignore"):
            solution = self._solutions.get(t)
            if solution is None or (weights and not solution.is_final):
                solution = self._solutions[t] = self._solve(float(t), weights)
            return solution

    @property
    def solutions(self) -> list[Solution]:
        """All cached solutions, sorted by scale."""
        with self.lock:
            return [self._solutions[t] for t in sorted(self._solutions)]

    def _solve(self, t: float, weights: bool) -> Solution:
        """Solve at scale t; compute accurate weights if `weights`, else only the magnitude."""
        solution = None
        if self.method == "cg" or (self.n > MAX_DIRECT_SIZE and t > self._max_double_scale):
            if self.method == "cg" or (self.method == "auto" and self.negative_type):
                solution = self._solve_by_conjugate_gradients(t, weights)
            else:
                solution = self._solve_by_cholesky(t, np.float32, weights)
        if solution is None:
            self._max_double_scale = max(t, self._max_double_scale)
            solution = self._solve_by_cholesky(t, np.float64, weights)
        if solution is None:
            raise IndefiniteError(t)
        return solution

    def _solve_by_cholesky(self, t: float, dtype: type, weights: bool) -> Solution | None:
        """Solve by a Cholesky factorisation in the given precision; None on failure."""
        if not self._factorise(t, dtype):
            return None
        solve = self._get_work_array(dtype).solve
        method = "cholesky" if dtype is np.float32 else DOUBLE_CHOLESKY
        return self._refine(t, solve(np.ones(self.n)), solve, method, weights)

    def _solve_by_conjugate_gradients(self, t: float, weights: bool) -> Solution | None:
        """Solve by conjugate gradients, with a Cholesky factor as preconditioner if needed.

        Returns None on failure.
        """
        Z = self._get_work_array(np.float32)
        if not np.any(self._diagonal_bound(t)):
            # The first successful factorisation proves that Z is positive definite at scale t.
            results = (self._factorise(scale, np.float32) for scale in (MIN_FACTOR_RATIO * t, t))
            if not any(results):
                return None
        w = self._extrapolate_weights(t)
        r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance, Z.array)
        solution = None
        if t > 1.5 * Z.factor_scale:
            limit = max(50, self.n // CG_STEP_DIVISOR)
            solution = self._refine_by_conjugate_gradients(t, w, r, None, limit, weights)
        elif t > MIN_FACTOR_RATIO * Z.factor_scale:
            limit = max(25, self.n // (3 * CG_STEP_DIVISOR))
            solution = self._refine_by_conjugate_gradients(t, w, r, Z.solve, limit, weights)
        if solution is None and Z.factorise(t):
            solution = self._refine_by_conjugate_gradients(t, w, r, Z.solve, self.n, weights)
        return solution

    def _factorise(self, t: float, dtype: type) -> bool:
        """Factorise Z at scale t, and return whether this proves that Z is positive definite."""
        Z = self._get_work_array(dtype)
        multiply_similarities(self.D, t, np.zeros(self.n), self.max_distance, Z.array)
        if not Z.factorise(t):
            return False
        if self.hilbert:
            return True
        largest = estimate_extreme_eigenvalue(Z.solve, self.n, largest=True)
        if not 0 < largest < math.inf:
            return False
        lower_bound = 1 / (2 * largest)
        if Z.dtype is np.float32:
            # Bounds of rounding errors of the entries of Z and of the factorisation.
            rounding = SINGLE_EPS * Z.multiply(np.ones(self.n)).max()
            lower_bound /= 2
            if (
                lower_bound < 2 * rounding
                or not estimate_extreme_eigenvalue(Z.whiten, self.n, largest=False) >= 0.5
            ):
                return False
        self._proved_bounds[t] = max(lower_bound, self._proved_bounds.get(t, 0.0))
        return True

    def _diagonal_bound(self, t: float) -> np.ndarray | float:
        """Return m with Z = exp(−tD) ⪰ diag(m), as an array (n,) or a float; 0 if unknown."""
        # In a Hilbert space, exp(−tD) is a mixture of Gaussian kernel matrices exp(−sD²), where s
        # has a Lévy distribution and exceeds a value s with probability erf(t / 2√s). Let q_i be
        # the distance of point i to its nearest neighbour. For s ≥ Λ/q_i², row i of exp(−sD²) has a
        # diagonal entry of 1, and other entries of at most e^{−Λ}. These are negligible for
        # Λ = log(10 n (1 + 2 √(max q / min q))), so m_i = 0.9 erf(t q_i / 2√Λ).
        # For other distances, a factorisation proves a bound. For distances of negative type, this
        # bound also applies to all larger scales by Schur's product theorem, because Z(t) is the
        # elementwise product of Z(t′) and exp(−(t − t′)D).
        if self.hilbert:
            m = BOUND_FRACTION * scipy.special.erf(t * self._bound_reach)
            return np.maximum(m, np.finfo(np.float64).tiny)
        # Method "cg" means that the caller guarantees distances of negative type.
        if not self.negative_type and self.method != "cg":
            return self._proved_bounds.get(t, 0.0)
        return max((m for scale, m in self._proved_bounds.items() if scale <= t), default=0.0)

    @cached_property
    def nearest_distances(self) -> np.ndarray:
        """The distance of each point to its nearest neighbour."""
        return compute_nearest_distances(self.D)

    @cached_property
    def _bound_reach(self) -> np.ndarray:
        """The array q / 2√Λ, see `_diagonal_bound`."""
        q = self.nearest_distances
        spread = math.sqrt(q.max() / q.min())
        log = math.log(10 * self.n * (1 + 2 * spread))
        return q / (2 * math.sqrt(log))

    def _refine_by_conjugate_gradients(
        self,
        t: float,
        w: np.ndarray,
        r: np.ndarray,
        precondition: Precondition,
        limit: int,
        weights: bool,
    ) -> Solution | None:
        """Correct weights w with residual r by conjugate gradients in single precision.

        Returns None if `limit` steps are not enough. The weights are accurate if `weights`, else
        only the magnitude.
        """
        multiply = self._get_work_array(np.float32).multiply
        method = "cg" if precondition is None else "preconditioned cg"
        floor = self._diagonal_bound(t)
        inverse = 1 / floor
        # Bound of rounding errors of Z and of sums in a single-precision product (Higham & Mary,
        # 2019). At most 0.8 √n SINGLE_EPS was observed, in rows of constant sign.
        slack = SINGLE_EPS * (4 + 2 * math.sqrt(self.n))
        steps = 0
        goal = TARGET_ERROR / 8 * self.n
        if w.any():
            goal = TARGET_ERROR / 8 * min(self.n, max(1.0, w.sum()))
        if weights:
            # Compute half of the digits. The correction by the next residual adds the other half.
            goal = (TARGET_ERROR / 8) ** 2 * np.min(floor)

        def correct(r: np.ndarray) -> np.ndarray | None:
            nonlocal steps
            target = math.sqrt(max(goal, CG_TOLERANCE**2 * (r @ (inverse * r))))
            max_steps = limit - steps
            e, n_steps = conjugate_gradients(multiply, r, target, max_steps, precondition, inverse)
            steps += n_steps
            return e

        for _ in range(2):
            e = correct(r)
            if e is None:
                return None
            f = r - multiply(e)
            rounding = slack * multiply(np.abs(e))
            residual = np.abs(f).max() + rounding.max()
            # 1ᵀZ⁻¹1 = 1ᵀw + wᵀr + rᵀe + eᵀf + fᵀZ⁻¹f; the last term is omitted.
            value = w.sum() + w @ r + r @ e + e @ f
            w = w + e
            r = np.abs(f) + rounding
            first_order = np.abs(e) @ rounding
            solution = _build_solution(t, w, value, r, residual, floor, method, first_order)
            if _solution_error(solution, weights) <= TARGET_ERROR:
                return solution
            r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance)
        return self._refine(t, w, correct, method, weights)

    def _refine(
        self,
        t: float,
        w: np.ndarray,
        correct: Callable[[np.ndarray], np.ndarray | None],
        method: str,
        weights: bool,
    ) -> Solution | None:
        """Correct w by its residual in double precision until the error is at most TARGET_ERROR.

        `correct(r)` approximates Z⁻¹ r. Returns None if this error cannot be reached.
        """
        best: Solution | None = None
        floor = self._diagonal_bound(t)
        for _ in range(MAX_REFINEMENTS):
            r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance)
            value = w.sum() + w @ r
            size = np.abs(r)
            solution = _build_solution(t, w, value, size, size.max(), floor, method)
            residual = solution.residual
            if not math.isfinite(solution.error):
                break
            is_stuck = best is not None and residual > best.residual / 2
            if best is None or residual < best.residual:
                best = solution
            is_accurate = _solution_error(solution, weights) <= TARGET_ERROR
            # With a Cholesky factor, further refinement of the weights is fast. But stop once the
            # residual consists of rounding errors, which would make the weights less accurate.
            is_rounding = residual <= 2 * _weights_rounding(w)
            is_done = is_accurate and (residual <= TARGET_ERROR or "cg" in method)
            if is_stuck or is_rounding or is_done:
                break
            e = correct(r)
            if e is None:
                return None
            w = w + e
        if best is None:
            return None
        # If the method used single precision, the caller then tries double precision.
        if method != DOUBLE_CHOLESKY:
            return best if _solution_error(best, weights) <= TARGET_ERROR else None
        return best if best.error <= MAX_ERROR else None

    def _extrapolate_weights(self, t: float) -> np.ndarray:
        """Extrapolate the weights at t from solutions at the nearest scales."""
        near_solutions: list[Solution] = []
        for solution in sorted(self._solutions.values(), key=lambda s: abs(s.t - t)):
            # Scales that are much closer to each other than to t would amplify errors.
            if all(abs(solution.t - s.t) > abs(solution.t - t) / 4 for s in near_solutions):
                near_solutions.append(solution)
            if len(near_solutions) == N_EXTRAPOLATION_SCALES:
                break
        start = np.zeros(self.n)
        for a in near_solutions:  # Lagrange interpolation
            other_scales = [b.t for b in near_solutions if b is not a]
            start += a.weights * math.prod((t - b) / (a.t - b) for b in other_scales)
        return start

    def _get_work_array(self, dtype: type) -> TriangularArrays:
        """Return the work array of the given precision, reused if possible."""
        if self._work is None or self._work.dtype is not dtype:
            self._work = None  # free the old array first
            self._work = TriangularArrays(self.n, dtype)
        return self._work


def _build_solution(
    t: float,
    w: np.ndarray,
    value: float,
    r: np.ndarray,
    residual: float,
    floor: np.ndarray | float,
    method: str,
    first_order: float = 0.0,
) -> Solution:
    """Build a Solution with its error bounds.

    r is |1 − Z w| or an upper bound of it, and `residual` an upper bound of its maximum. `value` is
    the magnitude, `first_order` an additional error of it, and `floor` a vector m with Z ⪰ diag(m).
    """
    error = math.inf
    weights_error = math.inf
    if 0 < value < math.inf and np.all(floor > 0):
        absolute = np.abs(w)
        second_order = r @ (r / floor)
        rounding = EPS * absolute.sum() ** 2
        error = (second_order + first_order + rounding) / value
        r = r + _weights_rounding(w)
        distance = math.sqrt(r @ (r / floor) / np.min(floor))
        weights_error = distance / absolute.max()
    return Solution(t, w, float(value), float(residual), float(error), float(weights_error), method)


def _solution_error(solution: Solution, weights: bool) -> float:
    """Return the error bound of the weights if `weights`, else of the magnitude."""
    return solution.weights_error if weights else solution.error


def _weights_rounding(w: np.ndarray) -> float:
    """Return an upper bound of the rounding error of entries of Z w.

    The error is at most 4 EPS Z|w|, and Z|w| is at most 1 plus twice the absolute sum of negative
    weights.
    """
    negative = w[w < 0]
    return 4 * EPS * (1 - 2 * negative.sum())


def compute_nearest_distances(D: np.ndarray) -> np.ndarray:
    """Compute the distance of each point to its nearest neighbour."""
    nearest = np.empty(len(D))
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block].copy()
        rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = np.inf
        nearest[block] = rows.min(axis=1)
    return nearest
