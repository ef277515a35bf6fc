"""Stacked distances within groups match the distances of separate groups."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.measures.sample_set import SampleSet
from vendiscore.measures.stacked_distances import as_points, stack_spaces
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords

RNG = np.random.default_rng(0)
X = RNG.random((12, 3))
INDICES = np.array([[0, 4, 7], [2, 1, 11]])


def test_stacked_distances_of_rows_match_metric_spaces():
    for metric in ("euclidean", "cosine", "correlation"):
        points = as_points(
            SampleSet(X, similarity_spec_from_keywords({"metric": metric}, allow_metric=True))
        )
        result = stack_spaces(points, INDICES, metric, True)
        for D, indices in zip(result.D, INDICES, strict=True):
            np.testing.assert_allclose(D, as_space(X[indices], metric=metric).D, rtol=1e-9)
        assert result.unit is None
        assert result.is_valid.all()


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_as_points_returns_none_for_unsupported_metrics(metric):
    assert (
        as_points(
            SampleSet(X, similarity_spec_from_keywords({"metric": metric}, allow_metric=True))
        )
        is None
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("metric", "unit"), [("kernel", 2**0.5), ("1-k", 1.0), (None, 2**0.5)])
def test_stacked_distances_of_a_kernel_match_similarities(sparse, metric, unit):
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = FeatureSimilarity(scipy.sparse.csr_array(rows) if sparse else rows)
    result = stack_spaces(similarity, INDICES, metric, False)
    assert result.unit == unit
    for D, indices in zip(result.D, INDICES, strict=True):
        K = rows[indices] @ rows[indices].T
        expected = 1 - K if metric == "1-k" else np.sqrt(np.maximum(2 - 2 * K, 0))
        np.testing.assert_allclose(D[~np.eye(3, dtype=bool)], expected[~np.eye(3, dtype=bool)])


@pytest.mark.parametrize("sparse", [False, True])
def test_distances_of_close_points_are_accurate(sparse):
    rows = np.array([[1.0, 0, 0], [1, 1e-5, 0], [1, 0, 3e-5]])
    similarity = FeatureSimilarity(scipy.sparse.csr_array(rows) if sparse else rows)
    D = stack_spaces(similarity, np.array([[0, 1, 2]]), None, True).D[0]
    expected = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.testing.assert_allclose(D, expected, rtol=1e-12)


def test_groups_with_identical_points_are_not_valid():
    rows = X.copy()
    rows[4] = rows[0]
    result = stack_spaces(FeatureSimilarity(rows), INDICES, None, True)
    assert result.is_valid.tolist() == [False, True]


def test_possibly_indefinite_similarities_are_not_valid():
    K = MatrixSimilarity(X @ X.T)
    assert not stack_spaces(K, INDICES, "kernel", False).is_valid.any()
    assert stack_spaces(
        MatrixSimilarity(X @ X.T, psd=True), INDICES, "kernel", False
    ).is_valid.all()
    assert not stack_spaces(None, INDICES, "manhattan", True).is_valid.any()


def test_stack_spaces_rejects_tensors_with_gradients():
    torch = pytest.importorskip("torch")
    similarity = FeatureSimilarity(torch.tensor(X, requires_grad=True))
    with pytest.raises(TypeError, match="magnitude cannot be differentiated"):
        stack_spaces(similarity, INDICES, "kernel", False)
