"""Kernels for vectors, compared with their formulas."""

import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.distance

from vendiscore import SampleError, as_similarity, compute

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 4))
X[5] = X[2]
SQUARES = scipy.spatial.distance.cdist(X, X, "sqeuclidean")
MANHATTAN = scipy.spatial.distance.cdist(X, X, "cityblock")
MEDIAN_ROWS = np.delete(X, 5, axis=0)  # distinct rows


def dense(samples, **arguments):
    return np.asarray(as_similarity(samples, **arguments).dense())


def test_cosine_equals_dot_product_of_unit_rows():
    unit_rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    for rows in (X, X * 1e200, X * 1e-200, scipy.sparse.csr_array(X)):
        np.testing.assert_allclose(
            dense(rows, k="cosine"), unit_rows @ unit_rows.T, rtol=1e-9, atol=1e-12
        )
    assert dense([1.0, -2.0, 3.0], k="cosine").tolist() == [[1, -1, 1], [-1, 1, -1], [1, -1, 1]]


def test_linear_equals_dot_product_and_requires_unit_rows():
    unit_rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(dense(unit_rows, k="linear"), unit_rows @ unit_rows.T, rtol=1e-12)
    np.testing.assert_allclose(
        dense(X, k="linear", normalize=True), unit_rows @ unit_rows.T, rtol=1e-12
    )
    with pytest.raises(SampleError, match="similarity 1 with itself"):
        dense(X, k="linear")


@pytest.mark.parametrize("sigma", [0.3, 1.0, 5])
@pytest.mark.parametrize(
    "convert", [np.asarray, scipy.sparse.csr_array, list], ids=["array", "sparse", "list"]
)
def test_exponential_kernels_match_formulas(sigma, convert):
    rows = convert(X)
    expected = np.exp(-SQUARES / (2 * sigma**2))
    np.testing.assert_allclose(dense(rows, k="rbf", sigma=sigma), expected, rtol=1e-9)
    expected = np.exp(-MANHATTAN / sigma)
    np.testing.assert_allclose(dense(rows, k="laplacian", sigma=sigma), expected, rtol=1e-9)


@pytest.mark.parametrize(("kernel", "metric"), [("rbf", "euclidean"), ("laplacian", "cityblock")])
def test_default_sigma_is_median_distance_of_distinct_samples(kernel, metric):
    expected = np.median(scipy.spatial.distance.pdist(MEDIAN_ROWS, metric))
    options = compute(X, k=kernel, details=True)["details"]["options"]
    assert options["sigma"] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(dense(X, k=kernel), dense(X, k=kernel, sigma=expected), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("sigma", [0, -1, np.inf, np.nan])
def test_sigma_must_be_positive_and_finite(kernel, sigma):
    with pytest.raises(ValueError, match="`sigma` must be a finite number above 0"):
        dense(X, k=kernel, sigma=sigma)
    with pytest.raises(TypeError, match="`sigma`"):
        dense(X, k=kernel, sigma="1")


@pytest.mark.parametrize("convert", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_cosine_rejects_zero_vectors(convert):
    rows = X.copy()
    rows[[3, 6]] = 0
    with pytest.raises(SampleError, match="sample 3 is a zero vector") as caught:
        dense(convert(rows), k="cosine")
    assert [*caught.value.problems] == [3, 6]


@pytest.mark.parametrize(
    ("kernel", "has_features"),
    [("cosine", True), ("linear", True), ("rbf", False), ("laplacian", False)],
)
def test_only_cosine_and_linear_have_features(kernel, has_features):
    similarity = as_similarity(X / np.linalg.norm(X, axis=1, keepdims=True), k=kernel)
    assert (similarity.dim == 4) == has_features
    assert similarity.psd


class TestTensors:
    torch = pytest.importorskip("torch")

    @pytest.mark.parametrize("kernel", ["cosine", "rbf", "laplacian"])
    def test_tensors_match_arrays(self, kernel):
        options = {} if kernel == "cosine" else {"sigma": 1.5}
        result = as_similarity(self.torch.tensor(X), k=kernel, **options).dense()
        np.testing.assert_allclose(result.numpy(), dense(X, k=kernel, **options), atol=1e-12)

    def test_sigma_is_differentiable(self):
        sigma = self.torch.tensor(1.5, dtype=self.torch.float64, requires_grad=True)
        as_similarity(self.torch.tensor(X), k="rbf", sigma=sigma).dense().sum().backward()
        expected = (np.exp(-SQUARES / 4.5) * SQUARES / 1.5**3).sum()
        assert sigma.grad.item() == pytest.approx(expected, rel=1e-9)
