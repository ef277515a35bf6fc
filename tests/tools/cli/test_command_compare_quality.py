"""`vendiscore compare` with --correct and --min-quality."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import vendiscore


def graded_table():
    rng = np.random.default_rng(0)
    rows = []
    for model, accuracy in (("new", 0.9), ("old", 0.6)):
        for i in range(8 * 6):
            passed = rng.random() < accuracy
            text = f"the {'good' if passed else 'bad'} answer {rng.integers(5)}"
            score = rng.uniform(0.5, 1) if passed else rng.uniform(0, 0.5)
            rows.append((model, f"p{i // 6}", text, "yes" if passed else "no", score))
    columns = ["model", "prompt", "answer", "passed", "score"]
    return pd.DataFrame(rows, columns=columns)


QUALITY_FLAGS = (("--correct", "passed"), ("--min-quality", "score=0.5"))


@pytest.mark.parametrize("flags", QUALITY_FLAGS)
def test_correct_answers_are_compared_at_equal_size(run, tmp_path, flags):
    table = graded_table()
    table.to_csv(path := tmp_path / "graded.csv", index=False)
    options = ("--column", "answer", "--by", "model", "--permutations", 99)
    expected = vendiscore.compare(
        table["answer"],
        by=table["model"],
        groups=table["prompt"],
        correct=table["passed"] == "yes",
        permutations=99,
    )
    out = run("compare", path, *options, *flags, "-f", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    assert len(json.loads(out)["quality_parts"]) == 1
    code, text, _ = run("compare", path, *options, *flags, "--signature", "--quiet")
    assert code == 0
    assert text.startswith(expected.sentence)
    assert "equal quality:" in text
    assert f"{flags[0].strip('-').replace('-', '_')}=" in text.splitlines()[-1]
    rows = pd.read_csv(io.StringIO(run("compare", path, *options, *flags, "-f", "csv")[1]))
    assert rows["among_correct"][0] == pytest.approx(expected.quality_parts[0].among_correct)


def test_correct_answers_of_several_files(run, tmp_path):
    table = graded_table()
    paths = []
    for model, rows in table.groupby("model"):
        paths.append(tmp_path / f"{model}.csv")
        rows.drop(columns="model").to_csv(paths[-1], index=False)
    options = ("--column", "answer", "--prompt", "prompt", "--permutations", 99, "-f", "json")
    out = run("compare", *paths, *options, "--correct", "passed", "--size", 3)[1]
    parts = json.loads(out)["quality_parts"][0]
    assert parts["size"] == 3
    one_file = vendiscore.compare(
        table["answer"],
        by=table["model"],
        prompts=table["prompt"],
        correct=table["score"] >= 0.5,
        size=3,
        permutations=99,
    )
    assert parts["total"] == one_file.quality_parts[0].total


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (("--min-quality", "score"), 2, "--min-quality must be COLUMN=NUMBER, such as score=0.5"),
        (("--min-quality", "score=yes"), 2, "got 'score=yes'"),
        (
            ("--correct", "passed", "--min-quality", "score=0.5"),
            2,
            "--correct and --min-quality are mutually exclusive",
        ),
        (("--correct", "passed", "--pool"), 2, "pass --prompt COLUMN"),
        (("--correct", "score"), 1, "not true or false"),
        (("--correct", "nonsense"), 1, "There is no column 'nonsense'"),
        (("--correct", "passed", "--size", 1), 1, "must be an integer of at least 2, got 1"),
        (("--min-quality", "score=2"), 1, "at least 3 prompts with at least 2 correct answers"),
    ],
)
def test_unsuitable_quality_flags_are_rejected(run, tmp_path, flags, code, message):
    graded_table().to_csv(path := tmp_path / "graded.csv", index=False)
    exit_code, out, err = run("compare", path, "--column", "answer", "--by", "model", *flags)
    assert (exit_code, out) == (code, "")
    assert message in err
