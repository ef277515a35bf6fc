"""A matrix as a similarity, at hand or computed at its first use."""

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


class Counted:
    """Computes K, and counts how often, also of parts."""

    def __init__(self):
        self.whole = 0
        self.parts = []

    def similarity(self, divisible=False):
        return DeferredSimilarity(6, self.compute, compute_part=self.part if divisible else None)

    def compute(self):
        self.whole += 1
        return K

    def part(self, index):
        self.parts.append(index.tolist())
        return DeferredSimilarity(len(index), lambda: K[np.ix_(index, index)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: MatrixSimilarity(K),
        lambda: MatrixSimilarity(np.asfortranarray(K)),
        lambda: Counted().similarity(),
        lambda: Counted().similarity(divisible=True),
    ],
    ids=["matrix", "fortran", "deferred", "divisible"],
)
def test_everything_is_that_of_the_matrix(make):
    compare = np.testing.assert_allclose
    V = RNG.standard_normal((6, 2))
    compare(make().dense(), K)
    compare(make().diagonal(), K.diagonal())
    compare(make().rows(slice(1, 4)), K[1:4])
    compare(make().matmul(V), K @ V, rtol=1e-12, atol=1e-12)
    compare(make().squared_norm(), (K**2).sum(), rtol=1e-12)
    compare(make().take(INDEX).dense(), K[np.ix_(INDEX, INDEX)])
    compare(make().part(INDEX).dense(), K[np.ix_(INDEX, INDEX)])
    compare(make().stack(np.array([[0, 1], [5, 2]])), [K[:2, :2], K[[5, 2]][:, [5, 2]]])
    groups = make().groups()
    assert groups[4] == groups[1]
    assert len({*groups}) == 5


def test_single_precision_is_widened():
    narrow = MatrixSimilarity(K.astype(np.float32))
    assert narrow.diagonal().dtype == np.float64
    assert narrow.stack(np.array([[0, 1]])).dtype == np.float64
    V = RNG.standard_normal((6, 2))
    product = narrow.matmul(V)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, K.astype(np.float32).astype(float) @ V, rtol=1e-12)


def test_a_matrix_of_different_samples_has_no_groups():
    assert MatrixSimilarity(np.eye(3)).groups() is None
    assert MatrixSimilarity(np.ones((3, 3))).groups().tolist() == [0, 0, 0]
    # Entries that equal the diagonal do not make rows equal.
    path = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert len({*MatrixSimilarity(path).groups()}) == 3


def test_taken_matrices_know_that_they_are_positive_semidefinite():
    assert MatrixSimilarity(K, psd=True).take(INDEX).psd
    assert not MatrixSimilarity(K).take(INDEX).psd


def test_a_deferred_matrix_is_computed_once_for_all_copies():
    counted = Counted()
    similarity = counted.similarity()
    assert counted.whole == 0
    scaled = similarity.scaled(np.full(6, 2.0))
    part = similarity.take(INDEX)
    assert counted.whole == 0
    np.testing.assert_allclose(scaled.dense(), 4 * K)
    np.testing.assert_allclose(part.dense(), K[np.ix_(INDEX, INDEX)])
    assert counted.whole == 1


def test_parts_are_computed_alone_until_the_whole_is_known():
    counted = Counted()
    similarity = counted.similarity(divisible=True)
    assert similarity.divisible
    similarity.part(INDEX).dense()
    similarity.stack(np.array([[0, 1], [2, 3]]))
    assert (counted.whole, counted.parts) == (0, [[5, 1, 1], [0, 1], [2, 3]])
    similarity.dense()
    assert not similarity.divisible
    similarity.part(INDEX).dense()
    similarity.stack(np.array([[0, 1]]))
    assert (counted.whole, len(counted.parts)) == (1, 3)
    assert not Counted().similarity().divisible


def test_a_pickled_deferred_matrix_is_its_matrix():
    similarity = Counted().similarity(divisible=True).scaled(np.full(6, 2.0))
    similarity = similarity.noted(notes=["a note"])
    twin = pickle.loads(pickle.dumps(similarity))
    assert type(twin) is MatrixSimilarity
    assert twin.notes == ("a note",)
    np.testing.assert_allclose(twin.dense(), 4 * K)


def test_few_features_are_kept_and_others_become_a_matrix():
    similarity = FeatureSimilarity(X)
    assert materialize_matrix(similarity, 4) is similarity
    matrix = materialize_matrix(similarity, 3)
    assert isinstance(matrix, MatrixSimilarity)
    np.testing.assert_allclose(matrix.dense(), X @ X.T)
    assert matrix.psd


def test_copies_of_a_sample_have_equal_rows_in_full():
    rows = RNG.standard_normal((40, 33))
    rows[17] = rows[3]
    noisy = FeatureSimilarity(rows)
    matrix = materialize_matrix(noisy, 0)
    np.testing.assert_array_equal(matrix.K[17], matrix.K[3])
    np.testing.assert_array_equal(matrix.K[:, 17], matrix.K[:, 3])
    np.testing.assert_allclose(matrix.K, rows @ rows.T)
    assert materialize_matrix(noisy.noted(roundoff=1e-5), 0).roundoff == 1e-5
