"""Solver of Z w = 1, Z = exp(−tD), for the magnitude weights w of a metric space.

D are the distances, and t is the scale. The magnitude is Σ w. r = 1 − Z w is the residual of
approximate weights w. Solutions have error bounds, which need a diagonal bound: a vector m for
which Z − diag(m) is positive semidefinite (written Z ⪰ diag(m)).
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
# Safety factor of the bound m in `_compute_diagonal_bound`: entries off the diagonal are neglected.
BOUND_FRACTION = 0.9


@dataclass(frozen=True)
class Solution:
    """The weights of a metric space at one scale, with error bounds.

    For distances D between n points, the weights w at scale t solve Z w = 1 with Z = exp(−tD), and
    the magnitude is their sum. Below, w is the approximate solution, r = 1 − Z w its residual, ε
    machine epsilon, and m a vector for which Z − diag(m) is positive semidefinite.

    Attributes
    ----------
    t : float
        The scale.
    weights : ndarray (n,)
        The approximate solution w.
    magnitude : float
        The magnitude, computed as 1ᵀw + wᵀr, which is more accurate than 1ᵀw.
    residual : float
        Upper bound of max |r|.
    error : float
        Upper bound of the relative error of the magnitude: (Σ r²/m + ε (Σ|w|)²) / magnitude.
    weights_error : float
        Upper bound of the errors of the weights, relative to the largest weight:
        √(Σ r²/m / min m) / max |w|.
    method : str
        How the weights were computed, such as "cg" (conjugate gradients) or "cholesky".
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
        """True if no further computation is needed for the weights.

        Either they are accurate, or they were computed by the most accurate method, a Cholesky
        factorisation in double precision.
        """
        return self.method == DOUBLE_CHOLESKY or self.weights_error <= TARGET_ERROR


class IndefiniteError(ValueError):
    """Similarities exp(−tD) that are singular or indefinite at a scale, so magnitude is undefined.

    D are the distances between samples.

    Attributes
    ----------
    t : float
        The scale, which multiplies the distances.

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

    For distances D, the weights w at scale t solve Z w = 1 with Z = exp(−tD). In addition to D, the
    solver uses an array of 4n² bytes in single precision, or 8n² bytes if single precision is not
    accurate enough.

    Parameters
    ----------
    D : ndarray (n, n)
        Distances between n distinct points.
    method : {"auto", "cg", "cholesky"}, default "auto"
        Conjugate gradients ("cg") or a Cholesky factorisation ("cholesky"). "auto" selects
        conjugate gradients for large sets if the distances are of negative type. The Cholesky
        factorisation is used if conjugate gradients fail.
    is_negative_type : bool, default False
        Whether the distances are of negative type, so that exp(−tD) is positive definite at all
        scales t > 0.
    is_hilbert : bool, default False
        Whether the distances are those of points in a Hilbert space, which are of negative type.
    """

    def __init__(
        self,
        D: np.ndarray,
        method: SolverName = "auto",
        *,
        is_negative_type: bool = False,
        is_hilbert: bool = False,
    ) -> None:
        # D (n, n) are distances between distinct points.
        self.D = D
        self.method = method
        self.n: int = len(D)
        self.is_negative_type: bool = is_negative_type or is_hilbert
        self.is_hilbert = is_hilbert
        self.lock: threading.RLock = threading.RLock()
        self._solutions: dict[float, Solution] = {}
        self._work: TriangularArrays | None = None  # stores Z = exp(−tD) and a factor of it
        # Lower bound of the eigenvalues of Z proved by a factorisation, for each scale.
        self._proved_bounds: dict[float, float] = {}
        self.max_distance: float = float(D.max(initial=0.0))
        self._max_double_scale = 0.0  # largest scale at which single precision was too inaccurate

    def __getstate__(self) -> Record:
        # Locks cannot be pickled, and the work array is only a cache.
        return {**vars(self), "lock": None, "_work": None}

    def __setstate__(self, state: Record) -> None:
        vars(self).update(state)
        self.lock = threading.RLock()

    def __call__(self, t: float) -> Solution:
        """Return accurate weights and the magnitude at scale t > 0, computed or from the cache."""
        return self._get_solution(t, needs_weights=True)

    def magnitude(self, t: float) -> float:
        """Compute the magnitude at scale t > 0.

        Weights of lower accuracy are sufficient, because errors of the weights affect the magnitude
        only in second order.
        """
        try:
            return self._get_solution(t, needs_weights=False).magnitude
        except IndefiniteError:
            # At very small scales the magnitude is 1 up to TARGET_ERROR. It is at most the
            # magnitude of an n-dimensional ball around all points, whose expansion begins with
            # 1 + t r √π Γ((n + 1)/2)/Γ(n/2) (Barceló & Carbery, Amer. J. Math. 2018). The radius r
            # is at most 1/√2 of the diameter (Jung), and the factor at most 1.3 √n.
            if self.is_hilbert and 2 * math.sqrt(self.n) * t * self.max_distance <= TARGET_ERROR:
                return 1.0
            raise

    def _get_solution(self, t: float, *, needs_weights: bool) -> Solution:
        """Return the solution at scale t from the cache, or compute it.

        If `needs_weights`, its weights are accurate. Otherwise, possibly only its magnitude is.
        """
        with self.lock, np.errstate(under="ignore", over="ignore"):
            solution = self._solutions.get(t)
            if solution is None or (needs_weights and not solution.is_final):
                solution = self._solutions[t] = self._solve(float(t), needs_weights)
            return solution

    @property
    def solutions(self) -> list[Solution]:
        """The solutions of all scales that have been solved, sorted by scale."""
        with self.lock:
            return [self._solutions[t] for t in sorted(self._solutions)]

    def _solve(self, t: float, needs_weights: bool) -> Solution:
        """Compute the solution at scale t by the fastest method that is accurate enough.

        Methods in single precision are tried first, unless the set is small, or unless they have
        failed before at scale t or a larger one. At smaller scales, the condition number of the
        matrix exp(−tD) of the distances D is larger. If `needs_weights`, the weights must be
        accurate; otherwise only the magnitude. Raises an IndefiniteError if all methods fail.
        """
        solution = None
        if self.method == "cg" or (self.n > MAX_DIRECT_SIZE and t > self._max_double_scale):
            # Conjugate gradients cannot detect that Z = exp(−tD) is indefinite, so "auto" uses them
            # only for distances of negative type.
            if self.method == "cg" or (self.method == "auto" and self.is_negative_type):
                solution = self._solve_by_conjugate_gradients(t, needs_weights)
            else:
                solution = self._solve_by_cholesky(t, np.float32, needs_weights)
        if solution is None:
            self._max_double_scale = max(t, self._max_double_scale)
            solution = self._solve_by_cholesky(t, np.float64, needs_weights)
        if solution is None:
            raise IndefiniteError(t)
        return solution

    def _solve_by_cholesky(self, t: float, dtype: type, needs_weights: bool) -> Solution | None:
        """Compute the solution at scale t by a Cholesky factorisation; None on failure.

        `dtype`, float32 or float64, is the precision of the factorisation. If `needs_weights`, the
        weights must be accurate; otherwise only the magnitude.
        """
        if not self._factorise(t, dtype):
            return None
        solve = self._get_work_array(dtype).solve
        method = "cholesky" if dtype is np.float32 else DOUBLE_CHOLESKY
        return self._refine(t, solve(np.ones(self.n)), solve, method, needs_weights)

    def _solve_by_conjugate_gradients(self, t: float, needs_weights: bool) -> Solution | None:
        """Compute the solution at scale t by conjugate gradients in single precision.

        They start from weights extrapolated from other scales. If needed, a Cholesky factor is used
        as preconditioner. If `needs_weights`, the weights must be accurate; otherwise only the
        magnitude. Returns None on failure.
        """
        # Z stores the entries of exp(−tD) above the diagonal. On and below the diagonal, it stores
        # the last Cholesky factor, whose scale is `Z.factor_scale`.
        Z = self._get_work_array(np.float32)
        if not np.any(self._compute_diagonal_bound(t)):  # Z may be indefinite, so check it
            # A factorisation proves that Z is positive definite at its scale and, as the caller
            # guarantees distances of negative type, at all larger scales. So first try one at a
            # smaller scale, because its proof applies to more scales than one at scale t.
            results = (self._factorise(scale, np.float32) for scale in (MIN_FACTOR_RATIO * t, t))
            if not any(results):
                return None
        w = self._extrapolate_weights(t)
        # The residual of w. The product also writes the entries of exp(−tD) into Z.
        r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance, above_diagonal=Z.array)
        solution = None
        # First try a number of steps that take about as long as a new factorisation. At scales far
        # above that of the stored factor (0 if there is none), use no preconditioner. A step then
        # needs no triangular solves, so more steps are allowed. At scales near that of the factor,
        # the factor is a good preconditioner.
        if t > 1.5 * Z.factor_scale:
            max_steps = max(50, self.n // CG_STEP_DIVISOR)
            solution = self._refine_by_conjugate_gradients(t, w, r, None, max_steps, needs_weights)
        elif t > MIN_FACTOR_RATIO * Z.factor_scale:
            max_steps = max(25, self.n // (3 * CG_STEP_DIVISOR))
            solution = self._refine_by_conjugate_gradients(
                t, w, r, Z.solve, max_steps, needs_weights
            )
        # At other scales, or if the steps were not sufficient, factorise Z at scale t.
        if solution is None and Z.factorise(t):
            solution = self._refine_by_conjugate_gradients(t, w, r, Z.solve, self.n, needs_weights)
        return solution

    def _factorise(self, t: float, dtype: type) -> bool:
        """Factorise Z = exp(−tD), and return whether this proves that Z is positive definite.

        D are the distances, t is the scale, and `dtype` the precision, float32 or float64. If the
        proof succeeds, a lower bound of the eigenvalues of Z is stored, unless the distances are
        those of points in a Hilbert space, for which a better bound is known.
        """
        Z = self._get_work_array(dtype)
        # Computes the entries of Z; the product with 0 is not used.
        multiply_similarities(
            self.D, t, np.zeros(self.n), self.max_distance, above_diagonal=Z.array
        )
        if not Z.factorise(t):
            return False
        if self.is_hilbert:
            return True
        largest_inverse = estimate_extreme_eigenvalue(Z.solve, self.n, largest=True)
        if not 0 < largest_inverse < math.inf:
            return False
        # The smallest eigenvalue of Z is 1/largest_inverse; 2 is a margin for the estimate.
        lower_bound = 1 / (2 * largest_inverse)
        if Z.dtype is np.float32:
            # The factor L Lᵀ of single precision differs from Z by rounding errors. If the
            # smallest eigenvalue of L⁻¹ Z L⁻ᵀ is at least 1/2, that of Z is at least half of that
            # of L Lᵀ. Rounding errors of the entries of Z must be small compared with this bound.
            rounding = SINGLE_EPS * Z.multiply(np.ones(self.n)).max()
            lower_bound /= 2
            if (
                lower_bound < 2 * rounding
                or not estimate_extreme_eigenvalue(Z.whiten, self.n, largest=False) >= 0.5
            ):
                return False
        self._proved_bounds[t] = max(lower_bound, self._proved_bounds.get(t, 0.0))
        return True

    def _compute_diagonal_bound(self, t: float) -> np.ndarray | float:
        """Return a vector m for which Z − diag(m) is positive semidefinite, where Z = exp(−tD).

        D are the distances, and t is the scale. The result may also be a number m, for which
        Z − m I is positive semidefinite. It is 0 if no bound is known. It is used for the error
        bounds of solutions, which are inversely proportional to m.
        """
        # In a Hilbert space, exp(−tD) is a mixture of Gaussian kernel matrices exp(−sD²), where s
        # has a Lévy distribution and exceeds a value s with probability erf(t / (2√s)). Let q_i be
        # the distance of point i to its nearest neighbour. For s ≥ Λ/q_i², row i of exp(−sD²) has a
        # diagonal entry of 1, and other entries of at most e^{−Λ}. These are negligible for
        # Λ = log(10 n (1 + 2 √(max q / min q))), so m_i = 0.9 erf(t q_i / (2√Λ)).
        # For other distances, a factorisation proves a bound. For distances of negative type, this
        # bound also applies to all larger scales by Schur's product theorem, because Z(t) is the
        # elementwise product of Z(t′) and exp(−(t − t′)D).
        if self.is_hilbert:
            m = BOUND_FRACTION * scipy.special.erf(t * self._erf_factors)
            # Callers divide by m, which may underflow to 0.
            return np.maximum(m, np.finfo(np.float64).tiny)
        # Method "cg" means that the caller guarantees distances of negative type.
        if not self.is_negative_type and self.method != "cg":
            return self._proved_bounds.get(t, 0.0)
        return max((m for scale, m in self._proved_bounds.items() if scale <= t), default=0.0)

    @cached_property
    def nearest_distances(self) -> np.ndarray:
        """The distance of each of the n points to its nearest neighbour, shape (n,)."""
        return compute_nearest_distances(self.D)

    @cached_property
    def _erf_factors(self) -> np.ndarray:
        """The coefficients d_i / (2√Λ) that are multiplied by the scale t in erf(t d_i / (2√Λ)).

        Shape (n,). d_i is the distance of point i to its nearest neighbour, and Λ the number
        log(10 n (1 + 2 √(max d / min d))). For distances D of points in a Hilbert space, 0.9 times
        erf(…) is a vector m for which exp(−tD) − diag(m) is positive semidefinite; it is used for
        error bounds.
        """
        q = self.nearest_distances
        log_bound = math.log(10 * self.n * (1 + 2 * math.sqrt(q.max() / q.min())))  # Λ
        return q / (2 * math.sqrt(log_bound))

    def _refine_by_conjugate_gradients(
        self,
        t: float,
        w: np.ndarray,
        r: np.ndarray,
        precondition: Precondition,
        max_steps: int,
        needs_weights: bool,
    ) -> Solution | None:
        """Correct initial weights w at scale t by conjugate gradients in single precision.

        r = 1 − Z w is the residual of w, where Z = exp(−tD) for the distances D. `precondition(r)`,
        if not None, approximates Z⁻¹ r. Returns None if `max_steps` steps are not sufficient. If
        `needs_weights`, the weights of the solution are accurate; otherwise possibly only its
        magnitude.
        """
        multiply = self._get_work_array(np.float32).multiply
        method = "cg" if precondition is None else "preconditioned cg"
        diagonal_bound = self._compute_diagonal_bound(t)
        inverse_bound = 1 / diagonal_bound
        # Bound of rounding errors of Z and of sums in a single-precision product (Higham & Mary,
        # 2019). At most 0.8 √n SINGLE_EPS was observed, in rows of constant sign.
        relative_rounding = SINGLE_EPS * (4 + 2 * math.sqrt(self.n))
        # Goal for Σ r²/m, which bounds the error of the magnitude: a fraction of the magnitude,
        # which is about the sum of extrapolated weights, or at most n.
        goal = TARGET_ERROR / 8 * self.n
        if w.any():
            goal = TARGET_ERROR / 8 * min(self.n, max(1.0, w.sum()))
        if needs_weights:
            # Compute half of the digits. The correction by the next residual adds the other half.
            goal = (TARGET_ERROR / 8) ** 2 * np.min(diagonal_bound)
        steps = 0

        def approximate_correction(r: np.ndarray) -> np.ndarray | None:
            """Approximate Z⁻¹ r, Z = exp(−tD); return None after `max_steps` steps of all calls."""
            nonlocal steps
            # Stop at the goal, or when the residual has been reduced by the factor CG_TOLERANCE,
            # which is about the precision of the products.
            e, n_steps = conjugate_gradients(
                multiply,
                r,
                math.sqrt(max(goal, CG_TOLERANCE**2 * (r @ (inverse_bound * r)))),
                max_steps - steps,
                precondition,
                residual_weights=inverse_bound,
            )
            steps += n_steps
            return e

        # Two corrections whose new residual f = r − Z e is computed in single precision, which is
        # fast, with a bound of its rounding errors. Then refine with residuals in double precision.
        for _ in range(2):
            e = approximate_correction(r)
            if e is None:
                return None
            f = r - multiply(e)
            rounding = relative_rounding * multiply(np.abs(e))
            max_residual = np.abs(f).max() + rounding.max()
            # The magnitude is 1ᵀZ⁻¹1 = 1ᵀw + wᵀr + rᵀe + eᵀf + fᵀZ⁻¹f. `value` omits the last term,
            # which is included in the error bound of the solution.
            value = w.sum() + w @ r + r @ e + e @ f
            w = w + e
            solution = _build_solution(
                t,
                w,
                value,
                np.abs(f) + rounding,
                max_residual,
                diagonal_bound,
                method,
                product_rounding=np.abs(e) @ rounding,
            )
            if _get_error_bound(solution, needs_weights) <= TARGET_ERROR:
                return solution
            r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance)
        return self._refine(t, w, approximate_correction, method, needs_weights)

    def _refine(
        self,
        t: float,
        w: np.ndarray,
        approximate_correction: Callable[[np.ndarray], np.ndarray | None],
        method: str,
        needs_weights: bool,
    ) -> Solution | None:
        """Correct weights w at scale t by iterative refinement, until they are accurate.

        The residual r = 1 − Z w, where Z = exp(−tD) for the distances D, is computed in double
        precision. `approximate_correction(r)` approximates Z⁻¹ r, which is added to w, or returns
        None on failure. Refinement stops if the error bound is at most TARGET_ERROR: the bound for
        the weights if `needs_weights`, otherwise that for the magnitude.

        Returns None if the error remains too large. For a `method` in single precision, this means
        a bound above TARGET_ERROR; for the Cholesky factorisation in double precision, a bound for
        the magnitude above MAX_ERROR.
        """
        best: Solution | None = None
        diagonal_bound = self._compute_diagonal_bound(t)
        for _ in range(MAX_REFINEMENTS):
            r = 1.0 - multiply_similarities(self.D, t, w, self.max_distance)
            value = w.sum() + w @ r
            absolute_r = np.abs(r)
            solution = _build_solution(
                t, w, value, absolute_r, absolute_r.max(), diagonal_bound, method
            )
            residual = solution.residual
            if not math.isfinite(solution.error):
                break
            is_stuck = best is not None and residual > best.residual / 2
            if best is None or residual < best.residual:
                best = solution
            is_accurate = _get_error_bound(solution, needs_weights) <= TARGET_ERROR
            # With a Cholesky factor, further refinement of the weights is fast. But stop once the
            # residual consists of rounding errors, which would make the weights less accurate.
            is_rounding = residual <= 2 * _bound_product_rounding(w)
            is_done = is_accurate and (residual <= TARGET_ERROR or "cg" in method)
            if is_stuck or is_rounding or is_done:
                break
            correction = approximate_correction(r)
            if correction is None:
                return None
            w = w + correction
        if best is None:
            return None
        # If the method used single precision, the caller then tries double precision.
        if method != DOUBLE_CHOLESKY:
            return best if _get_error_bound(best, needs_weights) <= TARGET_ERROR else None
        return best if best.error <= MAX_ERROR else None

    def _extrapolate_weights(self, t: float) -> np.ndarray:
        """Extrapolate the weights at scale t from solutions at the nearest scales.

        Returns zeros if no scale has been solved yet.
        """
        near_solutions: list[Solution] = []
        for solution in sorted(self._solutions.values(), key=lambda s: abs(s.t - t)):
            # Scales that are much closer to each other than to t would amplify errors.
            if all(abs(solution.t - s.t) > abs(solution.t - t) / 4 for s in near_solutions):
                near_solutions.append(solution)
            if len(near_solutions) == N_EXTRAPOLATION_SCALES:
                break
        weights = np.zeros(self.n)
        for solution in near_solutions:  # Lagrange interpolation
            other_scales = [other.t for other in near_solutions if other is not solution]
            weights += solution.weights * math.prod(
                (t - s) / (solution.t - s) for s in other_scales
            )
        return weights

    def _get_work_array(self, dtype: type) -> TriangularArrays:
        """Return the work array of precision `dtype`, float32 or float64.

        It stores exp(−tD) and a Cholesky factor. If an array of this precision exists, it is
        returned with its content.
        """
        if self._work is None or self._work.dtype is not dtype:
            self._work = None  # free the old array first
            self._work = TriangularArrays(self.n, dtype)
        return self._work


def _build_solution(
    t: float,
    w: np.ndarray,
    value: float,
    absolute_r: np.ndarray,
    max_residual: float,
    diagonal_bound: np.ndarray | float,
    method: str,
    product_rounding: float = 0.0,
) -> Solution:
    """Build a Solution for weights w at scale t. Its error bounds are infinite if unknown.

    Let Z = exp(−tD) for the distances D, and r = 1 − Z w. `value` = 1ᵀ w + wᵀ r approximates the
    magnitude 1ᵀ Z⁻¹ 1, which is larger by rᵀ Z⁻¹ r. `product_rounding` is the error of `value` due
    to a product in single precision. `absolute_r` contains the absolute values of the entries of r,
    or upper bounds of them, and `max_residual` is an upper bound of their maximum. `diagonal_bound`
    is a vector or number m for which Z − diag(m) is positive semidefinite. `method` is how the
    weights were computed.
    """
    error = math.inf
    weights_error = math.inf
    if 0 < value < math.inf and np.all(diagonal_bound > 0):
        absolute_w = np.abs(w)
        residual_term = absolute_r @ (absolute_r / diagonal_bound)  # upper bound of rᵀ Z⁻¹ r
        rounding = EPS * absolute_w.sum() ** 2
        error = (residual_term + product_rounding + rounding) / value
        absolute_r = absolute_r + _bound_product_rounding(w)
        max_weight_error = math.sqrt(
            absolute_r @ (absolute_r / diagonal_bound) / np.min(diagonal_bound)
        )
        weights_error = max_weight_error / absolute_w.max()
    return Solution(
        t=t,
        weights=w,
        magnitude=float(value),
        residual=float(max_residual),
        error=float(error),
        weights_error=float(weights_error),
        method=method,
    )


def _get_error_bound(solution: Solution, needs_weights: bool) -> float:
    """Return the error bound of the weights if `needs_weights`, otherwise that of the magnitude."""
    return solution.weights_error if needs_weights else solution.error


def _bound_product_rounding(w: np.ndarray) -> float:
    """Return an upper bound of the rounding error of entries of the product Z w in float64.

    Z = exp(−tD) has positive entries of at most 1, and w are weights that approximately solve
    Z w = 1. The error is at most 4 EPS Z|w|. As Z w = 1, Z|w| is at most 1 plus twice the absolute
    sum of negative weights.
    """
    negative_weights = w[w < 0]
    return 4 * EPS * (1 - 2 * negative_weights.sum())


def compute_nearest_distances(D: np.ndarray) -> np.ndarray:
    """Compute the distance of each point to its nearest neighbour from distances D (n, n)."""
    nearest = np.empty(len(D))
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block].copy()
        # A point is not its own neighbour.
        rows[np.arange(len(rows)), np.arange(block.start, block.stop)] = np.inf
        nearest[block] = rows.min(axis=1)
    return nearest
