"""Values of records at paths, and the last text of a speaker in a chat."""

import json

import pytest

from vendiscore.report import ReadOptions, read_data
from vendiscore.tools.reading.records import answers_in, known_record, last_turn, paths, value_at

PARTS = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
CHAT = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "why?"},
    {"role": "assistant", "content": PARTS},
    {"role": "user", "content": "and?"},
]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("a.c", None),
        ("a.b.c", None),
        ("list[0].x", "u"),
        ("list[-1].x", "v"),
        ("list[2].x", None),
        ("list[*].x", ["u", "v"]),
        ("list[*].y", [None, None]),
        ("a[*].b", []),
        ("chat.user", "and?"),
        ("chat[0].content", "be brief"),
    ],
)
def test_value_at_returns_value_of_path(path, value):
    record = {"a": {"b": 1}, "list": [{"x": "u"}, {"x": "v"}], "chat": CHAT}
    assert value_at(record, path) == value


def test_paths_returns_paths_of_texts():
    record = {"a": {"b": "u"}, "c": [{"d": "v", "n": 1}, {"d": "w"}], "e": ["x", "y"], "n": 2}
    assert {path: value_at(record, path) for path in paths(record)} == {
        "a.b": "u",
        "c[*].d": ["v", "w"],
        "e": ["x", "y"],
    }


def test_paths_ignores_deeply_nested_values():
    value = "u"
    for _ in range(100):
        value = {"a": value}
    assert list(paths(value)) == []


def test_last_turn_joins_text_parts():
    assert last_turn(CHAT, "assistant") == "one\ntwo"
    assert last_turn(CHAT, "user") == "and?"
    assert answers_in(CHAT) == "one\ntwo"


def test_chat_without_answer_returns_none():
    chat = [{"from": "human", "value": "why?"}]
    assert last_turn(chat, "assistant") is None
    assert answers_in(chat) is None
    assert answers_in([*chat, {"from": "gpt", "value": ""}]) is None


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("u", "u"),
        (None, None),
        ([], []),
        (["u"], "u"),
        (["u", "v"], ["u", "v"]),
        ([["u", "v"], ["w"]], ["u", "v", "w"]),
        ({"generated_text": "u"}, "u"),
        ({"message": {"content": "u"}}, "u"),
        ([{"text": "u"}, {"text": "v"}], ["u", "v"]),
        ({"score": 1}, None),
        (PARTS, "one\ntwo"),
    ],
)
def test_answers_in_returns_answers_of_cell(cell, answers):
    assert answers_in(cell) == answers


def test_generations_are_read_and_number_lists_are_ignored():
    lines = [
        {"id": "c-1", "prompt": "why?", "generations": ["a cat", "a dog"], "partition": [0, 1]},
        {"id": "c-2", "prompt": "how?", "generations": ["a cow", "a cow"], "partition": [0, 0]},
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    result = read_data("scores.jsonl", data, ReadOptions())
    assert result.values == ["a cat", "a dog", "a cow", "a cow"]
    assert len({*result.groups}) == 2


def build_turns(answer=None, speaker="role", text="content"):
    turns = [{speaker: "user", text: "why?"}]
    return turns + [{speaker: "assistant", text: answer}] * bool(answer)


@pytest.mark.parametrize(("speaker", "text"), [("role", "parts"), ("speaker", "text")])
def test_only_conversation_of_record_holds_prompt_and_answer(speaker, text):
    answer = [{"text": "so"}] if text == "parts" else "so"
    record = {"id": 1, "dialog": build_turns(answer, speaker, text)}
    known = known_record(record)
    assert value_at(record, known.answers) == "so"
    assert value_at(record, known.prompt) == "why?"


def test_answered_conversation_is_preferred():
    record = {"question": build_turns(), "chat": build_turns("so")}
    assert known_record(record).answers == "chat.assistant"
    record["question"] = build_turns("no")
    assert known_record(record) is None


def test_answer_beside_unanswered_conversation_is_read():
    known = known_record({"messages": build_turns(), "response": "so"})
    assert (known.answers, known.prompt) == ("response", "messages")
    assert known_record({"messages": build_turns("so"), "response": "so"}) is None
