"""Distances √(k(x, x) + k(y, y) − 2 k(x, y)) of a kernel k, and their rounding errors."""

import numpy as np

from ..support.namespace import row_blocks
from ..support.types import Rows
from .features import row_dot_products
from .sample_arrays import machine_epsilon

# Rounding error of 2 − 2k(x, x), in machine epsilons of K (1e-14 for float64).
KERNEL_ROUNDING = 45
# Maximum excess of k(x, y) over 1 due to rounding in single precision.
KERNEL_TOLERANCE = 1e-5


def squared_kernel_distances(
    K: np.ndarray, row_diagonal: np.ndarray, column_diagonal: np.ndarray
) -> np.ndarray:
    """Compute k(x, x) + k(y, y) − 2 k(x, y) for samples x in the rows and y in the columns of K.

    K contains k(x, y), `row_diagonal` contains k(x, x) of the samples in its rows, and
    `column_diagonal` contains k(y, y) of the samples in its columns.
    """
    D = np.multiply(K, -2.0, dtype=np.float64)
    D += row_diagonal[:, None]
    D += column_diagonal
    return D


def squared_sparse_distances(F: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Compute ‖x − y‖² for m pairs of rows x and y of sparse features F (n, d), shape (m,).

    The first pair is F[i[0]] and F[j[0]], and so on.
    """
    squares = np.empty(len(i))
    for block in row_blocks(len(i), 2048):
        differences = F[i[block]] - F[j[block]]
        squares[block] = row_dot_products(differences, differences)
    return squares


def check_squared_distance(square: float, pair_name: str) -> None:
    """Raise a ValueError if the squared kernel distance 2 − 2 k(x, y) of two samples is negative.

    This means that their similarity k(x, y) exceeds 1 by more than rounding. `pair_name` describes
    the two samples in the message.
    """
    if not square >= -2 * KERNEL_TOLERANCE:
        raise ValueError(
            f"kernel distances require similarities of at most 1, got {1 - square / 2:.6g} for "
            f"{pair_name}; pass normalize=True or a positive semidefinite kernel with k(x, x) = 1"
        )


def kernel_rounding(similarity: object) -> float:
    """Return the maximum rounding error of the squared kernel distance between identical samples.

    It depends on the dtype of the stored matrix, if any, and on the attribute `roundoff`, the
    precision of the input, because a float64 matrix may have been computed from entries in single
    precision.
    """
    epsilon = machine_epsilon(getattr(similarity, "K", None))
    return KERNEL_ROUNDING * max(epsilon, getattr(similarity, "roundoff", 0.0))
