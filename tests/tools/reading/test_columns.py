"""The column of samples is detected if it is unambiguous; otherwise choices are offered."""

import pytest

from vendiscore.report import AskError, ReadOptions
from vendiscore.tools.reading.columns import check_one_set, detect_columns
from vendiscore.tools.reading.tables import parse_table

PROSE = "the cat sat,a dog ran"


def build_preview(names, *rows):
    return parse_table("\n".join([names, *rows]), ReadOptions(), delimiter=",")


@pytest.mark.parametrize(
    ("names", "row", "column", "kind"),
    [
        ("id,answer", "1,a cat sat", "answer", "texts"),
        ("prompt,text", "why is it,as it is", "text", "texts"),
        ("answer,reference", "a cat sat,a cat ran", "answer", "texts"),
        ("city,note", "Rome,a fine old town", "note", "texts"),
        ("smiles,mass", "CCO,46.1", "smiles", "molecules"),
        ("name,x,y", "iron,1.5,2.5", None, "vectors"),
        ("x,label", "1.5,2", "x", "vectors"),
    ],
)
def test_unambiguous_columns_are_detected(names, row, column, kind):
    detected = detect_columns(build_preview(names, row, row), ReadOptions())
    assert kind == detected.kind
    assert detected.column in (column, None)


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_two_prose_columns_are_ambiguous(names):
    with pytest.raises(AskError, match="could be meant") as caught:
        detect_columns(build_preview(names, PROSE, PROSE), ReadOptions())
    offered = [options for _, options in caught.value.choices]
    names_of_outputs_first = sorted(names.split(","), key=lambda name: name != "response")
    assert offered == [{"column": name} for name in names_of_outputs_first]


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_every_offered_choice_resolves_ambiguity(names):
    preview = build_preview(names, PROSE, PROSE)
    with pytest.raises(AskError) as caught:
        detect_columns(preview, ReadOptions())
    for label, options in caught.value.choices:
        assert label.startswith(f"{options['column']} (“")
        assert detect_columns(preview, ReadOptions(**options)).column == options["column"]


SENTENCES = [
    "the old cat sat on the mat",
    "a small dog ran to the park",
    "many birds sing in the morning",
    "we walked home in the rain",
]
QUESTIONS = ["What is it?", "What is it?", "Where is the town?", "Where is the town?"]
WORDS = ["cat", "dog", "fox", "owl"]
NUMBERS = ["1.5", "2", "7.25", "3"]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "C#N"]
FEW = ["a", "b", "b", "a"]


def build_columns(**columns):
    rows = zip(*columns.values(), strict=True)
    return parse_table(
        "\n".join(["\t".join(columns), *map("\t".join, rows)]), ReadOptions(), delimiter="\t"
    )


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"id": WORDS, "smiles": SMILES}, "smiles"),
        ({"id": WORDS, "molecule": SMILES}, "molecule"),
        ({"comment": SENTENCES, "rating": NUMBERS, "votes": NUMBERS[::-1]}, "comment"),
        ({"question": QUESTIONS, "gold_answer": SENTENCES, "answer": SENTENCES}, "answer"),
        ({"prompt": QUESTIONS, "completion_reason": SENTENCES, "completion": WORDS}, "completion"),
        ({"text": SENTENCES, "explanation": SENTENCES[::-1]}, "text"),
        ({"response": SENTENCES, "judge_explanation": SENTENCES[::-1]}, "response"),
        ({"source": SENTENCES, "translation": SENTENCES[::-1]}, "translation"),
        ({"url": WORDS, "tweet": SENTENCES}, "tweet"),
        ({"index": WORDS, "word": WORDS}, "word"),
        ({"prompt": QUESTIONS, "respuesta": SENTENCES}, "respuesta"),
        ({"a": NUMBERS, "b": NUMBERS[::-1]}, None),
        ({"a": NUMBERS, "b": NUMBERS[::-1], "species": FEW}, None),
        ({"name": SENTENCES, "a": NUMBERS, "b": NUMBERS[::-1]}, None),
    ],
)
def test_only_possible_column_is_selected(columns, column):
    assert detect_columns(build_columns(**columns), ReadOptions()).column == column


@pytest.mark.parametrize(
    ("columns", "offered"),
    [
        ({"prompt": QUESTIONS}, ["prompt"]),
        ({"prompt": SENTENCES, "category": FEW}, ["prompt", "category"]),
        ({"question": QUESTIONS, "ground_truth": SENTENCES}, ["question", "ground_truth"]),
        ({"question": SENTENCES, "answer": FEW}, ["answer", "question"]),
        ({"label": FEW}, ["label"]),
        ({"chosen": SENTENCES, "rejected": SENTENCES[::-1]}, ["chosen", "rejected"]),
        ({"sentence": SENTENCES, "prediction": WORDS}, ["prediction", "sentence"]),
        ({"city": WORDS, "capital": WORDS[::-1]}, ["city", "capital"]),
        ({"brand": ["a b", "c d", "e f", "g h"], "x": NUMBERS, "y": NUMBERS}, ["brand", None]),
    ],
)
def test_doubtful_columns_are_offered_likeliest_first(columns, offered):
    preview = build_columns(**columns)
    with pytest.raises(AskError) as caught:
        detect_columns(preview, ReadOptions())
    choices = [options for _, options in caught.value.choices]
    assert [options.get("column") for options in choices] == offered
    for options in choices:
        assert detect_columns(preview, ReadOptions(**options)).column == options.get("column")


def test_prompts_without_answers_can_be_scored():
    with pytest.raises(AskError, match="prompts only, without answers") as caught:
        detect_columns(build_columns(prompt=QUESTIONS), ReadOptions())
    assert caught.value.choices == [("score the prompts in prompt", {"column": "prompt"})]


def test_prompts_are_in_column_with_most_different_cells():
    columns = {"instruction": ["Sum up."] * 4, "input": QUESTIONS, "output": SENTENCES}
    assert detect_columns(build_columns(**columns), ReadOptions()).prompt == "input"


def test_all_varying_settings_are_in_one_question():
    columns = {
        "prompt": QUESTIONS,
        "temperature": ["0.2", "1", "0.2", "1"],
        "tone": FEW,
        "level": ["low", "low", "high", "high"],  # constant within prompts
        "comment": ["good as it is", "bad as it was"] * 2,
        "response": SENTENCES,
    }
    preview = build_columns(**columns)
    with pytest.raises(AskError, match=r"'temperature' \(0.2, 1\), 'tone' \(a, b\)") as caught:
        check_one_set(preview, detect_columns(preview, ReadOptions()), ReadOptions())
    assert [options for _, options in caught.value.choices] == [
        {"group_by": "temperature"},
        {"group_by": "tone"},
        {"pool": True},
    ]
    read_options = ReadOptions(
        column="response"
    )  # only columns that are named as settings are in question
    with pytest.raises(AskError, match="Is each value of column 'temperature'") as caught:
        check_one_set(preview, detect_columns(preview, read_options), read_options)
    assert len(caught.value.choices) == 2


def test_prompt_and_model_columns_are_detected_unless_pooled():
    preview = build_preview("prompt,model,answer", "why is it,m,as it is")
    assert detect_columns(preview, ReadOptions())[:4] == ("answer", "texts", "prompt", "model")
    assert detect_columns(preview, ReadOptions(pool=True))[:4] == ("answer", "texts", "", "")


def test_group_column_is_never_sample_column():
    preview = build_preview("left,right", PROSE)
    assert detect_columns(preview, ReadOptions(group_by="left")).column == "right"


def test_site_tables_are_ambiguous():
    preview = build_preview("site,cat,dog", "north,1,2", "south,3,0")
    with pytest.raises(AskError) as caught:
        detect_columns(preview, ReadOptions())
    assert [options["kind"] for _, options in caught.value.choices] == ["counts", "vectors"]


def test_sequences_may_have_chains_between_spaces():
    sequences = ["ACGTACGTAA  TTGTACGTAC", *(f"ACGTACGTA{letter}" for letter in "CGTAC")]
    preview = build_columns(name=WORDS[:2] * 3, sequence=sequences)
    assert detect_columns(preview, ReadOptions()).kind == "sequences"
