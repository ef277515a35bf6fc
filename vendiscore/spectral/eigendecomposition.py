"""The eigenvalues of a dense symmetric matrix, with or without its eigenvectors."""

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

# From this size on all eigenvalues are computed in two stages.
TWO_STAGE_SIZE = 1536
# Up to this size NumPy's eigensolver is used where it has several threads: SciPy's at first waits
# for the threads of NumPy's products (1,500 samples: 76 ms of 227). Above, two stages, or SciPy's:
# two stages take as long at 1,500, two thirds at 2,500 to 5,000.
NUMPY_SIZE = TWO_STAGE_SIZE - 1
# With so many rows eigenvalues alone take one thread as long as two (512: 11 and 9 ms), which wait
# for each other at every row: on a busy machine two took 0.3 to 4 s.
ONE_THREAD_SIZES = 192, 1024
# Decompositions, with half the products' rate or less, in operations of a product over n³.
EIGENVALUES_WORK = 4.0
EIGENVECTORS_WORK = 10.0


class Eigendecomposition(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns, or None."""

    values: Array
    vectors: Array | None = None


def decompose(
    A: Array, vectors: bool = False, describe_cause: Callable[[], str] = suggest_clipping
) -> Eigendecomposition:
    """Return all eigenvalues of A, or of each of a stack, and eigenvectors if requested.

    A matrix of NumPy may be overwritten; stacks are not. It raises a ValueError, which ends with
    `describe_cause()`, if LAPACK finds no eigenvalues.
    """
    if is_torch(A) and A.requires_grad:
        A.register_hook(partial(_check_gradient, vectors=vectors))
    on_host = is_numpy(A)
    linalg = np.linalg if on_host else namespace(A).linalg
    try:
        if on_host and not math.isfinite(A.sum()):  # torch looks by itself
            raise np.linalg.LinAlgError("entries are not finite")
        if on_host and A.ndim == 2 and len(A) > NUMPY_SIZE:
            from .two_stage_eigensolver import MAX_THREADS, load_driver

            what = "eigenvalues"
            if vectors:
                what = "eigenvectors"
            work = estimate_eigensolver_work(len(A), vectors)
            announce_duration(f"Finding the {len(A):,} {what} of a matrix", work, A.nbytes)
            # The transpose of a C-ordered symmetric matrix is itself in LAPACK's order: no copy.
            if not A.flags.f_contiguous:
                A = A.T
            in_place = {"overwrite_a": True, "check_finite": False}
            with limit_blas_threads(MAX_THREADS):
                if vectors:
                    return Eigendecomposition(*scipy.linalg.eigh(A, driver="evd", **in_place))
                if not can_use_two_stages(A):
                    return Eigendecomposition(scipy.linalg.eigvalsh(A, **in_place))
                driver = load_driver()
                assert driver is not None
                return Eigendecomposition(driver(A))
        if (
            on_host
            and not vectors
            and A.ndim == 2
            and ONE_THREAD_SIZES[0] <= len(A) <= ONE_THREAD_SIZES[1]
        ):
            return Eigendecomposition(eigenvalues_in_one_thread(A))
        if vectors:
            return Eigendecomposition(*linalg.eigh(A))
        return Eigendecomposition(linalg.eigvalsh(A))
    except (np.linalg.LinAlgError, RuntimeError) as error:  # torch's is a RuntimeError
        if type(error).__name__ == "OutOfMemoryError":  # of a GPU, which says what it has
            raise
        raise ValueError(
            f"the eigenvalues of the similarity matrix were not found ({error}): {describe_cause()}"
        ) from error


def can_use_two_stages(A: Array) -> bool:
    """Return whether all eigenvalues of a matrix are computed in two stages."""
    if not is_numpy(A) or A.ndim != 2 or len(A) <= NUMPY_SIZE or A.dtype != np.float64:
        return False
    from .two_stage_eigensolver import load_driver

    return A.flags.forc and load_driver() is not None


def describe_driver(A: Array, vectors: bool) -> str:
    """Return how eigenvalues are computed, for reports, if that is unusual."""
    return "reduced in two stages" if not vectors and can_use_two_stages(A) else ""


def eigenvalues_in_one_thread(A: np.ndarray) -> np.ndarray:
    """Return all eigenvalues of a finite matrix, which is overwritten, in one thread."""
    with limit_blas_threads(1):
        # In place: NumPy's copy of a matrix that was just made takes a tenth of the time.
        return np.asarray(scipy.linalg.eigvalsh(A.T, overwrite_a=True, check_finite=False))


def estimate_eigensolver_work(n: int, vectors: bool = False) -> float:
    """Return how many operations of a matrix product take as long as a decomposition of order n."""
    return (EIGENVECTORS_WORK if vectors else EIGENVALUES_WORK) * float(n) ** 3


def estimate_eigenvectors_bytes(n: int) -> int:
    """Return the bytes of a matrix of order n while its eigenvectors are found, itself included."""
    return 8 * n**2 * (5 if n <= NUMPY_SIZE else 3)  # NumPy copies what SciPy overwrites


def _check_gradient(gradient: Tensor | None, vectors: bool) -> None:
    if gradient is None or bool(gradient.isfinite().all()):
        return
    if vectors:
        raise ValueError(
            "the gradient is not finite: derivatives of eigenvectors need eigenvalues that all "
            "differ, zeros included; differentiate the values alone, or fewer samples than features"
        )
    raise ValueError(
        "the gradient is not finite: second derivatives need eigenvalues that all differ, and "
        "orders below 1 a matrix of full rank"
    )
