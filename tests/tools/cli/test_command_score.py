"""The command `vendiscore FILE…`: its numbers equal the results of `compute`, in every format."""

import csv
import io
import json
import shlex
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import vendiscore
from vendiscore.cli import main
from vendiscore.scoring.typical import WORDING_NOTE
from vendiscore.tools.cli import command_score
from vendiscore.tools.reading.individuals import RepeatedLabels

TEXTS = ["See Spot run.", "See Spot.", "Look, Jane.", "Jane sees Spot run."]
OTHER_TEXTS = ["It rains.", "It snows.", "Look, Jane."]


@pytest.fixture
def texts(save):
    return save("x.txt", "\n".join(TEXTS) + "\n")


@pytest.fixture
def other_texts(save):
    return save("y.txt", "\n".join(OTHER_TEXTS))


@pytest.fixture
def answers(save):
    rows = [{"answer": text, "model": "ab"[i % 2]} for i, text in enumerate(TEXTS)]
    return save("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def stdin(monkeypatch):
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def test_brief_output_equals_compute_with_all_digits(run, texts):
    number = f"{vendiscore.compute(TEXTS)['VS']!r}\n"
    assert run(texts, "-b") == (0, number, f"vendiscore: {texts}: 4 texts\n")
    assert run(texts, "-b", "--quiet") == (0, number, "")


@pytest.mark.parametrize("arguments", [("-", "-b"), ("-b",), ("score", "-b")])
def test_standard_input_is_read_with_and_without_dash(run, stdin, arguments):
    stdin("\n".join(TEXTS).encode())
    assert run(*arguments)[1] == f"{vendiscore.compute(TEXTS)['VS']!r}\n"


@pytest.mark.parametrize("encoding", ["utf-9", "base64"])
def test_invalid_encodings_are_rejected(run, texts, encoding):
    code, out, err = run(texts, "--encoding", encoding)
    assert (code, out) == (1, "")
    assert encoding in err


@pytest.mark.parametrize(("texts", "is_noted"), [("one text", True), ("one\ntwo", False)])
def test_note_says_that_score_of_only_sample_is_1(run, save, texts, is_noted):
    code, _, err = run(save("one.txt", texts))
    assert code == 0
    assert ("has only one sample, whose score is always 1" in err) is is_noted


@pytest.mark.usefixtures("without_static")
def test_text_output_lists_score_n_and_signature(run, texts):
    result = vendiscore.compute(TEXTS, details=True)
    expected = [f"VS = {result['VS']:.4g}", "n = 4", WORDING_NOTE]
    assert run(texts)[1].splitlines() == expected
    expected += ["", result["details"]["signature"]]
    assert run(texts, "--signature")[1].splitlines() == expected
    assert WORDING_NOTE not in run(texts, "-k", "word_overlap")[1]


def test_brief_output_prints_several_orders_on_same_line(run, texts):
    result = vendiscore.compute(TEXTS, q=[0.5, 2, "inf"])
    assert run(texts, "-b", "-q", "0.5,2,inf")[1] == " ".join(map(repr, result.values())) + "\n"


def test_json_equals_result_of_compute(run, texts):
    result = json.loads(run(texts, "-f", "json", "-k", "ngram_overlap:ns=1,2")[1])
    expected = vendiscore.compute(TEXTS, k="ngram_overlap", ns=[1, 2], details=True)
    assert result == json.loads(json.dumps(expected))


def test_json_of_several_files_contains_file_names(run, texts, other_texts):
    result = json.loads(run(texts, other_texts, "-f", "json")[1])
    assert [row["file"] for row in result] == [texts, other_texts]
    assert [row["VS"] for row in result] == [
        vendiscore.compute(x)["VS"] for x in (TEXTS, OTHER_TEXTS)
    ]


def test_csv_has_row_per_file_with_all_digits(run, texts, other_texts):
    rows = list(
        csv.DictReader(io.StringIO(run(texts, other_texts, "-f", "csv", "-m", "VS,IntDiv")[1]))
    )
    for row, name, samples in zip(rows, (texts, other_texts), (TEXTS, OTHER_TEXTS), strict=True):
        result = vendiscore.compute(samples, measures=["VS", "IntDiv"], details=True)
        assert (row["file"], int(row["n"])) == (name, len(samples))
        assert [float(row[key]) for key in ("VS", "IntDiv")] == [result["VS"], result["IntDiv"]]
        assert row["signature"] == result["details"]["signature"]


def test_markdown_output_is_table(run, texts):
    lines = run(texts, "-f", "md")[1].splitlines()
    assert lines[:2] == ["| file | n | VS |", "|---|--:|--:|"]
    assert lines[2].startswith(f"| {texts} | 4 | ")


def test_several_files_are_printed_as_table_with_signatures(run, texts, other_texts):
    lines = run(texts, other_texts, "--signature")[1].splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["file", "n", "VS"],
        [texts, "4", f"{vendiscore.compute(TEXTS)['VS']:.4g}"],
        [other_texts, "3", f"{vendiscore.compute(OTHER_TEXTS)['VS']:.4g}"],
    ]
    assert [line.partition(": ")[0] for line in lines[4:]] == [texts, other_texts]


def test_interval_is_printed_after_score(run, texts):
    warnings.simplefilter("ignore", UserWarning)  # four samples are few
    result = vendiscore.compute(TEXTS, ci=0.95)
    low, high = result["VS_low"], result["VS_high"]
    assert f"(95 % interval {low:.4g} to {high:.4g}, standard" in run(texts, "--ci")[1]
    ninety = vendiscore.compute(TEXTS, ci=0.9)
    printed = run(texts, "-o", "ci=0.9")[1]
    assert f"(90 % interval {ninety['VS_low']:.4g} to" in printed
    code, out, err = run(texts, "--ci", "-b")
    assert (code, out) == (2, "")
    assert "-b prints only values; remove -b or --ci" in err


@pytest.mark.usefixtures("without_static")
def test_group_by_matches_groups_of_compute(run, answers):
    code, printed, notes = run(answers, "--group-by", "model", "--column", "answer")
    result = vendiscore.compute(TEXTS, groups=list("abab"), details=True)
    assert code == 0
    assert f"VS = {result['VS']:.4g} (standard error {result['VS_se']:.4g})" in printed
    rows = [f"{row['group']} {row['n']} {row['VS']:.4g}" for row in result["details"]["groups"]]
    assert [" ".join(line.split()) for line in printed.splitlines()[5:7]] == rows
    assert "VS is the mean over 2 groups" in notes
    assert run(answers, "--group-by", "model", "--column", "answer", "--quiet")[2] == ""


ROWS = [
    (model, f"Question {p}?", f"{model if k % 2 else p} word{(k * p) % 5} of {k % 3}")
    for model in ("small", "large", "other")
    for p in range(20)
    for k in range(8)
]


def build_model_table(columns):
    """Return `ROWS` with the given columns as CSV, and as records grouped by model."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    records = [dict(zip(("model", "prompt", "answer"), row, strict=True)) for row in ROWS]
    writer.writerows([row[name] for name in columns] for row in records)
    return out.getvalue(), {
        model: [row for row in records if row["model"] == model]
        for model in ("small", "large", "other")
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_table_of_models_and_prompts_gives_row_per_model(run, save, ending):
    text, models = build_model_table(["model", "prompt", "answer"])
    if ending == "jsonl":
        text = "".join(f"{json.dumps(row)}\n" for row in csv.DictReader(io.StringIO(text)))
    path = save(f"a.{ending}", text)
    code, out, err = run(path, "--ci", "-f", "json")
    assert code == 0
    summary = "480 texts of column 'answer', in 20 groups by column 'prompt', in 3 sets by column"
    assert err.splitlines()[0] == f"vendiscore: {path}: {summary} 'model'"
    printed = json.loads(out)
    assert [row["file"] for row in printed] == [*models]
    for row, rows in zip(printed, models.values(), strict=True):
        warnings.simplefilter("ignore", UserWarning)  # an interval over 20 groups
        texts, prompts = (
            [record["answer"] for record in rows],
            [record["prompt"] for record in rows],
        )
        expected = vendiscore.compute(texts, groups=prompts, ci=0.95)
        assert {name: row[name] for name in expected} == expected
        prompt_results = [
            vendiscore.compute([t for t, prompt in zip(texts, prompts, strict=True) if prompt == p])
            for p in dict.fromkeys(prompts)
        ]
        assert row["VS"] == pytest.approx(np.mean([result["VS"] for result in prompt_results]))
        assert row["details"]["n"] == 160
    lines = run(path, "--ci")[1].splitlines()
    assert lines[0].split() == ["file", "n", "VS", "VS_se", "VS_low", "VS_high"]
    assert [line.split()[:2] for line in lines[1:4]] == [[model, "160"] for model in models]
    assert len(lines) == 4
    rows_of_two_files = json.loads(run(path, path, "-f", "json")[1])
    assert [row["file"] for row in rows_of_two_files] == [
        f"{path} › {model}" for model in models
    ] * 2


def test_model_column_without_prompts_gives_row_per_model(run, save):
    text, models = build_model_table(["model", "answer"])
    printed = json.loads(run(save("a.csv", text), "-f", "json")[1])
    expected = [
        vendiscore.compute([row["answer"] for row in rows])["VS"] for rows in models.values()
    ]
    assert [row["VS"] for row in printed] == expected


def test_prompt_column_without_models_gives_mean_over_prompts(run, save):
    text, models = build_model_table(["prompt", "answer"])
    rows = [row for model_rows in models.values() for row in model_rows]
    texts, prompts = [row["answer"] for row in rows], [row["prompt"] for row in rows]
    expected = vendiscore.compute(texts, groups=prompts)["VS"]
    assert run(save("a.csv", text), "-b")[1] == f"{expected!r}\n"


def test_group_measures_use_detected_prompt_column(run, save):
    path = save("a.csv", "prompt,answer\nu,a b\nu,c d\nv,a b\nv,a c\n")
    expected = vendiscore.compute(
        ["a b", "c d", "a b", "a c"], groups=list("uuvv"), measures="WithinVS"
    )
    assert run(path, "-m", "WithinVS", "-b")[1] == f"{expected['WithinVS']!r}\n"


def test_pool_scores_all_rows_as_single_set(run, save):
    path = save("a.csv", build_model_table(["model", "prompt", "answer"])[0])
    code, out, err = run(path, "--pool", "-b")
    assert (code, out) == (0, f"{vendiscore.compute([row[2] for row in ROWS])['VS']!r}\n")
    assert err == f"vendiscore: {path}: 480 texts of column 'answer'; left out: model, prompt\n"


def test_model_column_of_distinct_values_does_not_split_rows(run, save):
    path = save("cars.csv", "model,mpg,cyl\na,1,2.5\nb,2,3\nc,2,1\n")
    expected = vendiscore.compute(np.array([[1, 2.5], [2, 3], [2, 1]]), k="cosine")["VS"]
    assert run(path, "-b", "--quiet") == (0, f"{expected!r}\n", "")


def test_vectors_are_split_by_model_and_grouped_by_label_column(run, save):
    X = np.random.default_rng(0).standard_normal((12, 2))
    rows = [f"{x!r},{y!r},{'ab'[i % 2]},{i % 3}" for i, (x, y) in enumerate(X.tolist())]
    path = save("x.csv", "\n".join(["x,y,model,part", *rows]))
    expected = vendiscore.compute(X, groups=[i % 3 for i in range(12)], k="cosine")["VS"]
    assert run(path, "--group-by", "part", "--pool", "-b")[1] == f"{expected!r}\n"
    model_rows = json.loads(run(path, "--column", "x,y", "-k", "cosine", "-f", "json")[1])
    expected = [vendiscore.compute(X[i::2], k="cosine")["VS"] for i in range(2)]
    assert [row["VS"] for row in model_rows] == expected


def test_unusable_sample_error_names_file_and_model(run, save):
    path = save("a.csv", "model,answer\na,x y\na,z\nb,\nb,u v\n")
    code, _, err = run(path)
    assert code == 1
    assert "a.csv › b, row 4, column 'answer' has no tokens" in err


def test_html_report_rejects_several_sets_and_suggests_commands(run, save):
    path = save("a.csv", build_model_table(["model", "prompt", "answer"])[0])
    code, out, err = run(path, "-f", "html")
    assert (code, out) == (2, "")
    assert "a report is about one set, got 3 sets by column 'model'. Type one of:\n" in err
    lines = err.partition("Type one of:\n")[2].splitlines()
    assert [line.split()[1] for line in lines] == [path, "compare", "sources"]
    for line in lines:
        assert run(*shlex.split(line)[1:])[0] == 0, line


def parse_worst_rows(text, columns):
    return [line.split()[:columns] for line in text.partition("lowest VS:\n")[2].splitlines()[1:]]


def test_worst_lists_groups_with_lowest_score(run, save):
    rows = ["p1,a b", "p1,a b", "p2,a b", "p2,c d", "p3,a b", "p3,a c"]
    path = save("a.csv", "\n".join(["prompt,answer", *rows]))
    out = run(path, "--worst", 2)[1]
    assert parse_worst_rows(out, 2) == [["p1", "2"], ["p3", "2"]]
    assert len(parse_worst_rows(run(path, "--worst", 9)[1], 2)) == 3
    table = list(csv.DictReader(io.StringIO(run(path, "--worst", 2, "-f", "csv")[1])))
    assert [row["group"] for row in table] == ["p1", "p3"]
    assert float(table[0]["VS"]) == 1
    assert "signature" not in table[0]
    signature = run(path, "--signature")[1].splitlines()[-1]
    text = run(path, "--worst", 2, "-f", "csv", "--signature")[1]
    assert [row["signature"] for row in csv.DictReader(io.StringIO(text))] == [signature] * 2
    assert "### groups with the lowest VS" in run(path, "--worst", 2, "-f", "md")[1]


def test_worst_lists_groups_per_model(run, save):
    rows = [
        "m,p1,a b",
        "m,p1,a b",
        "m,p2,a b",
        "m,p2,c d",
        "n,p1,a b",
        "n,p1,c d",
        "n,p2,a",
        "n,p2,a",
    ]
    path = save("a.csv", "\n".join(["model,prompt,answer", *rows]))
    default_output, out = run(path)[1], run(path, "--worst", 1)[1]
    assert out.startswith(default_output)
    assert parse_worst_rows(out, 2) == [["m", "p1"], ["n", "p2"]]
    table = list(csv.DictReader(io.StringIO(run(path, "--worst", 1, "-f", "csv")[1])))
    assert [(row["file"], row["group"]) for row in table] == [("m", "p1"), ("n", "p2")]


def test_worst_without_groups_raises_error_with_grouping_flags(run, texts):
    code, out, err = run(texts, "--worst", 3)
    assert (code, out) == (2, "")
    assert "--worst requires groups or prompts" in err
    assert "--prompt or --group-by" in err


def test_measure_options_and_references_match_compute(run, save):
    X, Y = np.random.default_rng(0).standard_normal((2, 12, 3))
    sample_file, reference_file = save("x.csv", ""), save("y.csv", "")
    for path, rows in ((sample_file, X), (reference_file, Y)):
        np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    result = vendiscore.compute(X, Y, measures={"MagDiff": {"n_scales": 5}})
    printed = run(
        sample_file, "--references", reference_file, "-m", "MagDiff:n_scales=5", "-b", "--quiet"
    )
    assert printed == (0, f"{result['MagDiff']!r}\n", "")


def test_name_of_measure_set_computes_all_measures(run, texts):
    result = vendiscore.compute(TEXTS, measures="molecules")
    printed = run(texts, "-m", "molecules", "-b", "-k", "ngram_overlap")[1]
    assert printed == " ".join(map(repr, result.values())) + "\n"


def test_vectors_use_cosine_kernel_by_default_with_note(run, save):
    X = np.random.default_rng(0).standard_normal((9, 3))
    path = save("x.csv", "")
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    code, printed, notes = run(path, "-b")
    assert (code, printed) == (0, f"{vendiscore.compute(X, k='cosine')['VS']!r}\n")
    summary = f"vendiscore: {path}: 9 vectors\n"
    assert (
        notes
        == f"{summary}vendiscore: {path}: vectors are compared by cosine similarity (-k cosine)\n"
    )
    rbf = vendiscore.compute(X, k="rbf", sigma=2)["VS"]
    assert run(path, "-b", "-k", "rbf:sigma=2") == (0, f"{rbf!r}\n", summary)
    mag = vendiscore.compute(X, measures="MagArea", t_cut=3)["MagArea"]
    assert run(path, "-b", "-m", "MagArea", "-o", "t_cut=3")[:2] == (0, f"{mag!r}\n")
    K = vendiscore.compute(X, score_X=True, normalize=True)["VS"]
    unit = run(path, "-b", "-o", "score_X=true", "-o", "normalize=true")
    assert unit == (0, f"{K!r}\n", summary)


def test_html_output_equals_report(run, texts):
    code, printed, _ = run(texts, "-f", "html")
    assert code == 0
    assert printed.lower().startswith("<!doctype html>")
    assert texts in printed
    report = vendiscore.report(TEXTS, q=1, title=texts).html()  # type: ignore[attr-defined]
    assert printed.rstrip("\n") == report.rstrip("\n")


USAGE = [
    (["{x}", "-k", "ngrm"], "unknown kernel -k 'ngrm'. The most similar names are"),
    (["{x}", "-k", "ngram_overlap:nn=1"], "'nn' is not an option of kernel 'ngram_overlap'"),
    (["{x}", "-q", "-1"], "must be a number in"),
    (["{x}", "-q", "x"], "-q must be a number in"),
    (["{x}", "-m", "Inddiv"], "unknown measure 'Inddiv'. Did you mean 'IntDiv'?"),
    (["{x}", "-o", "nss=1"], "unknown keyword 'nss'. Did you mean `ns`?"),
    (["{x}", "-o", "ns"], "-o must be OPTION=VALUE, got 'ns'"),
    (["{x}", "-o", "k=bleu"], "is not supported; use -k instead"),
    (
        ["{x}", "-o", "given_prompt=true"],
        "one prompt for all samples; if each sample has a prompt, pass --given-prompt instead",
    ),
    (["{x}", "-o", "counts=1"], "is not supported; use --counts instead"),
    (["{x}", "-o", "model=str.split"], "requires a Python object"),
    (["{x}", "-m", "MagDiff"], "--references FILE"),
    (["{x}", "--references", "{x}"], "VS uses only one set"),
    (["{x}", "-m", "WithinVS"], "name their column with --group-by or --prompt"),
    (["{x}", "-w", "2"], "there is no option -w. Tables have four significant digits; -f csv and"),
    (["{x}", "--skip-rows", "-2"], "expected a whole number of at least 0"),
    (["{x}", "-o", "score_K=1"], "is not supported; use --matrix instead"),
    (["{x}", "-f", "xml"], "invalid choice: 'xml'"),
    (["-", "-"], "standard input (-) can be read only once"),
    (["{x}", "{x}", "-f", "html"], "a report is about one set, got 2 sets; pass one FILE"),
]


@pytest.mark.parametrize(("argv", "message"), USAGE, ids=lambda value: " ".join(value).strip("{}"))
def test_usage_errors_exit_with_2(run, texts, argv, message):
    code, out, err = run(*(arg.format(x=texts) for arg in argv))
    assert (code, out) == (2, "")
    assert message in err


def test_file_named_like_command_can_be_scored(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "select").write_text("a b\nc d\n")
    assert run("./select", "-b", "--quiet") == (0, "2.0\n", "")
    assert run("score", "select", "-b", "--quiet") == (0, "2.0\n", "")


def test_options_are_accepted_between_files(run, texts, other_texts):
    assert run(texts, "-q", 2, other_texts, "-b")[1].count("\n") == 2


def test_warning_is_printed_on_single_line(run, save):
    code, _, err = run(save("s.txt", "CCO\nc1ccccc1O\nCC(=O)O\n"), "--type", "txt", "--quiet")
    assert code == 0
    assert err.startswith("vendiscore: warning: ")
    assert "SMILES" in err
    assert len(err.splitlines()) == 1


def test_missing_package_error_shows_install_command(run, save, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    code, out, err = run(save("m.smi", "CCO\nCCC\n"))
    assert (code, out) == (1, "")
    assert "pip install" in err


def test_prompt_column_and_given_prompt_match_compute(run, save):
    prompts = ["Did Spot run?", "Who?", "Did Jane look?", "Who?"]
    rows = [
        {"answer": text, "prompt": prompt, "model": "ab"[i % 2]}
        for i, (text, prompt) in enumerate(zip(TEXTS, prompts, strict=True))
    ]
    file = save("p.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    expected_score = vendiscore.compute(TEXTS, groups=prompts)["VS"]
    column_options = ("--column", "answer", "--prompts", "prompt", "--pool")
    assert run(file, *column_options, "-b")[1] == f"{expected_score!r}\n"
    result = vendiscore.compute(TEXTS, prompts=prompts, given_prompt=True, details=True)
    code, out, _ = run(file, *column_options, "--given-prompt", "--signature")
    score_line = f"VS = {result['VS']:.4g} (standard error {result['VS_se']:.4g})"
    assert (code, out.splitlines()[0]) == (0, score_line)
    assert result["details"]["signature"] in out
    grouped = vendiscore.compute(TEXTS, groups=list("abab"), prompts=prompts, given_prompt=True)[
        "VS"
    ]
    repeated_prompts = ["Did Spot run?", "Who?"] * 2
    result = vendiscore.compute(TEXTS, prompts=repeated_prompts, given_prompt=True)["VS"]
    no_models = [{"answer": x, "prompt": y} for x, y in zip(TEXTS, repeated_prompts, strict=True)]
    file_without_models = save("n.jsonl", "".join(f"{json.dumps(row)}\n" for row in no_models))
    assert (
        run(file_without_models, "--given-prompt", "-b")[1] == f"{result!r}\n"
    )  # the column is found
    options = ("--column", "answer", "--prompts", "prompt", "--given-prompt", "-b")
    assert run(file, *options, "--group-by", "model")[1] == f"{grouped!r}\n"
    mmd = vendiscore.compute(
        TEXTS, TEXTS[::-1], prompts=[prompts, prompts[::-1]], given_prompt=True, measures="MMD"
    )
    reversed_file = save("b.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows[::-1]))
    assert (
        run(file, *options, "--pool", "-m", "MMD", "--references", reversed_file)[1]
        == f"{mmd['MMD']!r}\n"
    )


def test_row_without_prompt_is_rejected(run, save):
    file = save("p.csv", "answer,prompt\na b,u\nc d,\n")
    code, _, err = run(file, "--column", "answer", "--prompts", "prompt")
    assert code
    assert "row 3, column 'prompt', is empty, so the sample has no prompt" in err.replace(
        "column 'prompt' is", "column 'prompt', is"
    )


def test_prompts_option_sets_common_prompt(run, texts):
    result = vendiscore.compute(TEXTS, prompts="What of Spot?", given_prompt=True)["VS"]
    assert (
        run(texts, "-b", "-o", "prompts=What of Spot?", "-o", "given_prompt=true")[1]
        == f"{result!r}\n"
    )


def test_verbatim_repetitions_of_prompt_are_counted(run, texts):
    result = vendiscore.compute(TEXTS, prompts=TEXTS[0], given_prompt=True)["VS"]
    code, out, err = run(texts, "-o", f"prompts={TEXTS[0]}", "-o", "given_prompt=true")
    assert (code, out.splitlines()[0]) == (0, f"VS = {result:.4g}")
    assert f"of {len(TEXTS)} samples repeat their prompt: they count as identical" in out + err


PARAPHRASES = [
    "A dog sleeps.",
    "The puppy is taking a nap.",
    "Stocks fell.",
    "Share prices dropped.",
]
BY_MEANING = " by meaning (static word vectors, -k static)"


@pytest.fixture
def static():
    """Skip the test if the package of static word vectors is not installed."""
    pytest.importorskip("tokenizers")
    if find_spec("wordllama") is None:
        pytest.skip("needs wordllama")


@pytest.mark.usefixtures("static")
def test_prose_is_scored_by_wording_and_meaning(run, save):
    path = save("same.txt", "\n".join(PARAPHRASES))
    words = vendiscore.compute(PARAPHRASES, details=True)
    meaning = vendiscore.compute(PARAPHRASES, k="static")["VS"]
    lines = run(path)[1].splitlines()
    assert lines[:3] == [
        f"VS = {words['VS']:.4g}",
        f"VS = {meaning:.4g}{BY_MEANING}",
        "n = 4",
    ]
    assert "-k semantic more closely." in lines[-1]
    assert meaning < words["VS"] - 0.5


@pytest.mark.usefixtures("static")
def test_first_number_is_printed_before_the_word_vectors_are_read(save, monkeypatch, capsys):
    path = save("same.txt", "\n".join(PARAPHRASES))
    printed = []

    def record_output(*args):
        printed.append(capsys.readouterr())
        return score_by_meaning(*args)

    score_by_meaning = command_score._score_by_meaning
    monkeypatch.setattr(command_score, "_score_by_meaning", record_output)
    assert main([str(path)]) == 0
    (before,) = printed
    assert before.out == f"VS = {vendiscore.compute(PARAPHRASES)['VS']:.4g}\n"
    assert before.err == f"vendiscore: {path}: 4 texts\n"
    assert capsys.readouterr().out.splitlines()[0].endswith(BY_MEANING)


PROTEINS = ["MKTAYIAKQRQISFVKSHFSRQLEER", "MKTAYIAKQRQISFVKSHFSRQLEEK", "GSHMASMTGGQQMGRGSEFELRR"]
JAPANESE = ["猫がソファで寝ている。", "今日は株価が急落した。", "彼女は毎晩バイオリンを弾く。"]
UNSUITABLE_TEXTS = {
    "the samples are sequences of letters (proteins or DNA)": PROTEINS,
    "the samples look like SMILES of molecules": ["CC(=O)O", "c1ccccc1", "CCBr", "C1CC1"],
    "the samples look like identifiers or numbers": ["user_1", "user_2", "order-77"],
    "the texts are mostly Japanese": JAPANESE,
}


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize(("reason", "texts"), UNSUITABLE_TEXTS.items())
def test_reason_for_missing_score_by_meaning_is_printed(
    run, save, monkeypatch, reason, texts, installed
):
    if not installed:
        monkeypatch.setitem(sys.modules, "wordllama", None)
    path = save("x.txt", "\n".join(texts))
    code, out, _ = run(path, "--type", "txt")
    lines = out.splitlines()
    assert (code, lines[0].startswith("VS = "), lines[2]) == (0, True, f"n = {len(texts)}")
    assert lines[1] == (
        f"By meaning: not computed, because {reason}; static word vectors and -k semantic are for "
        f"English text."
    )
    assert "FILE -k semantic" not in out
    assert "By meaning" not in run(path, "-b")[1] + run(path, "-k", "ngram_overlap")[1]


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize(("reason", "texts"), UNSUITABLE_TEXTS.items())
def test_static_kernel_warns_about_unsuitable_texts(run, save, reason, texts):
    code, out, err = run(save("x.txt", "\n".join(texts)), "-k", "static")
    assert (code, out.startswith("VS = ")) == (0, True)
    assert "with the model wordllama is for prose in Latin script" in err
    assert reason in err


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.fa"])
def test_proteins_are_compared_by_letters_in_every_file_type(run, save, name):
    text = "\n".join([*(["protein"] if name == "x.csv" else []), *PROTEINS])
    if name == "x.fa":
        text = "".join(f">{i}\n{protein}\n" for i, protein in enumerate(PROTEINS))
    path = save(name, text)
    expected = vendiscore.compute(PROTEINS, analyzer="char")["VS"]
    code, out, err = run(path)
    assert (code, out.splitlines()[0]) == (0, f"VS = {expected:.4g}")
    assert "sequences are compared by n-grams of 1 to 4 letters" in err
    assert float(run(path, "-o", "analyzer=word", "-b")[1]) == pytest.approx(3)


@pytest.mark.usefixtures("static")
def test_score_by_meaning_uses_same_orders_groups_and_interval(run, save):
    warnings.simplefilter("ignore", UserWarning)  # two samples are few
    flags = ("--group-by", "model", "--column", "answer", "--ci", "-q", "1,2")
    options = {"k": "static", "groups": list("abcabc"), "ci": 0.95, "q": [1, 2]}
    texts = [*TEXTS, "a bird sang", "the bird sang"]
    rows = [{"answer": text, "model": "abc"[i % 3]} for i, text in enumerate(texts)]
    answers = save("three.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    result = vendiscore.compute(texts, **options)
    lines = [line for line in run(answers, *flags)[1].splitlines() if BY_MEANING in line]
    for name, line in zip(("VS_q1", "VS_q2"), lines, strict=True):
        low, high = result[f"{name}_low"], result[f"{name}_high"]
        assert line.startswith(
            f"{name} = {result[name]:.4g} (95 % interval {low:.4g} to {high:.4g}"
        )


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize(
    "options",
    [("-b",), ("-f", "json"), ("-f", "csv"), ("-f", "md"), ("-k", "ngram_overlap"), ("-m", "VS")],
)
def test_calls_without_default_output_do_not_use_static_vectors(run, texts, options, monkeypatch):
    expected = run(texts, *options)
    monkeypatch.setitem(sys.modules, "wordllama", None)
    assert run(texts, *options) == expected
    assert "by meaning" not in expected[1]


@pytest.mark.usefixtures("static")
def test_score_by_meaning_is_omitted_for_sets_vectors_and_large_files(
    run, texts, other_texts, save, monkeypatch
):
    vector_file = save("v.csv", "a,b\n1,2\n3,4\n")
    assert "by meaning" not in run(texts, other_texts)[1] + run(vector_file)[1]
    monkeypatch.setattr("vendiscore.tools.cli.command_score._MAX_SEMANTIC_TEXTS", 3)
    assert "by meaning" not in run(texts)[1]


@pytest.mark.usefixtures("static")
def test_text_without_static_vector_omits_score_by_meaning(run, save):
    path = save("x.txt", "\n".join([*PARAPHRASES, "<unk>"]))
    code, out, err = run(path)
    assert code == 0
    assert out.startswith(f"VS = {vendiscore.compute([*PARAPHRASES, '<unk>'])['VS']:.4g}\nn = 5\n")
    assert f"no score by meaning: {path}, line 5 has an embedding of zeros" in err


@pytest.mark.usefixtures("static")
def test_score_by_meaning_uses_only_samples_scored_by_wording(run, save):
    path = save("x.csv", "\n".join(["answer", *PARAPHRASES, '"  "']))  # two spaces have a vector
    out = run(path, "--on-error", "skip")[1]
    assert (
        f"VS = {vendiscore.compute(PARAPHRASES, k='static')['VS']:.4g}{BY_MEANING}\nn = 4\n" in out
    )


@pytest.mark.parametrize(
    ("argument", "q", "keys"),
    [
        ("1", 1, ["VS"]),
        ("1.0", 1, ["VS"]),
        ("2", 2, ["VS_q2"]),
        ("inf", "inf", ["VS_qinf"]),
        ("0.5", 0.5, ["VS_q0.5"]),
        ("1,2", [1, 2], ["VS_q1", "VS_q2"]),
    ],
)
def test_keys_contain_order_in_every_format(run, texts, argument, q, keys):
    expected = vendiscore.compute(TEXTS, q=q)
    assert list(expected) == keys
    result = json.loads(run(texts, "-q", argument, "-f", "json")[1])
    assert {key: result[key] for key in keys} == pytest.approx(expected)
    assert [key for key in result if key.startswith("VS")] == keys
    text = run(texts, "-q", argument)[1]
    assert [line.split(" = ")[0] for line in text.splitlines()[: len(keys)]] == keys
    (row,) = csv.DictReader(io.StringIO(run(texts, "-q", argument, "-f", "csv")[1]))
    assert {key: float(row[key]) for key in keys} == pytest.approx(expected)
    assert run(texts, "-q", argument, "-b")[1].split() == [
        repr(value) for value in expected.values()
    ]


def test_intervals_and_group_table_show_order(run, answers):
    out = run(answers, "--group-by", "model", "--column", "answer", "--ci", "-q", 2)[1]
    assert out.startswith("VS_q2 = ")
    assert "group  n  VS_q2" in out.replace("  n   ", "  n  ")


BIRDS = "site,robin,wren,crow,tit\nA,5,3,0,1\nB,0,2,6,1\nC,1,1,1,4\n"


def test_counts_of_sites_are_pooled_on_request(run, save):
    """Without --pool, the score is the mean over sites."""
    path = save("birds.csv", BIRDS)
    sites = np.array([[5, 3, 0, 1], [0, 2, 6, 1], [1, 1, 1, 4]])
    pooled = vendiscore.compute(counts=sites.sum(axis=0))["VS"]
    mean = vendiscore.compute(counts=sites)["VS"]
    assert mean < pooled
    assert run(path, "--counts", "--pool", "-b", "--quiet") == (0, f"{pooled!r}\n", "")
    code, out, _ = run(path, "--counts", "-b", "--quiet")
    assert (code, float(out)) == (0, pytest.approx(mean))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.fasta", ">a\nMKVLAAGIVGLLLAQWERTYHGF\n>b\nMKTAYIAKQRQISFVKSHFSRQLE\n"),
        ("a.txt", "猫が座る。\n雨が降る。\n"),
    ],
)
def test_no_advice_about_meaning_for_other_samples_than_english_prose(run, save, name, data):
    code, printed, _ = run(save(name, data), "-k", "ngram_overlap:analyzer=char")
    assert code == 0
    assert "semantic" not in printed
    assert WORDING_NOTE not in printed


def test_counts_are_not_repeated(run, save, monkeypatch):
    """1.4 million individuals are scored from a table of 40 counts."""
    monkeypatch.setattr(RepeatedLabels, "__iter__", lambda labels: pytest.fail("repeated"))
    monkeypatch.setattr(RepeatedLabels, "__array__", lambda *_: pytest.fail("repeated"))
    counts = np.random.default_rng(0).integers(0, 70_000, (4, 10))
    rows = [f"s{i},{'ab'[i % 2]}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    names = ",".join(f"sp{i}" for i in range(10))
    path = save("large.csv", "\n".join([f"site,habitat,{names}", *rows]))
    for flags, result in (
        (["--pool"], vendiscore.compute(counts=counts.sum(axis=0))),
        (["--group-by", "habitat"], vendiscore.compute(counts=counts, groups=[0, 1, 0, 1])),
        ([], vendiscore.compute(counts=counts)),
    ):
        code, out, _ = run(path, "--counts", *flags, "-b", "--quiet")
        assert (code, float(out)) == (0, pytest.approx(result["VS"], rel=1e-12))
    code, out, _ = run(path, "--counts", "--by", "habitat", "--quiet", "-f", "csv")
    assert (code, len(out.splitlines())) == (0, 3)


@pytest.mark.parametrize("flags", [[], ["--pool", "--ci"], ["--ci", "-q", "0.5,1,2"]])
def test_counts_match_labels_of_individuals(run, save, flags):
    """Scores and intervals are the same as for one row per individual."""
    counts = np.random.default_rng(0).integers(0, 9, (4, 5))
    rows = [f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    table = save("counts.csv", "\n".join(["site,a,b,c,d,e", *rows]))
    labels = [
        f"s{i},{species}"
        for i, row in enumerate(counts)
        for species, count in zip("abcde", row, strict=True)
        for _ in range(count)
    ]
    individuals = save("individuals.csv", "\n".join(["site,species", *labels]))
    _, expected, _ = run(
        individuals, "--column", "species", "-k", "labels", *flags, "-f", "json", "--quiet",
        *([] if "--pool" in flags else ["--group-by", "site"]),
    )  # fmt: skip
    code, out, _ = run(table, "--counts", *flags, "-f", "json", "--quiet")
    result, expected = json.loads(out), json.loads(expected)
    assert code == 0
    assert result["details"]["n"] == expected["details"]["n"] == counts.sum()
    for key in expected.keys() - {"details"}:
        assert result[key] == pytest.approx(expected[key], rel=1e-12)


def test_rows_are_weighted_by_a_column(run, save):
    path = save("weighted.csv", "text,count\na red fox,3\nthe blue sea,1\na tall tree,5\n")
    code, _, err = run(path)
    assert (code, "--weights count" in err, "--column text" in err) == (2, True, True)
    expected = vendiscore.compute(
        ["a red fox"] * 3 + ["the blue sea"] + ["a tall tree"] * 5, k="ngram_overlap"
    )["VS"]
    code, out, _ = run(path, "--weights", "count", "-b", "--quiet")
    assert (code, float(out)) == (0, pytest.approx(expected, rel=1e-9))
    code, _, err = run(path, "--weights", "count", "--ci")
    assert (code, "not supported with --weights" in err) == (2, True)


def test_kernel_that_measures_do_not_use_is_an_error_and_defaults_are_omitted(run, save, texts):
    code, _, message = run(texts, "-m", "CompressionRatio", "-k", "labels")
    assert code == 2
    assert "-k has no effect on CompressionRatio" in message
    molecules = ["CCO", "CCN", "c1ccccc1"]
    sequences = ["ACGTACGTTTGACCA" * 2 + end for end in ("A", "CC", "GT", "ACG", "TTT", "GACC")]
    for samples in (molecules, sequences):
        path = save("s.txt", "\n".join(samples) + "\n")
        for measure in ("CompressionRatio", "NgramDiversity:sizes=1"):
            name = measure.partition(":")[0]
            options = {"sizes": 1} if ":" in measure else {}
            if samples is sequences and options:
                options["analyzer"] = "char"  # the option of the default kernel that it uses
            code, output, message = run(path, "-m", measure, "-b")
            assert code == 0, message
            expected = vendiscore.compute(samples, measures=name, **options)[name]
            assert float(output) == pytest.approx(expected)
            assert ("are compared by" in message) == ("analyzer" in options)
