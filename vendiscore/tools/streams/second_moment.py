"""The second moment Σ w x xᵀ over unit-norm features x with weights w, for a `State`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.checks import DIAGONAL_TOLERANCE
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...support import memory
from ...support.namespace import asarray_like, gram, is_numpy, is_torch, namespace, to_host
from ...support.parallel import limit_blas_threads, map_ordered, slices
from ...support.types import Rows

# The range of squared norms that do not lose digits.
MIN_SQUARED_NORM = 1e-280
MAX_SQUARED_NORM = 1e280
# Size of the blocks of rows that are multiplied, if this leaves one block for each thread. For 384
# columns, blocks of 16 MB take 15 % less time than blocks of 4 MB.
BLOCK_BYTES = 1 << 24
# Size of the blocks that are scaled, which stay in the cache of one core.
SCALED_BYTES = 1 << 18


@dataclass(frozen=True, eq=False)
class SecondMoment:
    """The matrix FᵀF for m rows f = √w x of length d; read-only.

    `values` holds F, shape (m, d), or the upper triangle of FᵀF, shape (d (d + 1) / 2,), whichever
    needs less memory.
    """

    d: int
    values: np.ndarray

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def is_rows(self) -> bool:
        return self.values.ndim == 2

    def matrix(self) -> np.ndarray:
        """Compute F Fᵀ if F is stored, else FᵀF; both have the same nonzero eigenvalues."""
        if self.is_rows:
            return gram(self.values)
        C = np.empty((self.d, self.d))
        upper = _upper_triangle_mask(self.d)
        C[upper] = C.T[upper] = self.values
        return C

    def principal_axes(self, V: np.ndarray) -> np.ndarray:
        """Compute eigenvectors of FᵀF, where the rows of F are d features of samples.

        V contains r eigenvectors of `matrix` as columns. The result has shape (d, r).
        """
        if not self.is_rows:
            return V
        axes = self.values.T @ V
        return axes / np.linalg.norm(axes, axis=0)

    def packed_triangle(self) -> np.ndarray:
        """Return the upper triangle of FᵀF, row by row."""
        return pack_triangle(gram(self.values.T)) if self.is_rows else self.values

    def last_diagonal_entry(self) -> float:
        """Return the last diagonal entry of FᵀF, the sum of squares of the last feature."""
        return float((self.values[:, -1] ** 2).sum() if self.is_rows else self.values[-1])

    def combined_with(self, other: SecondMoment) -> SecondMoment:
        """Return the sum of both second moments, which must have the same d."""
        both_are_rows = self.is_rows and other.is_rows
        if both_are_rows and is_smaller_as_rows(len(self.values) + len(other.values), self.d):
            return SecondMoment(self.d, np.concatenate([self.values, other.values]))
        require_memory(self.d)
        return SecondMoment(self.d, self.packed_triangle() + other.packed_triangle())


def is_smaller_as_rows(m: int, d: int) -> bool:
    """Return whether m rows of length d need less memory than the triangle of a (d, d) matrix."""
    return m * d < triangle_length(d)


def second_moment_from_rows(
    chunks: Sequence[Rows], weights: np.ndarray | None, requires_unit_norm: bool
) -> SecondMoment | None:
    """Compute the second moment of rows, scaled to length 1, in one pass.

    `chunks` is one array or tensor, or several consecutive arrays without weights. The result is
    None if this fast path does not support the rows, for example other dtypes, zero rows, or rows
    without unit norm if `requires_unit_norm`.
    """
    arrays = [
        to_host(X) if is_torch(X) and X.device.type == "cpu" and not X.requires_grad else X
        for X in chunks  # without copies
    ]
    for X in arrays:
        if not (is_numpy(X) and X.ndim == 2 and X.shape[1] and X.dtype in (np.float32, float)):
            return None
    n = sum(map(len, arrays))
    widths = {X.shape[1] for X in arrays}
    if not n or len(widths) > 1:
        return None
    d = widths.pop()
    keep_rows = is_smaller_as_rows(n, d)
    if not keep_rows:
        require_memory(d)

    def compute_block(block: tuple[np.ndarray, np.ndarray | None]) -> np.ndarray | None:
        F = _normalize_rows(*block, requires_unit_norm)
        return F if keep_rows or F is None else gram(F.T)

    with limit_blas_threads(1) as threads:
        size = n
        if not keep_rows:
            # In blocks of 4 d rows, the time to add d² numbers per block is negligible.
            size = max(4 * d, min(BLOCK_BYTES // (8 * d), -(-n // threads)))
        blocks = [
            (X[rows], None if weights is None else weights[rows])
            for X in arrays
            for rows in slices(len(X), size)
        ]
    rows = []
    total: np.ndarray | float = 0.0
    for block_result in map_ordered(compute_block, blocks, len(blocks) > 1):
        if block_result is None:
            return None
        if keep_rows:
            rows.append(block_result)
        else:
            total = total + block_result
    return SecondMoment(d, np.concatenate(rows) if keep_rows else pack_triangle(np.asarray(total)))


def _normalize_rows(
    X: np.ndarray, weights: np.ndarray | None, requires_unit_norm: bool
) -> np.ndarray | None:
    """Return the rows √w x / ‖x‖, or None if a row is zero, not finite or not of unit norm."""
    F = np.empty(X.shape)
    squares = np.empty(len(X))
    with np.errstate(all="ignore"):  # checked below
        for rows in slices(len(X), max(1, SCALED_BYTES // (8 * X.shape[1]))):
            block = F[rows]
            block[...] = X[rows]
            squares[rows] = np.vecdot(block, block)
            scale = 1 / np.sqrt(squares[rows])
            if weights is not None:
                scale *= np.sqrt(weights[rows])
            block *= scale[:, None]
    # Also False for NaN.
    is_in_range = squares.min() >= MIN_SQUARED_NORM and squares.max() <= MAX_SQUARED_NORM
    if not is_in_range:
        return None
    if requires_unit_norm and not np.abs(squares - 1).max() <= DIAGONAL_TOLERANCE:
        return None
    return F


def scale_to_diagonal(similarity: Similarity, weights: np.ndarray | None = None) -> Similarity:
    """Scale a similarity so that its diagonal is 1, or equal to the weights."""
    diagonal = similarity.diagonal()
    target_diagonal = 1.0 if weights is None else asarray_like(weights, diagonal)
    factors = namespace(diagonal).sqrt(target_diagonal / diagonal)
    return similarity.scaled(factors)


def second_moment_from_similarity(
    similarity: Similarity, weights: np.ndarray | None
) -> SecondMoment:
    """Compute the second moment of the features of a similarity, scaled to unit norm."""
    scaled = scale_to_diagonal(similarity, weights)
    d = similarity.dim
    assert d is not None
    n = similarity.n
    if is_smaller_as_rows(n, d):
        description = f"the {d} features of {n} samples"
        memory.require(8 * n * d, description, "add fewer samples at a time, or use fewer features")
        F = scaled.features()
        F = F.toarray() if sp.issparse(F) else to_host(F)
        return SecondMoment(d, np.array(F, dtype=float))
    require_memory(d)
    covariance = np.asarray(to_host(scaled.covariance()), dtype=float)
    return SecondMoment(d, pack_triangle(covariance))


def triangle_length(d: int) -> int:
    """Return the number of entries of the upper triangle of a matrix with d rows and d columns."""
    return d * (d + 1) // 2


def pack_triangle(C: np.ndarray) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix C as a vector, row by row."""
    return C[_upper_triangle_mask(len(C))]


def _upper_triangle_mask(d: int) -> np.ndarray:
    """Return the boolean mask of the upper triangle of a matrix with d rows and d columns."""
    return np.tri(d, dtype=bool).T


def require_memory(d: int) -> None:
    """Raise a TooLargeError if merging second moments of d features would not fit in memory."""
    description = f"a state of {d} features"
    memory.require(8 * (3 * d * d + d), description, "use fewer features")
