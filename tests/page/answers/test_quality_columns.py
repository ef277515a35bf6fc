"""Columns of a table that the web app offers as correct answers."""

import pytest

pytest.importorskip("matplotlib")
from vendiscore_page.answers.quality_columns import find_boolean_columns, find_numeric_columns
from vendiscore_page.answers.sample_readout import read_answer
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput

HEADER = "model,prompt,passed,flag,one,score,year,note,answer\n"


def read_rows(n: int = 8, **options):
    """Return samples of a table with n rows."""
    rows = [
        f"m{i % 2},p{i // 4},{['yes', 'No'][i % 2]},{i % 2},1,{i / 8},{2000 + i},n{i},text {i}\n"
        for i in range(n)
    ]
    return uploads.read(
        UserInput([("a.csv", (HEADER + "".join(rows)).encode())]),
        InputSettings(column="answer", **options),
    )


def test_boolean_columns_contain_true_and_false_values():
    samples = read_rows(sets="model", by="prompt")
    assert find_boolean_columns(samples) == ["passed", "flag"]


def test_numeric_columns_have_default_thresholds():
    samples = read_rows(sets="model", by="prompt")
    assert find_numeric_columns(samples) == {"score": 0.5, "year": 2004}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"correct": "passed"}, [True, False] * 4),
        ({"correct": "score", "min_quality": 0.5}, [False] * 4 + [True] * 4),
        ({"correct": "year", "min_quality": 2007}, [False] * 7 + [True]),
        ({}, []),
    ],
)
def test_selected_column_states_which_samples_are_correct(options, expected):
    samples = read_rows(sets="model", by="prompt", **options)
    assert list(samples.correct) == expected
    answer = read_answer(samples)
    assert answer["correct"] == options.get("correct")
    assert answer["min_quality"] == options.get("min_quality")
    expected_columns = [("passed", None), ("flag", None), ("score", 0.5), ("year", 2004)]
    assert answer["correct_columns"] == expected_columns


def test_unreadable_cell_of_selected_column_makes_sample_unusable():
    samples = read_rows(sets="model", by="prompt", correct="note")
    assert samples.problems[0] == "is 'n0', not true or false"


def test_table_with_named_column_offers_comparison_of_correct_answers():
    answer = read_answer(read_rows(16))
    label = "Which of the 2 models is most diverse among correct answers?"
    question = next(each for each in answer["questions"] if each["label"] == label)
    assert question["options"]["correct"] == "passed"
    assert question["show"] == "quality"
