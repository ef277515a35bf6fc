"""FASTA, FASTQ and word vectors are read with names and line numbers."""

import pytest

from vendiscore.report import Limits, RefusedError, Wanted
from vendiscore.tools.reading.sequences import sequences, word_vectors


@pytest.mark.parametrize("width", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wrapped_lines_are_joined(width, end):
    letters = "ACGTACG"
    lines = [letters[i : i + width] for i in range(0, len(letters), width)]
    result = sequences(end.join([">one two", *lines, "", ">b", "AA", ""]), Wanted())
    assert result.rows == [["one two", letters], ["b", "AA"]]
    assert result.places == [1, len(lines) + 3]


def test_gaps_and_comments_of_alignments_are_removed():
    result = sequences("#A3M#\n# made by a tool\n>a\nAc-G.T\n>b\n----\n", Wanted())
    assert result.rows == [["a", "AcGT"], ["b", ""]]


def test_fastq_qualities_can_start_with_any_character():
    result = sequences("@a\nACGT\n+\n@@@@\n@b\nAC\n+b\n>+\n", Wanted())
    assert result.rows == [["a", "ACGT"], ["b", "AC"]]
    assert result.places == [1, 5]


@pytest.mark.parametrize(
    ("text", "line"), [("ACGT\n", 1), ("\n\nx\n>a\n", 3), ("@a\nAC\nGT\n@@\n", 1)]
)
def test_invalid_lines_are_rejected_with_line_number(text, line):
    with pytest.raises(RefusedError) as caught:
        sequences(text, Wanted())
    assert caught.value.place == f"line {line}"


@pytest.mark.parametrize("size_line", ["", "2 3\n"])
def test_word_vectors_are_read_with_and_without_size_line(size_line):
    result = word_vectors(f"{size_line}the 1 2 3\na -1 0.5 2e1\n", Wanted())
    assert result.rows == [["the", "[1,2,3]"], ["a", "[-1,0.5,2e1]"]]


def test_sequences_beyond_limit_are_not_read():
    options = Wanted(limits=Limits(samples=1))
    assert sequences(">a\nA\n>b\nC\n", options).more
    assert sequences(">a\nA\n>b\nC\n", options).rows == [["a", "A"]]
    assert not sequences(">a\nA\n", options).more
