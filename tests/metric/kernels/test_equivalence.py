"""Kernel "equivalence": accepted and rejected values of `same`."""

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


def list_first_equivalents(samples, **options):
    K = as_similarity(samples, k="equivalence", **options).dense()
    assert set(np.unique(K)) <= {0.0, 1.0}
    return [int(row.argmax()) for row in K]


def test_exact_ignores_case_spaces_punctuation_and_unicode_form():
    texts = ["Don\u2019t stop!", "dont  STOP", "don't go", "\ufb01ne", "fine", ""]
    assert list_first_equivalents(texts) == [0, 0, 2, 3, 3, 5]


@pytest.mark.parametrize("same", [PATTERN, re.compile(PATTERN)])
def test_pattern_uses_group_of_last_match(same):
    assert list_first_equivalents(ANSWERS, same=same) == [0, 0, 2, 0, 4, 4]
    expected_warning = "represents 8 of 24 samples only in part; sample 4 has no answer"
    with pytest.warns(UserWarning, match=expected_warning):
        as_similarity(ANSWERS * 4, k="equivalence", same=same)
    assert list(as_similarity(ANSWERS, k="equivalence", same=same).partial) == [4, 5]


def test_pattern_without_group_uses_whole_match():
    assert list_first_equivalents(["1 or 2", "2.", "two"], same=re.compile(r"\d")) == [0, 0, 2]


def test_pattern_can_be_longer_than_file_name():
    pattern = "(" + "|".join(f"word{i}" for i in range(200)) + ")"
    assert list_first_equivalents(["say word7", "word7?", "word8"], same=pattern) == [0, 0, 2]


def test_extracted_answer_differs_from_sample_without_answer():
    assert list_first_equivalents(["answer: yes", "yes"], same=PATTERN) == [0, 1]


def test_function_of_one_sample_extracts_answer():
    assert list_first_equivalents(
        ["Yes", "yes ", "no"], same=lambda text: text.strip().lower()
    ) == [0, 0, 2]
    assert list_first_equivalents(["1", "01", "2"], same=int) == [0, 0, 2]
    assert list_first_equivalents(["Yes", "yes"], same=str.lower) == [0, 0]
    for convert in (float, complex, lambda text="": float(text)):
        assert list_first_equivalents(["1", "1.0", "2"], same=convert) == [0, 0, 2]
    assert list_first_equivalents([3, 13, 4], same=lambda x: x % 10) == [0, 0, 2]


def test_error_names_sample_with_unhashable_answer():
    with pytest.raises(SampleError, match=r"sample 1 .*not hashable"):
        compute(["a", "b"], k="equivalence", same=lambda text: [text] if text == "b" else text)


@pytest.mark.parametrize("dtype", [bool, float, np.float32])
def test_function_and_matrix_judge_pairs(dtype):
    texts = ["ant", "bee", "ape", "bug"]
    same = np.array([[dtype(a[0] == b[0]) for b in texts] for a in texts])
    assert list_first_equivalents(texts, same=lambda a, b: dtype(a[0] == b[0])) == [0, 1, 0, 1]
    assert (
        list_first_equivalents(texts, same=same)
        == list_first_equivalents(texts, same=same.tolist())
        == [0, 1, 0, 1]
    )


def test_matrix_judges_duplicates_separately():
    same = np.eye(3)
    assert list_first_equivalents(["a", "a", "b"], same=same) == [0, 1, 2]
    assert list_first_equivalents(["a", "a", "b"], same=lambda a, b: False) == [0, 0, 2]


def test_probabilities_are_compared_with_threshold():
    P = np.array([[1, 0.3, 0.05], [0.3, 1, 0.2], [0.05, 0.2, 1]])
    texts = ["a", "b", "c"]
    assert list_first_equivalents(texts, same=P) == [0, 1, 2]
    assert list_first_equivalents(texts, same=P, same_above=0.102) == [0, 0, 2]
    assert list_first_equivalents(texts, same=P, same_above=0.3) == [
        0,
        1,
        2,
    ]  # the threshold itself is not equivalent


def test_audit_judges_all_pairs_and_notes_intransitivity():
    judged_pairs = []

    def same(a, b):
        judged_pairs.append((a, b))
        return abs(a - b) <= 1

    result = compute([1, 2, 3, 4], k="equivalence", same=same, details=True)["details"]
    assert len(judged_pairs) == 6
    assert any(
        text_note.startswith("`same` is not transitive: in 2 triples")
        for text_note in result["notes"]
    )
    judged_pairs.clear()
    unaudited = compute([1, 2, 3, 4], k="equivalence", same=same, audit=0, details=True)["details"]
    assert len(judged_pairs) == 4
    assert any("checked in 0 of 1 sets" in note for note in unaudited["notes"])


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
def test_invalid_judges_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        compute(["a", "b", "c"], k="equivalence", **options)


def test_error_of_pair_judge_names_samples():
    with pytest.raises(ZeroDivisionError) as caught:
        compute(["a", "a", "b"], k="equivalence", same=lambda a, b: 1 / 0)
    assert caught.value.__notes__ == ["raised by `same` for samples 0 and 2"]


def test_error_of_extraction_function_names_sample():
    with pytest.raises(ValueError, match="could not convert string to float") as caught:
        compute(["1", "one"], k="equivalence", same=float)
    assert "raised by `same` for sample 1, 'one'; return None" in caught.value.__notes__[0]


def test_signature_differs_between_judges():
    def signature(same):
        result = compute(["a", "b"], k="equivalence", same=same, details=True)
        return result["details"]["signature"]

    judges = [
        *("exact", "a(b)", re.compile("a(c)"), np.eye(2), np.ones((2, 2))),
        lambda a, b: True,
        lambda a, b: False,
    ]
    assert len({signature(same) for same in judges}) == len(judges)
