"""Lines of text become samples; separator lines do not, and blocks of lines are ambiguous."""

import pytest

from vendiscore.tools.reading.limits import AskError, ReadOptions
from vendiscore.tools.reading.text_fields import is_rule
from vendiscore.tools.reading.text_lines import iter_parts, take_line_samples

POEM = "a\nb\n\nc\nd\n\ne\nf\n"


def read_lines(text, molecules=False, **options):
    return take_line_samples(text, ReadOptions(**options), molecules)


def test_lines_are_samples_and_blank_lines_are_dropped():
    result = read_lines("a\r\n\nb c\r  \nd")
    assert (result.values, result.places) == (["a", "b c", "d"], [1, 3, 5])
    assert result.kind == "texts"
    assert result.place(1) == "line 3"
    assert any("2 blank line" in note for note in result.above)
    assert not read_lines("a\nb\n").above


def test_text_in_blocks_is_ambiguous():
    with pytest.raises(AskError, match="Is each line a text") as caught:
        read_lines(POEM)
    assert [options for _, options in caught.value.choices] == [
        {"split": "blank"},
        {"split": "row"},
    ]
    assert read_lines(POEM, split="row").values == list("abcdef")
    assert read_lines(POEM, split="blank").values == ["a\nb", "c\nd", "e\nf"]
    assert read_lines(POEM, split="blank").places == [1, 4, 7]
    assert read_lines(POEM, kind="values").values == list("abcdef")


@pytest.mark.parametrize(
    "text",
    ["a\nb\n\nc\nd\n", "a\n\nb\n\nc\n\nd\ne\n", "a\nb\nc\n", "a\nb\n\nc\nd\n\ne\n\nf\n\ng"],
    ids=["two blocks", "single lines", "no blank line", "few blocks of several lines"],
)
def test_text_without_many_blocks_is_split_into_lines(text):
    assert read_lines(text).values == [line for line in text.split("\n") if line]


def test_split_separates_texts_and_keeps_empty_texts():
    result = read_lines("a\nb\n---\n---\nc\n---\n", split="---")
    assert result.values == ["a\nb", "", "c"]
    assert result.places == [1, 4, 5]
    assert read_lines("a\n \n\n\nb\n", split="blank").values == ["a", "b"]


def test_separator_that_does_not_occur_is_reported():
    assert read_lines("a\nb\n", split="===").above == ["no line equals the separator '==='"]
    assert not read_lines("a\n===\nb\n", split="===").above
    assert not read_lines("a\nb\n", split="blank").above


@pytest.mark.parametrize(
    ("text", "split", "indices", "expected"),
    [
        ("a\nb\nc\n", "", [2, 0], "c\na\n"),
        (POEM, "blank", [1, 0], "c\nd\n\na\nb\n"),
        ("a\n--\nb\n", "--", [1, 0], "b\n--\na\n"),
        ("a\n", "", [], ""),
    ],
)
def test_selected_samples_are_written_in_format_of_file(text, split, indices, expected):
    assert read_lines(text, split=split).written(indices) == expected


def test_molecules_are_first_words_of_lines():
    result = read_lines(
        "smiles name\n# a comment\nCCO ethanol\nc1ccccc1\tbenzene\n", molecules=True
    )
    assert (result.values, result.places) == (["CCO", "c1ccccc1"], [3, 4])
    assert result.kind == "molecules"
    assert [*result.above] == ["line 1 is above the molecules"]
    assert result.written([1, 0]) == "c1ccccc1\tbenzene\nCCO ethanol\n"
    assert read_lines("CCO\nCC\n", molecules=True).above == []


def test_parts_returns_number_of_first_line():
    assert list(iter_parts(["", "a", "", "", "b"], lambda row: not row)) == [
        (1, []),
        (2, ["a"]),
        (4, []),
        (5, ["b"]),
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("---", True),
        ("  ======  ", True),
        ("***", True),
        ("--", False),
        ("-=-=-", False),
        ("???", False),
        ("- - -", False),
        ("aaa", False),
        ("-" * 80_000, False),
    ],
)
def test_rules_repeat_one_character(row, expected):
    assert is_rule(row) is expected


@pytest.mark.parametrize("text", ["a\n---\nb\n===\nc\n", "---\na\nb\n---\n\nc\n---\n"])
def test_separators_of_single_lines_are_dropped(text):
    if text.startswith("-"):
        text = text.replace("a\nb", "a\n---\nb")
    result = read_lines(text)
    assert result.values == list("abc")
    assert "separator line" in result.taken
    assert "---" in result.taken
    assert read_lines(text, split="row").values == list("abc")
    assert read_lines(text, kind="values").values.count("---") == text.count("---")


def test_parts_of_several_lines_between_separators_are_texts():
    text = "=====\na\nb\n=====\nc\n\nd\n=====\ne\n"
    result = read_lines(text)
    assert result.values == ["a\nb", "c\n\nd", "e"]
    assert result.places == [2, 5, 9]
    assert "the texts are the parts between lines of =====" in result.taken
    assert result.written([2, 0]) == "e\n=====\na\nb\n"
    assert read_lines(text, split="row").values == list("abcde")


@pytest.mark.parametrize(
    ("text", "splits"),
    [
        ("Title\n=====\na\nb\n", ["=====", "row"]),
        ("a\nb\n---\nc\nd\n***\ne\n---\nf\n", ["---", "***", "row"]),
    ],
    ids=["once", "several kinds"],
)
def test_separators_that_may_not_separate_texts_are_a_question(text, splits):
    with pytest.raises(AskError, match="each part between lines of") as caught:
        read_lines(text)
    assert [options["split"] for _, options in caught.value.choices] == splits
    for split in splits:
        assert len(read_lines(text, split=split)) > 1


def test_lines_of_smiles_are_molecules():
    result = read_lines("CCO ethanol\nc1ccccc1\nCC(=O)O\nCC=O\n")
    assert (result.kind, result.values[0]) == ("molecules", "CCO")
    assert read_lines("CCO\nC=C\n", type="txt").kind == "texts"
    assert read_lines("CCO\nC=C\n", kind="texts").kind == "texts"
    assert read_lines("hello\nyou\n", kind="molecules").kind == "molecules"


@pytest.mark.parametrize("invalid", [1, 2, 3])
def test_smiles_with_up_to_half_of_invalid_lines_are_a_question(invalid):
    text = "CCO\nc1ccccc1\nCC(=O)O\n" + "CC(=O\n" * invalid
    with pytest.raises(AskError, match="SMILES") as caught:
        read_lines(text)
    assert [options for _, options in caught.value.choices] == [{"type": "smi"}, {"type": "txt"}]
    assert read_lines(text + "CC(=O\n" * 4).kind == "texts"


def test_many_different_separators_are_read_in_linear_time():
    rows = ["-" * (3 + i % 190) for i in range(20_000)]
    assert len(read_lines("\na\n".join(rows))) == 19_999
