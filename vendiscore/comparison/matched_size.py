"""What sets are drawn down to before they are compared: a size, or a coverage, all have.

A set is drawn down to m of its n samples by windows: its samples in random order, and as many runs
of m of them, evenly spaced, as it takes to meet every sample, four at most. The mean of log VS over
the windows uses all samples, each about as often, and costs no more than the windows do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ..arrays.namespace import to_host
from ..similarity.base import Similarity
from ..spectral.rank_one import RIDGE

MOST_WINDOWS = 4
# More novelty than this share of a sample is more than the ridge that it is measured beside.
LEAST_NOVELTY = 1e-6


class Matched(NamedTuple):
    """log VS of m of n samples, and its standard error."""

    log: float
    error: float


def windows(n: int, m: int) -> list[slice]:
    """Return runs of m of n places that meet all of them, or as many as four windows can.

    >>> windows(5, 3)
    [slice(0, 3, None), slice(2, 5, None)]
    """
    count = min(MOST_WINDOWS, math.ceil(n / m))
    used = min(n, MOST_WINDOWS * m)
    starts = np.linspace(0, used - m, count).round().astype(int)
    return [slice(int(start), int(start) + m) for start in starts]


def matched(score: Callable[[np.ndarray], Matched], order: np.ndarray, m: int) -> Matched:
    """Average the score over windows of m of the samples at `order`, which is random.

    The error of log VS_m, of m samples, is that of a mean of m terms; over windows in which sample
    i has the weight c_i it is m Σ c_i² times its square: m/n where all are alike (the first term
    of Hoeffding's expansion; exact for a mean).
    """
    weights = np.zeros(len(order))
    runs = windows(len(order), m)
    logs, squares = 0.0, 0.0
    for run in runs:
        found = score(order[run])
        logs += found.log / len(runs)
        squares += found.error**2 / len(runs)
        weights[run] += 1 / (m * len(runs))
    return Matched(logs, math.sqrt(squares * m * float(weights @ weights)))


def coverage_curve(similarity: Similarity, order: np.ndarray, draws: int = 8) -> np.ndarray:
    """Estimate the coverage of m of the samples at `order`, for m = 1, 2, …, n: (n,), rising.

    The coverage of a set is 1 − its mean novelty: how much of one more sample of its source the
    set has already (Good–Turing on labels). The pivots of a Cholesky decomposition are what each
    sample has that none before it has: in random order the m-th is an unbiased draw of the novelty
    in sets of m, and their mean over cyclic shifts is made to fall (isotonic regression). At n it
    is that of all samples. Time O((draws + 3) n³/3).
    """
    K = to_host(similarity.take(order).dense())
    K.flat[:: len(K) + 1] += RIDGE
    try:
        scipy.linalg.cholesky(K, lower=True, check_finite=False)
    except LinAlgError:  # negative eigenvalues, of rounding or by choice, are left out
        values, U = np.linalg.eigh(K)
        K = (U * np.maximum(values, 2 * RIDGE)) @ U.T
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


def size_for(curve: np.ndarray, coverage: float) -> int:
    """Return the smallest number of samples whose coverage is at least that; all, where none is.

    >>> size_for(np.array([0, 0.3, 0.6, 0.8]), 0.5)
    3
    """
    return min(len(curve), int(np.searchsorted(curve, coverage - 1e-12)) + 1)
