"""Store exp(−tD) in one triangle of an array, and a Cholesky factor in the other triangle."""

import math
from functools import cache

import numpy as np
import scipy

from ..support import memory
from ..support.namespace import row_blocks

# Similarities below e^−60 are set to e^−60 = 9e-27, which is negligible next to a diagonal of ones.
# Subnormal numbers in single precision would make products thirty times slower.
MIN_EXPONENT = -60.0


class TriangularArrays:
    """An array (n, n) in single or double precision for exp(−tD) and a Cholesky factor.

    exp(−tD) is above the diagonal. The factor may be of another scale, `factor_scale`.
    """

    def __init__(self, n: int, dtype: type) -> None:
        needed = np.dtype(dtype).itemsize * n**2
        memory.require(needed, f"the similarities of {n} distinct samples", "take fewer samples")
        self.n = n
        self.dtype = dtype
        self.array: np.ndarray = np.empty((n, n), dtype)
        # The transpose in Fortran order for BLAS: upper and lower triangle are exchanged.
        self.columns: np.ndarray = self.array.T
        self.factor_scale: float = 0.0  # the scale of the factor, 0 if there is none
        # 1 minus the diagonal of the array, which is the diagonal of the factor
        self.diagonal_correction: np.ndarray = np.zeros(n)
        np.fill_diagonal(self.array, 1)
        self._symv, self._trsv = scipy.linalg.get_blas_funcs(("symv", "trsv"), dtype=dtype)
        self._potrf = scipy.linalg.get_lapack_funcs("potrf", dtype=dtype)

    def multiply(self, v: np.ndarray) -> np.ndarray:
        """Compute exp(−tD) v."""
        product = self._symv(1.0, self.columns, v.astype(self.dtype), lower=1)
        return np.asarray(product, np.float64) + self.diagonal_correction * v

    def factorise(self, t: float) -> bool:
        """Compute the Cholesky factor of exp(−tD); False if it is not positive definite."""
        for block in row_blocks(self.n, 12 * self.n):
            self.array[block, : block.start] = self.array[: block.start, block].T
            square = self.array[block, block]
            square[...] = np.where(_upper_mask(len(square)), square, square.T)
        np.fill_diagonal(self.array, 1)
        info = self._potrf(self.columns, lower=0, clean=0, overwrite_a=1)[1]
        self.factor_scale = 0.0 if info else t
        if info:
            np.fill_diagonal(self.array, 1)
        self.diagonal_correction = 1.0 - self.array.diagonal().astype(np.float64)
        return not info

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Solve a linear system with the factorised matrix and right-hand side r."""
        return self._substitute(self._substitute(r, trans=1), trans=0)

    def whiten(self, v: np.ndarray) -> np.ndarray:
        """Compute L⁻¹ exp(−tD) L⁻ᵀ v with the factor L; v up to rounding if scales agree."""
        x = self._substitute(v, trans=0)
        return self._substitute(self.multiply(x), trans=1)

    def _substitute(self, v: np.ndarray, trans: int) -> np.ndarray:
        """Compute L⁻¹ v (`trans` 1) or L⁻ᵀ v (`trans` 0)."""
        x = self._trsv(self.columns, v.astype(self.dtype), lower=0, trans=trans)
        return np.asarray(x, np.float64)


def multiply_similarities(
    D: np.ndarray,
    t: float,
    w: np.ndarray,
    largest: float = math.inf,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute exp(−tD) w in double precision, for D ≤ `largest`.

    The entries above the diagonal are also written to `out`.
    """
    n = len(D)
    y = np.zeros(n)
    buffer = np.empty(0)
    tiny = not t * largest <= -MIN_EXPONENT
    for block in row_blocks(n, 12 * n):
        square = np.exp(np.maximum(D[block, block] * np.float64(-t), MIN_EXPONENT))
        y[block] += square @ w[block]
        rows = len(square)
        if out is not None:
            np.copyto(out[block, block], square, casting="same_kind", where=_upper_mask(rows))
        stop = block.stop
        if stop == n:
            break
        columns = n - stop
        if not buffer.size:  # the first block is the largest
            buffer = np.empty(rows * columns)
        z = buffer[: rows * columns].reshape(rows, columns)
        np.multiply(D[block, stop:], np.float64(-t), out=z)
        if tiny:
            np.maximum(z, MIN_EXPONENT, out=z)
        np.exp(z, out=z)
        if out is not None:
            out[block, stop:] = z
        # Use SciPy's BLAS, as elsewhere in the solver; NumPy's has separate threads.
        y[block] += scipy.linalg.blas.dgemv(1.0, z.T, w[stop:], trans=1)
        y[stop:] += scipy.linalg.blas.dgemv(1.0, z.T, w[block])
    return y


@cache
def _upper_mask(size: int) -> np.ndarray:
    return np.triu(np.ones((size, size), dtype=bool), 1)
