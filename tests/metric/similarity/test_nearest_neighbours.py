"""Nearest neighbours and pairs within radii, against a sort of all distances."""

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
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("k", [1, 4, 29])
def test_neighbours_are_the_nearest_of_all_others(name, maker, k):
    X = SETS[name]
    D = all_distances(X)
    pairs = MAKERS[maker](X, D)
    own = slice(0, 30)
    expected = np.sort(D[own, own], axis=1)[:, 1 : k + 1]
    result = k_nearest_distances(pairs, own, np.ones(30, int), k, "neighbours")
    np.testing.assert_allclose(result, expected, rtol=1e-10)
    other = slice(30, 50)
    expected = np.sort(D[other, other], axis=1)[:, 1:4]
    result = k_nearest_distances(pairs, other, np.ones(20, int), 3, "neighbours")
    np.testing.assert_allclose(result, expected, rtol=1e-10)


@pytest.mark.parametrize("block", [1, 64, 1 << 20])
def test_neighbours_do_not_depend_on_blocks(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_SIZE", block)
    monkeypatch.setattr(module, "MIN_COLUMN_GROUPS", 4)
    monkeypatch.setattr(module, "GROUPS_PER_NEIGHBOUR", 1)
    expected = np.sort(all_distances(POINTS), axis=1)[:, 1:6]
    result = k_nearest_distances(
        EuclideanDistances(POINTS), slice(0, 50), np.ones(50, int), 5, "neighbours"
    )
    np.testing.assert_allclose(result, expected, rtol=1e-10)


def test_copies_of_a_point_are_its_nearest_neighbours():
    counts = np.array([1, 3, 2, 1])
    line = np.array([[0.0], [1], [3], [7]])
    copies = np.repeat(line, counts, axis=0)
    every = np.sort(all_distances(copies), axis=1)[:, 1:6]
    first = np.cumsum(counts) - counts
    result = k_nearest_distances(EuclideanDistances(line), slice(0, 4), counts, 5, "neighbours")
    np.testing.assert_allclose(result, every[first])


def test_one_distinct_point_is_its_own_neighbour():
    assert k_nearest_distances(
        EuclideanDistances(np.ones((1, 2))), slice(0, 1), np.array([4]), 3, ""
    ).tolist() == [[0, 0, 0]]


def test_distances_beyond_the_range_are_refused():
    X = np.array([[1.7e308, 0], [-1.7e308, 0], [0, 1]])
    with pytest.raises(ValueError, match="too large for double precision"):
        k_nearest_distances(EuclideanDistances(X), slice(0, 3), np.ones(3, int), 2, "neighbours")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("maker", MAKERS)
def test_members_of_balls_are_counted_with_their_copies(name, maker):
    X = SETS[name]
    D = all_distances(X)
    pairs = MAKERS[maker](X, D)
    rows, columns = slice(0, 30), slice(30, 50)
    counts = RNG.integers(1, 4, 30), RNG.integers(1, 4, 20)
    # Of rows and of columns: each has a neighbour on the boundary of its ball.
    by_row = np.sort(D[rows, columns], axis=1)[:, [2]]
    by_column = np.sort(D[rows, columns], axis=0)[[2]]
    around, met = count_within_radii(pairs, rows, columns, counts, [by_column, by_row], "balls")
    for radii, of_rows, of_columns in zip((by_column, by_row), around, met, strict=True):
        inside = D[rows, columns] <= radii * (1 + TIE_TOLERANCE)
        np.testing.assert_array_equal(of_rows, inside @ counts[1])
        np.testing.assert_array_equal(of_columns, counts[0] @ inside)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra"])
def test_blocks_of_metrics_are_those_of_scipy(metric):
    pairs = MetricDistances(POINTS, metric, {}, "rows {} and {}".format)
    by = {"manhattan": "cityblock"}.get(metric, metric)
    expected = scipy.spatial.distance.cdist(POINTS[3:9], POINTS[5:20], by)
    np.testing.assert_allclose(pairs.block(slice(3, 9), slice(5, 20)), expected, rtol=1e-12)
    assert (pairs.block(slice(3, 9), slice(3, 9)).diagonal() == 0).all()


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_minkowski_keeps_digits_of_any_unit(factor):
    pairs = MetricDistances(
        POINTS * factor, "minkowski", {"exponent": 3.0}, "rows {} and {}".format
    )
    expected = scipy.spatial.distance.cdist(POINTS, POINTS, "minkowski", p=3) * factor
    everything = slice(0, 50)
    np.testing.assert_allclose(pairs.block(everything, everything), expected, rtol=1e-9)


def test_close_points_far_away_keep_the_digits_of_minkowski():
    X = np.array([[1.0, 0], [1.0 + 2**-40, 0], [3.0, 0]])
    pairs = MetricDistances(X, "minkowski", {"exponent": 20.0}, "rows {} and {}".format)
    assert pairs.block(slice(0, 1), slice(0, 3))[0].tolist() == [0, 2**-40, 2.0]


def test_undefined_distances_name_the_rows_of_the_caller():
    X = np.zeros((4, 2))
    X[1:] = RNG.random((3, 2))
    pairs = MetricDistances(X, "correlation", {}, "rows {} and {}".format)
    with pytest.raises(ValueError, match=r"'correlation' is undefined .* rows 3 and 0"):
        pairs.block(slice(3, 4), slice(0, 2))


def test_rows_nearer_than_the_least_are_identical():
    X = np.array([[0.0, 0], [1e-9, 0], [1, 0]])
    pairs = EuclideanDistances(X, min_distance=1e-8)
    result = k_nearest_distances(pairs, slice(0, 3), np.ones(3, int), 1, "neighbours")
    assert result.ravel().tolist() == [0, 0, pytest.approx(1)]


@pytest.mark.parametrize("name", SETS)
def test_blocks_of_rows_are_lower_bounds(name):
    X = SETS[name]
    pairs = EuclideanDistances(X)
    everything = slice(0, 50)
    with np.errstate(all="ignore"):
        block = pairs.block(everything, everything)
        reach = pairs.block_bound(all_distances(X) * (1 + 1e-12))
    assert (block <= reach).all()


def test_a_matrix_of_distinct_points_is_read_by_the_place_of_each():
    D = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
    pairs = PrecomputedDistances(D, np.array([2, 0, 1, 0]))
    assert pairs.n == 4
    assert pairs.block(slice(0, 2), slice(1, 4)).tolist() == [[2, 3, 2], [0, 1, 0]]
