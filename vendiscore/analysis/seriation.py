"""An order of samples that shows their groups."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ..arrays import memory
from ..arrays.namespace import to_host
from ..similarity.base import Similarity

# Ordering the leaves optimally costs up to O(n⁴): a nicety for small sets.
OPTIMAL_SIZE = 100


def clustered_order(similarity: Similarity) -> np.ndarray:
    """Return the samples in the order of a dendrogram, similar ones side by side.

    These are the leaves of average linkage by 1 − k; up to 100 samples in the order with the least
    sum of distances between neighbours (Bar-Joseph, Gifford & Jaakkola, Bioinformatics 2001).
    """
    n = similarity.n
    if n < 3:
        return np.arange(n)
    memory.require(32 * n**2, f"a dendrogram of {n} samples", "take fewer samples")
    D = np.maximum(1 - to_host(similarity.dense()), 0)
    np.fill_diagonal(D, 0)
    distances = squareform((D + D.T) / 2, checks=False)
    tree = linkage(distances, "average", optimal_ordering=n <= OPTIMAL_SIZE)
    return np.asarray(leaves_list(tree))
