"""Nearest neighbours and points within radii, compared with all sorted distances."""

import numpy as np
import pytest
import scipy.spatial.distance

from vendiscore.similarity import nearest_neighbours as module
from vendiscore.similarity.nearest_neighbours import (
    TIE_TOLERANCE,
    EuclideanDistances,
    MetricDistances,
    PrecomputedDistances,
    count_within_radii,
    k_nearest_distances,
)

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.standard_normal((30, 3)), RNG.standard_normal((20, 3)) + 0.5])
LATTICE = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)[:50] * 0.1
CLUSTERS = np.repeat(RNG.standard_normal((10, 3)) * 100, 5, axis=0)
CLUSTERS += RNG.standard_normal((50, 3)) * 1e-4
# Squared gaps are below the rounding errors of matrix products.
NARROW = np.repeat(RNG.standard_normal((5, 3)) * 100, 10, axis=0)
NARROW += RNG.standard_normal((50, 3)) * 1e-7
SETS = {
    "random": POINTS,
    "lattice": LATTICE,
    "clusters": CLUSTERS,
    "narrow": NARROW,
    "large": POINTS * 1e200,
}
MAKERS = {
    "rows": lambda X, D: EuclideanDistances(X),
    "metric": lambda X, D: MetricDistances(X, "euclidean", {}, "rows {} and {}".format),
    "matrix": lambda X, D: PrecomputedDistances(D, np.arange(len(X))),
}


def all_distances(X):
    largest = 2.0 ** np.ceil(np.log2(abs(X).max()))  # so that rows keep their digits
    return scipy.spatial.distance.cdist(X / largest, X / largest) * largest


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("source", MAKERS)
@pytest.mark.parametrize("k", [1, 4, 29])
def test_neighbour_distances_match_sorted_distances(name, source, k):
    X = SETS[name]
    D = all_distances(X)
    distances = MAKERS[source](X, D)
    first = slice(0, 30)
    expected = np.sort(D[first, first], axis=1)[:, 1 : k + 1]
    result = k_nearest_distances(distances, first, np.ones(30, int), k, "neighbours")
    np.testing.assert_allclose(result, expected, rtol=1e-10)
    second = slice(30, 50)
    expected = np.sort(D[second, second], axis=1)[:, 1:4]
    result = k_nearest_distances(distances, second, np.ones(20, int), 3, "neighbours")
    np.testing.assert_allclose(result, expected, rtol=1e-10)


@pytest.mark.parametrize("block_size", [1, 64, 1 << 20])
def test_neighbour_distances_do_not_depend_on_block_size(block_size, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_SIZE", block_size)
    monkeypatch.setattr(module, "MIN_COLUMN_GROUPS", 4)
    monkeypatch.setattr(module, "GROUPS_PER_NEIGHBOUR", 1)
    expected = np.sort(all_distances(POINTS), axis=1)[:, 1:6]
    result = k_nearest_distances(
        EuclideanDistances(POINTS), slice(0, 50), np.ones(50, int), 5, "neighbours"
    )
    np.testing.assert_allclose(result, expected, rtol=1e-10)


def test_copies_of_a_point_are_its_neighbours_at_distance_zero():
    counts = np.array([1, 3, 2, 1])
    line = np.array([[0.0], [1], [3], [7]])
    copies = np.repeat(line, counts, axis=0)
    expected = np.sort(all_distances(copies), axis=1)[:, 1:6]
    first = np.cumsum(counts) - counts
    result = k_nearest_distances(EuclideanDistances(line), slice(0, 4), counts, 5, "neighbours")
    np.testing.assert_allclose(result, expected[first])


def test_copies_of_a_single_point_have_neighbour_distance_zero():
    assert k_nearest_distances(
        EuclideanDistances(np.ones((1, 2))), slice(0, 1), np.array([4]), 3, ""
    ).tolist() == [[0, 0, 0]]


def test_overflowing_distances_are_rejected():
    X = np.array([[1.7e308, 0], [-1.7e308, 0], [0, 1]])
    with pytest.raises(ValueError, match="too large for double precision"):
        k_nearest_distances(EuclideanDistances(X), slice(0, 3), np.ones(3, int), 2, "neighbours")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("source", MAKERS)
def test_count_within_radii_counts_copies_of_points(name, source):
    X = SETS[name]
    D = all_distances(X)
    distances = MAKERS[source](X, D)
    rows, columns = slice(0, 30), slice(30, 50)
    counts = RNG.integers(1, 4, 30), RNG.integers(1, 4, 20)
    # Radii of rows and columns: the third-nearest point lies on the boundary of the ball.
    row_radii = np.sort(D[rows, columns], axis=1)[:, [2]]
    column_radii = np.sort(D[rows, columns], axis=0)[[2]]
    row_counts, column_counts = count_within_radii(
        distances, rows, columns, counts, [column_radii, row_radii], "balls"
    )
    for radii, counts_by_row, counts_by_column in zip(
        (column_radii, row_radii), row_counts, column_counts, strict=True
    ):
        inside = D[rows, columns] <= radii * (1 + TIE_TOLERANCE)
        np.testing.assert_array_equal(counts_by_row, inside @ counts[1])
        np.testing.assert_array_equal(counts_by_column, counts[0] @ inside)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra"])
def test_metric_blocks_match_scipy(metric):
    distances = MetricDistances(POINTS, metric, {}, "rows {} and {}".format)
    scipy_metric = {"manhattan": "cityblock"}.get(metric, metric)
    expected = scipy.spatial.distance.cdist(POINTS[3:9], POINTS[5:20], scipy_metric)
    np.testing.assert_allclose(distances.block(slice(3, 9), slice(5, 20)), expected, rtol=1e-12)
    assert (distances.block(slice(3, 9), slice(3, 9)).diagonal() == 0).all()


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_minkowski_is_accurate_at_any_scale(factor):
    distances = MetricDistances(
        POINTS * factor, "minkowski", {"exponent": 3.0}, "rows {} and {}".format
    )
    expected = scipy.spatial.distance.cdist(POINTS, POINTS, "minkowski", p=3) * factor
    all_rows = slice(0, 50)
    np.testing.assert_allclose(distances.block(all_rows, all_rows), expected, rtol=1e-9)


def test_minkowski_is_exact_for_close_points_with_large_exponent():
    X = np.array([[1.0, 0], [1.0 + 2**-40, 0], [3.0, 0]])
    distances = MetricDistances(X, "minkowski", {"exponent": 20.0}, "rows {} and {}".format)
    assert distances.block(slice(0, 1), slice(0, 3))[0].tolist() == [0, 2**-40, 2.0]


def test_error_names_rows_with_undefined_distance():
    X = np.zeros((4, 2))
    X[1:] = RNG.random((3, 2))
    distances = MetricDistances(X, "correlation", {}, "rows {} and {}".format)
    with pytest.raises(ValueError, match=r"'correlation' is undefined .* rows 3 and 0"):
        distances.block(slice(3, 4), slice(0, 2))


def test_rows_nearer_than_min_distance_have_distance_zero():
    X = np.array([[0.0, 0], [1e-9, 0], [1, 0]])
    distances = EuclideanDistances(X, min_distance=1e-8)
    result = k_nearest_distances(distances, slice(0, 3), np.ones(3, int), 1, "neighbours")
    assert result.ravel().tolist() == [0, 0, pytest.approx(1)]


@pytest.mark.parametrize("name", SETS)
def test_euclidean_blocks_are_within_block_bound(name):
    X = SETS[name]
    distances = EuclideanDistances(X)
    all_rows = slice(0, 50)
    with np.errstate(all="ignore"):
        block = distances.block(all_rows, all_rows)
        bound = distances.block_bound(all_distances(X) * (1 + 1e-12))
    assert (block <= bound).all()


def test_precomputed_distances_are_expanded_by_point_index():
    D = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
    distances = PrecomputedDistances(D, np.array([2, 0, 1, 0]))
    assert distances.n == 4
    assert distances.block(slice(0, 2), slice(1, 4)).tolist() == [[2, 3, 2], [0, 1, 0]]
