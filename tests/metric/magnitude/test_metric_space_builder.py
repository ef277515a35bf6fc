"""Options of magnitude: each is read once, does what it says, or is refused with a sentence."""

import json
import math
import re
from itertools import pairwise as neighbours

import numpy as np
import pytest
from magnitude_measures import compute_magnitude
from point_sets import make_normal_rows, pairwise_distances

from vendiscore import (
    FeatureSimilarity,
    SampleError,
    convergence_scale,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_function,
    spread,
)
from vendiscore.magnitude.magnitude_functions import magnitude
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.space import MetricSpace
from vendiscore.resolve import kernel

# Scales and their keys


@pytest.mark.parametrize(
    ("t", "names"),
    [
        ([1, 1.0000001], ["t1", "t1.0000001"]),
        ([0.1, np.float32(0.1)], ["t0.1", "t0.10000000149011612"]),
        ([1e-7, 1e22], ["t1e-07", "t1e+22"]),
        ([2, 2.0, np.int8(2)], ["t2"]),
        ([0.0, -0.0], ["t0"]),
        pytest.param((t for t in (1, 2)), ["t1", "t2"], id="generator"),
        (np.array([0.5]), ["t0.5"]),
    ],
    ids=str,
)
def test_no_two_scales_share_a_key(t: object, names: list[str]) -> None:
    scores = compute_magnitude([0.0, 1.0, 3.0], t=t)
    assert list(scores) == [f"Magnitude_{name}" for name in names]
    for name, value in scores.items():
        assert value == magnitude([0.0, 1.0, 3.0], float(name.removeprefix("Magnitude_t")))


@pytest.mark.parametrize("t", [1, np.float16(1), np.array(1.0)])
def test_one_scale_has_no_number_in_its_key(t: object) -> None:
    assert compute_magnitude([0.0, 1.0], t=t) == {"Magnitude": magnitude([0.0, 1.0], 1.0)}


def test_signatures_tell_configurations_apart() -> None:
    def signature(**how: object) -> str:
        return compute_magnitude(make_normal_rows(30, 20), details=True, **how)["details"][
            "signature"
        ]

    ways = [
        {"t": [1, 1.0000001]},
        {"t": [1, 1.0000002]},
        {"solver": "cg"},
        {"epsilon": 0.0500001},
        {"references": make_normal_rows(9, 20)},
        {"metric": "minkowski", "exponent": 3},
        {"metric": "minkowski", "exponent": 3 + 1e-9},
    ]
    assert len({signature(**how) for how in [{}, *ways]}) == 1 + len(ways)
    assert signature(epsilon=np.float64(0.05)) == signature()
    of_two = [signature(metric="minkowski", exponent=two) for two in (2, np.float32(2))]
    assert of_two[0] == of_two[1]
    assert all(len(signature(**how)) < 400 for how in ways)


def test_details_can_be_saved_and_say_what_an_area_is_not_for() -> None:
    details = compute_magnitude(make_normal_rows(10, 2), details=True, metric="manhattan")[
        "details"
    ]
    json.dumps(details)
    assert "sets are not comparable" in details["notes"][0]
    assert (
        compute_magnitude(make_normal_rows(10, 2), details=True, t_cut=2.0)["details"]["notes"]
        == []
    )
    assert compute_magnitude(make_normal_rows(10, 2), details=True, t=2.0)["details"]["notes"] == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: compute_magnitude(X, t=[]), ValueError, "`t` must contain at least one"),
        (lambda X: compute_magnitude(X, t=iter(())), ValueError, "`t` must contain at least one"),
        (lambda X: compute_magnitude(X, t=[[1.0]]), TypeError, "`t` must be a finite scale"),
        (lambda X: compute_magnitude(X, t=True), TypeError, "`t` must be a finite scale"),
        (lambda X: compute_magnitude(X, t="1"), TypeError, "`t` must be a finite scale"),
        (lambda X: compute_magnitude(X, t=b"1"), TypeError, "`t` must be a finite scale"),
        (lambda X: compute_magnitude(X, t=1 + 0j), TypeError, "`t` must be a finite scale"),
        (
            lambda X: compute_magnitude(X, average="no"),
            TypeError,
            "`average` must be True or False",
        ),
        (
            lambda X: compute_magnitude(X, X, relative=0),
            TypeError,
            "`relative` must be True or False",
        ),
        (lambda X: mag_diff(X, X, absolute="f"), TypeError, "`absolute` must be True or False"),
        (lambda X: compute_magnitude(X, details=1), TypeError, "`details` must be True or False"),
        (
            lambda X: compute_magnitude(X, n_scales=True),
            TypeError,
            "`n_scales` must be an integer from 2",
        ),
        (
            lambda X: compute_magnitude(X, t_cut=math.inf),
            ValueError,
            "`t_cut` must be a finite scale above",
        ),
        (
            lambda X: compute_magnitude(X, epsilon=1e-7),
            ValueError,
            "`epsilon` must be at least 1e-06",
        ),
        (
            lambda X: compute_magnitude(X, epsilon=0.8 - 1e-9),
            ValueError,
            "`epsilon` must be smaller",
        ),
        (lambda X: magnitude_function(X, scales=[]), ValueError, "`scales` must contain"),
        (lambda X: mag_areas(3), TypeError, "`sets` must be a list of sets of samples, got int"),
        (lambda X: mag_areas({"a": X}), TypeError, "`sets` must be a list of sets of samples"),
        (lambda X: magnitude(X, solver=None), ValueError, "`solver` must be 'auto', 'cg' or"),
        (
            lambda X: compute_magnitude(X, p=np.ones(5) / 5),
            ValueError,
            "weights `p` are not supported by",
        ),
        (lambda X: magnitude(X, k="cosine", p=[1.0]), TypeError, "is not supported by magnitude"),
        (lambda X: magnitude(["a b", "b"], p=[0.5]), TypeError, "is not supported by magnitude"),
        (lambda X: magnitude(X, metric="minkowski", exponent=[1, 2]), TypeError, "of at least 1"),
        (lambda X: magnitude(X, metric="minkowski", exponent=0.5), ValueError, "of at least 1"),
        (lambda X: magnitude(X, metric="minkowski", exponent="2"), TypeError, "of at least 1"),
        (lambda X: magnitude(X, metric="minkowski", w=[1, 1]), TypeError, "Scale the columns"),
        (lambda X: magnitude(X, metric="euclidean", V=[1, 1]), TypeError, "Scale the columns"),
        (lambda X: magnitude(X, metric="euclidean", VI=[[1]]), TypeError, "Transform the rows"),
        (lambda X: magnitude(X, metric="seuclidean"), ValueError, "Scale the columns"),
        (lambda X: magnitude(X, metric="jaccard"), ValueError, "k='tanimoto' with metric='1-k'"),
        (lambda X: magnitude(X, metric="yule"), ValueError, "pass any other metric as a function"),
        (lambda X: magnitude(X, metric="mahalanobis"), ValueError, "Transform the rows"),
        (lambda X: magnitude(X, metric="cityblock", exponent=2), TypeError, "is not an option"),
        (lambda X: magnitude([[0.0], [1e-200]], 1.0, metric="sqeuclidean"), ValueError, "rows 0"),
    ],
)
def test_what_is_no_option_is_refused_by_name(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(make_normal_rows(5, 2))


# Metrics


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (lambda a, b: difference(a, b) * (1 + (a[0] > b[0])), "must be symmetric (got"),
        (lambda a, b: difference(a, b) + 1e-5 * (a[0] == 3) * (b[0] == 0), "must be symmetric"),
        (lambda a, b: difference(a, b) + 1, "must be 0 for a row and itself, got 1 for rows 0"),
        (lambda a, b: -difference(a, b), "must be a finite number of at least 0 for rows"),
        (
            lambda a, b: math.nan if a[0] != b[0] else 0.0,
            "and 1 of `samples`, got nan; remove such rows",
        ),
    ],
)
@pytest.mark.parametrize("far", [4.0, 1e7])
def test_functions_that_are_no_distances_are_refused(metric, problem: str, far: float) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        magnitude([[0.0], [1.0], [1.0], [3.0], [far]], metric=metric)


def test_errors_of_a_function_name_the_pair_in_the_callers_list() -> None:
    def metric(a: np.ndarray, b: np.ndarray) -> float:
        return abs(float(a[0]) - float(b[0])) / (0 if 7 in (a[0], b[0]) else 1)

    with pytest.raises(ZeroDivisionError) as e:
        magnitude([[1.0], [1.0], [1.0], [7.0]], metric=metric)
    assert e.value.__notes__ == ["raised by `metric` for rows 0 and 3 of `samples`"]


def test_a_function_named_like_a_metric_is_not_taken_for_it() -> None:
    def euclidean(a: np.ndarray, b: np.ndarray) -> float:
        return 0.0 if (a == b).all() else 2.0 - 1.0 * ((a[0] < 3) != (b[0] < 3))

    space = as_space(np.arange(5.0)[:, None], metric=euclidean)
    assert not space.solver.is_negative_type


@pytest.mark.parametrize("far", [3.0, 1e7, 1e12])
def test_distances_are_compared_with_themselves_not_with_the_largest(far: float) -> None:
    D = np.array([[0, 1, far], [1.5, 0, far], [far, far, 0]])
    with pytest.raises(ValueError, match=r"symmetric .* got 1 at \[0, 1\] and 1.5 at \[1, 0\]"):
        magnitude(D, metric="precomputed")
    D = np.array([[0, 0, 1, far], [0, 0, 4, far], [1, 4, 0, far], [far, far, far, 0.0]])
    with pytest.raises(
        ValueError, match="0 and 1 have distance 0, but different distances 1 and 4"
    ):
        magnitude(D, metric="precomputed")


def test_rounding_of_a_distance_matrix_is_shared_by_both_triangles() -> None:
    D = pairwise_distances(make_normal_rows(20, 2))
    noisy = D * (1 + 1e-8 * np.random.default_rng(0).standard_normal(D.shape))
    before = noisy.copy()
    order = np.random.default_rng(1).permutation(20)
    value = magnitude(noisy, metric="precomputed")
    assert value == magnitude(noisy.T, metric="precomputed")
    assert value == pytest.approx(magnitude(noisy[np.ix_(order, order)], metric="precomputed"))
    assert value == pytest.approx(magnitude((noisy + noisy.T) / 2, metric="precomputed"), rel=1e-14)
    np.testing.assert_array_equal(noisy, before)


@pytest.mark.parametrize(
    ("metric", "bad"), [("cosine", [0.0, 0.0, 0.0]), ("correlation", [0.1, 0.1, 0.1])]
)
def test_all_undefined_rows_are_named_by_their_places(metric: str, bad: list[float]) -> None:
    X = make_normal_rows(4, 3)
    rows = [X[0], X[0], bad, X[1], X[1], bad, X[2], X[3]]
    with pytest.raises(SampleError) as e:
        mag_area(np.array(rows), metric=metric)
    assert list(e.value.problems) == [2, 5]
    with pytest.raises(SampleError, match=r"remove it from `sets\[1\]`"):
        mag_areas([X, rows], metric=metric)


def test_pairs_that_no_metric_allows_are_named_by_their_places_too() -> None:
    def metric(a: np.ndarray, b: np.ndarray) -> float:
        return 0.0 if abs(a[0] - b[0]) == 1 else difference(a, b)

    with pytest.raises(ValueError, match=r"2 and 4 have distance 0, but .* 8 and 7 to sample 0"):
        magnitude([[9.0], [9.0], [1.0], [1.0], [2.0], [5.5]], metric=metric)
    with pytest.raises(ValueError, match="similarities of at most 1, got 2 for samples 0 and 3"):
        magnitude([1.0, 1.0, 1.0, 5.0], k=lambda a, b: 1.0 if a == b else 2.0)


# Convergence scales


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.05, 0.3])
@pytest.mark.parametrize("x", [[0, 1], [0, 1, 2], [0, 1, 3.5], [0, 1e-3, 5, 6]], ids=str)
def test_convergence_scales_of_points_on_a_line(x: list[float], epsilon: float) -> None:
    import mpmath

    t = convergence_scale(x, epsilon=epsilon)
    with mpmath.workdps(40):
        gaps = [mpmath.mpf(b) - mpmath.mpf(a) for a, b in neighbours(x)]
        wanted = len(x) * mpmath.mpf(epsilon)
        lacking = mpmath.findroot(
            lambda s: sum(1 - mpmath.tanh(s * gap / 2) for gap in gaps) - wanted, t
        )
    assert t == pytest.approx(float(lacking), rel=1e-10 / epsilon + 1e-9)


@pytest.mark.parametrize("factor", [1e-250, 1e-12, 1.0, 1e12, 1e250])
def test_convergence_scales_have_the_unit_of_one_over_distance(factor: float) -> None:
    X = make_normal_rows(30, 3)
    expected = convergence_scale(X) / factor
    assert convergence_scale(factor * X) == pytest.approx(expected, rel=1e-8)


# Areas


def test_areas_at_many_scales_are_the_integrals_on_lines() -> None:
    rng = np.random.default_rng(0)
    sets = [np.array([0.0, 1.0, 7.1]), np.array([0.0, 0.1, 1.0, 10.0])]
    sets += [np.cumsum(rng.uniform(0.1, 1, 12)) for _ in range(8)]
    for x in sets:
        t_cut = convergence_scale(x)
        gaps = np.diff(np.sort(x)) / 2
        # ∫ tanh(t g) dt = log cosh(t g) / g
        expected = t_cut + sum(
            (abs(t_cut * g) + np.log1p(np.exp(-2 * t_cut * g)) - math.log(2)) / g for g in gaps
        )
        assert mag_area(x, n_scales=1000) == pytest.approx(expected, rel=1e-4)


# Sets


def test_sets_may_come_one_by_one() -> None:
    sets = [make_normal_rows(8, 2), make_normal_rows(9, 2, seed=1)]
    assert mag_areas(iter(sets)) == mag_areas(sets)


def fit_centre(vectors: object, centre: object = None) -> dict:
    return {} if centre is not None else {"centre": np.mean(vectors, axis=0).tolist()}


def centred(vectors: object, centre: object = None) -> FeatureSimilarity:
    """Return the cosine of rows minus their mean, or another centre."""
    # The settings are not options of the same name, or differ from what was given.
    return FeatureSimilarity(np.asarray(vectors) - centre, {"centre": "mean"}).normalized()


def test_what_a_kernel_fitted_is_used_for_other_sets_and_settings_are_not(monkeypatch) -> None:
    kernel.list_kernels()
    monkeypatch.setattr(kernel._kernels, "registrations", dict(kernel._kernels.registrations))
    k = "centred_cosine"
    kernel.register_kernel(k, samples="vectors", source="this test", fit=fit_centre)(centred)
    X, Y = make_normal_rows(20, 3), 2 + make_normal_rows(20, 3, seed=1)
    shared = mag_diff(X, Y, k=k)
    assert shared == mag_diff(X, Y, k=k, centre=Y.mean(axis=0).tolist())
    own = [as_space(A, k=k) for A in (X, Y)]
    assert shared != mag_diff(*own)
    areas = mag_areas([Y, X], k=k, t_cut=2.0)
    both = np.concatenate([Y, X]).mean(axis=0).tolist()
    assert areas[1] == pytest.approx(mag_area(X, k=k, centre=both, t_cut=2.0), rel=1e-9)
    areas = mag_areas([Y, X], k=k, t_cut=2.0, fit="samples")
    assert areas[1] == mag_area(X, k=k, centre=Y.mean(axis=0).tolist(), t_cut=2.0)


def test_the_bandwidth_of_kernels_and_mixtures_is_that_of_the_references() -> None:
    X, Y = make_normal_rows(20, 3), 2 * make_normal_rows(20, 3, seed=1)
    assert mag_diff(X, Y, k="rbf") == pytest.approx(mag_diff(X, Y, k={"rbf": 1.0}), rel=1e-12)
    sigma = as_space(Y, k="rbf").settings["sigma"]
    assert mag_diff(X, Y, k="rbf") == pytest.approx(mag_diff(X, Y, k="rbf", sigma=sigma))


def test_mixtures_take_options_and_columns() -> None:
    X = make_normal_rows(20, 3)
    one = magnitude(X, k={"rbf": 1.0}, options={"rbf": {"sigma": 1.5}})
    assert one == pytest.approx(magnitude(X, k="rbf", sigma=1.5), rel=1e-12)
    columns = {"a": ["x", "x", "y"], "b": ["u", "v", "u"]}
    assert as_space(columns, k={"labels:a": 0.5, "labels:b": 0.5}).distinct == 3


# Results


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.5, -3.0, 5.5])
def test_no_number_out_of_range_is_returned(monkeypatch, value: float) -> None:
    space = as_space(make_normal_rows(5, 2))
    monkeypatch.setattr(space.solver, "magnitude", lambda t: value)
    with pytest.raises(ArithmeticError, match="must be between 1 and 5"):
        space.magnitude(1.0)


def test_spread_and_areas_are_in_range() -> None:
    X = make_normal_rows(20, 3)
    assert all(1 <= spread(X, t) <= 20 for t in (0, 1e-12, 1.0, 1e12))
    with pytest.raises(
        ArithmeticError, match="must be finite and at least 0, got inf; pass a smaller"
    ):
        mag_area(X, t_cut=1e308)


def test_peak_memory_is_asked_for() -> None:
    import tracemalloc

    from vendiscore.support import memory

    asked: list[int] = []
    whole = memory.require
    X = make_normal_rows(2000, 30)
    try:
        memory.require = lambda needed, *rest: asked.append(needed) or whole(needed, *rest)
        for how in ({}, {"metric": "cosine"}, {"metric": "manhattan"}, {"k": "cosine"}):
            asked.clear()
            tracemalloc.start()
            as_space(X, **how).magnitude(100.0)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < max(asked) + 8e6, how  # a few blocks that fit in the cache
    finally:
        memory.require = whole


def test_a_space_of_one_point_has_no_largest_scale() -> None:
    assert MetricSpace(np.zeros((1, 1))).magnitude(1e300) == 1
