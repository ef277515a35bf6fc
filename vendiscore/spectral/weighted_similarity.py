"""The weighted similarity K_p = diag(√p) K diag(√p), of trace 1, and what may be wrong with it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import suggest_clipping
from ..similarity.base import Similarity
from ..support.namespace import Array, asarray_like, is_numpy, namespace, row_blocks, to_host


def weight_similarity(similarity: Similarity, p: Array | None) -> Similarity:
    """Return K_p, with a trace of 1."""
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    root = math.sqrt(1 / similarity.n) if p is None else xp.sqrt(asarray_like(p, diagonal))
    # A diagonal of 1 up to rounding becomes exactly 1, so that the trace is.
    return similarity.scaled(root / xp.sqrt(diagonal))  # √(p/d) has no gradient at p = 0


class MergedDuplicates(NamedTuple):
    """K_p of samples without repeats; places in it, and √(p_i / p), of n samples that have some."""

    weighted: Similarity
    inverse: np.ndarray | None = None
    root_fractions: np.ndarray | None = None

    def expand_vectors(self, U: Array) -> Array:
        """Return orthonormal eigenvectors of all n samples from eigenvectors of distinct ones."""
        part = asarray_like(self.root_fractions, U)[:, None]
        U = U[self.inverse]
        if is_numpy(U):
            return np.multiply(U, part, out=U)
        return U * part


def find_repeats(similarity: Similarity) -> np.ndarray | None:
    """Return a number for each sample, equal for identical ones, or None if all differ."""
    groups = similarity.groups()
    if groups is None or len(np.unique(groups)) == similarity.n:
        return None
    return groups


def merge_identical(similarity: Similarity, p: Array | None) -> MergedDuplicates:
    """Drop repeated samples and add up their weights (arXiv 2210.02410, Theorem 3.1)."""
    n = similarity.n
    groups = find_repeats(similarity)
    if groups is None:
        return MergedDuplicates(weight_similarity(similarity, p))
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    each = np.full(n, 1 / n) if p is None else to_host(p)
    together = np.bincount(inverse, each)
    whole = together[inverse]
    parts = np.zeros(n)
    np.divide(each, whole, out=parts, where=whole > 0)
    weighted = weight_similarity(similarity.take(first), together)
    return MergedDuplicates(weighted, inverse, np.sqrt(parts))


def describe_matrix_problem(weighted: Similarity) -> str:
    """Return what is wrong with a similarity that gave an impossible number."""
    bare = weighted.bare()
    diagonal = np.sqrt(np.abs(to_host(bare.diagonal())))
    for block in row_blocks(bare.n, 8 * bare.n):
        with np.errstate(all="ignore"):
            K = to_host(bare.rows(block))
            K = K / diagonal[block, None] / diagonal
        bad = ~(np.abs(K) <= 1 + 1e-3)
        if bad.any():
            i, j = divmod(int(np.argmax(bad)), bare.n)
            return (
                f"the kernel gives {K[i, j]:.6g} for samples {i + block.start} and {j}, but no "
                "sample is more like another than like itself; look for NaN, overflow or negative "
                "eigenvalues in the kernel"
            )
    return suggest_clipping()
