"""Magnitude: closed forms, the paper's table, the slow way, and invariances."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from point_sets import make_normal_rows, pairwise_distances, solve_weights

from vendiscore import (
    convergence_scale,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_dimension,
    magnitude_function,
    magnitude_weights,
    spread,
)
from vendiscore.magnitude.magnitude_functions import magnitude
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.space import MetricSpace

SCALES = np.geomspace(1e-3, 50, 40)


seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25)


# Closed forms


@pytest.mark.parametrize("t", SCALES)
@pytest.mark.parametrize("d", [0.1, 1.0, 3.0])
def test_two_points(t: float, d: float) -> None:
    assert magnitude([0.0, d], t) == pytest.approx(2 / (1 + math.exp(-t * d)), rel=1e-12)


@pytest.mark.parametrize("t", SCALES)
@pytest.mark.parametrize("n", [3, 20, 400])
def test_complete_graph(n: int, t: float) -> None:
    D = np.ones((n, n)) - np.eye(n)
    expected = n / (1 + (n - 1) * math.exp(-t))
    assert magnitude(D, t, metric="precomputed") == pytest.approx(expected, rel=1e-12)


def test_points_on_a_line() -> None:
    # Leinster & Willerton: Mag = 1 + Σ tanh(gap / 2) over neighbours.
    x = np.sort(make_normal_rows(600, 1).ravel())
    for t in (0.5, 20.0):
        expected = 1 + np.tanh(t * np.diff(x) / 2).sum()
        assert magnitude(x, t) == pytest.approx(expected, rel=1e-9)


def test_magnitude_starts_at_one_and_ends_at_n() -> None:
    X = make_normal_rows(30, 4)
    assert magnitude(X, 0) == 1
    assert magnitude(X, 1e-9) == pytest.approx(1, abs=1e-6)
    assert magnitude(X, 1e4) == pytest.approx(30, abs=1e-12)


@pytest.mark.parametrize("n", [2, 5, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3])
def test_equidistant_convergence_scale_is_analytic(n: int, epsilon: float) -> None:
    space = MetricSpace(2.0 * (np.ones((n, n)) - np.eye(n)))
    t = convergence_scale(space, epsilon=epsilon)
    assert not space.solver.solutions
    assert space.magnitude(t) == pytest.approx((1 - epsilon) * n, rel=1e-12)


def test_far_apart_and_close_together_points_have_a_convergence_scale() -> None:
    X = make_normal_rows(40, 3)
    t = convergence_scale(X)
    assert convergence_scale(X * 1e8) == pytest.approx(t * 1e-8, rel=1e-9)
    assert convergence_scale(X * 1e-8) == pytest.approx(t * 1e8, rel=1e-9)


@pytest.mark.parametrize("samples", [[[1.0, 2.0]], [[1.0, 2.0]] * 5])
def test_single_points_and_copies_of_one_are_a_space_of_one(samples: list) -> None:
    assert magnitude(samples, 3.0) == 1
    assert convergence_scale(samples) == 0
    assert mag_area(samples) == 0
    assert mag_area(samples, average=True) == 1
    assert spread(samples, 3.0) == 1
    assert magnitude_weights(samples, 3.0).sum() == pytest.approx(1)
    assert mag_diff(samples, samples) == 0
    assert len(magnitude_dimension(samples).values) == 0


# The paper's table: Limbeck et al., arXiv 2311.16054, Table S.1 (Manhattan, 10 scales)

TABLE = {
    "X": ([1, 0], 4.602),
    "Q": ([[1, 0], [0, 0]], 4.602),
    "Z": ([1, 0, 0], 4.602),
    "Y": ([1, 0, 0.01], 4.613),
}


@pytest.mark.parametrize("name", TABLE)
def test_table_s1(name: str) -> None:
    t_cut = convergence_scale([1.0, 0.0], metric="manhattan")
    samples, expected = TABLE[name]
    area = mag_area(np.array(samples, float), metric="manhattan", n_scales=10, t_cut=t_cut)
    assert round(area, 3) == expected


def test_table_s1_areas_integrated_exactly() -> None:
    t_cut = convergence_scale([1.0, 0.0])
    areas = mag_areas([[1.0, 0.0], [1.0, 0.0, 0.01]], t_cut=t_cut, n_scales=10_000)
    assert [round(area, 4) for area in areas] == [4.6052, 4.6169]


# Agreement with the slow way


@pytest.mark.parametrize("method", ["auto", "cg", "cholesky"])
@pytest.mark.parametrize("d", [2, 10])
def test_every_method_agrees_with_a_dense_solve(d: int, method: str) -> None:
    X = make_normal_rows(500, d)
    D = pairwise_distances(X)
    space = as_space(X, solver=method)
    for t in convergence_scale(X) * np.array([1.0, 0.5, 0.2, 0.05]):
        expected = solve_weights(D, t)
        assert space.magnitude(t) == pytest.approx(expected.sum(), rel=1e-9)
        np.testing.assert_allclose(space.weights(t), expected, rtol=0, atol=1e-7)
        solution = space.solve(t)
        gradients = {"cg", "preconditioned cg"}
        assert solution.method in ({"cholesky"} if method == "cholesky" else gradients)
        assert solution.residual < 1e-8
        assert abs(space.magnitude(t) / expected.sum() - 1) <= 10 * solution.error


def test_auto_uses_gradients_near_convergence_and_a_factorisation_far_below() -> None:
    space = as_space(make_normal_rows(600, 2))
    t = convergence_scale(space)
    assert space.solve(t).method == "cg"
    assert space.solve(t / 500).method == "preconditioned cg"


def test_only_metrics_of_negative_type_are_solved_without_a_check() -> None:
    X = np.abs(make_normal_rows(300, 3))
    for how, method in (
        ({"metric": "euclidean"}, "cg"),
        ({"metric": "cosine"}, "cg"),
        ({"metric": "minkowski", "exponent": 1.5}, "cg"),
        ({"metric": "minkowski", "exponent": 3}, "cholesky"),
        ({"metric": "chebyshev"}, "cholesky"),
        ({"k": "rbf"}, "cg"),
        ({"k": lambda a, b: float(np.exp(-np.abs(a - b).sum()))}, "cholesky"),
    ):
        space = as_space(X, **how)
        assert space.solve(convergence_scale(space)).method.endswith(method), how
    space = as_space(pairwise_distances(X), metric="precomputed")
    assert space.solve(convergence_scale(space)).method == "cholesky"
    trusted = as_space(pairwise_distances(X), metric="precomputed", solver="cg")
    assert trusted.solve(convergence_scale(trusted)).method == "cg"


def test_almost_identical_points_need_double_precision_and_get_it() -> None:
    X = make_normal_rows(300, 3)
    X = np.concatenate([X, X[:50] + 1e-9])
    space = as_space(X)
    solution = space.solve(1.0)
    assert solution.method == "float64 cholesky"
    assert solution.magnitude == pytest.approx(magnitude(X[:300], 1.0), rel=1e-6)


@pytest.mark.parametrize("t", [0.3, 2.0])
def test_spread_is_the_sum_of_reciprocal_row_sums(t: float) -> None:
    X = make_normal_rows(60, 3)
    expected = (1 / np.exp(-t * pairwise_distances(X)).sum(axis=1)).sum()
    assert spread(X, t) == pytest.approx(expected, rel=1e-12)
    assert 1 <= spread(X, t) <= magnitude(X, t)  # Willerton: for positive weights


def test_trapezoid_area_is_that_of_the_function() -> None:
    X = make_normal_rows(40, 3)
    scales, values = magnitude_function(X, n_scales=20)
    assert len(scales) == 20
    assert scales[0] == 0
    assert values[0] == 1
    assert values[-1] == pytest.approx(0.95 * 40)
    expected = sum((b - a) * (f + g) / 2 for a, b, f, g in zip(
        scales, scales[1:], values, values[1:], strict=False))  # fmt: skip
    assert mag_area(X, n_scales=20) == pytest.approx(expected, rel=1e-12)
    assert mag_area(X, n_scales=20, average=True) == pytest.approx(expected / scales[-1])


# Sets


def test_sets_share_the_median_cut_off() -> None:
    sets = [make_normal_rows(30, 2), 2 * make_normal_rows(30, 2), 5 * make_normal_rows(30, 2)]
    middle = convergence_scale(sets[1])
    assert mag_areas(sets) == [mag_area(X, t_cut=middle) for X in sets]
    assert mag_areas(sets, t_cut=1.0) == [mag_area(X, t_cut=1.0) for X in sets]


def test_difference_is_that_of_areas_up_to_the_references_scale() -> None:
    X, Y = make_normal_rows(30, 2), 3 * make_normal_rows(40, 2, seed=1)
    t_cut = convergence_scale(Y)
    base = mag_area(Y, t_cut=t_cut)
    difference = mag_area(X, t_cut=t_cut) - base
    assert difference < 0
    assert mag_diff(X, Y) == pytest.approx(difference)
    assert mag_diff(X, Y, absolute=True) == pytest.approx(-difference)
    assert mag_diff(X, Y, relative=True) == pytest.approx(difference / base)
    assert mag_diff(X, Y, average=True) == pytest.approx(difference / t_cut)
    assert mag_diff(X, Y, t_cut=1.0) == pytest.approx(
        mag_area(X, t_cut=1.0) - mag_area(Y, t_cut=1.0)
    )
    assert mag_diff(X, X) == 0


def test_absolute_difference_of_crossing_functions_is_larger() -> None:
    X = np.concatenate([make_normal_rows(20, 2), [[50.0, 50.0]]])
    Y = 2 * make_normal_rows(15, 2, seed=1)
    assert mag_diff(X, Y, absolute=True) > abs(mag_diff(X, Y)) + 1e-3


def test_options_that_follow_from_the_data_are_those_of_the_references() -> None:
    X, Y = make_normal_rows(30, 3), 3 * make_normal_rows(30, 3, seed=1)
    shared, own = (as_space(rows, k="rbf").settings["sigma"] for rows in (Y, X))
    assert abs(shared - own) > 0.1
    assert mag_diff(X, Y, k="rbf") == pytest.approx(mag_diff(X, Y, k="rbf", sigma=shared))


# Laws


@few
@given(seeds, st.integers(1, 5))
def test_magnitude_grows_with_scale_in_euclidean_space(seed: int, d: int) -> None:
    values = magnitude_function(
        make_normal_rows(25, d, seed), scales=np.geomspace(0.01, 100, 25)
    ).values
    assert (np.diff(values) > -1e-9).all()
    assert (values >= 1 - 1e-9).all()
    assert (values <= 25 + 1e-9).all()


@few
@given(seeds, st.floats(0.01, 20))
def test_copies_change_nothing_and_share_their_weight(seed: int, t: float) -> None:
    rng = np.random.default_rng(seed)
    X = make_normal_rows(15, 3, seed)
    picked = rng.integers(0, 15, 30)
    Y = np.concatenate([X, X[picked]])
    assert magnitude(Y, t) == pytest.approx(magnitude(X, t), rel=1e-12)
    whole = magnitude_weights(X, t)
    copies = 1 + np.bincount(picked, minlength=15)
    shared = magnitude_weights(Y, t)
    np.testing.assert_allclose(shared[:15], whole / copies, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shared[15:], (whole / copies)[picked], rtol=1e-10, atol=1e-12)


def test_copies_are_found_in_every_kind_of_input() -> None:
    X = make_normal_rows(20, 3)
    Y = np.concatenate([X, X[:7], 3 * X[:7]])
    assert as_space(Y, metric="cosine").distinct == 20
    assert as_space(Y, k="cosine").distinct == 20
    assert as_space(Y, metric="hamming").distinct == 27
    D = pairwise_distances(np.concatenate([X, X]))
    assert as_space(D, metric="precomputed").distinct == 20
    assert as_space(["a b", "b c", "a b"]).distinct == 2
    assert mag_area(D, metric="precomputed") == pytest.approx(mag_area(X), rel=1e-9)


@few
@given(seeds, st.floats(0.01, 20))
def test_magnitude_never_falls_when_a_sample_is_added(seed: int, t: float) -> None:
    X = make_normal_rows(12, 3, seed)
    values = [magnitude(X[:m], t) for m in range(1, 13)]
    assert (np.diff(values) > -1e-9).all()


@few
@given(seeds, st.floats(0.05, 5), st.floats(0.1, 50))
def test_isometries_order_and_units_change_nothing(seed: int, t: float, c: float) -> None:
    rng = np.random.default_rng(seed)
    X = make_normal_rows(12, 3, seed)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(12)
    value, weights = magnitude(X, t), magnitude_weights(X, t)
    assert magnitude(X @ Q + 7.0, t) == pytest.approx(value, rel=1e-7)
    assert magnitude(c * X, t / c) == pytest.approx(value, rel=1e-9)
    assert magnitude(X[order], t) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(magnitude_weights(X[order], t), weights[order], atol=1e-8)


def test_dimension_of_a_line_and_a_square() -> None:
    line = np.linspace(0, 1, 400)
    square = np.stack(np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30)), -1).reshape(-1, 2)
    assert magnitude_dimension(line).values.max() == pytest.approx(1, abs=0.1)
    assert 1.5 < magnitude_dimension(square).values.max() < 2.1


def test_scales_are_sorted_and_kept() -> None:
    scales, values = magnitude_function(make_normal_rows(10, 2), scales=[2, 0, 1, 1])
    assert scales.tolist() == [0, 1, 2]
    assert (np.diff(values) > 0).all()


def test_a_space_keeps_its_solutions() -> None:
    space = as_space(make_normal_rows(20, 2))
    mag_area(space)
    solved = len(space.solver.solutions)
    mag_area(space)
    magnitude_function(space)
    assert len(space.solver.solutions) == solved


def test_single_precision_distances_do() -> None:
    D = pairwise_distances(make_normal_rows(300, 5))
    exact = magnitude(D.astype(np.float32).astype(float), 1.0, metric="precomputed")
    assert magnitude(D.astype(np.float32), 1.0, metric="precomputed") == pytest.approx(
        exact, rel=1e-10
    )


# Kernels


def test_kernel_metric_and_one_minus_k() -> None:
    X = make_normal_rows(20, 3)
    K = np.exp(-(pairwise_distances(X) ** 2) / 2)
    for metric, D in (("kernel", np.sqrt(2 - 2 * K)), ("1-k", 1 - K)):
        np.fill_diagonal(D, 0)
        space = as_space(X, k="rbf", sigma=1.0, metric=metric)
        np.testing.assert_allclose(space.D, D, atol=1e-7)
        assert space.settings["sigma"] == 1.0
        assert as_space(K, score_K=True, metric=metric).magnitude(1.0) == pytest.approx(
            solve_weights(D, 1.0).sum(), rel=1e-6
        )


def test_switches_that_are_off_change_nothing() -> None:
    X = make_normal_rows(10, 2)
    off = {"score_K": False, "score_X": False, "normalize": False, "p": None}
    assert magnitude(X, 1.0, **off) == magnitude(X, 1.0)


def test_one_minus_cosine_is_the_cosine_metric() -> None:
    X = make_normal_rows(20, 3)
    assert mag_area(X, k="cosine", metric="1-k") == pytest.approx(mag_area(X, metric="cosine"))


def test_texts_have_magnitude() -> None:
    texts = ["the cat sat", "the cat sat", "a dog ran off", "the dog sat"]
    assert 1 < magnitude(texts, 1.0) < 3
    assert magnitude(texts, 1.0) == magnitude(texts[1:], 1.0)
    assert magnitude(texts, 1.0, ns=[1]) != magnitude(texts, 1.0)
    assert as_space(texts).settings["metric"] == "√(2−2k)"
