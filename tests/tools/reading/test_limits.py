"""Options and limits of reading, and the errors for rejected input."""

import pytest

from vendiscore.tools.reading.limits import AskError, Limits, ReadOptions, RefusedError


def test_refused_error_contains_location():
    error = RefusedError("this is not text", "line 2")
    assert str(error) == "Line 2: this is not text"
    assert (error.message, error.place) == ("this is not text", "line 2")
    assert str(RefusedError("this is not text")) == "this is not text"
    assert isinstance(error, ValueError)


def test_ask_error_contains_options_of_choices():
    choices = (pair for pair in [("a", {"column": "a"}), ("b", {"column": "b"})])
    error = AskError("Which column?", choices, {"by": "model"})
    assert isinstance(error, RefusedError)
    assert (str(error), error.question, error.place) == ("Which column?", "Which column?", "")
    assert error.choices == [("a", {"column": "a"}), ("b", {"column": "b"})]
    assert error.known == {"by": "model"}
    assert AskError("?", []).known == {}


def test_default_limits_are_unbounded():
    limits = Limits()
    for name in ("samples", "columns", "values", "text", "unpacked"):
        assert getattr(limits, name) > 10**15
        assert getattr(limits, name) + 1 > getattr(limits, name)
    assert limits.declared is limits.largest_pages is None
    assert ReadOptions().limits == limits


def test_columns_other_than_the_samples_are_listed_once():
    assert ReadOptions().others == []
    read_options = ReadOptions(
        column="a", by="m", group_by="g", quality="m", correct="c", prompts="p"
    )
    assert read_options.others == ["m", "g", "c", "p"]
    assert ReadOptions(quality="", by="m").others == ["m"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"column": "a", "quality": "q"}, False),
        ({"by": "m"}, True),
        ({"group_by": "g"}, True),
        ({"prompts": "p"}, True),
        ({"pool": True}, True),
    ],
)
def test_groups_named_is_true_for_group_columns_and_pool(options, expected):
    assert ReadOptions(**options).groups_named == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("prompt", "model")),
        ({"pool": True}, ("", "")),
        ({"by": "model"}, ("prompt", "")),
        ({"by": "other"}, ("prompt", "")),
        ({"by": "prompt"}, ("", "")),
        ({"prompts": "question"}, ("", "model")),
        ({"group_by": "prompt"}, ("", "model")),
        ({"group_by": "model"}, ("prompt", "")),
        ({"group_by": "other"}, ("prompt", "model")),
        ({"quality": "prompt"}, ("", "model")),
    ],
)
def test_named_column_replaces_detected_column_of_role(options, expected):
    assert ReadOptions(**options).unnamed_groups("prompt", "model") == expected
