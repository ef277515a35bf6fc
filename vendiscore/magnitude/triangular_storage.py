"""Store exp(−tD) in one triangle of an array, and a Cholesky factor in the other triangle.

D is a symmetric matrix of distances between points, and t is a scale.
"""

import math
from functools import cache

import numpy as np
import scipy

from ..support import memory
from ..support.namespace import row_blocks

# Similarities below e^−60 = 9e-27 are set to e^−60, which is negligible compared with the diagonal
# of ones. Subnormal numbers in single precision would make products thirty times slower.
MIN_EXPONENT = -60.0


class TriangularArrays:
    """An array (n, n) that stores exp(−tD) above the diagonal, and a Cholesky factor below it.

    D are distances between n points, and t is a scale. The factor may be that of exp(−tD) at
    another scale, `factor_scale`, because it is also useful as a preconditioner at nearby scales.
    The array is in single or double precision (`dtype`). Its part above the diagonal is written by
    `multiply_similarities`.
    """

    def __init__(self, n: int, dtype: type) -> None:
        needed_bytes = np.dtype(dtype).itemsize * n**2
        memory.require(
            needed_bytes, f"the similarities of {n} distinct samples", "use fewer samples"
        )
        self.n = n
        self.dtype = dtype
        self.array: np.ndarray = np.empty((n, n), dtype)
        # The transpose, which has the column-major (Fortran) order that BLAS and LAPACK expect. Its
        # lower triangle is the upper one of the array, and conversely.
        self.transpose: np.ndarray = self.array.T
        self.factor_scale: float = 0.0  # the scale of the factor, 0 if there is none
        # The diagonal of the array is that of the factor. This is 1 minus the diagonal.
        self.diagonal_correction: np.ndarray = np.zeros(n)
        np.fill_diagonal(self.array, 1)
        # Products with a symmetric matrix, solution of triangular systems, and Cholesky
        # factorisation.
        self._symv, self._trsv = scipy.linalg.get_blas_funcs(("symv", "trsv"), dtype=dtype)
        self._potrf = scipy.linalg.get_lapack_funcs("potrf", dtype=dtype)

    def multiply(self, v: np.ndarray) -> np.ndarray:
        """Compute the product of the stored matrix exp(−tD) with a vector v (n,)."""
        # symv reads the lower triangle of the transpose, which contains exp(−tD). The diagonal of
        # the array is that of the factor instead of 1, which is corrected afterwards.
        product = self._symv(1.0, self.transpose, v.astype(self.dtype), lower=1)
        return np.asarray(product, np.float64) + self.diagonal_correction * v

    def factorise(self, t: float) -> bool:
        """Compute and store the Cholesky factor of the stored matrix exp(−tD).

        t is the scale of the matrix. Returns False if the matrix is not positive definite.
        """
        # Copy the entries above the diagonal to those below it, where LAPACK overwrites them by the
        # factor: first those to the left of each square block on the diagonal, then its own.
        for block in row_blocks(self.n, 12 * self.n):
            self.array[block, : block.start] = self.array[: block.start, block].T
            square = self.array[block, block]
            square[...] = np.where(_upper_mask(len(square)), square, square.T)
        np.fill_diagonal(self.array, 1)
        info = self._potrf(self.transpose, lower=0, clean=0, overwrite_a=1)[1]
        self.factor_scale = 0.0 if info else t  # `info` is 0 on success
        if info:  # restore the diagonal of exp(−tD)
            np.fill_diagonal(self.array, 1)
        self.diagonal_correction = 1.0 - self.array.diagonal().astype(np.float64)
        return not info

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Solve L Lᵀ x = r with the stored Cholesky factor L; return x."""
        return self._substitute(self._substitute(r, transposed=False), transposed=True)

    def whiten(self, v: np.ndarray) -> np.ndarray:
        """Compute L⁻¹ Z L⁻ᵀ v with the stored matrix Z = exp(−tD) and Cholesky factor L.

        D are the distances and t the scale; exp is applied to each entry. The result is v up to
        rounding errors if L is the factor of Z, because then Z = L Lᵀ.
        """
        x = self._substitute(v, transposed=True)  # L⁻ᵀ v
        return self._substitute(self.multiply(x), transposed=False)

    def _substitute(self, v: np.ndarray, *, transposed: bool) -> np.ndarray:
        """Compute L⁻ᵀ v if `transposed`, else L⁻¹ v, with the stored Cholesky factor L."""
        # BLAS receives the transpose of the array, and uses only its upper triangle, Lᵀ: it solves
        # a system with Lᵀ for trans=0, and one with the transpose of Lᵀ, which is L, for trans=1.
        trans = 0 if transposed else 1
        x = self._trsv(self.transpose, v.astype(self.dtype), lower=0, trans=trans)
        return np.asarray(x, np.float64)


def multiply_similarities(
    D: np.ndarray,
    t: float,
    w: np.ndarray,
    max_distance: float = math.inf,
    above_diagonal: np.ndarray | None = None,
) -> np.ndarray:
    """Compute exp(−tD) w in double precision, for distances D (n, n), a scale t and a vector w.

    D is symmetric, so each entry of exp(−tD) above the diagonal is computed only once. If an array
    `above_diagonal` (n, n) is passed, these entries are also written to it. `max_distance` is an
    upper bound of the distances.
    """
    n = len(D)
    product = np.zeros(n)
    buffer = np.empty(0)
    # Whether entries may be below e^MIN_EXPONENT; true for an unknown (infinite) maximum. They are
    # replaced by e^MIN_EXPONENT, because subnormal numbers would make products slow.
    has_tiny_entries = not t * max_distance <= -MIN_EXPONENT
    for block in row_blocks(n, 12 * n):
        # The square block on the diagonal.
        square = np.exp(np.maximum(D[block, block] * np.float64(-t), MIN_EXPONENT))
        product[block] += square @ w[block]
        rows = len(square)
        if above_diagonal is not None:
            np.copyto(
                above_diagonal[block, block],
                square,
                casting="same_kind",
                where=_upper_mask(rows),
            )
        # The entries of the same rows to the right of the square, and their transpose.
        stop = block.stop
        if stop == n:
            break
        columns = n - stop
        if not buffer.size:  # the first block is the largest
            buffer = np.empty(rows * columns)
        entries = buffer[: rows * columns].reshape(rows, columns)
        np.multiply(D[block, stop:], np.float64(-t), out=entries)
        if has_tiny_entries:
            np.maximum(entries, MIN_EXPONENT, out=entries)
        np.exp(entries, out=entries)
        if above_diagonal is not None:
            above_diagonal[block, stop:] = entries
        # Use the BLAS of SciPy, as elsewhere in the solver; that of NumPy has separate threads.
        product[block] += scipy.linalg.blas.dgemv(1.0, entries.T, w[stop:], trans=1)
        product[stop:] += scipy.linalg.blas.dgemv(1.0, entries.T, w[block])
    return product


@cache
def _upper_mask(size: int) -> np.ndarray:
    """Return a boolean mask (size, size) of the entries above the diagonal."""
    return np.triu(np.ones((size, size), dtype=bool), 1)
