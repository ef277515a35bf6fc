"""Distances computed from the similarities of a kernel."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.similarity.kernel_distances import (
    KERNEL_ROUNDING,
    KERNEL_TOLERANCE,
    check_squared_distance,
    kernel_rounding,
    squared_kernel_distances,
    squared_sparse_distances,
)

X = np.random.default_rng(0).standard_normal((7, 4))
SQUARES = ((X[:, None] - X) ** 2).sum(axis=2)


def test_squared_distances_match_differences_of_features():
    K = X @ X.T
    squares = np.vecdot(X, X)
    np.testing.assert_allclose(squared_kernel_distances(K, squares, squares), SQUARES, atol=1e-12)
    block = squared_kernel_distances(K[2:5, 1:3], squares[2:5], squares[1:3])
    np.testing.assert_allclose(block, SQUARES[2:5, 1:3], atol=1e-12)


def test_squared_distances_of_float32_are_computed_in_double():
    K = np.eye(2, dtype=np.float32)
    result = squared_kernel_distances(K, np.ones(2, np.float32), np.ones(2, np.float32))
    assert result.dtype == np.float64
    assert result.tolist() == [[0, 2], [2, 0]]
    assert K.tolist() == [[1, 0], [0, 1]]


def test_squared_sparse_distances_match_dense_differences():
    F = scipy.sparse.csr_array(np.where(X > 0, X, 0))
    dense = F.toarray()
    i, j = np.triu_indices(7)
    expected = ((dense[i] - dense[j]) ** 2).sum(axis=1)
    np.testing.assert_allclose(squared_sparse_distances(F, i, j), expected, rtol=1e-12)
    assert squared_sparse_distances(F, i[:0], j[:0]).shape == (0,)


def test_negative_squared_distances_beyond_rounding_are_rejected():
    check_squared_distance(-2 * KERNEL_TOLERANCE, "a pair")
    for square in (-2.1 * KERNEL_TOLERANCE, np.nan):
        with pytest.raises(ValueError, match=r"at most 1, got .* for a pair"):
            check_squared_distance(square, "a pair")
    with pytest.raises(ValueError, match=r"got 1\.5 for"):
        check_squared_distance(-1.0, "a pair")


def test_kernel_rounding_follows_the_precision_of_the_similarities():
    double, single = np.finfo(np.float64).eps, np.finfo(np.float32).eps
    assert kernel_rounding(MatrixSimilarity(np.eye(2))) == KERNEL_ROUNDING * double
    narrow = MatrixSimilarity(np.eye(2, dtype=np.float32))
    assert kernel_rounding(narrow) == KERNEL_ROUNDING * single
    averaged = MatrixSimilarity(np.eye(2)).noted(roundoff=1e-6)
    assert kernel_rounding(averaged) == KERNEL_ROUNDING * 1e-6
    assert kernel_rounding(FeatureSimilarity(X)) == KERNEL_ROUNDING * double
