"""`vendiscore compare` with sets in one table, file, folder or standard input."""

import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from two_model_answers import NEW_ANSWERS, OLD_ANSWERS, TABLE

import vendiscore

COLUMN_OPTIONS = ("--column", "answer", "--by", "model", "--quiet", "--permutations", 99)
OPTIONS = (*COLUMN_OPTIONS, "--pool")  # --pool ignores the column of prompts
WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "csv.gz": lambda table, path: table.to_csv(path, index=False),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "json": lambda table, path: table.to_json(path, orient="records"),
    "parquet": lambda table, path: table.astype({"model": "category"}).to_parquet(path),
}


def compute_expected(**options):
    expected = vendiscore.compare(TABLE["answer"], by=TABLE["model"], permutations=99, **options)
    return json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("ending", WRITERS)
def test_by_column_defines_sets_in_every_table_format(run, tmp_path, ending):
    path = tmp_path / f"answers.{ending}"
    WRITERS[ending](TABLE, path)
    code, out, err = run("compare", path, *OPTIONS, "-f", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == compute_expected()
    for group_options in (("--pool", "--group-by", "prompt"), ("--group-by", "prompt"), ()):
        out = run("compare", path, *COLUMN_OPTIONS, *group_options, "-f", "json")[1]
        assert json.loads(out) == compute_expected(groups=TABLE["prompt"])


def test_model_and_prompt_columns_are_detected(run, tmp_path):
    TABLE.to_csv(path := tmp_path / "answers.csv", index=False)
    code, out, err = run("compare", path, "--permutations", 99, "-f", "json")
    assert code == 0
    assert "in 2 sets by column 'model'" in err
    assert json.loads(out) == compute_expected(groups=TABLE["prompt"])


@pytest.mark.parametrize("grouped", [False, True])
def test_text_output_explains_columns(run, tmp_path, grouped):
    rows = [
        (model, f"p{i % 6}" if grouped else "p", f"answer {i} of {model}")
        for model in ("new", "old")
        for i in range(12)
    ]
    table = pd.DataFrame(rows, columns=["model", "prompt", "answer"])
    table.to_csv(path := tmp_path / "a.csv", index=False)
    _, out, _ = run(
        "compare", path, "--permutations", 99, *([] if grouped else ["--by", "model", "--pool"])
    )
    _, sets, pairs, legend = re.split(r"\n\nsets:\n|\n\npairs:\n|\n\nColumns: ", out)
    columns = {*sets.splitlines()[0].split(), *pairs.splitlines()[0].split()}
    explained = {*re.findall(r"(?:^|; )([^:;]+): ", legend)}
    assert {"score", "matched", "difference", "p", "detectable"} == explained & columns == explained
    assert ("mean over groups" in legend) is grouped


def test_table_is_read_from_standard_input(run, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(TABLE.to_csv(index=False).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out, _ = run("compare", "-", "--type", "csv", *OPTIONS)
    assert code == 0
    assert out.startswith(compute_expected()["sentence"])


def test_by_defines_sets_of_vectors_and_folders(run, tmp_path, save):
    rng = np.random.default_rng(1)
    rows = [f"{x:.3f},{y:.3f},{'ab'[i % 2]}" for i, (x, y) in enumerate(rng.normal(size=(16, 2)))]
    path = save("v.csv", "\n".join(["x,y,model", *rows]))
    out = run("compare", path, "--by", "model", "--permutations", 99, "-f", "json")[1]
    assert [row["name"] for row in json.loads(out)["sets"]] == ["a", "b"]
    for model, texts in (("new", NEW_ANSWERS), ("old", OLD_ANSWERS)):
        (tmp_path / "texts" / model).mkdir(parents=True)
        for i, text in enumerate(texts):
            (tmp_path / "texts" / model / f"{i}.txt").write_text(text)
    out = run("compare", tmp_path / "texts", "--by", "folder", "--permutations", 99)[1]
    assert out.startswith("new and old differ (p ")


@pytest.mark.parametrize(
    ("rows", "options", "code", "message"),
    [
        (
            TABLE,
            ("--column", "answer", "--pool"),
            2,
            "or one table with a column that assigns rows to sets",
        ),
        (
            TABLE,
            ("--column", "answer", "--group-by", "model"),
            2,
            "for example --by model",
        ),
        (TABLE, ("--by", "modle"), 1, "There is no column 'modle'. Did you mean 'model'?"),
        (TABLE[TABLE.model == "new"], OPTIONS, 1, "--by must contain at least two distinct labels"),
        (TABLE[:6], OPTIONS, 1, "each label of --by must have at least 4 samples, but 1 of"),
        (
            TABLE.assign(model=[None, *TABLE.model[1:]]),
            OPTIONS,
            1,
            "row 2, column 'model' is empty, so the sample has no set; correct or remove it",
        ),
        (
            TABLE,
            (*OPTIONS, "--group-by", "model"),
            1,
            "with at least two samples of each set, got 0; omit --group-by",
        ),
        (
            TABLE,
            (*OPTIONS, "--group-by", "prompt", "--size", 4),
            1,
            "`size` is not supported with --group-by",
        ),
    ],
)
def test_unsuitable_set_columns_are_rejected(run, tmp_path, rows, options, code, message):
    rows.to_csv(path := tmp_path / "a.csv", index=False)
    exit_code, out, err = run("compare", path, *options)
    assert (exit_code, out) == (code, "")
    assert message in err


def test_on_error_skip_drops_rows_without_model(run, tmp_path):
    extra = pd.DataFrame({"answer": ["some text"], "model": [None], "prompt": ["p0"]})
    pd.concat([TABLE, extra]).to_csv(path := tmp_path / "a.csv", index=False)
    code, out, err = run("compare", path, *OPTIONS, "--on-error", "skip", "-f", "json")
    assert code == 0
    assert "1 sample is left out: row 18, column 'model' is empty" in err
    assert json.loads(out) == compute_expected()


def test_by_rejects_several_files(run, many_files):
    code, _, err = run("compare", *many_files, "--by", "model")
    assert code == 2
    assert "--by requires a single file, got 2 files" in err


@pytest.fixture
def many_files(save):
    return [save(name, "a\nb\n") for name in ("a.txt", "b.txt")]


def test_score_of_few_groups_suggests_compare(run, save):
    for groups, offered in ((3, True), (13, False)):
        rows = [f"word{i} of {i},g{i % groups}" for i in range(groups * 20)]
        path = save("a.csv", "\n".join(["text,kind", *rows]))
        code, out, err = run(path, "--column", "text", "--group-by", "kind")
        assert code == 0
        assert out.startswith("VS = ")
        advice = "may be models or other sources. To compare "
        advice += f"them: vendiscore compare {path} --by kind"
        assert (advice in err) == offered


def test_compute_notes_suggest_compare_for_few_groups():
    groups = ["a", "b"] * 20
    texts = [f"some word{i}" for i in range(40)]
    for prompts, suggested in ((groups, True), ([i // 2 for i in range(40)], False)):
        notes = vendiscore.compute(texts, groups=prompts, details=True)["details"]["notes"]
        assert any("to `compare` as `by`" in note for note in notes) == suggested


def test_models_that_did_not_answer_all_prompts_are_adjusted(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (model, f"p{prompt}", f"the answer {rng.integers(2 + 2 * i + prompt % 3)}")
        for i, model in enumerate("abc")
        for prompt in range(8)
        for _ in range(4)
        if (model, prompt) not in (("a", 3), ("c", 6))
    ]
    table = pd.DataFrame(rows, columns=["model", "prompt", "answer"])
    table.to_csv(path := tmp_path / "a.csv", index=False)
    code, out, err = run("compare", path, "--permutations", 99, "-f", "json")
    assert code == 0
    assert "2 of 24 cells (set × prompt) are missing, such as " in err
    with pytest.warns(UserWarning, match="2 of 24 cells"):
        expected = vendiscore.compare(
            table["answer"], by=table["model"], groups=table["prompt"], permutations=99
        )
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    code, out, err = run("table", path, "--permutations", 99)
    assert code == 0
    assert err.count("cells (set × prompt) are missing") == 1
    for row in expected.sets:
        assert f"{row.matched:.2f} [{row.matched_low:.2f}, {row.matched_high:.2f}]" in out
