"""Repeated similarities, weighted sums and products agree with those of their matrices."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    ProductSimilarity,
    SumSimilarity,
    compute,
)
from vendiscore.similarity.composite import RepeatedSimilarity

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
SPARSE = scipy.sparse.csr_array(np.where(RNG.random((6, 4)) < 0.5, RNG.random((6, 4)), 0))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
COMPONENTS = {
    "features": [FeatureSimilarity(X), FeatureSimilarity(X[:, :2])],
    "sparse features": [FeatureSimilarity(SPARSE), FeatureSimilarity(SPARSE[:, :2])],
    "both": [FeatureSimilarity(X), FeatureSimilarity(SPARSE)],
    "a matrix": [MatrixSimilarity(K, psd=True), FeatureSimilarity(X)],
    "matrices": [MatrixSimilarity(K), MatrixSimilarity(K**2)],
}
WEIGHTS = (0.25, 2.0)
INDEX = np.array([4, 0, 4])


def iter_mixtures():
    for name, components in COMPONENTS.items():
        A, B = (component.dense() for component in components)
        yield f"sum of {name}", SumSimilarity(components, WEIGHTS), WEIGHTS[0] * A + WEIGHTS[1] * B
        yield f"product of {name}", ProductSimilarity(components), A * B
        inverse = np.array([1, 5, 1, 0, 2])
        yield (
            f"repeats of {name}",
            RepeatedSimilarity(components[0].scaled(np.arange(1.0, 7)), inverse),
            (A * np.outer(np.arange(1, 7), np.arange(1, 7)))[np.ix_(inverse, inverse)],
        )


CASES = {name: (similarity, dense) for name, similarity, dense in iter_mixtures()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, 6)], ids=["plain", "scaled"])
def test_all_methods_match_the_dense_matrix(name, scale):
    similarity, dense = CASES[name]
    n = similarity.n
    if scale is not None:
        similarity = similarity.scaled(scale[:n])
        dense = dense * np.outer(scale[:n], scale[:n])
    assert_close = np.testing.assert_allclose
    assert_close(similarity.dense(), dense, rtol=1e-12, atol=1e-12)
    assert_close(similarity.diagonal(), dense.diagonal(), rtol=1e-12)
    assert_close(similarity.rows(slice(1, 3)), dense[1:3], rtol=1e-12, atol=1e-12)
    V = RNG.standard_normal((n, 2))
    assert_close(similarity.matmul(V), dense @ V, rtol=1e-9, atol=1e-12)
    assert_close(similarity.matmul(V[:, 0]), dense @ V[:, 0], rtol=1e-9, atol=1e-12)
    assert_close(similarity.squared_norm(), (dense**2).sum(), rtol=1e-9)
    for subset in (similarity.take, similarity.part):
        assert_close(subset(INDEX).dense(), dense[np.ix_(INDEX, INDEX)], rtol=1e-12, atol=1e-12)
    # Few small sets, and sets whose matrices have more entries than that of all samples.
    for indices in (np.array([[0, 1], [3, 2]]), np.array([[0, 1, 4], [3, 2, 1]] * 4)):
        expected = [dense[np.ix_(index, index)] for index in indices]
        assert_close(similarity.stack(indices), expected, rtol=1e-12, atol=1e-12)
    if similarity.dim is not None:
        F = similarity.features()
        F = F.toarray() if scipy.sparse.issparse(F) else F
        assert F.shape == (n, similarity.dim)
        assert_close(F @ F.T, dense, rtol=1e-9, atol=1e-12)


def test_sum_has_features_if_all_components_have_features():
    assert SumSimilarity(COMPONENTS["both"], WEIGHTS).dim == 3 + 4
    assert SumSimilarity(COMPONENTS["a matrix"], WEIGHTS).dim is None
    assert ProductSimilarity(COMPONENTS["both"]).dim is None
    sparse = SumSimilarity(COMPONENTS["sparse features"], WEIGHTS).features()
    assert scipy.sparse.issparse(sparse)


def test_mixture_is_positive_semidefinite_if_all_components_are():
    assert SumSimilarity(COMPONENTS["a matrix"], WEIGHTS).psd
    assert not ProductSimilarity([FeatureSimilarity(X), MatrixSimilarity(K)]).psd


def test_groups_require_identical_samples_in_all_components():
    first = FeatureSimilarity(np.array([[1.0], [1.0], [1.0], [2.0]]))
    second = FeatureSimilarity(np.array([[5.0], [6.0], [5.0], [5.0]]))
    for mixture in (SumSimilarity([first, second], [1, 1]), ProductSimilarity([first, second])):
        groups = mixture.groups()
        assert groups[0] == groups[2]
        assert len({*groups}) == 3
    repeated = RepeatedSimilarity(first, np.array([3, 0, 1]))
    groups = repeated.groups()
    assert groups[1] == groups[2] != groups[0]


def test_work_is_the_sum_over_components():
    first, second = COMPONENTS["features"]
    total = first.entries_work() + second.entries_work()
    assert SumSimilarity([first, second], WEIGHTS).entries_work() == total
    repeated = RepeatedSimilarity(first, np.zeros(12, int))
    assert repeated.entries_work() == first.entries_work()
    assert repeated.covariance_work() == 2 * first.covariance_work()


@pytest.mark.parametrize("weights", [[1], [1, -0.1], [1, np.inf], [1, np.nan], [1, 1, 1]])
def test_sum_rejects_weights_of_wrong_value_or_number(weights):
    with pytest.raises(ValueError, match="`weights` must be 2 finite numbers"):
        SumSimilarity(COMPONENTS["features"], weights)


def test_product_rejects_components_of_unequal_size():
    with pytest.raises(ValueError, match=r"got sizes \[6, 5\]"):
        ProductSimilarity([FeatureSimilarity(X), FeatureSimilarity(X[:5])])
    with pytest.raises(ValueError, match=r"got sizes \[\]"):
        ProductSimilarity([])


def test_sum_of_numpy_and_torch_components_is_a_tensor():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    mixture = SumSimilarity([MatrixSimilarity(K), FeatureSimilarity(tensor)], [0.5, 0.5])
    dense = mixture.dense()
    assert isinstance(dense, torch.Tensor)
    np.testing.assert_allclose(dense.detach().numpy(), (K + X @ X.T) / 2, rtol=1e-12)
    dense.sum().backward()
    np.testing.assert_allclose(tensor.grad.numpy(), np.tile(X.sum(axis=0), (6, 1)), rtol=1e-12)


def test_function_of_pairs_is_not_called_across_sets():
    """It may raise an error for samples of different groups."""
    samples = [*["x1", "x2", "x1"] * 3, *["y1", "y2", "y2"] * 3]
    groups = np.repeat(np.arange(6), 3)

    def compare_within_letter(a, b):
        assert a[0] == b[0]
        return 1.0 if a == b else 0.25

    result = compute(samples, k=compare_within_letter, groups=groups)["VS"]
    first = compute(samples[:3], k=compare_within_letter)["VS"]
    last = compute(samples[-3:], k=compare_within_letter)["VS"]
    assert result == pytest.approx((first + last) / 2)
