"""The Python code shown in a report reproduces its scores."""

import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.tools.analysis.python_code import format_call

TEXTS = ["a cat sat", 'the dog\'s "tail"', "new\nline"]


def run_code(code, **names):
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
def test_short_samples_and_arguments_are_literals(samples, arguments):
    code = format_call(samples, None, arguments, "texts")
    assert run_code(code) == pytest.approx(compute(samples, **arguments))


def test_one_element_tuple_keeps_its_comma():
    code = format_call(["a"], None, {"ns": (1,), "other": (1, 2), "empty": ()}, "texts")
    assert "ns=(1,), other=(1, 2), empty=())" in code


def test_references_are_passed():
    X, Y = np.eye(3), np.eye(3)[:2] + 0.5
    code = format_call(X, Y, {"measures": ["MagDiff"]}, "vectors")
    expected = compute(X, references=Y, measures=["MagDiff"])
    assert run_code(code) == pytest.approx(expected)
    assert "references=references" in code


def test_long_samples_are_described_in_a_comment():
    samples = np.random.default_rng(0).standard_normal((40, 50))
    code = format_call(samples, samples + 1, {"measures": ["MagDiff"]}, "vectors")
    assert "# `samples` are the vectors of this report, in their order." in code
    assert "# `references` are the references of this report" in code
    expected = compute(samples, references=samples + 1, measures=["MagDiff"])
    assert run_code(code, samples=samples, references=samples + 1) == pytest.approx(expected)


def exact_match(a, b):
    return float(a == b)


@pytest.mark.parametrize(
    ("value", "comment"),
    [
        (exact_match, "exact_match@"),
        ({"b", "a"}, "a set"),
        (math.nan, "a float"),
        (np.eye(2, dtype=np.float32), "a ndarray"),
        ("x" * 1500, "xxxxx"),
    ],
    ids=["function", "set", "nan", "array", "text"],
)
def test_arguments_without_literal_are_described_in_a_comment(value, comment):
    code = format_call(["a"], None, {"option": value}, "texts")
    line = next(line for line in code.splitlines() if line.startswith("# `option` is"))
    assert comment in line
    assert "option=option" in code
    assert len(line) < 200


def test_long_multiline_value_stays_in_one_comment_line():
    code = format_call(["a"], None, {"option": "two\nlines" * 200}, "texts")
    assert len(code.splitlines()) == 4
