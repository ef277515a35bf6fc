"""All pairwise distances of rows, as new matrices that the caller may overwrite."""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial.distance import cdist

from . import memory
from .arrays import Array, is_numpy, is_torch, namespace
from .similarity import identical_rows


def squared_euclidean(X: Array) -> Array:
    """‖x − y‖² for all rows of X (n, d), in float64 with an exactly zero diagonal.

    Rows are centred first and distances taken from one matrix product, so the absolute error is
    about ε times the squared diameter. Time O(n² d), memory n².
    """
    _require(X)
    xp = namespace(X)
    X = xp.astype(X, xp.float64)
    X = X - xp.mean(X, axis=0)
    squares = xp.linalg.vecdot(X, X)
    D = X @ X.T
    D *= -2
    D += squares[:, None]
    D += squares[None, :]
    if not is_numpy(D):
        return D.clip(min=0.0).fill_diagonal_(0.0)
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    return D


def manhattan(X: Array) -> Array:
    """Σ_j |x_j − y_j| for all rows of X (n, d), in float64. Time O(n² d), memory n²."""
    _require(X)
    if is_torch(X):
        return sys.modules["torch"].cdist(X.double(), X.double(), p=1.0)
    return cdist(X, X, "cityblock")


def median_distance(D: Array, X: Array, power: int = 1) -> float:
    """The median distance between distinct rows of X, given their distances to a power.

    Repeating a sample does not change it, so that duplicates and weights agree; it is 1 if all
    rows are equal. Memory n² for a copy of D.
    """
    groups = identical_rows(X)
    if groups is not None:
        first = np.unique(groups, return_index=True)[1]
        if len(first) < len(groups):
            D = D[np.ix_(first, first)]
    n = D.shape[0]
    if n == 1:
        return 1.0
    D = D if is_numpy(D) else D.detach().cpu().numpy()
    # All but the diagonal, without an index: it starts every row of a matrix one wider.
    off_diagonal = D.reshape(-1)[1:].reshape(n - 1, n + 1)[:, :-1].ravel()
    middle = off_diagonal.size // 2
    two = np.partition(off_diagonal, (middle - 1, middle))[middle - 1 : middle + 1]
    return float(np.mean(two ** (1 / power)))


def _require(X: Array) -> None:
    n = X.shape[0]
    memory.require(8 * n * n, f"the distances of all pairs of {n} samples", "compare fewer samples")
