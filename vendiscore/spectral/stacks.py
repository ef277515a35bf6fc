"""Spectra of many small matrices at once, as of a few answers to each of many prompts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..core.hill import RANGE_TOLERANCE
from ..core.shares import EPS, NEGATIVE_MASS, PSD, TAIL, shares_above
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, as_kind_of, detached, namespace, to_host
from .clusters import effective_numbers, positive_shares
from .eigen import decompose
from .rank_one import influence_of, surprise_of, unexplained_of, without_each

# Weights below this may count as zero by rounding: such sets are looked at one by one.
LEAST_WEIGHT = 1e-12


class Spectra:
    """Vendi Scores of g sets of m samples, from K (g, m, m), weights (g, m) or None.

    `values` are the scores (g,) of each order, which need no eigenvalues at order 2 alone.
    `unusual` (g,) marks sets that `spectral.vendi_scores` is to look at one by one, which warns and
    raises: their matrices have negative eigenvalues, say, or entries that are not finite.
    """

    def __init__(
        self,
        K: Array,
        p: Array | None = None,
        orders: Sequence[float] = (DEFAULT_ORDER,),
        psd: PSD = "check",
        vectors: bool = False,
    ) -> None:
        xp = namespace(K)
        diagonal = xp.linalg.diagonal(K)
        m = K.shape[1]
        root = math.sqrt(1 / m) if p is None else xp.sqrt(as_kind_of(p, diagonal))
        root = root / xp.sqrt(diagonal)
        K = K * root[:, :, None] * root[:, None, :]
        sums = detached(K).sum(-1).sum(-1)
        refused = ~xp.isfinite(sums)
        if p is not None:
            tiny = (root > 0) & (root < math.sqrt(LEAST_WEIGHT))
            refused = refused | tiny.any(-1)
        if bool(refused.any()):
            identity = xp.eye(m, dtype=K.dtype)
            K = xp.where(refused[:, None, None], identity, K)
        self.K = K
        self.unusual: Array = refused
        self.vectors: Array | None = None
        if psd == "check" and not vectors and set(orders) == {2}:
            squares = (K * K).sum(-1)
            number = 1 / squares.sum(-1)
            self.values: list[Array] = [number] * len(orders)
            return
        self.shares: Array = self._shares(K, orders, psd, vectors)
        self.values = [effective_numbers(self.shares, q) for q in orders]

    def _shares(
        self,
        K: Array,
        orders: Sequence[float],
        psd: PSD,
        vectors: bool,
    ) -> Array:
        """Return eigenvalues (g, m) of trace 1, ascending, those below m·ε·λ_max zero."""
        xp = namespace(K)
        m = K.shape[1]
        values, self.vectors, _ = decompose(K, lambda: "look for NaN in the kernel", vectors)
        known = detached(values)
        cut = m * EPS * known[:, -1:]
        below_zero = known * (known < 0)
        negative = -below_zero.sum(-1)
        off = abs(known.sum(-1) - 1)
        unusual = ~(off <= RANGE_TOLERANCE)
        if psd == "check":
            unusual = unusual | (negative > NEGATIVE_MASS)
        self.clipped: np.ndarray = to_host(known[:, 0] < -cut[:, 0]) & (psd == "clip")
        above = known > cut
        if min(orders, default=1.0) < 1:
            kept = xp.where(above, known, math.inf)
            least = xp.min(kept, axis=-1)
            noise = 4 / math.sqrt(m) * cut
            lost = ~above & (known > noise)
            tail = ~above.all(-1) & (least < TAIL * cut[:, 0])
            unusual = unusual | lost.any(-1) | tail
        self.unusual = self.unusual | unusual
        return shares_above(values, cut, psd)

    def influence(self, q: float) -> np.ndarray:
        """Return the slope of log VS_q in the share of each sample of each set, (g, m)."""
        if math.isinf(q):
            vectors = to_host(self.vectors)
            top = vectors[:, :, -1]
            return self._masses() - self.K.shape[1] * top**2
        numbers = effective_numbers(self.shares, q)
        logs = np.log(numbers)
        gaps = self.surprises(q) - logs[:, None]
        return self._masses() * influence_of(gaps, q)

    def _masses(self) -> np.ndarray:
        """Return n times the part of each sample in the trace, (g, m): 1 but for clipping."""
        squares = np.square(to_host(self.vectors))
        parts = squares @ to_host(self.shares)[..., None]
        return self.K.shape[1] * parts[..., 0]

    def surprises(self, q: float) -> np.ndarray:
        """Return how surprising each sample of each set is, (g, m); see `rank_one.surprise`."""
        values = to_host(self.shares)
        squares = np.square(to_host(self.vectors))
        return surprise_of(values[:, None, :], squares, q)

    def unexplained(self) -> np.ndarray:
        """Return the part of each sample that no other of its set explains, (g, m)."""
        values = to_host(self.shares)
        squares = np.square(to_host(self.vectors)) * (values > 0)[:, None, :]
        return unexplained_of(values, squares, self.K.shape[1])

    def without_each(self, q: float) -> np.ndarray:
        """Return log VS_q of each set without each of its samples, (g, m), for m of 2 or more.

        Where negative eigenvalues were clipped, those of the other samples are clipped by
        themselves.
        """
        m = self.K.shape[1]
        logs = np.empty(self.K.shape[:2])
        singly = self.clipped | (q > 2)
        if singly.any():
            logs[singly] = self._decomposed_without_each(singly, q)
        if not singly.all():
            values = to_host(self.shares)[~singly]
            squares = np.square(to_host(self.vectors)[~singly])
            squares *= (values > 0)[:, None, :]
            logs[~singly] = without_each(values, squares, q, 1 / m)
        return np.clip(logs, 0.0, math.log(m - 1))

    def _decomposed_without_each(self, some: np.ndarray, q: float) -> np.ndarray:
        """Return the same of some sets, from the eigenvalues of the other samples."""
        m = self.K.shape[1]
        others = np.array([np.delete(np.arange(m), i) for i in range(m)])
        rows = others[:, :, None]
        columns = others[:, None, :]
        sets = to_host(self.K)[some]  # all parts of a set take m times its memory
        eigenvalues = [np.linalg.eigvalsh(K[rows, columns]) for K in sets]
        shares = positive_shares(np.array(eigenvalues))
        return np.log(effective_numbers(shares, q))
