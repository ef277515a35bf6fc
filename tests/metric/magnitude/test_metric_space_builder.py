"""Magnitude of samples: keys, signatures, options, metrics, scales, areas and sets."""

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
    ("t", "suffixes"),
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
def test_distinct_scales_have_distinct_keys(t: object, suffixes: list[str]) -> None:
    scores = compute_magnitude([0.0, 1.0, 3.0], t=t)
    assert list(scores) == [f"Magnitude_{suffix}" for suffix in suffixes]
    for suffix, value in scores.items():
        assert value == magnitude([0.0, 1.0, 3.0], float(suffix.removeprefix("Magnitude_t")))


@pytest.mark.parametrize("t", [1, np.float16(1), np.array(1.0)])
def test_single_scale_has_key_without_number(t: object) -> None:
    assert compute_magnitude([0.0, 1.0], t=t) == {"Magnitude": magnitude([0.0, 1.0], 1.0)}


def test_signatures_differ_between_configurations() -> None:
    def signature(**options: object) -> str:
        return compute_magnitude(make_normal_rows(30, 20), details=True, **options)["details"][
            "signature"
        ]

    configurations = [
        {"t": [1, 1.0000001]},
        {"t": [1, 1.0000002]},
        {"solver": "cg"},
        {"epsilon": 0.0500001},
        {"references": make_normal_rows(9, 20)},
        {"metric": "minkowski", "exponent": 3},
        {"metric": "minkowski", "exponent": 3 + 1e-9},
    ]
    assert len({signature(**options) for options in [{}, *configurations]}) == 1 + len(
        configurations
    )
    assert signature(epsilon=np.float64(0.05)) == signature()
    signatures_of_exponent_2 = [
        signature(metric="minkowski", exponent=exponent) for exponent in (2, np.float32(2))
    ]
    assert signatures_of_exponent_2[0] == signatures_of_exponent_2[1]
    assert all(len(signature(**options)) < 400 for options in configurations)


def test_details_are_json_serializable_and_note_incomparable_areas() -> None:
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
def test_invalid_options_are_rejected(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(make_normal_rows(5, 2))


# Metrics


def manhattan_distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (lambda a, b: manhattan_distance(a, b) * (1 + (a[0] > b[0])), "must be symmetric (got"),
        (
            lambda a, b: manhattan_distance(a, b) + 1e-5 * (a[0] == 3) * (b[0] == 0),
            "must be symmetric",
        ),
        (
            lambda a, b: manhattan_distance(a, b) + 1,
            "must be 0 for a row and itself, got 1 for rows 0",
        ),
        (lambda a, b: -manhattan_distance(a, b), "must be a finite number of at least 0 for rows"),
        (
            lambda a, b: math.nan if a[0] != b[0] else 0.0,
            "and 1 of `samples`, got nan; remove such rows",
        ),
    ],
)
@pytest.mark.parametrize("farthest", [4.0, 1e7])
def test_functions_that_are_not_distances_are_rejected(
    metric, problem: str, farthest: float
) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        magnitude([[0.0], [1.0], [1.0], [3.0], [farthest]], metric=metric)


def test_error_of_metric_function_names_pair() -> None:
    def metric(a: np.ndarray, b: np.ndarray) -> float:
        return abs(float(a[0]) - float(b[0])) / (0 if 7 in (a[0], b[0]) else 1)

    with pytest.raises(ZeroDivisionError) as e:
        magnitude([[1.0], [1.0], [1.0], [7.0]], metric=metric)
    assert e.value.__notes__ == ["raised by `metric` for rows 0 and 3 of `samples`"]


def test_function_named_like_metric_is_not_that_metric() -> None:
    def euclidean(a: np.ndarray, b: np.ndarray) -> float:
        return 0.0 if (a == b).all() else 2.0 - 1.0 * ((a[0] < 3) != (b[0] < 3))

    space = as_space(np.arange(5.0)[:, None], metric=euclidean)
    assert not space.solver.is_negative_type


@pytest.mark.parametrize("largest", [3.0, 1e7, 1e12])
def test_distance_checks_do_not_depend_on_largest_distance(largest: float) -> None:
    D = np.array([[0, 1, largest], [1.5, 0, largest], [largest, largest, 0]])
    with pytest.raises(ValueError, match=r"symmetric .* got 1 at \[0, 1\] and 1.5 at \[1, 0\]"):
        magnitude(D, metric="precomputed")
    D = np.array(
        [
            [0, 0, 1, largest],
            [0, 0, 4, largest],
            [1, 4, 0, largest],
            [largest, largest, largest, 0.0],
        ]
    )
    with pytest.raises(
        ValueError, match="0 and 1 have distance 0, but different distances 1 and 4"
    ):
        magnitude(D, metric="precomputed")


def test_small_asymmetry_of_distances_is_averaged() -> None:
    D = pairwise_distances(make_normal_rows(20, 2))
    asymmetric = D * (1 + 1e-8 * np.random.default_rng(0).standard_normal(D.shape))
    expected = asymmetric.copy()
    order = np.random.default_rng(1).permutation(20)
    result = magnitude(asymmetric, metric="precomputed")
    assert result == magnitude(asymmetric.T, metric="precomputed")
    assert result == pytest.approx(
        magnitude(asymmetric[np.ix_(order, order)], metric="precomputed")
    )
    assert result == pytest.approx(
        magnitude((asymmetric + asymmetric.T) / 2, metric="precomputed"), rel=1e-14
    )
    np.testing.assert_array_equal(asymmetric, expected)


@pytest.mark.parametrize(
    ("metric", "undefined_row"), [("cosine", [0.0, 0.0, 0.0]), ("correlation", [0.1, 0.1, 0.1])]
)
def test_all_undefined_rows_are_named_by_index(metric: str, undefined_row: list[float]) -> None:
    X = make_normal_rows(4, 3)
    rows = [X[0], X[0], undefined_row, X[1], X[1], undefined_row, X[2], X[3]]
    with pytest.raises(SampleError) as e:
        mag_area(np.array(rows), metric=metric)
    assert list(e.value.problems) == [2, 5]
    with pytest.raises(SampleError, match=r"remove it from `sets\[1\]`"):
        mag_areas([X, rows], metric=metric)


def test_invalid_pairs_are_named_by_index() -> None:
    def metric(a: np.ndarray, b: np.ndarray) -> float:
        return 0.0 if abs(a[0] - b[0]) == 1 else manhattan_distance(a, b)

    with pytest.raises(ValueError, match=r"2 and 4 have distance 0, but .* 8 and 7 to sample 0"):
        magnitude([[9.0], [9.0], [1.0], [1.0], [2.0], [5.5]], metric=metric)
    with pytest.raises(ValueError, match="similarities of at most 1, got 2 for samples 0 and 3"):
        magnitude([1.0, 1.0, 1.0, 5.0], k=lambda a, b: 1.0 if a == b else 2.0)


# Convergence scales


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.05, 0.3])
@pytest.mark.parametrize("x", [[0, 1], [0, 1, 2], [0, 1, 3.5], [0, 1e-3, 5, 6]], ids=str)
def test_convergence_scales_of_points_on_line_match_mpmath(x: list[float], epsilon: float) -> None:
    import mpmath

    t = convergence_scale(x, epsilon=epsilon)
    with mpmath.workdps(40):
        gaps = [mpmath.mpf(b) - mpmath.mpf(a) for a, b in neighbours(x)]
        missing_magnitude = len(x) * mpmath.mpf(epsilon)
        expected = mpmath.findroot(
            lambda s: sum(1 - mpmath.tanh(s * gap / 2) for gap in gaps) - missing_magnitude, t
        )
    assert t == pytest.approx(float(expected), rel=1e-10 / epsilon + 1e-9)


@pytest.mark.parametrize("factor", [1e-250, 1e-12, 1.0, 1e12, 1e250])
def test_convergence_scale_is_inverse_to_unit_of_distance(factor: float) -> None:
    X = make_normal_rows(30, 3)
    expected = convergence_scale(X) / factor
    assert convergence_scale(factor * X) == pytest.approx(expected, rel=1e-8)


# Areas


def test_areas_of_points_on_line_match_integrals() -> None:
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


def test_mag_areas_accepts_iterator_of_sets() -> None:
    sets = [make_normal_rows(8, 2), make_normal_rows(9, 2, seed=1)]
    assert mag_areas(iter(sets)) == mag_areas(sets)


def fit_centre_option(vectors: object, centre: object = None) -> dict:
    return {} if centre is not None else {"centre": np.mean(vectors, axis=0).tolist()}


def centred_cosine(vectors: object, centre: object = None) -> FeatureSimilarity:
    """Return the cosine of rows minus their mean or another centre."""
    # The setting differs from the passed option of this name.
    return FeatureSimilarity(np.asarray(vectors) - centre, {"centre": "mean"}).normalized()


def test_fitted_options_are_shared_between_sets(monkeypatch) -> None:
    kernel.list_kernels()
    monkeypatch.setattr(kernel._kernels, "registrations", dict(kernel._kernels.registrations))
    name = "centred_cosine"
    kernel.register_kernel(name, samples="vectors", source="this test", fit=fit_centre_option)(
        centred_cosine
    )
    X, Y = make_normal_rows(20, 3), 2 + make_normal_rows(20, 3, seed=1)
    result = mag_diff(X, Y, k=name)
    assert result == mag_diff(X, Y, k=name, centre=Y.mean(axis=0).tolist())
    spaces = [as_space(A, k=name) for A in (X, Y)]
    assert result != mag_diff(*spaces)
    areas = mag_areas([Y, X], k=name, t_cut=2.0)
    pooled_centre = np.concatenate([Y, X]).mean(axis=0).tolist()
    assert areas[1] == pytest.approx(mag_area(X, k=name, centre=pooled_centre, t_cut=2.0), rel=1e-9)
    areas = mag_areas([Y, X], k=name, t_cut=2.0, fit="samples")
    assert areas[1] == mag_area(X, k=name, centre=Y.mean(axis=0).tolist(), t_cut=2.0)


def test_bandwidth_is_fitted_to_references() -> None:
    X, Y = make_normal_rows(20, 3), 2 * make_normal_rows(20, 3, seed=1)
    assert mag_diff(X, Y, k="rbf") == pytest.approx(mag_diff(X, Y, k={"rbf": 1.0}), rel=1e-12)
    sigma = as_space(Y, k="rbf").settings["sigma"]
    assert mag_diff(X, Y, k="rbf") == pytest.approx(mag_diff(X, Y, k="rbf", sigma=sigma))


def test_mixtures_accept_options_and_columns() -> None:
    X = make_normal_rows(20, 3)
    result = magnitude(X, k={"rbf": 1.0}, options={"rbf": {"sigma": 1.5}})
    assert result == pytest.approx(magnitude(X, k="rbf", sigma=1.5), rel=1e-12)
    columns = {"a": ["x", "x", "y"], "b": ["u", "v", "u"]}
    assert as_space(columns, k={"labels:a": 0.5, "labels:b": 0.5}).distinct == 3


# Results


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.5, -3.0, 5.5])
def test_magnitude_out_of_range_raises(monkeypatch, value: float) -> None:
    space = as_space(make_normal_rows(5, 2))
    monkeypatch.setattr(space.solver, "magnitude", lambda t: value)
    with pytest.raises(ArithmeticError, match="must be between 1 and 5"):
        space.magnitude(1.0)


def test_spread_is_in_range_and_infinite_area_raises() -> None:
    X = make_normal_rows(20, 3)
    assert all(1 <= spread(X, t) <= 20 for t in (0, 1e-12, 1.0, 1e12))
    with pytest.raises(
        ArithmeticError, match="must be finite and at least 0, got inf; pass a smaller"
    ):
        mag_area(X, t_cut=1e308)


def test_requested_memory_covers_peak() -> None:
    import tracemalloc

    from vendiscore.support import memory

    requested_bytes: list[int] = []
    require = memory.require
    X = make_normal_rows(2000, 30)
    try:
        memory.require = lambda needed, *rest: (
            requested_bytes.append(needed) or require(needed, *rest)
        )
        for options in ({}, {"metric": "cosine"}, {"metric": "manhattan"}, {"k": "cosine"}):
            requested_bytes.clear()
            tracemalloc.start()
            as_space(X, **options).magnitude(100.0)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < max(requested_bytes) + 8e6, options  # plus a few small blocks
    finally:
        memory.require = require


def test_single_point_has_magnitude_1_at_huge_scale() -> None:
    assert MetricSpace(np.zeros((1, 1))).magnitude(1e300) == 1
