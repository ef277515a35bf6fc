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
def test_detectable_difference_has_power_of_80_percent(groups):
    rng = np.random.default_rng(groups)
    true = detectable_standard_errors(groups, 0.95, flips_signs=False) / math.sqrt(groups)
    samples = rng.normal(true, 1, (4000, groups))
    low = [student_interval(differences, 0.95)[2] for differences in samples]
    assert np.mean(np.array(low) > 0) == pytest.approx(0.8, abs=0.025)


def test_sign_test_of_few_groups_detects_only_larger_differences():
    for groups in range(6, 12):
        plain, signed = (
            detectable_standard_errors(groups, 0.95, signed) for signed in (False, True)
        )
        assert plain <= signed
    assert detectable_standard_errors(6, 0.95, True) > 1.05 * detectable_standard_errors(
        6, 0.95, False
    )
    # All six differences must have the same sign.
    all_positive = norm.cdf(detectable_standard_errors(6, 0.95, True) / math.sqrt(6)) ** 6
    assert all_positive == pytest.approx(0.8)
    assert detectable_standard_errors(5, 0.95, True) == detectable_standard_errors(5, 0.95, False)
    assert math.isnan(detectable_standard_errors(2, 0.95, False))


@pytest.mark.parametrize("groups", [3, 6, 20])
def test_estimated_detectable_difference_is_median_unbiased(groups):
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


def test_detectable_difference_is_nan_without_error_or_interval():
    assert math.isnan(estimate_paired_detectable(0.0, 8, 0.95, True))
    assert math.isnan(estimate_paired_detectable(math.nan, 8, 0.95, True))
    assert math.isnan(estimate_paired_detectable(1.0, 2, 0.95, True))
    assert math.isnan(estimate_unpaired_detectable(1.0, 1.0, 1.0, 0.1))


def test_unpaired_detectable_difference_adds_interval_arm_and_quantile():
    quantile = norm.ppf(0.8)
    for difference, arm in ((2.0, 1.5), (-2.0, 4.0), (0.0, 1.5)):
        result = estimate_unpaired_detectable(difference, difference - 1.5, difference + 4.0, 0.5)
        assert result == pytest.approx(arm + 0.5 * quantile)


def draw_labels(rng, groups, n_labels):
    return [rng.integers(n_labels, size=6).tolist() for _ in range(groups)]


def test_sentence_states_detectable_difference_if_no_difference_is_shown():
    rng = np.random.default_rng(0)
    A, B, C = (draw_labels(rng, 8, n_labels) for n_labels in (5, 6, 5))
    result = compare(A, B, k="labels")
    row = result.pairs[0]
    assert result.verdict("A", "B") == "no difference shown"
    larger = max(set_row.matched for set_row in result.sets)
    percent = 100 * row.detectable_difference / larger
    with_more_groups = scale_detectable(row.detectable_difference, 8, 16, 0.95, True)
    ending = (
        f" This design detects a difference of about {row.detectable_difference:.2g} "
        f"({percent:.0f} % of the larger score) in 80 % of cases; 16 groups would detect about "
        f"{with_more_groups:.2g} ({100 * with_more_groups / larger:.0f} %)."
    )
    assert result.sentence.endswith(ending)
    assert result.verdicts[0].endswith(ending)
    assert result.to_dict()["pairs"][0]["detectable_difference"] == row.detectable_difference
    assert result.to_frame()["detectable_difference"][0] == row.detectable_difference
    three_sets = compare({"a": A, "b": B, "c": C}, k="labels")
    assert three_sets.sentence.startswith("No difference shown between a, b and c")
    largest = max(row.detectable_difference for row in three_sets.pairs)
    assert f"detects a difference of about {largest:.2g} (" in three_sets.sentence
    assert {row.level for row in three_sets.pairs} == {difference_level(0.95, 3)}
    for pair, single_pair in zip(three_sets.pairs[:1], result.pairs, strict=True):
        assert pair.detectable_difference > single_pair.detectable_difference


def test_sentence_suggests_larger_sets_or_groups():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 60, 6))
    result = compare(X, Y, k="rbf", sigma=2.0, permutations=99)
    assert result.sentence.endswith(
        " % of the larger score) in 80 % of cases; larger sets, or sets compared by prompt or "
        "group, detect smaller ones."
    )


def test_detectable_difference_can_exceed_the_score_but_not_the_size():
    """The difference between a low-scoring and a high-scoring set may exceed the lower score."""
    A, B = ["a", "b"] * 10, ["c", "d"] * 10
    result = compare(A, B, k="labels")
    difference = result.pairs[0].detectable_difference
    assert max(row.matched for row in result.sets) - 1 < difference < 19
    percent = f"{100 * difference / 2:.0f} % of the larger score"
    expected = f"detects a difference of about {difference:.2g} ({percent}) in 80 % of cases"
    assert expected in result.sentence
    assert compare(A, list("cdefghijklmnopqrstuv"), k="labels").pairs[0].difference < -difference
    # If the error is too large, no difference between sets of these sizes is detectable.
    rows = [replace(result.pairs[0], detectable_difference=value) for value in (18.9, 19.1)]
    sentences = [replace(result, pairs=(row,)).sentence for row in rows]
    assert "detects a difference of about 19 (945 % of the larger score)" in sentences[0]
    assert sentences[1].endswith(
        " No possible difference would be detected in 80 % of cases; larger sets, or sets "
        "compared by prompt or group, can show one."
    )


def test_sentence_states_at_most_80_percent_for_few_groups():
    rng = np.random.default_rng(0)
    A, B = (draw_labels(rng, 8, 5) for _ in range(2))
    seven_groups, eight_groups = compare(A[:7], B[:7], k="labels"), compare(A, B, k="labels")
    assert seven_groups.verdict("A", "B") == eight_groups.verdict("A", "B") == "no difference shown"
    assert (
        " % of the larger score) in at most 80 % of cases; 14 groups would" in seven_groups.sentence
    )
    assert " % of the larger score) in 80 % of cases; 16 groups would" in eight_groups.sentence
    # The scores of groups with six answers differ by at most 5.
    row = replace(seven_groups.pairs[0], detectable_difference=100.0)
    assert replace(seven_groups, pairs=(row,)).sentence.endswith(
        " No possible difference would be detected in 80 % of cases; many more groups would "
        "detect one."
    )


def test_sentence_omits_detectable_difference_if_a_direction_is_shown():
    rng = np.random.default_rng(0)
    result = compare(draw_labels(rng, 12, 30), draw_labels(rng, 12, 2), k="labels")
    assert result.verdict("A", "B") == "more diverse"
    assert "This design" not in result.sentence
    assert result.pairs[0].detectable_difference > 0
