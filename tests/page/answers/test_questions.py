"""Questions that are offered for a table, and reasons for unavailable ones."""

import numpy as np
import pytest
from page_answers import check_comparison, compare_as_json

from vendiscore import compare, compute
from vendiscore.report import AskError
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import one_set, sample_readout
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read

NS = {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}
WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat", "dog", "house"]
SETS = {"sets": "model", "prompts": None, "correct": None, "min_quality": None}
PROMPTS = [f"Question {i}?" for i in range(5)]


def make_answers(models: int, repetitions: int = 1):
    rng = np.random.default_rng(0)
    return [
        (f"m{m}", prompt, " ".join(rng.choice(WORDS[: 4 + 3 * m], 5)))
        for prompt in PROMPTS
        for m in range(models)
        for _ in range(repetitions)
    ]


def read_rows(header: str, rows, **options):
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    return read(UserInput(files=[("a.csv", text.encode())]), InputSettings(**options))


def offered_questions(header: str, rows):
    result = sample_readout.read_answer(read_rows(header, rows, pool=True))
    return {question["label"]: question for question in result["questions"]}, result["unasked"]


def test_table_with_models_and_prompts_offers_all_questions():
    result, notes = offered_questions("model,prompt,answer", make_answers(3, 2))
    assert list(result) == [
        "Score all 30 rows",
        "Score each of 5 prompts",
        "Which of the 3 models is most diverse?",
        "What is the effective number of models?",
        "Find near-duplicates",
        "Select diverse rows",
    ]
    assert notes == []
    assert result["Score each of 5 prompts"]["options"] == {"by": "prompt", "sets": None}


@pytest.mark.parametrize(
    ("header", "columns", "current"),
    [
        ("model,prompt,answer", (0, 1, 2), "Which of the 3 models is most diverse?"),
        ("model,answer", (0, 2), "Which of the 3 models is most diverse?"),
        ("prompt,answer", (1, 2), "Score each of 5 prompts"),
        ("genre,answer", (0, 2), "Score all 30 rows"),
    ],
)
def test_table_without_options_answers_question(header, columns, current):
    rows = [[row[i] for i in columns] for row in make_answers(3, 2)]
    assert sample_readout.read_answer(read_rows(header, rows))["current"] == current


def test_reading_by_question_answers_it():
    rows = make_answers(3, 2)
    questions = offered_questions("model,prompt,answer", rows)[0]
    for label, question in questions.items():
        if question["show"]:  # a part of the result of another question
            continue
        samples = read_rows("model,prompt,answer", rows, **question["options"])
        assert sample_readout.read_answer(samples)["current"] == label
    samples = read_rows("model,prompt,answer", rows, by="model", pool=False)
    assert sample_readout.read_answer(samples)["current"] is None


@pytest.mark.parametrize(("times", "by"), [(2, "prompt"), (1, None)])
def test_models_are_compared_within_repeated_prompts(times, by):
    rows = make_answers(3, times)
    question = offered_questions("model,prompt,answer", rows)[0][
        "Which of the 3 models is most diverse?"
    ]
    assert question["compares"]
    assert question["options"] == SETS | {"by": by}
    page = compare_as_json({"A": read_rows("model,prompt,answer", rows, **question["options"])})
    models, prompts, texts = map(list, zip(*rows, strict=True))
    assert page["within"] == (5 if by else 0)
    check_comparison(page, compare(texts, by=models, groups=prompts if by else None, **NS))


def test_scores_of_models_state_answers_per_prompt():
    samples = read_rows("model,prompt,answer", make_answers(3, 2))
    rows = run_steps(one_set.score(samples, Settings("ngram_overlap"))).answer["by_set"]
    assert [(row["n"], row["of"]) for row in rows] == [(10, 2.0)] * 3
    samples = read_rows("model,answer", [row[::2] for row in make_answers(3, 2)])
    rows = run_steps(one_set.score(samples, Settings("ngram_overlap"))).answer["by_set"]
    assert all("of" not in row for row in rows)


def test_unpaired_prompts_are_dropped_with_note():
    rows = [*make_answers(3, 2), ("m0", "Odd one?", "nobody else says so")]
    page = compare_as_json({"A": read_rows("model,prompt,answer", rows, sets="model", by="prompt")})
    assert page["within"] == 5
    assert page["notes"][-1] == (
        "Dropped 1 of 6 groups that fewer than two sets answer at least two times, such as "
        "'Odd one?'."
    )
    assert {row["n"] for row in page["rows"]} == {10}


def test_id_column_is_detected_in_subsampled_table():
    rows = [(f"i{i}", f"m{i % 2}", f"Question {i // 4}?", f"{i} is said") for i in range(1200)]
    result = sample_readout.read_answer(read_rows("id,model,prompt,answer", rows))
    assert result["n"] < result["total"]
    assert result["roles"] == {"prompt": ["prompt", 300], "model": ["model", 2], "id": ["id", 1200]}


def test_questions_count_all_rows_of_subsampled_table():
    rows = [
        (f"m{model}", f"Question {prompt}?", f"{model} says {i} to {prompt}")
        for prompt in range(700)
        for model in range(3)
        for i in range(2)
    ]
    header = "model,prompt,answer"
    result, notes = offered_questions(header, rows)
    assert list(result)[:4] == [
        "Score 1,000 of 4,200 rows",
        "Score each of 700 prompts",
        "Which of the 3 models is most diverse?",
        "What is the effective number of models?",
    ]
    assert notes == []
    options = result["Which of the 3 models is most diverse?"]["options"]
    assert options == SETS | {"by": "prompt"}
    page = compare_as_json({"A": read_rows(header, rows, **options)})
    assert page["within"] == 166
    assert page["notes"][2] == (
        "A random subset of 996 of 4,200 texts, in 166 of 700 groups is used because of size "
        "limits."
    )


@pytest.mark.parametrize(
    ("header", "rows", "missing", "message"),
    [
        (
            "model,answer",
            [("m", f"text {i} is") for i in range(9)],
            "models",
            "only one model, “m”",
        ),
        (
            "model,answer",
            [(f"m{i // 2}", f"text {i} is") for i in range(900)],
            "Which of",
            "there are 450, more than 8",
        ),
        (
            "model,answer",
            [("ab"[i > 6], f"text {i} is") for i in range(9)],
            "Which of",
            "“b” has fewer than 4 rows",
        ),
    ],
    ids=["one model", "900 models", "few rows"],
)
def test_unanswerable_question_is_replaced_by_reason(header, rows, missing, message):
    result, notes = offered_questions(header, rows)
    assert not [label for label in result if missing in label and "Score" not in label]
    assert message in notes[-1]


def test_rows_without_model_are_counted_in_note():
    rows = [("" if i < 3 else "ab"[i % 2], f"text {i} is") for i in range(20)]
    result, notes = offered_questions("model,answer", rows)
    assert "Which of the 2 models is most diverse?" in result
    assert "What is the effective number of models?" not in result  # the table has no prompts
    assert notes == ["3 rows without a model will not be used in analyses of models."]


def test_question_about_label_contains_column_name():
    rows = [("xy"[i % 2], f"text {i} is") for i in range(20)]
    assert (
        "Which of the 2 groups by “genre” is most diverse?"
        in offered_questions("genre,answer", rows)[0]
    )


def test_one_column_per_model_is_offered_for_comparison():
    rows = [
        (f"Question {i}?", "the same again", f"other {i} words and {i * i} more of them at {i}")
        for i in range(12)
    ]
    result, _ = offered_questions("prompt,answer_1,answer_2", rows)
    question = result["Compare the columns “answer_1” and “answer_2”"]
    page = compare_as_json(
        {"A": read_rows("prompt,answer_1,answer_2", rows, **question["options"])}
    )
    _, a, b = map(list, zip(*rows, strict=True))
    check_comparison(page, compare({"answer_1": a, "answer_2": b}, **NS))
    assert not [
        label for label in offered_questions("prompt,answer,reason", rows)[0] if "columns" in label
    ]


@pytest.mark.parametrize("prompts", [PROMPTS, ["Write a story."] * 5, None])
@pytest.mark.parametrize("stem", ["answer_", "draft "])
def test_eight_columns_are_scored_as_answers_of_one_model(prompts, stem):
    rng = np.random.default_rng(1)
    rows = [[" ".join(rng.choice(WORDS, 5)) for _ in range(8)] for _ in PROMPTS]
    header = [f"{stem}{i}" for i in range(1, 9)]
    table = rows
    if prompts:
        header.insert(0, "prompt")
        table = [[prompt, *row] for prompt, row in zip(prompts, rows, strict=True)]
    if stem == "draft ":
        with pytest.raises(AskError) as caught:
            read_rows(",".join(header), table)
        options = caught.value.choices[1][1]
    else:
        label = "Score the answers of each row (one model, 8 answers per prompt)"
        options = offered_questions(",".join(header), table)[0][label]["options"]
    result = read_rows(",".join(header), table, **options)
    assert result.values == [text for row in rows for text in row]
    group_labels = prompts if prompts == PROMPTS else range(5)
    groups = [prompt for prompt in group_labels for _ in range(8)]
    expected = compute(result.values, groups=groups, **NS)
    answer = run_steps(one_set.score(result, Settings("ngram_overlap"))).answer
    assert answer["VS"] == pytest.approx(expected["VS"], abs=1e-12)
    assert [row["n"] for row in answer["by_group"]] == [8] * 5
    questions = sample_readout.read_answer(result)
    assert f"Compare the columns “{header[-8]}”" in str(questions)
    assert questions["current"].startswith("Score the answers of each row")


def test_lines_and_single_columns_have_no_questions():
    assert sample_readout.read_answer(read(UserInput(text="one\ntwo")))["questions"] == []
    assert offered_questions("answer", [(f"text {i} is",) for i in range(5)])[0] == {}
