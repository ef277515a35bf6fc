"""Comparison of two sets within each group, such as a prompt."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from vendiscore import as_similarity, compare, compute
from vendiscore.scoring.group_intervals import estimate_group_intervals
from vendiscore.support.progress import run_steps
from vendiscore.support.summary import format_value
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.pair_inference import difference_level, estimate_difference


def draw_labels(seed: int, n_labels: int, sizes: list[int]) -> tuple[list, list]:
    rng = np.random.default_rng(seed)
    samples = np.concatenate([rng.integers(n_labels, size=n) for n in sizes]).tolist()
    return samples, np.repeat([f"p{i}" for i in range(len(sizes))], sizes).tolist()


def compare_labels(*sets, **options):
    groups = [draw_labels for _, draw_labels in sets]
    options = {"k": "labels", "permutations": 19, **options}
    return compare(*(samples for samples, _ in sets), groups=groups, **options)


SIZES = [8, 4, 6, 8, 8, 5, 3]


@pytest.mark.parametrize("q", [1, 2])
def test_pairs_by_group_have_scores_intervals_and_differences(q):
    sets = draw_labels(0, 5, SIZES), draw_labels(1, 40, SIZES)
    result = compare_labels(*sets, q=q)
    assert result.pooled_groups == 6  # groups with at least four samples
    boundaries = np.cumsum(SIZES)[:-1]
    members = np.split(np.arange(sum(SIZES)), boundaries)
    conservative, exact_tails = [], []
    for samples, _ in sets:
        similarity = as_similarity(samples, k="labels")
        for rows, tails in ((conservative, False), (exact_tails, True)):
            intervals = estimate_group_intervals(
                similarity, members, [q], 0.95, conservative_tails=tails
            )
            rows.append(np.transpose([intervals.score[0], intervals.low[0], intervals.high[0]]))
    for i, row in enumerate(result.pairs_by_group):
        assert (row.group, row.a, row.b, row.size) == (f"p{i}", "A", "B", SIZES[i])
        a, b = conservative[0][i], conservative[1][i]
        assert [row.score_a, row.low_a, row.high_a] == pytest.approx(a, nan_ok=True)
        assert [row.score_b, row.low_b, row.high_b] == pytest.approx(b, nan_ok=True)
        expected = estimate_difference(exact_tails[0][i], exact_tails[1][i])
        assert [row.difference, row.low, row.high] == pytest.approx(expected, nan_ok=True)
    assert math.isnan(result.pairs_by_group[-1].low)
    assert result.pairs_by_group[-1].sentence.endswith(" at 3 samples each (no interval).")
    mean = np.mean([row.difference for row in result.pairs_by_group])
    assert result.pairs[0].difference == pytest.approx(mean)


def test_larger_sets_are_subsampled_as_in_the_mean():
    result = compare_labels(draw_labels(0, 9, [6] * 7), draw_labels(1, 9, [9] * 7), seed=3)
    assert {row.size for row in result.pairs_by_group} == {6}
    mean = np.mean([row.score_b for row in result.pairs_by_group])
    assert result.sets[1].matched == pytest.approx(mean)


def test_pool_repeats_false_uses_the_interval_of_the_group():
    sets = draw_labels(0, 30, [6] * 8), draw_labels(1, 30, [6] * 8)
    pooled, separate = compare_labels(*sets), compare_labels(*sets, pool_repeats=False)
    assert (pooled.pooled_groups, separate.pooled_groups) == (8, 0)
    assert compare_labels(*(draw_labels(i, 30, [6] * 5) for i in (0, 1))).pooled_groups == 0
    for k, row in enumerate(separate.pairs_by_group):
        expected = compute(sets[0][0][6 * k : 6 * k + 6], k="labels", ci=0.95)
        assert [row.low_a, row.high_a] == pytest.approx([expected["VS_low"], expected["VS_high"]])
        pooled_row = pooled.pairs_by_group[k]
        assert pooled_row.high - pooled_row.low <= row.high - row.low + 1e-9
        assert separate.pairs == pooled.pairs


def test_pairs_by_group_appear_in_tables_and_json():
    sets = [draw_labels(i, 20, [4] * 6) for i in range(3)]
    result = compare_labels(*sets, permutations=59)
    assert len(result.pairs_by_group) == 3 * 6
    table = result.to_frame("groups")
    assert table["group"].tolist() == [f"p{i}" for i in range(6)] * 3
    record = result.to_dict()
    assert record["pooled_groups"] == 6
    assert record["pairs_by_group"][0]["difference"] == result.pairs_by_group[0].difference
    json.dumps(record, allow_nan=False)
    row = result.pairs_by_group[0]
    assert row.sentence.startswith("p0: A − B: ")
    assert row.level == result.pairs[0].level == difference_level(0.95, 3)
    low, high = (format_value(end, (row.high - row.low) / 4) for end in (row.low, row.high))
    assert row.sentence.endswith(f" at 4 samples each (98.3 % interval {low} to {high}).")
    # Several pairs change the level of difference intervals, not of score intervals.
    two_sets = compare_labels(*sets[:2])
    assert two_sets.pairs_by_group[0].low_a == pytest.approx(row.low_a)
    assert two_sets.pairs_by_group[0].low > row.low


def test_pairs_by_group_at_order_0_have_no_interval():
    result = compare_labels(draw_labels(0, 9, [4] * 6), draw_labels(1, 9, [4] * 6), q=0)
    assert result.pooled_groups == 0
    assert all(math.isnan(row.low) and row.score_a >= 1 for row in result.pairs_by_group)


def test_options_that_require_groups_raise_without_groups():
    result = compare(list("abcd"), list("abcc"), k="labels", permutations=19)
    assert (result.pairs_by_group, result.pooled_groups) == ((), None)
    with pytest.raises(ValueError, match="needs sets that are compared within groups or prompts"):
        result.to_frame("groups")
    with pytest.raises(ValueError, match="`what` must be"):
        result.to_frame("prompts")
    with pytest.raises(TypeError, match="`pool_repeats=False` requires `groups` or `prompts`"):
        compare(list("abcd"), list("abcc"), k="labels", permutations=19, pool_repeats=False)
    with pytest.raises(TypeError, match="`pool_repeats=False` has no effect at q=0"):
        compare_labels(
            draw_labels(0, 9, [4] * 6), draw_labels(1, 9, [4] * 6), q=0, pool_repeats=False
        )


@pytest.mark.parametrize(("n_labels", "max_width"), [(3, 7.0), (50, 5.2), (200, 1.6)])
def test_group_intervals_cover_0_at_equal_means(n_labels, max_width):
    """Both sets have the same number of labels in 60 prompts, so the true difference is 0."""
    result = compare_labels(draw_labels(5, n_labels, [8] * 60), draw_labels(6, n_labels, [8] * 60))
    covered = [row.low <= 0 <= row.high for row in result.pairs_by_group]
    assert np.mean(covered) >= 0.95
    assert np.median([row.high - row.low for row in result.pairs_by_group]) < max_width


def test_group_intervals_of_large_differences_exclude_0():
    """Two labels against mostly unique labels, with eight samples in each of 60 prompts."""
    result = compare_labels(draw_labels(5, 2, [8] * 60), draw_labels(6, 1000, [8] * 60))
    assert np.mean([row.high < 0 for row in result.pairs_by_group]) >= 0.95


def test_comparison_steps_return_pairs_by_group():
    sets = draw_labels(0, 5, [8] * 6), draw_labels(1, 9, [8] * 6)
    result = compare_labels(*sets)
    samples = [sample for set_labels, _ in sets for sample in set_labels]
    groups = [np.array([range(8), range(48, 56)]) + 8 * i for i in range(6)]
    options = CompareOptions(permutations=19).checked()
    arguments = (as_similarity(samples, k="labels"), np.repeat([0, 1], 48), ["A", "B"], options)
    unlabelled = run_steps(comparison_steps(*arguments, groups))
    assert unlabelled.pooled_groups == result.pooled_groups == 6
    rows = zip(unlabelled.pairs_by_group, result.pairs_by_group, strict=True)
    for i, (row, expected) in enumerate(rows):
        assert row == replace(expected, group=i)
    labelled = run_steps(comparison_steps(*arguments, groups, sets[0][1] + sets[1][1]))
    assert labelled.pairs_by_group == result.pairs_by_group
