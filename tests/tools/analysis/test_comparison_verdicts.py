"""Verdicts of a comparison require both p and the interval, and all outputs agree."""

import math
from dataclasses import replace

import numpy as np
import pytest
from populations import draw_vectors

from vendiscore import compare
from vendiscore.tools.analysis.comparison import format_bounded_p, format_percent
from vendiscore.tools.cli.command_compare import _format_comparison
from vendiscore.tools.cli.command_table import assign_letters
from vendiscore.tools.cli.parser import build_parser


def test_direction_requires_both_p_and_interval():
    """p tests whether both sets have the same source; the interval concerns their mean scores."""
    X, Y = np.random.default_rng(203).standard_normal((2, 8, 4))
    result = compare(X, Y * [1, 0.5, 0.5, 0.5], k="cosine", permutations=99)
    (row,) = result.pairs
    assert row.low < -0.4 < 0 < row.high  # a computed bound, not clipped to 0
    assert row.p == 0.02
    assert result.verdict("A", "B") == result.verdict("B", "A") == "different, direction not shown"
    assert result.sentence.startswith(
        "A and B differ (p = 0.02), but the data do not show which is more diverse: +"
    )
    (record,) = result.to_dict()["pairs"]
    assert record["verdict"] == result.to_dict()["verdict"] == "different, direction not shown"


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict"),
    [
        (0.2, 2.0, 0.05, "more diverse"),
        (0.2, 2.0, 0.06, "no difference shown"),
        (-0.2, 2.0, 0.01, "different, direction not shown"),
        (0.0, 2.0, 0.01, "different, direction not shown"),
        (-2.0, 0.0, 0.01, "different, direction not shown"),
        (-2.0, -0.2, 0.01, "less diverse"),
        (-2.0, -0.2, 0.06, "no difference shown"),
        (math.nan, math.nan, 0.01, "different, direction not shown"),
        (math.nan, math.nan, 0.5, "no difference shown"),
    ],
)
def test_all_outputs_agree_on_verdict_sign_and_order(low, high, p, verdict):
    """The sentence, tables, data frame, JSON and significance letters use the same verdict."""
    result = compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19)
    difference = 1.0 if verdict == "more diverse" or not low < -1 else -1.0
    values = {"difference": difference, "low": low, "high": high, "p_adjusted": p, "p_floor": 0.001}
    result = replace(result, pairs=(replace(result.pairs[0], **values),))
    reversed_verdicts = {"more diverse": "less diverse", "less diverse": "more diverse"}
    assert result.verdict("A", "B") == verdict
    assert result.verdict("B", "A") == reversed_verdicts.get(verdict, verdict)
    assert result.states_direction("A", "B") == (verdict in reversed_verdicts)
    start = {
        "no difference shown": "No difference shown between A and B: ",
        "different, direction not shown": f"A and B differ (p = {p:.2g}), but the data do not "
        "show which is more diverse: ",
    }.get(verdict, f"A is {verdict} than B: ")
    assert result.sentence.startswith(f"{start}{difference:+.2f} effective samples ")
    interval_text = "(no interval" if math.isnan(low) else f"(95 % interval {low:.2f} to {high:.2f}"
    assert interval_text in result.sentence
    interval_only = verdict == "no difference shown" and (low > 0 or high < 0)
    assert (", the interval alone does not show one)." in result.sentence) == interval_only
    frame = result.to_frame().iloc[0]
    assert (frame["a"], frame["b"], frame["difference"]) == ("A", "B", difference)
    assert frame["verdict"] == verdict
    record = result.to_dict()["pairs"][0]
    assert (record["a"], record["difference"], record["verdict"]) == ("A", difference, verdict)
    marks = assign_letters(result)
    assert (marks["A"] == marks["B"]) == (verdict not in reversed_verdicts)
    args = build_parser("compare").parse_args(["a", "b", "--permutations", "19"])
    line = next(
        line for line in _format_comparison(args, result).splitlines() if line.startswith("A  B")
    )
    assert line.endswith(verdict)
    assert line.split()[2] == f"{difference:.4g}"
    assert f"<td>{verdict}</td>" in result._repr_html_()


def test_verdict_of_three_sets_uses_the_adjusted_level():
    """A 95 % interval that excludes 0 is not enough among three pairs."""
    rng = np.random.default_rng(1)
    X, Y, Z = rng.normal(size=(3, 30, 5))
    sets = {"x": X, "y": Y, "z": Z * [1, 1, 0.2, 0.2, 0.2]}
    result = compare(sets, k="cosine", permutations=499)
    for row in result.pairs:
        assert row.level == pytest.approx(1 - 0.05 / 3)
        expected = row.p_adjusted <= 0.05 and (row.low > 0 or row.high < 0)
        assert result.states_direction(row.a, row.b) == expected
    assert result.to_dict()["verdict"] is None


def test_set_rows_of_grouped_comparison_show_size_per_group():
    """48 answers to 12 prompts: no score can exceed the four answers to one prompt."""
    rng = np.random.default_rng(0)
    answers = [[[f"w{rng.integers(9)}" for _ in range(4)] for _ in range(12)] for _ in "ab"]
    result = compare(*answers, k="labels", permutations=99)
    for row in result.sets:
        assert (row.n, row.n_per_group, row.size_per_group) == (48, 4, 4)
        assert row.score <= row.n_per_group
        assert " of 4 in a group (48 samples), " in row.sentence
    args = build_parser("compare").parse_args(["a", "b"])
    lines = _format_comparison(args, result).splitlines()
    assert next(line for line in lines if line.startswith("name ")).split()[:3] == [
        "name",
        "n",
        "n_per_group",
    ]
    ungrouped = compare(answers[0][0] * 3, answers[1][0] * 3, k="labels", permutations=99)
    assert ungrouped.sets[0].n_per_group is None
    assert "n_per_group" not in _format_comparison(args, ungrouped)


@pytest.fixture(scope="module")
def three_set_comparison():
    """Compare two similar sets and a much less diverse third set."""
    rng = np.random.default_rng(4)
    wide, too, thin = rng.normal(size=(3, 14, 5))
    return compare({"a": wide, "b": too, "c": thin * [1, 0, 0, 0, 0]}, k="cosine", permutations=99)


def test_intervals_of_three_sets_use_the_adjusted_level(three_set_comparison):
    for row in three_set_comparison.pairs:
        assert row.level == pytest.approx(1 - 0.05 / 3)
        assert row.excludes_zero == three_set_comparison.states_direction(row.a, row.b)
    assert three_set_comparison.sentence.count("(98.3 % interval ") == 3
    assert three_set_comparison.level == 0.95


def test_sentence_explains_smallest_possible_p_for_several_pairs(three_set_comparison):
    row = three_set_comparison.pairs[1]
    assert three_set_comparison.verdict("a", "c") == "more diverse"
    assert (row.p, row.p_adjusted, row.p_floor) == pytest.approx((0.01, 0.03, 0.03))
    reason = "p ≤ 0.03, the smallest that 99 permutations can give for 3 pairs)."
    assert three_set_comparison.verdicts[1].endswith(reason)
    assert (
        three_set_comparison.sentence.count("the smallest that") == 1
    )  # explained once for both pairs
    assert three_set_comparison.sentence.count("p ≤ 0.03") == 2
    assert "p ≤" not in three_set_comparison.verdicts[0]
    assert three_set_comparison.to_dict()["pairs"][1]["p_floor"] == pytest.approx(0.03)
    args = build_parser("compare").parse_args(["a", "b", "--permutations", "99"])
    table = next(
        line
        for line in _format_comparison(args, three_set_comparison).splitlines()
        if line.startswith("a  c")
    )
    assert "≤ 0.03" in table


def test_more_permutations_lower_the_smallest_possible_p():
    X = np.random.default_rng(0).normal(size=(24, 4))
    p_texts = {}
    for count in (19, 99):
        result = compare(X[:12], X[12:] * [1, 0, 0, 0], k="cosine", permutations=count)
        (row,) = result.pairs
        assert (row.level, row.p, row.p_floor) == (0.95, 1 / (count + 1), 1 / (count + 1))
        p_texts[count] = result.sentence.partition("(95 % interval ")[2].partition(", ")[2]
    assert p_texts == {
        19: "p ≤ 0.05, the smallest that 19 permutations can give).",
        99: "p ≤ 0.01, the smallest that 99 permutations can give).",
    }


def test_format_bounded_p_and_format_percent():
    assert [format_bounded_p(p, 0.01) for p in (0.01 * (1 + 1e-12), 0.02, 1.0)] == [
        "≤ 0.01",
        "0.02",
        "1",
    ]
    assert [format_percent(1 - 0.05 / m) for m in (1, 3, 55)] == ["95", "98.3", "99.909"]
    assert [format_percent(x) for x in (0.5, 0.9, 0.99, 0.999, 0.975)] == [
        "50",
        "90",
        "99",
        "99.9",
        "97.5",
    ]
    assert math.isclose(float(format_percent(1 / 3)), 33)


def test_sets_within_the_margin_are_called_the_same():
    rng = np.random.default_rng(0)
    sets = {name: rng.normal(size=(200, 2)) for name in "ab"}
    options = {"k": "rbf", "sigma": 3.0, "permutations": 99, "allow_repeats": False}
    result = compare(sets, **options, within=0.1)
    (row,) = result.pairs
    assert 1 / 1.1 <= row.ratio_low <= 1 <= row.ratio_high <= 1.1
    assert result.verdict("a", "b") == result.verdict("b", "a") == "the same within 10 %"
    expected_start = "a and b are the same within 10 %: "
    assert result.sentence.startswith(expected_start)
    assert f"(90 % interval of their ratio {row.ratio_low:.3f} to " in result.sentence
    assert result.to_dict()["within"] == 0.1
    narrow_margin = compare(sets, **options, within=0.001)
    # No difference is shown, but equivalence within 0.1 % is not shown either.
    assert narrow_margin.verdict("a", "b") == "no difference shown"
    without_margin = compare(sets, **options)
    assert without_margin.verdict("a", "b") == "no difference shown"
    assert (without_margin.pairs[0].ratio_low, without_margin.pairs[0].ratio_high) == (
        row.ratio_low,
        row.ratio_high,
    )
    with pytest.raises(ValueError, match=r"`within` must be a fraction above 0, got 0; pass 0\.05"):
        compare(sets, k="cosine", within=0)


def test_grouped_sets_within_the_margin_are_called_the_same():
    rng = np.random.default_rng(0)
    groups = [list(np.repeat(range(60), 4))] * 2
    X, Y = rng.normal(size=(2, 240, 8))
    result = compare(X, Y, groups=groups, k="rbf", sigma=4.0, permutations=99, within=0.1)
    assert result.verdict("A", "B") == "the same within 10 %"


@pytest.mark.parametrize("n", [6, 120])
def test_sets_of_the_same_source_show_no_difference(n):
    X = draw_vectors(np.random.default_rng(2), 240)
    result = compare(X[:n], X[120 : 120 + n], k="cosine", permutations=99)
    assert result.verdict("A", "B") == "no difference shown"
    assert result.sentence.startswith("No difference shown between A and B: ")
    assert "detectable" not in result.to_dict()["pairs"][0]
