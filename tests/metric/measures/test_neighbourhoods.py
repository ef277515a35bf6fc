"""Balls around references and samples, counted from all pairwise distances."""

import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.distance

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.measures import neighbourhoods
from vendiscore.measures.neighbourhoods import (
    build_kernel_neighbourhoods,
    build_row_neighbourhoods,
    build_space_neighbourhoods,
)
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords

RNG = np.random.default_rng(0)
N, M = 25, 18
X = RNG.random((N + M, 3)) + 0.1
X[4] = X[1]
X[N + 3] = X[N + 7] = X[N]
X[9] = X[N + 5]
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def count_balls_naively(D, k):
    """Return balls around each sample, samples in each ball, and sample balls of each reference."""
    samples, references, cross_distances = D[:N, :N], D[N:, N:], D[:N, N:]
    radii = np.sort(references, axis=1)[:, k] * (1 + 1e-9)
    own_radii = np.sort(samples, axis=1)[:, k] * (1 + 1e-9)
    inside = cross_distances <= radii
    recalled = (cross_distances <= own_radii[:, None]).sum(axis=0)
    return inside.sum(axis=1), inside.sum(axis=0), recalled


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "canberra"])
def test_ball_counts_of_rows_match_distances(metric, k):
    spec = similarity_spec_from_keywords({"metric": metric}, allow_metric=True)
    D = scipy.spatial.distance.cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    D[np.all(X[:, None] == X, axis=2)] = 0
    result = build_row_neighbourhoods(X, N, spec, None)
    n_reference_balls, n_samples_inside, recalled = result.count_balls(k)
    for actual, expected in zip(
        (n_reference_balls, n_samples_inside, recalled), count_balls_naively(D, k), strict=True
    ):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize(
    "make",
    [
        lambda: FeatureSimilarity(UNIT),
        lambda: FeatureSimilarity(scipy.sparse.csr_array(UNIT)),
        lambda: MatrixSimilarity(UNIT @ UNIT.T),
    ],
    ids=["features", "sparse", "matrix"],
)
def test_ball_counts_of_a_kernel_match_distances(make, k):
    D = np.linalg.norm(UNIT[:, None] - UNIT, axis=2)
    result = build_kernel_neighbourhoods(make(), N, None)
    for actual, expected in zip(result.count_balls(k), count_balls_naively(D, k), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_ball_counts_of_a_metric_space_match_distances():
    result = build_space_neighbourhoods(as_space(X), N)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for actual, expected in zip(result.count_balls(3), count_balls_naively(D, 3), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_sample_balls_are_empty_with_at_most_k_samples():
    result = build_row_neighbourhoods(
        X[N - 3 :], 3, similarity_spec_from_keywords({}, allow_metric=True), None
    )
    assert result.count_balls(3).n_sample_balls.tolist() == [0] * M
    assert result.count_balls(2).n_sample_balls.any()


def test_neighbours_are_computed_once_for_several_k(monkeypatch):
    calls = []
    original = neighbourhoods.k_nearest_distances

    def record_call(*arguments):
        calls.append(arguments[3])
        return original(*arguments)

    monkeypatch.setattr(neighbourhoods, "k_nearest_distances", record_call)
    result = build_row_neighbourhoods(
        X, N, similarity_spec_from_keywords({}, allow_metric=True), None
    )
    for k in (1, 5, 10, 5):
        result.count_balls(k)
    assert calls == [10, 10]
    result.count_balls(12)
    assert calls == [10, 10, 12, 12]


def test_subset_reuses_reference_radii_of_its_parent():
    spec = similarity_spec_from_keywords({}, allow_metric=True)
    parent = build_row_neighbourhoods(X, N, spec, None)
    subset = build_row_neighbourhoods(X[5:], N - 5, spec, parent)
    assert subset.compute_radii(1, 2) is parent.compute_radii(1, 2) or np.shares_memory(
        subset.compute_radii(1, 2), parent.compute_radii(1, 2)
    )
    other_metric = build_row_neighbourhoods(
        X[5:],
        N - 5,
        similarity_spec_from_keywords({"metric": "manhattan"}, allow_metric=True),
        parent,
    )
    assert not np.allclose(other_metric.compute_radii(1, 2), parent.compute_radii(1, 2))


def test_distances_within_rounding_are_zero():
    K = np.full((8, 8), 1 - 1e-15)
    np.fill_diagonal(K, 1)
    result = build_kernel_neighbourhoods(MatrixSimilarity(K), 4, None)
    assert result.compute_radii(0, 2).tolist() == [0] * 4
    assert result.count_balls(1).n_reference_balls.tolist() == [4] * 4


def test_undefined_distances_raise_with_rows_of_both_sets():
    rows = X.copy()
    rows[N + 2] = -rows[3]
    with pytest.raises(ValueError, match=r"for row 3 of `samples` and row 2 of `references`"):
        build_row_neighbourhoods(
            rows,
            N,
            similarity_spec_from_keywords({"metric": "braycurtis"}, allow_metric=True),
            None,
        ).count_balls(1)


def test_similarities_above_one_raise():
    K = UNIT @ UNIT.T
    K[0, 3] = K[3, 0] = 1.5
    with pytest.raises(ValueError, match=r"at most 1, got 1\.5 for two samples or ref"):
        build_kernel_neighbourhoods(MatrixSimilarity(K), N, None).count_balls(1)
