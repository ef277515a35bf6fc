"""The spectrum of K_p, of trace 1: eigenvalues that are shares, cleaned of rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..core.hill import hill_number
from ..core.shares import PSD, Rounding, Shares, diagonal_shares, shares
from ..similarity.base import Similarity
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, is_numpy, namespace, scalar, to_host
from ..support.types import Number
from .eigen import decompose
from .estimate import Estimate
from .weighted_similarity import fault_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Spectrum(Shares):
    """The eigenvalues of K_p as shares, descending; `vectors` (n, r) are of the positive ones.

    `negative` (s,) are the eigenvalues that were clipped, in the unit of the shares, descending,
    with their vectors (n, s): the matrix of some of the samples is clipped by itself.
    """

    n: int
    route: str
    why: str
    vectors: Array | None = field(default=None, repr=False)
    negative: Array | None = None
    negative_vectors: Array | None = field(default=None, repr=False)
    single: bool = False  # products were made in single precision: for orders from 1 on

    def effective_number(self, q: float = DEFAULT_ORDER) -> Number:
        """Return the Hill number of order q of the shares, in [1, n]: the Vendi Score."""
        if self.single and q < 1:
            raise ValueError(
                f"order {q:g} depends on shares that single-precision products do not resolve; "
                f"use spectrum_of(similarity), or pass the order to vendi(similarity, orders)"
            )
        return hill_number(self.positive_at(q), q)

    def profile(self, orders: Sequence[float]) -> Array:
        """Return the effective numbers of several orders, shape (len(orders),)."""
        numbers = [self.effective_number(q) for q in orders]
        if is_numpy(self.values):
            return np.array(numbers)
        return namespace(self.values).stack(numbers)

    def estimates(self, orders: Sequence[float]) -> list[Estimate]:
        """Return estimates of some orders; warn where the cut may have changed one."""
        found = [Estimate(self.effective_number(q), self.route, self.why) for q in orders]
        self.warn_of_cut(orders)
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


def positive_parts(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive eigenvalues (r,) that order q uses and eigenvectors (n, r), on the host.

    q = 0 gives those of the numerical rank.
    """
    if spectrum.vectors is None:
        raise ValueError("`spectrum` has no vectors; pass spectrum_of(similarity, vectors=True)")
    values = to_host(spectrum.positive_at(q))
    values = values[values > 0]
    return values, to_host(spectrum.vectors)[:, : len(values)]


def signed_parts(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return positive eigenvalues and then those clipped, with all eigenvectors, on the host."""
    values, U = positive_parts(spectrum)
    if spectrum.negative is None:
        return values, U
    negative = to_host(spectrum.negative)
    vectors = to_host(spectrum.negative_vectors)
    return np.concatenate([values, negative]), np.concatenate([U, vectors], axis=1)


def rounding_of(weighted: Similarity) -> Rounding:
    """Return the rounding of the entries of a weighted similarity."""
    return Rounding(weighted.n, weighted.psd, weighted.roundoff, partial(fault_of, weighted))


def from_covariance(C: Array, n: int, psd: PSD = "check", vectors: bool = False) -> Spectrum:
    """Find the spectrum of n samples from Σ w x xᵀ, C (d, d), up to a factor; `vectors` are its."""
    xp = namespace(C)
    C = xp.astype(C, xp.float64, copy=False)
    trace = xp.linalg.trace(C)
    if not 0 < scalar(trace) < math.inf:
        raise ValueError(
            f"`C` must have a finite, positive trace, got {scalar(trace):.6g}; look for NaN and "
            f"overflow, or add samples"
        )
    rounding = Rounding(n, False, 0.0, lambda: "look for NaN and overflow in what was added up")
    why = f"a covariance of {C.shape[0]} features was given"
    return decomposed(C / trace, rounding, psd, "covariance", why, vectors)


def decomposed(
    A: Array,
    rounding: Rounding,
    psd: PSD,
    route: str,
    why: str,
    vectors: bool = False,
    project: Callable[[Array], Array] | None = None,
) -> Spectrum:
    """Find the spectrum of A of trace 1, overwritten; where A is Fᵀ F, `project(V)` is F V."""
    V: Array | None
    exact = None
    if is_numpy(A):
        exact = diagonal_shares(A)
    if exact is not None:
        kept, order = exact
        V = None
        if vectors:
            V = np.eye(len(A))[:, order]
    else:
        ascending, V, driver = decompose(A, rounding.fault, vectors)
        if driver:
            why = f"{why}, {driver}"
        kept = shares(ascending, rounding, psd)
        V = None if V is None else namespace(V).flip(V, axis=1)
    spectrum = Spectrum(**vars(kept), n=rounding.n, route=route, why=why)
    if V is None:
        return spectrum
    xp = namespace(V)
    rank = len(spectrum.positive)
    if project is None and psd == "clip" and exact is None:
        spectrum = _with_negative(spectrum, ascending, V)
    V = V[:, :rank]
    if project is None:
        if is_numpy(V):
            V = np.ascontiguousarray(V)
        return replace(spectrum, vectors=V)
    U = project(V)
    if is_numpy(U):
        squares = np.einsum("ij,ij->j", U, U)
        U /= np.sqrt(squares)
    else:
        U = U / xp.linalg.vector_norm(U, axis=0)
    return replace(spectrum, vectors=U)


def _with_negative(spectrum: Spectrum, ascending: Array, V: Array) -> Spectrum:
    """Keep negative eigenvalues beyond rounding; the columns of V are in descending order."""
    count = int((to_host(ascending) < -spectrum.cut).sum())
    if not count:
        return spectrum
    negative = namespace(ascending).flip(ascending[:count])
    unit = spectrum.values[0] / ascending[-1]
    return replace(spectrum, negative=negative * unit, negative_vectors=V[:, -count:])
