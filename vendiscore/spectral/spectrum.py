"""Eigenvalues that are shares of the set, cleaned of rounding, and what is read off them.

The weighted matrix K_p has trace 1, so its eigenvalues are shares. Whatever way it came, a
spectrum is looked at last: shares must sum to the trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from ..arguments import DEFAULT_ORDER, one_of
from ..arrays.namespace import Array, is_numpy, is_torch, namespace, scalar
from ..errors import NotPSDError, warn
from ..similarity.base import Similarity
from .covariance_float32 import SINGLE_TOLERANCE, sensitivity
from .eigen import decompose
from .estimate import Estimate
from .hill import RANGE_TOLERANCE, effective_number
from .weighted_similarity import fault_of

PSD = Literal["check", "clip"]
PSDS: tuple[PSD, ...] = ("check", "clip")

# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on shares near rounding: it is said where leaving them out may move log VS
# by more than CUT_MATTERS, and where the least share kept is not TAIL times larger than the cut.
CUT_MATTERS, TAIL = 1e-6, 1e4
# Eigenvalues above this share of the largest are the squared lengths of F v to 1e-12 and better.
LENGTHS = 1e-4


def check_psd(psd: Any) -> PSD:
    """What to do about negative eigenvalues; a ValueError if that is not known."""
    remedy = "which raises for negative eigenvalues or sets them to zero"
    return one_of("psd", psd, PSDS, remedy)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of K_p as shares, with or without its eigenvectors.

    Attributes
    ----------
    values : array (m,)
        Descending, at least 0, summing to 1; m is the smaller of the number of (distinct) samples
        and the number of features.
    n : int
        Number of samples.
    route, why : str
        What found it, and why that one.
    vectors : array (n, r) or None
        A column for each of the r positive values: orthonormal eigenvectors u_j of K_p, so that
        K_p = Σ_j λ_j u_j u_jᵀ. Entries of sample i are √p_i times its coordinates. From a
        covariance, columns are orthogonal to about ε λ_1/λ_j.
    negative_mass : float
        Minus the sum of the negative eigenvalues that were set to zero.
    cut : float
        Eigenvalues below this counted as rounding and were set to zero.
    lost : int
        How many of those may have been more than rounding of exact zeros.
    error : float
        Norm of the error of the matrix where it was multiplied in single precision, else 0.
    tolerance : float
        How far off log VS may be by that.
    """

    values: Array
    n: int
    route: str
    why: str
    vectors: Array | None = field(default=None, repr=False)
    negative_mass: float = 0.0
    cut: float = 0.0
    lost: int = 0
    error: float = 0.0
    tolerance: float = SINGLE_TOLERANCE

    def serves(self, q: float) -> bool:
        """Whether the effective number of order q is as exact as it is meant to be.

        Always, unless the spectrum is from single-precision products, which are good for the
        orders that they were made for.
        """
        return self.error == 0 or self.error * self._sensitivity(q) < self.tolerance

    def _sensitivity(self, q: float) -> float:
        shares = np.asarray(self.values)
        if self.tolerance > SINGLE_TOLERANCE and shares.min() < 100 * self.error:
            # Shares below the error are not known, nor how many they are; none moves by more.
            return sensitivity(np.maximum(shares, self.error), q) if q else math.inf
        return sensitivity(shares, q)

    def effective_number(self, q: float = DEFAULT_ORDER) -> Any:
        """The Hill number of order q of the shares, in [1, n]: the Vendi Score.

        Examples
        --------
        >>> Spectrum(np.array([0.5, 0.5, 0.0]), 3, "eigenvalues", "").effective_number(q=2)
        2.0
        """
        if not self.serves(q):
            raise ValueError(
                f"order {q:g} of a spectrum from single-precision products may be off by more "
                f"than {self.tolerance:g}; use spectrum_of(similarity), or pass the order to "
                f"vendi(similarity, orders)"
            )
        return effective_number(self.values, q)

    def profile(self, orders: Sequence[float]) -> Array:
        """The effective numbers of several orders, shape (len(orders),).

        Errors as for `effective_number`. Cost: O(m) an order, no decomposition.
        """
        numbers = [self.effective_number(q) for q in orders]
        return np.array(numbers) if is_numpy(self.values) else namespace(self.values).stack(numbers)

    def estimates(self, orders: Sequence[float]) -> list[Estimate]:
        """The effective number of each order, with how it was found.

        Where what was taken for rounding may have changed an order below 1, a warning says so.
        Errors as for `effective_number`.
        """
        found = [Estimate(self.effective_number(q), self.route, self.why) for q in orders]
        self._tell_of_cut(orders)
        return found

    @property
    def notes(self) -> list[str]:
        """What to know of what was cut off, in sentences."""
        if not self.cut:
            return []
        return [
            f"Eigenvalues below {self.cut:.2g} of the trace count as rounding and so as zero: "
            f"order 0 is the numerical rank, and orders near 0 leave out shares that small."
        ]

    def _tell_of_cut(self, orders: Sequence[float]) -> None:
        q = min(orders, default=DEFAULT_ORDER)  # the least order moves most
        if not self.lost or q >= 1:
            return
        kept = self.values[self.values > 0]
        total = scalar(namespace(kept).sum(kept**q))
        # What Σ λ^q gains, less what the trace does, of which shares are parts.
        more = math.log1p(self.lost * self.cut**q / total) - q * math.log1p(self.lost * self.cut)
        moved = more / (1 - q)
        if moved > CUT_MATTERS:
            warn(
                f"{self.lost} eigenvalues below {self.cut:.2g} of the trace may be rounding and "
                f"count as zero; order {q:g} would be up to {math.expm1(moved):.2g} larger if they "
                f"are not (relative). Orders of 1 and more do not depend on them."
            )


@dataclass(frozen=True)
class Source:
    """What must be known of where a matrix is from, to tell rounding from faults.

    `n` is the number of samples, `psd` whether nothing but rounding can make it indefinite.
    """

    n: int
    psd: bool
    roundoff: float
    fault: Callable[[], str]

    @classmethod
    def of(cls, weighted: Similarity) -> Self:
        """Of a weighted similarity."""
        return cls(weighted.n, weighted.psd, weighted.roundoff, lambda: fault_of(weighted))

    @property
    def negative_mass(self) -> float:
        """How much may be negative by rounding, of entries that came with a relative error.

        Errors of relative size u in a symmetric matrix, independent of each other, spread its
        zero eigenvalues over a semicircle (Wigner), whose negative half has an area of
        0.42 σ √n with σ = u/√12 at most for a trace of 1; it is doubled.
        """
        return max(NEGATIVE_MASS, 0.25 * self.roundoff * math.sqrt(self.n))


def from_covariance(
    C: Array, n: int, psd: PSD = "check", *, roundoff: float = 0.0, features: Any = None
) -> Spectrum:
    """The spectrum of n samples from the covariance of their features.

    Notes
    -----
    Time O(d³), and O(n d²) more for eigenvectors.

    Examples
    --------
    >>> from_covariance(np.diag([3.0, 1.0]), n=4).values
    array([0.75, 0.25])
    """
    xp = namespace(C)
    if C.ndim != 2 or C.shape[0] != C.shape[1]:
        raise ValueError(f"`C` must be a square matrix, got shape {tuple(C.shape)}")
    if features is not None and tuple(features.shape) != (n, C.shape[0]):
        raise ValueError(
            f"`features` must be of shape {(n, C.shape[0])}, a row for each sample and a column "
            f"for each of `C`, got {tuple(features.shape)}"
        )
    C = xp.astype(C, xp.float64, copy=False)
    trace = scalar(xp.linalg.trace(C))
    if not (math.isfinite(trace) and trace > 0):
        raise ValueError(
            f"`C` must have a finite, positive trace, got {trace:.6g}; look for NaN and overflow, "
            f"or add samples"
        )
    asymmetry = scalar(xp.max(xp.abs(C - C.T))) / trace
    if not asymmetry <= max(RANGE_TOLERANCE, roundoff):
        raise ValueError(
            f"`C` must be symmetric, but differs from its transpose by {asymmetry:.3g} of its "
            f"trace; pass (C + C.T) / 2 if that is rounding"
        )
    source = Source(n, False, roundoff, lambda: "look for NaN and overflow in what was added up")
    why = f"a covariance of {C.shape[0]} features was given"

    def unit(V: Array) -> Array:  # whatever the factor is
        U = features @ V
        return U / namespace(U).linalg.vector_norm(U, axis=0)

    project = None if features is None else unit
    C = C / xp.linalg.trace(C)
    return decomposed(C, source, psd, "covariance", why, features is not None, project)


def decomposed(
    A: Array,
    source: Source,
    psd: PSD,
    route: str,
    why: str,
    vectors: bool = False,
    project: Callable[[Array], Array] | None = None,
) -> Spectrum:
    """The spectrum of a matrix of trace 1 that may be overwritten.

    Its eigenvectors are those of A, or of F Fᵀ where A is Fᵀ F: then `project(V)` is F V, or that
    with columns of another length.
    """
    V: Array | None
    if is_numpy(A) and (order := _diagonal_order(A)) is not None:
        values = A.diagonal()[order]  # exact, however small
        found = Spectrum(values / values.sum(), source.n, route, why)
        V = np.eye(len(A))[:, order] if vectors else None
    else:
        ascending, V, driver = decompose(A, source.fault, vectors)
        found = cleaned(ascending, source, psd, route, f"{why}, {driver}" if driver else why)
        V = None if V is None else namespace(V).flip(V, axis=1)
    if V is None:
        return found
    xp = namespace(V)
    V = V[:, : int(xp.sum(found.values > 0))]
    if project is not None:
        if not is_numpy(V):
            U = project(V)
            return replace(found, vectors=U / xp.linalg.vector_norm(U, axis=0))
        # ‖F v‖ is √λ, but where rounding is a share of λ: there lengths are measured.
        lengths = np.sqrt(found.values[: V.shape[1]])
        U = project(V / lengths)
        small = found.values[: V.shape[1]] < LENGTHS * found.values[0]
        if small.any():
            U[:, small] /= np.sqrt(np.einsum("ij,ij->j", U[:, small], U[:, small]))
        return replace(found, vectors=U)
    return replace(found, vectors=np.ascontiguousarray(V) if is_numpy(V) else V)


def _diagonal_order(A: np.ndarray) -> np.ndarray | None:
    """The places of a diagonal matrix's entries, the largest first; None if it is not diagonal."""
    diagonal = A.diagonal()
    if (
        np.count_nonzero(A[0]) > 1
        or np.count_nonzero(A) != np.count_nonzero(diagonal)
        or not diagonal.min() >= 0
    ):
        return None
    return np.argsort(-diagonal, kind="stable")


def cleaned(values: Array, source: Source, psd: PSD, route: str, why: str) -> Spectrum:
    """Ascending eigenvalues as shares: rounding removed, sum 1, descending.

    Those below n·ε·λ_max are rounding and set to zero, so that the number of positive ones is the
    numerical rank.
    """
    xp = namespace(values)
    values = xp.flip(values)
    if not abs(scalar(xp.sum(values)) - 1) <= RANGE_TOLERANCE:
        raise ValueError(
            f"the eigenvalues of the similarity matrix sum to {scalar(xp.sum(values)):.6g} "
            f"instead of 1: {source.fault()}"
        )
    size = values.shape[0]
    unit = float(xp.finfo(values.dtype).eps) * scalar(values[0])
    negative_mass = -scalar(xp.sum(xp.where(values < 0, values, xp.zeros_like(values))))
    if psd == "check" and negative_mass > source.negative_mass:
        raise NotPSDError(scalar(values[-1]), negative_mass)
    if psd == "check" and negative_mass > NEGATIVE_MASS:
        warn(
            f"negative eigenvalues that sum to {negative_mass:.2g} of a trace of 1 count as "
            f"rounding of the precision that the matrix came in, and were set to zero; compute "
            f"similarities in a higher one to be rid of them"
        )
    coarse = 0.0 if source.psd else source.roundoff / math.sqrt(size)
    cut = max(max(source.n, size) * unit, coarse)
    noise = max(4 * math.sqrt(size) * unit, coarse)
    kept = values > cut
    lost = int(xp.sum(~kept & (values > noise)))
    if scalar(xp.min(values[kept])) < TAIL * cut:  # no gap, but a tail that goes on below the cut
        lost = size - int(xp.sum(kept))
    zero = xp.zeros_like(values)
    shares = xp.where(kept, values, zero)
    total = xp.sum(shares)
    if is_torch(values):  # what is zero by rounding has its part of the slope of the trace
        apart = kept if psd == "check" else kept | (values < -cut)
        rest = xp.sum(xp.where(apart, zero, values))
        total = total + rest - rest.detach()
    return Spectrum(
        shares / total,
        source.n,
        route,
        why,
        negative_mass=max(0.0, negative_mass),
        cut=cut,
        lost=lost,
    )
