"""Verdicts, intervals and p-values of a comparison say the same, and p says when it has a floor."""

import math

import numpy as np
import pytest

from vendiscore import compare
from vendiscore.cli.command_compare import _printed
from vendiscore.cli.parser import parser
from vendiscore.comparison import MORE, SAME
from vendiscore.comparison.comparison import chance, percent
from vendiscore.comparison.permutation import Null, holm, levels, permuted
from vendiscore.progress import finish


def null(p: float, done: int = 999) -> tuple[float, Null]:
    """A statistic whose p among evenly spaced draws is p, and these draws."""
    drawn = tuple(np.linspace(0.01, 3, done))
    beyond = round(p * (done + 1)) - 1
    return drawn[done - beyond] if beyond else 4.0, Null(p, drawn)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("several", [1, 2, 3, 6, 10])
def test_an_interval_leaves_out_0_where_holm_names_a_difference_and_only_there(several, level):
    rng = np.random.default_rng(several)
    for _ in range(50):
        p = (rng.integers(1, 60, several) / 1000).tolist()
        for (seen, found), adjusted, own in zip(
            map(null, p), holm(p), levels(p, level), strict=True
        ):
            assert (seen > found.reach(own)) == (adjusted <= 1 - level + 1e-12)


def test_intervals_of_all_pairs_have_one_level_but_those_that_holm_alone_names():
    assert levels([0.001, 0.001, 0.5], 0.95) == pytest.approx([1 - 0.05 / 3] * 3)
    assert levels([0.02, 0.001, 0.5], 0.95) == pytest.approx([0.975, 1 - 0.05 / 3, 1 - 0.05 / 3])
    assert levels([0.04, 0.02, 0.001], 0.95) == pytest.approx([0.95, 0.975, 1 - 0.05 / 3])
    assert levels([0.04, 0.04, 0.001], 0.95) == pytest.approx([1 - 0.05 / 3] * 3)  # 2 × 0.04
    for level in (0.9, 0.95, 0.99, 0.999):
        assert levels([0.3], level) == [level]


def test_the_reach_beyond_what_few_draws_tell_is_that_of_a_normal():
    found = finish(permuted(0.1, np.random.default_rng(0).normal, 9999))
    assert len(found.drawn) < 200
    assert found.reach(0.9999) == pytest.approx(found.reach(0.95) * 3.8906 / 1.96, rel=1e-3)
    assert found.reach(0.9999) >= found.drawn[-1] * 0.9


@pytest.fixture(scope="module")
def three():
    """Three sets of which the last is far narrower, and two that are alike."""
    rng = np.random.default_rng(4)
    wide, too, thin = rng.normal(size=(3, 14, 5))
    return compare({"a": wide, "b": too, "c": thin * [1, 0, 0, 0, 0]}, k="cosine", permutations=99)


def test_three_sets_have_intervals_that_hold_together(three):
    for row in three.pairs:
        assert row.level == pytest.approx(1 - 0.05 / 3)
        assert (row.low <= 0 <= row.high) == (three.verdict(row.a, row.b) == SAME)
    assert three.sentence.count("(98.3 % interval ") == 3
    assert three.level == 0.95


def test_a_p_at_its_floor_is_said_to_be_one_for_all_pairs_together(three):
    row = three.pairs[1]
    assert three.verdict("a", "c") == MORE
    assert (row.p, row.p_adjusted, row.p_floor) == pytest.approx((0.01, 0.03, 0.03))
    reason = "p ≤ 0.03, the smallest that 99 permutations can give for 3 pairs)."
    assert three.verdicts[1].endswith(reason)
    assert three.sentence.count("the smallest that") == 1  # of two pairs
    assert three.sentence.count("p ≤ 0.03") == 2
    assert "p ≤" not in three.verdicts[0]
    assert three.to_dict()["pairs"][1]["p_floor"] == pytest.approx(0.03)
    args = parser("compare").parse_args(["a", "b", "--permutations", "99"])
    table = next(line for line in _printed(args, three).splitlines() if line.startswith("a  c"))
    assert "≤ 0.01" in table
    assert "≤ 0.03" in table
    assert "98.3 %" in table


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
