"""The samples that can be selected, as rows of their similarity matrix or as features."""

from collections.abc import Iterator

import numpy as np

from ...similarity.base import Similarity
from ...similarity.features import FeatureSimilarity
from ...support.namespace import is_numpy, row_blocks, to_host


class Candidates:
    """Similarities of n candidates, normalized so that the diagonal is exactly 1.

    `dim` is the number of dense features, or None if the similarity has no dense features.
    """

    def __init__(self, similarity: Similarity) -> None:
        diagonal = to_host(similarity.diagonal())
        if (diagonal != 1).any():
            similarity = similarity.normalized()
        self.similarity = similarity
        self.n: int = similarity.n
        self.dim: int | None = None
        if isinstance(similarity, FeatureSimilarity) and is_numpy(similarity.X):
            # The features of sample i are _scale[i] * _X[i], without columns that are always zero.
            compact = similarity.compact()
            self.dim = compact.dim
            self._X = compact.X
            self._scale = np.ones(self.n)
            if compact.scale is not None:
                self._scale = to_host(compact.scale)

    def row(self, index: int) -> np.ndarray:
        """Return the similarities of one sample to all n samples, shape (n,), as a new array."""
        row = self.rows(np.array([index]))[0]
        row[index] = 1.0
        return row

    def rows(self, indices: np.ndarray) -> np.ndarray:
        """Return the similarities of m samples to all n samples, shape (m, n), as a new array."""
        return np.array(to_host(self.similarity.rows(indices)), float)

    def similarities_among(self, indices: np.ndarray) -> np.ndarray:
        """Return the similarities of m samples to each other, shape (m, m), as a new array."""
        return np.array(to_host(self.similarity.take(indices).dense()), float)

    def features(self, indices: np.ndarray | slice) -> np.ndarray:
        """Return features of m samples, shape (m, dim), of length 1 in double precision.

        Requires that `dim` is not None.
        """
        return np.multiply(self._X[indices], self._scale[indices, None], dtype=np.float64)

    def iter_blocks(self) -> Iterator[slice]:
        """Yield slices of samples whose features fit into the processor cache."""
        dim = self._X.shape[1]
        yield from row_blocks(self.n, 8 * dim, max(256, 2 * dim))
