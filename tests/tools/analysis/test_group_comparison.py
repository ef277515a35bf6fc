"""Two sets compared in single groups, such as prompts."""

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


def labels(seed: int, kinds: int, sizes: list[int]) -> tuple[list, list]:
    rng = np.random.default_rng(seed)
    samples = np.concatenate([rng.integers(kinds, size=n) for n in sizes]).tolist()
    return samples, np.repeat([f"p{i}" for i in range(len(sizes))], sizes).tolist()


def compared(*sets, **options):
    groups = [of for _, of in sets]
    options = {"k": "labels", "permutations": 19, **options}
    return compare(*(samples for samples, _ in sets), groups=groups, **options)


SIZES = [8, 4, 6, 8, 8, 5, 3]


@pytest.mark.parametrize("q", [1, 2])
def test_a_row_has_the_intervals_of_both_sets_and_their_difference(q):
    sets = labels(0, 5, SIZES), labels(1, 40, SIZES)
    result = compared(*sets, q=q)
    assert result.pooled_groups == 6  # of four samples or more
    ends = np.cumsum(SIZES)[:-1]
    members = np.split(np.arange(sum(SIZES)), ends)
    own, exact = [], []
    for samples, _ in sets:
        similarity = as_similarity(samples, k="labels")
        for every, tails in ((own, False), (exact, True)):
            x = estimate_group_intervals(similarity, members, [q], 0.95, conservative_tails=tails)
            every.append(np.transpose([x.score[0], x.low[0], x.high[0]]))
    for i, row in enumerate(result.pairs_by_group):
        assert (row.group, row.a, row.b, row.size) == (f"p{i}", "A", "B", SIZES[i])
        a, b = own[0][i], own[1][i]
        assert [row.score_a, row.low_a, row.high_a] == pytest.approx(a, nan_ok=True)
        assert [row.score_b, row.low_b, row.high_b] == pytest.approx(b, nan_ok=True)
        expected = estimate_difference(exact[0][i], exact[1][i])
        assert [row.difference, row.low, row.high] == pytest.approx(expected, nan_ok=True)
    assert math.isnan(result.pairs_by_group[-1].low)
    assert result.pairs_by_group[-1].sentence.endswith(" at 3 samples each (no interval).")
    mean = np.mean([row.difference for row in result.pairs_by_group])
    assert result.pairs[0].difference == pytest.approx(mean)


def test_larger_sets_are_matched_as_in_the_mean():
    result = compared(labels(0, 9, [6] * 7), labels(1, 9, [9] * 7), seed=3)
    assert {row.size for row in result.pairs_by_group} == {6}
    mean = np.mean([row.score_b for row in result.pairs_by_group])
    assert result.sets[1].matched == pytest.approx(mean)


def test_without_pooling_each_prompt_has_the_interval_of_its_set():
    sets = labels(0, 30, [6] * 8), labels(1, 30, [6] * 8)
    pooled, own = compared(*sets), compared(*sets, pool_repeats=False)
    assert (pooled.pooled_groups, own.pooled_groups) == (8, 0)
    assert compared(*(labels(i, 30, [6] * 5) for i in (0, 1))).pooled_groups == 0
    for k, row in enumerate(own.pairs_by_group):
        one = compute(sets[0][0][6 * k : 6 * k + 6], k="labels", ci=0.95)
        assert [row.low_a, row.high_a] == pytest.approx([one["VS_low"], one["VS_high"]])
        other = pooled.pairs_by_group[k]
        assert other.high - other.low <= row.high - row.low + 1e-9
        assert own.pairs == pooled.pairs


def test_rows_in_tables_and_json():
    sets = [labels(i, 20, [4] * 6) for i in range(3)]
    result = compared(*sets, permutations=59)
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
    # Several pairs share the level of the difference, not that of the scores.
    two = compared(*sets[:2])
    assert two.pairs_by_group[0].low_a == pytest.approx(row.low_a)
    assert two.pairs_by_group[0].low > row.low


def test_rows_at_order_0_have_no_interval():
    result = compared(labels(0, 9, [4] * 6), labels(1, 9, [4] * 6), q=0)
    assert result.pooled_groups == 0
    assert all(math.isnan(row.low) and row.score_a >= 1 for row in result.pairs_by_group)


def test_what_needs_groups_is_refused_without():
    result = compare(list("abcd"), list("abcc"), k="labels", permutations=19)
    assert (result.pairs_by_group, result.pooled_groups) == ((), None)
    with pytest.raises(ValueError, match="needs sets that are compared within groups or prompts"):
        result.to_frame("groups")
    with pytest.raises(ValueError, match="`what` must be"):
        result.to_frame("prompts")
    with pytest.raises(TypeError, match="`pool_repeats=False` requires `groups` or `prompts`"):
        compare(list("abcd"), list("abcc"), k="labels", permutations=19, pool_repeats=False)
    with pytest.raises(TypeError, match="`pool_repeats=False` has no effect at q=0"):
        compared(labels(0, 9, [4] * 6), labels(1, 9, [4] * 6), q=0, pool_repeats=False)


@pytest.mark.parametrize(("kinds", "widest"), [(3, 7.0), (50, 5.2), (200, 1.6)])
def test_intervals_of_differences_hold_at_equal_means(kinds, widest):
    """As many labels in both sets, of 60 prompts: the difference is 0."""
    result = compared(labels(5, kinds, [8] * 60), labels(6, kinds, [8] * 60))
    held = [row.low <= 0 <= row.high for row in result.pairs_by_group]
    assert np.mean(held) >= 0.95
    assert np.median([row.high - row.low for row in result.pairs_by_group]) < widest


def test_intervals_of_large_differences_show_the_direction():
    """Two labels against hardly any that recur, eight samples of each in 60 prompts."""
    result = compared(labels(5, 2, [8] * 60), labels(6, 1000, [8] * 60))
    assert np.mean([row.high < 0 for row in result.pairs_by_group]) >= 0.95


def test_steps_have_the_rows_of_groups_too():
    sets = labels(0, 5, [8] * 6), labels(1, 9, [8] * 6)
    result = compared(*sets)
    samples = [sample for own, _ in sets for sample in own]
    groups = [np.array([range(8), range(48, 56)]) + 8 * i for i in range(6)]
    options = CompareOptions(permutations=19).checked()
    arguments = (as_similarity(samples, k="labels"), np.repeat([0, 1], 48), ["A", "B"], options)
    without_labels = run_steps(comparison_steps(*arguments, groups))
    assert without_labels.pooled_groups == result.pooled_groups == 6
    rows = zip(without_labels.pairs_by_group, result.pairs_by_group, strict=True)
    for i, (row, expected) in enumerate(rows):
        assert row == replace(expected, group=i)
    named = run_steps(comparison_steps(*arguments, groups, sets[0][1] + sets[1][1]))
    assert named.pairs_by_group == result.pairs_by_group
