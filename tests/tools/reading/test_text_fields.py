"""Lines "Name: text" become columns, with their continuations and without what separates them."""

import pytest

import vendiscore
from vendiscore.report import ReadOptions, RefusedError
from vendiscore.tools.reading.text_fields import find_candidate_names, parse_fields

CHAT = """Chat of Monday
You: hello there
PyBot: Hello!
How can I help?
You: tell me: why?
PyBot: Because.
PyBot: Anything else?
=====
You: bye
"""


def read(text, column=None):
    return parse_fields(text, ReadOptions(column=column))


def test_texts_have_continuations_and_end_at_separators():
    table = read(CHAT)
    assert table.above == ["1 line above the first name is left out"]
    assert table.names == ["You", "PyBot"]
    assert table.rows == [
        ["hello there", "Hello!\nHow can I help?"],
        ["tell me: why?", "Because."],
        ["", "Anything else?"],
        ["bye", ""],
    ]
    assert [*table.places] == [2, 5, 7, 9]


@pytest.mark.parametrize("column", ["You", "PyBot"])
def test_rows_without_named_column_are_left_out(column):
    texts = read(CHAT, column).column(column)
    assert len(texts) == 3
    assert all(texts)


@pytest.mark.parametrize("start", ["- ", "* **", "[10:02] ", "2024-01-02, 10:02: ", "> ", "**"])
def test_marks_before_names_are_ignored(start):
    end = "**" if "**" in start else ""
    lines = [f"{start}{name}:{end} {text}" for name, text in [("Ann", "a b"), ("Bob", "c d")] * 2]
    assert read("\n".join(lines)).rows == [["a b", "c d"]] * 2


def test_answers_belong_to_question_above_them():
    text = "Bot: Welcome.\nUser: the first?\nBot: one\nUser: the second?\n----\nBot: Again.\n"
    table = read(text, "Bot")
    assert table.names == ["User", "Bot"]
    assert table.rows == [["", "Welcome."], ["the first?", "one"], ["", "Again."]]
    assert [*table.places] == [1, 3, 6]


def test_separators_and_rare_names_within_a_text_are_kept():
    answer = "Two cities:\nParis: in France\n---\nParis: of light\nBye."
    lines = [f"User: number {i}\nBot: {answer if i == 1 else 'short'}" for i in range(6)]
    assert read("\n".join(lines), "Bot").column("Bot")[1] == answer


def test_more_than_100_names_are_refused():
    lines = [f"name {a}{b}: text\n" * 2 for a in "abcdefghijk" for b in "abcdefghij"]
    with pytest.raises(RefusedError, match=r"110 names begin its lines, more than 100"):
        read("".join(lines))


def test_text_without_repeated_names_is_refused():
    with pytest.raises(RefusedError, match="no lines “Name: text” whose names occur several times"):
        read("Note: a cat sat\nhttp://a.b\n10:02 a dog ran\n")


def test_output_comes_before_other_names_users_and_repetitions():
    texts = {"ID": "kx", "User": "hi you", "Mood": "fine", "Text": "it rains", "Bot": "hello you"}
    lines = [
        f"{name}: {text}{'' if name == 'Mood' else ' aab'[: i + 2]}"
        for i in range(3)
        for name, text in texts.items()
    ]
    assert find_candidate_names(lines) == ["Bot", "Text", "User", "Mood", "ID"]


def test_single_name_is_no_chat():
    assert find_candidate_names(["Note: a b", "Note: c d"]) == []


def test_command_of_question_scores_texts_of_one_speaker(tmp_path):
    path = tmp_path / "chat.txt"
    path.write_text(CHAT, encoding="utf-8")
    with pytest.raises(vendiscore.AmbiguousInputError, match="texts of one of them") as caught:
        vendiscore.read(path)
    assert "type='fields', column='PyBot'" in str(caught.value).splitlines()[1]
    samples = vendiscore.read(path, type="fields", column="PyBot").samples
    assert [*samples] == ["Hello!\nHow can I help?", "Because.", "Anything else?"]
