"""Comparison of sets that did not answer all prompts."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from vendiscore import compare, compute
from vendiscore.tools.analysis.additive_model import (
    estimate_adjusted_means,
    find_connected_sets,
    fit_additive_model,
)

NAMES = ["A", "B", "C", "D"]


def quick_compare(*sets, **options):
    return compare(*sets, **{"permutations": 199, "k": "labels", **options})


def draw_scores(seed, n_sets=4, n_prompts=12, missing=0.3):
    """Return scores of sets for prompts, of which a proportion is missing."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(n_sets, 1)) + rng.normal(size=n_prompts)
    scores = np.exp(0.2 * (logs + 0.3 * rng.normal(size=logs.shape))) + 1
    scores[rng.random(scores.shape) < missing] = math.nan
    scores[:2, :2] = scores[2:, 2:4] = 2.0  # every set has some scores
    scores[1:3, 4:6] = 3.0
    return scores


def draw_answers(missing=((0, 1), (1, 3), (2, 6), (2, 7)), n_prompts=10, seed=0):
    """Return flat answers, sets and prompts of three sets; some sets lack some prompts."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"{rng.integers(2 + 2 * i + prompt % 3)}", NAMES[i], f"p{prompt}")
        for i, prompt in itertools.product(range(3), range(n_prompts))
        if (i, prompt) not in missing
        for _ in range(5)
    ]
    return [list(column) for column in zip(*rows, strict=True)]


def fit_by_lstsq(logs):
    """Fit the model by least squares with one column per set and per prompt."""
    rows, values = [], []
    for i, p in zip(*np.nonzero(np.isfinite(logs)), strict=True):
        row = np.zeros(sum(logs.shape))
        row[i] = row[logs.shape[0] + p] = 1
        rows.append(row)
        values.append(logs[i, p])
    effects = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    return effects[: logs.shape[0], None] + effects[logs.shape[0] :]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 0.6))
def test_fitted_values_equal_dense_least_squares(seed, missing):
    logs = np.log(draw_scores(seed, missing=missing))
    logs = logs[:, np.isfinite(logs).any(axis=0)]
    np.testing.assert_allclose(fit_additive_model(logs), fit_by_lstsq(logs), atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_complete_scores_give_students_interval_and_test(seed):
    scores = draw_scores(seed, missing=0)
    adjusted = estimate_adjusted_means(scores, NAMES)
    (difference, low, high), error, p = adjusted.estimate_difference(0, 3, 0.9)
    expected = ttest_rel(scores[0], scores[3])
    ends = expected.confidence_interval(0.9)
    assert (difference, low, high, p) == pytest.approx(
        (np.mean(scores[0] - scores[3]), ends.low, ends.high, expected.pvalue)
    )
    assert error == pytest.approx(np.std(scores[0] - scores[3], ddof=1) / math.sqrt(12))


def test_scores_of_an_additive_table_are_recovered():
    rng = np.random.default_rng(0)
    scores = np.exp(rng.normal(size=(4, 1)) + rng.normal(size=12))
    incomplete = np.where(np.isfinite(draw_scores(1)), scores, math.nan)
    assert np.isnan(incomplete).any()
    adjusted = estimate_adjusted_means(incomplete, NAMES)
    np.testing.assert_allclose(adjusted.means, scores.mean(axis=1))
    (difference, low, high), _, p = adjusted.estimate_difference(0, 1, 0.95)
    assert low <= difference <= high
    assert 0 < p < 1


def test_connected_sets_share_prompts_directly_or_not():
    present = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=bool)
    assert find_connected_sets(present).tolist() == [True, True, True, False]


def test_missing_cells_adjust_differences():
    answers, sets, prompts = draw_answers()
    with pytest.warns(
        UserWarning, match=r"4 of 30 cells \(set × prompt\) are missing, such as `B` "
    ):
        result = quick_compare(answers, by=sets, prompts=prompts)
    assert (result.groups, result.missing_cells) == (10, 4)
    assert "Adjusted for 4 missing of 30 scores" in result.sentence
    labels = np.array([prompts, sets, answers])
    scores = np.full((3, 10), math.nan)
    for i, p in itertools.product(range(3), range(10)):
        cell = labels[2][(labels[1] == NAMES[i]) & (labels[0] == f"p{p}")].tolist()
        if cell:
            scores[i, p] = compute(cell, k="labels")["VS"]
    adjusted = estimate_adjusted_means(scores, NAMES)
    for row, (i, j) in zip(result.pairs, itertools.combinations(range(3), 2), strict=True):
        interval, _, p = adjusted.estimate_difference(i, j, row.level)
        assert (row.difference, row.low, row.high) == pytest.approx(interval)
        assert (row.p, row.permutations) == (pytest.approx(p), 0)
    for i, row in enumerate(result.sets):
        assert row.score == pytest.approx(np.nanmean(scores[i]))
        assert row.matched == pytest.approx(adjusted.means[i])
        assert row.matched_low < row.matched < row.matched_high
    assert json.loads(json.dumps(result.to_dict()))["missing_cells"] == 4
    table = result.to_frame("groups")
    assert len(table) == 8 + 7 + 7  # prompts that both sets of a pair answered
    row = table[(table.a == "A") & (table.b == "C") & (table.group == "p4")].iloc[0]
    assert (row.score_a, row.score_b) == pytest.approx((scores[0, 4], scores[2, 4]))


def test_groups_and_prompts_may_be_incomplete():
    answers, sets, prompts = draw_answers()
    with pytest.warns(UserWarning, match="cells"):
        by_prompt = quick_compare(answers, by=sets, prompts=prompts)
    with pytest.warns(UserWarning, match="cells"):
        by_group = quick_compare(answers, by=sets, groups=prompts)
    assert by_prompt.to_dict() == by_group.to_dict()


def test_single_answers_are_missing_cells():
    answers, sets, prompts = draw_answers()
    with pytest.warns(UserWarning, match="cells"):
        expected = quick_compare(answers, by=sets, prompts=prompts)
    extra = ([*answers, "9"], [*sets, "A"], [*prompts, "p1"])
    with pytest.warns(UserWarning, match="4 of 30 cells"):
        result = quick_compare(extra[0], by=extra[1], prompts=extra[2])
    assert result.to_dict() == expected.to_dict()


@pytest.mark.filterwarnings("ignore:4 of 30 cells")
def test_prompts_of_one_set_are_dropped():
    answers, sets, prompts = draw_answers()
    extra = ([*answers, *"012"], [*sets, *"AAA"], [*prompts, *["new"] * 3])
    message = "dropped 1 of 11 prompts that fewer than two sets answer at least two times"
    with pytest.warns(UserWarning, match=message):
        result = quick_compare(extra[0], by=extra[1], prompts=extra[2])
    assert (result.groups, result.missing_cells) == (10, 4)


@pytest.mark.parametrize("argument", ["groups", "prompts"])
def test_two_sets_are_compared_on_common_prompts(argument):
    answers, sets, prompts = draw_answers(missing=[(0, 1)])
    two = [i for i, name in enumerate(sets) if name != "C"]
    with pytest.warns(UserWarning, match=rf"dropped 1 of 10 {argument} that a set answers fewer"):
        result = quick_compare(
            [answers[i] for i in two],
            by=[sets[i] for i in two],
            **{argument: [prompts[i] for i in two]},
        )
    assert (result.groups, result.missing_cells) == (9, 0)
    assert result.pairs[0].permutations > 0


def test_cells_of_different_sizes_are_compared_at_the_common_size_of_the_prompt():
    answers, sets, prompts = draw_answers()
    retained = [i for i in range(len(answers)) if i % 5 < 3 or prompts[i] != "p1"]
    data = [[column[i] for i in retained] for column in (answers, sets, prompts)]
    with pytest.warns(UserWarning, match="cells"):
        result = quick_compare(data[0], by=data[1], prompts=data[2])
    assert [row.size for row in result.sets] == [9 * 5 + 3] * 3


def test_sets_without_common_prompts_are_rejected():
    answers, sets, prompts = draw_answers(missing=[(2, p) for p in range(1, 10)])
    with (
        pytest.warns(UserWarning, match="cells"),
        pytest.raises(ValueError, match="`C` must share at least two prompts with"),
    ):
        quick_compare(answers, by=sets, prompts=prompts)


def test_fixed_effects_require_complete_groups():
    answers, sets, prompts = draw_answers()
    with (
        pytest.warns(UserWarning, match="cells"),
        pytest.raises(
            ValueError, match="effects='fixed' requires at least two samples of each set"
        ),
    ):
        quick_compare(answers, by=sets, prompts=prompts, effects="fixed")


def test_nested_lists_must_have_the_same_number():
    lists = [["a", "b"]] * 4
    with pytest.raises(ValueError, match=r"same number of lists, .* got 4 of `A`, 3 of `B`"):
        quick_compare(lists, lists[:-1])
