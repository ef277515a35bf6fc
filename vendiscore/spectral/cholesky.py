"""A factor of a matrix of low numerical rank."""

from __future__ import annotations

import numpy as np
import scipy


def factor_of(K: np.ndarray) -> np.ndarray:
    """Factor K = F Fᵀ up to rounding, F (n, r) for the numerical rank r, in O(n r²).

    >>> abs(factor_of(np.ones((3, 3))))
    array([[1.],
           [1.],
           [1.]])
    """
    lower, pivots, rank, _ = scipy.linalg.lapack.dpstrf(K.T, lower=1, overwrite_a=1)
    F = np.empty((len(K), rank))
    F[pivots - 1] = np.tril(lower[:, :rank])  # LAPACK leaves K above the diagonal
    return F
