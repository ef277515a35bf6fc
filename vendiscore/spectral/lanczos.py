"""Compute the largest eigenvalue of a Similarity by ARPACK."""

import math

import numpy as np

from ..similarity.base import Similarity
from ..support.errors import NotPSDError
from .block_lanczos import KrylovBasis

TOLERANCE = 1e-10  # relative error of the eigenvalue
# Number of basis vectors, and maximum number of restarts (about 400 matrix-vector products).
BASIS_SIZE = 20
MAX_RESTARTS = 40
# Number of Lanczos steps to detect negative eigenvalues of a matrix that may have some.
SIGN_STEPS = 20


def compute_largest_eigenvalue(similarity: Similarity, floor: float = -math.inf) -> float | None:
    """Compute the largest eigenvalue; return None if ARPACK does not converge.

    Raises a NotPSDError if an eigenvalue below `floor` is detected.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = similarity.n
    # Start from √p, which is usually close to the first eigenvector. Add noise to obtain a
    # component along every eigenvector.
    start = np.sqrt(np.maximum(similarity.diagonal(), 0))
    noise = np.random.default_rng(0).standard_normal(n)
    start = start / np.linalg.norm(start) + noise / np.linalg.norm(noise)
    if floor > -math.inf and not similarity.psd:
        _check_no_negative_eigenvalue(similarity, start, floor)
    K = LinearOperator((n, n), matvec=similarity.matmul, dtype=np.float64)
    options = {"ncv": min(n, BASIS_SIZE), "maxiter": MAX_RESTARTS, "tol": TOLERANCE}
    try:
        values = eigsh(K, k=1, which="LA", v0=start, return_eigenvectors=False, **options)
    except ArpackError:  # includes ArpackNoConvergence
        return None
    return float(values[0])


def _check_no_negative_eigenvalue(similarity: Similarity, start: np.ndarray, floor: float) -> None:
    """Raise a NotPSDError if a few Lanczos steps detect an eigenvalue below `floor`."""
    krylov = KrylovBasis(similarity.matmul, start[:, None], SIGN_STEPS)
    krylov.extend(krylov.max_steps)
    T = krylov.matrix()
    lowest = 0.0
    if np.isfinite(T).all():
        lowest = float(np.linalg.eigvalsh(T)[0])
    if lowest < floor:
        raise NotPSDError(lowest, -lowest)
