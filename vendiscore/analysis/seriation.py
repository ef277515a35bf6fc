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
    """The samples in the order of a dendrogram, similar ones side by side.

    The leaves of average linkage by 1 − k; the order of a heat map that shows groups as squares.

    Notes
    -----
    Time and memory O(n²). Up to 100 samples the order of the leaves is that with the least sum of
    distances between neighbours, of those that the dendrogram allows (Bar-Joseph, Gifford &
    Jaakkola, Bioinformatics 2001).

    Examples
    --------
    >>> from vendiscore import MatrixSimilarity
    >>> K = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]])
    >>> order = clustered_order(MatrixSimilarity(K)).tolist()
    >>> order in ([0, 2, 1], [1, 2, 0])
    True
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
