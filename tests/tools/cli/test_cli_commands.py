"""The commands compare, dedup, growth, report and explain; usage errors of all commands."""

import csv
import io
import json
import sys

import pytest

import vendiscore

DISTINCT_TEXTS = [f"word{i} of {i}" for i in range(20)]
REPEATED_TEXTS = ["one two", "three four"] * 10


@pytest.fixture
def diverse_file(save):
    return save("many.txt", "\n".join(DISTINCT_TEXTS))


@pytest.fixture
def repetitive_file(save):
    return save("few.txt", "\n".join(REPEATED_TEXTS))


@pytest.fixture
def answers(save):
    rows = ["id,answer,model,score", "1,a b,x,0.9", "2,a b,y,0.1", '3,"c, d",x,0.5', "4,e f,y,0.7"]
    return save("a.csv", "\n".join(rows) + "\n")


def test_compare_prints_sentence_sets_pairs_and_signature(run, diverse_file, repetitive_file):
    code, out, _ = run(
        "compare", diverse_file, repetitive_file, "--permutations", 99, "--signature"
    )
    result = vendiscore.compare(
        {diverse_file: DISTINCT_TEXTS, repetitive_file: REPEATED_TEXTS}, permutations=99
    )
    assert code == 0
    assert out.splitlines()[0] == result.sentence
    sets, pairs = (part.splitlines() for part in out.split("\n\n")[1:3])
    assert [line.split()[:2] for line in sets[2:]] == [
        [diverse_file, "20"],
        [repetitive_file, "20"],
    ]
    assert pairs[2].endswith("more diverse")
    assert "|permutations=99|seed=0|" in out.splitlines()[-1]


def test_compare_json_equals_to_dict(run, diverse_file, repetitive_file):
    options = ("--permutations", 99, "-q", 2, "-f", "json", "--seed", 3)
    out = run("compare", diverse_file, repetitive_file, *options)[1]
    result = vendiscore.compare(
        {diverse_file: DISTINCT_TEXTS, repetitive_file: REPEATED_TEXTS},
        permutations=99,
        q=2,
        seed=3,
    )
    assert json.loads(out) == json.loads(json.dumps(result.to_dict()))


def test_compare_csv_has_row_per_pair(run, diverse_file, repetitive_file, save):
    third_file = save("third.txt", "\n".join(f"other{i} of {i}" for i in range(20)))
    out = run(
        "compare", diverse_file, repetitive_file, third_file, "--permutations", 99, "-f", "csv"
    )[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["a"], row["b"]) for row in rows] == [
        (diverse_file, repetitive_file),
        (diverse_file, third_file),
        (repetitive_file, third_file),
    ]
    verdicts = [row["verdict"] for row in rows]
    assert verdicts == ["more diverse", "no difference shown", "less diverse"]


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_compare_group_by_matches_library(run, save):
    rows = [[f"t{i % m} x{i % m},{'uv'[i // 10]}" for i in range(20)] for m in (3, 10)]
    paths = [
        save(f"{i}.csv", "\n".join(["text,prompt", *file_rows])) for i, file_rows in enumerate(rows)
    ]
    out = run(
        "compare", *paths, "--group-by", "prompt", "--quiet", "-f", "json", "--permutations", 99
    )[1]
    texts = [[row.partition(",")[0] for row in file_rows] for file_rows in rows]
    groups = [[row.partition(",")[2] for row in file_rows] for file_rows in rows]
    result = vendiscore.compare(*texts, names=paths, groups=groups, permutations=99)
    assert json.loads(out) == json.loads(json.dumps(result.to_dict()))


def test_compare_on_error_skip_drops_unusable_samples(run, diverse_file, save):
    bad_file = save("bad.csv", "\n".join(["text", '""', *DISTINCT_TEXTS]))
    code, _, err = run("compare", diverse_file, bad_file, "--permutations", 99)
    assert code == 1
    assert "bad.csv, row 2, column 'text' has no tokens" in err
    code, out, err = run(
        "compare", diverse_file, bad_file, "--permutations", 99, "--on-error", "skip"
    )
    assert code == 0
    assert "bad.csv: 1 sample is left out: row 2" in err
    assert "+0.00 effective samples" in out


@pytest.mark.parametrize("command", [("select", "-n", 2), ("explain",)])
def test_select_and_explain_require_pool_flag_for_several_models(run, answers, command):
    code, out, err = run(*command, answers, "--quiet")
    assert (code, out) == (2, "")
    assert (
        "the samples are in 2 sets by column 'model'; pass --pool to use all samples as one set"
        in err
    )


@pytest.mark.parametrize("threshold", [0.95, 0.3])
def test_dedup_writes_rows_kept_by_explain(run, answers, threshold):
    command = ("dedup", answers, "--pool", "--threshold", threshold)
    kept = vendiscore.explain(["a b", "a b", "c, d", "e f"], threshold=threshold).kept
    code, out, err = run(*command)
    with open(answers, encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    assert (code, out.splitlines()) == (0, [header, *(lines[i] for i in kept)])
    assert (
        f"Retained 3 of 4 samples, without near-duplicates (similarity {threshold} or more; "
        "removes 1 at 0.8, 1 at 0.9" in err
    )
    assert run(*command, "--quiet", "--rows") == (0, "2\n4\n5\n", "")


def test_growth_lists_requested_sizes(run, diverse_file):
    result = vendiscore.growth(DISTINCT_TEXTS, [5, 10, 40], level=0.9, q=2)
    command = ("growth", diverse_file, "--sizes", "10,5,40", "--level", 0.9, "-q", 2)
    code, out, _ = run(*command, "--signature")
    assert code == 0
    assert out.splitlines()[0] == result.sentence
    assert "|q=2|level=0.9|" in out.splitlines()[-1]
    assert json.loads(run(*command, "-f", "json")[1]) == json.loads(json.dumps(result.to_dict()))
    rows = list(csv.DictReader(io.StringIO(run(*command, "-f", "csv")[1])))
    assert [int(row["size"]) for row in rows] == [5, 10, 40]
    assert [float(row["score"]) for row in rows] == list(result.scores)
    single_size = json.loads(run("growth", diverse_file, "--sizes", 7, "-f", "json")[1])
    assert single_size["size"] == [7]


def test_growth_with_prompts_matches_library(run, save):
    rows = [f"word{i} of {i % 5},{'uvw'[i % 3]}" for i in range(20)]
    path = save("p.csv", "\n".join(["answer,prompt", *rows]))
    texts, prompts = zip(*(row.split(",") for row in rows), strict=True)
    result = vendiscore.growth(list(texts), prompts=list(prompts), given_prompt=False)
    out = run("growth", path, "--column", "answer", "--prompt", "prompt", "-f", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(result.to_dict()))


def test_report_equals_html_output_of_score(run, diverse_file):
    assert run("report", diverse_file) == run(diverse_file, "-f", "html")
    code, _, err = run("explain", diverse_file, diverse_file)
    assert (code, "explain requires exactly one FILE, got 2" in err) == (2, True)


def test_explain_prints_duplicates_modes_and_contributions(run, answers):
    code, out, _ = run("explain", answers, "--pool")
    result = vendiscore.explain(["a b", "a b", "c, d", "e f"])
    assert code == 0
    assert out.splitlines()[0] == result.sentence
    tables = dict(table.split(":\n") for table in out.split("\n\n")[1:4])
    assert tables["near-duplicates"].splitlines()[1].split() == ["2", "3", "a", "b"]
    assert tables["modes"].splitlines()[1].split()[0] == "0.5"
    assert tables["samples that contribute most"].count("\n") >= 4


def test_explain_prints_columns_of_modes(run, save):
    path = save("a.txt", "\n".join(["a b c", "a b d", "a b e", "x y z", "x y w"]))
    lines = run("explain", path)[1].splitlines()
    header = lines[lines.index("modes:") + 1].split()
    assert header == ["share", "members", "line", "sample"]


def test_explain_csv_has_row_per_sample(run, answers):
    out = run("explain", answers, "--pool", "-f", "csv", "--threshold", 0.9)[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    result = vendiscore.explain(["a b", "a b", "c, d", "e f"], threshold=0.9)
    assert [float(row["adds"]) for row in rows] == result.adds.tolist()
    assert [row["row"] for row in rows] == ["2", "3", "4", "5"]
    assert [row["redundant_of"] for row in rows] == ["", "2", "", ""]
    assert [row["sample"] for row in rows] == ["a b", "a b", "c, d", "e f"]


def test_explain_json_equals_to_dict(run, answers):
    out = json.loads(run("explain", answers, "--pool", "-f", "json", "-q", 2)[1])
    assert out.pop("places") == [2, 3, 4, 5]
    result = vendiscore.explain(["a b", "a b", "c, d", "e f"], q=2)
    assert out == json.loads(json.dumps(result.to_dict(), allow_nan=False))


def test_explain_reports_row_of_skipped_sample(run, save):
    path = save("x.csv", 'text\na b\n""\nc d\n')
    code, out, err = run("explain", path, "--on-error", "skip", "-f", "csv")
    assert code == 0
    assert "row 3, column 'text' has no tokens" in err
    assert [row["row"] for row in csv.DictReader(io.StringIO(out))] == ["2", "4"]


USAGE = [
    (["compare", "{x}"], "two or more different files"),
    (["compare", "{x}", "{x}"], "compare requires two or more different files"),
    (["compare", "{x}", "{y}", "--level", "2"], "--level must be a confidence level from 0.5"),
    (["compare", "{x}", "{y}", "--permutations", "5"], "--permutations must be"),
    (
        ["compare", "{x}", "{y}", "-q", "1,2"],
        "`-q` must be a number in [0, inf] or 'inf', got [1, 2]",
    ),
    (["compare", "{x}", "{y}", "-o", "sigm=1"], "unknown keyword 'sigm'"),
    (["select", "{x}"], "select requires -n, the number of samples to select"),
    (["select", "{x}", "-k", "3"], "for example -n 3 (-k is the kernel)"),
    (["model"], "arguments are required: download."),
    (["compare", "{x}", "{y}", "--test", "t"], "Its permutation test is two-sided, and --prompt"),
    (["{x}", "--field", "answer"], "Did you mean --column?"),
    (["{x}", "--groups", "prompt"], "Did you mean --group-by?"),
    (["explain", "{x}", "--by", "model"], "It is an option of `vendiscore score`"),
    (["select", "{x}", "-n", "2", "--quota", "1"], "Quotas are passed in Python: select("),
    (["compare", "{x}", "{y}", "--within", "1"], "An equivalence margin is passed in Python"),
    (["{x}", "--clusters", "speaker"], "compute(samples, clusters=labels, ci=0.95)"),
    (["select", "{x}", "-n", "-2"], "expected a whole number"),
    (["explain", "{x}", "-k", "ngrm"], "unknown kernel"),
    (["explain", "{x}", "--threshold", "high"], "--threshold: invalid float value: 'high'"),
    (["page", "--port", "x"], "--port: expected a whole number of at least 0, got 'x'"),
]


@pytest.mark.parametrize(("argv", "message"), USAGE, ids=lambda value: " ".join(value).strip("{}"))
def test_usage_errors_exit_with_2(run, diverse_file, repetitive_file, argv, message):
    code, out, err = run(*(arg.format(x=diverse_file, y=repetitive_file) for arg in argv))
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("module", "extra", "purpose", "flags"),
    [
        ("uvicorn", "app", "the web app", ()),
        ("gradio", "gradio", "the API for clients of gradio", ("--gradio",)),
    ],
)
def test_page_without_a_package_shows_install_command(
    run, monkeypatch, module, extra, purpose, flags
):
    monkeypatch.setitem(sys.modules, module, None)
    expected = (
        f"vendiscore: error: {purpose} needs the package '{module}', which is not installed: "
        f"pip install -e '.[{extra}]' in a clone of the repository\n"
    )
    assert run("page", "--port", 8000, *flags) == (1, "", expected)


@pytest.mark.filterwarnings("ignore:intervals have width 0")
def test_prompt_column_and_given_prompt_match_library(run, save):
    texts, prompts = (
        [*DISTINCT_TEXTS[:6], *REPEATED_TEXTS[:6]],
        [f"x{i % 3} what of a" for i in range(12)],
    )
    rows = [
        {"answer": t, "prompt": u, "set": "mf"[i // 6]}
        for i, (t, u) in enumerate(zip(texts, prompts, strict=True))
    ]
    file = save("p.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    options = ("--column", "answer", "--prompt", "prompt", "-f", "json")
    result = json.loads(run("explain", file, *options)[1])
    expected = vendiscore.explain(texts, prompts=prompts, given_prompt=False)
    assert result["samples"]["adds"] == pytest.approx(expected.adds)
    comparison = json.loads(run("compare", file, "--by", "set", "--permutations", 99, *options)[1])
    by = [row["set"] for row in rows]
    sets = vendiscore.compare(texts, by=by, groups=prompts, permutations=99)
    assert [scored_set["score"] for scored_set in comparison["sets"]] == pytest.approx(
        [s.score for s in sets.sets]
    )
    code, out, err = run("select", file, "-n", 3, *options)
    assert (code, out) == (2, "")
    assert "pass --given-prompt to condition similarities" in err
    code, _, err = run("explain", file, "--pool", "--given-prompt")
    assert code == 2
    assert "--given-prompt requires a column of prompts; pass --prompt COLUMN" in err
    options = (*options, "--given-prompt")
    result = json.loads(run("explain", file, *options)[1])
    expected = vendiscore.explain(texts, prompts=prompts, given_prompt=True)
    assert result["samples"]["adds"] == pytest.approx(expected.adds)
    selection = json.loads(run("select", file, "-n", 3, *options)[1])
    assert (
        selection["places"]
        == vendiscore.select(texts, 3, prompts=prompts, given_prompt=True).places.tolist()
    )
    sets = vendiscore.compare(
        texts, by=[row["set"] for row in rows], prompts=prompts, given_prompt=True, permutations=99
    )
    comparison = json.loads(run("compare", file, "--by", "set", "--permutations", 99, *options)[1])
    assert [scored_set["score"] for scored_set in comparison["sets"]] == pytest.approx(
        [s.score for s in sets.sets]
    )
    files = [
        save(f"{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in set_rows))
        for name, set_rows in (("m", rows[:6]), ("f", rows[6:]))
    ]
    for error_options in ((), ("--on-error", "skip")):
        comparison = json.loads(
            run("compare", *files, "--permutations", 99, *options, *error_options)[1]
        )
        assert [s["score"] for s in comparison["sets"]] == pytest.approx(
            [s.score for s in sets.sets]
        )
