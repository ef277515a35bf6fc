"""Normalized eigenvalues: eigenvalues of a similarity matrix scaled to trace 1, without rounding.

Eigenvalues that may be rounding errors are set to 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ..support.arguments import check_choice, has_gradient
from ..support.errors import NotPSDError, warn
from ..support.namespace import Array, asarray_like, is_numpy, is_torch, namespace, to_host
from ..support.types import Number
from .hill import RANGE_TOLERANCE, hill_number

PSD = Literal["check", "clip"]

EPS = float(np.finfo(float).eps)
# Negative eigenvalues that sum to less than this fraction of the trace are rounding errors: setting
# them to zero changes log VS by at most about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on eigenvalues near the rounding threshold. A warning is emitted if
# truncating these eigenvalues may change log VS by more than MAX_TRUNCATION_EFFECT. The spectrum
# has a gap if the smallest remaining eigenvalue is at least MIN_SPECTRAL_GAP times the threshold.
MAX_TRUNCATION_EFFECT, MIN_SPECTRAL_GAP = 1e-6, 1e4

# Takes a symmetric m × m matrix or a stack of matrices, and whether to compute eigenvectors.
# Returns the eigenvalues (..., m) in ascending order, and the eigenvectors as columns or None. May
# overwrite the matrix.
Eigensolver: TypeAlias = "Callable[[Array, bool], tuple[Array, Array | None]]"


def check_psd(psd: object) -> PSD:
    """Return the argument `psd`; raise a ValueError unless it is "check" or "clip".

    With "check", negative eigenvalues raise an error; with "clip", they are set to zero.
    """
    hint = "'check' raises an error for negative eigenvalues, 'clip' sets them to zero"
    return check_choice("psd", psd, get_args(PSD), hint)


def suggest_clipping() -> str:
    """Return a hint on the usual cause of eigenvalues that no similarity matrix can have.

    It suggests psd="clip".
    """
    return (
        "the similarity may not be positive semidefinite; pass psd='clip' to set negative "
        "eigenvalues to zero"
    )


class EigenvalueTolerance(NamedTuple):
    """Upper bounds of rounding errors in the eigenvalues of the similarity matrix of n samples.

    The matrix is scaled by weights to trace 1: its entries are √p_i K_ij √p_j for similarities K
    and weights p. The bounds `entry_rounding` and `max_negative_mass` are relative to the trace,
    and `eigensolver_rounding` is relative to the largest eigenvalue.

    Attributes
    ----------
    n : int
        The number of samples, an upper bound of every score.
    entry_precision : float, default 0
        Machine epsilon u of the entries if their precision is lower than float64, otherwise 0.
    semidefinite : bool, default False
        Whether the matrix is positive semidefinite by construction, as for products of features.
        Rounding of the entries then causes no spurious eigenvalues.
    describe_cause : callable
        Takes no argument and returns a hint for messages about eigenvalues that no similarity
        matrix can have.
    """

    n: int
    entry_precision: float = 0.0
    semidefinite: bool = False
    describe_cause: Callable[[], str] = suggest_clipping

    @property
    def max_negative_mass(self) -> float:
        """The largest sum of absolute negative eigenvalues that rounding of entries can produce.

        Independent rounding errors of relative size u = `entry_precision` have a standard deviation
        σ = u/√12. They spread eigenvalues of 0 over Wigner's semicircle, whose negative half has a
        sum of absolute eigenvalues of 0.42 σ √n, relative to the trace. The bound is about twice
        this sum, but at least NEGATIVE_MASS.
        """
        return max(NEGATIVE_MASS, 0.25 * self.entry_precision * math.sqrt(self.n))

    def entry_rounding(self, size: int) -> float:
        """Return the largest eigenvalue that rounding of the entries may produce instead of 0.

        `size` is the number of rows of the matrix.
        """
        return 0.0 if self.semidefinite else self.entry_precision / math.sqrt(size)

    def eigensolver_rounding(self, size: int) -> float:
        """Return the largest rounding error of the eigensolver, relative to the largest eigenvalue.

        It is machine epsilon times the larger of the number of samples and `size`, the number of
        rows of the matrix.
        """
        return max(self.n, size) * EPS


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalizedEigenvalues:
    """Eigenvalues of an m × m matrix of trace 1, with rounding errors set to 0.

    For a stack of matrices, all arrays have the axes of the stack first, written as "...".

    Attributes
    ----------
    values : array (..., m)
        The eigenvalues in descending order, at least 0, with a sum of 1. A differentiable tensor
        for torch input.
    computed : ndarray (..., m)
        The eigenvalues as returned by the eigensolver, in descending order.
    threshold : float or ndarray (...)
        Eigenvalues up to this threshold may be rounding errors of the eigensolver, and are set to
        zero.
    entry_threshold : float
        Eigenvalues up to this threshold may be caused by rounding of the entries, and are also
        ignored by orders below 1. It is 0 for entries in float64.
    negative_mass : float or ndarray (...)
        The absolute sum of the negative eigenvalues, which were set to zero.
    vectors : array (..., m, m), optional
        The eigenvectors as columns, in the order of `values`.
    is_impossible : bool or ndarray (...)
        Whether each matrix of a stack has eigenvalues that no similarity matrix can have. Always
        False for a single matrix, because an error is raised instead.
    """

    values: Array
    computed: np.ndarray = field(repr=False)
    threshold: float | np.ndarray = 0.0
    entry_threshold: float = 0.0
    negative_mass: float | np.ndarray = 0.0
    vectors: Array | None = field(default=None, repr=False)
    is_impossible: bool | np.ndarray = False

    @property
    def rank(self) -> int:
        """The number of eigenvalues of a single matrix that exceed `threshold`."""
        return int(np.count_nonzero(self.computed > self.threshold))

    @property
    def largest_threshold(self) -> float:
        """The larger of `threshold` and `entry_threshold` of a single matrix."""
        return max(float(self.threshold), self.entry_threshold)

    def values_at(self, q: float) -> Array:
        """Return the eigenvalues (..., m) from which the score of order q is computed.

        They sum to 1. For q < 1, small eigenvalues have a large effect on scores. Eigenvalues up to
        `entry_threshold` may be caused only by rounding of the matrix entries, so these orders
        replace them by zero.
        """
        values = self.values
        if q >= 1 or not self.entry_threshold:
            return values
        values = values * (values > self.entry_threshold)
        return values / values.sum(-1)[..., None]

    def hill_number(self, q: float) -> Number:
        """Return the Hill number of order q of the eigenvalues of each matrix: the Vendi Score."""
        return hill_number(self.values_at(q), q)

    def count_truncated(self) -> np.ndarray:
        """Count the eigenvalues of each matrix that were set to zero, but may exceed 0.

        Returns an array of shape (...), which is 0-d for a single matrix.
        """
        computed = self.computed
        size = computed.shape[-1]
        largest = computed[..., :1]
        threshold = np.maximum(np.asarray(self.threshold)[..., None], self.entry_threshold)
        is_retained = computed > threshold
        n_retained = is_retained.sum(-1)
        # Rounding errors of eigenvalues that are exactly zero are below this limit. If there is a
        # gap between the retained eigenvalues and the threshold, eigenvalues below the limit are
        # zero. Without a gap, non-zero eigenvalues may have any size.
        zero_limit = np.maximum(4 * math.sqrt(size) * EPS * largest, self.entry_threshold)
        n_above_limit = np.maximum((computed > zero_limit).sum(-1) - n_retained, 0)
        smallest_retained = np.where(is_retained, computed, np.inf).min(-1)
        has_gap = smallest_retained >= MIN_SPECTRAL_GAP * threshold[..., 0]
        return np.where(has_gap, n_above_limit, size - n_retained)

    def warn_about_truncation(self, orders: Sequence[float]) -> None:
        """Warn if setting eigenvalues to zero may have changed the score of one of the orders.

        For a stack of matrices, the warning is about the matrix whose score may have changed most.
        """
        if not orders or min(orders) >= 1:
            return
        threshold = np.maximum(self.threshold, self.entry_threshold)
        if (self.computed.T[-1] > threshold).all():  # no eigenvalue was truncated
            return
        q = min(orders)  # the smallest order changes most
        threshold = np.atleast_1d(threshold)
        n_truncated = np.atleast_1d(self.count_truncated())
        values = np.atleast_2d(to_host(self.values_at(q)))
        powers = np.power(values, q, where=values > 0, out=np.zeros_like(values))
        # Change of log VS_q if all truncated eigenvalues were equal to the threshold t: Σ λ^q
        # increases by n_truncated t^q, and the trace, which is then divided out, by n_truncated t.
        power_change = np.log1p(n_truncated * threshold**q / powers.sum(-1))
        trace_change = q * np.log1p(n_truncated * threshold)
        changes = (power_change - trace_change) / (1 - q)
        worst = int(changes.argmax())
        if changes[worst] > MAX_TRUNCATION_EFFECT:
            count = np.count_nonzero(changes > MAX_TRUNCATION_EFFECT)
            prefix = ""
            if self.computed.ndim > 1:
                prefix = f"in {count} of {len(changes)} groups, up to "
            warn(
                f"{prefix}{n_truncated[worst]} eigenvalues below {threshold[worst]:.2g} of the "
                f"trace may be rounding errors and are set to zero. If they are not rounding "
                f"errors, the score of order {q:.12g} is too small by up to "
                f"{np.expm1(changes[worst]):.2g} (relative). Orders of at least 1 do not depend on "
                f"these eigenvalues"
            )


def decompose_with_numpy(A: Array, vectors: bool = False) -> tuple[Array, Array | None]:
    """Compute the eigenvalues of a symmetric matrix A in ascending order with NumPy.

    Also returns the eigenvectors as columns if `vectors`, otherwise None.
    """
    if vectors:
        values, V = np.linalg.eigh(A)
        return values, V
    return np.linalg.eigvalsh(A), None


def compute_eigenvalues(
    A: Array,
    tolerance: EigenvalueTolerance,
    psd: PSD = "check",
    solve: Eigensolver = decompose_with_numpy,
    vectors: bool = False,
) -> NormalizedEigenvalues:
    """Compute the normalized eigenvalues of a symmetric matrix A of trace 1, or of a stack of them.

    A single diagonal matrix without gradient is not decomposed: its eigenvalues are its diagonal
    entries, which have no rounding errors.

    Parameters
    ----------
    A : array (m, m) or (..., m, m)
        The matrix, or a stack of matrices.
    tolerance : EigenvalueTolerance
        Bounds of rounding errors in eigenvalues.
    psd : {"check", "clip"}, default "check"
        Raise an error for negative eigenvalues beyond rounding errors, or set them to zero.
    solve : callable
        Takes the matrix or stack of matrices, and whether to compute eigenvectors. Returns the
        eigenvalues in ascending order, and the eigenvectors as columns or None.
    vectors : bool, default False
        Whether to compute eigenvectors.

    Raises
    ------
    NotPSDError
        If a single matrix has negative eigenvalues beyond rounding errors, unless psd="clip".
    ValueError
        If the eigenvalues of a single matrix do not sum to 1.
    """
    # Derivatives of eigenvalues depend on the off-diagonal entries, even if these are zero.
    if A.ndim == 2 and not has_gradient(A) and is_nonnegative_diagonal(A):
        xp = namespace(A)
        diagonal = xp.astype(xp.linalg.diagonal(A), xp.float64, copy=False)
        order = np.argsort(-to_host(diagonal), kind="stable").tolist()
        values = diagonal[order]
        V = asarray_like(np.eye(len(order))[:, order], A) if vectors else None
        return NormalizedEigenvalues(
            values=values / values.sum(), computed=to_host(values), vectors=V
        )
    values, V = solve(A, vectors)
    return normalize_eigenvalues(values, tolerance, psd, V)


def normalize_eigenvalues(
    values: Array,
    tolerance: EigenvalueTolerance,
    psd: PSD = "check",
    vectors: Array | None = None,
) -> NormalizedEigenvalues:
    """Set rounding errors among ascending eigenvalues to zero, then divide by the sum.

    `values` are the m eigenvalues of a matrix, shape (m,), or of each matrix of a stack, (..., m).
    `tolerance` contains the bounds of rounding errors. For a single matrix, raises a NotPSDError
    for negative eigenvalues beyond rounding errors, unless psd="clip", and a ValueError if the
    eigenvalues do not sum to 1. In a stack, matrices with such eigenvalues are instead marked in
    `is_impossible` of the result. `vectors` are the eigenvectors as columns, in the order of
    `values`.
    """
    values = flip(values)
    computed = to_host(values)  # one transfer from the device
    size = computed.shape[-1]
    is_single = computed.ndim == 1
    total = computed.sum(-1)
    largest, smallest = computed.T[0], computed.T[-1]  # numbers, or arrays (...) for a stack
    threshold = tolerance.eigensolver_rounding(size) * largest
    negative_mass: float | np.ndarray = 0.0
    lowest = smallest if is_single else smallest.min()
    is_impossible = ~(abs(total - 1) <= RANGE_TOLERANCE)  # also for NaN
    if not lowest >= 0:
        negative_mass = -(computed * (computed < 0)).sum(-1)
        if psd == "check":
            is_impossible = is_impossible | (negative_mass > tolerance.max_negative_mass)
    # Rounding of the entries only matters if it exceeds that of the eigensolver. It is not removed
    # here, but by `NormalizedEigenvalues.values_at` for the orders that depend on it.
    entry_threshold = tolerance.entry_rounding(size)
    if is_single:
        negative_mass = float(negative_mass)
        if is_impossible:
            raise _build_eigenvalue_error(computed, negative_mass, tolerance)
        if psd == "check" and negative_mass > NEGATIVE_MASS:
            warn(
                f"negative eigenvalues with a sum of {-negative_mass:.2g}, relative to a trace of "
                f"1, are treated as rounding errors of the input precision and set to zero; "
                f"compute the similarities in higher precision to avoid them"
            )
        if entry_threshold <= threshold:
            entry_threshold = 0.0
    if is_single and lowest > threshold and is_numpy(values):
        normalized = values / total  # no eigenvalue is truncated
    else:
        normalized = normalize_above(values, threshold, psd)
    return NormalizedEigenvalues(
        values=normalized,
        computed=computed,
        threshold=threshold,
        entry_threshold=entry_threshold,
        negative_mass=negative_mass,
        vectors=None if vectors is None else flip(vectors),
        is_impossible=is_impossible,
    )


def flip(values: Array) -> Array:
    """Return an array reversed along its last axis."""
    return values[..., ::-1] if is_numpy(values) else namespace(values).flip(values, axis=-1)


def _build_eigenvalue_error(
    computed: np.ndarray, negative_mass: float, tolerance: EigenvalueTolerance
) -> ValueError:
    """Build the error for eigenvalues that no similarity matrix can have.

    `computed` are the eigenvalues in descending order, and `negative_mass` is the absolute sum of
    the negative ones. The cause is described by a function of `tolerance`.
    """
    total = float(computed.sum())
    if abs(total - 1) <= RANGE_TOLERANCE:
        return NotPSDError(float(computed[-1]), negative_mass)
    return ValueError(
        f"the eigenvalues of the similarity matrix must sum to 1, got {total:.6g}; "
        f"{tolerance.describe_cause()}"
    )


def normalize_above(
    values: Array, threshold: Array | np.ndarray | float, psd: PSD = "check"
) -> Array:
    """Set eigenvalues (..., m) up to the threshold (...) to zero, then divide by the sum.

    `values` are the m eigenvalues of a matrix, (m,), or of each matrix of a stack, (..., m).

    For tensors, the gradient of the sum includes eigenvalues that are set to zero because they may
    be rounding errors. The gradient is therefore that of the trace, the sum of all eigenvalues. It
    excludes negative eigenvalues beyond rounding errors, which exist only with psd="clip".
    """
    if not isinstance(threshold, float):
        threshold = asarray_like(threshold, values)[..., None]
    is_above = values > threshold
    positive = values * is_above + 0.0  # + 0.0 turns −0.0 into 0.0
    total = positive.sum(-1)
    if is_torch(values):
        is_rounding_error = ~is_above if psd == "check" else abs(values) <= threshold
        truncated = (values * is_rounding_error).sum(-1)
        total = total + truncated - truncated.detach()  # changes the gradient, but not the value
    return positive / (total if total.ndim == 0 else total[..., None])


def clip_eigenvalues(values: Array) -> Array:
    """Set negative eigenvalues and rounding errors to zero, then divide by the sum.

    `values` are the m eigenvalues of a matrix, (m,), or of each matrix of a stack, (..., m).
    Eigenvalues up to m times machine epsilon times the largest one count as rounding errors.
    """
    return normalize_above(values, values.shape[-1] * EPS * values.max(-1))


def is_nonnegative_diagonal(A: Array) -> bool:
    """Return whether a matrix A is diagonal and has no negative entries."""
    if count_nonzero(A[0]) > 1:  # fast check of most matrices
        return False
    diagonal = namespace(A).linalg.diagonal(A)
    return count_nonzero(A) == count_nonzero(diagonal) and bool(diagonal.min() >= 0)


def count_nonzero(A: Array) -> int:
    """Count the non-zero entries of an array, on its device."""
    return int(np.count_nonzero(A)) if is_numpy(A) else int((A != 0).sum())
