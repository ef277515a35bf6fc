"""The eigenvalues of a dense symmetric matrix, with or without its eigenvectors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..arrays.namespace import Array, is_numpy, is_torch, namespace, scalar
from ..progress import announce

# Up to this size NumPy's eigensolver is used, which shares its threads with NumPy's products;
# above, SciPy's, which works in place.
NUMPY_SIZE = 1024
# From here on a spectrum takes more than ten seconds, and LAPACK does not say how far it is.
LONG = 8000


def decompose(
    A: Array, fault: Callable[[], str], vectors: bool = False
) -> tuple[Array, Array | None]:
    """All eigenvalues of A, ascending, and its eigenvectors as columns, or None.

    Parameters
    ----------
    A : array (n, n)
        Symmetric; it may be overwritten.
    fault : callable
        Says what is wrong with A, where it has no eigenvalues.
    vectors : bool
        Three times the work and the memory.

    Raises
    ------
    ValueError
        If they are not found.
    """
    if is_torch(A) and A.requires_grad:
        A.register_hook(_check_vectors_gradient if vectors else _check_gradient)
    try:
        if not math.isfinite(scalar(namespace(A).sum(A))):
            raise np.linalg.LinAlgError("entries are not finite")
        if is_numpy(A) and len(A) > NUMPY_SIZE:
            _announce(len(A), vectors)
            # The transpose of a C-ordered symmetric matrix is itself in LAPACK's order: no copy.
            A = A if A.flags.f_contiguous else A.T
            if not vectors:
                return scipy.linalg.eigvalsh(A, overwrite_a=True, check_finite=False), None
            values, V = scipy.linalg.eigh(A, overwrite_a=True, check_finite=False, driver="evd")
            return values, V
        linalg = np.linalg if is_numpy(A) else namespace(A).linalg
        if not vectors:
            return linalg.eigvalsh(A), None
        values, V = linalg.eigh(A)
    except (np.linalg.LinAlgError, RuntimeError) as error:  # torch's is a RuntimeError
        raise ValueError(
            f"the eigenvalues of the similarity matrix were not found ({error}): {fault()}"
        ) from error
    return values, V


def _announce(n: int, vectors: bool) -> None:
    """Say how long a spectrum of order n takes on this machine now, if that is long."""
    if n < LONG:
        return
    A = np.random.default_rng(0).standard_normal((NUMPY_SIZE, NUMPY_SIZE))
    start = time.perf_counter()
    _ = np.linalg.eigh(A) if vectors else np.linalg.eigvalsh(A)
    seconds = (time.perf_counter() - start) * (n / NUMPY_SIZE) ** 3
    told = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
    what = "eigenvectors" if vectors else "eigenvalues"
    announce(
        f"The {n:,} {what} of a {n:,} × {n:,} matrix take some {told}"
        + ("" if vectors else "; orders 2 and inf alone need none")
    )


def _check_gradient(gradient: Any) -> None:
    if gradient is not None and not bool(gradient.isfinite().all()):
        raise ValueError(
            "the gradient is not finite: second derivatives need eigenvalues that all differ, and "
            "orders below 1 a matrix of full rank"
        )


def _check_vectors_gradient(gradient: Any) -> None:
    if gradient is not None and not bool(gradient.isfinite().all()):
        raise ValueError(
            "the gradient is not finite: derivatives of eigenvectors need eigenvalues that all "
            "differ, zeros included; differentiate the values alone, or fewer samples than features"
        )
