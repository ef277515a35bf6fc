"""`vendiscore sources` prints the results of `vendiscore.sources` for tables, files and folders."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import vendiscore

TABLE = pd.DataFrame(
    [
        (model, f"p{p}", f"word{p} {text} of {p % 3}")
        for model, texts in (("a", "xxyy"), ("b", "xxyz"), ("c", "uvwz"))
        for p, text in enumerate(texts * 2)
    ],
    columns=["model", "prompt", "answer"],
)
COLUMNS = ("--source", "model", "--prompt", "prompt", "--column", "answer")


def compute_sources(table, **options):
    """Return the result of the library for a table with a column of models."""
    return vendiscore.sources(table["answer"], table["prompt"], by=table["model"], **options)


@pytest.fixture
def table(tmp_path):
    TABLE.to_csv(path := tmp_path / "answers.csv", index=False)
    return path


def equals_result(out, result):
    return json.loads(out) == json.loads(json.dumps(result.to_dict()))


@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        ((), {}),
        (("-q", 2, "--level", 0.8), {"q": 2, "level": 0.8}),
        (("-q", "inf", "-k", "ngram_overlap:ns=1"), {"q": "inf", "ns": 1}),
        (("--given-prompt", "-o", "ns=1"), {"given_prompt": True, "ns": 1}),
        (("-o", "psd=clip", "-k", "bleu"), {"psd": "clip", "k": "bleu"}),
    ],
)
def test_sources_of_table_match_library(run, table, options, keywords):
    code, out, err = run("sources", table, *COLUMNS, "--quiet", "-f", "json", *options)
    assert (code, err) == (0, "")
    assert equals_result(out, compute_sources(TABLE, **keywords))


def test_text_output_has_sentence_tables_and_signature(run, table):
    result = compute_sources(TABLE)
    code, out, err = run("sources", table, *COLUMNS, "--signature")
    sentence, rows, pairs, most_diverse, least_diverse, signature = out.split("\n\n")
    assert (code, sentence, signature) == (0, result.sentence, f"{result.signature}\n")
    assert "intervals" not in err
    assert rows.splitlines()[1].split() == ["name", "n", "adds", "nearest", "similarity"]
    largest = sorted(result.sources, key=lambda row: -row.adds)
    assert [line.split()[0] for line in rows.splitlines()[2:]] == [row.name for row in largest]
    assert [line.split()[:2] for line in pairs.splitlines()[2:]] == [
        [a, b] for a, b, _ in result.pairs(3)
    ]
    assert len(most_diverse.splitlines()) == len(least_diverse.splitlines()) == 5
    values = [
        float(line.split()[1])
        for line in (most_diverse.splitlines()[2], least_diverse.splitlines()[2])
    ]
    assert values == pytest.approx([max(result.per_prompt), min(result.per_prompt)], rel=1e-3)
    assert "### nearest" not in out
    assert "| name | n | adds |" in run("sources", table, *COLUMNS, "-f", "md")[1]


def test_source_and_prompt_columns_are_detected(run, table):
    code, out, err = run("sources", table, "-f", "json")
    assert code == 0
    assert "24 texts of column 'answer', in 3 sets by column 'model'" in err
    assert "so each source is compared as a whole; to compare answers to the same prompt" in err
    assert equals_result(out, vendiscore.sources(TABLE["answer"], by=TABLE["model"]))
    doubled_table = pd.concat([TABLE, TABLE.assign(answer=TABLE.answer + " more")])
    doubled_table.to_csv(table, index=False)
    code, out, err = run("sources", table, "-f", "json")
    assert "in 8 groups by column 'prompt', in 3 sets by column 'model'" in err
    assert equals_result(out, compute_sources(doubled_table))


def test_html_output_equals_library_report(run, table):
    code, out, _ = run("sources", table, *COLUMNS, "-f", "html")
    assert code == 0
    assert out == vendiscore.report(compute_sources(TABLE)).html()


def test_several_answers_per_prompt_give_within_similarity(run, tmp_path):
    doubled_table = pd.concat([TABLE, TABLE.assign(answer=TABLE.answer + " more")])
    doubled_table.to_csv(path := tmp_path / "a.csv", index=False)
    out = run("sources", path, *COLUMNS, "-f", "csv")[1]
    result = compute_sources(doubled_table)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [float(row["within"]) for row in rows] == [row.within for row in result.sources]
    assert "within" in run("sources", path, *COLUMNS)[1].split("\n\n")[1]


def test_files_and_folders_are_compared_as_sets(run, save, tmp_path):
    sets = {}
    for model, model_rows in TABLE.groupby("model"):
        sets[save(f"{model}.txt", "\n".join(model_rows.answer))] = model_rows.answer.tolist()
        (tmp_path / "texts" / str(model)).mkdir(parents=True)
        for i, text in enumerate(model_rows.answer):
            (tmp_path / "texts" / str(model) / f"{i}.txt").write_text(text)
    expected = vendiscore.sources(sets, aligned=False)
    assert equals_result(run("sources", *sets, "-f", "json")[1], expected)
    out = run("sources", tmp_path / "texts", "--source", "folder", "-f", "json")[1]
    assert json.loads(out)["VS"] == pytest.approx(expected.score)
    assert [row["name"] for row in json.loads(out)["sources"]] == ["a", "b", "c"]


def test_prompts_are_read_from_several_files(run, tmp_path):
    paths = [tmp_path / f"{model}.csv" for model in "abc"]
    for path, (_, model_rows) in zip(paths, TABLE.groupby("model"), strict=True):
        model_rows.to_csv(path, index=False)
    out = run("sources", *paths, "--prompt", "prompt", "--column", "answer", "-f", "json")[1]
    assert json.loads(out)["VS"] == compute_sources(TABLE).score


def test_vectors_use_cosine_kernel_by_default(run, save):
    X = np.random.default_rng(1).normal(size=(3, 12, 2))
    rows = [f"{x},{y},{'abc'[s]},{p}" for s in range(3) for p, (x, y) in enumerate(X[s].tolist())]
    path = save("v.csv", "\n".join(["x,y,model,prompt", *rows]))
    out = run("sources", path, "--source", "model", "--prompt", "prompt", "-f", "json")[1]
    assert json.loads(out)["VS"] == pytest.approx(vendiscore.sources(X, k="cosine").score)


def test_blank_answers_are_reported_by_row(run, tmp_path):
    blank = TABLE.copy()
    blank.loc[[3, 9, 17], "answer"] = ""
    blank.to_csv(path := tmp_path / "a.csv", index=False)
    code, out, err = run("sources", path, *COLUMNS)
    assert (code, out) == (1, "")
    assert "a.csv, row 5, column 'answer' has no tokens" in err
    code, out, err = run("sources", path, *COLUMNS, "--on-error", "skip", "-f", "json")
    assert code == 0
    assert "3 samples are left out: row 5, column 'answer' has no tokens" in err
    assert "row 11" in err
    assert "row 19" in err
    remaining = blank[blank.answer != ""]
    assert json.loads(out)["VS"] == pytest.approx(compute_sources(remaining).score)
    assert [row["n"] for row in json.loads(out)["sources"]] == [7, 7, 7]


def test_unusable_row_error_names_second_file(run, save):
    paths = [save("a.txt", "x y\nz\n"), save("b.csv", 'text\nx w\n""\nz\n')]
    code, _, err = run("sources", *paths)
    assert code == 1
    assert f"{paths[1]}, row 3, column 'text' has no tokens" in err
    code, _, err = run("sources", *paths, "--on-error", "skip")
    assert code == 0
    assert f"{paths[1]}: 1 sample is left out: row 3" in err


def test_files_without_columns_reject_source_flag(run, save, tmp_path):
    path = save("a.txt", "x y\nz\n")
    message = "or remove all options that name columns"
    assert message in run("sources", path, "--source", "model")[2]
    (tmp_path / "folder").mkdir()
    message = "all options that name columns, except those with the value 'folder'"
    assert message in run("sources", tmp_path / "folder", "--source", "model")[2]


def test_text_output_truncates_long_source_table(run, save):
    rows = [f"m{s},p{p},word{s % 7} of {p}" for s in range(43) for p in range(3)]
    path = save("a.csv", "\n".join(["model,prompt,answer", *rows]))
    out = run("sources", path, *COLUMNS)[1]
    assert len(out.split("\n\n")[1].splitlines()) == 22
    assert "by decreasing contribution (23 more: -f csv and -f json list all):" in out
    assert "least similar pairs:" in out
    assert len(run("sources", path, *COLUMNS, "-f", "csv")[1].splitlines()) == 44
    assert len(json.loads(run("sources", path, *COLUMNS, "-f", "json")[1])["sources"]) == 43


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--column", "answer", "--pool"), 2, "for example --by model"),
        ((*COLUMNS, "--source", "modle"), 1, "There is no column 'modle'. Did you mean 'model'?"),
        ((*COLUMNS, "--prompt", "promt"), 1, "There is no column 'promt'. Did you mean 'prompt'?"),
        ((*COLUMNS, "--given-prompt", "-k", "labels"), 1, "csv: cannot condition on --prompt"),
        (("--source", "model", "--column", "answer", "--given-prompt"), 2, "pass --prompt COLUMN"),
        ((*COLUMNS, "--level", 2), 2, "--level must be a confidence level from 0.5"),
        ((*COLUMNS, "-q", "0"), 2, "-q must be an order above 0"),
        ((*COLUMNS, "-q", "1,2"), 2, "`-q` must be a number in [0, inf] or 'inf', got [1, 2]"),
        ((*COLUMNS, "-k", "ngrm"), 2, "unknown kernel -k 'ngrm'"),
        ((*COLUMNS, "answers.txt"), 2, "--by requires a single file, got 2 files"),
    ],
)
def test_invalid_options_are_rejected(run, table, options, code, message):
    exit_code, out, err = run("sources", table, *options)
    assert (exit_code, out) == (code, "")
    assert message in err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            TABLE[TABLE.model == "a"],
            "got only 'a'; add a source, or use `vendiscore score",
        ),
        (
            TABLE.assign(model=[None, *TABLE.model[1:]]),
            "row 2, column 'model' is empty, so the sample",
        ),
        (TABLE.assign(prompt=range(len(TABLE))), "pass sources that answer the same prompts"),
        (TABLE[:12], None),
        (TABLE.iloc[[0, 8, 9, 17]], "have no answered prompt in common"),
    ],
)
def test_tables_without_comparable_sources_are_rejected(run, tmp_path, rows, message):
    rows.to_csv(path := tmp_path / "a.csv", index=False)
    code, _, err = run("sources", path, *COLUMNS)
    assert code == (0 if message is None else 1)
    assert message is None or message in err


def test_keys_contain_order_other_than_1(run, save):
    rows = "".join(f"{m},p{i % 3},{m} {w}\n" for m in "xy" for i, w in enumerate("abcabc"))
    file = save("m.csv", f"model,prompt,answer\n{rows}")
    command = ("sources", file, "--by", "model", "--prompt", "prompt", "--column", "answer")
    default_result = json.loads(run(*command, "-f", "json")[1])
    result = json.loads(run(*command, "-q", 2, "-f", "json")[1])
    renamed = [f"VS_q2{key[2:]}" for key in default_result if key.startswith("VS")]
    assert [key for key in result if key.startswith("VS")] == renamed
    assert [set(row) for row in result["prompts"]] == [{"prompt", "VS_q2"}] * 3
