"""Detection of near-copies: pairs of samples whose distances are far below all others."""

import numpy as np

# Conventional level of Fisher's test of the largest spacing.
_SIGNIFICANCE = 0.05
# Largest distance (1 − similarity) of near-copies, halfway between copies (0) and unrelated samples
# (1). Kernels do not distinguish larger distances reliably.
LARGEST_DISTANCE = 0.5


def find_near_copies(K: np.ndarray, tolerance: float) -> np.ndarray | None:
    """Return a code for each of k distinct samples, equal for near-copies; None if there are none.

    `K`, shape (k, k), contains the similarities of the samples. If samples have no near-copies, the
    number of pairs with a distance below r grows as a power of r. For independent distances
    r_1 ≤ r_2 ≤ …, the spacings i log(r_(i+1) / r_i) would then be independent with the same
    exponential distribution (Rényi, Acta Math. Hung. 1953; Hill, Annals of Statistics 1975). This
    holds approximately for the distances of all pairs; tests/metric/scoring/test_near_copies.py
    checks the significance level.

    Near-copies are the pairs with distances below the largest spacing, under three conditions:
    Fisher's test (Proc. R. Soc. A 1929) rejects that the largest spacing belongs to this
    distribution; being a near-copy is transitive; and near-copies have similarities of at least
    1/2. Distances that differ by less than `tolerance`, such as those of texts from a common
    template, count only once.
    """
    diagonal = K.diagonal()
    squared_distances = (diagonal[:, None] + diagonal - K - K.T) / 2
    pairs = np.sort(squared_distances[np.triu_indices(len(K), 1)])
    distinct = np.maximum(pairs[np.diff(pairs, prepend=-np.inf) > tolerance], tolerance)
    spacings = np.arange(1, len(distinct)) * np.diff(np.log(distinct))
    if len(spacings) < 2:
        return None
    largest = int(spacings.argmax())
    if distinct[largest] > LARGEST_DISTANCE:
        return None
    other_fraction = 1 - spacings[largest] / spacings.sum()
    if len(spacings) * other_fraction ** (len(spacings) - 1) > _SIGNIFICANCE:
        return None
    is_near = squared_distances < np.sqrt(distinct[largest] * distinct[largest + 1])
    first = is_near.argmax(axis=0)
    if (is_near != (first[:, None] == first)).any():
        return None
    codes: np.ndarray = np.unique(first, return_inverse=True)[1]
    return codes


def merge_near_copies(
    K: np.ndarray, counts: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge near-copies with equal `codes` into one item.

    `K` and `counts` are the similarities (k, k) and numbers of samples (k,) of distinct items.
    Return them for the merged items. The similarity of two merged items is the mean over their
    samples, and the diagonal stays 1.
    """
    totals = np.bincount(codes, counts)
    means = np.zeros((len(totals), len(codes)))
    means[codes, np.arange(len(codes))] = counts / totals[codes]
    merged = means @ K @ means.T
    np.fill_diagonal(merged, means @ K.diagonal())
    return merged, totals.astype(int)
