"""Text files are read as lines, vectors or word vectors, or are ambiguous."""

import numpy as np
import pytest

from vendiscore.report import AskError, ReadOptions, read_data

POEMS = "the old pond\na frog leaps in\n\nfirst snow\nno tracks yet\n\nlate bus\nall seats wet\n"


@pytest.mark.parametrize(
    ("text", "kind", "n"),
    [
        ("1 2.5\n3 4.5\n", "vectors", 2),
        ("# two rows\n1,2.5\n3,4.5\n", "vectors", 2),
        ("the 0.5 1.5\nto 2.5 -1\n, 1 2\n", "vectors", 3),
        ("a cat 1\na dog 2\n", "texts", 2),
        ("a cat\tand\na dog\n", "texts", 2),
        ("the 0.5 1.5\n", "texts", 1),
        ("\n", "texts", 0),
    ],
)
def test_sample_type_of_lines_is_detected(text, kind, n):
    result = read_data("a.txt", text.encode(), ReadOptions())
    assert (result.kind, len(result)) == (kind, n)


def test_words_of_word_vectors_are_dropped():
    result = read_data("glove.txt", b"the 0.5 1.5\nto 2.5 -1\n", ReadOptions())
    assert result.left_out == ["name"]
    np.testing.assert_array_equal(result.values, [[0.5, 1.5], [2.5, -1]])


def test_tab_separated_distances_are_ambiguous():
    data = b"\tf1\tf2\nf1\t0.0\t0.25\nf2\t0.25\t0.0\n"
    with pytest.raises(AskError, match="Is this a table") as caught:
        read_data("unifrac.txt", data, ReadOptions())
    (_, options), _ = caught.value.choices
    with pytest.raises(AskError, match="distances"):
        read_data("unifrac.txt", data, ReadOptions(**options))


@pytest.mark.parametrize(
    "comment", ["", "# Pairs of words\n", "# Pairs\n# Word 1\tWord 2\tHuman\n"]
)
def test_tab_separated_words_are_ambiguous(comment):
    with pytest.raises(AskError, match="Is this a table"):
        read_data("pairs.txt", f"{comment}old\tnew\t1.5\nhard\teasy\t0.5\n".encode(), ReadOptions())


@pytest.mark.parametrize("options", [ReadOptions(type="txt"), ReadOptions(split="row")])
def test_type_and_split_options_read_lines_as_texts(options):
    result = read_data("pairs.txt", b"old\tnew\t1.5\nhard\teasy\t0.5\n", options)
    assert result.values == ["old\tnew\t1.5", "hard\teasy\t0.5"]


def test_blocks_of_lines_are_ambiguous():
    with pytest.raises(AskError, match="each line a text") as caught:
        read_data("poems.txt", POEMS.encode(), ReadOptions())
    block_options, line_options = (ReadOptions(**options) for _, options in caught.value.choices)
    assert len(read_data("poems.txt", POEMS.encode(), line_options)) == 6
    assert (
        read_data("poems.txt", POEMS.encode(), block_options).values[0]
        == "the old pond\na frog leaps in"
    )


@pytest.mark.parametrize("text", ["a cat\n\na dog\n\na cow\n", "a\nb\n\nc\nd\n", "a\nb\nc\n"])
def test_lines_without_many_blocks_are_texts(text):
    result = read_data("lines.txt", text.encode(), ReadOptions())
    assert len(result) == len([line for line in text.split("\n") if line])


def test_nested_lists_are_groups_unless_pooled():
    data = b'[["a cat", "a dog"], ["a cow", "a cow"]]'
    grouped, pooled = (read_data("a.json", data, ReadOptions(pool=pool)) for pool in (False, True))
    assert grouped.values == pooled.values == ["a cat", "a dog", "a cow", "a cow"]
    assert [len({*grouped.groups}), len({*pooled.groups})] == [2, 0]


def test_numeric_columns_are_offered_besides_texts():
    table = b"Q1,Q2,first,second\n1,2,so so,a bit\n2,4,not so,a lot\n"
    with pytest.raises(AskError) as caught:
        read_data("survey.csv", table, ReadOptions())
    *_, (_, options) = caught.value.choices
    assert read_data("survey.csv", table, ReadOptions(**options)).features == ["Q1", "Q2"]


@pytest.mark.parametrize("name", ["SEQUENCE", "seq", "protein_sequence"])
def test_letters_in_sequence_column_are_sequences(name):
    result = read_data(
        "a.csv", f"accession,{name}\nQ6GZX4,MAFSAEDV\nQ6,MSIIGA\n".encode(), ReadOptions()
    )
    assert (result.kind, result.column, result.values) == (
        "sequences",
        name,
        ["MAFSAEDV", "MSIIGA"],
    )


def test_prose_in_sequence_column_is_text():
    result = read_data("a.csv", b"id,sequence\n1,a cat sat\n2,a dog ran\n", ReadOptions())
    assert result.kind == "texts"
