"""Pasted text is split at the detected separator, and large inputs are subsampled."""

from collections import Counter

import numpy as np
import pytest

from vendiscore.report import AskError, ReadOptions, read_data
from vendiscore_page import quotas
from vendiscore_page.inputs import examples, parts
from vendiscore_page.inputs.file_code import IMPORTS
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read
from vendiscore_page.inputs.visitor_samples import format_ranges
from vendiscore_page.quotas import RefusedError

pytest.importorskip("rdkit")
PARAGRAPHS = "\n\n".join(
    f"Answer {i} is this.\nIt has a second line.\n  And a third." for i in range(20)
)


def read_text(text: str, **options):
    return read(UserInput(text=text), InputSettings(**options))


def test_samples_keep_their_line_numbers():
    result = read_text("\ufeff one a \n\n two b\r\n")
    assert (result.values, list(result.places), result.unit) == (["one a", "two b"], [1, 3], "line")
    assert (result.kind, result.name, result.separator) == ("texts", "pasted", "line")


@pytest.mark.parametrize(
    ("text", "separator", "n"),
    [
        ("a b\nc d\ne f", "line", 3),
        ("a b\n\nc d\n\ne f", "line", 3),  # each block is one line
        ("a b\nc d\n\n", "line", 2),  # one block
        (PARAGRAPHS, "blank", 20),
        (PARAGRAPHS.replace("\n\n", "\r\n \r\n\r\n"), "blank", 20),
        (PARAGRAPHS.replace("\n\n", "\n---\n"), "---", 20),
        (PARAGRAPHS.replace("\n\n", "\n\n=====\n\n"), "=====", 20),
        ("one\n\ntwo\n***\nthree\n***\nfour\n\nfive", "***", 3),
        ("###\none two\n###\nthree four\n###", "###", 2),
        ("one\ntwo\n---\nthree", "line", 3),  # a separator that occurs once
        ("one --- two\nthree --- four", "line", 2),
    ],
)
def test_separator_is_detected_with_note(text, separator, n):
    result = read_text(text)
    assert (result.separator, len(result)) == (separator, n)
    assert dict(result.splits)[separator] == n
    assert result.notes[0].startswith(f"Read {n} ")
    assert result.how.startswith("split by ")


def test_splits_list_sample_count_of_each_separator():
    result = read_text(PARAGRAPHS.replace("\n\nAnswer 9", "\n---\nAnswer 9"))
    assert result.splits == (("line", 60), ("blank", 19), ("---", 2))
    for separator, count in result.splits:
        samples = read_text(
            PARAGRAPHS.replace("\n\nAnswer 9", "\n---\nAnswer 9"), separator=separator
        )
        assert len(samples) == count


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        (PARAGRAPHS, "blank"),
        (PARAGRAPHS.replace("\n\n", "\n---\n").replace("third", "|---|"), "---"),
        (PARAGRAPHS.replace("\n\n", "<|end|>"), "<|end|>"),
        (PARAGRAPHS.replace("\n\n", "\n%%\n"), "%%"),
    ],
)
def test_separator_can_be_chosen(text, separator):
    result = read_text(text, separator=separator)
    assert len(result) == 20
    assert result.values[3].startswith("Answer 3 is this.\nIt has a second line.\n")
    assert dict(result.splits)[separator] == 20
    file = read(UserInput(files=[("a.txt", text.encode())]), InputSettings(separator=separator))
    assert file.values == result.values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1, 2.5\n-3, 4", [[1, 2.5], [-3, 4]]),
        ("0,1\n2,0", [[0, 1], [2, 0]]),
        ("0 5\n1 7\n2 9", [[0, 5], [1, 7], [2, 9]]),
        ("1,5 2,5\n3,5 4,5", [[1.5, 2.5], [3.5, 4.5]]),
        ("1,5; 2\n3; 4", [[1.5, 2], [3, 4]]),
        ("1\t2\n3\t4", [[1, 2], [3, 4]]),
        ("x,y\n1,2\n3,4", [[1, 2], [3, 4]]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ],
)
def test_pasted_numbers_are_read_as_vectors(text, values):
    result = read_text(text)
    assert result.kind == "vectors"
    assert np.array_equal(result.values, values)


@pytest.mark.parametrize(
    ("text", "kind", "other_kinds"),
    [
        ("CCO\nc1ccccc1\nCC(=O)O", "molecules", ("texts",)),
        ("C\nCC\nNO\nCOIN\nSPOON", "texts", ("molecules",)),
        ("I\nNO\nOF\nON\nSO", "texts", ("molecules",)),
        ("I say no.\nNo, I say.\nC is a note.", "texts", ("molecules",)),
        ("1. one\n2. two\n3. three", "texts", ()),
        ("3 cats\n4 dogs", "texts", ()),
        ("1\n2\n3", "vectors", ("texts",)),
        ("今天天气很好。\n我喜欢吃苹果。", "texts", ()),
    ],
)
def test_sample_type_of_pasted_text_is_detected(text, kind, other_kinds):
    result = read_text(text)
    assert result.kind == kind
    assert set(result.kinds) <= {"texts", "molecules", "vectors"} - {kind}
    assert set(other_kinds) - {"molecules"} <= set(result.kinds)


def test_smiles_with_invalid_lines_are_a_question():
    text = "CC(=O)O\nc1ccccc1\nCC(C)C\nC1CC\nOCCO"  # one is invalid
    with pytest.raises(AskError, match="SMILES") as caught:
        read_text(text)
    for _, options in caught.value.choices:
        assert read_text(text, **options).kind == options["kind"]
    with pytest.raises(AskError) as caught:
        read(UserInput(files=[("a.txt", text.encode())]))
    kinds = []
    for _, options in caught.value.choices:
        kinds.append(
            read(UserInput(files=[("a.txt", text.encode())]), InputSettings(**options)).kind
        )
    assert kinds == ["molecules", "texts"]


def test_separators_of_text_file_are_read_as_by_library():
    data = PARAGRAPHS.replace("\n\n", "\n---\n").encode()
    result = read(UserInput(files=[("a.txt", data)]))
    assert (result.separator, len(result)) == ("---", 20)
    assert len(read_data("a.txt", data, ReadOptions())) == 20
    once = b"one\ntwo\n---\nthree\nfour"
    with pytest.raises(AskError) as caught:
        read(UserInput(files=[("a.txt", once)]))
    sizes = []
    for _, options in caught.value.choices:
        sizes.append(len(read(UserInput(files=[("a.txt", once)]), InputSettings(**options))))
    assert sizes == [2, 4]
    lines = read_text("one\n---\ntwo\n---\nthree", separator="line")
    assert (len(lines), lines.notes[1]) == (3, "2 separator lines are left out.")


def test_spreadsheet_cells_and_json_can_be_pasted():
    cells = read_text("id\tanswer\n1\tyes, it is\n2\tno; never\n")
    assert (cells.values, list(cells.places)) == (["yes, it is", "no; never"], [2, 3])
    assert (cells.name, cells.columns) == ("pasted › answer", ("id", "answer"))
    assert read_text('["a b", "c d"]').values == ["a b", "c d"]
    assert read_text('{"a": "b c"}\n{"a": "d e"}').values == ["b c", "d e"]
    assert read_text("[1] is a footnote\n[2] is another]").kind == "texts"


def test_too_many_texts_are_subsampled_with_note():
    text = "\n".join(f"text number {i}" for i in range(1, 3001))
    first, same, other = (read_text(text, draw=draw) for draw in (0, 0, 1))
    for result in (first, other):
        assert (len(result), result.total) == (1000, 3000)
        assert result.notes[-1] == (
            "A random subset of 1,000 of 3,000 texts is used because of size limits."
        )
        assert result.values == [f"text number {line}" for line in result.places]
    assert list(first.places) == sorted(first.places) == list(same.places)
    assert len(set(first.places) & set(other.places)) < 500
    assert other.draw == 1


def test_long_texts_are_subsampled_by_total_characters():
    text = "\n".join(f"{i} " + "x" * 10_000 for i in range(100))
    result = read_text(text)
    assert sum(map(len, result.values)) <= quotas.MAX_CHARACTERS < len(text)
    assert (len(result), result.total) == (49, 100)


def test_too_many_vectors_are_subsampled_as_in_generated_code(monkeypatch, tmp_path):
    X = np.arange(60.0).reshape(20, 3)
    text = "\n".join(",".join(map(str, row)) for row in X)
    assert len(read_text(text)) == 20
    monkeypatch.setattr(parts.quotas, "MAX_VECTORS", 7)
    result = read_text(text, draw=3)
    assert (len(result), result.total) == (7, 20)
    assert np.array_equal(result.values, X[np.array(result.places) - 1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples.csv").write_text(text)
    subset = result.subset([0, 1, 3, 5, 6])
    namespace = {}
    exec(f"import {IMPORTS}\ndata = {subset.python.read()}", namespace)
    assert np.array_equal(namespace["data"].values, subset.values)


def test_random_subset_keeps_problems_and_groups(monkeypatch):
    monkeypatch.setattr(parts.quotas, "MAX_SAMPLES", 5)
    table = "group,text\n" + "\n".join(
        f"{i % 3},{'' if i % 2 else f'number {i}'}" for i in range(30)
    )
    result = read(
        UserInput(files=[("a.csv", table.encode())]), InputSettings(column="text", by="group")
    )
    assert (len(result), result.total) == (5, 30)
    for i, row in enumerate(result.places):
        assert result.groups[i] == str((row - 2) % 3)
        assert (i in result.problems) == (row % 2 == 1)


def make_answer_table(prompts: int, models: int, repetitions: int, characters: int = 20) -> bytes:
    rows = [
        f"{prompt}-{model}-{i},m{model},Question {prompt}?,{'x' * characters} {i} of {prompt}"
        for i in range(repetitions)
        for model in range(models)
        for prompt in range(prompts)
    ]
    return "\n".join(["id,model,prompt,answer", *rows]).encode()


@pytest.mark.parametrize(
    ("prompts", "repetitions", "characters"), [(1000, 8, 20), (200, 8, 20), (100, 4, 5_000)]
)
def test_answers_to_same_prompt_are_drawn_together(prompts, repetitions, characters):
    submission = UserInput(
        files=[("a.csv", make_answer_table(prompts, 2, repetitions, characters))]
    )
    result = read(submission, InputSettings(column="answer", sets="model", by="prompt"))
    total, group_size = 2 * prompts * repetitions, 2 * repetitions
    assert result.total == total
    sizes = Counter(result.groups)
    assert {*sizes.values()} == {group_size}
    assert len(result) <= quotas.MAX_SAMPLES
    characters = sum(map(len, result.values))
    assert characters <= quotas.MAX_CHARACTERS
    next_group = group_size, characters / len(sizes)  # size with one more prompt
    assert (
        len(result) + next_group[0] > quotas.MAX_SAMPLES
        or characters + next_group[1] > quotas.MAX_CHARACTERS
    )
    note = f"{len(result)} of {total:,} texts, in {len(sizes)} of {prompts:,} groups"
    note = f"A random subset of {note}"
    assert result.notes[-1].startswith(note)
    other = read(submission, InputSettings(column="answer", sets="model", by="prompt", draw=1))
    assert {*other.groups} != {*result.groups}


def test_large_groups_are_subsampled():
    submission = UserInput(files=[("a.csv", make_answer_table(20, 4, 25))])
    result = read(submission, InputSettings(column="answer", by="prompt"))
    assert (len(result), len({*result.groups})) == (1000, 20)
    assert result.notes[-1].startswith("A random subset of 1,000 of 2,000 texts")


def test_note_on_subsampled_groups_does_not_call_them_complete():
    labels = [f"p{i % 20}" for i in range(6000)] + [f"one {i}" for i in range(9)]
    table = "prompt,answer\n" + "\n".join(f"{p},text {i}" for i, p in enumerate(labels))
    result = read(
        UserInput(files=[("a.csv", table.encode())]), InputSettings(column="answer", by="prompt")
    )
    assert len({*result.groups}) < 29
    assert result.notes[-1].startswith("A random subset of 1,000 of 6,009 texts")


@pytest.mark.parametrize(("n_other_groups", "n"), [(49, 49), (0, 1000)])
def test_other_groups_are_kept_if_one_group_is_too_large(n_other_groups, n):
    labels = [*(f"p{i}" for i in range(n_other_groups)), *["all"] * 3000]
    table = "prompt,answer\n" + "\n".join(f"{p},text {i}" for i, p in enumerate(labels))
    result = read(
        UserInput(files=[("a.csv", table.encode())]), InputSettings(column="answer", by="prompt")
    )
    assert len(result) == n
    assert len({*result.groups}) == max(1, n_other_groups)


@pytest.mark.parametrize("kind", examples.MENU)
def test_examples_are_read_by_name(kind):
    for example in examples.MENU[kind]:
        result = read(UserInput(text="not this"), InputSettings(example=example.name, kind=kind))
        assert (result.kind, result.name, result.text) == (kind, example.name, example.text)
        assert not result.problems
        assert len(example.note) < 60
        assert 3 <= len(result) <= 24
    with pytest.raises(RefusedError, match="no example 'none'"):
        read(UserInput(), InputSettings(example="none", kind=kind))


def test_menu_entry_describes_example():
    primer = examples.find_example("A primer")
    assert primer.to_menu_entry() == {"name": "A primer", "note": primer.note}
    assert examples.find_example("A matrix K").to_menu_entry()["kernel"] == "K"
    example_of_set = {
        entry["name"]: entry["example"] for pair in examples.PAIRINGS for entry in pair["sets"]
    }
    assert example_of_set["In a rut"] == "A model in a rut"


def test_comparison_examples_have_enough_samples():
    for pairing in examples.PAIRINGS:
        sets = [
            read(UserInput(), InputSettings(example=entry["example"])) for entry in pairing["sets"]
        ]
        sizes = Counter(sets[0].sets) if len(sets) == 1 else Counter(map(len, sets))
        assert len(sizes) > 1 or pairing["kind"] == "molecules"
        assert min(map(len, sets)) >= 4


def test_ranges_formats_locations():
    assert format_ranges("line", [23, 24, 25, 26, 27]) == "lines 23–27"
    assert format_ranges("row", [3]) == "row 3"
    assert format_ranges("row", [3, 4, 9, 11, 12, 13]) == "rows 3, 4, 9 and 11–13"
    assert format_ranges("row", list(range(1, 60, 2))).endswith("13, 15, …")
    assert format_ranges("image", ["a, b.png", "c.png"]) == "images a, b.png and c.png"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "sounds"}, "Unknown kind 'sounds'; pick one of texts"),
        ({"draw": -1}, "integer of at least 0"),
        ({"draw": "1"}, "integer of at least 0"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(RefusedError, match=message):
        read_text("a b", **options)


def test_single_blank_line_is_no_separator():
    lines = [f"Answer {i} says something." for i in range(20)]
    result = read(UserInput(text="\n".join([*lines[:7], "", *lines[7:]])))
    assert (len(result), result.separator) == (20, "line")
    assert dict(result.splits) == {"line": 20, "blank": 2}
