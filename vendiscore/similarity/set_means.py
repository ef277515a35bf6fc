"""Mean similarities between sets of samples, and the cosines of their mean features."""

import numpy as np

from ..support.namespace import asarray_like, to_host
from ..support.parallel import slices
from .base import Similarity

MAX_SETS_AT_ONCE = 64  # number of sets per block, to limit memory


def sum_between_sets(similarity: Similarity, codes: np.ndarray, n_sets: int) -> np.ndarray:
    """Compute Σ k(x, y) over all x in set a and y in set b, for all sets a, b; shape (sets, sets).

    `codes` (n,) is the set 0, 1, …, `n_sets` − 1 of each of n samples. Takes time O(n²), or O(n d)
    for d features.
    """
    set_codes = np.arange(n_sets)
    if np.array_equal(codes, set_codes):  # one sample per set
        return to_host(similarity.dense())
    similarity = similarity.in_numpy()
    diagonal = similarity.diagonal()
    sums = np.empty((n_sets, n_sets))
    for block in slices(n_sets, MAX_SETS_AT_ONCE):
        # The similarity of each sample to each set of the block, then summed over samples of a set.
        is_member = codes[:, None] == set_codes[block]
        sample_sums = similarity.matmul(asarray_like(is_member, diagonal))
        for set_code, sums_to_set in zip(set_codes[block], to_host(sample_sums).T, strict=True):
            sums[:, set_code] = np.bincount(codes, sums_to_set, n_sets)
    return (sums + sums.T) / 2  # symmetric up to rounding


def mean_similarities(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute mean similarities between sets, shape (..., sets, sets), from their sums.

    `sums` (..., sets, sets) are the sums of similarities over all pairs of a sample of one set and
    a sample of the other, and `counts` (..., sets) are the numbers of samples of the sets. The mean
    similarity with an empty set is 0.
    """
    inverse_counts = np.zeros(counts.shape)
    np.divide(1, counts, out=inverse_counts, where=counts > 0)
    return sums * inverse_counts[..., :, None] * inverse_counts[..., None, :]


def exclude_self_similarity(means: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute the mean similarity (..., sets) between different samples of each set.

    `means` (..., sets) are means over all ordered pairs within a set, including k(x, x) = 1, and
    `counts` (..., sets) are the numbers of samples. For a set of n samples with mean m, the result
    is (n m − 1)/(n − 1). It is NaN for sets of one sample.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means_without_self = (counts * means - 1) / (counts - 1)
        return np.where(counts > 1, means_without_self, np.nan)


def mean_feature_cosines(sums: np.ndarray, self_sums: np.ndarray) -> np.ndarray:
    """Compute the cosine of the mean features of sets a and b for all a, b; (..., sets, sets).

    It is sums_ab / √(self_sums_ab self_sums_ba), and 1 for a = b. sums_ab is the sum of
    similarities between samples of set a and samples of set b. self_sums_ab is the sum of
    similarities within set a, restricted to the groups of samples (such as the answers to one
    prompt) in which set b also has samples. Both arrays have shape (..., sets, sets).
    """
    products = self_sums * np.swapaxes(self_sums, -1, -2)
    cosines = sums / np.sqrt(products)
    diagonal = np.arange(sums.shape[-1])
    cosines[..., diagonal, diagonal] = 1
    return cosines
