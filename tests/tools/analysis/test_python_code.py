"""The code of a report is Python that gives the same number."""

import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.tools.analysis.python_code import format_call

TEXTS = ["a cat sat", 'the dog\'s "tail"', "new\nline"]


def run(code, **names):
    """Run the code of a report, and return what it prints."""
    printed = []
    exec(code, {"print": printed.append, **names})
    return printed[0]


@pytest.mark.parametrize(
    ("samples", "arguments"),
    [
        (TEXTS, {}),
        (TEXTS, {"q": [0.5, 2], "ns": (1,), "on_error": "skip"}),
        (TEXTS, {"q": math.inf}),
        (TEXTS, {"measures": {"VS": {}, "IntDiv": {}}}),
        (np.eye(3) + 1, {"k": "rbf", "sigma": 2.0}),
        (np.array([1, 2, 4]), {"k": "labels"}),
        (tuple(TEXTS), {"p": np.array([0.5, 0.25, 0.25])}),
    ],
)
def test_short_samples_and_arguments_are_written_out(samples, arguments):
    code = format_call(samples, None, arguments, "texts")
    assert run(code) == pytest.approx(compute(samples, **arguments))


def test_a_tuple_of_one_stays_a_tuple():
    code = format_call(["a"], None, {"ns": (1,), "other": (1, 2), "empty": ()}, "texts")
    assert "ns=(1,), other=(1, 2), empty=())" in code


def test_references_are_passed():
    X, Y = np.eye(3), np.eye(3)[:2] + 0.5
    code = format_call(X, Y, {"measures": ["MagDiff"]}, "vectors")
    expected = compute(X, references=Y, measures=["MagDiff"])
    assert run(code) == pytest.approx(expected)
    assert "references=references" in code


def test_long_samples_are_named_in_a_comment():
    samples = np.random.default_rng(0).standard_normal((40, 50))
    code = format_call(samples, samples + 1, {"measures": ["MagDiff"]}, "vectors")
    assert "# `samples` are the vectors of this report, in their order." in code
    assert "# `references` are the references of this report" in code
    expected = compute(samples, references=samples + 1, measures=["MagDiff"])
    assert run(code, samples=samples, references=samples + 1) == pytest.approx(expected)


def one_of_mine(a, b):
    return float(a == b)


@pytest.mark.parametrize(
    ("value", "comment"),
    [
        (one_of_mine, "one_of_mine@"),
        ({"b", "a"}, "a set"),
        (math.nan, "a float"),
        (np.eye(2, dtype=np.float32), "a ndarray"),
        ("x" * 1500, "xxxxx"),
    ],
    ids=["function", "set", "nan", "array", "text"],
)
def test_other_arguments_are_described_in_a_comment(value, comment):
    code = format_call(["a"], None, {"option": value}, "texts")
    line = next(line for line in code.splitlines() if line.startswith("# `option` is"))
    assert comment in line
    assert "option=option" in code
    assert len(line) < 200


def test_a_value_is_on_one_line():
    code = format_call(["a"], None, {"option": "two\nlines" * 200}, "texts")
    assert len(code.splitlines()) == 4
