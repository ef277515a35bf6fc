"""Alternatives for ambiguous files are tried before they are offered."""

import numpy as np
import pytest

from vendiscore.report import AskError, RefusedError, Samples
from vendiscore.tools.reading import alternatives
from vendiscore.tools.reading.alternatives import (
    MAX_ALTERNATIVES,
    expand_answer,
    find_alternatives,
    find_unusable,
)

TEXTS = Samples(["a b", "c d", "e f"], [1, 2, 3])
GROUPED = {"group_by": "style"}
DETECTED = {"prompts": "q", "by": "model"}


def expand_as_is(question, answer):
    return [dict(answer)]


def ask(*columns, question="Which column?"):
    return AskError(question, [(column, {"column": column}) for column in columns])


def build_reader(results):
    """Return a function that returns or raises the result for a column."""

    def read(options):
        result = results[options["column"]]
        if isinstance(result, Exception):
            raise result
        return result, {}

    return read


def find(results):
    working, reason = find_alternatives(ask(*results), expand_as_is, build_reader(results))
    return [alternative.label for alternative in working], reason


def test_only_readable_answers_are_kept_in_order():
    results = {"c": TEXTS, "a": RefusedError("there is no such column"), "b": TEXTS}
    assert find(results) == (["c", "b"], "there is no such column")


def test_repeated_question_is_no_answer():
    assert find({"a": ask("a", "b")}) == ([], "Which column?")


def test_answer_may_lead_to_another_question_that_has_an_answer():
    narrower = ask("b", question="Is each a set?")
    assert find({"a": narrower, "b": TEXTS})[0] == ["a", "b"]
    assert find({"a": narrower, "b": RefusedError("no")}) == ([], "Is each a set?")


def test_questions_without_end_are_no_answer():
    columns = "abcdefgh"
    results = {
        name: ask(following, question=f"{name}?")
        for name, following in zip(columns, columns[1:] + "a", strict=True)
    }
    assert find(results)[0] == []


def test_answers_with_unusable_samples():
    few = Samples(["a b", "", "c d"], [1, 2, 3])
    most = Samples(["a b", " ", ""], [1, 2, 3])
    results = {"few": few, "most": most, "none": Samples([], [])}
    working, reason = find_alternatives(ask(*results), expand_as_is, build_reader(results))
    assert [(alternative.label, alternative.skips) for alternative in working] == [("few", True)]
    assert reason == "line 2 is empty"


def test_options_that_the_caller_requires_are_added():
    def read(options):
        return TEXTS, {"pool": True}

    (alternative,), _ = find_alternatives(ask("a"), expand_as_is, read)
    assert alternative.options == {"column": "a", "pool": True}


def test_number_of_alternatives_and_time_are_limited(monkeypatch):
    results = {str(i): TEXTS for i in range(20)}
    assert len(find(results)[0]) == MAX_ALTERNATIVES
    monkeypatch.setattr(alternatives, "_MAX_SECONDS", -1.0)
    assert find(results)[0] == ["0"]


@pytest.mark.parametrize(
    ("samples", "options", "expected"),
    [
        (Samples(["a", ""], [1, 2]), {}, [1]),
        (Samples(["a", "b"], [1, 2], problems={0: "is int 3"}), {}, [0]),
        (Samples(np.array([[0.0, 0], [1, 0]]), [1, 2], kind="vectors"), {}, [0]),
        (Samples(np.eye(2), [1, 2], kind="vectors"), {"matrix": True}, []),
        (Samples(np.eye(2), [1, 2], kind="vectors"), {"distances": True}, []),
        (Samples(np.ones((2, 2)) - np.eye(2), [1, 2], kind="vectors"), {"matrix": True}, [0, 1]),
        (Samples(5 * np.eye(2), [1, 2], kind="vectors"), {"matrix": True}, [0, 1]),
        (Samples(5 * np.eye(2), [1, 2], kind="vectors"), {"matrix": True, "normalize": True}, []),
    ],
)
def test_unusable_samples(samples, options, expected):
    assert list(find_unusable(samples, options)) == expected


def test_unusable_molecules():
    pytest.importorskip("rdkit")
    assert list(find_unusable(Samples(["CCO", "C(", "CC"], [1, 2, 3], kind="molecules"))) == [1]


@pytest.mark.parametrize(
    ("answer", "detected", "arguments", "expected"),
    [
        ({"column": "a"}, DETECTED, {}, [{"column": "a"}]),
        ({"separator": "line"}, {}, {}, [{"type": "txt"}]),
        ({"pool": True}, {}, {}, [{"pool": True}]),
        ({"pool": True}, {"prompts": "q"}, {}, [{"prompts": "q"}, {"pool": True}]),
        ({"pool": True}, DETECTED, {"needs_sets": True}, []),
        (
            GROUPED,
            DETECTED,
            {},
            [
                {"by": "style", "prompts": "q"},
                {"group_by": "style", "prompts": "q", "by": "model"},
            ],
        ),
        (GROUPED, {}, {"needs_sets": True}, [{"by": "style"}]),
        (GROUPED, {}, {"supported": ("group_by",)}, [{"group_by": "style"}]),
        (GROUPED, {}, {"supported": ()}, []),
        ({"subfolders": True}, {}, {"needs_sets": True}, []),
    ],
)
def test_answers_are_completed_by_detected_columns(answer, detected, arguments, expected):
    arguments = {"supported": ("by", "group_by", "prompts"), **arguments}
    assert expand_answer(answer, detected, **arguments) == expected
