"""Squares of Euclidean distances, to the last digits where the product of matrices loses them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from ..arrays import memory
from ..arrays.namespace import Array, gram, is_numpy, namespace, row_blocks

# Up to this many columns, differences are as fast as a matrix product, and exact.
DIRECT_COLUMNS = 16
# Squared distances below this share of the squared norms are recomputed from differences: the
# product loses as many of their digits, and the closest pairs decide the weights at large scales.
CLOSE = 1e-4
# Rows of this size are not rescaled before they are squared.
TAME = 1e50
# Below this share of the largest, squares of distances lose digits or vanish.
VANISHING = 1e-140
# Rows whose median is the centre of all, for the product of matrices.
CENTRE_ROWS = 1000


def product_squares(X: Array) -> tuple[Array, Array]:
    """‖x − y‖² of all rows of a float64 X, with an exactly zero diagonal, and ‖x‖².

    From one matrix product, so the absolute error is about ε (‖x‖² + ‖y‖²): centre the rows first.
    Time O(n² d), memory n².
    """
    squares = namespace(X).linalg.vecdot(X, X)
    if not is_numpy(X):
        D = squares[:, None] + squares[None, :] - 2 * gram(X)
        return D.clip(min=0.0).fill_diagonal_(0.0), squares.detach()
    D = gram(X)
    for block in row_blocks(len(X), 8 * len(X)):
        rows = D[block]
        rows *= -2
        rows += squares[block, None]
        rows += squares
        np.maximum(rows, 0.0, out=rows)
    np.fill_diagonal(D, 0.0)
    return D, squares


def euclidean(X: np.ndarray) -> np.ndarray:
    """‖x − y‖ for all rows of X (n, d), of any size that double precision holds."""
    shift = exponent_of(X)
    D = exact_squares(np.ldexp(X.astype(np.float64, copy=False), -shift) if shift else X)
    np.sqrt(D, out=D)
    if shift:
        np.ldexp(D, shift, out=D)
    mend_lost(D, X, math.ldexp(VANISHING, shift), lambda gap: np.linalg.norm(gap, axis=1))
    return D


def mend_lost(
    D: np.ndarray, X: np.ndarray, bound: float, length: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Lengths of x − y below a bound, each in a unit of its own, in place."""
    for block in row_blocks(len(D), 8 * len(D)):
        near, other = np.divmod(np.flatnonzero(D[block] < bound), len(D))
        near += block.start
        near, other = near[near != other], other[near != other]
        for part in row_blocks(len(near), 8 * X.shape[1]):
            gap = np.subtract(X[near[part]], X[other[part]], dtype=np.float64)
            largest = np.maximum(np.abs(gap).max(axis=1), np.finfo(np.float64).tiny)
            D[near[part], other[part]] = largest * length(gap / largest[:, None])


def exact_squares(X: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances with small relative error also where rows are close."""
    require_room(X)
    if X.shape[1] <= DIRECT_COLUMNS:
        return np.asarray(scipy.spatial.distance.cdist(X, X, "sqeuclidean"))
    D, squares = product_squares(X - centre_of(X))
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        close = rows < CLOSE * (squares[block, None] + squares[None, :])
        near, other = np.divmod(np.flatnonzero(close), len(D))  # ten times as fast as nonzero
        for part in row_blocks(len(near), 8 * X.shape[1]):
            gap = np.subtract(X[near[part] + block.start], X[other[part]], dtype=np.float64)
            rows[near[part], other[part]] = np.einsum("ij,ij->i", gap, gap)
    return np.asarray(D)


def centre_of(X: np.ndarray) -> np.ndarray:
    """The median (d,) of some rows: unlike the mean, among most of them if a few are far away."""
    some = X[:: -(-len(X) // CENTRE_ROWS)].astype(np.float64)
    return np.asarray(np.median(some, axis=0))


def drop_rounding(D: np.ndarray, rounding: float) -> None:
    """Set what is below `rounding` to 0, in place and without a mask of the size of D."""
    for block in row_blocks(len(D), 8 * len(D)):
        rows = D[block]
        rows[rows < rounding] = 0.0


def exponent_of(X: np.ndarray) -> int:
    """The power of two that rows are divided by before they are squared: 0 for most."""
    largest = float(np.abs(X).max(initial=0.0))
    return 0 if not largest or 1 / TAME < largest < TAME else math.frexp(largest)[1]


def require_room(X: Array) -> None:
    n, d = X.shape
    needed = 8 * n * n if d <= DIRECT_COLUMNS else 8 * n * (n + d)
    memory.require(needed, f"the distances of all pairs of {n} samples", "compare fewer samples")
