"""Distances of pairs of rows, compared with differences in long double precision."""

import numpy as np
import pytest

from vendiscore import TooLargeError
from vendiscore.similarity import row_distances
from vendiscore.similarity.row_distances import (
    RowDistances,
    check_distance_memory,
    check_finite_distances,
    distances_by_differences,
    distinct_row_indices,
    fill_symmetric,
    find_asymmetry,
    largest_entry,
    median_of_rows,
    minkowski_distances,
    recompute_close_pairs,
    scale_by_power_of_two,
    scaling_exponent,
    split_into_pair_blocks,
    squared_distances,
    symmetrize,
)

RNG = np.random.default_rng(0)
FEW_COLUMNS, MANY_COLUMNS = RNG.standard_normal((30, 4)), RNG.standard_normal((30, 40))
# Distant narrow clusters: matrix products lose all digits of small distances.
CLUSTERS = np.repeat(RNG.standard_normal((10, 40)) * 1e3, 3, axis=0)
CLUSTERS += RNG.standard_normal((30, 40)) * 1e-6
WIDE = np.repeat(RNG.standard_normal((10, 40)) * 1e3, 3, axis=0) + MANY_COLUMNS * 0.1
SETS = {
    "few columns": FEW_COLUMNS,
    "many columns": MANY_COLUMNS,
    "clusters": CLUSTERS,
    "wide clusters": WIDE,
}
SETS["far"] = MANY_COLUMNS + 1e6


def long_double_distances(X, kernel="gaussian"):
    gap = X[:, None].astype(np.longdouble) - X
    return ((gap**2).sum(2) if kernel == "gaussian" else abs(gap).sum(2)).astype(float)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_distances_match_long_double_differences(name, kernel):
    X = SETS[name]
    distances = RowDistances(X, kernel, sigma=1e-6)
    all_rows = slice(0, len(X))
    result, expected = distances(all_rows, all_rows), long_double_distances(X, kernel)
    np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-25)
    assert (result >= 0).all()
    index, columns = np.array([3, 17, 3]), np.array([0, 29])
    np.testing.assert_allclose(
        distances(index, columns), expected[np.ix_(index, columns)], rtol=1e-8
    )
    subset = distances.take(index)
    np.testing.assert_allclose(
        subset(slice(0, 3), slice(0, 3)), expected[np.ix_(index, index)], rtol=1e-8, atol=1e-25
    )


@pytest.mark.parametrize("name", SETS)
def test_squared_distances_have_small_relative_errors(name):
    result = squared_distances(SETS[name])
    np.testing.assert_allclose(result, long_double_distances(SETS[name]), rtol=1e-11, atol=0)
    np.testing.assert_array_equal(result, result.T)


def test_matrix_products_are_used_if_the_bandwidth_allows_their_error():
    assert not RowDistances(FEW_COLUMNS, "gaussian").uses_matrix_product
    assert not RowDistances(MANY_COLUMNS, "laplace").uses_matrix_product
    default = RowDistances(MANY_COLUMNS, "gaussian", sigma=10.0)
    assert default.uses_matrix_product
    assert default.can_use_float32
    assert not default.is_lossy
    narrow = RowDistances(CLUSTERS, "gaussian", sigma=1.0)
    assert narrow.is_lossy
    assert not narrow.can_use_float32


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_distances_by_differences_supports_numpy_and_torch(library, kernel):
    A, B = MANY_COLUMNS[:5], MANY_COLUMNS[3:9]
    expected = long_double_distances(MANY_COLUMNS, kernel)[:5, 3:9]
    if library == "torch":
        torch = pytest.importorskip("torch")
        A, B = torch.tensor(A), torch.tensor(B)
    np.testing.assert_allclose(
        np.asarray(distances_by_differences(A, B, kernel)), expected, rtol=1e-12
    )


def test_tensor_distances_match_long_double_differences():
    torch = pytest.importorskip("torch")
    distances = RowDistances(torch.tensor(CLUSTERS), "gaussian", sigma=1.0)
    all_rows = slice(0, 30)
    result = distances(all_rows, all_rows).numpy()
    np.testing.assert_allclose(result, long_double_distances(CLUSTERS), rtol=1e-8, atol=1e-25)


def test_coordinatewise_median_of_rows_ignores_outliers():
    X = np.arange(10.0)[:, None] * [1.0, -1.0]
    X[9] = 1e9
    assert median_of_rows(X).tolist() == [5.0, -3.0]
    repeated = np.tile(X, (100, 1))
    assert median_of_rows(repeated).shape == (2,)
    assert abs(median_of_rows(repeated)).max() < 10


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000, 5000])
def test_pair_blocks_cover_all_rows_once(n):
    blocks = split_into_pair_blocks(n)
    covered = np.concatenate([np.arange(n)[block] for block in blocks])
    assert covered.tolist() == list(range(n))
    assert len(blocks) <= row_distances.MIN_BLOCKS


def test_fill_symmetric_mirrors_the_upper_blocks():
    D = long_double_distances(FEW_COLUMNS)
    upper = [(slice(0, 11), D[:11]), (slice(11, 30), D[11:, 11:])]
    np.testing.assert_array_equal(fill_symmetric(np.empty((30, 30)), iter(upper)), D)


def test_find_asymmetry_returns_the_first_pair_beyond_the_tolerance():
    D = long_double_distances(FEW_COLUMNS) * 1e3
    assert find_asymmetry(D, 1e-6) is None
    D[20, 4] *= 1 + 1e-5
    assert find_asymmetry(D, 1e-4) is None
    assert find_asymmetry(D, 1e-6) == (4, 20)
    D[1, 2] = 0
    assert find_asymmetry(D, 1e-6) == (1, 2)


def test_symmetrize_returns_a_new_array():
    A = RNG.standard_normal((40, 40))
    original = A.copy()
    result = symmetrize(A, "a matrix")
    np.testing.assert_allclose(result, (A + A.T) / 2, rtol=1e-15)
    np.testing.assert_array_equal(A, original)
    large = np.full((2, 2), 1.7e308)
    assert np.isfinite(symmetrize(large, "a matrix")).all()
    with pytest.raises(TooLargeError, match="a large matrix"):
        symmetrize(np.broadcast_to(0.0, (10**8, 10**8)), "a large matrix")


def test_error_names_rows_with_undefined_distance():
    D = np.ones((3, 4))
    check_finite_distances(D, "cosine", "rows {} and {}".format)
    for value in (np.nan, np.inf):
        D[2, 1] = value
        with pytest.raises(
            ValueError, match=rf"'cosine' is undefined \(got {value}\) for rows 2 and 1"
        ):
            check_finite_distances(D, "cosine", "rows {} and {}".format)


@pytest.mark.parametrize("largest", [0.0, 1.0, 1e49, 1e60, 1e300, 1e-60, 1e-300])
def test_scaling_exponent_is_nonzero_only_if_squares_could_overflow(largest):
    X = np.array([[largest, -largest / 2]])
    assert largest_entry(-X) == largest
    exponent = scaling_exponent(X)
    if largest in (0.0, 1.0, 1e49):
        assert exponent == 0
    else:
        assert 0.5 <= largest * 2.0**-exponent < 1


@pytest.mark.parametrize("exponent", [0, 1, -1, 1500, -1500, 2000])
def test_scale_by_power_of_two_is_exact(exponent):
    X = np.array([1.5, -3.25]) * 2.0 ** (-min(1000, max(-1000, exponent // 2)))
    result = scale_by_power_of_two(X, exponent)
    np.testing.assert_array_equal(result, np.ldexp(X, exponent))
    assert scale_by_power_of_two(np.array([3], np.int8), 1).dtype == np.float64


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.5])
@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_minkowski_distances_are_accurate_at_any_scale(exponent, factor):
    X = MANY_COLUMNS[:6] * factor
    i, j = np.array([0, 1, 5]), np.array([3, 2, 5])
    gap = abs(MANY_COLUMNS[i] - MANY_COLUMNS[j])
    expected = (gap**exponent).sum(axis=1) ** (1 / exponent) * factor
    np.testing.assert_allclose(minkowski_distances(X, i, j, exponent), expected, rtol=1e-12)


def test_only_close_pairs_are_recomputed():
    D = np.array([[0.5, 2.0], [3.0, 0.1]])
    recomputed_pairs = []

    def compute_distances(i, j):
        recomputed_pairs.extend(zip(i.tolist(), j.tolist(), strict=True))
        return np.full(len(i), -1.0)

    recompute_close_pairs(D, 1.0, compute_distances)
    assert recomputed_pairs == [(0, 0), (1, 1)]
    assert D.tolist() == [[-1, 2], [3, -1]]


def test_check_distance_memory_rejects_too_many_samples():
    check_distance_memory(FEW_COLUMNS)
    for d in (1, 100):
        with pytest.raises(TooLargeError, match="all pairs of 100000000 samples"):
            check_distance_memory(np.broadcast_to(0.0, (10**8, d)))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_distinct_row_indices_are_in_order_of_first_appearance(library):
    X = np.array([[2.0, 0.0], [1, 1], [2, -0.0], [0, 0], [1, 1]])
    if library == "torch":
        X = pytest.importorskip("torch").tensor(X)
    assert distinct_row_indices(X).tolist() == [0, 1, 3]
