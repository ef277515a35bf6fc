"""The weighted similarity K_p = diag(√p) K diag(√p) of trace 1, and merging of identical samples.

K are the similarities and p the weights of the samples.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import suggest_clipping
from ..similarity.base import Similarity
from ..support.namespace import Array, asarray_like, is_numpy, namespace, row_blocks, to_host


def weight_similarity(similarity: Similarity, p: Array | None) -> Similarity:
    """Build the weighted similarity K_p = diag(√p) K diag(√p) with trace 1.

    K are the similarities of n samples, divided by √(K_ii K_jj), and p their weights (n,), which
    are 1/n if None.
    """
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    root_p = math.sqrt(1 / similarity.n) if p is None else xp.sqrt(asarray_like(p, diagonal))
    # Dividing by the diagonal, which is 1 up to rounding, makes the trace exactly 1.
    # (The gradient of √(p/diagonal) with respect to the diagonal would be NaN at p = 0.)
    return similarity.scaled(root_p / xp.sqrt(diagonal))


class MergedDuplicates(NamedTuple):
    """The weighted similarity of the distinct samples, and the map from all n samples to them.

    Attributes
    ----------
    weighted : Similarity
        The matrix √p_i K_ij √p_j of similarities K of the distinct samples, where p_i is the total
        weight of all copies of sample i.
    inverse : ndarray (n,), optional
        The position of each sample among the distinct samples. None if all samples are distinct.
    root_fractions : ndarray (n,), optional
        The square root of the weight of each sample, divided by the total weight of its copies.
        None if all samples are distinct.
    """

    weighted: Similarity
    inverse: np.ndarray | None = None
    root_fractions: np.ndarray | None = None

    def expand_vectors(self, U: Array) -> Array:
        """Convert eigenvectors of `weighted` to those of the weighted similarity of all n samples.

        `weighted` is the weighted similarity of the distinct samples. `U` has one row per distinct
        sample, and the result one row per sample. The columns of both are orthonormal.
        """
        # The entry of a distinct sample is divided among its copies in proportion to the roots of
        # their weights, which preserves the norm of the eigenvector.
        factors = asarray_like(self.root_fractions, U)[:, None]
        U = U[self.inverse]  # the entry of its distinct sample, for each sample
        if is_numpy(U):  # in place, to save memory
            return np.multiply(U, factors, out=U)
        return U * factors


def find_identical_samples(similarity: Similarity) -> np.ndarray | None:
    """Return an integer code (n,) for each sample, equal for identical samples; None if all differ.

    Samples are identical if the similarity cannot distinguish them.
    """
    groups = similarity.groups()
    if groups is None or len(np.unique(groups)) == similarity.n:
        return None
    return groups


def merge_identical(similarity: Similarity, p: Array | None) -> MergedDuplicates:
    """Build the weighted similarity of the distinct samples, with the sum of the weights of copies.

    Merging identical samples does not change Vendi Scores (arXiv 2210.02410, Theorem 3.1). `p` are
    the weights of all n samples, by default 1/n.
    """
    n = similarity.n
    groups = find_identical_samples(similarity)
    if groups is None:
        return MergedDuplicates(weight_similarity(similarity, p))
    # `first` contains the index of one copy of each distinct sample.
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    weights = np.full(n, 1 / n) if p is None else to_host(p)
    merged_weights = np.bincount(inverse, weights)
    total_weights = merged_weights[inverse]  # of the copies of each sample
    fractions = np.zeros(n)
    np.divide(weights, total_weights, out=fractions, where=total_weights > 0)
    weighted = weight_similarity(similarity.take(first), merged_weights)
    return MergedDuplicates(weighted, inverse, root_fractions=np.sqrt(fractions))


def describe_invalid_similarity(weighted: Similarity) -> str:
    """Describe, for an error message, why eigenvalues are not those of a similarity matrix.

    If a similarity is not between −1 and 1, the description names the two samples. Otherwise, it
    mentions negative eigenvalues and suggests psd="clip". `weighted` is the weighted similarity
    √p_i K_ij √p_j of similarities K and weights p.
    """
    bare = weighted.bare()  # K, without the weights p
    root_diagonal = np.sqrt(np.abs(to_host(bare.diagonal())))
    for block in row_blocks(bare.n, 8 * bare.n):
        with np.errstate(all="ignore"):
            K = to_host(bare.rows(block))
            K = K / root_diagonal[block, None] / root_diagonal
        # Values up to 1.001 may be rounding errors in low precision. The condition holds for NaN.
        is_invalid = ~(np.abs(K) <= 1 + 1e-3)
        if is_invalid.any():
            i, j = divmod(int(np.argmax(is_invalid)), bare.n)
            return (
                f"the kernel returns {K[i, j]:.6g} for samples {i + block.start} and {j}, but "
                f"similarities must be between -1 and 1; check the kernel for NaN, overflow and "
                f"negative eigenvalues"
            )
    return suggest_clipping()
