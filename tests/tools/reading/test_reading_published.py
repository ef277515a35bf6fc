"""Layouts of published files: samples are detected, or the file is ambiguous."""

import json

import pytest

from vendiscore.report import AskError, ReadOptions, RefusedError, read_data


def to_json_lines(*records: object) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


def offered_options(name: str, data: bytes) -> list[dict[str, object]]:
    with pytest.raises(AskError) as caught:
        read_data(name, data, ReadOptions())
    return [options for _, options in caught.value.choices]


def test_repeated_task_ids_group_answers():
    answers = [
        {"task_id": f"task/{i // 3}", "solution": f"return the number {i}"} for i in range(12)
    ]
    result = read_data("samples.jsonl", to_json_lines(*answers), ReadOptions())
    assert result.grouping["groups"] == "task_id"
    assert len(set(result.groups)) == 4


def test_unique_task_ids_do_not_group_answers():
    answers = [{"task_id": i, "solution": f"return the number {i}"} for i in range(12)]
    assert not read_data("samples.jsonl", to_json_lines(*answers), ReadOptions()).groups


def test_generations_are_read_and_partition_is_ignored():
    record = {"id": "a", "prompt": "Say a word", "model": "m"}
    records = [
        record | {"generations": ["a cat", "a dog"], "partition": [0, 1]},
        record | {"prompt": "Another", "generations": ["a fox", "a fox"], "partition": [0, 0]},
    ]
    result = read_data("scores.jsonl", to_json_lines(*records), ReadOptions())
    assert (result.record, len(result), len(set(result.groups))) == ("NoveltyBench", 4, 2)


def test_numeric_columns_with_names_and_categories_are_features():
    header = "mpg,weight,model_year,origin,name"
    rows = [f"{10 + i / 7:.1f},{3000 + 9 * i},{70 + i % 3},usa,a car of {i}" for i in range(12)]
    result = read_data("cars.csv", "\n".join([header, *rows]).encode(), ReadOptions())
    assert list(result.features) == ["mpg", "weight", "model_year"]


def test_row_number_column_is_dropped_unless_index_is_false():
    rows = [f"{i},{i * i % 7},{i * 3 % 5}" for i in range(1, 9)]
    table = "\n".join(["subject,first,second", *rows]).encode()
    result = read_data("table.csv", table, ReadOptions())
    assert list(result.features) == ["first", "second"]
    assert result.lost == {"subject": "it numbers the rows"}
    without_index = read_data("table.csv", table, ReadOptions(index=False))
    assert list(without_index.features) == ["subject", "first", "second"]


@pytest.mark.parametrize("name", ["temperature", "model"])
def test_generation_settings_are_ambiguous_groups(name):
    answers = [{name: i % 3, "response": f"an answer of words {i}"} for i in range(12)]
    assert offered_options("runs.jsonl", to_json_lines(*answers)) == [
        {"group_by": name},
        {"pool": True},
    ]


def test_table_with_tabs_and_names_in_text_file_is_read():
    text = "\n".join(["idx\tsmiles", *(f"{i}\t{'C' * i}" for i in range(1, 9))]).encode()
    samples = read_data("molecules.txt", text, ReadOptions())
    assert (samples.kind, len(samples)) == ("molecules", 8)


def test_table_with_commas_in_text_file_raises_ambiguous_input_error():
    text = "\n".join(["idx,smiles", *(f"{i},{'C' * i}" for i in range(1, 9))]).encode()
    assert offered_options("molecules.txt", text) == [{"type": "csv"}, {"type": "txt"}]
    assert read_data("molecules.txt", text, ReadOptions(type="csv")).kind == "molecules"
    assert len(read_data("molecules.txt", text, ReadOptions(type="txt"))) == 9


def test_tab_separated_table_with_commas_is_ambiguous():
    text = "\n".join(["width x, mm\ta\tb", *(f"0,{i}\t1\t2" for i in range(9))])
    assert offered_options("widths.txt", text.encode()) == [{"type": "csv"}, {"type": "txt"}]


def test_sentences_with_commas_are_texts():
    numbered = "\n".join(f"a red cat, number {i}" for i in range(9)).encode()
    assert len(read_data("cats.txt", numbered, ReadOptions())) == 9
    text = b"First, a cat sat down.\nThen, a dog ran.\nLast, both slept.\n"
    assert len(read_data("story.txt", text, ReadOptions())) == 3


def test_json_lines_in_json_file_are_read():
    answers = to_json_lines({"answer": "a cat sat"}, {"answer": "a dog ran"})
    assert read_data("answers.json", answers, ReadOptions()).values == ["a cat sat", "a dog ran"]


def test_tab_separated_rows_below_title_line_are_ambiguous():
    text = b"#simple score\nT5.5\n1.5\t0.1\t-1\n0.4\t0.3\t0.2\n==1==\n0.1\t0.2\t0.3\n2\t3\t4\n"
    assert offered_options("scores.csv", text) == [{"separator": "line"}]


def test_prose_is_read_next_to_words():
    rows = [f"{'ABCDEFGH'[i]}CM,Association {i} for machines" for i in range(8)]
    result = read_data("a.csv", "\n".join(["Acronym,Title", *rows]).encode(), ReadOptions())
    assert result.column == "Title"


def test_single_prompt_does_not_group_answers():
    rows = [f"Why?,{'ab'[i % 2]},It is so {i}." for i in range(8)]
    result = read_data("a.csv", "\n".join(["prompt,model,response", *rows]).encode(), ReadOptions())
    assert not result.groups
    assert set(result.sets) == {"a", "b"}
    assert "prompt (all answers have the same prompt)" in result.left_out


def test_label_of_each_prompt_is_not_ambiguous():
    rows = [f"Question {i}?,{'ab'[i % 2]},It is as it is {i}." for i in range(8)]
    result = read_data(
        "a.csv", "\n".join(["prompt,emotion,response", *rows]).encode(), ReadOptions()
    )
    assert (result.column, len(result), list(result.groups)) == ("response", 8, [])


def test_judgements_of_answers_are_not_settings():
    rows = [f"Why?,{i % 2 == 0},{'yes' if i % 3 else 'no'},It is so {i}." for i in range(8)]
    table = "\n".join(["prompt,is_funny,long,response", *rows]).encode()
    assert read_data("a.csv", table, ReadOptions()).column == "response"


def test_column_without_name_has_names_of_rows():
    rows = [f"big town {i},{i + 1}.5,{i * i}" for i in range(8)]
    result = read_data("a.csv", "\n".join([",x,y", *rows]).encode(), ReadOptions())
    assert list(result.features) == ["x", "y"]
    times = [f"big town {i},00:0{i}:00,00:1{i}:00" for i in range(8)]
    with pytest.raises(AskError, match="Which column") as caught:
        read_data("a.csv", "\n".join([",x,y", *times]).encode(), ReadOptions())
    assert [options for _, options in caught.value.choices] == [{"column": "column 1"}]


def test_empty_column_of_answers_is_refused():
    rows = [f"Question {i}?,m," for i in range(4)]
    with pytest.raises(RefusedError, match="Column 'response', whose name states"):
        read_data("a.csv", "\n".join(["prompt,model,response", *rows]).encode(), ReadOptions())


def test_pairs_of_numbers_are_not_samples():
    rows = [f'm{i},{i}.5,{i}.7,"(-{i}.1, +{i}.2)"' for i in range(8)]
    result = read_data(
        "board.csv", "\n".join(["model,width,height,CI", *rows]).encode(), ReadOptions()
    )
    assert list(result.features) == ["width", "height"]


def test_answer_inside_chat_content_is_read():
    turns = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": {"answer": "So"}},
    ]
    result = read_data(
        "chat.jsonl", to_json_lines({"messages": turns}, {"messages": turns}), ReadOptions()
    )
    assert result.values == ["So", "So"]


def test_smiles_state_column_is_not_sample_column():
    rows = [f"{'C' * i},1" for i in range(1, 9)]
    result = read_data("top.csv", "\n".join(["SMILES,SMILES_state", *rows]).encode(), ReadOptions())
    assert result.column == "SMILES"


def test_distances_in_text_file_are_ambiguous_twice():
    text = b"\ta\tb\tc\na\t0\t1\t2\nb\t1\t0\t3\nc\t2\t3\t0\n"
    assert offered_options("distances.txt", text) == [{"type": "csv"}, {"type": "txt"}]
    with pytest.raises(AskError, match=r"with 0 all along .* is it a matrix of distances"):
        read_data("distances.txt", text, ReadOptions(type="csv"))
    assert len(read_data("distances.txt", text, ReadOptions(type="csv", matrix=False))) == 3


def test_header_after_hash_is_read():
    text = b"#SampleID\tK\tpH\n18\t42.1\t2.7\n15\t39.1\t2.8\n24\t67.7\t3\n"
    assert offered_options("soil.txt", text) == [{"type": "csv"}, {"type": "txt"}]
    assert list(read_data("soil.txt", text, ReadOptions(type="csv")).features) == ["K", "pH"]


def test_property_of_prompts_is_not_ambiguous():
    answers = [
        {"question": f"What is {i // 4}?", "level": f"Level {i // 8}", "response": f"It is {i}."}
        for i in range(24)
    ]
    result = read_data("answers.jsonl", to_json_lines(*answers), ReadOptions())
    assert result.grouping["groups"] == "question"
    other_answers = [answer | {"level": f"Level {i % 3}"} for i, answer in enumerate(answers)]
    assert {"group_by": "level"} in offered_options("answers.jsonl", to_json_lines(*other_answers))


@pytest.mark.parametrize("table", ["Month,Passengers\n1949-01,112\n1949-02,118\n1949-03,132\n"])
def test_dates_are_not_samples(table):
    result = read_data("a.csv", table.encode(), ReadOptions())
    assert (result.kind, result.features) == ("vectors", ["Passengers"])


@pytest.mark.parametrize(
    ("text", "file_type"),
    [
        ("Mary,F,7065\nAnna,F,2604\nEmma,F,2003\n", "csv"),
        ("0\n1\n1\n", "csv"),
        ("   A    B\naaa -0.2 1.5\nbbb 0.9 -0.3\n", "csv"),
        ('{ "a": 1, "c": "US" }\n{ "a": 2, "c": "BR" }\n', "jsonl"),
        ('[\n  { "a": 1, "c": "US" },\n  { "a": 2, "c": "BR" }\n]\n', "json"),
    ],
)
def test_lines_of_cells_in_text_file_are_ambiguous(text, file_type):
    with pytest.raises(AskError, match="Is this a table") as caught:
        read_data("a.txt", text.encode(), ReadOptions())
    assert [answer for _, answer in caught.value.choices] == [{"type": file_type}, {"type": "txt"}]


def test_comment_lines_of_table_are_dropped():
    table = b"# hey!\na,b,message\n# who reads this, anyway?\n1,2,hello\n5,6,world\n"
    result = read_data("a.csv", table, ReadOptions())
    assert (result.features, list(result.places)) == (["a", "b"], [4, 5])


def test_categories_and_numbers_are_ambiguous():
    treated = "".join(f"{['water', 'nutrient'][i % 2]},{1.5 * i}\n" for i in range(12))
    with pytest.raises(AskError, match="Which column holds the samples"):
        read_data("a.csv", f"treatment,weight\n{treated}".encode(), ReadOptions())
    rows = "".join(f"Amy,{i},{2 * i},tropical {'wave' if i % 3 else 'storm'}\n" for i in range(12))
    with pytest.raises(AskError, match="Which column holds the samples"):
        read_data("a.csv", f"name,wind,pressure,status\n{rows}".encode(), ReadOptions())


def test_answers_of_two_models_in_columns_are_ambiguous():
    pair = {
        "instruction": "Say hi.",
        "generator_1": "m",
        "output_1": "Hi, you.",
        "generator_2": "n",
    }
    rows = to_json_lines(*({**pair, "output_2": f"Hello, {i}."} for i in range(4)))
    assert offered_options("a.jsonl", rows)[:2] == [{"column": "output_1"}, {"column": "output_2"}]


def test_names_and_features_are_ambiguous():
    rows = "".join(f"Bar no. {i},{i % 2},{2.5 * i}\n" for i in range(12))
    assert {"kind": "vectors"} in offered_options("a.csv", f"brand,sweet,price\n{rows}".encode())


def test_answers_in_nested_values_are_read_rather_than_prose_beside_them():
    records = [
        {"shorthand": f"short words of number {i}", "expansions": [{"text": f"long {i}"}] * 2}
        for i in range(6)
    ]
    result = read_data("a.jsonl", to_json_lines(*records), ReadOptions())
    assert (result.column, len(result)) == ("expansions[*].text", 12)


def test_lists_of_answers_must_match_lists_of_questions():
    records = [
        {"questions": ["Why?", "How?"], "outputs": [f"so it is {i}", "so"]} for i in range(4)
    ]
    assert len(read_data("a.jsonl", to_json_lines(*records), ReadOptions())) == 8
    records[2] = {"questions": ["Why?", "How?", "When?"], "outputs": ["so", "so"]}
    with pytest.raises(RefusedError, match=r"1 have not \(for example, 2 for 3\)"):
        read_data("a.jsonl", to_json_lines(*records), ReadOptions())


def test_answers_that_are_numbers_make_other_columns_ambiguous():
    records = [{"answer": i, "note": f"it is number {i} of all"} for i in range(8)]
    assert {"column": "note"} in offered_options("a.jsonl", to_json_lines(*records))


def test_answers_that_are_letters_make_other_columns_ambiguous():
    records = [{"final_answer": "ABCD"[i % 4], "alpha": [i, 2.5, 1.0]} for i in range(8)]
    assert {"column": "alpha"} in offered_options("a.jsonl", to_json_lines(*records))


def test_numbers_about_calls_of_models_are_ambiguous():
    rows = [f"judge,small-{i % 2},{i * 7},{i}.5" for i in range(8)]
    table = "\n".join(["role,model,tokens,latency", *rows]).encode()
    assert {"kind": "vectors"} in offered_options("calls.csv", table)


def test_names_of_rows_without_column_name_are_left_out():
    rows = [f"lake {i},{'ab'[i % 2]}x,{i}.4,{i * 2}" for i in range(6)]
    result = read_data("a.csv", "\n".join(["HABITAT,GST,EYR", *rows]).encode(), ReadOptions())
    assert list(result.features) == ["GST", "EYR"]
    assert "column 1 (no numbers)" in result.left_out


def test_lines_that_end_in_carriage_returns_are_read():
    text = b"x\ty\tz\r1\t2\t3\r4\t5\t7\r8\t1\t2\r"
    assert offered_options("a.txt", text)[0] == {"type": "csv"}
    assert read_data("b.txt", b"a cat sat\ra dog ran\r", ReadOptions()).values == [
        "a cat sat",
        "a dog ran",
    ]


def test_groups_of_records_with_prompts_are_sets():
    def answers(word):
        return [{"prompt": f"Why {i // 2}?", "response": f"so {word} {i}"} for i in range(4)]

    document = {"before": answers("old"), "after": answers("new")}
    result = read_data("a.json", json.dumps(document).encode(), ReadOptions())
    assert list(result.sets) == ["before"] * 4 + ["after"] * 4
    assert len({*result.groups}) == 2


def test_percentages_of_names_may_be_weights():
    rows = [f"0.{i},Adineta {name}" for i, name in enumerate(("vaga", "ricciae", "gracilis"), 1)]
    offered = offered_options("a.csv", "\n".join(["percentage,species", *rows]).encode())
    assert {"weights": "percentage"} in [
        {name: each[name] for name in each if name == "weights"} for each in offered
    ]


def test_counts_at_named_rows_are_ambiguous():
    rows = [f"plot{i},{i % 3},{i % 2 * 4},0" for i in range(1, 7)]
    offered = offered_options("a.csv", "\n".join(["sist,oak,ash,elm", *rows]).encode())
    assert [options["kind"] for options in offered] == ["counts", "counts", "vectors"]


def test_lists_named_variants_are_samples():
    records = [{"question": f"Why {i}?", "variants": [f"so {i}", "as it is"]} for i in range(4)]
    assert read_data("a.jsonl", to_json_lines(*records), ReadOptions()).column == "variants"


def test_options_and_true_answers_are_not_samples():
    records = [
        {"question": f"Why {i}?", "choices": ["a b", "c d"], "answer_index": i % 2}
        for i in range(4)
    ]
    assert {"column": "choices"} in offered_options("a.jsonl", to_json_lines(*records))
    records = [{"true_answer": f"it is {i}", "generated_answer": f"so {i}"} for i in range(4)]
    assert read_data("a.jsonl", to_json_lines(*records), ReadOptions()).column == "generated_answer"


def test_texts_in_nested_groups_and_beside_them_are_ambiguous():
    records = [
        {"paraphrase_groups": {"texts": [f"a b {i}", "c d"]}, "unrelated": {"text": f"e f {i}"}}
        for i in range(4)
    ]
    assert offered_options("a.jsonl", to_json_lines(*records))[:2] == [
        {"column": "paraphrase_groups.texts"},
        {"column": "unrelated.text"},
    ]


def test_mostly_empty_column_of_numbers_is_left_out():
    rows = [f"{i}.5,{i * i},{'7' if i == 3 else ''}" for i in range(1, 9)]
    result = read_data("a.csv", "\n".join(["x,y,z", *rows]).encode(), ReadOptions())
    assert list(result.features) == ["x", "y"]
    assert result.lost == {"z": "most cells are empty"}


def test_counting_columns_are_features():
    table = b"row number,Number-transactions,Hash-rate,SampleID\n7,120,95,3\n9,80,70,4\n8,60,72,9\n"
    result = read_data("a.csv", table, ReadOptions())
    assert list(result.features) == ["Number-transactions", "Hash-rate"]
