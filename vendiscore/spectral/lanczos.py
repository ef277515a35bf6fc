"""Compute the largest eigenvalue of a Similarity by Lanczos iteration (ARPACK)."""

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


def compute_largest_eigenvalue(
    similarity: Similarity, min_valid_eigenvalue: float = -math.inf
) -> float | None:
    """Compute the largest eigenvalue of a weighted similarity; None if ARPACK does not converge.

    The weighted similarity has the entries √p_i K_ij √p_j for similarities K and weights p. A
    NotPSDError is raised if a few Lanczos steps detect an eigenvalue below `min_valid_eigenvalue`.
    They may miss such an eigenvalue. They are omitted for positive semidefinite similarities, and
    if `min_valid_eigenvalue` is −∞.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = similarity.n
    # Start from √p (the diagonal is p, because K_ii = 1), which is usually close to the first
    # eigenvector. Add noise to obtain a component along every eigenvector.
    start = np.sqrt(np.maximum(similarity.diagonal(), 0))
    noise = np.random.default_rng(0).standard_normal(n)
    start = start / np.linalg.norm(start) + noise / np.linalg.norm(noise)
    if min_valid_eigenvalue > -math.inf and not similarity.psd:
        _check_smallest_eigenvalue(similarity, start, min_valid_eigenvalue)
    K = LinearOperator((n, n), matvec=similarity.matmul, dtype=np.float64)
    # Size of the Lanczos basis, maximum number of restarts, and relative error.
    options = {"ncv": min(n, BASIS_SIZE), "maxiter": MAX_RESTARTS, "tol": TOLERANCE}
    try:
        # "LA" is the largest eigenvalue, unlike "LM", the largest absolute value.
        values = eigsh(K, k=1, which="LA", v0=start, return_eigenvectors=False, **options)
    except ArpackError:  # includes ArpackNoConvergence
        return None
    return float(values[0])


def _check_smallest_eigenvalue(
    similarity: Similarity, start: np.ndarray, min_valid_eigenvalue: float
) -> None:
    """Raise a NotPSDError if a few Lanczos steps detect an eigenvalue below `min_valid_eigenvalue`.

    The eigenvalues are those of the n × n matrix `similarity`, and `start` (n,) is the starting
    vector of the Lanczos steps.
    """
    krylov = KrylovBasis(similarity.matmul, start[:, None], SIGN_STEPS)
    krylov.extend(krylov.max_steps)
    T = krylov.matrix()
    if not np.isfinite(T).all():  # the caller reports NaN and overflow
        return
    smallest = float(np.linalg.eigvalsh(T)[0])
    if smallest < min_valid_eigenvalue:
        # The absolute sum of all negative eigenvalues is at least −smallest.
        raise NotPSDError(smallest, -smallest)
