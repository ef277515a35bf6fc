"""Σ w x xᵀ over samples of unit length: of one batch or several, in the least memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.checks import DIAGONAL_TOLERANCE
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...support import memory
from ...support.namespace import asarray_like, gram, is_numpy, is_torch, namespace, to_host
from ...support.parallel import map_ordered, slices
from ...support.types import Rows

# The range of squared lengths without lost digits.
_LOW = 1e-280
_HIGH = 1e280
_BLOCK_BYTES = 1 << 20  # of rows that are multiplied at once


@dataclass(frozen=True, eq=False)
class Sum:
    """FᵀF for rows f = √w x, read-only: F (m, d) while it is fewer numbers, then the triangle."""

    d: int
    numbers: np.ndarray

    def __post_init__(self) -> None:
        self.numbers.flags.writeable = False

    @property
    def is_rows(self) -> bool:
        return self.numbers.ndim == 2

    def matrix(self) -> np.ndarray:
        """Return the smaller of F Fᵀ and FᵀF; both have the same nonzero eigenvalues."""
        if self.is_rows:
            return gram(self.numbers)
        C = np.empty((self.d, self.d))
        upper = _upper(self.d)
        C[upper] = C.T[upper] = self.numbers
        return C

    def axes(self, V: np.ndarray) -> np.ndarray:
        """Return the eigenvectors of FᵀF as columns (d, r), from vectors V of `matrix`."""
        if not self.is_rows:
            return V
        axes = self.numbers.T @ V
        return axes / np.linalg.norm(axes, axis=0)

    def triangle(self) -> np.ndarray:
        """Return the upper triangle of FᵀF, row by row."""
        return packed(gram(self.numbers.T)) if self.is_rows else self.numbers

    def last(self) -> float:
        """Return the sum of squares of the last feature."""
        return float((self.numbers[:, -1] ** 2).sum() if self.is_rows else self.numbers[-1])

    def plus(self, other: Sum) -> Sum:
        """Return the sum of this and another of the same d."""
        both = self.is_rows and other.is_rows
        if both and stays_rows(len(self.numbers) + len(other.numbers), self.d):
            return Sum(self.d, np.concatenate([self.numbers, other.numbers]))
        require(self.d)
        return Sum(self.d, self.triangle() + other.triangle())


def stays_rows(m: int, d: int) -> bool:
    """Return whether m rows are fewer numbers than a triangle."""
    return m * d < length(d)


def of_vectors(pieces: Sequence[Rows], weights: np.ndarray | None, unit: bool) -> Sum | None:
    """Sum rows, scaled to length 1, in one pass; None if their kernel must look closer.

    They are one array or tensor; or several arrays one after the other, without weights.
    """
    on_host = [
        to_host(X) if is_torch(X) and X.device.type == "cpu" and not X.requires_grad else X
        for X in pieces  # the same memory
    ]
    for X in on_host:
        if not (is_numpy(X) and X.ndim == 2 and X.shape[1] and X.dtype in (np.float32, float)):
            return None
    n = sum(map(len, on_host))
    widths = {X.shape[1] for X in on_host}
    if not n or len(widths) > 1:
        return None
    d = widths.pop()
    few = stays_rows(n, d)
    if not few:
        require(d)
    # Blocks of so many rows that adding d² numbers costs little.
    size = n if few else max(4 * d, _BLOCK_BYTES // (8 * d))

    def share(block: tuple[np.ndarray, np.ndarray | None]) -> np.ndarray | None:
        F = _scaled(*block, unit)
        return F if few or F is None else gram(F.T)

    blocks = [
        (X[rows], None if weights is None else weights[rows])
        for X in on_host
        for rows in slices(len(X), size)
    ]
    rows = []
    total: np.ndarray | float = 0.0
    for product in map_ordered(share, blocks, len(blocks) > 1):
        if product is None:
            return None
        if few:
            rows.append(product)
        else:
            total = total + product
    return Sum(d, np.concatenate(rows) if few else packed(np.asarray(total)))


def _scaled(X: np.ndarray, weights: np.ndarray | None, unit: bool) -> np.ndarray | None:
    """Return rows √w x / ‖x‖; None to look closer at a row."""
    F = X.astype(float, copy=False)
    with np.errstate(all="ignore"):
        squares = np.vecdot(F, F)
    if not (squares.min() >= _LOW and squares.max() <= _HIGH):  # also if it is NaN
        return None
    off = np.abs(squares - 1).max()
    if unit and not off <= DIAGONAL_TOLERANCE:
        return None
    if weights is None and off <= 8 * np.finfo(float).eps:
        return F
    scale = np.sqrt((1.0 if weights is None else weights) / squares)
    return np.multiply(F, scale[:, None], out=None if F is X else F)


def unit(similarity: Similarity, weights: np.ndarray | None = None) -> Similarity:
    """Return the similarity with a diagonal of w: exactly 1 without weights."""
    diagonal = similarity.diagonal()
    wanted = 1.0 if weights is None else asarray_like(weights, diagonal)
    factors = namespace(diagonal).sqrt(wanted / diagonal)
    return similarity.scaled(factors)


def of_similarity(similarity: Similarity, weights: np.ndarray | None) -> Sum:
    """Return the sum over a kernel's features of samples, divided by their lengths."""
    scaled = unit(similarity, weights)
    d = similarity.dim
    assert d is not None
    n = similarity.n
    if stays_rows(n, d):
        what = f"the {d} features of {n} samples"
        memory.require(8 * n * d, what, "add fewer samples at a time, or use fewer features")
        F = scaled.features()
        F = F.toarray() if sp.issparse(F) else to_host(F)
        return Sum(d, np.array(F, dtype=float))
    require(d)
    covariance = np.asarray(to_host(scaled.covariance()), dtype=float)
    return Sum(d, packed(covariance))


def length(d: int) -> int:
    """Return how many numbers the upper triangle of a (d, d) matrix has."""
    return d * (d + 1) // 2


def packed(C: np.ndarray) -> np.ndarray:
    """Return the upper triangle of a symmetric (d, d) matrix, row by row."""
    return C[_upper(len(C))]


def _upper(d: int) -> np.ndarray:
    """Return which entries of a (d, d) matrix are in its upper triangle."""
    return np.tri(d, dtype=bool).T


def require(d: int) -> None:
    """Raise a `TooLargeError` if two triangles of d features and two matrices would not fit."""
    what = f"a state of {d} features"
    memory.require(8 * (3 * d * d + d), what, "compare samples by fewer features")
