"""Coverage, 1 − mean novelty, of the first samples of an order, and beyond all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ..arrays.namespace import to_host
from ..similarity.base import Similarity
from ..spectral.rank_one import RIDGE
from .extrapolation import geometric

# Novelty above this share of a sample exceeds the ridge of the computation.
LEAST_NOVELTY = 1e-6


def coverage_curve(similarity: Similarity, order: np.ndarray, draws: int = 8) -> np.ndarray:
    """Estimate the coverage (1 − mean novelty) of the first m samples of an order, m = 1 to n."""
    K = to_host(similarity.take(order).dense())
    K.flat[:: len(K) + 1] += RIDGE
    try:
        scipy.linalg.cholesky(K, lower=True, check_finite=False)
    except LinAlgError:  # negative eigenvalues, of rounding or by choice, are left out
        values, U = np.linalg.eigh(K)
        K = (U * np.maximum(values, 2 * RIDGE)) @ U.T
    # The m-th pivot in random order is an unbiased draw of the novelty in sets of m.
    n = len(K)
    pivots = np.zeros(n)
    for shift in range(draws):
        at = np.roll(np.arange(n), shift * n // draws)
        factor = scipy.linalg.cholesky(
            K[np.ix_(at, at)], lower=True, overwrite_a=True, check_finite=False
        )
        pivots += factor.diagonal() ** 2 / draws
    inverse = scipy.linalg.solve_triangular(factor, np.eye(n), lower=True, check_finite=False)
    least = (1 / np.einsum("ij,ij->j", inverse, inverse)).mean()
    falling = scipy.optimize.isotonic_regression(np.clip(pivots, 0, 1), increasing=False).x
    falling[-1] = 0.0
    return np.asarray(1 - np.clip(falling, least, 1))


def coverage_beyond(
    similarity: Similarity, order: np.ndarray, sizes: Sequence[int]
) -> dict[int, float]:
    """Continue log (1 − coverage) of a quarter, half and all of the samples by doublings."""
    novelties = [
        1 - np.mean([coverage_curve(similarity, at, 1)[-1] for at in np.array_split(order, parts)])
        for parts in (4, 2, 1)
    ]
    before, step = np.minimum(-1e-9, np.diff(np.log(np.maximum(novelties, LEAST_NOVELTY))))
    r = np.clip(step / before, 1, 2)
    ahead = {m: math.log2(m / len(order)) for m in sizes if m > len(order)}
    return {
        m: float(1 - novelties[-1] * np.exp(step * r * geometric(r, x))) for m, x in ahead.items()
    }
