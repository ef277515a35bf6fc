import re

import numpy as np
import pytest

from vendiscore.support.accepted_values import ACCEPTED_VALUES
from vendiscore.support.suggestions import accepts_value

# Values of the examples that are Python variables.
VARIABLES = {"labels": ["a", "b"], "weights": [0.5, 0.5], "scores": [1, 2], "samples": ["a", "b"]}


@pytest.mark.parametrize("keyword", ACCEPTED_VALUES)
def test_keyword_accepts_its_example(keyword):
    is_accepted, example = ACCEPTED_VALUES[keyword]
    match = re.match(rf"{keyword}=(\w+$|\w+(?=,)|.*)", example)
    code = match[1] if match else "samples"
    assert is_accepted(eval(code, {}, VARIABLES))


@pytest.mark.parametrize("keyword", [name for name in ACCEPTED_VALUES if name != "allow_repeats"])
@pytest.mark.parametrize("value", [True, object()])
def test_keyword_rejects_booleans_and_objects(keyword, value):
    assert not accepts_value(keyword, value)


@pytest.mark.parametrize(
    ("keyword", "accepted", "rejected"),
    [
        ("q", [0, 2.5, "inf", [0, 1]], [-1, "two"]),
        ("ci", [0.5, 0.95], [0.05, 1, "0.95"]),
        ("groups", [["a"], np.zeros(2)], ["column", b"column"]),
        ("k", ["cosine", {"ngram_overlap": 1}, ["cosine"], len], [2, 0.5]),
        ("size", [5], [0.1, "5"]),
        ("ns", [2, [1, 2]], ["1,2", 0.5]),
    ],
)
def test_type_of_value_decides(keyword, accepted, rejected):
    assert all(accepts_value(keyword, value) for value in accepted)
    assert not any(accepts_value(keyword, value) for value in rejected)


def test_none_and_keywords_without_rule_are_accepted():
    assert all(accepts_value(keyword, None) for keyword in ACCEPTED_VALUES)
    assert accepts_value("tokenizer", object())
