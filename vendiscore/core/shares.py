"""Eigenvalues as shares: rounding is set to zero, negative ones are refused or clipped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..support.arguments import one_of
from ..support.errors import NotPSDError, warn
from ..support.namespace import Array, is_numpy, is_torch, namespace, scalar, to_host
from .hill import RANGE_TOLERANCE

PSD = Literal["check", "clip"]

EPS = float(np.finfo(float).eps)
# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on shares near rounding: a warning follows where leaving them out may move
# log VS by more than CUT_MATTERS. There is a gap if the least share kept is TAIL times the cut.
CUT_MATTERS, TAIL = 1e-6, 1e4


def check_psd(psd: object) -> PSD:
    """Return `psd`, or raise a ValueError if it is unknown."""
    remedy = "which raises for negative eigenvalues or sets them to zero"
    return one_of("psd", psd, get_args(PSD), remedy)


class Rounding(NamedTuple):
    """The rounding of the entries of a matrix of n samples, to tell it from faults."""

    n: int
    semidefinite: bool  # by construction: no share is rounding of entries passed
    spacing: float  # relative, of the numbers that entries came in, if coarser than float64; else 0
    fault: Callable[[], str]  # what may be wrong with the matrix

    @property
    def negative_mass(self) -> float:
        """The share of the trace that may be negative by rounding of the entries passed.

        Twice the area 0.42 σ √n, σ = u/√12, of the negative half of Wigner's semicircle over which
        independent errors of relative size u spread zero eigenvalues.
        """
        return max(NEGATIVE_MASS, 0.25 * self.spacing * math.sqrt(self.n))

    def coarse(self, size: int) -> float:
        """Return the share below which eigenvalues are rounding of the entries passed."""
        return 0.0 if self.semidefinite else self.spacing / math.sqrt(size)

    def cut(self, largest: float, size: int) -> float:
        """Return n·ε·λ_max, the share below which eigenvalues are rounding of their computation."""
        return max(self.n, size) * EPS * largest


@dataclass(frozen=True, eq=False, kw_only=True)
class Shares:
    """Eigenvalues (m,) of trace 1, descending and at least 0, and what was taken for rounding."""

    values: Array
    negative_mass: float = 0.0  # minus the sum of the negative eigenvalues set to zero
    cut: float = 0.0  # eigenvalues below this counted as rounding and were set to zero
    lost: int = 0  # how many of those may have been more than rounding of exact zeros
    rank: int = 0  # how many are positive, of a tensor, which is not to be read for it
    # Orders below 1 ignore eigenvalues up to this: rounding of the entries that were passed. It is
    # 0 if the entries came in float64.
    input_cut: float = 0.0

    @property
    def positive(self) -> Array:
        """The shares above 0."""
        values = self.values
        return values[values > 0] if is_numpy(values) else values[: self.rank]

    def positive_at(self, q: float) -> Array:
        """Return the shares above 0 that order q uses, of sum 1."""
        positive = self.positive
        if q >= 1 or not self.input_cut:
            return positive
        kept = positive[positive > self.input_cut]
        return kept / kept.sum()

    def warn_of_cut(self, orders: Sequence[float]) -> None:
        """Warn where the eigenvalues set to zero may have changed the number of an order."""
        q = min(orders, default=1.0)  # the least order moves most
        if not self.lost or q >= 1:
            return
        kept = self.positive_at(q)
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


def shares(values: Array, rounding: Rounding, psd: PSD = "check") -> Shares:
    """Turn ascending eigenvalues (m,) into shares; up to the cut of `rounding` they become 0.

    It raises a NotPSDError for negative eigenvalues beyond rounding, unless they are to be clipped,
    and a ValueError where they do not sum to 1.
    """
    on_host = is_numpy(values)
    values = values[::-1] if on_host else namespace(values).flip(values)
    known = values if on_host else to_host(values)  # a device is read once
    total = float(known.sum())
    if not abs(total - 1) <= RANGE_TOLERANCE:
        raise ValueError(
            f"the eigenvalues of the similarity matrix sum to {total:.6g} instead of 1: "
            f"{rounding.fault()}"
        )
    size = len(known)
    largest = float(known[0])
    negative_mass = -float(known[known < 0].sum()) if known[-1] < 0 else 0.0
    if psd == "check" and negative_mass > NEGATIVE_MASS:
        if negative_mass > rounding.negative_mass:
            raise NotPSDError(float(known[-1]), negative_mass)
        warn(
            f"negative eigenvalues that sum to {negative_mass:.2g} of a trace of 1 count as "
            f"rounding of the precision that the matrix came in, and were set to zero; compute "
            f"similarities in a higher one to be rid of them"
        )
    coarse = rounding.coarse(size)
    computed_cut = rounding.cut(largest, size)
    cut = max(computed_cut, coarse)
    if known[-1] > cut and on_host:
        return Shares(values=values / total, cut=cut)
    # Rounding of exact zeros stays below the noise; what is between it and the cut may be more.
    noise = max(4 * math.sqrt(size) * EPS * largest, coarse)
    above = known > cut
    kept = int(above.sum())
    lost = int((known > noise).sum()) - kept if noise < cut else 0
    if known[kept - 1] < TAIL * cut:  # no gap, but a tail that goes on below the cut
        lost = size - kept
    return Shares(
        values=shares_above(values, computed_cut, psd),
        negative_mass=negative_mass,
        cut=cut,
        lost=lost,
        rank=int((known > computed_cut).sum()),
        input_cut=coarse if coarse > computed_cut else 0.0,
    )


def shares_above(values: Array, cut: Array | float, psd: PSD = "check") -> Array:
    """Return eigenvalues (…, m) as shares; those up to the cut, one or (…, 1), become 0."""
    positive = values * (values > cut) + 0.0  # and no −0.0
    whole = positive.sum(-1)
    if is_torch(values):  # what is zero by rounding has its part of the slope of the trace
        apart = values > cut if psd == "check" else abs(values) > cut
        rest = (values * ~apart).sum(-1)
        whole = whole + rest - rest.detach()
    return positive / whole[..., None]


def diagonal_shares(A: np.ndarray) -> tuple[Shares, np.ndarray] | None:
    """Return the entries of a diagonal matrix, exact, as shares with their places; else None."""
    diagonal = A.diagonal()
    several = np.count_nonzero(A[0]) > 1 or np.count_nonzero(A) > np.count_nonzero(diagonal)
    if several or not diagonal.min() >= 0:
        return None
    order = np.argsort(-diagonal, kind="stable")
    values = diagonal[order]
    return Shares(values=values / values.sum()), order
