"""Neighbours, heat map order and report data agree for features and matrices; one decomposition."""

import numpy as np
import pytest
from decompositions import record_decompositions

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity, compute
from vendiscore.result import key_at
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores
from vendiscore.tools.analysis.layout import clustered_order
from vendiscore.tools.analysis.pair_search import search_pairs
from vendiscore.tools.analysis.report_data import compute_report_data


def coarse_matrix(n: int, seed: int = 0, n_values: int = 5) -> np.ndarray:
    """Return a symmetric matrix with unit diagonal and few distinct entries, so ties occur."""
    upper = np.triu(np.random.default_rng(seed).integers(-1, n_values, size=(n, n)) / n_values, 1)
    return upper + upper.T + np.eye(n)


def find_neighbours(similarity):
    return search_pairs(similarity, np.arange(similarity.n), 0.95)[0]


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_nearest_is_the_row_maximum(n):
    K = coarse_matrix(n)
    result = find_neighbours(MatrixSimilarity(K))
    for i in range(n):
        nearest = max((j for j in range(n) if j != i), key=lambda j: K[i, j], default=0)
        assert result.nearest[i] == nearest
        assert result.similarity[i] == K[i, nearest]


def test_features_give_the_neighbours_and_order_of_a_matrix():
    X = np.random.default_rng(0).normal(size=(700, 5))
    features = FeatureSimilarity(X).normalized()
    coarse_matrix = MatrixSimilarity(features.dense())
    assert np.array_equal(find_neighbours(features).nearest, find_neighbours(coarse_matrix).nearest)
    assert np.array_equal(clustered_order(features), clustered_order(coarse_matrix))


@pytest.mark.parametrize("cluster_size", [5, 60])  # leaves are ordered optimally up to 100
def test_clustered_order_puts_clusters_next_to_each_other(cluster_size):
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat([0, 1, 2], cluster_size))
    X = 50.0 * groups[:, None] + rng.random((3 * cluster_size, 1))
    order = clustered_order(as_similarity(X, k="rbf", sigma=1.0))
    assert sorted(order) == list(range(3 * cluster_size))
    assert np.count_nonzero(np.diff(groups[order])) == 2


def test_clustered_order_of_one_or_two_samples_is_the_identity():
    for n in (1, 2):
        assert clustered_order(MatrixSimilarity(np.eye(n))).tolist() == list(range(n))


def test_most_isolated_sample_has_the_smallest_nearest_similarity():
    K = np.eye(4)
    for i, j, value in [(0, 1, 0.9), (2, 3, 0.2), (0, 2, 0.8), (1, 3, 0.1)]:
        K[i, j] = K[j, i] = value
    neighbours = find_neighbours(MatrixSimilarity(K))
    assert (neighbours.similarity.argmin(), neighbours.similarity.min()) == (3, 0.2)
    assert neighbours.nearest.tolist() == [1, 0, 0, 2]


SIMILARITIES = {
    "features": FeatureSimilarity(np.random.default_rng(0).normal(size=(60, 4))).normalized(),
    "wide features": FeatureSimilarity(np.random.default_rng(0).normal(size=(20, 50))).normalized(),
    "no features": as_similarity(np.random.default_rng(0).normal(size=(40, 2)), k="laplacian"),
    "a matrix": MatrixSimilarity(np.exp(-np.abs(np.subtract.outer(*[np.arange(30) / 9] * 2)))),
    "large": as_similarity(np.random.default_rng(0).normal(size=(600, 2)), k="laplacian"),
}


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3.7, "inf"])
def test_report_data_matches_compute_with_one_decomposition(name, q):
    similarity = SIMILARITIES[name]
    with record_decompositions() as decompositions:
        result = compute_report_data(
            similarity, None, {"q": q} | ({"allow_repeats": False} if q else {})
        )
        assert sum(result.spectrum.values) == pytest.approx(1)
        profile = [result.profile[result.profile_orders.index(order)] for order in (0, 1, 2, 5)]
    size = min(similarity.n, similarity.dim or similarity.n)
    assert [shape for _, shape in decompositions] == [(size, size)]
    # For q=inf and large sets, `compute` uses an iterative solver with nine correct digits.
    assert result.value == pytest.approx(compute(similarity, q=q)[key_at(q)], rel=1e-9)
    expected = compute(similarity, q=[0, 1, 2, 5])
    assert profile == pytest.approx(list(expected.values()), rel=1e-12)


def test_small_orders_are_recomputed_in_double_precision():
    X = np.random.default_rng(0).normal(size=(17_000, 256)).astype(np.float32)
    X[:, -1] *= 1e-3  # a small eigenvalue, which matters only at small orders
    X /= np.linalg.norm(X, axis=1)[:, None]
    similarity = FeatureSimilarity(X).normalized()
    assert compute_vendi_scores(similarity, [1.5]).spectrum.single_precision
    result = compute_report_data(similarity, None, {"q": 1.5})
    assert result.value == pytest.approx(compute(similarity, q=1.5)["VS_q1.5"], rel=1e-7)
    expected = compute_spectrum(similarity).profile(result.profile_orders)
    assert result.profile == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("q", [1, 2])
def test_negative_eigenvalues_raise_unless_clipped(q):
    similarity = MatrixSimilarity(np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]))
    result = compute_report_data(similarity, None, {"q": q, "psd": "clip"})
    assert result.value == compute(similarity, q=q, psd="clip")[key_at(q)]
    assert result.spectrum.values.min() >= 0
    with pytest.raises(ValueError, match="positive semidefinite"):
        _ = compute_report_data(similarity, None, {"q": q}).profile


def test_tensor_gives_the_report_data_of_an_array():
    torch = pytest.importorskip("torch")
    K = coarse_matrix(12, n_values=30) / 20 + 0.95 * np.eye(12)
    K /= K[0, 0]
    array, tensor = (
        compute_report_data(MatrixSimilarity(similarity_matrix), None, {})
        for similarity_matrix in (K, torch.asarray(K))
    )
    assert tensor.value == pytest.approx(array.value, rel=1e-12)
    assert tensor.profile == pytest.approx(array.profile, rel=1e-12)
    assert np.array_equal(tensor.explanation.nearest, array.explanation.nearest)
    assert np.array_equal(tensor.heat_map_order, array.heat_map_order)
