"""Notes on samples that a kernel cannot represent or represents only in part."""

import warnings

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, SampleError
from vendiscore.similarity.representation_notes import (
    NOTE_ONE_IN,
    WARN_ONE_IN,
    representation_notes,
)


class Similarity(MatrixSimilarity):
    """An identity matrix with the attributes of a text kernel."""

    def __init__(self, n, groups=None, **attributes):
        super().__init__(np.eye(n))
        self.row_groups = None if groups is None else np.array(groups)
        for name, value in attributes.items():
            setattr(self, name, value)

    def groups(self):
        return self.row_groups


def collect_notes(texts, copies=1, **attributes):
    """Return the notes and warnings for distinct texts; the first text has a number of copies."""
    n = len(texts)
    inverse = np.r_[np.zeros(copies - 1, int), np.arange(n)]
    first = np.r_[0, np.arange(1, n) + copies - 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = representation_notes("x", Similarity(n, **attributes), texts, first, inverse)
    return notes, [str(warning.message) for warning in caught]


def distinct_texts(n):
    return [f"the word {i}" for i in range(n)]


def test_represented_samples_give_no_note():
    assert collect_notes(distinct_texts(5)) == ([], [])


def test_unrepresented_samples_always_warn():
    notes, warned = collect_notes(
        distinct_texts(500), missed={3: "has no token", 7: "has no token"}
    )
    assert notes == warned
    assert len(notes) == 1
    assert notes[0].endswith("represent 2 of 500 samples; sample 3 has no token (also sample 7).")


@pytest.mark.parametrize(("truncates", "count"), [(True, 1), (False, 0)])
def test_truncated_samples_always_warn(truncates, count):
    partial = {2: "is truncated at 4 tokens"}
    notes, warned = collect_notes(
        distinct_texts(NOTE_ONE_IN + 1), partial=partial, truncates=truncates
    )
    assert len(notes) == len(warned) == count


@pytest.mark.parametrize("n", [NOTE_ONE_IN - 1, NOTE_ONE_IN, NOTE_ONE_IN + 1])
def test_blank_samples_give_a_note_from_one_percent(n):
    notes, warned = collect_notes([*distinct_texts(n - 1), " \n"])
    assert len(notes) == (n <= NOTE_ONE_IN)
    assert warned == []
    if notes:
        assert f"cannot represent 1 of {n} samples; sample {n - 1} is blank" in notes[0]


@pytest.mark.parametrize(
    ("n", "n_blank", "is_warned"),
    [
        (WARN_ONE_IN - 1, 1, False),
        (WARN_ONE_IN, 1, True),
        (WARN_ONE_IN + 1, 1, False),
        (2 * WARN_ONE_IN, 2, True),
    ],
)
def test_blank_samples_warn_from_five_percent(n, n_blank, is_warned):
    texts = [*distinct_texts(n - n_blank), *(" " * (i + 1) for i in range(n_blank))]
    notes, warned = collect_notes(texts)
    assert warned == (notes if is_warned else [])
    assert f"{n_blank} of {n} samples" in notes[0]


def test_notes_count_copies_and_name_their_first_index():
    notes, _ = collect_notes(["", "a text"], copies=7)
    assert "cannot represent 7 of 8 samples; sample 0 is blank" in notes[0]
    notes, _ = collect_notes(["a text", ""], copies=7)
    assert "cannot represent 1 of 8 samples; sample 7 is blank" in notes[0]


def test_sets_of_only_unrepresented_samples_raise():
    with pytest.raises(SampleError, match="sample 0 is blank") as caught:
        collect_notes(["", " "])
    assert [*caught.value.problems] == [0, 1]
    with pytest.raises(SampleError, match="sample 0 has no token"):
        collect_notes(["a", ""], missed={0: "has no token"})


def test_notes_list_indistinguishable_texts_whatever_their_number():
    texts = [*distinct_texts(4), "THE  word 0", "another text"]
    groups = [0, 1, 2, 3, 0, 1]
    notes, _ = collect_notes(texts, groups=groups, merges=True)
    assert len(notes) == 1
    assert (
        "does not distinguish 1 of 6 samples from others; sample 5 differs from sample 1"
        in notes[0]
    )
    assert collect_notes(texts, groups=groups, merges=False) == ([], [])
    many_notes, _ = collect_notes(
        [*distinct_texts(300), "another text"], groups=[*range(300), 5], merges=True
    )
    assert "1 of 301 samples" in many_notes[0]


def test_texts_in_another_script_than_the_encoder_warn():
    texts = ["猫が座る。", "雨が降る。", "犬が走る。"]
    notes, warned = collect_notes(texts, scripts=["LATIN"])
    assert notes == warned
    assert "Kernel 'x' with the model x is for prose in Latin script" in notes[0]
    assert "mostly Japanese" in notes[0]
    assert collect_notes(texts, scripts=[]) == ([], [])
    notes_with_model, _ = collect_notes(
        texts, scripts=["LATIN"], settings={"model_path": "a-model"}
    )
    assert "with the model a-model" in notes_with_model[0]
