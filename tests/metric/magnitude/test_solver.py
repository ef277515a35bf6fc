"""Accuracy of magnitudes and of their error estimates, for near-duplicates and threads."""

import math
import threading

import mpmath
import numpy as np
import pytest
from magnitude_measures import compute_magnitude
from point_sets import make_normal_rows, pairwise_distances, solve_weights
from scipy.spatial.distance import cdist

from vendiscore import IndefiniteError, convergence_scale, mag_diff, magnitude_weights, spread
from vendiscore.magnitude.magnitude_functions import magnitude
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.solver import (
    N_EXTRAPOLATION_SCALES,
    Solution,
    Solver,
    compute_nearest_distances,
)
from vendiscore.magnitude.space import MetricSpace

pytestmark = pytest.mark.whole  # cases can switch to double precision in different ways


def magnitude_on_line(x: np.ndarray, t: float) -> float:
    """Return the magnitude 1 + Σ tanh(t gap / 2) of points on a line (Leinster & Willerton)."""
    return 1 + float(np.tanh(t * np.diff(np.sort(x)) / 2).sum())


def draw_near_duplicates(gap: float, n: int = 400, seed: int = 0) -> np.ndarray:
    """Return n normally distributed points, and n / 2 points in a cluster of size `gap`."""
    rng = np.random.default_rng(seed)
    return np.r_[rng.standard_normal(n), gap * rng.standard_normal(n // 2)]


def check_magnitude(space: MetricSpace, t: float, expected: float) -> None:
    """Check that the magnitude is within the guaranteed error and the reported error."""
    result = space.magnitude(t)
    error = abs(result / expected - 1)
    assert error < 1e-9
    reported_error = next(s.error for s in space.solver.solutions if s.t == t)
    assert error <= reported_error + 1e-13


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8])
def test_near_duplicates_are_accurate_in_any_order_of_scales(gap: float, order: str) -> None:
    x = draw_near_duplicates(gap)
    scales = np.geomspace(0.01, 100, 9)
    scales = {
        "ascending": scales,
        "descending": scales[::-1],
        "random": np.random.default_rng(1).permutation(scales),
    }[order]
    space = as_space(x)
    for t in scales:
        check_magnitude(space, float(t), magnitude_on_line(x, t))


def test_scores_keep_order_of_scales() -> None:
    x = draw_near_duplicates(1e-6)
    scales = [2.285, 0.5, 10.0, 2.0]
    scores = compute_magnitude(x, t=scales)
    assert list(scores) == [f"Magnitude_t{t:g}" for t in scales]
    assert list(scores.values()) == pytest.approx(
        [magnitude_on_line(x, t) for t in scales], rel=1e-9
    )


@pytest.mark.parametrize("metric", ["manhattan", "precomputed", "minkowski", "chebyshev"])
@pytest.mark.parametrize("method", ["auto", "cg", "cholesky"])
def test_magnitude_of_non_euclidean_metrics_is_accurate_for_near_duplicates(
    metric: str, method: str
) -> None:
    x = draw_near_duplicates(1e-5, 300)
    options = {"exponent": 1.5} if metric == "minkowski" else {}
    X = np.abs(x[:, None] - x) if metric == "precomputed" else x
    space = as_space(X, metric=metric, solver=method, **options)
    for t in (10.0, 2.0, 3.3, 0.4):
        check_magnitude(space, t, magnitude_on_line(x, t))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean"])
def test_five_dimensions_match_extended_precision(metric: str) -> None:
    X = make_normal_rows(270, 5)
    gap = (
        1e-6 if metric in ("euclidean", "manhattan") else 1e-2
    )  # the other metrics square distances
    X[:60] = X[60:120] + gap * make_normal_rows(60, 5, seed=1)
    Y = X.astype(np.longdouble)
    Y = Y / np.sqrt((Y * Y).sum(1))[:, None] if metric == "cosine" else Y
    differences = np.abs(Y[:, None] - Y)
    if metric == "manhattan":
        D = differences.sum(-1)
    else:
        D = (differences * differences).sum(-1)
        D = {"euclidean": np.sqrt(D), "cosine": D / 2, "sqeuclidean": D}[metric]
    t = 500.0 if metric == "cosine" else 5.0
    check_magnitude(
        as_space(X, metric=metric), t, float(solve_in_long_double(np.exp(-t * D)).sum())
    )


def solve_in_long_double(Z: np.ndarray) -> np.ndarray:
    A = np.c_[Z, np.ones(len(Z), Z.dtype)]
    for k in range(len(Z)):
        A[k + 1 :, k:] -= np.outer(A[k + 1 :, k] / A[k, k], A[k, k:])
    for k in range(len(Z) - 1, -1, -1):
        A[k, -1] /= A[k, k]
        A[:k, -1] -= A[:k, k] * A[k, -1]
    return A[:, -1]


@pytest.mark.parametrize("t", [0.3, 3.0, 30.0])
def test_few_points_match_mpmath(t: float) -> None:
    X = make_normal_rows(12, 3)
    X[1] = X[0] + 1e-7
    with mpmath.workdps(50):
        Z = mpmath.matrix(12, 12)
        for i in range(12):
            for j in range(12):
                differences = [
                    mpmath.mpf(a) - mpmath.mpf(b) for a, b in zip(X[i], X[j], strict=True)
                ]
                Z[i, j] = mpmath.exp(-t * mpmath.norm(differences))
        expected = [float(w) for w in mpmath.lu_solve(Z, mpmath.ones(12, 1))]
    assert magnitude(X, t) == pytest.approx(math.fsum(expected), rel=1e-12)
    np.testing.assert_allclose(magnitude_weights(X, t), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize(("gap", "t"), [(1e-9, 10.0), (1e-9, 3.0), (1e-7, 3.0), (1e-4, 1.0)])
@pytest.mark.parametrize("n_pairs", [1, 5])
def test_weights_of_near_duplicates_match_extended_precision(
    n: int, gap: float, t: float, n_pairs: int
) -> None:
    X = make_normal_rows(n, 3)
    X[1 : 2 * n_pairs : 2] = X[0 : 2 * n_pairs : 2] + np.array([gap, 0, 0])
    Y = X.astype(np.longdouble)
    D = np.sqrt(((Y[:, None] - Y) ** 2).sum(-1))
    expected = solve_in_long_double(np.exp(-t * D)).astype(float)
    float64_weights = solve_weights(pairwise_distances(X), t)
    space = as_space(X)
    error = np.abs(space.weights(t) - expected).max() / np.abs(expected).max()
    assert error <= 10 * np.abs(float64_weights - expected).max() / np.abs(expected).max() + 1e-9
    assert error <= space.solve(t).weights_error


def test_similarities_minus_diagonal_bound_are_positive_semidefinite() -> None:
    for seed, d in ((0, 1), (1, 2), (2, 10), (3, 40)):
        X = make_normal_rows(120, d, seed)
        X[:20] = X[20:40] + 10.0**-seed * make_normal_rows(20, d, seed + 9) / 10
        D = pairwise_distances(X)
        solver = Solver(D, is_hilbert=True)
        for t in (0.1, 1.0, 10.0):
            diagonal_bound = solver._compute_diagonal_bound(t)
            root_of_bound = np.sqrt(diagonal_bound)
            # exp(−tD) − diag(bound) is positive semidefinite; divided by diag(bound).
            scaled_similarities = np.exp(-t * D) / np.outer(root_of_bound, root_of_bound)
            assert np.linalg.eigvalsh(scaled_similarities)[0] >= 1 - 1e-9
            # an upper limit of any such bound
            assert (diagonal_bound < compute_nearest_distances(D) * t + 1e-12).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_threads_share_space(metric: str) -> None:
    X = make_normal_rows(300, 3)
    scales = np.geomspace(0.3, 20, 6)
    D = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    expected = [solve_weights(D, t).sum() for t in scales]
    for round_ in range(50 if metric == "euclidean" else 5):
        space = as_space(X, metric=metric)
        result: dict[int, list[float]] = {}
        errors: list[Exception] = []

        def compute_in_random_order(
            thread_index: int, space=space, result=result, errors=errors, seed=round_
        ) -> None:
            try:
                order = np.random.default_rng(8 * seed + thread_index).permutation(len(scales))
                values = {i: space.magnitude(float(scales[i])) for i in order}
                result[thread_index] = [values[i] for i in range(len(scales))]
                convergence_scale(space)
            except Exception as error:
                errors.append(error)

        threads = [
            threading.Thread(target=compute_in_random_order, args=(thread_index,))
            for thread_index in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert all(values == result[0] for values in result.values())
        assert result[0] == pytest.approx(expected, rel=1e-9)


def test_space_can_be_pickled() -> None:
    import pickle

    space = as_space(make_normal_rows(300, 2))
    value = space.magnitude(3.0)
    copied = pickle.loads(pickle.dumps(space))
    assert copied.magnitude(3.0) == value
    assert copied.magnitude(2.0) == pytest.approx(space.magnitude(2.0), rel=1e-9)


@pytest.mark.parametrize("n", [50, 400])
@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-100, 1.0, 1e100, 1e200, 1e300])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "manhattan"},
        {"metric": "minkowski", "exponent": 3},
    ],
    ids=str,
)
def test_magnitude_ignores_unit_of_distance(options: dict, factor: float, n: int) -> None:
    X = make_normal_rows(n, 2)
    expected = magnitude(X, 2.0, **options)
    assert magnitude(factor * X, 2.0 / factor, **options) == pytest.approx(expected, rel=1e-9)
    assert spread(factor * X, 2.0 / factor, **options) == pytest.approx(spread(X, 2.0, **options))


@pytest.mark.parametrize("d", [5, 40])
@pytest.mark.parametrize(
    "options", [{"metric": "cosine"}, {"metric": "correlation"}, {"k": "cosine"}], ids=str
)
def test_angle_based_metrics_ignore_vector_lengths(options: dict, d: int) -> None:
    X = make_normal_rows(30, d + 1)
    lengths = 10.0 ** np.random.default_rng(1).uniform(-100, 100, (30, 1))
    if options.get("k"):
        lengths **= 0.5  # the kernel squares lengths
    assert magnitude(lengths * X, 3.0, **options) == pytest.approx(
        magnitude(X, 3.0, **options), rel=1e-9
    )


def test_points_at_extreme_distances_are_distinct() -> None:
    space = as_space([[0.0], [1e-200], [1.0], [1e200]])
    assert space.distinct == 4
    assert space.magnitude(1e200) == pytest.approx(3 + math.tanh(0.5), rel=1e-12)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7, 1e-10])
@pytest.mark.parametrize("n_empty", [0, 1, 3, 30])
def test_empty_columns_do_not_change_kernel_distances(angle: float, n_empty: int) -> None:
    X = np.array([[1, 0.0], [math.cos(angle), math.sin(angle)], [0, 1.0]])
    with_empty_columns = np.c_[X, np.zeros((3, n_empty))]
    expected = 2 * math.sin(angle / 2)
    for options in ({"k": "cosine"}, {"score_X": True, "normalize": True}):
        D = as_space(with_empty_columns, **options).D
        assert D[0, 1] == pytest.approx(expected, rel=1e-6)
        assert D[0, 2] == pytest.approx(math.sqrt(2))


def test_sparse_features_keep_precision_of_close_pairs() -> None:
    import scipy.sparse as sp

    X = np.abs(make_normal_rows(20, 200)) * (np.random.default_rng(2).random((20, 200)) < 0.2)
    X[1] = X[0] + 1e-7 * X[2]
    expected = as_space(X, k="cosine").D
    np.testing.assert_allclose(
        as_space(sp.csr_array(X), k="cosine").D, expected, rtol=1e-9, atol=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_similarities_equal_within_precision_are_merged(dtype) -> None:
    U = make_normal_rows(10, 30).astype(dtype)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    K = np.tile(U, (2, 1)) @ np.tile(U, (2, 1)).T
    np.fill_diagonal(K, 1)
    assert as_space(K, score_K=True).distinct == 10
    K[0, 10] -= np.finfo(dtype).eps  # not symmetric, like matrix products on some processors
    assert as_space(K, score_K=True).distinct == 10
    # A chain of samples in which only neighbours are within precision.
    steps = np.arange(6) * math.sqrt(20 * np.finfo(dtype).eps)
    K = np.cos(steps[:, None] - steps).astype(dtype)
    assert 1 <= as_space(K, score_K=True).distinct < 6


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "cosine"},
        {"metric": "manhattan"},
        {"k": "cosine"},
        {"metric": "correlation"},
        {"solver": "cholesky"},
    ],
    ids=str,
)
def test_floating_point_error_settings_change_nothing(options: dict) -> None:
    X = np.r_[make_normal_rows(300, 8), 1e3 * make_normal_rows(5, 8, seed=1)]
    expected = compute_magnitude(X, **options)
    with np.errstate(all="raise"):
        assert compute_magnitude(X, **options) == expected
        compute_magnitude(X, t=[1e3, 1e5], metric=options.get("metric"))


@pytest.mark.parametrize("method", ["auto", "cg", "cholesky"])
@pytest.mark.parametrize("n", [40, 300])
def test_singular_similarities_raise(n: int, method: str) -> None:
    X = np.linspace(0, 1, n)[:, None]
    with pytest.raises(IndefiniteError):
        magnitude(X, 0.01, metric="sqeuclidean", solver=method)


@pytest.mark.parametrize("n", [2, 40, 400])
@pytest.mark.parametrize("t", [1e-300, 1e-30, 1e-17, 1e-13])
@pytest.mark.parametrize("scale", [1e-9, 1.0])
def test_magnitude_is_accurate_at_tiny_scales(n, t, scale):
    x = scale * np.random.default_rng(n).standard_normal(n)
    expected = 1 + float(np.sum(np.tanh(t * np.diff(np.sort(x)) / 2)))
    assert magnitude(x, t=t) == pytest.approx(expected, rel=1e-9)
    assert mag_diff(x, [0.0, 1 / t], n_scales=5) < 0


def extrapolate_from(weights_by_scale: dict[float, np.ndarray], t: float) -> np.ndarray:
    """Extrapolate weights at scale t from solutions with given weights."""
    solver = Solver(np.ones((2, 2)) - np.eye(2))
    for scale, weights in weights_by_scale.items():
        solver._solutions[scale] = Solution(scale, weights, 0.0, 0.0, 0.0, 0.0, "cg")
    return solver._extrapolate_weights(t)


def weights_of_pair(t: float) -> np.ndarray:
    """Return the weights 1 / (1 + exp(−t)) of two points at distance 1."""
    return np.full(2, 1 / (1 + math.exp(-t)))


def test_without_solutions_extrapolated_weights_are_zero() -> None:
    np.testing.assert_array_equal(extrapolate_from({}, 1.0), [0, 0])


@pytest.mark.parametrize("n_scales", [1, N_EXTRAPOLATION_SCALES, 2 * N_EXTRAPOLATION_SCALES])
def test_extrapolated_weights_at_solved_scales_are_those_of_the_solution(n_scales: int) -> None:
    rng = np.random.default_rng(0)
    weights = {float(t): rng.standard_normal(2) for t in rng.permutation(n_scales) + 1}
    for t, expected in weights.items():
        np.testing.assert_allclose(extrapolate_from(weights, t), expected, rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, N_EXTRAPOLATION_SCALES - 1])
def test_extrapolation_is_exact_for_polynomials_of_the_scale(degree: int) -> None:
    coefficients = np.random.default_rng(0).standard_normal((degree + 1, 2))
    weights = {t: np.polynomial.polynomial.polyval(t, coefficients) for t in np.arange(1.0, 9.0)}
    for t in (3.25, 4.5, 5.75):
        expected = np.polynomial.polynomial.polyval(t, coefficients)
        np.testing.assert_allclose(extrapolate_from(weights, t), expected, rtol=1e-9)


@pytest.mark.parametrize("t", [2.4, 4.4, 5.6, 7.6])
def test_weights_are_extrapolated_from_nearest_scales(t: float) -> None:
    nearest = sorted(np.arange(1.0, 10.0), key=lambda scale: abs(scale - t))
    weights = {scale: weights_of_pair(scale) for scale in nearest[:N_EXTRAPOLATION_SCALES]}
    expected = extrapolate_from(weights, t)
    distant = {scale: np.full(2, 1e6) for scale in nearest[N_EXTRAPOLATION_SCALES:]}
    np.testing.assert_allclose(extrapolate_from({**distant, **weights}, t), expected, rtol=1e-12)
    np.testing.assert_allclose(expected, weights_of_pair(t), rtol=0.02)


def test_errors_of_weights_at_close_scales_are_not_amplified() -> None:
    # A line through the first two scales would multiply the error 1e-3 by 1 / 1e-4.
    weights = {1.0: np.ones(2), 1.0001: np.ones(2) + 1e-3, 0.0: np.ones(2)}
    assert abs(extrapolate_from(weights, 2.0) - 1).max() < 0.01
