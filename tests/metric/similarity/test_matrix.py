"""A matrix as a similarity, precomputed or computed on first use."""

import pickle

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.similarity.matrix import DeferredSimilarity, materialize_matrix

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
K = X @ X.T
K[4] = K[1]
K[:, 4] = K[:, 1]
INDEX = np.array([5, 1, 1])


class CountingMatrix:
    """Computes K on demand; counts computations and records requested subsets."""

    def __init__(self):
        self.n_full = 0
        self.subsets = []

    def similarity(self, divisible=False):
        return DeferredSimilarity(
            6, self.compute, compute_part=self.make_subset if divisible else None
        )

    def compute(self):
        self.n_full += 1
        return K

    def make_subset(self, index):
        self.subsets.append(index.tolist())
        return DeferredSimilarity(len(index), lambda: K[np.ix_(index, index)])


@pytest.mark.parametrize(
    "make_similarity",
    [
        lambda: MatrixSimilarity(K),
        lambda: MatrixSimilarity(np.asfortranarray(K)),
        lambda: CountingMatrix().similarity(),
        lambda: CountingMatrix().similarity(divisible=True),
    ],
    ids=["matrix", "fortran", "deferred", "divisible"],
)
def test_all_methods_match_the_matrix(make_similarity):
    assert_close = np.testing.assert_allclose
    V = RNG.standard_normal((6, 2))
    assert_close(make_similarity().dense(), K)
    assert_close(make_similarity().diagonal(), K.diagonal())
    assert_close(make_similarity().rows(slice(1, 4)), K[1:4])
    assert_close(make_similarity().matmul(V), K @ V, rtol=1e-12, atol=1e-12)
    assert_close(make_similarity().squared_norm(), (K**2).sum(), rtol=1e-12)
    assert_close(make_similarity().take(INDEX).dense(), K[np.ix_(INDEX, INDEX)])
    assert_close(make_similarity().part(INDEX).dense(), K[np.ix_(INDEX, INDEX)])
    assert_close(
        make_similarity().stack(np.array([[0, 1], [5, 2]])), [K[:2, :2], K[[5, 2]][:, [5, 2]]]
    )
    groups = make_similarity().groups()
    assert groups[4] == groups[1]
    assert len({*groups}) == 5


def test_float32_matrix_returns_double_precision_results():
    narrow = MatrixSimilarity(K.astype(np.float32))
    assert narrow.diagonal().dtype == np.float64
    assert narrow.stack(np.array([[0, 1]])).dtype == np.float64
    V = RNG.standard_normal((6, 2))
    product = narrow.matmul(V)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, K.astype(np.float32).astype(float) @ V, rtol=1e-12)


def test_groups_are_none_if_all_rows_differ():
    assert MatrixSimilarity(np.eye(3)).groups() is None
    assert MatrixSimilarity(np.ones((3, 3))).groups().tolist() == [0, 0, 0]
    # Entries that equal the diagonal do not make rows equal.
    path = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert len({*MatrixSimilarity(path).groups()}) == 3


def test_take_keeps_positive_semidefiniteness():
    assert MatrixSimilarity(K, psd=True).take(INDEX).psd
    assert not MatrixSimilarity(K).take(INDEX).psd


def test_deferred_matrix_is_computed_once_for_all_copies():
    counted = CountingMatrix()
    similarity = counted.similarity()
    assert counted.n_full == 0
    scaled = similarity.scaled(np.full(6, 2.0))
    subset = similarity.take(INDEX)
    assert counted.n_full == 0
    np.testing.assert_allclose(scaled.dense(), 4 * K)
    np.testing.assert_allclose(subset.dense(), K[np.ix_(INDEX, INDEX)])
    assert counted.n_full == 1


def test_divisible_matrix_computes_subsets_until_it_is_computed_in_full():
    counted = CountingMatrix()
    similarity = counted.similarity(divisible=True)
    assert similarity.divisible
    similarity.part(INDEX).dense()
    similarity.stack(np.array([[0, 1], [2, 3]]))
    assert (counted.n_full, counted.subsets) == (0, [[5, 1, 1], [0, 1], [2, 3]])
    similarity.dense()
    assert not similarity.divisible
    similarity.part(INDEX).dense()
    similarity.stack(np.array([[0, 1]]))
    assert (counted.n_full, len(counted.subsets)) == (1, 3)
    assert not CountingMatrix().similarity().divisible


def test_pickling_a_deferred_similarity_returns_its_matrix():
    similarity = CountingMatrix().similarity(divisible=True).scaled(np.full(6, 2.0))
    similarity = similarity.noted(notes=["a note"])
    restored = pickle.loads(pickle.dumps(similarity))
    assert type(restored) is MatrixSimilarity
    assert restored.notes == ("a note",)
    np.testing.assert_allclose(restored.dense(), 4 * K)


def test_materialize_matrix_keeps_similarities_with_few_features():
    similarity = FeatureSimilarity(X)
    assert materialize_matrix(similarity, 4) is similarity
    matrix = materialize_matrix(similarity, 3)
    assert isinstance(matrix, MatrixSimilarity)
    np.testing.assert_allclose(matrix.dense(), X @ X.T)
    assert matrix.psd


def test_materialized_rows_of_identical_samples_are_equal():
    rows = RNG.standard_normal((40, 33))
    rows[17] = rows[3]
    noisy = FeatureSimilarity(rows)
    matrix = materialize_matrix(noisy, 0)
    np.testing.assert_array_equal(matrix.K[17], matrix.K[3])
    np.testing.assert_array_equal(matrix.K[:, 17], matrix.K[:, 3])
    np.testing.assert_allclose(matrix.K, rows @ rows.T)
    assert materialize_matrix(noisy.noted(roundoff=1e-5), 0).roundoff == 1e-5
