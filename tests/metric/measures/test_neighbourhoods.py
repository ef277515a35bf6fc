"""Balls around references and samples, counted from all pairwise distances."""

import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.distance

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.magnitude.spaces_of_samples import as_space
from vendiscore.measures import neighbourhoods
from vendiscore.measures.neighbourhoods import of_kernel, of_rows, of_space
from vendiscore.resolve.kernel_request import how_of

RNG = np.random.default_rng(0)
N, M = 25, 18
X = RNG.random((N + M, 3)) + 0.1
X[4] = X[1]
X[N + 3] = X[N + 7] = X[N]
X[9] = X[N + 5]
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def naive(D, k):
    """Return in how many balls each sample is, how many are in each, and recalled references."""
    samples, references, between = D[:N, :N], D[N:, N:], D[:N, N:]
    radii = np.sort(references, axis=1)[:, k] * (1 + 1e-9)
    own_radii = np.sort(samples, axis=1)[:, k] * (1 + 1e-9)
    inside = between <= radii
    recalled = (between <= own_radii[:, None]).sum(axis=0)
    return inside.sum(axis=1), inside.sum(axis=0), recalled


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "canberra"])
def test_balls_of_rows_are_those_of_their_distances(metric, k):
    how = how_of({"metric": metric}, distances=True)
    D = scipy.spatial.distance.cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    D[np.all(X[:, None] == X, axis=2)] = 0
    found = of_rows(X, N, how, None)
    around, met, recalled = found.balls(k)
    for actual, expected in zip((around, met, recalled), naive(D, k), strict=True):
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
def test_balls_of_a_kernel_are_those_of_its_distances(make, k):
    D = np.linalg.norm(UNIT[:, None] - UNIT, axis=2)
    found = of_kernel(make(), N, None)
    for actual, expected in zip(found.balls(k), naive(D, k), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_balls_of_a_space_are_those_of_its_distances():
    found = of_space(as_space(X), N)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for actual, expected in zip(found.balls(3), naive(D, 3), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_there_is_no_recall_by_balls_of_too_few_samples():
    found = of_rows(X[N - 3 :], 3, how_of({}, distances=True), None)
    assert found.balls(3).recalled.tolist() == [0] * M
    assert found.balls(2).recalled.any()


def test_neighbours_are_found_once_for_several_k(monkeypatch):
    calls = []
    original = neighbourhoods.k_nearest_distances

    def counted(*arguments):
        calls.append(arguments[3])
        return original(*arguments)

    monkeypatch.setattr(neighbourhoods, "k_nearest_distances", counted)
    found = of_rows(X, N, how_of({}, distances=True), None)
    for k in (1, 5, 10, 5):
        found.balls(k)
    assert calls == [10, 10]
    found.balls(12)
    assert calls == [10, 10, 12, 12]


def test_a_part_takes_the_radii_of_references_from_the_whole():
    how = how_of({}, distances=True)
    whole = of_rows(X, N, how, None)
    part = of_rows(X[5:], N - 5, how, whole)
    assert part.radii(1, 2) is whole.radii(1, 2) or np.shares_memory(
        part.radii(1, 2), whole.radii(1, 2)
    )
    other = of_rows(X[5:], N - 5, how_of({"metric": "manhattan"}, distances=True), whole)
    assert not np.allclose(other.radii(1, 2), whole.radii(1, 2))


def test_distances_within_rounding_are_0():
    K = np.full((8, 8), 1 - 1e-15)
    np.fill_diagonal(K, 1)
    found = of_kernel(MatrixSimilarity(K), 4, None)
    assert found.radii(0, 2).tolist() == [0] * 4
    assert found.balls(1).around.tolist() == [4] * 4


def test_undefined_distances_name_the_row_of_the_set():
    rows = X.copy()
    rows[N + 2] = -rows[3]
    with pytest.raises(ValueError, match=r"for row 3 of `samples` and row 2 of `references`"):
        of_rows(rows, N, how_of({"metric": "braycurtis"}, distances=True), None).balls(1)


def test_similarities_above_1_are_refused():
    K = UNIT @ UNIT.T
    K[0, 3] = K[3, 0] = 1.5
    with pytest.raises(ValueError, match=r"at most 1, got 1\.5 for two of the samples"):
        of_kernel(MatrixSimilarity(K), N, None).balls(1)
