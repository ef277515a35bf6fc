"""FASTA, FASTQ and word vectors are read with names and line numbers."""

import pytest

from vendiscore.report import Limits, ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.sequences import parse_sequences, parse_word_vectors


@pytest.mark.parametrize("width", [1, 2, 3, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wrapped_lines_are_joined(width, end):
    letters = "ACGTACG"
    lines = [letters[i : i + width] for i in range(0, len(letters), width)]
    result = parse_sequences(end.join([">one two", *lines, "", ">b", "AA", ""]), ReadOptions())
    assert result.rows == [["one two", letters], ["b", "AA"]]
    assert result.places == [1, len(lines) + 3]


def test_gaps_and_comments_of_alignments_are_removed():
    result = parse_sequences("#A3M#\n# made by a tool\n>a\nAc-G.T\n>b\n----\n", ReadOptions())
    assert result.rows == [["a", "AcGT"], ["b", ""]]


def test_fastq_qualities_can_start_with_any_character():
    result = parse_sequences("@a\nACGT\n+\n@@@@\n@b\nAC\n+b\n>+\n", ReadOptions())
    assert result.rows == [["a", "ACGT"], ["b", "AC"]]
    assert result.places == [1, 5]


@pytest.mark.parametrize(
    ("text", "line"), [("ACGT\n", 1), ("\n\nx\n>a\n", 3), ("@a\nAC\nGT\n@@\n", 1)]
)
def test_invalid_lines_are_rejected_with_line_number(text, line):
    with pytest.raises(RefusedError) as caught:
        parse_sequences(text, ReadOptions())
    assert caught.value.place == f"line {line}"


@pytest.mark.parametrize("size_line", ["", "2 3\n"])
def test_word_vectors_are_read_with_and_without_size_line(size_line):
    result = parse_word_vectors(f"{size_line}the 1 2 3\na -1 0.5 2e1\n", ReadOptions())
    assert result.rows == [["the", "[1,2,3]"], ["a", "[-1,0.5,2e1]"]]


def test_sequences_beyond_limit_are_not_read():
    options = ReadOptions(limits=Limits(samples=1))
    assert parse_sequences(">a\nA\n>b\nC\n", options).more
    assert parse_sequences(">a\nA\n>b\nC\n", options).rows == [["a", "A"]]
    assert not parse_sequences(">a\nA\n", options).more


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("d_1 T=0.1 seed=3", ["d_1", "0.1", "3"]),
        ("T=0.1, seed=3", ["", "0.1", "3"]),
        (
            "sp|P1|A Some protein T=Homo sapiens seed=3",
            ["sp|P1|A Some protein", "Homo sapiens", "3"],
        ),
        ("d|T=['A', 'B']|seed=3 ", ["d", "['A', 'B']", "3"]),
        ("d " + " " * 80_000 + " T=, seed=3", ["d", "", "3"]),
    ],
)
def test_keys_of_headers_are_columns(header, cells):
    result = parse_sequences(f">{header}\nACGT\n", ReadOptions())
    assert result.names == ["name", "T", "seed", "sequence"]
    assert result.rows == [[*cells, "ACGT"]]


def test_headers_with_keys_can_group_sequences():
    text = "".join(f">T=0.{i // 2}, sample={i}\nMKVL\n" for i in range(4))
    result = read_data("a.fa", text.encode(), ReadOptions(group_by="T"))
    assert [*result.groups] == ["0.0", "0.0", "0.1", "0.1"]
    assert "left out: name, sample" in result.taken


NATIVE = ">1ABC, score=1.5, chains=['A']\nMKVL\n"
DESIGNS = ">T=0.1, sample=1, score=0.8\nMKIL\n>T=0.1, sample=2, score=0.7\nMKAL\n"


def test_native_sequence_in_proteinmpnn_output_is_dropped():
    result = read_data("a.fa", (NATIVE + DESIGNS).encode(), ReadOptions())
    assert result.values == ["MKIL", "MKAL"]
    assert "the sequence of line 1 is left out, as it has no T, sample" in result.taken
    for text in (DESIGNS, DESIGNS + NATIVE, NATIVE.replace(", chains=['A']", "") + DESIGNS):
        assert len(read_data("a.fa", text.encode(), ReadOptions())) == text.count(">")
