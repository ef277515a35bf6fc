"""Comparison of sets within groups such as prompts."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from vendiscore import compare, compute
from vendiscore.result import key_at
from vendiscore.tools.analysis.paired_comparison import match_groups


def quick_compare(*sets, **options):
    return compare(*sets, **{"permutations": 99, **options})


def draw_groups(seed: int, groups: int, group_size: int, scale: float = 1.0):
    """Return rows around a different centre for each group, and their labels."""
    rng = np.random.default_rng(seed)
    centres = 3 * np.random.default_rng(7).normal(size=(groups, 5))
    X = centres[:, None] + scale * rng.normal(size=(groups, group_size, 5))
    return X.reshape(-1, 5), [f"p{g}" for g in range(groups) for _ in range(group_size)]


def test_grouped_comparison_averages_differences_of_groups():
    (X, x), (Y, y) = draw_groups(0, 6, 5), draw_groups(1, 6, 5, scale=0.5)
    result = compare(X, Y, groups=[x, y], k="rbf", sigma=2.0, permutations=199)

    def scores(Z, labels):
        group_indices = [np.flatnonzero(np.array(labels) == label) for label in dict.fromkeys(x)]
        return np.array(
            [compute(Z[indices], k="rbf", sigma=2.0)["VS"] for indices in group_indices]
        )

    differences = scores(X, x) - scores(Y, y)
    row = result.pairs[0]
    assert result.groups == 6
    assert row.difference == pytest.approx(differences.mean())
    assert result.sets[0].score == pytest.approx(scores(X, x).mean())
    assert result.sets[0].se == pytest.approx(scores(X, x).std(ddof=1) / math.sqrt(6))
    assert result.verdict("A", "B") == "more diverse"
    assert "in a group, over 6 groups" in result.sentence
    order = np.random.default_rng(0).permutation(30)
    shuffled = compare(
        {"A": X[order], "B": Y},
        groups={"B": np.array(y), "A": np.array(x)[order]},
        k="rbf",
        sigma=2.0,
        permutations=199,
    )
    assert shuffled.pairs[0].difference == pytest.approx(row.difference)


def test_groups_of_the_same_source_do_not_differ():
    p_values = []
    for seed in range(40):
        (X, x), (Y, y) = draw_groups(seed, 8, 4), draw_groups(100 + seed, 8, 4)
        p_values.append(quick_compare(X, Y, groups=[x, y], k="rbf", sigma=2.0).pairs[0].p)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.13
    assert 0.3 < np.mean(p_values) < 0.7


def test_grouping_detects_differences_hidden_by_variation_between_groups():
    """Prompts vary more than answers within a prompt, so ungrouped sets appear similar."""
    (X, x), (Y, y) = draw_groups(0, 10, 4), draw_groups(1, 10, 4, scale=0.5)
    options = {"k": "rbf", "sigma": 8.0}
    paired = quick_compare(X, Y, groups=[x, y], **options).pairs[0]
    assert paired.p <= 0.02
    assert paired.p < quick_compare(X, Y, **options).pairs[0].p


def test_groups_of_different_sizes_are_reduced_to_a_common_size():
    (X, x), (Y, y) = draw_groups(0, 5, 6), draw_groups(1, 5, 4)
    X, x = X[1:], x[1:]
    result = quick_compare(X, Y, X[::-1], groups=[x, y, x[::-1]], k="rbf", sigma=2.0)
    assert [row.size for row in result.sets] == [20, 20, 20]
    assert result.sets[0].matched < result.sets[0].score


def test_subsample_of_a_group_does_not_depend_on_the_sample_order():
    # The first 4 of 8 sorted labels have fewer distinct labels than a random 4.
    rng = np.random.default_rng(0)
    eight = [sorted(rng.integers(0, 10, 8).tolist()) for _ in range(60)]
    four = [rng.integers(0, 10, 4).tolist() for _ in range(60)]
    result = quick_compare(eight, four, k="labels")
    assert result.pairs[0].p > 0.05
    assert [row.size for row in result.sets] == [240, 240]


@pytest.mark.filterwarnings("ignore:intervals have width 0")
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_group_scores_equal_compute(q):
    (X, x), (Y, y) = draw_groups(0, 3, 4), draw_groups(1, 3, 4)
    result = quick_compare(X, Y, groups=[x, y], q=q, k="rbf", sigma=2.0)
    expected = [
        compute(X[start : start + 4], q=q, k="rbf", sigma=2.0)[key_at(q)] for start in (0, 4, 8)
    ]
    assert result.sets[0].score == pytest.approx(np.mean(expected))


@pytest.mark.filterwarnings("ignore:intervals have width 0 for new")
def test_nested_lists_are_compared_by_prompt():
    A = [["a b", "c d", "e f"], ["g h", "i j", "k l"]] * 4
    B = [["a b", "a b", "a c"], ["g h", "g h", "g h"]] * 4
    draw_groups = [i for i, texts in enumerate(A) for _ in texts]
    flat = [[text for texts in nested for text in texts] for nested in (A, B)]
    result = quick_compare(A, B, names=["new", "old"])
    assert (
        result.to_dict()
        == quick_compare(*flat, names=["new", "old"], groups=[draw_groups] * 2).to_dict()
    )
    assert result.groups == 8
    assert result.verdict("new", "old") == "more diverse"
    with pytest.raises(
        ValueError, match="`A` is a list of lists, which defines groups, but `B` is not"
    ):
        quick_compare(A, flat[1])
    with pytest.raises(ValueError, match="but `groups` was also passed"):
        quick_compare(A, B, groups=[draw_groups] * 2)
    with pytest.raises(ValueError, match="got 8 of `A`, 7 of `B`"):
        quick_compare(A, B[:-1])


def draw_labels_by_prompt(n_sets, n_prompts, missing=False):
    """Return labels, sets and prompts of four answers of each set to each prompt."""
    rng = np.random.default_rng(0)
    cells = list(itertools.product(range(n_sets), range(n_prompts)))
    rows = [
        (int(rng.integers(3 + i)), f"s{i}", f"p{prompt}")
        for i, prompt in cells[missing:]
        for _ in range(4)
    ]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.filterwarnings("ignore:1 of .* cells")
@pytest.mark.parametrize("options", [{"missing": True}, {"n_prompts": 10}])
def test_many_sets_need_no_more_permutations_if_none_are_drawn(options):
    labels, sets, prompts = draw_labels_by_prompt(**{"n_sets": 5, "n_prompts": 12, **options})
    result = compare(labels, by=sets, prompts=prompts, k="labels", permutations=19)
    expected = compare(labels, by=sets, prompts=prompts, k="labels", permutations=1999)
    assert result.to_dict() == expected.to_dict()


@pytest.mark.parametrize("options", [{}, {"n_prompts": 5, "effects": "fixed"}, {"prompts": None}])
def test_many_sets_need_many_random_permutations(options):
    labels, sets, prompts = draw_labels_by_prompt(5, options.pop("n_prompts", 12))
    options = {"prompts": prompts, **options}
    with pytest.raises(ValueError, match="`permutations` must be at least 199 for 10 pairs"):
        compare(labels, by=sets, k="labels", permutations=99, **options)


def test_match_groups_follows_order_of_appearance_and_sets():
    labels = ["y", "x", "x", "y", "y", "x", "x", "y"]
    groups = match_groups(labels, np.array([1, 0, 1, 1, 0, 0, 1, 0]), ["A", "B"], "groups")
    assert [[indices.tolist() for indices in group] for group in groups] == [
        [[1, 5], [2, 6]],
        [[4, 7], [0, 3]],
    ]


def score_differences(X, Y, groups):
    scores = [
        [compute(Z[4 * g : 4 * g + 4], k="rbf", sigma=2.0)["VS"] for g in range(groups)]
        for Z in (X, Y)
    ]
    return np.subtract(*scores)


@pytest.mark.parametrize("groups", [6, 8, 11])
def test_p_of_six_to_eleven_groups_uses_all_sign_flips(groups):
    (X, x), (Y, y) = draw_groups(0, groups, 4), draw_groups(1, groups, 4, scale=0.7)
    row = compare(X, Y, groups=[x, y], k="rbf", sigma=2.0).pairs[0]
    differences = score_differences(X, Y, groups)
    signed = np.array(list(itertools.product([1, -1], repeat=groups))) * differences
    statistics = np.abs(signed.mean(axis=1) / signed.std(axis=1))
    assert row.p == pytest.approx(np.mean(statistics >= statistics[0] - 1e-9))
    count = 2 ** (groups - 1)
    assert (row.permutations, row.p_floor) == (count - 1, 1 / count)


@pytest.mark.parametrize("groups", [3, 4, 5])
def test_p_of_three_to_five_groups_is_students(groups):
    (X, x), (Y, y) = draw_groups(0, groups, 4), draw_groups(1, groups, 4, scale=0.3)
    result = compare(X, Y, groups=[x, y], k="rbf", sigma=2.0)
    row = result.pairs[0]
    assert row.p == pytest.approx(ttest_1samp(score_differences(X, Y, groups), 0).pvalue)
    assert (row.permutations, row.p_floor) == (0, 0.0)
    assert result.states_direction("A", "B") == (row.p <= 0.05) == row.excludes_zero
    assert "permutations" not in result.sentence


def test_p_is_students_if_sign_flips_cannot_reach_the_level():
    """With three pairs and six groups, the smallest adjusted p of sign flips is 3/32."""
    sets = [draw_groups(seed, 6, 4, narrow) for seed, narrow in enumerate((1.0, 0.9, 0.2))]
    arrays, labels = zip(*sets, strict=True)
    options = {"groups": list(labels), "k": "rbf", "sigma": 2.0}
    result = compare(*arrays, **options)
    assert [row.permutations for row in result.pairs] == [0, 0, 0]
    assert result.verdict("A", "C") == result.verdict("B", "C") == "more diverse"
    assert compare(*arrays[:2], groups=list(labels[:2]), k="rbf").pairs[0].permutations == 31
    strict = compare(*arrays[1:], groups=list(labels[1:]), level=0.99, k="rbf").pairs[0]
    assert strict.permutations == 0
    fixed_effects = compare(*arrays, **options, effects="fixed", permutations=99)
    assert fixed_effects.pairs[0].permutations == 99


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_two_groups_never_show_a_difference():
    A = [["a", "b", "c", "d"]] * 2
    B = [["a", "a", "a", "a"], ["a", "a", "a", "b"]]
    result = compare(A, B, k="labels", level=0.5)
    row = result.pairs[0]
    assert (row.p, row.permutations, row.p_floor) == (1.0, 0, 1.0)
    assert math.isnan(row.low)
    assert math.isnan(row.detectable_difference)
    assert result.verdict("A", "B") == "no difference shown"
    assert result.sentence.endswith(
        "(no interval, p = 1; 2 groups do not show how much others vary)."
    )


@pytest.mark.filterwarnings("ignore:intervals have width 0")
@pytest.mark.parametrize(("groups", "verdict"), [(3, "no difference shown"), (6, "more diverse")])
def test_few_equal_differences_show_no_direction(groups, verdict):
    """Student's t is infinite without variation, so p comes from sign flips."""
    result = compare([["a", "b", "c"]] * groups, [["a", "a", "a"]] * groups, k="labels")
    row = result.pairs[0]
    assert row.p == pytest.approx(2.0 ** (1 - groups))
    assert result.verdict("A", "B") == verdict
    assert math.isnan(row.detectable_difference)


def test_set_intervals_are_bounded_by_the_mean_group_size():
    draw_groups = [0, 0, 1, 1, *[2] * 6]
    answers = list("abababcdef")
    result = compare(answers, list("abacabcdee"), prompts=[draw_groups, draw_groups], k="labels")
    interval = compute(answers, k="labels", groups=draw_groups, ci=0.95)
    for row in result.sets:
        assert row.high <= row.n_per_group
        assert row.matched_high <= row.size_per_group
    assert result.sets[0].low == pytest.approx(interval["VS_low"])
    assert result.sets[0].high == pytest.approx(interval["VS_high"])
