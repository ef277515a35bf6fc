"""Magnitude compared with closed forms, a published table and dense solves; invariances."""

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
fewer_examples = settings(max_examples=25)


# Closed forms


@pytest.mark.parametrize("t", SCALES)
@pytest.mark.parametrize("d", [0.1, 1.0, 3.0])
def test_two_points_match_closed_form(t: float, d: float) -> None:
    assert magnitude([0.0, d], t) == pytest.approx(2 / (1 + math.exp(-t * d)), rel=1e-12)


@pytest.mark.parametrize("t", SCALES)
@pytest.mark.parametrize("n", [3, 20, 400])
def test_equidistant_points_match_closed_form(n: int, t: float) -> None:
    D = np.ones((n, n)) - np.eye(n)
    expected = n / (1 + (n - 1) * math.exp(-t))
    assert magnitude(D, t, metric="precomputed") == pytest.approx(expected, rel=1e-12)


def test_points_on_line_match_closed_form() -> None:
    # Leinster & Willerton: Mag = 1 + Σ tanh(gap / 2) over neighbours.
    x = np.sort(make_normal_rows(600, 1).ravel())
    for t in (0.5, 20.0):
        expected = 1 + np.tanh(t * np.diff(x) / 2).sum()
        assert magnitude(x, t) == pytest.approx(expected, rel=1e-9)


def test_magnitude_is_1_at_scale_0_and_n_at_large_scales() -> None:
    X = make_normal_rows(30, 4)
    assert magnitude(X, 0) == 1
    assert magnitude(X, 1e-9) == pytest.approx(1, abs=1e-6)
    assert magnitude(X, 1e4) == pytest.approx(30, abs=1e-12)


@pytest.mark.parametrize("n", [2, 5, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3])
def test_convergence_scale_of_equidistant_points_needs_no_solve(n: int, epsilon: float) -> None:
    space = MetricSpace(2.0 * (np.ones((n, n)) - np.eye(n)))
    t = convergence_scale(space, epsilon=epsilon)
    assert not space.solver.solutions
    assert space.magnitude(t) == pytest.approx((1 - epsilon) * n, rel=1e-12)


def test_convergence_scale_is_inverse_to_distance_scale() -> None:
    X = make_normal_rows(40, 3)
    t = convergence_scale(X)
    assert convergence_scale(X * 1e8) == pytest.approx(t * 1e-8, rel=1e-9)
    assert convergence_scale(X * 1e-8) == pytest.approx(t * 1e8, rel=1e-9)


@pytest.mark.parametrize("samples", [[[1.0, 2.0]], [[1.0, 2.0]] * 5])
def test_identical_samples_are_single_point(samples: list) -> None:
    assert magnitude(samples, 3.0) == 1
    assert convergence_scale(samples) == 0
    assert mag_area(samples) == 0
    assert mag_area(samples, average=True) == 1
    assert spread(samples, 3.0) == 1
    assert magnitude_weights(samples, 3.0).sum() == pytest.approx(1)
    assert mag_diff(samples, samples) == 0
    assert len(magnitude_dimension(samples).values) == 0


# Published values: Limbeck et al., arXiv 2311.16054, Table S.1 (Manhattan, 10 scales)

PUBLISHED_AREAS = {
    "X": ([1, 0], 4.602),
    "Q": ([[1, 0], [0, 0]], 4.602),
    "Z": ([1, 0, 0], 4.602),
    "Y": ([1, 0, 0.01], 4.613),
}


@pytest.mark.parametrize("name", PUBLISHED_AREAS)
def test_areas_match_published_table_s1(name: str) -> None:
    t_cut = convergence_scale([1.0, 0.0], metric="manhattan")
    samples, expected = PUBLISHED_AREAS[name]
    area = mag_area(np.array(samples, float), metric="manhattan", n_scales=10, t_cut=t_cut)
    assert round(area, 3) == expected


def test_areas_at_many_scales_match_exact_integrals() -> None:
    t_cut = convergence_scale([1.0, 0.0])
    areas = mag_areas([[1.0, 0.0], [1.0, 0.0, 0.01]], t_cut=t_cut, n_scales=10_000)
    assert [round(area, 4) for area in areas] == [4.6052, 4.6169]


# Dense solves


@pytest.mark.parametrize("method", ["auto", "cg", "cholesky"])
@pytest.mark.parametrize("d", [2, 10])
def test_solvers_agree_with_dense_solve(d: int, method: str) -> None:
    X = make_normal_rows(500, d)
    D = pairwise_distances(X)
    space = as_space(X, solver=method)
    for t in convergence_scale(X) * np.array([1.0, 0.5, 0.2, 0.05]):
        expected = solve_weights(D, t)
        assert space.magnitude(t) == pytest.approx(expected.sum(), rel=1e-9)
        np.testing.assert_allclose(space.weights(t), expected, rtol=0, atol=1e-7)
        solution = space.solve(t)
        gradient_methods = {"cg", "preconditioned cg"}
        assert solution.method in ({"cholesky"} if method == "cholesky" else gradient_methods)
        assert solution.residual < 1e-8
        assert abs(space.magnitude(t) / expected.sum() - 1) <= 10 * solution.error


def test_auto_solver_uses_gradients_near_convergence() -> None:
    space = as_space(make_normal_rows(600, 2))
    t = convergence_scale(space)
    assert space.solve(t).method == "cg"
    assert space.solve(t / 500).method == "preconditioned cg"


def test_only_metrics_of_negative_type_skip_check() -> None:
    X = np.abs(make_normal_rows(300, 3))
    for options, method in (
        ({"metric": "euclidean"}, "cg"),
        ({"metric": "cosine"}, "cg"),
        ({"metric": "minkowski", "exponent": 1.5}, "cg"),
        ({"metric": "minkowski", "exponent": 3}, "cholesky"),
        ({"metric": "chebyshev"}, "cholesky"),
        ({"k": "rbf"}, "cg"),
        ({"k": lambda a, b: float(np.exp(-np.abs(a - b).sum()))}, "cholesky"),
    ):
        space = as_space(X, **options)
        assert space.solve(convergence_scale(space)).method.endswith(method), options
    space = as_space(pairwise_distances(X), metric="precomputed")
    assert space.solve(convergence_scale(space)).method == "cholesky"
    cg_space = as_space(pairwise_distances(X), metric="precomputed", solver="cg")
    assert cg_space.solve(convergence_scale(cg_space)).method == "cg"


def test_nearly_identical_points_use_float64() -> None:
    X = make_normal_rows(300, 3)
    X = np.concatenate([X, X[:50] + 1e-9])
    space = as_space(X)
    solution = space.solve(1.0)
    assert solution.method == "float64 cholesky"
    assert solution.magnitude == pytest.approx(magnitude(X[:300], 1.0), rel=1e-6)


@pytest.mark.parametrize("t", [0.3, 2.0])
def test_spread_is_sum_of_reciprocal_row_sums(t: float) -> None:
    X = make_normal_rows(60, 3)
    expected = (1 / np.exp(-t * pairwise_distances(X)).sum(axis=1)).sum()
    assert spread(X, t) == pytest.approx(expected, rel=1e-12)
    assert 1 <= spread(X, t) <= magnitude(X, t)  # Willerton: for positive weights


def test_area_is_trapezoidal_rule_of_magnitude_function() -> None:
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


# Invariances


@fewer_examples
@given(seeds, st.integers(1, 5))
def test_magnitude_increases_with_scale(seed: int, d: int) -> None:
    values = magnitude_function(
        make_normal_rows(25, d, seed), scales=np.geomspace(0.01, 100, 25)
    ).values
    assert (np.diff(values) > -1e-9).all()
    assert (values >= 1 - 1e-9).all()
    assert (values <= 25 + 1e-9).all()


@fewer_examples
@given(seeds, st.floats(0.01, 20))
def test_duplicates_share_weight_and_keep_magnitude(seed: int, t: float) -> None:
    rng = np.random.default_rng(seed)
    X = make_normal_rows(15, 3, seed)
    duplicated_indices = rng.integers(0, 15, 30)
    Y = np.concatenate([X, X[duplicated_indices]])
    assert magnitude(Y, t) == pytest.approx(magnitude(X, t), rel=1e-12)
    weights = magnitude_weights(X, t)
    counts = 1 + np.bincount(duplicated_indices, minlength=15)
    shared_weights = magnitude_weights(Y, t)
    np.testing.assert_allclose(shared_weights[:15], weights / counts, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        shared_weights[15:], (weights / counts)[duplicated_indices], rtol=1e-10, atol=1e-12
    )


def test_duplicates_are_merged_in_all_input_forms() -> None:
    X = make_normal_rows(20, 3)
    Y = np.concatenate([X, X[:7], 3 * X[:7]])
    assert as_space(Y, metric="cosine").distinct == 20
    assert as_space(Y, k="cosine").distinct == 20
    assert as_space(Y, metric="hamming").distinct == 27
    D = pairwise_distances(np.concatenate([X, X]))
    assert as_space(D, metric="precomputed").distinct == 20
    assert as_space(["a b", "b c", "a b"]).distinct == 2
    assert mag_area(D, metric="precomputed") == pytest.approx(mag_area(X), rel=1e-9)


@fewer_examples
@given(seeds, st.floats(0.01, 20))
def test_magnitude_does_not_decrease_with_added_samples(seed: int, t: float) -> None:
    X = make_normal_rows(12, 3, seed)
    values = [magnitude(X[:m], t) for m in range(1, 13)]
    assert (np.diff(values) > -1e-9).all()


@fewer_examples
@given(seeds, st.floats(0.05, 5), st.floats(0.1, 50))
def test_magnitude_ignores_isometries_order_and_units(seed: int, t: float, c: float) -> None:
    rng = np.random.default_rng(seed)
    X = make_normal_rows(12, 3, seed)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order = rng.permutation(12)
    value, weights = magnitude(X, t), magnitude_weights(X, t)
    assert magnitude(X @ Q + 7.0, t) == pytest.approx(value, rel=1e-7)
    assert magnitude(c * X, t / c) == pytest.approx(value, rel=1e-9)
    assert magnitude(X[order], t) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(magnitude_weights(X[order], t), weights[order], atol=1e-8)


def test_dimensions_of_line_and_square() -> None:
    line = np.linspace(0, 1, 400)
    square = np.stack(np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30)), -1).reshape(-1, 2)
    assert magnitude_dimension(line).values.max() == pytest.approx(1, abs=0.1)
    assert 1.5 < magnitude_dimension(square).values.max() < 2.1


def test_scales_are_sorted_and_deduplicated() -> None:
    scales, values = magnitude_function(make_normal_rows(10, 2), scales=[2, 0, 1, 1])
    assert scales.tolist() == [0, 1, 2]
    assert (np.diff(values) > 0).all()


def test_space_caches_solutions() -> None:
    space = as_space(make_normal_rows(20, 2))
    mag_area(space)
    n_solutions = len(space.solver.solutions)
    mag_area(space)
    magnitude_function(space)
    assert len(space.solver.solutions) == n_solutions


def test_float32_distances_are_accepted() -> None:
    D = pairwise_distances(make_normal_rows(300, 5))
    exact = magnitude(D.astype(np.float32).astype(float), 1.0, metric="precomputed")
    assert magnitude(D.astype(np.float32), 1.0, metric="precomputed") == pytest.approx(
        exact, rel=1e-10
    )


# Kernels


def test_kernel_metrics_match_definitions() -> None:
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


def test_disabled_options_change_nothing() -> None:
    X = make_normal_rows(10, 2)
    disabled_options = {"score_K": False, "score_X": False, "normalize": False, "p": None}
    assert magnitude(X, 1.0, **disabled_options) == magnitude(X, 1.0)


def test_one_minus_cosine_kernel_matches_cosine_metric() -> None:
    X = make_normal_rows(20, 3)
    assert mag_area(X, k="cosine", metric="1-k") == pytest.approx(mag_area(X, metric="cosine"))


def test_texts_are_compared_by_ngram_kernel() -> None:
    texts = ["the cat sat", "the cat sat", "a dog ran off", "the dog sat"]
    assert 1 < magnitude(texts, 1.0) < 3
    assert magnitude(texts, 1.0) == magnitude(texts[1:], 1.0)
    assert magnitude(texts, 1.0, ns=[1]) != magnitude(texts, 1.0)
    assert as_space(texts).settings["metric"] == "√(2−2k)"
