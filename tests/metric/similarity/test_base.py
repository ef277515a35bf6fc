"""All methods of all Similarity classes agree with the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import FeatureSimilarity, MatrixSimilarity, ProductSimilarity, SumSimilarity
from vendiscore.similarity.composite import RepeatedSimilarity
from vendiscore.similarity.duplicate_rows import group_identical_rows

rng = np.random.default_rng(0)
X = rng.standard_normal((9, 4))
S = sp.csr_array(rng.random((9, 30)) * (rng.random((9, 30)) < 0.3))
K = X @ X.T

SIMILARITIES = {
    "tall features": lambda: FeatureSimilarity(X),
    "wide features": lambda: FeatureSimilarity(rng.standard_normal((9, 20))),
    "single precision": lambda: FeatureSimilarity(X.astype(np.float32)),
    "sparse features": lambda: FeatureSimilarity(S),
    "matrix": lambda: MatrixSimilarity(K),
    "repeated": lambda: RepeatedSimilarity(FeatureSimilarity(X), np.array([0, 3, 3, 8, 0])),
    "repeated and scaled": lambda: RepeatedSimilarity(
        FeatureSimilarity(X).normalized(), np.array([0, 3, 3, 8, 0])
    ),
    "sum": lambda: SumSimilarity([MatrixSimilarity(K), FeatureSimilarity(S)], [0.3, 0.7]),
    "sum of features": lambda: SumSimilarity([FeatureSimilarity(X), FeatureSimilarity(S)], [1, 2]),
    "sum of sparse": lambda: SumSimilarity([FeatureSimilarity(S), FeatureSimilarity(S)], [1, 2]),
    "product": lambda: ProductSimilarity([MatrixSimilarity(K), FeatureSimilarity(S)]),
}


@pytest.fixture(params=SIMILARITIES)
def similarity(request):
    return SIMILARITIES[request.param]()


@pytest.mark.parametrize("scaling", ["unscaled", "scaled", "scaled twice"])
def test_all_methods_match_the_dense_matrix(similarity, scaling):
    n = similarity.n
    dense = similarity.dense()
    for _ in range(["unscaled", "scaled", "scaled twice"].index(scaling)):
        factors = rng.uniform(0.5, 2, n)
        dense = factors[:, None] * dense * factors
        similarity = similarity.scaled(factors)
    V = rng.standard_normal((n, 3))
    index = np.array([2, 0, 2])
    tolerance = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(similarity.dense(), dense, **tolerance)
    np.testing.assert_allclose(similarity.diagonal(), np.diag(dense), **tolerance)
    np.testing.assert_allclose(similarity.rows(index), dense[index], **tolerance)
    np.testing.assert_allclose(similarity.rows(slice(1, 4)), dense[1:4], **tolerance)
    np.testing.assert_allclose(np.vstack([b for _, b in similarity.blocks()]), dense, **tolerance)
    np.testing.assert_allclose(similarity.matmul(V), dense @ V, **tolerance)
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), dense @ V[:, 0], **tolerance)
    np.testing.assert_allclose(similarity.squared_norm(), (dense**2).sum(), rtol=1e-6)
    np.testing.assert_allclose(
        similarity.take(index).dense(), dense[np.ix_(index, index)], **tolerance
    )
    root = np.sqrt(np.diag(dense))
    np.testing.assert_allclose(
        similarity.normalized().dense(), dense / np.outer(root, root), **tolerance
    )
    if similarity.dim is not None:
        F = similarity.features()
        F = F.toarray() if sp.issparse(F) else F
        assert F.shape == (n, similarity.dim)
        np.testing.assert_allclose(F @ F.T, dense, **tolerance)
        np.testing.assert_allclose(similarity.covariance(), F.T @ F, **tolerance)


def test_scaled_does_not_modify_the_similarity(similarity):
    original = similarity.dense()
    scaled = similarity.scaled(np.full(similarity.n, 2.0))
    overwritten = scaled.dense()
    overwritten[:] = 0
    np.testing.assert_array_equal(similarity.dense(), original)
    assert similarity.scale is None or similarity.scale is not scaled.scale


def test_compact_drops_zero_columns_and_keeps_similarities():
    pixels = rng.integers(0, 9, (9, 12)).astype(np.uint8)
    pixels[:, :3] = 0
    similarity = FeatureSimilarity(pixels).normalized()
    rows = similarity.rows(slice(2, 5))
    compact = similarity.compact()
    assert compact.dim == 9
    np.testing.assert_allclose(compact.rows(slice(2, 5)), rows, rtol=1e-14)
    np.testing.assert_allclose(compact.diagonal(), similarity.diagonal(), rtol=1e-14)


def test_dense_returns_a_copy_of_the_matrix():
    matrix = K.copy()
    similarity = MatrixSimilarity(matrix)
    similarity.dense()[:] = 0
    np.testing.assert_array_equal(matrix, K)


def test_groups_contain_identical_rows_with_equal_scale():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    for similarity in (FeatureSimilarity(rows), FeatureSimilarity(sp.csr_array(rows))):
        groups = similarity.groups()
        assert groups[0] == groups[2] == groups[3] != groups[1]
        scaled = similarity.scaled(np.array([1.0, 1.0, 1.0, 2.0])).groups()
        assert scaled[0] == scaled[2]
        assert len(set(scaled)) == 3


def test_group_identical_rows_ignores_order_of_sparse_entries():
    ordered = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 2])), (1, 2))
    reversed_ = sp.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2])), (1, 2))
    assert len(set(group_identical_rows(sp.vstack([ordered, reversed_], format="csr")))) == 1


def test_normalized_rejects_zero_rows():
    with pytest.raises(ValueError, match=r"sample 1 cannot be normalized.*must be positive, got 0"):
        FeatureSimilarity(np.array([[1.0, 0.0], [0.0, 0.0]])).normalized()


def test_mixtures_reject_unequal_sizes_and_negative_weights():
    with pytest.raises(ValueError, match=r"same samples, got sizes \[9, 2\]"):
        ProductSimilarity([MatrixSimilarity(K), MatrixSimilarity(np.eye(2))])
    with pytest.raises(ValueError, match=r"`weights` must be 1 finite numbers of at least 0"):
        SumSimilarity([MatrixSimilarity(K)], [-1.0])
