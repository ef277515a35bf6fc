"""Similarities that are given, a matrix or an object: checked before any work starts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import memory
from ..arrays import sparse as sp
from ..arrays.inputs import as_matrix
from ..core.errors import SampleError
from ..core.namespace import Array, as_kind_of, detached, is_torch, precision, row_blocks
from ..core.types import Rows
from ..distances.pairs import symmetric_part
from .base import DIAGONAL_TOLERANCE, Similarity, check_diagonal
from .features import FeatureSimilarity
from .judgements import EquivalenceSimilarity
from .matrix import MatrixSimilarity

# Largest asymmetry of a matrix of unit diagonal by rounding in single precision.
SYMMETRY_TOLERANCE = 1e-5
# Largest number that counts as rounding, for a matrix of unit diagonal in double precision.
ROUNDING = 64 * float(np.finfo(np.float64).eps)

# Up to here all entries and their mirrors are compared in less time than a vector is drawn.
SMALL = 128


def check_matrix(K: Rows, normalize: bool = False, name: str = "samples") -> MatrixSimilarity:
    """Return the Similarity of a finite matrix that is symmetric within its precision."""
    if not normalize and _is_sound(K):
        return MatrixSimilarity(K, settings={"kernel": "matrix K"})
    spacing = precision(K) if getattr(K, "dtype", None) != np.float64 else 0.0
    K = as_matrix(K, name)
    n = K.shape[0]
    if K.shape[1] != n:
        raise ValueError(
            f"`{name}` must be a square similarity matrix, got shape {tuple(K.shape)}; rows of "
            f"features go with `score_X`"
        )
    if sp.issparse(K):
        memory.require(8 * n * n, f"a dense {n} × {n} similarity matrix", "score fewer samples")
        K = K.toarray()
    similarity = MatrixSimilarity(K, settings={"kernel": "matrix K"})
    similarity = similarity.noted(roundoff=spacing) if spacing else similarity
    try:
        similarity = check_diagonal(similarity.normalized() if normalize else similarity)
    except SampleError:
        _check_no_distances(similarity, name)
        raise
    return _checked_entries(similarity, f"`{name}`")


def _is_sound(K: Rows) -> bool:
    """Return whether a small matrix passes every check; what is not finite is in no range."""
    small = type(K) is np.ndarray and K.ndim == 2 and len(K) == K.shape[1] <= SMALL and len(K) > 0
    if not small or K.dtype != np.float64:
        return False
    return bool(
        np.abs(K).max() <= 1 + SYMMETRY_TOLERANCE
        and np.abs(K.diagonal() - 1).max() <= DIAGONAL_TOLERANCE
        and (K - K.T).max() <= ROUNDING * math.sqrt(len(K))
    )


def _check_no_distances(similarity: MatrixSimilarity, name: str) -> None:
    K, least = detached(similarity.K), DIAGONAL_TOLERANCE
    largest = float(abs(K.diagonal()).max())
    # The whole matrix is looked at only where the diagonal is nothing that it can be.
    if largest < least and largest < least * float(abs(K).max()):
        raise ValueError(
            f"`{name}` must be similarities, 1 on the diagonal, but this looks like distances, 0 "
            f"there; pass 1 - D (of distances up to 1) or np.exp(-D), or measure them by magnitude "
            f"with metric='precomputed'"
        )


def check_similarity(similarity: Similarity) -> Similarity:
    """Return a Similarity of unit diagonal itself, if it is symmetric as far as is cheap to see."""
    if isinstance(similarity, MatrixSimilarity):
        return _checked_entries(similarity, "a MatrixSimilarity")
    if isinstance(similarity, (FeatureSimilarity, EquivalenceSimilarity)) or is_torch(
        similarity.diagonal()
    ):
        return similarity
    u, v = np.random.default_rng(0).standard_normal((2, similarity.n))
    Ku, Kv = similarity.matmul(u), similarity.matmul(v)
    size = np.linalg.norm(u) * np.linalg.norm(Kv) + np.linalg.norm(v) * np.linalg.norm(Ku)
    if not abs(u @ Kv - v @ Ku) <= SYMMETRY_TOLERANCE * size:
        raise ValueError(
            f"a {type(similarity).__name__} must be symmetric and finite, but its products "
            f"uᵀ(Kv) = {u @ Kv:.6g} and vᵀ(Ku) = {v @ Ku:.6g} differ; check its rows and matmul"
        )
    rows = similarity.rows(slice(0, 64))
    if not np.abs(rows).max() <= 1 + DIAGONAL_TOLERANCE:
        i, j = divmod(int(np.argmax(np.abs(rows))), similarity.n)
        raise ValueError(
            f"a {type(similarity).__name__} must have no entry that can exceed its diagonal of 1, "
            f"but K[{i}, {j}] = {rows[i, j]:.6g}; such a matrix is not positive semidefinite"
        )
    return similarity


def _checked_entries(similarity: MatrixSimilarity, what: str) -> MatrixSimilarity:
    tolerance, K = max(SYMMETRY_TOLERANCE, 2 * similarity.roundoff), similarity.K
    if similarity.scale is None and _is_sound(K):
        return similarity
    if _check_entries(K, similarity.scale, tolerance, what) > ROUNDING:
        return similarity._with(K=symmetric_part(K, "a symmetric copy of K"))
    return similarity


def _check_entries(K: Rows, scale: Any, tolerance: float, what: str) -> float:
    """Return the largest |K_ij − K_ji| of diag(s) K diag(s), or ROUNDING if it is less."""
    K, scale = detached(K), detached(scale)
    n = K.shape[0]
    scale = None if scale is None or bool((scale == 1).all()) else scale

    def block(rows: slice, columns: slice) -> Array:
        part = K[rows, columns]
        return part if scale is None else part * scale[rows, None] * scale[None, columns]

    def found(a: int, b: int) -> float:
        return float(block(slice(a, a + 1), slice(b, b + 1))[0, 0])

    for rows in row_blocks(n, 8 * n):
        part = block(rows, slice(None))
        if not (float(part.max()) <= 1 + tolerance and float(part.min()) >= -1 - tolerance):
            a, b = divmod(int(abs(part).argmax()), n)
            a += rows.start
            raise ValueError(
                f"{what} must have no entry that can exceed its diagonal of "
                f"1, but K[{a}, {b}] = {found(a, b):.6g}; such a matrix is not positive "
                f"semidefinite"
            )
    if K.itemsize == 8:
        # (K − Kᵀ) g for a random g shows an entry of any row, but for rounding, in two products.
        g = as_kind_of(np.random.default_rng(0).standard_normal(n), K)
        g = g if scale is None else g * scale
        gap = K @ g - g @ K
        gap = gap if scale is None else gap * scale
        if float(abs(gap).max()) <= ROUNDING * math.sqrt(n):
            return ROUNDING
    worst, size = 0.0, 512  # two blocks and their difference fit in a core's cache
    for i in range(0, n, size):
        for j in range(i, n, size):
            rows, columns = slice(i, i + size), slice(j, j + size)
            gap = abs(block(rows, columns) - block(columns, rows).T)
            worst = max(worst, float(gap.max()))
            if worst > tolerance:
                a, b = divmod(int(gap.argmax()), gap.shape[1])
                a, b = i + a, j + b
                raise ValueError(
                    f"{what} must be a symmetric matrix, got K[{a}, {b}] = "
                    f"{found(a, b):.6g} and K[{b}, {a}] = {found(b, a):.6g}; "
                    f"pass (K + K.T) / 2 if that is meant"
                )
    return worst
