"""Values of options are parsed as numbers, words, lists, orders and measures."""

from vendiscore.tools.cli.command_options import (
    parse_measure_flags,
    parse_option_flags,
    parse_value,
)


def test_parse_value_converts_numbers_words_lists_and_json():
    expected = {"0.5": 0.5, "1,2": [1, 2], "true": True, "None": None, "clip": "clip", "a,b": "a,b"}
    expected |= {'["a"]': ["a"], '"1,2"': "1,2", "[1,": "[1,", "": "", "1,a": "1,a", "-3": -3}
    assert {text: parse_value(text) for text in expected} == expected


def test_parse_option_flags_returns_dict():
    assert parse_option_flags(["ns=1,2", "analyzer=char"]) == {"ns": [1, 2], "analyzer": "char"}


def test_single_and_several_orders_and_measures_are_parsed():
    assert [parse_value(text) for text in ("1", "0,1,inf")] == [1, [0, 1, float("inf")]]
    assert parse_measure_flags(["VS,IntDiv"]) == ["VS", "IntDiv"]
    assert parse_measure_flags(["text"]) == ["text"]
    assert parse_measure_flags(["VS,MagArea:n_scales=20"]) == {
        "VS": {},
        "MagArea": {"n_scales": 20},
    }
