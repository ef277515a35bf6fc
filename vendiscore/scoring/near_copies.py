"""Detection of near-copies: pairs of samples whose distances are far below all others."""

import numpy as np

# Conventional level of Fisher's test of the largest spacing.
_SIGNIFICANCE = 0.05
# Largest distance (1 − similarity) of near-copies, halfway between copies (0) and unrelated samples
# (1). Kernels do not distinguish larger distances reliably.
LARGEST_DISTANCE = 0.5


def find_near_copies(K: np.ndarray, tolerance: float) -> np.ndarray | None:
    """Return a code for each of k distinct items, equal for near-copies; None if there are none.

    `K`, shape (k, k), contains the similarities of the items, and their distances are
    1 − similarity. The null model is that there are no near-copies, and that the number of pairs
    with a distance below r is proportional to a power of r. If the distances r_1 ≤ r_2 ≤ … of all
    pairs were independent, the spacings i log(r_(i+1) / r_i) for i = 1, 2, … would then be
    independent with the same exponential distribution (Rényi, Acta Math. Hung. 1953; Hill, Annals
    of Statistics 1975). Distances of pairs are dependent, so this holds only approximately;
    tests/metric/scoring/test_near_copies.py checks the significance level.

    Let i be the index of the largest spacing. The pairs with the distances r_1 to r_i are
    near-copies under three conditions: Fisher's test (Proc. R. Soc. A 1929) rejects that the
    largest spacing has the same distribution as the other spacings; the relation "is a near-copy
    of" is transitive; and r_i is at most 1/2. Distances that differ by less than `tolerance`, such
    as those of texts from a common template, count only once.
    """
    diagonal = K.diagonal()
    distances = (diagonal[:, None] + diagonal - K - K.T) / 2  # 1 − K for a diagonal of 1
    sorted_distances = np.sort(distances[np.triu_indices(len(K), 1)])
    is_distinct = np.diff(sorted_distances, prepend=-np.inf) > tolerance
    distinct_distances = np.maximum(sorted_distances[is_distinct], tolerance)
    spacings = np.arange(1, len(distinct_distances)) * np.diff(np.log(distinct_distances))
    if len(spacings) < 2:
        return None
    largest = int(spacings.argmax())
    below, above = distinct_distances[largest : largest + 2]  # the limits of the largest spacing
    if below > LARGEST_DISTANCE:
        return None
    other_fraction = 1 - spacings[largest] / spacings.sum()
    p_bound = len(spacings) * other_fraction ** (len(spacings) - 1)  # of Fisher's test
    if p_bound > _SIGNIFICANCE:
        return None
    is_near = distances < np.sqrt(below * above)
    first_near = is_near.argmax(axis=0)
    # Being a near-copy is transitive if the pairs are exactly those with a common first near-copy.
    if (is_near != (first_near[:, None] == first_near)).any():
        return None
    codes: np.ndarray = np.unique(first_near, return_inverse=True)[1]
    return codes


def merge_near_copies(
    K: np.ndarray, counts: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Merge near-copies, the items with equal `codes`, into one item.

    `K` (k, k) contains the similarities of k distinct items, `counts` (k,) the number of samples
    equal to each item, and `codes` (k,) the index of the merged item of each item. Return the
    similarities and the counts of the merged items. The similarity of two merged items is the mean
    similarity of a sample of one and a sample of the other. Diagonal entries are means of diagonal
    entries of K, so they stay 1.
    """
    merged_counts = np.bincount(codes, counts)
    weights = np.zeros((len(merged_counts), len(codes)))  # a row for the mean of each merged item
    weights[codes, np.arange(len(codes))] = counts / merged_counts[codes]
    merged_K = weights @ K @ weights.T
    np.fill_diagonal(merged_K, weights @ K.diagonal())
    return merged_K, merged_counts.astype(int)
