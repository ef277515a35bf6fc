"""Every kind of Similarity answers every question as its dense matrix would."""

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

KINDS = {
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


@pytest.fixture(params=KINDS)
def similarity(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("scaling", ["as it is", "scaled", "scaled twice"])
def test_all_views_agree_with_the_dense_matrix(similarity, scaling):
    n = similarity.n
    dense = similarity.dense()
    for _ in range(["as it is", "scaled", "scaled twice"].index(scaling)):
        s = rng.uniform(0.5, 2, n)
        dense = s[:, None] * dense * s
        similarity = similarity.scaled(s)
    V = rng.standard_normal((n, 3))
    index = np.array([2, 0, 2])
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(similarity.dense(), dense, **close)
    np.testing.assert_allclose(similarity.diagonal(), np.diag(dense), **close)
    np.testing.assert_allclose(similarity.rows(index), dense[index], **close)
    np.testing.assert_allclose(similarity.rows(slice(1, 4)), dense[1:4], **close)
    np.testing.assert_allclose(np.vstack([b for _, b in similarity.blocks()]), dense, **close)
    np.testing.assert_allclose(similarity.matmul(V), dense @ V, **close)
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), dense @ V[:, 0], **close)
    np.testing.assert_allclose(similarity.squared_norm(), (dense**2).sum(), rtol=1e-6)
    np.testing.assert_allclose(similarity.take(index).dense(), dense[np.ix_(index, index)], **close)
    root = np.sqrt(np.diag(dense))
    np.testing.assert_allclose(
        similarity.normalized().dense(), dense / np.outer(root, root), **close
    )
    if similarity.dim is not None:
        F = similarity.features()
        F = F.toarray() if sp.issparse(F) else F
        assert F.shape == (n, similarity.dim)
        np.testing.assert_allclose(F @ F.T, dense, **close)
        np.testing.assert_allclose(similarity.covariance(), F.T @ F, **close)


def test_nothing_is_changed_in_place(similarity):
    before = similarity.dense()
    scaled = similarity.scaled(np.full(similarity.n, 2.0))
    overwritten = scaled.dense()
    overwritten[:] = 0
    np.testing.assert_array_equal(similarity.dense(), before)
    assert similarity.scale is None or similarity.scale is not scaled.scale


def test_columns_of_zeros_are_left_out_of_every_view():
    pixels = rng.integers(0, 9, (9, 12)).astype(np.uint8)
    pixels[:, :3] = 0
    similarity = FeatureSimilarity(pixels).normalized()
    rows = similarity.rows(slice(2, 5))
    compact = similarity.compact()
    assert compact.dim == 9
    np.testing.assert_allclose(compact.rows(slice(2, 5)), rows, rtol=1e-14)
    np.testing.assert_allclose(compact.diagonal(), similarity.diagonal(), rtol=1e-14)


def test_dense_may_be_overwritten_without_harm():
    given = K.copy()
    similarity = MatrixSimilarity(given)
    similarity.dense()[:] = 0
    np.testing.assert_array_equal(given, K)


def test_groups_are_identical_samples_under_an_identical_scale():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    for similarity in (FeatureSimilarity(rows), FeatureSimilarity(sp.csr_array(rows))):
        groups = similarity.groups()
        assert groups[0] == groups[2] == groups[3] != groups[1]
        scaled = similarity.scaled(np.array([1.0, 1.0, 1.0, 2.0])).groups()
        assert scaled[0] == scaled[2]
        assert len(set(scaled)) == 3


def test_sparse_rows_are_identical_whatever_the_order_of_their_entries():
    ordered = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 2])), (1, 2))
    reversed_ = sp.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2])), (1, 2))
    assert len(set(group_identical_rows(sp.vstack([ordered, reversed_], format="csr")))) == 1


def test_a_zero_row_cannot_be_normalized():
    with pytest.raises(ValueError, match=r"sample 1 cannot be normalized.*must be positive, got 0"):
        FeatureSimilarity(np.array([[1.0, 0.0], [0.0, 0.0]])).normalized()


def test_mixtures_need_parts_of_one_size_and_weights_of_at_least_zero():
    with pytest.raises(ValueError, match=r"same samples, got sizes \[9, 2\]"):
        ProductSimilarity([MatrixSimilarity(K), MatrixSimilarity(np.eye(2))])
    with pytest.raises(ValueError, match=r"`weights` must be 1 finite numbers of at least 0"):
        SumSimilarity([MatrixSimilarity(K)], [-1.0])
