"""Answers in any input format become one table with a row per answer that is not missing."""

import numpy as np
import pandas as pd
import pytest

from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords
from vendiscore.tools.analysis.answer_table import tabulate_answers, tabulate_samples, tabulate_sets

SPEC = similarity_spec_from_keywords({}, ())
ROWS = [("a", "p", "x y"), ("a", "q", "z"), ("b", "q", "u"), ("b", "q", "v w")]


def sorted_rows(table):
    """Return the rows of a table in order of source and prompt, with names for codes."""
    rows = zip(table.source, table.prompt, table.samples, strict=True)
    return sorted((table.names[s], table.prompts[p], sample) for s, p, sample in rows)


@pytest.mark.parametrize(
    "answers",
    [
        {"a": ["x y", "z"], "b": [None, ["u", "v w"]]},
        {"a": [["x y"], ["z"]], "b": [[], ["u", "v w"]]},
        {"a": {"q": "z", "p": "x y"}, "b": {"q": ["u", "v w"]}},
        {"a": {"q": "z", "p": "x y"}, "b": [float("nan"), ["u", "v w"]]},
    ],
)
def test_every_input_format_gives_the_same_rows(answers):
    table = tabulate_answers(answers, ["p", "q"], None, SPEC)
    assert table.names == ("a", "b")
    assert table.prompts == ("p", "q")
    assert sorted_rows(table) == ROWS
    assert table.index.tolist() == [0, 1, 2, 3]
    from_list = tabulate_answers(list(answers.values()), ["p", "q"], ["a", "b"], SPEC)
    assert sorted_rows(from_list) == ROWS


def test_prompts_default_to_numbers_or_to_dict_keys_in_order():
    assert tabulate_answers([["x"] * 3, ["y"] * 3], None, None, SPEC).prompts == (0, 1, 2)
    table = tabulate_answers({"a": {"q": "x"}, "b": {"p": "y", "q": "z"}}, None, None, SPEC)
    assert table.prompts == ("q", "p")


def test_rows_keep_the_input_index_of_each_answer():
    frame = pd.DataFrame(ROWS, columns=["model", "prompt", "text"])
    frame.loc[1, "text"] = None
    table = tabulate_samples(frame["text"], frame["model"], frame["prompt"], SPEC)
    assert sorted_rows(table) == [ROWS[0], *ROWS[2:]]
    assert table.index.tolist() == [0, 2, 3]
    assert table.describe(1) == "an answer of 'b' to prompt 'q'"


def test_source_with_only_missing_answers_raises():
    with pytest.raises(ValueError, match="requires at least two sources, got only 'b'"):
        tabulate_samples(["x", None, "y"], ["b", "a", "b"], None, SPEC)
    with pytest.raises(ValueError, match="'a' has no answer"):
        tabulate_answers({"a": [None, []], "b": ["x", "y"]}, None, None, SPEC)


def test_array_with_several_answers_per_prompt_gives_a_row_per_answer():
    spec = similarity_spec_from_keywords({"k": "cosine"}, ())
    X = np.arange(24.0).reshape(2, 3, 2, 2)  # sources, prompts, answers, columns
    table = tabulate_answers(X, None, None, spec)
    np.testing.assert_array_equal(table.samples, X.reshape(12, 2))
    assert table.source.tolist() == [0] * 6 + [1] * 6
    assert table.prompt.tolist() == [0, 0, 1, 1, 2, 2] * 2


@pytest.mark.parametrize("tabulate", [tabulate_sets, None])
def test_unaligned_sets_have_no_prompts(tabulate):
    if tabulate:
        table = tabulate({"a": ["x", "y"], "b": ["z"]}, None, SPEC)
    else:
        table = tabulate_samples(["x", "y", "z"], ["a", "a", "b"], None, SPEC)
    assert table.prompts == ()
    assert table.source.tolist() == [0, 0, 1]
    assert table.prompt.tolist() == [0, 0, 0]
    assert table.describe(2) == "an answer of 'b'"


@pytest.mark.parametrize(
    ("answers", "prompts", "message"),
    [
        ({"a": {}, "b": {}}, None, "`prompts` is empty"),
        (
            {"a": {"p": "x"}, "b": {"q": "y"}},
            ["p"],
            "'b' has an answer to 'q', which",
        ),
        ({"a": ["x"], "b": ["y", "z"]}, ["p"], "'b' must have 1 items, one per prompt, got 2"),
        ({"a": ["x"], "b": ["y", "z"]}, None, "'a' has 1 and 'b' has 2; use None for"),
        ({"a": ["x"] * 3, "b": ["y"] * 3}, ["p", "q", "q"], "`prompts` contains 'q' twice"),
    ],
)
def test_answers_that_do_not_match_prompts_raise(answers, prompts, message):
    with pytest.raises(ValueError, match=message):
        tabulate_answers(answers, prompts, None, SPEC)
