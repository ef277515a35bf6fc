"""Layouts of samples for pictures: a map on which similar samples lie close, and an order."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import squareform

from ..arrays import memory
from ..core.namespace import to_host
from ..similarity.base import Similarity
from ..spectral.spectrum import Spectrum

# Share of the way to the furthest sample: no ratio of small numbers, which rounding would decide.
FAR = 0.37
# Ordering the leaves optimally costs up to O(n⁴): a nicety for small sets.
OPTIMAL_SIZE = 100


def layout(spectrum: Spectrum, p: np.ndarray | None = None) -> np.ndarray:
    """Return places (n, 2) by kernel PCA (Schölkopf, Smola & Müller, Neural Computation 1998).

    Sample i has the features u_ij √(λ_j / p_i) of mean m and covariance diag(λ) − m mᵀ.
    """
    if spectrum.vectors is None:
        raise ValueError("`spectrum` has no vectors; pass spectrum_of(similarity, vectors=True)")
    values, U = to_host(spectrum.values), to_host(spectrum.vectors)
    values = values[: U.shape[1]]
    roots = np.sqrt(values)
    weights = np.full(len(U), 1 / len(U)) if p is None else to_host(p)
    mean = roots * (np.sqrt(weights) @ U)
    V = np.linalg.eigh(np.diag(values) - np.outer(mean, mean))[1][:, ::-1][:, :2]
    centred = U @ (roots[:, None] * V)
    scale = np.zeros(len(U))
    np.divide(1, np.sqrt(weights), out=scale, where=weights > 0)
    found = np.zeros((len(U), 2))
    found[:, : V.shape[1]] = centred * scale[:, None] - (weights > 0)[:, None] * (mean @ V)
    size = np.abs(found).max(axis=0)
    found[:, size <= 1e-7 * max(1.0, float(size.max()))] = 0.0
    far = np.abs(found) >= FAR * size
    signs = np.sign(found[far.argmax(axis=0), [0, 1]])
    return found * np.where(signs < 0, -1.0, 1.0)


def clustered_order(similarity: Similarity) -> np.ndarray:
    """Order samples as leaves of average linkage by 1 − k; to n = 100 as Bar-Joseph et al. 2001."""
    n = similarity.n
    if n < 3:
        return np.arange(n)
    memory.require(32 * n**2, f"a dendrogram of {n} samples", "take fewer samples")
    D = np.maximum(1 - to_host(similarity.dense()), 0)
    np.fill_diagonal(D, 0)
    distances = squareform((D + D.T) / 2, checks=False)
    tree = linkage(distances, "average", optimal_ordering=n <= OPTIMAL_SIZE)
    return leaves_list(tree)


def linked_groups(similarity: np.ndarray, threshold: float) -> list[list[int]]:
    """Return groups of average linkage at that mean similarity (n, n), the largest first."""
    tree = linkage(squareform(np.maximum(1 - similarity, 0), checks=False), "average")
    codes = fcluster(tree, 1 - threshold + 1e-9, "distance")
    groups = [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]
    return sorted(groups, key=lambda group: (-len(group), group))
