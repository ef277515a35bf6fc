"""Repeats, weighted sums and products of similarities equal those of their matrices."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import FeatureSimilarity, MatrixSimilarity, ProductSimilarity, SumSimilarity
from vendiscore.similarity.composite import RepeatedSimilarity

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
SPARSE = scipy.sparse.csr_array(np.where(RNG.random((6, 4)) < 0.5, RNG.random((6, 4)), 0))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
PARTS = {
    "features": [FeatureSimilarity(X), FeatureSimilarity(X[:, :2])],
    "sparse features": [FeatureSimilarity(SPARSE), FeatureSimilarity(SPARSE[:, :2])],
    "both": [FeatureSimilarity(X), FeatureSimilarity(SPARSE)],
    "a matrix": [MatrixSimilarity(K, psd=True), FeatureSimilarity(X)],
    "matrices": [MatrixSimilarity(K), MatrixSimilarity(K**2)],
}
WEIGHTS = (0.25, 2.0)
INDEX = np.array([4, 0, 4])


def mixtures():
    for name, parts in PARTS.items():
        A, B = (part.dense() for part in parts)
        yield f"sum of {name}", SumSimilarity(parts, WEIGHTS), WEIGHTS[0] * A + WEIGHTS[1] * B
        yield f"product of {name}", ProductSimilarity(parts), A * B
        inverse = np.array([1, 5, 1, 0, 2])
        yield (
            f"repeats of {name}",
            RepeatedSimilarity(parts[0].scaled(np.arange(1.0, 7)), inverse),
            (A * np.outer(np.arange(1, 7), np.arange(1, 7)))[np.ix_(inverse, inverse)],
        )


CASES = {name: (similarity, dense) for name, similarity, dense in mixtures()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, 6)], ids=["plain", "scaled"])
def test_everything_follows_from_the_matrix(name, scale):
    similarity, dense = CASES[name]
    n = similarity.n
    if scale is not None:
        similarity = similarity.scaled(scale[:n])
        dense = dense * np.outer(scale[:n], scale[:n])
    compare = np.testing.assert_allclose
    compare(similarity.dense(), dense, rtol=1e-12, atol=1e-12)
    compare(similarity.diagonal(), dense.diagonal(), rtol=1e-12)
    compare(similarity.rows(slice(1, 3)), dense[1:3], rtol=1e-12, atol=1e-12)
    V = RNG.standard_normal((n, 2))
    compare(similarity.matmul(V), dense @ V, rtol=1e-9, atol=1e-12)
    compare(similarity.matmul(V[:, 0]), dense @ V[:, 0], rtol=1e-9, atol=1e-12)
    compare(similarity.squared_norm(), (dense**2).sum(), rtol=1e-9)
    for of in (similarity.take, similarity.part):
        compare(of(INDEX).dense(), dense[np.ix_(INDEX, INDEX)], rtol=1e-12, atol=1e-12)
    places = np.array([[0, 1], [3, 2]])
    expected = [dense[np.ix_(at, at)] for at in places]
    compare(similarity.stack(places), expected, rtol=1e-12, atol=1e-12)
    if similarity.dim is not None:
        F = similarity.features()
        F = F.toarray() if scipy.sparse.issparse(F) else F
        assert F.shape == (n, similarity.dim)
        compare(F @ F.T, dense, rtol=1e-9, atol=1e-12)


def test_a_sum_has_features_if_all_parts_have_some():
    assert SumSimilarity(PARTS["both"], WEIGHTS).dim == 3 + 4
    assert SumSimilarity(PARTS["a matrix"], WEIGHTS).dim is None
    assert ProductSimilarity(PARTS["both"]).dim is None
    sparse = SumSimilarity(PARTS["sparse features"], WEIGHTS).features()
    assert scipy.sparse.issparse(sparse)


def test_a_mixture_is_positive_semidefinite_if_all_parts_are():
    assert SumSimilarity(PARTS["a matrix"], WEIGHTS).psd
    assert not ProductSimilarity([FeatureSimilarity(X), MatrixSimilarity(K)]).psd


def test_samples_are_identical_if_they_are_in_every_part():
    one = FeatureSimilarity(np.array([[1.0], [1.0], [1.0], [2.0]]))
    two = FeatureSimilarity(np.array([[5.0], [6.0], [5.0], [5.0]]))
    for mixture in (SumSimilarity([one, two], [1, 1]), ProductSimilarity([one, two])):
        groups = mixture.groups()
        assert groups[0] == groups[2]
        assert len({*groups}) == 3
    repeated = RepeatedSimilarity(one, np.array([3, 0, 1]))
    groups = repeated.groups()
    assert groups[1] == groups[2] != groups[0]


def test_work_is_that_of_the_parts():
    one, two = PARTS["features"]
    total = one.entries_work() + two.entries_work()
    assert SumSimilarity([one, two], WEIGHTS).entries_work() == total
    repeated = RepeatedSimilarity(one, np.zeros(12, int))
    assert repeated.entries_work() == one.entries_work()
    assert repeated.covariance_work() == 2 * one.covariance_work()


@pytest.mark.parametrize("weights", [[1], [1, -0.1], [1, np.inf], [1, np.nan], [1, 1, 1]])
def test_weights_must_be_finite_and_one_per_part(weights):
    with pytest.raises(ValueError, match="`weights` must be 2 finite numbers"):
        SumSimilarity(PARTS["features"], weights)


def test_parts_must_be_of_the_same_number_of_samples():
    with pytest.raises(ValueError, match=r"got sizes \[6, 5\]"):
        ProductSimilarity([FeatureSimilarity(X), FeatureSimilarity(X[:5])])
    with pytest.raises(ValueError, match=r"got sizes \[\]"):
        ProductSimilarity([])


def test_parts_of_both_libraries_are_compared_in_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    mixture = SumSimilarity([MatrixSimilarity(K), FeatureSimilarity(tensor)], [0.5, 0.5])
    dense = mixture.dense()
    assert isinstance(dense, torch.Tensor)
    np.testing.assert_allclose(dense.detach().numpy(), (K + X @ X.T) / 2, rtol=1e-12)
    dense.sum().backward()
    np.testing.assert_allclose(tensor.grad.numpy(), np.tile(X.sum(axis=0), (6, 1)), rtol=1e-12)
