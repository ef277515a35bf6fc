"""Notes on samples that a kernel cannot represent, or only in part."""

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
    """An identity matrix with the attributes that a kernel on texts has."""

    def __init__(self, n, groups=None, **attributes):
        super().__init__(np.eye(n))
        self.of_rows = None if groups is None else np.array(groups)
        for name, value in attributes.items():
            setattr(self, name, value)

    def groups(self):
        return self.of_rows


def notes_of(texts, copies=1, **attributes):
    """Return the notes on distinct texts, of which the first has copies, and the warnings."""
    n = len(texts)
    inverse = np.r_[np.zeros(copies - 1, int), np.arange(n)]
    first = np.r_[0, np.arange(1, n) + copies - 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = representation_notes("x", Similarity(n, **attributes), texts, first, inverse)
    return notes, [str(warning.message) for warning in caught]


def words(n):
    return [f"the word {i}" for i in range(n)]


def test_there_is_nothing_to_say_of_samples_that_are_represented():
    assert notes_of(words(5)) == ([], [])


def test_samples_that_are_missed_always_give_a_warning():
    notes, warned = notes_of(words(500), missed={3: "has no token", 7: "has no token"})
    assert notes == warned
    assert len(notes) == 1
    assert notes[0].endswith("represent 2 of 500 samples; sample 3 has no token (also sample 7).")


@pytest.mark.parametrize(("truncates", "count"), [(True, 1), (False, 0)])
def test_truncated_samples_always_give_a_warning(truncates, count):
    partial = {2: "is truncated at 4 tokens"}
    notes, warned = notes_of(words(NOTE_ONE_IN + 1), partial=partial, truncates=truncates)
    assert len(notes) == len(warned) == count


@pytest.mark.parametrize("n", [NOTE_ONE_IN - 1, NOTE_ONE_IN, NOTE_ONE_IN + 1])
def test_one_in_a_hundred_blank_samples_is_noted(n):
    notes, warned = notes_of([*words(n - 1), " \n"])
    assert len(notes) == (n <= NOTE_ONE_IN)
    assert warned == []
    if notes:
        assert f"cannot represent 1 of {n} samples; sample {n - 1} is blank" in notes[0]


@pytest.mark.parametrize(
    ("n", "blank", "is_warned"),
    [
        (WARN_ONE_IN - 1, 1, False),
        (WARN_ONE_IN, 1, True),
        (WARN_ONE_IN + 1, 1, False),
        (2 * WARN_ONE_IN, 2, True),
    ],
)
def test_one_in_twenty_blank_samples_gives_a_warning(n, blank, is_warned):
    texts = [*words(n - blank), *(" " * (i + 1) for i in range(blank))]
    notes, warned = notes_of(texts)
    assert warned == (notes if is_warned else [])
    assert f"{blank} of {n} samples" in notes[0]


def test_copies_are_counted_and_named_by_their_first_index():
    notes, _ = notes_of(["", "a text"], copies=7)
    assert "cannot represent 7 of 8 samples; sample 0 is blank" in notes[0]
    notes, _ = notes_of(["a text", ""], copies=7)
    assert "cannot represent 1 of 8 samples; sample 7 is blank" in notes[0]


def test_nothing_but_missed_samples_is_an_error():
    with pytest.raises(SampleError, match="sample 0 is blank") as caught:
        notes_of(["", " "])
    assert [*caught.value.problems] == [0, 1]
    with pytest.raises(SampleError, match="sample 0 has no token"):
        notes_of(["a", ""], missed={0: "has no token"})


def test_texts_that_the_kernel_cannot_tell_apart_are_noted_whatever_their_number():
    texts = [*words(4), "THE  word 0", "another text"]
    groups = [0, 1, 2, 3, 0, 1]
    notes, _ = notes_of(texts, groups=groups, merges=True)
    assert len(notes) == 1
    assert (
        "does not distinguish 1 of 6 samples from others; sample 5 differs from sample 1"
        in notes[0]
    )
    assert notes_of(texts, groups=groups, merges=False) == ([], [])
    many, _ = notes_of([*words(300), "another text"], groups=[*range(300), 5], merges=True)
    assert "1 of 301 samples" in many[0]


def test_an_encoder_of_another_script_gives_a_warning():
    texts = ["猫が座る。", "雨が降る。", "犬が走る。"]
    notes, warned = notes_of(texts, scripts=["LATIN"])
    assert notes == warned
    assert "Kernel 'x' with the model x is for prose in Latin script" in notes[0]
    assert "mostly Japanese" in notes[0]
    assert notes_of(texts, scripts=[]) == ([], [])
    named, _ = notes_of(texts, scripts=["LATIN"], settings={"model_path": "a-model"})
    assert "with the model a-model" in named[0]
