"""Validation of similarities that users pass as a matrix or as an object of class Similarity."""

import numpy as np

from ..core.checks import (
    DIAGONAL_TOLERANCE,
    SYMMETRY_TOLERANCE,
    check_no_distances,
    check_square,
    is_symmetric,
)
from ..support import memory
from ..support.errors import SampleError
from ..support.namespace import detach, is_torch, namespace
from ..support.types import Rows
from . import sparse as sp
from .base import Similarity, check_diagonal
from .features import FeatureSimilarity
from .judgements import EquivalenceSimilarity
from .matrix import MatrixSimilarity
from .row_distances import symmetrize
from .sample_arrays import as_matrix, machine_epsilon


def check_matrix(K: Rows, normalize: bool = False, name: str = "samples") -> MatrixSimilarity:
    """Validate a square similarity matrix K; return it as a Similarity, made exactly symmetric.

    The diagonal must be 1 up to rounding. With `normalize`, it need only be positive, and K_ij is
    divided by √(K_ii K_jj). `name` is the argument that messages mention.
    """
    # A matrix in lower precision has larger rounding errors, for which all checks then allow.
    input_precision = 0.0
    if getattr(K, "dtype", None) != np.float64:
        input_precision = machine_epsilon(K)
    K = as_matrix(K, name)
    check_square(K, name)
    n = K.shape[0]
    if sp.issparse(K):
        memory.require(8 * n * n, f"a dense {n} × {n} similarity matrix", "score fewer samples")
        K = K.toarray()
    similarity = MatrixSimilarity(K, settings={"kernel": "matrix K"})
    if input_precision:
        similarity = similarity.noted(roundoff=input_precision)
    try:
        similarity = check_diagonal(similarity.normalized() if normalize else similarity)
    except SampleError:
        # Raises a more helpful error if K looks like a matrix of distances.
        check_no_distances(detach(K), detach(K.diagonal()), name)
        raise
    return _symmetrize_entries(similarity, f"`{name}`")


def check_similarity(similarity: Similarity) -> Similarity:
    """Check an object of class Similarity, possibly of a subclass by a user, and return it.

    Its matrix K must be symmetric and have no entries with an absolute value above 1. A
    MatrixSimilarity is checked completely, and made exactly symmetric. Other subclasses are checked
    at low cost, by two products of K with random vectors and by the first rows of K. The diagonal
    is not checked.
    """
    if isinstance(similarity, MatrixSimilarity):
        return _symmetrize_entries(similarity, "a MatrixSimilarity")
    distinct = getattr(similarity, "distinct", similarity)  # of a RepeatedSimilarity
    if isinstance(distinct, (FeatureSimilarity, EquivalenceSimilarity)):
        return similarity  # symmetric by construction
    if is_torch(similarity.diagonal()):
        return similarity
    # If K is symmetric, uᵀ(Kv) = vᵀ(Ku) for all vectors u and v.
    u, v = np.random.default_rng(0).standard_normal((2, similarity.n))
    Ku = similarity.matmul(u)
    Kv = similarity.matmul(v)
    uKv = u @ Kv
    vKu = v @ Ku
    norm = np.linalg.norm
    upper_bound = norm(u) * norm(Kv) + norm(v) * norm(Ku)
    if not abs(uKv - vKu) <= SYMMETRY_TOLERANCE * upper_bound:  # also for NaN
        raise ValueError(
            f"a {type(similarity).__name__} must be symmetric and finite, but its products "
            f"uᵀ(Kv) = {uKv:.6g} and vᵀ(Ku) = {vKu:.6g} differ; check its rows and matmul"
        )
    rows = similarity.rows(slice(0, 64))
    magnitudes = np.abs(rows)
    if not magnitudes.max() <= 1 + DIAGONAL_TOLERANCE:
        i, j = divmod(int(np.argmax(magnitudes)), similarity.n)
        raise ValueError(
            f"a {type(similarity).__name__} must not have entries larger than its diagonal of 1, "
            f"but K[{i}, {j}] = {rows[i, j]:.6g}, so it is not positive semidefinite; correct the "
            "values that its rows and matmul return"
        )
    return similarity


def _symmetrize_entries(similarity: MatrixSimilarity, name: str) -> MatrixSimilarity:
    """Return the similarity with exactly symmetric entries.

    Raises a ValueError, which mentions `name`, if entries K_ij and K_ji differ, or absolute entries
    exceed 1, by more than rounding errors.
    """
    K = similarity.K
    if is_symmetric(K, similarity.scale, similarity.roundoff, name):
        return similarity
    K = namespace(K).astype(K, namespace(K).float64, copy=False)  # means in float32 are rounded
    return similarity._replace(K=symmetrize(K, "a symmetric copy of K"))
