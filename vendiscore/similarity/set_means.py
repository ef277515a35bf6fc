"""Mean similarities between sets of samples, and the cosines of their mean features."""

import numpy as np

from ..support.namespace import asarray_like, to_host
from ..support.threads import slices
from .base import Similarity

SETS = 64  # whose sums are in memory at once


def set_sums(similarity: Similarity, codes: np.ndarray, sets: int) -> np.ndarray:
    """Return Σ k(x, y) over samples x of one set and y of another, (sets, sets).

    `codes` (n,) has the set of each sample. It takes the time of O(n²) similarities, or O(n d).
    """
    places = np.arange(sets)
    if np.array_equal(codes, places):
        return to_host(similarity.dense())
    similarity = similarity.in_numpy()
    diagonal = similarity.diagonal()
    sums = np.empty((sets, sets))
    for columns in slices(sets, SETS):
        is_member = codes[:, None] == places[columns]
        products = similarity.matmul(asarray_like(is_member, diagonal))
        for column, of_column in zip(places[columns], to_host(products).T, strict=True):
            sums[:, column] = np.bincount(codes, of_column, sets)
    return (sums + sums.T) / 2


def mean_similarities(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return mean similarities (…, sets, sets) of sets of `counts` (…, sets); 0 for empty ones."""
    shares = np.zeros(counts.shape)
    np.divide(1, counts, out=shares, where=counts > 0)
    return sums * shares[..., :, None] * shares[..., None, :]


def without_own(means: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean similarity (..., sets) of two different samples of each set.

    From the means (..., sets) over all pairs, in which each sample is compared with itself, too:
    (n m − 1)/(n − 1) for n samples, where k(x, x) = 1; NaN for sets of one.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        different = (counts * means - 1) / (counts - 1)
        return np.where(counts > 1, different, np.nan)


def cosines(sums: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return sums (..., sets, sets) over √(own own'), with a diagonal of 1.

    own (..., sets, sets) has for each pair what the first set has with itself, where the second
    has samples, too.
    """
    products = own * np.swapaxes(own, -1, -2)
    cosines = sums / np.sqrt(products)
    diagonal = np.arange(sums.shape[-1])
    cosines[..., diagonal, diagonal] = 1
    return cosines
