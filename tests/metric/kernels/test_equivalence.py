"""Values that `same` may have, and values that are refused."""

import re

import numpy as np
import pytest

from vendiscore import SampleError, as_similarity, compute

ANSWERS = [
    "I add, so the answer: 12.",
    "The answer: 7, no, the answer: 12",
    "ANSWER: twelve",
    "answer:  12!",
    "I do not know.",
    "i do not know",
]
PATTERN = r"(?i)answer: *([^,.!]+)"


def classes(samples, **options):
    K = as_similarity(samples, k="equivalence", **options).dense()
    assert set(np.unique(K)) <= {0.0, 1.0}
    return [int(row.argmax()) for row in K]


def test_exact_answers_are_equal_but_for_case_space_punctuation_and_unicode_form():
    texts = ["Don\u2019t stop!", "dont  STOP", "don't go", "\ufb01ne", "fine", ""]
    assert classes(texts) == [0, 0, 2, 3, 3, 5]


@pytest.mark.parametrize("same", [PATTERN, re.compile(PATTERN)])
def test_a_pattern_finds_the_group_of_its_last_match(same):
    assert classes(ANSWERS, same=same) == [0, 0, 2, 0, 4, 4]
    seen = "represents 8 of 24 samples only in part; sample 4 has no answer"
    with pytest.warns(UserWarning, match=seen):
        as_similarity(ANSWERS * 4, k="equivalence", same=same)
    assert list(as_similarity(ANSWERS, k="equivalence", same=same).partial) == [4, 5]


def test_a_compiled_pattern_without_a_group_is_compared_as_a_whole_match():
    assert classes(["1 or 2", "2.", "two"], same=re.compile(r"\d")) == [0, 0, 2]


def test_a_pattern_may_be_longer_than_the_name_of_a_file():
    pattern = "(" + "|".join(f"word{i}" for i in range(200)) + ")"
    assert classes(["say word7", "word7?", "word8"], same=pattern) == [0, 0, 2]


def test_an_answer_never_equals_a_sample_that_has_none():
    assert classes(["answer: yes", "yes"], same=PATTERN) == [0, 1]


def test_a_normaliser_says_the_answer():
    assert classes(["Yes", "yes ", "no"], same=lambda text: text.strip().lower()) == [0, 0, 2]
    assert classes(["1", "01", "2"], same=int) == [0, 0, 2]
    assert classes(["Yes", "yes"], same=str.lower) == [0, 0]
    for convert in (float, complex, lambda text="": float(text)):
        assert classes(["1", "1.0", "2"], same=convert) == [0, 0, 2]
    assert classes([3, 13, 4], same=lambda x: x % 10) == [0, 0, 2]


def test_answers_that_cannot_be_compared_are_named():
    with pytest.raises(SampleError, match=r"sample 1 .*not hashable"):
        compute(["a", "b"], k="equivalence", same=lambda text: [text] if text == "b" else text)


@pytest.mark.parametrize("kind", [bool, float, np.float32])
def test_a_function_or_a_matrix_judges_pairs(kind):
    texts = ["ant", "bee", "ape", "bug"]
    same = np.array([[kind(a[0] == b[0]) for b in texts] for a in texts])
    assert classes(texts, same=lambda a, b: kind(a[0] == b[0])) == [0, 1, 0, 1]
    assert classes(texts, same=same) == classes(texts, same=same.tolist()) == [0, 1, 0, 1]


def test_a_matrix_has_a_judgement_for_each_repeat():
    same = np.eye(3)
    assert classes(["a", "a", "b"], same=same) == [0, 1, 2]
    assert classes(["a", "a", "b"], same=lambda a, b: False) == [0, 0, 2]


def test_probabilities_are_held_against_a_threshold():
    P = np.array([[1, 0.3, 0.05], [0.3, 1, 0.2], [0.05, 0.2, 1]])
    texts = ["a", "b", "c"]
    assert classes(texts, same=P) == [0, 1, 2]
    assert classes(texts, same=P, same_above=0.102) == [0, 0, 2]
    assert classes(texts, same=P, same_above=0.3) == [0, 1, 2]  # above, not at


def test_audit_says_of_which_sets_all_pairs_are_judged():
    asked = []

    def same(a, b):
        asked.append((a, b))
        return abs(a - b) <= 1

    result = compute([1, 2, 3, 4], k="equivalence", same=same, details=True)["details"]
    assert len(asked) == 6
    assert any(n.startswith("`same` is not transitive: in 2 triples") for n in result["notes"])
    asked.clear()
    notes = compute([1, 2, 3, 4], k="equivalence", same=same, audit=0, details=True)["details"]
    assert len(asked) == 4
    assert any("checked in 0 of 1 sets" in note for note in notes["notes"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"same": "exatc"}, ValueError, "must be 'exact', a pattern with a group"),
        ({"same": "answer: (.*"}, ValueError, "must be a valid regular expression"),
        ({"same": 7}, TypeError, "or a matrix of judgements, got int"),
        ({"same": np.eye(2)}, ValueError, r"\(3, 3\) of 3 samples, got shape \(2, 2\)"),
        ({"same": np.full((3, 3), np.nan)}, ValueError, "nan"),
        ({"same": lambda a, b: None}, TypeError, "got None for samples 0 and 1"),
        ({"same": lambda a, b: "yes"}, TypeError, "got 'yes' for samples 0 and 1"),
        ({"same": lambda a, b: float("nan")}, TypeError, "got nan for samples 0 and 1"),
        ({"same_above": 0.3}, ValueError, "`same_above` has no effect"),
        ({"audit": 4}, ValueError, "`audit` has no effect"),
        ({"same": np.eye(3), "batch_size": 3}, ValueError, "`batch_size` has no effect"),
        ({"same": np.eye(3), "audit": -1}, ValueError, "`audit` must be an integer"),
        ({"same": np.eye(3), "same_above": "x"}, TypeError, "`same_above` must be a finite"),
    ],
)
def test_judges_that_cannot_be_used_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        compute(["a", "b", "c"], k="equivalence", **options)


def test_an_error_of_the_judge_names_its_samples():
    with pytest.raises(ZeroDivisionError) as caught:
        compute(["a", "a", "b"], k="equivalence", same=lambda a, b: 1 / 0)
    assert caught.value.__notes__ == ["raised by `same` for samples 0 and 2"]


def test_an_error_of_a_function_of_one_sample_names_the_sample():
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        compute(["1", "one"], k="equivalence", same=float)
    assert "raised by `same` for sample 1, 'one'; return None" in caught.value.__notes__[0]


def test_settings_tell_one_judge_from_another():
    def signature(same):
        result = compute(["a", "b"], k="equivalence", same=same, details=True)
        return result["details"]["signature"]

    judges = [
        *("exact", "a(b)", re.compile("a(c)"), np.eye(2), np.ones((2, 2))),
        lambda a, b: True,
        lambda a, b: False,
    ]
    assert len({signature(same) for same in judges}) == len(judges)
