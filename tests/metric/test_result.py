"""Keys of results: orders and suffixes in keys, and the error for a missing key."""

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
    build_value_rows,
    key_at,
    order_suffixes,
    scale_suffix,
)

TEXTS = ["a cat", "a cat", "the dog", "a bird"]


@pytest.mark.parametrize("q", [1, 1.0, np.int64(1), np.array(1.0)])
def test_key_omits_a_single_order_1(q):
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
def test_key_includes_a_single_order_other_than_1(q, key):
    assert compute(TEXTS, q=q) == {key: score(TEXTS, q=q)}
    assert key_at(q) == key
    if q:
        expected = {f"{key}{ending}" for ending in ("", "_se", "_low", "_high")}
        assert compute(TEXTS, q=q, ci=0.9).keys() == expected


@pytest.mark.parametrize("container", [list, tuple, iter, np.array])
def test_keys_include_the_order_for_a_sequence(container):
    assert compute(TEXTS, q=container([1])) == {"VS_q1": score(TEXTS)}
    assert compute(TEXTS, q=container([2])) == {"VS_q2": score(TEXTS, q=2)}
    assert list(compute(TEXTS, q=container([2, 1, 0.5]))) == ["VS_q2", "VS_q1", "VS_q0.5"]


def test_suffixes_of_scales_and_null_values_follow_the_order():
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
def test_missing_key_raises_with_available_keys(arguments, key, message):
    result = compute(TEXTS, **arguments)
    with pytest.raises(KeyError) as caught:
        result[key]
    assert caught.value.args[0].startswith(message)
    assert key not in result
    assert result.get(key) is None


def test_result_is_a_dict():
    result = compute(TEXTS, q=2)
    value = score(TEXTS, q=2)
    assert isinstance(result, dict)
    assert repr(result) == f"{{'VS_q2': {value!r}}}"
    assert json.loads(json.dumps(result)) == {**result} == result
    for copied in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert copied == result
        assert type(copied) is Result
    with pytest.raises(KeyError, match="available keys: 'VS_q2'"):
        result.copy()["VS"]


def test_functions_that_return_a_number_accept_any_order():
    assert score(TEXTS, q=2) == pytest.approx(compute(TEXTS, q=2)["VS_q2"])
    samples, prompts = ["a cat", "a dog", "red", "red"], ["pet", "pet", "hue", "hue"]
    measure_options = {"measures": {"ConditionalVS": {"given": prompts}}}
    result = compute(samples, q=2, **measure_options)
    assert conditional_score(samples, prompts, q=2) == result["ConditionalVS_q2"]


def test_build_value_rows_returns_values_with_errors_and_intervals():
    result = compute(TEXTS, q=[1, 2], ci=0.9, measures=["VS", "IntDiv"], details=True)
    rows = build_value_rows(result)
    assert [row["key"] for row in rows] == ["VS_q1", "VS_q2", "IntDiv"]
    for row in rows:
        row_values = [row[suffix.removeprefix("_")] for suffix in ERROR_SUFFIXES]
        assert row_values == [result[row["key"] + suffix] for suffix in ERROR_SUFFIXES]
        assert row["value"] == result[row["key"]]
    nulls = {
        "BetweenVS": 2.0,
        **{f"BetweenVS{suffix}": 0.5 for suffix in NULL_SUFFIXES},
        "VS": 1,
        "VS_low": math.nan,
    }
    assert len(build_value_rows(nulls)) == 5
    (between, vs) = build_value_rows(nulls, (*ERROR_SUFFIXES, *NULL_SUFFIXES))
    assert (between["key"], vs["key"], vs["low"], vs["se"]) == ("BetweenVS", "VS", None, None)
