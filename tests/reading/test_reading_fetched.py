"""Shapes of files that people have published: each is read as a person would, or asks."""

import json

import pytest

from vendiscore.report import AskError, Wanted, read_data


def lines(*records: object) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


def choices(name: str, data: bytes) -> list[dict[str, object]]:
    with pytest.raises(AskError) as asked:
        read_data(name, data, Wanted())
    return [fields for _, fields in asked.value.choices]


def test_ids_of_tasks_that_repeat_group_their_answers():
    answers = [
        {"task_id": f"task/{i // 3}", "solution": f"return the number {i}"} for i in range(12)
    ]
    found = read_data("samples.jsonl", lines(*answers), Wanted())
    assert found.grouping["groups"] == "task_id"
    assert len(set(found.groups)) == 4


def test_ids_of_one_answer_each_group_nothing():
    answers = [{"task_id": i, "solution": f"return the number {i}"} for i in range(12)]
    assert not read_data("samples.jsonl", lines(*answers), Wanted()).groups


def test_a_list_of_generations_is_taken_beside_its_partition():
    record = {"id": "a", "prompt": "Say a word", "model": "m"}
    both = [
        record | {"generations": ["a cat", "a dog"], "partition": [0, 1]},
        record | {"prompt": "Another", "generations": ["a fox", "a fox"], "partition": [0, 0]},
    ]
    found = read_data("scores.jsonl", lines(*both), Wanted())
    assert (found.record, len(found), len(set(found.groups))) == ("NoveltyBench", 4, 2)


def test_words_beside_columns_of_numbers_are_a_question():
    header = "mpg,weight,model_year,origin,name"
    rows = [f"{10 + i / 7:.1f},{3000 + 9 * i},{70 + i % 3},usa,a car of {i}" for i in range(12)]
    asked = choices("cars.csv", "\n".join([header, *rows]).encode())
    assert {"column": "origin"} in asked
    assert {"kind": "vectors"} in asked


def test_a_column_that_counts_is_no_feature_whatever_its_name():
    rows = [f"{i},{i * i % 7},{i * 3 % 5}" for i in range(1, 9)]
    table = "\n".join(["subject,first,second", *rows]).encode()
    found = read_data("table.csv", table, Wanted())
    assert list(found.features) == ["first", "second"]
    assert found.lost == {"subject": "it numbers the rows"}
    kept = read_data("table.csv", table, Wanted(index=False))
    assert list(kept.features) == ["subject", "first", "second"]


@pytest.mark.parametrize("name", ["temperature", "model"])
def test_numbers_that_generation_was_set_to_are_a_question(name):
    answers = [{name: i % 3, "response": f"an answer of words {i}"} for i in range(12)]
    assert choices("runs.jsonl", lines(*answers)) == [{"group_by": name}, {"pool": True}]


@pytest.mark.parametrize("sign", [",", "\t"])
def test_a_table_in_a_file_of_text_is_a_question(sign):
    text = "\n".join([f"idx{sign}smiles", *(f"{i}{sign}{'C' * i}" for i in range(1, 9))]).encode()
    assert choices("molecules.txt", text) == [{"type": "csv"}, {"type": "txt"}]
    assert read_data("molecules.txt", text, Wanted(type="csv")).kind == "molecules"
    assert len(read_data("molecules.txt", text, Wanted(type="txt"))) == 9


def test_sentences_with_commas_are_no_table():
    text = b"First, a cat sat down.\nThen, a dog ran.\nLast, both slept.\n"
    assert len(read_data("story.txt", text, Wanted())) == 3


def test_lines_of_json_in_a_file_named_json_are_read():
    answers = lines({"answer": "a cat sat"}, {"answer": "a dog ran"})
    assert read_data("answers.json", answers, Wanted()).values == ["a cat sat", "a dog ran"]


def test_rows_split_by_tabs_below_a_line_of_one_cell_are_a_question():
    text = b"#simple score\nT5.5\n1.5\t0.1\t-1\n0.4\t0.3\t0.2\n==1==\n0.1\t0.2\t0.3\n2\t3\t4\n"
    assert choices("scores.csv", text) == [{"separator": "line"}]
