"""Bounds on effective numbers from some rows of K: a pivoted Cholesky factorisation.

K_p = L Lᵀ + E with E positive semidefinite, of a known trace ε. The least even shares give the
largest eigenvalue all of ε, the most even fill up the smallest like water (majorization).
Chen, Epperly, Tropp & Webber, arXiv 2207.06503 (random pivots, in proportion to the residual);
Epperly, Tropp & Webber, arXiv 2410.03969 (in blocks).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from ..arrays import memory
from ..arrays.namespace import gram
from ..errors import NotPSDError
from ..similarity.base import Similarity
from .estimate import Estimate, Estimating
from .hill import effective_number
from .routes import StalledError
from .spectrum import Source

# Columns of the factor, as a share of the samples and of the memory that is left.
MOST_COLUMNS, MOST_MEMORY = 0.25, 0.25
# Pivots that are proposed at once, of which those are taken that leave at least this share of the
# largest residual.
BLOCK, LEAST_PIVOT = 64, 0.05
# A residual below −ROUNDING of the largest diagonal is not rounding of double precision.
ROUNDING = 1e-10


class Factor:
    """L of a similarity of trace 1, that grows by blocks of columns: k take n·k² operations."""

    def __init__(self, weighted: Similarity, most: int, seed: int = 0) -> None:
        self.weighted = weighted
        self.most = most
        self._rng = np.random.default_rng(seed)
        self._residual = np.maximum(np.asarray(weighted.diagonal(), dtype=float), 0.0)
        self._top = float(self._residual.max())
        self._L = np.empty((most, weighted.n))  # its transpose
        self.size = 0

    @property
    def left(self) -> float:
        """ε, the trace of what is left."""
        return float(self._residual.sum())

    def extend(self) -> None:
        """Add a block of columns, up to `most`."""
        residual, k = self._residual, self.size
        room = min(BLOCK, self.most - k, int(np.count_nonzero(residual)))
        if room < 1:
            return
        L, chances = self._L, residual / residual.sum()
        chosen = np.sort(self._rng.choice(len(residual), room, replace=False, p=chances))
        own = np.asarray(self.weighted.take(chosen).dense()) - L[:k, chosen].T @ L[:k, chosen]
        lower, pivots, rank, _ = scipy.linalg.lapack.dpstrf(
            (own + own.T) / 2, tol=LEAST_PIVOT * float(residual.max()), lower=1
        )
        if not rank:  # the largest is not a pivot: it is negative
            raise self._negative(float(own.diagonal().min()))
        taken = chosen[pivots[:rank] - 1]
        rows = np.asarray(self.weighted.rows(taken)) - L[:k, taken].T @ L[:k]
        new = L[k : k + rank]
        # NumPy solves this, as its threads have the products: SciPy's would wait alongside them.
        new[:] = np.linalg.solve(np.tril(lower[:rank, :rank]), rows)
        residual -= np.einsum("ij,ij->j", new, new)
        residual[taken] = 0.0
        if (lowest := float(residual.min())) < -ROUNDING * self._top:
            raise self._negative(lowest)
        np.maximum(residual, 0.0, out=residual)
        self.size = k + rank

    def _negative(self, residual: float) -> Exception:
        if -residual <= Source.of(self.weighted).negative_mass:
            return StalledError("residuals are negative by rounding")
        return NotPSDError(residual, -residual)

    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the most even shares (n,) that are possible, descending."""
        found = np.linalg.eigvalsh(gram(self._L[: self.size]))[::-1]
        found = np.concatenate([np.maximum(found, 0.0), np.zeros(self.weighted.n - self.size)])
        left = max(0.0, 1.0 - float(found.sum()))
        # An exact spectrum leaves out what may be rounding, and may be off by as much.
        cut = len(found) * float(np.finfo(float).eps) * found[0]
        least, even = np.maximum(found - cut, 0.0), np.where(found > cut / 2, found + cut, found)
        least[0] += 1.0 - float(least.sum())
        even[0] -= float(even.sum() - found.sum())
        return least, filled_up(np.sort(even)[::-1], left)


def filled_up(shares: np.ndarray, more: float) -> np.ndarray:
    """Add `more` to the smallest of descending shares, so that these become level."""
    rising = shares[::-1]
    levels = (more + np.cumsum(rising)) / np.arange(1, len(rising) + 1)
    last = int(np.argmax(np.append(rising[1:], np.inf) >= levels))
    return np.maximum(shares, levels[last])


def bounds(
    weighted: Similarity, orders: Sequence[float], how: Estimating, flops: float
) -> list[Estimate]:
    """Bound some orders in so many operations, or raise a StalledError."""
    n = weighted.n
    room = MOST_MEMORY * memory.available_bytes() / (8 * n)
    most = int(min(MOST_COLUMNS * n, math.sqrt(flops / (2 * n)), room))
    if most < BLOCK:
        raise StalledError("too few samples for bounds")
    factor = Factor(weighted, most, how.seed)

    def is_enough(least: np.ndarray, even: np.ndarray) -> bool:
        ratios = (effective_number(even, q) / effective_number(least, q) for q in orders)
        return all(math.log(ratio) / 2 <= math.log1p(how.rtol) for ratio in ratios)

    found = certified(factor, is_enough, aim_of(how.rtol, n))
    why = f"{factor.size} rows leave {factor.left:.2g} of the trace"
    if found is None:
        raise StalledError(why)
    ends = [sorted(effective_number(shares, q) for shares in found) for q in orders]
    name = "pivoted cholesky"
    return [Estimate(math.sqrt(low * high), name, why, low=low, high=high) for low, high in ends]


def aim_of(rtol: float, n: int) -> float:
    """Return the ε whose bounds at order 1 are as narrow: ε log(n/ε) is about 2 rtol."""
    aim = rtol
    for _ in range(3):
        aim = 2 * rtol / math.log(n / aim)
    return aim


def certified(
    factor: Factor, is_enough: Callable[[np.ndarray, np.ndarray], bool], aim: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Extend the factor until its shares are enough; return None if that seems out of reach."""
    before = 0, 1.0
    while True:
        factor.extend()
        size, left = factor.size, factor.left
        if left <= aim:
            shares = factor.shares()
            if is_enough(*shares):
                return shares
            if not left:  # the bounds differ by rounding
                return None
            aim = left / 4
        if size in (before[0], factor.most):
            return None
        # As if it went on falling at this rate, which it does at best.
        rate = np.log(before[1] / left) / (size - before[0]) if left else np.inf
        if size + np.log(left / aim) / rate > factor.most:
            return None
        before = size, left
