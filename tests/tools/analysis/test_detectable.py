"""The difference that a comparison detects in 80 % of cases."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from vendiscore import compare
from vendiscore.scoring.subsampling import compute_mean_and_error, student_interval
from vendiscore.tools.analysis.detectable import (
    detectable_standard_errors,
    estimate_paired_detectable,
    estimate_unpaired_detectable,
    scale_detectable,
)
from vendiscore.tools.analysis.pair_inference import difference_level


@pytest.mark.parametrize("groups", [3, 5, 12, 40])
def test_the_interval_of_a_detectable_difference_excludes_0_in_80_percent(groups):
    rng = np.random.default_rng(groups)
    true = detectable_standard_errors(groups, 0.95, signed=False) / math.sqrt(groups)
    drawn = rng.normal(true, 1, (4000, groups))
    low = [student_interval(differences, 0.95)[2] for differences in drawn]
    assert np.mean(np.array(low) > 0) == pytest.approx(0.8, abs=0.025)


def test_signs_of_few_groups_detect_less():
    for groups in range(6, 12):
        plain, signed = (
            detectable_standard_errors(groups, 0.95, signed) for signed in (False, True)
        )
        assert plain <= signed
    assert detectable_standard_errors(6, 0.95, True) > 1.05 * detectable_standard_errors(
        6, 0.95, False
    )
    # Of six differences all must have one sign.
    all_positive = norm.cdf(detectable_standard_errors(6, 0.95, True) / math.sqrt(6)) ** 6
    assert all_positive == pytest.approx(0.8)
    assert detectable_standard_errors(5, 0.95, True) == detectable_standard_errors(5, 0.95, False)
    assert math.isnan(detectable_standard_errors(2, 0.95, False))


@pytest.mark.parametrize("groups", [3, 6, 20])
def test_an_estimate_is_as_often_too_small_as_too_large(groups):
    rng = np.random.default_rng(groups)
    estimates = []
    for differences in rng.normal(size=(2000, groups)):
        _, error = compute_mean_and_error(differences)
        estimates.append(estimate_paired_detectable(error, groups, 0.95, True))
    true = detectable_standard_errors(groups, 0.95, True) / math.sqrt(groups)
    assert np.median(estimates) == pytest.approx(true, rel=0.05)


def test_more_groups_detect_smaller_differences():
    scaled = [scale_detectable(1.0, 8, count, 0.95, True) for count in (8, 16, 32, 64, 200)]
    assert scaled[0] == 1
    assert (np.diff(scaled) < 0).all()
    assert scaled[4] / scaled[3] == pytest.approx(math.sqrt(64 / 200), rel=0.02)


def test_without_an_error_or_a_width_of_the_interval_nothing_is_known():
    assert math.isnan(estimate_paired_detectable(0.0, 8, 0.95, True))
    assert math.isnan(estimate_paired_detectable(math.nan, 8, 0.95, True))
    assert math.isnan(estimate_paired_detectable(1.0, 2, 0.95, True))
    assert math.isnan(estimate_unpaired_detectable(1.0, 1.0, 1.0, 0.1))


def test_without_groups_it_is_the_reach_of_the_interval_towards_0_and_a_quantile():
    quantile = norm.ppf(0.8)
    for difference, reach in ((2.0, 1.5), (-2.0, 4.0), (0.0, 1.5)):
        result = estimate_unpaired_detectable(difference, difference - 1.5, difference + 4.0, 0.5)
        assert result == pytest.approx(reach + 0.5 * quantile)


def answers(rng, groups, kinds):
    return [rng.integers(kinds, size=6).tolist() for _ in range(groups)]


def test_sentences_tell_it_where_no_difference_is_shown():
    rng = np.random.default_rng(0)
    A, B, C = (answers(rng, 8, kinds) for kinds in (5, 6, 5))
    result = compare(A, B, k="labels")
    row = result.pairs[0]
    assert result.verdict("A", "B") == "no difference shown"
    larger = max(each.matched for each in result.sets)
    percent = 100 * row.detectable_difference / larger
    more = scale_detectable(row.detectable_difference, 8, 16, 0.95, True)
    ending = (
        f" This design detects a difference of about {row.detectable_difference:.2g} "
        f"({percent:.0f} % of the larger score) in 80 % of cases; 16 groups would detect about "
        f"{more:.2g} ({100 * more / larger:.0f} %)."
    )
    assert result.sentence.endswith(ending)
    assert result.verdicts[0].endswith(ending)
    assert result.to_dict()["pairs"][0]["detectable_difference"] == row.detectable_difference
    assert result.to_frame()["detectable_difference"][0] == row.detectable_difference
    three = compare({"a": A, "b": B, "c": C}, k="labels")
    assert three.sentence.startswith("No difference shown between a, b and c")
    largest = max(row.detectable_difference for row in three.pairs)
    assert f"detects a difference of about {largest:.2g} (" in three.sentence
    assert {row.level for row in three.pairs} == {difference_level(0.95, 3)}
    for pair, alone in zip(three.pairs[:1], result.pairs, strict=True):
        assert pair.detectable_difference > alone.detectable_difference


def test_sentences_of_sets_without_groups_name_what_detects_less():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 60, 6))
    result = compare(X, Y, k="rbf", sigma=2.0, permutations=99)
    assert result.sentence.endswith(
        " % of the larger score) in 80 % of cases; larger sets, or sets compared by prompt or "
        "group, detect smaller ones."
    )


def test_a_difference_is_possible_up_to_the_size_of_sets():
    """A set of low scores may differ by more than its score, from a set of larger ones."""
    A, B = ["a", "b"] * 10, ["c", "d"] * 10
    result = compare(A, B, k="labels")
    difference = result.pairs[0].detectable_difference
    assert max(row.matched for row in result.sets) - 1 < difference < 19
    percent = f"{100 * difference / 2:.0f} % of the larger score"
    expected = f"detects a difference of about {difference:.2g} ({percent}) in 80 % of cases"
    assert expected in result.sentence
    assert compare(A, list("cdefghijklmnopqrstuv"), k="labels").pairs[0].difference < -difference
    # Errors that are too large for any difference of these sizes.
    rows = [replace(result.pairs[0], detectable_difference=value) for value in (18.9, 19.1)]
    sentences = [replace(result, pairs=(row,)).sentence for row in rows]
    assert "detects a difference of about 19 (945 % of the larger score)" in sentences[0]
    assert sentences[1].endswith(
        " No possible difference would be detected in 80 % of cases; larger sets, or sets "
        "compared by prompt or group, can show one."
    )


def test_few_groups_detect_it_less_often():
    rng = np.random.default_rng(0)
    A, B = (answers(rng, 8, 5) for _ in range(2))
    few, more = compare(A[:7], B[:7], k="labels"), compare(A, B, k="labels")
    assert few.verdict("A", "B") == more.verdict("A", "B") == "no difference shown"
    assert " % of the larger score) in at most 80 % of cases; 14 groups would" in few.sentence
    assert " % of the larger score) in 80 % of cases; 16 groups would" in more.sentence
    # Six answers of a group differ by 5 at most.
    row = replace(few.pairs[0], detectable_difference=100.0)
    assert replace(few, pairs=(row,)).sentence.endswith(
        " No possible difference would be detected in 80 % of cases; many more groups would "
        "detect one."
    )


def test_a_direction_has_no_such_sentence():
    rng = np.random.default_rng(0)
    result = compare(answers(rng, 12, 30), answers(rng, 12, 2), k="labels")
    assert result.verdict("A", "B") == "more diverse"
    assert "This design" not in result.sentence
    assert result.pairs[0].detectable_difference > 0
