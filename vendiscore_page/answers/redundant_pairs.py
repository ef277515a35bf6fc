"""The most similar pairs of a few samples, each sample in one pair at most."""

import numpy as np


def redundant_pairs(K: np.ndarray, count: int) -> list[tuple[int, int, float]]:
    """Return the most similar pairs, ties by i, then j; no sample in two; O(count · n²)."""
    K = np.array(K, dtype=np.float64)
    K[np.tril_indices(len(K))] = -np.inf
    found: list[tuple[int, int, float]] = []
    for _ in range(min(count, len(K) // 2)):
        i, j = divmod(int(K.argmax()), len(K))
        found.append((i, j, float(K[i, j])))
        K[[i, j]] = K[:, [i, j]] = -np.inf
    return found
