"""Mean similarities between sets of samples, and the cosines of their mean features."""

import numpy as np

from ..support.namespace import asarray_like, to_host
from ..support.parallel import slices
from .base import Similarity

MAX_SETS_AT_ONCE = 64  # number of sets per block, to limit memory


def sum_between_sets(similarity: Similarity, codes: np.ndarray, n_sets: int) -> np.ndarray:
    """Compute Σ k(x, y) over samples x of one set and y of another, shape (sets, sets).

    `codes` (n,) is the set of each sample. The cost is O(n²) similarities, or O(n d) for features.
    """
    indices = np.arange(n_sets)
    if np.array_equal(codes, indices):
        return to_host(similarity.dense())
    similarity = similarity.in_numpy()
    diagonal = similarity.diagonal()
    sums = np.empty((n_sets, n_sets))
    for columns in slices(n_sets, MAX_SETS_AT_ONCE):
        is_member = codes[:, None] == indices[columns]
        products = similarity.matmul(asarray_like(is_member, diagonal))
        for column, column_product in zip(indices[columns], to_host(products).T, strict=True):
            sums[:, column] = np.bincount(codes, column_product, n_sets)
    return (sums + sums.T) / 2


def mean_similarities(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute mean similarities (…, sets, sets) from sums and set sizes; 0 for empty sets."""
    inverse_counts = np.zeros(counts.shape)
    np.divide(1, counts, out=inverse_counts, where=counts > 0)
    return sums * inverse_counts[..., :, None] * inverse_counts[..., None, :]


def exclude_self_similarity(means: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute the mean similarity (..., sets) between different samples of each set.

    `means` (..., sets) are means over all pairs, including k(x, x) = 1. For a set of n samples with
    mean m, the result is (n m − 1)/(n − 1); NaN for sets of one sample.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        different = (counts * means - 1) / (counts - 1)
        return np.where(counts > 1, different, np.nan)


def mean_feature_cosines(sums: np.ndarray, self_sums: np.ndarray) -> np.ndarray:
    """Compute cosines sums / √(self_sums self_sumsᵀ), shape (..., sets, sets), with diagonal 1.

    self_sums[..., a, b] is the sum of similarities within set a, restricted to the groups in which
    set b also has samples.
    """
    products = self_sums * np.swapaxes(self_sums, -1, -2)
    cosines = sums / np.sqrt(products)
    diagonal = np.arange(sums.shape[-1])
    cosines[..., diagonal, diagonal] = 1
    return cosines
