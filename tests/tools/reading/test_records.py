"""Values of records at paths, and the last text of a speaker in a chat."""

import json

import pytest

from vendiscore.report import ReadOptions, read_data
from vendiscore.tools.reading.records import (
    detect_record_format,
    extract_answers,
    get_last_turn,
    get_value_at,
    iter_paths,
)

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
    assert get_value_at(record, path) == value


def test_paths_returns_paths_of_texts():
    record = {"a": {"b": "u"}, "c": [{"d": "v", "n": 1}, {"d": "w"}], "e": ["x", "y"], "n": 2}
    assert {path: get_value_at(record, path) for path in iter_paths(record)} == {
        "a.b": "u",
        "c[*].d": ["v", "w"],
        "e": ["x", "y"],
    }


def test_paths_ignores_deeply_nested_values():
    value = "u"
    for _ in range(100):
        value = {"a": value}
    assert list(iter_paths(value)) == []


def test_last_turn_joins_text_parts():
    assert get_last_turn(CHAT, "assistant") == "one\ntwo"
    assert get_last_turn(CHAT, "user") == "and?"
    assert extract_answers(CHAT) == "one\ntwo"


def test_chat_without_answer_returns_none():
    chat = [{"from": "human", "value": "why?"}]
    assert get_last_turn(chat, "assistant") is None
    assert extract_answers(chat) is None
    assert extract_answers([*chat, {"from": "gpt", "value": ""}]) is None


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
    assert extract_answers(cell) == answers


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
    known = detect_record_format(record)
    assert get_value_at(record, known.answers) == "so"
    assert get_value_at(record, known.prompt) == "why?"


def test_answered_conversation_is_preferred():
    record = {"question": build_turns(), "chat": build_turns("so")}
    assert detect_record_format(record).answers == "chat.assistant"
    record["question"] = build_turns("no")
    assert detect_record_format(record) is None


def test_answer_beside_unanswered_conversation_is_read():
    known = detect_record_format({"messages": build_turns(), "response": "so"})
    assert (known.answers, known.prompt) == ("response", "messages")
    assert detect_record_format({"messages": build_turns("so"), "response": "so"}) is None
