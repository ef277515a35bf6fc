"""Products with a Similarity in single or double precision, and their error."""

from __future__ import annotations

import math

import numpy as np

from ..arrays.namespace import Array
from ..similarity.base import Similarity

# Rows of each product that are found again in double precision.
ROWS = 32
# Trace and norm of the matrix of products in single and double precision are known to this share.
DOUBT_SINGLE, DOUBT = 1e-7, 1e-13


class Products:
    """Products of a weighted Similarity of trace 1 with blocks of orthonormal vectors."""

    def __init__(self, weighted: Similarity, single: bool, seed: int = 0) -> None:
        self.weighted = weighted
        self.single = single
        self.squares = math.nan  # ‖K‖²_F, from the first product on
        self.doubt: float = DOUBT_SINGLE if single else DOUBT
        self._errors: list[float] = []
        n = weighted.n
        if single:
            chance = 0.5 * np.asarray(weighted.diagonal()) + 0.5 / n
            chance /= chance.sum()
            self._index = np.random.default_rng(seed).choice(n, ROWS, p=chance)
            self._chance = chance[self._index]
            self._rows = np.asarray(weighted.rows(self._index))

    def __call__(self, V: Array) -> Array:
        """Multiply K by V (n, b)."""
        if math.isnan(self.squares):
            W, self.squares = self.weighted.matmul_and_norm(V, self.single)
        else:
            W = self.weighted.matmul(V, single=self.single)
        if self.single:
            gap = W[self._index] - self._rows @ V
            self._errors.append(float(np.mean(np.vecdot(gap, gap) / self._chance)) / V.shape[1])
        return W

    def resolution(self, top: float) -> float:
        """Return the size below which eigenvalues are noise, if the largest is `top`."""
        return max(self._error, self._rounding(top))

    def is_coarse(self, top: float) -> bool:
        """Return whether double precision would resolve smaller eigenvalues."""
        return self._error > self._rounding(top)

    @property
    def _error(self) -> float:
        """The mean error of a product with one vector, and so of eigenvalues."""
        return math.sqrt(np.mean(self._errors)) if self._errors else 0.0

    def _rounding(self, top: float) -> float:
        """Return the size below which an exact spectrum has no eigenvalues either."""
        given = 0.0 if self.weighted.psd else self.weighted.roundoff / math.sqrt(self.weighted.n)
        return max(self.weighted.n * float(np.finfo(float).eps) * top, given)
