"""The weighted similarity K_p = diag(√p) K diag(√p) of trace 1, with identical samples merged."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import suggest_clipping
from ..similarity.base import Similarity
from ..support.namespace import Array, asarray_like, is_numpy, namespace, row_blocks, to_host


def weight_similarity(similarity: Similarity, p: Array | None) -> Similarity:
    """Build K_p = diag(√p) K diag(√p) with trace 1."""
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    root = math.sqrt(1 / similarity.n) if p is None else xp.sqrt(asarray_like(p, diagonal))
    # Dividing by the diagonal, which is 1 up to rounding, makes the trace exactly 1.
    return similarity.scaled(root / xp.sqrt(diagonal))  # √(p/d) has no gradient at p = 0


class MergedDuplicates(NamedTuple):
    """K_p of distinct samples, and how the n samples map to it (None without repeats).

    Sample i is distinct sample `inverse[i]`, and `root_fractions[i]` is √(p_i / p) for the total
    weight p of its copies.
    """

    weighted: Similarity
    inverse: np.ndarray | None = None
    root_fractions: np.ndarray | None = None

    def expand_vectors(self, U: Array) -> Array:
        """Convert eigenvectors for the distinct samples to orthonormal ones for all n samples."""
        part = asarray_like(self.root_fractions, U)[:, None]
        U = U[self.inverse]
        if is_numpy(U):
            return np.multiply(U, part, out=U)
        return U * part


def find_repeats(similarity: Similarity) -> np.ndarray | None:
    """Return group numbers (n,), equal for identical samples, or None if all differ."""
    groups = similarity.groups()
    if groups is None or len(np.unique(groups)) == similarity.n:
        return None
    return groups


def merge_identical(similarity: Similarity, p: Array | None) -> MergedDuplicates:
    """Merge identical samples and add their weights (arXiv 2210.02410, Theorem 3.1)."""
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
    """Describe the probable cause of an impossible score: a large entry, or not PSD."""
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
