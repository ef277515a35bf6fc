"""Compute the largest eigenvalue of a Similarity by Lanczos iteration, restarted by ARPACK."""

import math

import numpy as np

from ..similarity.base import Similarity
from ..support.errors import NotPSDError
from .block_lanczos import KrylovBasis

TOLERANCE = 1e-10  # relative error of the eigenvalue
# Number of basis vectors, and maximum number of restarts (about 400 matrix-vector products).
BASIS_SIZE = 20
MAX_RESTARTS = 40
# Numbers of Lanczos steps after which convergence is examined; then ARPACK restarts the iteration.
STEPS = 10, 20, 30, 40
# The one of these after which negative eigenvalues are detected, if the matrix may have some.
SIGN_STEPS = 20


def compute_largest_eigenvalue(
    similarity: Similarity, min_valid_eigenvalue: float = -math.inf
) -> float | None:
    """Compute the largest eigenvalue of a weighted similarity; None if it does not converge.

    The weighted similarity has the entries √p_i K_ij √p_j for similarities K and weights p. A
    NotPSDError is raised if a few Lanczos steps detect an eigenvalue below `min_valid_eigenvalue`.
    They may miss such an eigenvalue. Positive semidefinite similarities are not examined for it,
    and none is if `min_valid_eigenvalue` is −∞.
    """
    n = similarity.n
    # Start from √p (the diagonal is p, because K_ii = 1), which is usually close to the first
    # eigenvector. Add noise to obtain a component along every eigenvector.
    start = np.sqrt(np.maximum(similarity.diagonal(), 0))
    noise = np.random.default_rng(0).standard_normal(n)
    start = start / np.linalg.norm(start) + noise / np.linalg.norm(noise)
    min_steps = SIGN_STEPS if min_valid_eigenvalue > -math.inf and not similarity.psd else 0
    krylov = KrylovBasis(similarity.matmul, start[:, None], max(STEPS))
    for steps in STEPS:
        if steps < min_steps:
            continue
        krylov.extend(steps)
        T = krylov.matrix()
        if not np.isfinite(T).all():
            return None  # the caller reports NaN and overflow
        if steps == min_steps:
            smallest = float(np.linalg.eigvalsh(T)[0])
            if smallest < min_valid_eigenvalue:
                # The absolute sum of all negative eigenvalues is at least −smallest.
                raise NotPSDError(smallest, -smallest)
        largest, residual, vector = krylov.approximate_largest_eigenpair()
        if residual <= TOLERANCE * largest:
            return largest
    return _restart(similarity, vector)


def _restart(similarity: Similarity, start: np.ndarray) -> float | None:
    """Compute the largest eigenvalue by ARPACK, from a starting vector; None without convergence.

    `start` (n,) is an approximate eigenvector.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = similarity.n
    K = LinearOperator((n, n), matvec=similarity.matmul, dtype=np.float64)
    # Size of the Lanczos basis, maximum number of restarts, and relative error.
    options = {"ncv": min(n, BASIS_SIZE), "maxiter": MAX_RESTARTS, "tol": TOLERANCE}
    try:
        # "LA" is the largest eigenvalue, unlike "LM", the largest absolute value.
        values = eigsh(K, k=1, which="LA", v0=start, return_eigenvectors=False, **options)
    except ArpackError:  # includes ArpackNoConvergence
        return None
    return float(values[0])
