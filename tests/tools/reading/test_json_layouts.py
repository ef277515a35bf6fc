"""Layouts of JSON documents: keys name records, columns or groups, or are a question."""

import json

import pytest

from vendiscore.report import AskError, ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.json_layouts import extract_rows

Q = "Why is the sky blue?"
R = "How do birds find home?"


def read_json(document, **options):
    return read_data("a.json", json.dumps(document).encode(), ReadOptions(**options))


def offered(document):
    with pytest.raises(AskError) as caught:
        extract_rows(document)
    return [options["type"] for _, options in caught.value.choices]


@pytest.mark.parametrize(
    ("document", "keys"),
    [
        ({"q17": {"prompt": Q, "answer": "a"}, "q18": {"prompt": R, "answer": "b"}}, "q17 q18"),
        ({"question_1": {"prompt": Q, "answer": "a"}, "question_2": {"answer": "b"}}, None),
        ({Q: {"answer": "a", "score": 1}, R: {"answer": "b", "score": 2}}, None),
        ({"x": {"y": "a", "score": 1}, "z": {"y": "b", "score": 2}}, "x z"),
        ({"0": {"y": "a"}, "1": {"y": "b"}}, "0 1"),
        ({"model": "m", "results": {"x": {"answer": "a"}, "z": {"answer": "b"}}}, "x z"),
    ],
    ids=["named keys", "keys not in common", "sentences", "types", "numbers", "nested"],
)
def test_objects_of_records_are_rows_with_their_key(document, keys):
    rows = extract_rows(document).values
    assert [row.get("answer", row.get("y")) for row in rows] == ["a", "b"]
    if keys:
        assert [row["key"] for row in rows] == keys.split()


@pytest.mark.parametrize(
    "document",
    [
        {"answer": {"0": "a", "1": "b"}},
        {"id": {"0": 5, "1": 6}, "answer": {"0": "a", "1": "b"}},
        {"first": {"3": 5, "7": 6}, "answer": {"3": "a", "7": "b"}},
        {"first": {"x": 5, "y": 6}, "answer": {"x": "a", "y": "b"}},
        {"prompt": {"x": Q, "y": R}, "answer": {"x": "a", "y": "b"}},
        {"prompt": [Q, R], "answer": ["a", "b"]},
        {"prompt": [Q, R], "answer": ["a", "b"], "model": "m"},
        {"columns": ["id", "answer"], "index": [0, 1], "data": [[1, "a"], [2, "b"]]},
        [["id", "answer"], [1, "a"], [2, "b"]],
    ],
    ids=["one", "index", "rest of an index", "types", "names", "lists", "value", "split", "rows"],
)
def test_columns_are_detected(document):
    rows = extract_rows(document).values
    assert [row["answer"] for row in rows] == ["a", "b"]
    assert "key" not in rows[0]
    assert extract_rows(document).group == ""


@pytest.mark.parametrize(
    "document",
    [
        {"cat": ["a a", "a b"], "dog": ["a c"]},
        {Q: ["a a", "a b"], R: ["a c", "a d"]},
        {"prompt A": ["a a", "a b"], "prompt B": ["a c"]},
        {"cat": [{"text": "a a"}, {"text": "a b"}], "dog": [{"text": "a c"}, {"text": "a d"}]},
    ],
    ids=["lengths", "sentences", "prompts", "records"],
)
def test_objects_of_lists_are_groups(document):
    result = read_json(document)
    assert result.values[:3] == ["a a", "a b", "a c"]
    assert list(dict.fromkeys(result.groups)) == list(document)
    assert result.grouping["groups"] == "group"


def test_lists_of_one_sample_are_pooled():
    assert not read_json({Q: ["a cat"], R: ["a dog"], "When?": ["an owl"]}).groups


def test_texts_with_keys_are_samples_unless_keys_name_columns():
    assert read_json({"01.jpg": "a cat sat", "02.jpg": "a dog ran"}).values[1] == "a dog ran"
    with pytest.raises(RefusedError, match="name, version"):
        read_json({"name": "a cat sat", "version": "a dog ran"})


@pytest.mark.parametrize(
    ("document", "layouts"),
    [
        ({"cat": ["a", "b"], "dog": ["c", "d"]}, ["groups", "columns"]),
        ({"cat": [1, 2], "dog": [3, 4]}, ["columns", "records"]),
        ({"x": {"y": 1, "z": 2}, "w": {"y": 3, "z": 4}}, ["records", "columns"]),
        ({"x": {"y": "a", "z": "b"}, "w": {"y": "c", "z": "d"}}, ["groups", "records", "columns"]),
        ({"x": {"y": ["a"], "z": ["b"]}, "w": {"y": ["c"], "z": ["d"]}}, None),
    ],
)
def test_keys_that_can_name_several_things_are_a_question(document, layouts):
    types = offered(document)
    if layouts:
        assert types == [f"json-{layout}" for layout in layouts]
    for each in types:  # each answer is a layout of this document
        assert extract_rows(document, each.removeprefix("json-")).values


def test_given_layout_is_used_or_rejected():
    document = {"cat": ["a b", "b c"], "dog": ["c d", "d e"]}
    assert [*read_json(document, type="json-groups").groups] == ["cat", "cat", "dog", "dog"]
    columns = read_json(document, type="json-columns", column="dog")
    assert columns.values == ["c d", "d e"]
    with pytest.raises(RefusedError, match="cannot name records; remove --type json-records"):
        read_json(document, type="json-records")


def test_lists_in_nested_objects_are_groups_named_by_both_keys():
    texts = {"x": ["a cat", "a dog"], "y": ["an owl", "a bee"]}
    document = {"m": texts, "n": texts}
    result = read_json(document, type="json-groups")
    assert len(result) == 8
    assert list(dict.fromkeys(result.groups)) == ["m, x", "m, y", "n, x", "n, y"]
    assert {*read_json(document, type="json-groups", by="key").sets} == {"m", "n"}


def test_single_record_is_read():
    turns = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so it is"}]
    assert read_json({"id": 1, "messages": turns}).values == ["so it is"]
    assert read_json({"prompt": Q, "answer": "so it is"}).values == ["so it is"]


def test_lists_of_samples_beside_other_lists_are_read():
    assert read_json({"samples": ["a cat", "a dog"], "warnings": ["w"]}).values[0] == "a cat"
    viewer = {"features": [{"name": "x"}], "rows": [{"row_idx": 0, "row": {"text": "a cat"}}]}
    assert read_json(viewer).values == ["a cat"]


@pytest.mark.parametrize(
    "document",
    [{}, 1, {"a": 1, "b": "x"}, {"a": {}, "b": {}}, {"prompts": ["a"], "answers": ["b", "c"]}],
)
def test_other_documents_are_rejected(document):
    with pytest.raises(RefusedError, match="Expected an array of texts") as caught:
        extract_rows(document)
    assert not isinstance(caught.value, AskError)
