"""Layouts for figures: map coordinates and orders in which similar samples are close."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import squareform

from ...similarity.base import Similarity
from ...similarity.group_indices import group_indices
from ...spectral.spectrum import Spectrum
from ...support import memory
from ...support.namespace import to_host

# The first sample whose distance from 0 along an axis is at least this fraction of the largest
# distance has a positive coordinate. The fraction is not a ratio of small integers, because samples
# are often at such distances, where rounding errors would decide.
MIN_SIGN_DISTANCE = 0.37
# Maximum number of samples whose leaves are ordered optimally, which takes up to O(n⁴).
MAX_OPTIMAL_ORDERING = 100


def kernel_pca_coordinates(spectrum: Spectrum, p: np.ndarray | None = None) -> np.ndarray:
    """Return map coordinates of n samples, shape (n, 2), by kernel PCA.

    `p`, shape (n,), are the weights of the samples, uniform by default; samples of weight 0 are at
    the origin. With eigenvalues λ and eigenvectors u of the spectrum, sample i has the features
    u_ij √(λ_j / p_i). Their covariance matrix is diag(λ) − m mᵀ, where m is their mean (Schölkopf,
    Smola & Müller, Neural Computation 1998).
    """
    U = to_host(spectrum.vectors)
    values = to_host(spectrum.values)[: U.shape[1]]
    roots = np.sqrt(values)
    n = len(U)
    weights = np.full(n, 1 / n)
    if p is not None:
        weights = to_host(p)
    mean = roots * (np.sqrt(weights) @ U)
    covariance = np.diag(values) - np.outer(mean, mean)
    _, axes = np.linalg.eigh(covariance)
    axes = axes[:, :-3:-1]  # eigenvectors of the two largest eigenvalues
    coordinates = np.zeros((n, 2))
    has_weight = weights > 0
    centred = U[has_weight] @ (roots[:, None] * axes)
    centred /= np.sqrt(weights[has_weight, None])
    coordinates[has_weight, : axes.shape[1]] = centred - mean @ axes
    distances = np.abs(coordinates)
    max_distances = distances.max(axis=0)
    is_far = distances >= MIN_SIGN_DISTANCE * max_distances
    first_far = is_far.argmax(axis=0)
    is_negligible = max_distances <= 1e-7 * max(1.0, max_distances.max())
    coordinates[:, is_negligible] = 0.0
    is_flipped = coordinates[first_far, [0, 1]] < 0
    return np.where(is_flipped, -coordinates, coordinates)


def clustered_order(similarity: Similarity) -> np.ndarray:
    """Return the n sample indices in an order in which similar samples are adjacent.

    This is the order of the leaves of average linkage with distances 1 − k. For up to 100 samples,
    the sum of distances of adjacent leaves is minimized (Bar-Joseph et al., 2001).
    """
    n = similarity.n
    if n < 3:
        return np.arange(n)
    memory.require(32 * n**2, f"a dendrogram of {n} samples", "pass fewer samples")
    K = to_host(similarity.dense())
    tree = average_linkage_tree(K, optimal=n <= MAX_OPTIMAL_ORDERING)
    return leaves_list(tree)


def average_linkage_groups(similarity: np.ndarray, threshold: float) -> list[list[int]]:
    """Group samples by average linkage, and return the indices of each group, the largest first.

    `similarity` is the matrix of similarities. Groups are merged if their mean similarity is at
    least `threshold`.
    """
    tree = average_linkage_tree(similarity)
    distance = 1 - threshold + 1e-9
    codes = fcluster(tree, distance, "distance")
    groups = [indices.tolist() for indices in group_indices(codes - 1)]
    return sorted(groups, key=lambda group: (-len(group), group))


def average_linkage_tree(K: np.ndarray, optimal: bool = False) -> np.ndarray:
    """Compute average linkage of n samples with distances 1 − K, as a linkage matrix of SciPy.

    If `optimal` is True, leaves are ordered to minimize the sum of distances of adjacent leaves.
    """
    D = np.maximum(1 - K, 0)
    D = (D + D.T) / 2
    distances = squareform(D, checks=False)
    return linkage(distances, "average", optimal_ordering=optimal)
