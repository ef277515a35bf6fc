"""The keys of results: which of them name the order, and what a key that is missing raises."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

from vendiscore import compute, conditional_score, score
from vendiscore.result import (
    ERROR_SUFFIXES,
    NULL_SUFFIXES,
    Result,
    key_at,
    number_rows,
    order_suffixes,
    scale_suffix,
)

TEXTS = ["a cat", "a cat", "the dog", "a bird"]


@pytest.mark.parametrize("q", [1, 1.0, np.int64(1), np.array(1.0)])
def test_a_single_order_1_is_not_part_of_the_key(q):
    assert compute(TEXTS, q=q) == compute(TEXTS) == {"VS": score(TEXTS)}
    assert compute(TEXTS, q=q, ci=0.9).keys() == {"VS", "VS_se", "VS_low", "VS_high"}


@pytest.mark.parametrize(
    ("q", "key"),
    [
        (0, "VS_q0"),
        (-0.0, "VS_q0"),
        (0.5, "VS_q0.5"),
        (1 + 1e-12, "VS_q1.000000000001"),
        (2, "VS_q2"),
        (2.0, "VS_q2"),
        (np.array(2), "VS_q2"),
        ("inf", "VS_qinf"),
        (math.inf, "VS_qinf"),
    ],
)
def test_any_other_single_order_is_part_of_the_key(q, key):
    assert compute(TEXTS, q=q) == {key: score(TEXTS, q=q)}
    assert key_at(q) == key
    if q:
        ends = {f"{key}{ending}" for ending in ("", "_se", "_low", "_high")}
        assert compute(TEXTS, q=q, ci=0.9).keys() == ends


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
def test_a_sequence_has_the_order_in_every_key(kind):
    assert compute(TEXTS, q=kind([1])) == {"VS_q1": score(TEXTS)}
    assert compute(TEXTS, q=kind([2])) == {"VS_q2": score(TEXTS, q=2)}
    assert list(compute(TEXTS, q=kind([2, 1, 0.5]))) == ["VS_q2", "VS_q1", "VS_q0.5"]


def test_a_scale_and_the_values_of_shuffled_labels_follow_the_order():
    assert order_suffixes([1.0], several=False) == [""]
    assert order_suffixes([1.0], several=True) == ["_q1"]
    assert scale_suffix(0.5) == "_t0.5"
    groups = [["a", "b"], ["a", "c"]]
    result = compute(groups, k="labels", q=2, measures="BetweenVS", permutations=19)
    key = "BetweenVS_q2"
    assert list(result) == [key, *(key + ending for ending in NULL_SUFFIXES)]
    details = compute(groups, k="labels", q=2, measures="BetweenVS", details=True)["details"]
    assert any("BetweenVS_q2_null is the mean of BetweenVS_q2" in note for note in details["notes"])


@pytest.mark.parametrize(
    ("arguments", "key", "message"),
    [
        ({"q": 2}, "VS", "no key 'VS' for q=2; available keys: 'VS_q2'"),
        ({"q": [0.5, 2]}, "VS", "no key 'VS' for q=[0.5, 2]; available keys: 'VS_q0.5', 'VS_q2'"),
        (
            {"q": "inf", "measures": ["IntDiv", "LC"]},
            "LC",
            "no key 'LC' for q=inf; available keys: 'IntDi",
        ),
        (
            {"q": 2, "ci": 0.9},
            "VS_low",
            "no key 'VS_low' for q=2; available keys: 'VS_q2', 'VS_q2_se', 'VS_q2_low', "
            "'VS_q2_high'",
        ),
        (
            {},
            "VS_q1",
            "no key 'VS_q1', because a single order q=1 is not part of the key; available keys: "
            "'VS'",
        ),
        ({}, "VS_q2", "no key 'VS_q2'; available keys: 'VS'"),
        ({"q": 2, "details": True}, "LC", "no key 'LC'; available keys: 'VS_q2', 'details'"),
        ({"q": 2}, 0, "no key 0; available keys: 'VS_q2'"),
    ],
)
def test_a_missing_key_raises_an_error_that_lists_the_keys(arguments, key, message):
    result = compute(TEXTS, **arguments)
    with pytest.raises(KeyError) as raised:
        result[key]
    assert raised.value.args[0].startswith(message)
    assert key not in result
    assert result.get(key) is None


def test_a_result_is_a_dict():
    result = compute(TEXTS, q=2)
    value = score(TEXTS, q=2)
    assert isinstance(result, dict)
    assert repr(result) == f"{{'VS_q2': {value!r}}}"
    assert json.loads(json.dumps(result)) == {**result} == result
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert other == result
        assert type(other) is Result
    with pytest.raises(KeyError, match="available keys: 'VS_q2'"):
        result.copy()["VS"]


def test_functions_that_return_a_number_take_any_order():
    assert score(TEXTS, q=2) == pytest.approx(compute(TEXTS, q=2)["VS_q2"])
    samples, prompts = ["a cat", "a dog", "red", "red"], ["pet", "pet", "hue", "hue"]
    given = {"measures": {"ConditionalVS": {"given": prompts}}}
    result = compute(samples, q=2, **given)
    assert conditional_score(samples, prompts, q=2) == result["ConditionalVS_q2"]


def test_every_number_has_a_row_with_its_error_and_interval():
    result = compute(TEXTS, q=[1, 2], ci=0.9, measures=["VS", "IntDiv"], details=True)
    rows = number_rows(result)
    assert [row["key"] for row in rows] == ["VS_q1", "VS_q2", "IntDiv"]
    for row in rows:
        ends = [row[end.removeprefix("_")] for end in ERROR_SUFFIXES]
        assert ends == [result[row["key"] + end] for end in ERROR_SUFFIXES]
        assert row["value"] == result[row["key"]]
    nulls = {
        "BetweenVS": 2.0,
        **{f"BetweenVS{end}": 0.5 for end in NULL_SUFFIXES},
        "VS": 1,
        "VS_low": math.nan,
    }
    assert len(number_rows(nulls)) == 5
    (between, vs) = number_rows(nulls, (*ERROR_SUFFIXES, *NULL_SUFFIXES))
    assert (between["key"], vs["key"], vs["low"], vs["se"]) == ("BetweenVS", "VS", None, None)
