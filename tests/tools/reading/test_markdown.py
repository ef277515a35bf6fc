"""Items of lists and rows of tables in Markdown are read without their marks."""

import pytest

import vendiscore
from vendiscore.report import ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.markdown import convert_table, find_table, is_list

ITEMS = ["apple", "banana", "apple"]


@pytest.mark.parametrize("mark", ["- ", "* ", "• ", "- [ ] ", "- [x] ", "{}. ", "{}) "])
def test_list_items_have_no_marks(mark):
    lines = [mark.format(i) + item for i, item in enumerate(ITEMS, 1)]
    samples = read_data("a.txt", "\n".join(lines).encode(), ReadOptions(type="list"))
    assert is_list(lines)
    assert list(samples.values) == ITEMS
    assert list(samples.places) == [1, 2, 3]


def test_lines_outside_of_list_are_left_out_and_counted():
    text = b"Ideas:\n\n1. a cat\n2. a dog\n   in a park\n\nMore?\n"
    samples = read_data("a.txt", text, ReadOptions(type="list"))
    assert list(samples.values) == ["a cat", "a dog\nin a park"]
    assert "2 lines outside of the list are left out" in samples.taken


@pytest.mark.parametrize(
    "lines",
    [
        ["1. a", "2. b"],
        ["- a", "* b", "- c"],
        ["7. a", "2. b", "9. c"],
        ["- a", "- b", "- c", "d", "e", "f", "g"],
        ["1.5 a", "2.5 b", "3.5 c"],
        ["-a", "-b", "-c"],
    ],
)
def test_other_lines_are_no_list(lines):
    assert not is_list(lines)


def test_lists_that_begin_again_are_lists():
    assert is_list(["1. a", "2. b", "1. c", "2. d"])


def test_text_without_items_raises_error():
    with pytest.raises(RefusedError, match="no line begins with a mark"):
        read_data("a.txt", b"a cat\na dog\n", ReadOptions(type="list"))


@pytest.mark.parametrize(
    "text",
    [
        "| id | answer |\n|---|:---|\n| 1 | a \\| b |\n| 2 | c, d |\n",
        "# Answers\n\nid | answer\n---|---\n1 | a \\| b\n2 | c, d\n\nEnd.\n",
        "+----+-------+\n| id | answer |\n+====+=======+\n| 1 | a \\| b |\n+----+------+\n"
        "| 2 | c, d |\n+----+-------+\n",
    ],
)
def test_rows_of_table_are_cells(text):
    samples = read_data("a.md", text.encode(), ReadOptions(type="csv"))
    assert list(samples.values) == ["a | b", "c, d"]


@pytest.mark.parametrize(
    "text",
    ["a|b\n1|2\n", "a\n---\nb\n", "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n", "---|---\n"],
)
def test_other_text_is_not_converted(text):
    assert not find_table(text.split("\n"))
    assert convert_table(text) == text


def test_read_accepts_type_list(tmp_path):
    path = tmp_path / "fruits.txt"
    path.write_text("1. apple\n2. banana\n3. apple\n")
    assert vendiscore.read(path, type="list").samples == ITEMS


@pytest.mark.parametrize("lines", [["--|--"] * 100_000, [" " * 1_000_000], ["- "] * 100_000])
def test_many_or_long_lines_without_cells_are_no_table(lines):
    """A quadratic algorithm would take hours."""
    assert not find_table(lines)
    assert not is_list(lines)
