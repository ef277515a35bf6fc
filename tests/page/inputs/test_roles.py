"""Column roles are detected from the names and cells of a table."""

import io
import json

import pytest

from vendiscore.report import AskError
from vendiscore_page.inputs.uploads import InputSettings, RefusedError, UserInput, read

pytest.importorskip("rdkit")
PROMPTS = ["Name a fruit.", "Describe the sea.", "Why do cats purr?", "What is love?"]
MODELS = ("small", "large", "other")
CROSSED = [(m, p, f"{m} answers {p} {k}") for p in PROMPTS for m in MODELS for k in range(2)]


def read_table(header: str, rows, separator: str = ",", **options):
    lines = [header, *(separator.join(map(str, row)) for row in rows)]
    return read(UserInput(files=[("a.csv", "\n".join(lines).encode())]), InputSettings(**options))


def get_role_columns(samples) -> dict[str, str]:
    return {role: column for role, (column, _) in samples.roles.items()}


SIMPLE = {"model": "model", "prompt": "prompt"}
TABLES = {
    "model,prompt,answer": (",", CROSSED, "answer", SIMPLE),
    # German names, separated by semicolons
    "Modell;Frage;Antwort": (
        ";",
        CROSSED,
        "Antwort",
        {"model": "Modell", "prompt": "Frage"},
    ),
    "prompt_id,completion": (
        ",",
        [(i // 3, f"completion {i} is good") for i in range(12)],
        "completion",
        {"prompt": "prompt_id"},
    ),
    "prompt_id,text": (
        ",",
        [(i, f"text {i} is good") for i in range(12)],
        "text",
        {"id": "prompt_id"},
    ),
    # An index column of pandas, and a label column detected by its cells
    ",text,mood": (
        ",",
        [(i, f"text {i} is good", "so" if i % 2 else "no") for i in range(12)],
        "text",
        {"id": "column 1", "label": "mood"},
    ),
    "uid,category,caption": (
        ",",
        [(f"u{i}", "ab"[i % 2], f"a photo of {i} cats") for i in range(12)],
        "caption",
        {"id": "uid", "label": "category"},
    ),
    "name,smiles": (
        ",",
        [(f"M{i}", "C" * (i + 1) + "O") for i in range(12)],
        "smiles",
        {"id": "name"},
    ),
    # Repeated values are not ids.
    "id,answer": (",", [(i // 2, f"answer {i} is good") for i in range(12)], "answer", {}),
}


@pytest.mark.parametrize("header", TABLES)
def test_roles_are_detected_from_names_and_cells(header):
    separator, rows, column, expected = TABLES[header]
    result = read_table(header, rows, separator, pool=True)
    assert result.column == column
    assert get_role_columns(result) == expected
    for name, labels in result.roles.values():
        column_names = [
            column_name.strip() or f"column {j}"
            for j, column_name in enumerate(header.split(separator), 1)
        ]
        assert list(labels) == [str(row[column_names.index(name)]) for row in rows]


def test_json_and_parquet_have_same_roles(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(CROSSED, columns=["model", "prompt", "answer"])
    lines = "".join(json.dumps(row) + "\n" for row in frame.to_dict("records"))
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    for name, data in ("a.jsonl", lines.encode()), ("a.parquet", parquet.getvalue()):
        result = read(UserInput(files=[(name, data)]))
        assert get_role_columns(result) == SIMPLE
        assert list(result.roles["model"][1]) == [row[0] for row in CROSSED]
        assert list(result.asked) == [row[1] for row in CROSSED]


def test_roles_can_be_changed_or_removed():
    assert (
        get_role_columns(read_table("model,prompt,answer", CROSSED, prompt="", model="", label=""))
        == {}
    )
    result = read_table("model,prompt,answer", CROSSED, id="prompt", prompt="model", model="")
    assert get_role_columns(result) == {"id": "prompt", "prompt": "model"}
    assert result.asked == [row[0] for row in CROSSED]
    with pytest.raises(RefusedError, match="There is no column 'modle'"):
        read_table("model,prompt,answer", CROSSED, model="modle")


def test_prompt_id_column_is_not_used_for_conditioning():
    rows = [(i // 3, f"completion {i} is good") for i in range(12)]
    assert read_table("prompt_id,completion", rows).prompt_column == ""
    assert read_table("prompt,completion", rows).prompt_column == "prompt"


def test_prompt_id_columns_are_detected_by_name():
    rows = [(i // 3, f"completion {i} is good") for i in range(12)]
    for name in ("Frage_Nr", "promptId", "question_idx", "PROMPT_ID"):
        assert get_role_columns(read_table(f"{name},answer", rows)) == {"prompt": name}


def test_tables_are_pooled_only_on_request():
    result = read_table("model,prompt,answer", CROSSED)
    assert (result.sets_by, result.by) == ("model", "prompt")
    assert result.sentence == (
        "24 texts of column 'answer', in 4 groups by column 'prompt', in 3 sets by column 'model'."
    )
    for options, sets, groups in (
        ({"pool": True}, None, None),
        ({"by": "prompt", "pool": True}, None, "prompt"),
        ({"sets": "model", "pool": True}, "model", None),
        ({"sets": "model"}, "model", "prompt"),
    ):
        result = read_table("model,prompt,answer", CROSSED, **options)
        assert (result.sets_by, result.by) == (sets, groups)
        assert (bool(result.sets), bool(result.groups)) == (sets is not None, groups is not None)


def test_page_asks_about_unclear_column_names():
    with pytest.raises(AskError, match="Columns told, said could be meant"):
        read_table("who,told,said", CROSSED)
    # Only columns that are named as settings are in question after the column is named.
    assert get_role_columns(read_table("who,told,said", CROSSED, column="said")) == {"label": "who"}
    with pytest.raises(
        AskError, match="Is each value of column 'style' a set of its own"
    ) as caught:
        read_table("style,told,said", CROSSED, column="said")
    assert [options for _, options in caught.value.choices] == [{"by": "style"}, {"pool": True}]


def test_nested_answers_inherit_roles_of_their_rows():
    rows = [{"prompt": p, "model": m, "answers": [p, m]} for p in PROMPTS for m in MODELS]
    result = read(UserInput(files=[("a.json", json.dumps(rows).encode())]))
    assert result.values == [text for row in rows for text in row["answers"]]
    assert get_role_columns(result) == SIMPLE
    assert result.asked == [row["prompt"] for row in rows for _ in range(2)]
    assert result.groups == result.asked
    grouped = read(
        UserInput(files=[("a.json", json.dumps(rows).encode())]), InputSettings(by="prompt")
    )
    assert (grouped.groups, list(grouped.sets)) == (result.asked, [])


def test_missing_labels_are_kept_or_listed_as_problems():
    rows = [("" if i % 5 == 0 else "abc"[i % 3], f"text {i} is good") for i in range(20)]
    result = read_table("model,answer", rows, pool=True)
    assert [label for label in result.roles["model"][1] if not label] == [""] * 4
    assert not result.problems
    grouped = read_table("model,answer", rows, sets="model")
    assert set(grouped.problems.values()) == {"has no set"}


def test_random_subset_keeps_sample_ids():
    rows = [(f"r{i}", f"text {i} is good") for i in range(1_200)]
    result = read_table("id,text", rows)
    assert len(result) == 1_000
    text_of_id = dict(rows)
    assert [text_of_id[label] for label in result.ids] == result.values


def test_one_column_per_model_can_be_read_as_sets():
    rows = [(i, p, f"small says {i}", f"large tells {i}") for i, p in enumerate(PROMPTS)]
    with pytest.raises(AskError, match="Which column holds the samples") as caught:
        read_table("id,prompt,model_a,model_b", rows)
    label, options = caught.value.choices[0]
    assert label == "Each of model_a, model_b contains the answers of one model"
    result = read_table("id,prompt,model_a,model_b", rows, **options)
    assert result.values == [text for row in rows for text in row[2:]]
    assert list(result.places) == [2, 2, 3, 3, 4, 4, 5, 5]
    assert get_role_columns(result) == SIMPLE
    assert result.roles["model"][1] == ["model_a", "model_b"] * len(PROMPTS)
    assert result.asked == [p for p in PROMPTS for _ in range(2)]
