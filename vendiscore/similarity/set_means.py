"""Mean similarities between sets of samples, and the cosines of their mean features."""

import numpy as np

from ..support.namespace import asarray_like, to_host
from ..support.parallel import slices
from .base import Similarity

MAX_SETS_AT_ONCE = 64  # whose sums are in memory at once


def sum_between_sets(similarity: Similarity, codes: np.ndarray, n_sets: int) -> np.ndarray:
    """Return Σ k(x, y) over samples x of one set and y of another, (sets, sets).

    `codes` (n,) has the set of each sample. It takes the time of O(n²) similarities, or O(n d).
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
    """Return mean similarities (…, sets, sets) of sets of `counts` (…, sets); 0 for empty ones."""
    inverse_counts = np.zeros(counts.shape)
    np.divide(1, counts, out=inverse_counts, where=counts > 0)
    return sums * inverse_counts[..., :, None] * inverse_counts[..., None, :]


def exclude_self_similarity(means: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean similarity (..., sets) of two different samples of each set.

    From the means (..., sets) over all pairs, in which each sample is compared with itself, too:
    (n m − 1)/(n − 1) for n samples, where k(x, x) = 1; NaN for sets of one.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        different = (counts * means - 1) / (counts - 1)
        return np.where(counts > 1, different, np.nan)


def mean_feature_cosines(sums: np.ndarray, self_sums: np.ndarray) -> np.ndarray:
    """Return sums (..., sets, sets) over √(self_sums self_sums'), with a diagonal of 1.

    self_sums (..., sets, sets) has for each pair the sum of the first set with itself, over samples
    where the second set has some, too.
    """
    products = self_sums * np.swapaxes(self_sums, -1, -2)
    cosines = sums / np.sqrt(products)
    diagonal = np.arange(sums.shape[-1])
    cosines[..., diagonal, diagonal] = 1
    return cosines
