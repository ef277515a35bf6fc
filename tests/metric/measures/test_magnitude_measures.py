"""Magnitude's relatives as measures: spread, dimension, and an area that sets have in common."""

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
AT_REFERENCES = "The upper limit of MagArea is the convergence scale of the references"


def magnitude(D, t):
    return np.linalg.solve(np.exp(-t * D), np.ones(len(D))).sum()


def area(D, t_cut, n_scales=30):
    scales = np.linspace(0, t_cut, n_scales)
    return np.trapezoid([1.0, *(magnitude(D, t) for t in scales[1:])], scales)


class TestSpread:
    @pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev"])
    def test_spread_equals_sum_of_inverse_row_sums(self, metric):
        D = cdist(X, X, metric)
        expected = {f"Spread_t{t}": (1 / np.exp(-t * D).sum(1)).sum() for t in (0, 0.5, 2)}
        result = compute(X, metric=metric, measures="Spread", t=[0, 0.5, 2])
        assert result == pytest.approx(expected, rel=1e-8)
        single = compute(X, metric=metric, measures={"Spread": {"t": 2}, "Magnitude": {"t": 2}})
        assert single["Spread"] == pytest.approx(expected["Spread_t2"], rel=1e-8)
        if metric != "chebyshev":  # of negative type: the spread is at most the magnitude
            assert single["Spread"] <= single["Magnitude"] * (1 + 1e-12)

    def test_spread_equals_leinster_cobbold_diversity_of_order_zero(self):
        how = {"k": "laplacian", "sigma": 1.0, "metric": "manhattan"}
        result = compute(X, measures=["LC", "Spread"], q=0, **how)
        assert result["Spread"] == pytest.approx(result["LC_q0"], rel=1e-10)

    def test_spread_of_equidistant_points_and_of_duplicates(self):
        D = 1 - np.eye(5)
        expected = 5 / (1 + 4 * math.exp(-3))
        for t, value in ((3, expected), (0, 1.0), (1e6, 5.0)):
            result = compute(D, metric="precomputed", measures="Spread", t=t)["Spread"]
            assert result == pytest.approx(value, rel=1e-12)
        copies = compute(np.repeat(X, 2, axis=0), measures="Spread", t=2)
        assert copies == pytest.approx(compute(X, measures="Spread", t=2), rel=1e-12)
        assert compute([[1.0, 2.0]], measures="Spread") == {"Spread": 1.0}
        with pytest.raises(ValueError, match="`t` must be a finite scale of at least 0, got -1"):
            compute(X, measures="Spread", t=-1)


class TestMagnitudeArea:
    @pytest.mark.parametrize("how", [{}, {"metric": "manhattan"}, {"metric": "precomputed"}])
    def test_area_is_equal_at_all_entry_points(self, how):
        one, two = (cdist(X, X), cdist(Y, Y)) if how.get("metric") == "precomputed" else (X, Y)
        metric = vendiscore.load("magnitude")
        doors = [
            compute(one, measures=["MagArea", "t_conv"], **how),
            metric.compute(samples=one.tolist(), **how),
            compute(as_space(one, **how), measures=["MagArea", "t_conv"]),
        ]
        expected = pytest.approx(mag_area(one, **how), rel=1e-9)
        assert [result["MagArea"] for result in doors] == [expected] * 3
        end = convergence_scale(two, **how)
        measures = ["MagArea", "t_conv", "MagDiff"]
        both = compute(one, two, measures=measures, **how)
        assert metric.compute(samples=one, references=two, **how) == both
        assert both["MagArea"] == pytest.approx(mag_area(one, t_cut=end, **how), rel=1e-9)
        left = both["MagArea"] - mag_area(two, t_cut=end, **how)
        assert both["MagDiff"] == pytest.approx(left, rel=1e-6)

    def test_area_without_references_notes_its_scale_and_incomparability(self):
        for door in (partial(compute, measures="MagArea"), vendiscore.load("magnitude").compute):
            (note,) = door(samples=X, details=True)["details"]["notes"]
            assert f"t_conv={convergence_scale(X):.6g} of the samples" in note
            assert "sets are not comparable" in note
        both = compute(X, k="cosine", metric="euclidean", measures=["VS", "MagArea"])
        assert both["MagArea"] == mag_area(X)
        groups = np.arange(30) % 2
        result = compute(X, measures="MagArea", groups=groups, details=True)
        areas = [mag_area(X[groups == group]) for group in (0, 1)]
        assert result["MagArea"] == pytest.approx(np.mean(areas))
        assert sum("convergence scale" in note for note in result["details"]["notes"]) == 1

    def test_upper_limit_is_convergence_scale_of_references(self):
        end = convergence_scale(Y)
        result = compute(X, Y, measures="MagArea", details=True)
        assert result["MagArea"] == pytest.approx(area(cdist(X, X), end), rel=1e-8)
        details = result["details"]
        assert any(note.startswith(AT_REFERENCES) for note in details["notes"])
        assert "|references=" in details["signature"]
        other = compute(X, 2 * Y, measures="MagArea", details=True)
        assert other["details"]["signature"] != details["signature"]
        spaces = compute(as_space(X), as_space(Y), measures="MagArea")
        assert spaces["MagArea"] == pytest.approx(result["MagArea"], rel=1e-9)
        given = compute(cdist(X, X), cdist(Y, Y), metric="precomputed", measures="MagArea")
        assert given["MagArea"] == pytest.approx(result["MagArea"], rel=1e-8)

    def test_area_rejects_references_that_are_a_single_point(self):
        for one in (Y[:1], np.ones((5, 3))):
            with pytest.raises(
                ValueError, match=r"`references` must .* pass other references, or `t"
            ):
                compute(X, one, measures="MagArea")

    def test_area_grows_with_distances_for_fixed_references(self):
        result = [compute(s * X, Y, measures="MagArea")["MagArea"] for s in (0.0, 0.1, 0.5, 1, 2)]
        assert result == sorted(set(result))
        # To their own convergence scales it is the other way round: hence the note.
        own = [compute(s * X, measures="MagArea", t_cut="t_conv")["MagArea"] for s in (0.1, 1, 2)]
        assert own == sorted(own, reverse=True)

    def test_t_cut_sets_the_upper_limit_of_the_area(self):
        D, told = cdist(X, X), {"t_cut": 2.0}
        expected = pytest.approx(area(D, 2.0), rel=1e-8)
        assert compute(X, measures="MagArea", **told)["MagArea"] == expected
        with pytest.raises(TypeError, match="`references` have no effect on MagArea"):
            compute(X, X, measures="MagArea", **told)
        result = compute(X, measures="MagArea", t_cut="t_conv", details=True)
        assert result["MagArea"] == mag_area(X)
        assert "sets are not comparable" in result["details"]["notes"][0]

    @pytest.mark.parametrize("metric", [None, "kernel", "1-k"])
    def test_area_of_a_kernel_has_an_upper_limit_independent_of_references(self, metric):
        how = {"k": "rbf", "sigma": 1.0, "metric": metric, "measures": "MagArea"}
        unit = 1.0 if metric == "1-k" else math.sqrt(2)
        K = np.exp(-(cdist(X, X) ** 2) / 2)
        D = 1 - K if metric == "1-k" else np.sqrt(2 - 2 * K)
        expected = area(D, math.log(19 * 29) / unit)
        assert compute(X, **how)["MagArea"] == pytest.approx(expected, rel=1e-8)
        assert compute(X, Y, **how) == compute(X, **how)
        texts = ["a cat", "a cat sat", "the dog"]
        assert compute(texts, ["b"], measures="MagArea") == compute(texts, measures="MagArea")
        fitted = {"k": "rbf", "measures": ["VS", "MagArea"]}  # to the samples, as without
        assert compute(X, Y, **fitted) == compute(X, **fitted)

    def test_groups_share_the_upper_limit_from_all_references(self):
        end = convergence_scale(Y, metric="manhattan")
        how = {"metric": "manhattan", "measures": "MagArea"}
        parts = np.split(X, 3)
        expected = np.mean([area(cdist(rows, rows, "cityblock"), end) for rows in parts])
        result = compute(X, Y, groups=np.repeat([0, 1, 2], 10), **how)["MagArea"]
        assert result == pytest.approx(expected, rel=1e-8)

    def test_metric_add_batch_keeps_references(self):
        metric = vendiscore.load("vendiscore", measures="MagArea")
        metric.add_batch(predictions=X[:9], references=Y[:9])
        metric.add_batch(predictions=X[9:], references=Y[9:])
        assert metric.compute() == compute(X, Y, measures="MagArea")
        plain = vendiscore.load("magnitude")
        assert plain.compute(samples=X)["MagArea"] == mag_area(X)
        plain.add_batch(predictions=X, references=Y)
        assert plain.compute()["MagArea"] == compute(X, Y, measures="MagArea")["MagArea"]
        texts = ["a cat", "a cat sat", "the dog"]  # of a kernel the paper's area of one set, too
        own = plain.compute(samples=texts)["MagArea"]
        assert own == mag_area(texts) != compute(texts, measures="MagArea")["MagArea"]


# Limbeck et al., arXiv 2311.16054, Table S.1: Manhattan distances, K = exp(−D), 10 even scales from
# 0 to X's convergence scale. Vendi Scores: it prints 1.867 for the first two, in closed form
# 1.8661, and the score of the third with two decimals.
TABLE = {
    "X": ([[1], [0]], 4.602, 1.866, 0.368, 0.500),
    "Q": ([[1, 0], [0, 0]], 4.602, 1.866, 0.368, 0.0),
    "Z": ([[1], [0], [0]], 4.602, 1.773, 0.579, 0.471),
    "Y": ([[1], [0], [0.01]], 4.613, 1.809, 0.577, 0.469),
}
S1 = {"k": "laplacian", "sigma": 1.0, "metric": "manhattan"}


@pytest.mark.parametrize("name", TABLE)
def test_measures_match_table_s1_of_limbeck(name):
    samples, *expected = TABLE[name]
    end = convergence_scale([[1.0], [0.0]], metric="manhattan")
    columns = {"MagArea": {"t_cut": end, "n_scales": 10}, "VS": {}, "AvgSim": {}, "GMStds": {}}
    result = compute(np.array(samples, dtype=float), measures=columns, **S1)
    assert [round(value, 3) for value in result.values()] == expected
    # X as the references says the same as its convergence scale, of sets of as many columns.
    if name != "Q":
        reference = [[1.0], [0.0]]
        again = compute(samples, reference, measures="MagArea", metric="manhattan", n_scales=10)
        assert again["MagArea"] == pytest.approx(result["MagArea"], rel=1e-12)


@pytest.mark.parametrize("groups", [None, np.arange(30) % 2])
def test_solver_option_applies_to_its_measure_only(groups):
    how = {"groups": groups, "metric": "manhattan"}
    measures = {"MagArea": {"solver": "cholesky"}, "t_conv": {}}
    result = compute(X, measures=measures, **how)
    assert result == pytest.approx(compute(X, measures=[*measures], **how), rel=1e-9)
    how["details"] = True
    details = compute(X, measures={"MagArea": {"solver": "cholesky"}}, **how)["details"]
    assert set(details["solver"]) <= {"cholesky", "float64 cholesky"}
    assert "|solver=cholesky|" in details["signature"]
    details = compute(X, Y, measures="MagDiff", solver="cg", **how)["details"]
    assert set(details["solver"]) <= {"cg", "preconditioned cg"}


def test_metric_space_keeps_its_solver():
    space = as_space(X, solver="cholesky")
    result = compute(space, measures="MagArea", details=True)
    assert result["details"]["options"]["solver"] == "cholesky"
    with pytest.raises(TypeError, match=r"`solver` has no effect .* with solver 'cholesky'"):
        compute(space, measures={"MagArea": {"solver": "cg"}})
