"""Measures based on magnitude: spread, and area with and without references."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import vendiscore
from vendiscore import compute, convergence_scale, mag_area
from vendiscore.magnitude.metric_space_builder import as_space

X = np.random.default_rng(0).standard_normal((30, 3))
Y = np.random.default_rng(1).standard_normal((20, 3))
REFERENCE_LIMIT_NOTE = "The upper limit of MagArea is the convergence scale of the references"


def compute_magnitude(D, t):
    return np.linalg.solve(np.exp(-t * D), np.ones(len(D))).sum()


def compute_area(D, t_cut, n_scales=30):
    scales = np.linspace(0, t_cut, n_scales)
    return np.trapezoid([1.0, *(compute_magnitude(D, t) for t in scales[1:])], scales)


class TestSpread:
    @pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev"])
    def test_spread_equals_sum_of_inverse_row_sums(self, metric):
        D = cdist(X, X, metric)
        expected = {f"Spread_t{t}": (1 / np.exp(-t * D).sum(1)).sum() for t in (0, 0.5, 2)}
        result = compute(X, metric=metric, measures="Spread", t=[0, 0.5, 2])
        assert result == pytest.approx(expected, rel=1e-8)
        single_scale = compute(
            X, metric=metric, measures={"Spread": {"t": 2}, "Magnitude": {"t": 2}}
        )
        assert single_scale["Spread"] == pytest.approx(expected["Spread_t2"], rel=1e-8)
        if (
            metric != "chebyshev"
        ):  # for metrics of negative type, the spread is at most the magnitude
            assert single_scale["Spread"] <= single_scale["Magnitude"] * (1 + 1e-12)

    def test_spread_equals_leinster_cobbold_diversity_of_order_zero(self):
        options = {"k": "laplacian", "sigma": 1.0, "metric": "manhattan"}
        result = compute(X, measures=["LC", "Spread"], q=0, **options)
        assert result["Spread"] == pytest.approx(result["LC_q0"], rel=1e-10)

    def test_spread_of_equidistant_points_and_of_duplicates(self):
        D = 1 - np.eye(5)
        expected = 5 / (1 + 4 * math.exp(-3))
        for t, value in ((3, expected), (0, 1.0), (1e6, 5.0)):
            result = compute(D, metric="precomputed", measures="Spread", t=t)["Spread"]
            assert result == pytest.approx(value, rel=1e-12)
        with_duplicates = compute(np.repeat(X, 2, axis=0), measures="Spread", t=2)
        assert with_duplicates == pytest.approx(compute(X, measures="Spread", t=2), rel=1e-12)
        assert compute([[1.0, 2.0]], measures="Spread") == {"Spread": 1.0}
        with pytest.raises(ValueError, match="`t` must be a finite scale of at least 0, got -1"):
            compute(X, measures="Spread", t=-1)


class TestMagnitudeArea:
    @pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"metric": "precomputed"}])
    def test_area_is_equal_at_all_entry_points(self, options):
        samples, references = (
            (cdist(X, X), cdist(Y, Y)) if options.get("metric") == "precomputed" else (X, Y)
        )
        metric = vendiscore.load("magnitude")
        results = [
            compute(samples, measures=["MagArea", "t_conv"], **options),
            metric.compute(samples=samples.tolist(), **options),
            compute(as_space(samples, **options), measures=["MagArea", "t_conv"]),
        ]
        expected = pytest.approx(mag_area(samples, **options), rel=1e-9)
        assert [result["MagArea"] for result in results] == [expected] * 3
        reference_scale = convergence_scale(references, **options)
        measures = ["MagArea", "t_conv", "MagDiff"]
        result_with_references = compute(samples, references, measures=measures, **options)
        assert (
            metric.compute(samples=samples, references=references, **options)
            == result_with_references
        )
        assert result_with_references["MagArea"] == pytest.approx(
            mag_area(samples, t_cut=reference_scale, **options), rel=1e-9
        )
        expected_difference = result_with_references["MagArea"] - mag_area(
            references, t_cut=reference_scale, **options
        )
        assert result_with_references["MagDiff"] == pytest.approx(expected_difference, rel=1e-6)

    def test_area_without_references_notes_its_scale_and_incomparability(self):
        for compute_area_with_details in (
            partial(compute, measures="MagArea"),
            vendiscore.load("magnitude").compute,
        ):
            (note,) = compute_area_with_details(samples=X, details=True)["details"]["notes"]
            assert f"t_conv={convergence_scale(X):.6g} of the samples" in note
            assert "sets are not comparable" in note
        result_with_kernel = compute(X, k="cosine", metric="euclidean", measures=["VS", "MagArea"])
        assert result_with_kernel["MagArea"] == mag_area(X)
        groups = np.arange(30) % 2
        result = compute(X, measures="MagArea", groups=groups, details=True)
        areas = [mag_area(X[groups == group]) for group in (0, 1)]
        assert result["MagArea"] == pytest.approx(np.mean(areas))
        assert sum("convergence scale" in note for note in result["details"]["notes"]) == 1

    def test_upper_limit_is_convergence_scale_of_references(self):
        reference_scale = convergence_scale(Y)
        result = compute(X, Y, measures="MagArea", details=True)
        assert result["MagArea"] == pytest.approx(
            compute_area(cdist(X, X), reference_scale), rel=1e-8
        )
        details = result["details"]
        assert any(note.startswith(REFERENCE_LIMIT_NOTE) for note in details["notes"])
        assert "|references=" in details["signature"]
        other_references = compute(X, 2 * Y, measures="MagArea", details=True)
        assert other_references["details"]["signature"] != details["signature"]
        spaces = compute(as_space(X), as_space(Y), measures="MagArea")
        assert spaces["MagArea"] == pytest.approx(result["MagArea"], rel=1e-9)
        precomputed = compute(cdist(X, X), cdist(Y, Y), metric="precomputed", measures="MagArea")
        assert precomputed["MagArea"] == pytest.approx(result["MagArea"], rel=1e-8)

    def test_area_rejects_references_that_are_a_single_point(self):
        for single_point in (Y[:1], np.ones((5, 3))):
            with pytest.raises(
                ValueError,
                match=r"of `references`.* must be above 0.* pass other references, or `t",
            ):
                compute(X, single_point, measures="MagArea")

    def test_mag_area_of_scaled_samples_grows_if_references_set_the_scale(self):
        result = [compute(s * X, Y, measures="MagArea")["MagArea"] for s in (0.0, 0.1, 0.5, 1, 2)]
        assert result == sorted(set(result))
        # Without references, each set has its own convergence scale, and the order is reversed.
        areas_without_references = [
            compute(s * X, measures="MagArea", t_cut="t_conv")["MagArea"] for s in (0.1, 1, 2)
        ]
        assert areas_without_references == sorted(areas_without_references, reverse=True)

    def test_t_cut_sets_the_upper_limit_of_the_area(self):
        D, limit = cdist(X, X), {"t_cut": 2.0}
        expected = pytest.approx(compute_area(D, 2.0), rel=1e-8)
        assert compute(X, measures="MagArea", **limit)["MagArea"] == expected
        with pytest.raises(TypeError, match="`references` have no effect on MagArea"):
            compute(X, X, measures="MagArea", **limit)
        result = compute(X, measures="MagArea", t_cut="t_conv", details=True)
        assert result["MagArea"] == mag_area(X)
        assert "sets are not comparable" in result["details"]["notes"][0]

    @pytest.mark.parametrize("metric", [None, "kernel", "1-k"])
    def test_area_of_a_kernel_has_an_upper_limit_independent_of_references(self, metric):
        options = {"k": "rbf", "sigma": 1.0, "metric": metric, "measures": "MagArea"}
        max_distance = 1.0 if metric == "1-k" else math.sqrt(2)
        K = np.exp(-(cdist(X, X) ** 2) / 2)
        D = 1 - K if metric == "1-k" else np.sqrt(2 - 2 * K)
        expected = compute_area(D, math.log(19 * 29) / max_distance)
        assert compute(X, **options)["MagArea"] == pytest.approx(expected, rel=1e-8)
        assert compute(X, Y, **options) == compute(X, **options)
        texts = ["a cat", "a cat sat", "the dog"]
        assert compute(texts, ["b"], measures="MagArea") == compute(texts, measures="MagArea")
        fitted_options = {
            "k": "rbf",
            "measures": ["VS", "MagArea"],
        }  # fitted to the samples, with and without references
        assert compute(X, Y, **fitted_options) == compute(X, **fitted_options)

    def test_groups_share_the_upper_limit_from_all_references(self):
        reference_scale = convergence_scale(Y, metric="manhattan")
        options = {"metric": "manhattan", "measures": "MagArea"}
        groups = np.split(X, 3)
        expected = np.mean(
            [compute_area(cdist(rows, rows, "cityblock"), reference_scale) for rows in groups]
        )
        result = compute(X, Y, groups=np.repeat([0, 1, 2], 10), **options)["MagArea"]
        assert result == pytest.approx(expected, rel=1e-8)

    def test_metric_add_batch_keeps_references(self):
        metric = vendiscore.load("vendiscore", measures="MagArea")
        metric.add_batch(predictions=X[:9], references=Y[:9])
        metric.add_batch(predictions=X[9:], references=Y[9:])
        assert metric.compute() == compute(X, Y, measures="MagArea")
        magnitude_metric = vendiscore.load("magnitude")
        assert magnitude_metric.compute(samples=X)["MagArea"] == mag_area(X)
        magnitude_metric.add_batch(predictions=X, references=Y)
        assert magnitude_metric.compute()["MagArea"] == compute(X, Y, measures="MagArea")["MagArea"]
        texts = [
            "a cat",
            "a cat sat",
            "the dog",
        ]  # also with a kernel, the area of a single set as in the paper
        area = magnitude_metric.compute(samples=texts)["MagArea"]
        assert area == mag_area(texts) != compute(texts, measures="MagArea")["MagArea"]


# Limbeck et al., arXiv 2311.16054, Table S.1: Manhattan distances, K = exp(−D), 10 even scales from
# 0 to X's convergence scale. The table prints 1.867 as the Vendi Score of the first two sets
# (closed form: 1.8661), and the score of the third set with two decimals.
TABLE_S1 = {
    "X": ([[1], [0]], 4.602, 1.866, 0.368, 0.500),
    "Q": ([[1, 0], [0, 0]], 4.602, 1.866, 0.368, 0.0),
    "Z": ([[1], [0], [0]], 4.602, 1.773, 0.579, 0.471),
    "Y": ([[1], [0], [0.01]], 4.613, 1.809, 0.577, 0.469),
}
S1_OPTIONS = {"k": "laplacian", "sigma": 1.0, "metric": "manhattan"}


@pytest.mark.parametrize("name", TABLE_S1)
def test_measures_match_table_s1_of_limbeck(name):
    samples, *expected = TABLE_S1[name]
    reference_scale = convergence_scale([[1.0], [0.0]], metric="manhattan")
    measures = {
        "MagArea": {"t_cut": reference_scale, "n_scales": 10},
        "VS": {},
        "AvgSim": {},
        "GMStds": {},
    }
    result = compute(np.array(samples, dtype=float), measures=measures, **S1_OPTIONS)
    assert [round(value, 3) for value in result.values()] == expected
    # References X are equivalent to its convergence scale, for sets with as many columns.
    if name != "Q":
        reference = [[1.0], [0.0]]
        with_references = compute(
            samples, reference, measures="MagArea", metric="manhattan", n_scales=10
        )
        assert with_references["MagArea"] == pytest.approx(result["MagArea"], rel=1e-12)


@pytest.mark.parametrize("groups", [None, np.arange(30) % 2])
def test_solver_option_applies_to_its_measure_only(groups):
    options = {"groups": groups, "metric": "manhattan"}
    measures = {"MagArea": {"solver": "cholesky"}, "t_conv": {}}
    result = compute(X, measures=measures, **options)
    assert result == pytest.approx(compute(X, measures=[*measures], **options), rel=1e-9)
    options["details"] = True
    details = compute(X, measures={"MagArea": {"solver": "cholesky"}}, **options)["details"]
    assert set(details["solver"]) <= {"cholesky", "float64 cholesky"}
    assert "|solver=cholesky|" in details["signature"]
    details = compute(X, Y, measures="MagDiff", solver="cg", **options)["details"]
    assert set(details["solver"]) <= {"cg", "preconditioned cg"}


def test_metric_space_keeps_its_solver():
    space = as_space(X, solver="cholesky")
    result = compute(space, measures="MagArea", details=True)
    assert result["details"]["options"]["solver"] == "cholesky"
    with pytest.raises(TypeError, match=r"`solver` has no effect .* with solver 'cholesky'"):
        compute(space, measures={"MagArea": {"solver": "cg"}})
