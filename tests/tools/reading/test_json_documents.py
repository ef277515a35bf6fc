"""JSON lines up to the limit of samples, documents of several lines, pairs and turns."""

import json

import pytest

from vendiscore.report import Limits, ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.json_documents import parse_document, parse_json_lines

LONG = json.dumps({"answer": "a cat"}, indent=1) + "\n" + json.dumps({"answer": "x"}, indent=1)


def test_lines_beyond_limit_are_not_parsed():
    options = ReadOptions(limits=Limits(samples=2))
    result = parse_json_lines('"a"\n\n"b"\n{\n"c"', options)
    assert (result.rows, result.places, result.problems) == ([["a"], ["b"]], [1, 3], {})
    assert result.more
    assert parse_document('["a", "b", 3]', options).rows == result.rows
    assert not parse_json_lines('"a"\n"b"', options).more


@pytest.mark.parametrize("between", ["\n", "\n\n", ",\n"])
@pytest.mark.parametrize("indent", [0, 2])
def test_documents_of_several_lines_are_records(between, indent):
    values = [{"answer": "a cat", "of": [1, {"x": "y"}]}, {"answer": "a dog", "of": []}]
    text = between.join(json.dumps(value, indent=indent) for value in values) + "\n"
    for read in (parse_json_lines, parse_document):
        result = read(text, ReadOptions())
        assert [row[0] for row in result.rows] == ["a cat", "a dog"]
        first = json.dumps(values[0], indent=indent)
        assert list(result.places) == [1, (first + between).count("\n") + 1]
        assert result.origin[0] == first


def test_document_of_several_lines_in_json_lines_file_is_read():
    assert parse_json_lines('[\n"a",\n"b"]', ReadOptions()).rows == [["a"], ["b"]]


def test_damaged_documents_of_several_lines_are_located():
    with pytest.raises(RefusedError) as caught:
        parse_json_lines(LONG + '\n{"answer":\n}', ReadOptions())
    assert caught.value.place == "line 8, column 1"
    damaged_first_line = parse_json_lines('{"answer": "a",\n{"answer": "b"}\n', ReadOptions())
    assert [*damaged_first_line.problems] == [0]
    assert damaged_first_line.rows == [[None], ["b"]]


def test_documents_beyond_limit_are_not_kept():
    result = parse_json_lines(LONG, ReadOptions(limits=Limits(samples=1)))
    assert result.more
    assert result.rows == [["a cat"]]


def read_records(*values):
    return read_data("a.jsonl", "\n".join(map(json.dumps, values)).encode(), ReadOptions())


def test_parallel_lists_of_prompts_and_answers_are_pairs():
    first = {"prompts": ["p", "q"], "answers": ["a cat", "a dog"], "rewards": [1, 2], "step": 1}
    result = read_records(first, first | {"answers": ["a cow", "an owl"], "step": 2})
    assert result.values == ["a cat", "a dog", "a cow", "an owl"]
    assert [*result.groups] == ["p", "q", "p", "q"]
    assert [*result.places] == [1, 1, 2, 2]
    assert (
        json.loads(parse_json_lines(json.dumps(first), ReadOptions()).origin[1])["answers"]
        == "a dog"
    )


def test_lists_of_answers_to_parallel_prompts_are_groups():
    result = read_records({"prompts": ["p", "q"], "answers": [["a b", "c d"], ["e f", "g h"]]})
    assert [*result.groups] == ["p", "p", "q", "q"]


def test_lists_of_other_lengths_are_not_pairs():
    prompt = {"prompt": "p", "generations": ["a b", "c d"], "partition": [0, 1]}
    assert len({*read_records(prompt, prompt | {"prompt": "q"}).groups}) == 2


def test_turns_of_answers_are_groups():
    answers = [
        {"question_id": i, "model_id": "m", "choices": [{"turns": [f"first {i}", f"second {i}"]}]}
        for i in range(3)
    ]
    result = read_records(*answers)
    assert result.values[:2] == ["first 0", "second 0"]
    assert [*result.groups] == ["turn 1", "turn 2"] * 3
    again = read_records(*answers, *answers)
    assert [*again.groups][:2] == ["0, turn 1", "0, turn 2"]
    assert len({*again.groups}) == 6


def test_array_of_conversations_is_read():
    turns = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so it is"}]
    result = parse_document(json.dumps([turns, turns]), ReadOptions())
    assert result.names == ["messages"]
