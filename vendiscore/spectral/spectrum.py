"""The spectrum of K_p, of trace 1: eigenvalues that are shares, cleaned of rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np

from ..core.arguments import DEFAULT_ORDER, one_of
from ..core.errors import NotPSDError, warn
from ..core.hill import RANGE_TOLERANCE, effective_number
from ..core.namespace import Array, detached, is_numpy, is_torch, namespace, scalar, to_host
from ..core.types import Number
from ..similarity.base import Similarity
from .eigen import decompose
from .estimate import Estimate
from .weighted_similarity import fault_of

PSD = Literal["check", "clip"]
PSDS: tuple[PSD, ...] = ("check", "clip")

# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on shares near rounding: a warning follows where leaving them out may move
# log VS by more than CUT_MATTERS. There is a gap if the least share kept is TAIL times the cut.
CUT_MATTERS, TAIL = 1e-6, 1e4
EPS = float(np.finfo(np.float64).eps)  # every spectrum is in double precision


def check_psd(psd: object) -> PSD:
    """Return `psd`, or raise a ValueError if it is unknown."""
    remedy = "which raises for negative eigenvalues or sets them to zero"
    return one_of("psd", psd, PSDS, remedy)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of K_p as shares, descending; `vectors` (n, r) are of the positive ones."""

    values: Array
    n: int
    route: str
    why: str
    vectors: Array | None = field(default=None, repr=False)
    negative_mass: float = 0.0  # minus the sum of the negative eigenvalues set to zero
    cut: float = 0.0  # eigenvalues below this counted as rounding and were set to zero
    lost: int = 0  # how many of those may have been more than rounding of exact zeros
    single: bool = False  # products were made in single precision: for orders from 1 on

    def effective_number(self, q: float = DEFAULT_ORDER) -> Number:
        """Return the Hill number of order q of the shares, in [1, n]: the Vendi Score."""
        if self.single and q < 1:
            raise ValueError(
                f"order {q:g} depends on shares that single-precision products do not resolve; "
                f"use spectrum_of(similarity), or pass the order to vendi(similarity, orders)"
            )
        return effective_number(self.values, q)

    def profile(self, orders: Sequence[float]) -> Array:
        """Return the effective numbers of several orders, shape (len(orders),)."""
        numbers = [self.effective_number(q) for q in orders]
        return np.array(numbers) if is_numpy(self.values) else namespace(self.values).stack(numbers)

    def estimates(self, orders: Sequence[float]) -> list[Estimate]:
        """Return estimates of some orders; warn where the cut may have changed one."""
        found = [Estimate(self.effective_number(q), self.route, self.why) for q in orders]
        if self.lost and min(orders, default=1.0) < 1:
            self._warn_of_cut(min(orders))  # the least order moves most
        return found

    @property
    def notes(self) -> list[str]:
        """Sentences about the eigenvalues that were cut off."""
        if not self.cut:
            return []
        return [
            f"Eigenvalues below {self.cut:.2g} of the trace count as rounding and so as zero: "
            f"order 0 is the numerical rank, and orders near 0 leave out shares that small."
        ]

    def _warn_of_cut(self, q: float) -> None:
        kept = self.values[self.values > 0]
        total = scalar(namespace(kept).sum(kept**q))
        # The gain of log Σ λ^q, less the gain from the trace.
        more = math.log1p(self.lost * self.cut**q / total) - q * math.log1p(self.lost * self.cut)
        moved = more / (1 - q)
        if moved > CUT_MATTERS:
            warn(
                f"{self.lost} eigenvalues below {self.cut:.2g} of the trace may be rounding and "
                f"count as zero; order {q:g} would be up to {math.expm1(moved):.2g} larger if they "
                f"are not (relative). Orders of 1 and more do not depend on them."
            )


def positive_values(spectrum: Spectrum) -> np.ndarray:
    """Return the positive eigenvalues (r,), on the host."""
    values = to_host(spectrum.values)
    return values[values > 0]


def positive_parts(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return positive eigenvalues (r,) and the eigenvectors (n, r)."""
    if spectrum.vectors is None:
        raise ValueError("`spectrum` has no vectors; pass spectrum_of(similarity, vectors=True)")
    return positive_values(spectrum), to_host(spectrum.vectors)


class Source(NamedTuple):
    """The origin of a matrix of n samples, to tell rounding from faults."""

    n: int
    psd: bool
    roundoff: float
    fault: Callable[[], str]

    @classmethod
    def of(cls, weighted: Similarity) -> Self:
        """Describe a weighted similarity."""
        return cls(weighted.n, weighted.psd, weighted.roundoff, partial(fault_of, weighted))

    @property
    def negative_mass(self) -> float:
        """The share of the trace that may be negative by rounding of the entries passed.

        Twice the area 0.42 σ √n, σ = u/√12, of the negative half of Wigner's semicircle over which
        independent errors of relative size u spread zero eigenvalues.
        """
        return max(NEGATIVE_MASS, 0.25 * self.roundoff * math.sqrt(self.n))

    def rounding(self, size: int) -> float:
        """Return the share below which eigenvalues are rounding of the entries passed."""
        return 0.0 if self.psd else self.roundoff / math.sqrt(size)


def from_covariance(C: Array, n: int, psd: PSD = "check", *, roundoff: float = 0.0) -> Spectrum:
    """Find the spectrum of n samples from Σ w x xᵀ, C (d, d), up to a factor."""
    xp = namespace(C)
    C = xp.astype(C, xp.float64, copy=False)
    trace = xp.linalg.trace(C)
    if not 0 < scalar(trace) < math.inf:
        raise ValueError(
            f"`C` must have a finite, positive trace, got {scalar(trace):.6g}; look for NaN and "
            f"overflow, or add samples"
        )
    source = Source(n, False, roundoff, lambda: "look for NaN and overflow in what was added up")
    why = f"a covariance of {C.shape[0]} features was given"
    return decomposed(C / trace, source, psd, "covariance", why)


def decomposed(
    A: Array,
    source: Source,
    psd: PSD,
    route: str,
    why: str,
    vectors: bool = False,
    project: Callable[[Array], Array] | None = None,
) -> Spectrum:
    """Find the spectrum of A of trace 1, overwritten; where A is Fᵀ F, `project(V)` is F V."""
    V: Array | None
    if isinstance(A, np.ndarray) and (order := _diagonal_order(A)) is not None:
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
    if project is None:
        return replace(found, vectors=np.ascontiguousarray(V) if is_numpy(V) else V)
    U = project(V)
    if not is_numpy(U):
        return replace(found, vectors=U / xp.linalg.vector_norm(U, axis=0))
    return replace(found, vectors=np.divide(U, np.sqrt(np.einsum("ij,ij->j", U, U)), out=U))


def _diagonal_order(A: np.ndarray) -> np.ndarray | None:
    """Return the places of a diagonal matrix's entries, largest first; None for another matrix."""
    diagonal = A.diagonal()
    if (
        np.count_nonzero(A[0]) > 1
        or np.count_nonzero(A) != np.count_nonzero(diagonal)
        or not diagonal.min() >= 0
    ):
        return None
    return np.argsort(-diagonal, kind="stable")


def cleaned(values: Array, source: Source, psd: PSD, route: str, why: str) -> Spectrum:
    """Turn ascending eigenvalues into descending shares; below n·ε·λ_max they are rounding."""
    xp = namespace(values)
    values = values[::-1] if is_numpy(values) else xp.flip(values)
    known = detached(values)  # where it is: only single numbers leave a device
    total = float(known.sum())
    if not abs(total - 1) <= RANGE_TOLERANCE:
        raise ValueError(
            f"the eigenvalues of the similarity matrix sum to {total:.6g} instead of 1: "
            f"{source.fault()}"
        )
    size = len(known)
    unit = EPS * float(known[0])
    negative_mass = -float(known[known < 0].sum()) if known[-1] < 0 else 0.0
    if psd == "check" and negative_mass > source.negative_mass:
        raise NotPSDError(float(known[-1]), negative_mass)
    if psd == "check" and negative_mass > NEGATIVE_MASS:
        warn(
            f"negative eigenvalues that sum to {negative_mass:.2g} of a trace of 1 count as "
            f"rounding of the precision that the matrix came in, and were set to zero; compute "
            f"similarities in a higher one to be rid of them"
        )
    coarse = source.rounding(size)
    cut = max(max(source.n, size) * unit, coarse)
    noise = max(4 * math.sqrt(size) * unit, coarse)
    if known[-1] > cut and not is_torch(values):
        return Spectrum(values / total, source.n, route, why, cut=cut)
    above = known > cut
    kept = int(above.sum())
    lost = int((known > noise).sum()) - kept if noise < cut else 0
    if known[kept - 1] < TAIL * cut:  # no gap, but a tail that goes on below the cut
        lost = size - kept
    shares = values * above + 0.0  # and no −0.0
    whole = shares.sum()
    if is_torch(values):  # what is zero by rounding has its part of the slope of the trace
        apart = values > cut if psd == "check" else abs(values) > cut
        rest = xp.sum(xp.where(apart, xp.zeros_like(values), values))
        whole = whole + rest - rest.detach()
    return Spectrum(
        shares / whole, source.n, route, why, negative_mass=negative_mass, cut=cut, lost=lost
    )
