"""Distances √(k(x, x) + k(y, y) − 2 k(x, y)) of a kernel, and their rounding errors."""

import numpy as np

from ..support.namespace import row_blocks
from ..support.types import Rows
from .features import row_dot_products
from .sample_arrays import machine_epsilon

# 2 − 2k of identical samples is zero up to this many ε of a matrix K's precision: 1e-14.
KERNEL_ROUNDING = 45
# k(x, y) ≤ 1 up to rounding in single precision.
KERNEL_TOLERANCE = 1e-5


def squared_kernel_distances(K: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return squared distances, as a new array, from similarities K and both diagonals."""
    D = np.multiply(K, -2.0, dtype=np.float64)
    D += left[:, None]
    D += right
    return D


def squared_sparse_distances(F: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the squared distances of rows i and j of sparse features, by their differences."""
    squares = np.empty(len(i))
    for part in row_blocks(len(i), 2048):
        gap = F[i[part]] - F[j[part]]
        squares[part] = row_dot_products(gap, gap)
    return squares


def check_squared_distance(square: float, pair_name: str) -> None:
    """Raise a ValueError for a negative squared distance: similarities must be at most 1."""
    if not square >= -2 * KERNEL_TOLERANCE:
        raise ValueError(
            f"distances need a similarity of at most 1, got {1 - square / 2:.6g} for {pair_name}; "
            f"pass normalize=True or a positive semidefinite kernel with k(x, x) = 1"
        )


def kernel_rounding(similarity: object) -> float:
    """Return the largest value that rounding may give to a squared distance of 0.

    The entries of a float64 matrix may have been rounded in single precision, which `roundoff`
    states: a matrix that is symmetric but for rounding is averaged in float64.
    """
    stored = machine_epsilon(getattr(similarity, "K", None))
    return KERNEL_ROUNDING * max(stored, getattr(similarity, "roundoff", 0.0))
