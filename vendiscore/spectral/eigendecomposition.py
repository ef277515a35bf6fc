"""Compute the eigenvalues, and eigenvectors if needed, of a dense symmetric matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from ..core.eigenvalues import suggest_clipping
from ..support.namespace import Array, is_numpy, is_torch, namespace
from ..support.parallel import limit_blas_threads
from ..support.progress import announce_duration
from ..support.types import Tensor

# From this size on, all eigenvalues are computed by a two-stage reduction.
TWO_STAGE_SIZE = 1536
# Up to this size, NumPy's eigensolver is used, because SciPy's has to wait for the threads of
# preceding NumPy products (76 of 227 ms for 1,500 samples). For larger matrices, the two-stage
# reduction is used, or SciPy's eigensolver if the reduction is not available. The reduction takes
# as long as NumPy's eigensolver at size 1,500, and two thirds of its time at 2,500 to 5,000.
NUMPY_SIZE = TWO_STAGE_SIZE - 1
# In this range of sizes, eigenvalues without vectors are computed in one thread, which takes almost
# the same time as two (14 and 12 ms for 600 rows; 73 and 42 ms for 1,000). Two threads synchronize
# at every row, which takes longer on a busy machine (100 and 190 ms for 1,000 rows, at most 4 s).
ONE_THREAD_SIZES = 192, 640
# Time of a decomposition of an n × n matrix, divided by n³, in units of one operation of a matrix
# product. A decomposition performs at most half as many operations per second as a product.
EIGENVALUES_WORK = 4.0
EIGENVECTORS_WORK = 10.0


class Eigendecomposition(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns (None if not computed)."""

    values: Array
    vectors: Array | None = None


def decompose(
    A: Array, vectors: bool = False, describe_cause: Callable[[], str] = suggest_clipping
) -> Eigendecomposition:
    """Compute all eigenvalues of a symmetric matrix A, and its eigenvectors if `vectors`.

    A may also be a stack of matrices (..., m, m). A single NumPy matrix may be overwritten. If the
    eigensolver fails, or if entries are NaN or infinite, a ValueError is raised, whose message ends
    with the text that `describe_cause()` returns.
    """
    if is_torch(A) and A.requires_grad:  # a gradient of NaN raises an error in `backward()`
        A.register_hook(partial(_check_gradient, vectors=vectors))
    try:
        if not is_numpy(A):
            linalg = namespace(A).linalg  # checks itself whether entries are finite
        elif not math.isfinite(A.sum()):  # the sum is NaN or infinite if an entry is
            raise np.linalg.LinAlgError("its entries contain NaN or infinite values")
        elif A.ndim == 2 and len(A) > NUMPY_SIZE:
            return _decompose_large_matrix(A, vectors)  # by SciPy or the two-stage reduction
        elif A.ndim == 2 and not vectors and _is_fast_in_one_thread(A):
            return Eigendecomposition(compute_eigenvalues_in_one_thread(A))
        else:  # small matrices, and stacks, which SciPy does not support
            linalg = np.linalg
        if vectors:
            return Eigendecomposition(*linalg.eigh(A))
        return Eigendecomposition(linalg.eigvalsh(A))
    except (np.linalg.LinAlgError, RuntimeError) as error:  # torch raises a RuntimeError
        if type(error).__name__ == "OutOfMemoryError":  # from a GPU, with its own message
            raise
        raise ValueError(
            f"cannot compute the eigenvalues of the similarity matrix ({error}); {describe_cause()}"
        ) from error


def _is_fast_in_one_thread(A: np.ndarray) -> bool:
    """Return whether `compute_eigenvalues_in_one_thread` is fast for a matrix A.

    For float32, it takes half the time of NumPy's eigensolver.
    """
    smallest, largest = ONE_THREAD_SIZES
    return smallest <= len(A) and (len(A) <= largest or A.dtype == np.float32)


def _decompose_large_matrix(A: np.ndarray, vectors: bool) -> Eigendecomposition:
    """Compute the eigenvalues of a symmetric NumPy matrix of more than NUMPY_SIZE rows.

    If `vectors`, the eigenvectors are computed too. The matrix is overwritten.
    """
    from .two_stage_eigensolver import MAX_THREADS

    result_name = "eigenvectors" if vectors else "eigenvalues"
    work = estimate_eigensolver_work(len(A), vectors)
    announce_duration(f"Computing the {len(A):,} {result_name} of a matrix", work, A.nbytes)
    # Transpose a C-ordered symmetric matrix to Fortran order, to avoid a copy.
    if not A.flags.f_contiguous:
        A = A.T
    options = {"overwrite_a": True, "check_finite": False}
    with limit_blas_threads(MAX_THREADS):
        if vectors:  # "evd": divide and conquer
            return Eigendecomposition(*scipy.linalg.eigh(A, driver="evd", **options))
        compute_eigenvalues = _find_two_stage_eigensolver(A)
        if compute_eigenvalues is None:
            return Eigendecomposition(scipy.linalg.eigvalsh(A, **options))
        return Eigendecomposition(compute_eigenvalues(A))


def can_use_two_stages(A: Array) -> bool:
    """Return whether `decompose` reduces the matrix A to tridiagonal form in two stages.

    The two stages (first to a band matrix) are faster than one, but compute no eigenvectors. They
    require a single float32 or float64 matrix of more than NUMPY_SIZE rows that is contiguous in
    memory, and a LAPACK library with the required routines.
    """
    return is_numpy(A) and _find_two_stage_eigensolver(A) is not None


def _find_two_stage_eigensolver(A: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the two-stage eigensolver for a matrix A, None if it cannot be used."""
    if A.ndim != 2 or len(A) <= NUMPY_SIZE or not A.flags.forc:
        return None
    from .two_stage_eigensolver import load_eigensolver, load_single_eigensolver

    if A.dtype == np.float32:
        return load_single_eigensolver()
    return load_eigensolver() if A.dtype == np.float64 else None


def describe_eigensolver(A: Array, vectors: bool) -> str:
    """Return "reduced in two stages" if `decompose` uses the two-stage reduction for A, else "".

    The text is added to the reason that is reported with a score. `vectors` is whether eigenvectors
    are computed, which excludes the two-stage reduction.
    """
    return "reduced in two stages" if not vectors and can_use_two_stages(A) else ""


def compute_eigenvalues_in_one_thread(A: np.ndarray) -> np.ndarray:
    """Compute all eigenvalues of a symmetric matrix with finite entries, which is overwritten.

    One thread is used, because several threads would wait for each other at every row: this is slow
    if other processes use the CPUs.
    """
    with limit_blas_threads(1):
        # A.T = A has Fortran order, so SciPy works in place. NumPy would copy the matrix, which
        # takes a tenth of the time.
        return np.asarray(scipy.linalg.eigvalsh(A.T, overwrite_a=True, check_finite=False))


def estimate_eigensolver_work(n: int, vectors: bool = False) -> float:
    """Estimate the time to compute the eigenvalues of an n × n matrix.

    If `vectors`, this includes the eigenvectors. The unit is the time of one floating-point
    operation of a matrix product.
    """
    return (EIGENVECTORS_WORK if vectors else EIGENVALUES_WORK) * float(n) ** 3


def estimate_eigenvectors_bytes(n: int) -> int:
    """Estimate the bytes to compute the eigenvectors of an n × n float64 matrix.

    This includes the matrix itself, the eigenvectors and the work arrays of the eigensolver.
    """
    return 8 * n**2 * (5 if n <= NUMPY_SIZE else 3)  # NumPy makes copies, SciPy overwrites


def _check_gradient(gradient: Tensor | None, vectors: bool) -> None:
    """Raise a ValueError if the gradient with respect to a matrix contains NaN or infinite values.

    It is called by torch when it differentiates the eigenvalues of the matrix. `vectors` is whether
    eigenvectors were computed as well, which determines the hint of the message.
    """
    if gradient is None or bool(gradient.isfinite().all()):
        return
    if vectors:
        raise ValueError(
            "the gradient is not finite: derivatives of eigenvectors require distinct eigenvalues, "
            "of which at most one is 0; differentiate only the scores, or pass fewer samples than "
            "features"
        )
    raise ValueError(
        "the gradient is not finite: second derivatives require distinct eigenvalues, and orders "
        "below 1 require a matrix of full rank; use first derivatives, and orders of at least 1"
    )
