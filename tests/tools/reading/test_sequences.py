"""Sequences are read with their names and lines, however their lines are wrapped."""

import pytest

from vendiscore.report import Limits, RefusedError, Wanted
from vendiscore.tools.reading.sequences import sequences, word_vectors


@pytest.mark.parametrize("width", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wrapped_lines_are_one_sequence(width, end):
    letters = "ACGTACG"
    lines = [letters[i : i + width] for i in range(0, len(letters), width)]
    read = sequences(end.join([">one two", *lines, "", ">b", "AA", ""]), Wanted())
    assert read.rows == [["one two", letters], ["b", "AA"]]
    assert read.places == [1, len(lines) + 3]


def test_gaps_and_comments_of_alignments_are_left_out():
    read = sequences("#A3M#\n# made by a tool\n>a\nAc-G.T\n>b\n----\n", Wanted())
    assert read.rows == [["a", "AcGT"], ["b", ""]]


def test_qualities_may_begin_with_any_sign():
    read = sequences("@a\nACGT\n+\n@@@@\n@b\nAC\n+b\n>+\n", Wanted())
    assert read.rows == [["a", "ACGT"], ["b", "AC"]]
    assert read.places == [1, 5]


@pytest.mark.parametrize(
    ("text", "line"), [("ACGT\n", 1), ("\n\nx\n>a\n", 3), ("@a\nAC\nGT\n@@\n", 1)]
)
def test_other_text_is_refused_with_its_line(text, line):
    with pytest.raises(RefusedError) as caught:
        sequences(text, Wanted())
    assert caught.value.place == f"line {line}"


@pytest.mark.parametrize("stated", ["", "2 3\n"])
def test_a_word_has_its_numbers_with_a_stated_count_or_not(stated):
    read = word_vectors(f"{stated}the 1 2 3\na -1 0.5 2e1\n", Wanted())
    assert read.rows == [["the", "[1,2,3]"], ["a", "[-1,0.5,2e1]"]]


def test_sequences_beyond_the_limit_are_counted_and_not_read():
    few = Wanted(limits=Limits(samples=1))
    assert sequences(">a\nA\n>b\nC\n", few).more
    assert sequences(">a\nA\n>b\nC\n", few).rows == [["a", "A"]]
    assert not sequences(">a\nA\n", few).more
