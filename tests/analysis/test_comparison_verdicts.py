"""Verdicts, intervals and p-values of a comparison say the same, and p says when it has a floor."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sources import vectors

from vendiscore import compare
from vendiscore.analysis.comparison import chance, percent
from vendiscore.cli.command_compare import _printed
from vendiscore.cli.parser import parser


def test_where_p_and_the_interval_disagree_p_decides_and_the_sentence_says_so():
    X, Y = np.random.default_rng(203).standard_normal((2, 8, 4))
    found = compare(X, Y * [1, 0.5, 0.5, 0.5], k="cosine", permutations=99)
    (row,) = found.pairs
    assert row.low < -0.4 < 0 < row.high  # an end as found, not one moved to 0
    assert row.p == 0.02
    assert found.verdict("A", "B") == "more diverse"
    assert found.sentence.endswith("p = 0.02; the interval holds 0, p decides).")
    other = replace(found, pairs=(replace(row, low=0.2, p_adjusted=0.06),))
    assert other.verdict("A", "B") == "no difference shown"
    assert "p = 0.06; the interval leaves out 0, p decides)." in other.sentence
    for agreed in ({"low": 0.2}, {"p_adjusted": 0.06}):
        assert "decides" not in replace(found, pairs=(replace(row, **agreed),)).sentence


@pytest.fixture(scope="module")
def three():
    """Three sets of which the last is far narrower, and two that are alike."""
    rng = np.random.default_rng(4)
    wide, too, thin = rng.normal(size=(3, 14, 5))
    return compare({"a": wide, "b": too, "c": thin * [1, 0, 0, 0, 0]}, k="cosine", permutations=99)


def test_three_sets_have_intervals_that_hold_together(three):
    for row in three.pairs:
        assert row.level == pytest.approx(1 - 0.05 / 3)
        assert (row.low <= 0 <= row.high) == (three.verdict(row.a, row.b) == "no difference shown")
    assert three.sentence.count("(98.3 % interval ") == 3
    assert three.level == 0.95


def test_a_p_at_its_floor_is_said_to_be_one_for_all_pairs_together(three):
    row = three.pairs[1]
    assert three.verdict("a", "c") == "more diverse"
    assert (row.p, row.p_adjusted, row.p_floor) == pytest.approx((0.01, 0.03, 0.03))
    reason = "p ≤ 0.03, the smallest that 99 permutations can give for 3 pairs)."
    assert three.verdicts[1].endswith(reason)
    assert three.sentence.count("the smallest that") == 1  # of two pairs
    assert three.sentence.count("p ≤ 0.03") == 2
    assert "p ≤" not in three.verdicts[0]
    assert three.to_dict()["pairs"][1]["p_floor"] == pytest.approx(0.03)
    args = parser("compare").parse_args(["a", "b", "--permutations", "99"])
    table = next(line for line in _printed(args, three).splitlines() if line.startswith("a  c"))
    assert "≤ 0.03" in table


def test_more_permutations_lower_the_floor_of_two_sets():
    X = np.random.default_rng(0).normal(size=(24, 4))
    said = {}
    for count in (19, 99):
        found = compare(X[:12], X[12:] * [1, 0, 0, 0], k="cosine", permutations=count)
        (row,) = found.pairs
        assert (row.level, row.p, row.p_floor) == (0.95, 1 / (count + 1), 1 / (count + 1))
        said[count] = found.sentence.partition("(95 % interval ")[2].partition(", ")[2]
    assert said == {
        19: "p ≤ 0.05, the smallest that 19 permutations can give).",
        99: "p ≤ 0.01, the smallest that 99 permutations can give).",
    }


def test_a_p_above_its_floor_is_said_as_it_is():
    assert [chance(p, 0.01) for p in (0.01 * (1 + 1e-12), 0.02, 1.0)] == ["≤ 0.01", "0.02", "1"]
    assert [percent(1 - 0.05 / m) for m in (1, 3, 55)] == ["95", "98.3", "99.909"]
    assert [percent(x) for x in (0.5, 0.9, 0.99, 0.999, 0.975)] == [
        "50",
        "90",
        "99",
        "99.9",
        "97.5",
    ]
    assert math.isclose(float(percent(1 / 3)), 33)


def test_sets_that_are_the_same_within_a_share_are_called_so():
    rng = np.random.default_rng(0)
    sets = {name: rng.normal(size=(200, 2)) for name in "ab"}
    found = compare(sets, k="rbf", sigma=3.0, permutations=99, within=0.1)
    (row,) = found.pairs
    assert 1 / 1.1 <= row.ratio_low <= 1 <= row.ratio_high <= 1.1
    assert found.verdict("a", "b") == found.verdict("b", "a") == "the same within 10 %"
    said = "a and b are the same within 10 %: "
    assert found.sentence.startswith(said)
    assert f"(90 % interval of their ratio {row.ratio_low:.3f} to " in found.sentence
    assert found.to_dict()["within"] == 0.1
    less = compare(sets, k="rbf", sigma=3.0, permutations=99, within=0.001)
    # No difference, but not the same within so little.
    assert less.verdict("a", "b") == "no difference shown"
    usual = compare(sets, k="rbf", sigma=3.0, permutations=99)
    assert usual.verdict("a", "b") == "no difference shown"
    assert (usual.pairs[0].ratio_low, usual.pairs[0].ratio_high) == (row.ratio_low, row.ratio_high)
    with pytest.raises(ValueError, match=r"`within` must be a share above 0, got 0; pass 0\.05"):
        compare(sets, k="cosine", within=0)


def test_groups_that_are_the_same_within_a_share_are_called_so():
    rng = np.random.default_rng(0)
    groups = [list(np.repeat(range(60), 4))] * 2
    X, Y = rng.normal(size=(2, 240, 8))
    found = compare(X, Y, groups=groups, k="rbf", sigma=4.0, permutations=99, within=0.1)
    assert found.verdict("A", "B") == "the same within 10 %"


@pytest.mark.parametrize("n", [6, 120])
def test_no_difference_is_all_that_is_said_of_sets_of_one_source(n):
    X = vectors(np.random.default_rng(2), 240)
    found = compare(X[:n], X[120 : 120 + n], k="cosine", permutations=99)
    assert found.verdict("A", "B") == "no difference shown"
    assert found.sentence.startswith("No difference shown between A and B: ")
    assert "detectable" not in found.to_dict()["pairs"][0]
