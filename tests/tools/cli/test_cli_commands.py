"""The other commands: which set is more diverse, which samples, and what there is."""

import csv
import io
import json
import sys

import numpy as np
import pytest

import vendiscore

MANY = [f"word{i} of {i}" for i in range(20)]
FEW = ["one two", "three four"] * 10


@pytest.fixture
def many(save):
    return save("many.txt", "\n".join(MANY))


@pytest.fixture
def few(save):
    return save("few.txt", "\n".join(FEW))


@pytest.fixture
def answers(save):
    rows = ["id,answer,model,score", "1,a b,x,0.9", "2,a b,y,0.1", '3,"c, d",x,0.5', "4,e f,y,0.7"]
    return save("a.csv", "\n".join(rows) + "\n")


def test_compare_says_which_is_more_diverse(run, many, few):
    code, out, _ = run("compare", many, few, "--permutations", 99, "--signature")
    found = vendiscore.compare({many: MANY, few: FEW}, permutations=99)
    assert code == 0
    assert out.splitlines()[0] == found.sentence
    sets, pairs = (part.splitlines() for part in out.split("\n\n")[1:3])
    assert [line.split()[:2] for line in sets[2:]] == [[many, "20"], [few, "20"]]
    assert pairs[2].endswith("more diverse")
    assert "|permutations=99|seed=0|" in out.splitlines()[-1]


def test_compare_in_json_is_the_dict_of_the_comparison(run, many, few):
    out = run("compare", many, few, "--permutations", 99, "-q", 2, "-f", "json", "--seed", 3)[1]
    found = vendiscore.compare({many: MANY, few: FEW}, permutations=99, q=2, seed=3)
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))


def test_compare_in_csv_has_a_row_a_pair(run, many, few, save):
    third = save("third.txt", "\n".join(f"other{i} of {i}" for i in range(20)))
    out = run("compare", many, few, third, "--permutations", 99, "-f", "csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["a"], row["b"]) for row in rows] == [(many, few), (many, third), (few, third)]
    verdicts = [row["verdict"] for row in rows]
    assert verdicts == ["more diverse", "no difference shown", "less diverse"]


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_compare_within_groups(run, save):
    rows = [[f"t{i % m} x{i % m},{'uv'[i // 10]}" for i in range(20)] for m in (3, 10)]
    paths = [save(f"{i}.csv", "\n".join(["text,prompt", *each])) for i, each in enumerate(rows)]
    out = run(
        "compare", *paths, "--group-by", "prompt", "--quiet", "-f", "json", "--permutations", 99
    )[1]
    texts = [[row.partition(",")[0] for row in each] for each in rows]
    groups = [[row.partition(",")[2] for row in each] for each in rows]
    found = vendiscore.compare(*texts, names=paths, groups=groups, permutations=99)
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))


def test_compare_leaves_out_what_it_is_told_to(run, many, save):
    bad = save("bad.csv", "\n".join(["text", '""', *MANY]))
    code, _, err = run("compare", many, bad, "--permutations", 99)
    assert code == 1
    assert "bad.csv, row 2, column 'text' has no tokens" in err
    code, out, err = run("compare", many, bad, "--permutations", 99, "--on-error", "skip")
    assert code == 0
    assert "bad.csv: 1 sample is left out: row 2" in err
    assert "+0.00 effectively different" in out


def test_select_writes_the_rows_that_it_chose(run, answers):
    code, out, err = run("select", answers, "-n", 2, "--pool")
    assert (code, out) == (0, 'id,answer,model,score\n1,a b,x,0.9\n3,"c, d",x,0.5\n')
    assert "2 of 4 samples by 'vendi', VS (q=1) = 2." in err
    assert run("select", answers, "-n", 2, "--pool", "--rows", "--quiet")[1] == "2\n4\n"


@pytest.mark.parametrize("command", [("select", "-n", 2), ("explain",)])
def test_samples_of_several_models_are_one_set_only_where_asked(run, answers, command):
    code, out, err = run(*command, answers, "--quiet")
    assert (code, out) == (2, "")
    assert "the samples are in 2 sets by column 'model'; pass --pool to take all together" in err


def test_select_has_quality(run, answers):
    asked = ("--pool", "--quiet", "--rows")
    texts = ["a b", "a b", "c, d", "e f"]
    given = run("select", answers, "-n", 2, "--quality", "score", *asked)[1]
    notes = run("select", answers, "-n", 2, "--quality", "score", "--pool")[2]
    assert "4 texts of column 'answer'; left out: id, model\n" in notes
    found = vendiscore.select(texts, 2, quality=[0.9, 0.1, 0.5, 0.7])
    assert given.split() == [str(place + 2) for place in found.places]


def test_select_in_json_has_lines_beside_places(run, many):
    found = json.loads(run("select", many, "-n", 3, "-f", "json", "--objective", "represent")[1])
    assert found.pop("samples") == [place + 1 for place in found["places"]]
    assert found.pop("index") == found["places"]
    assert found == json.loads(
        json.dumps(vendiscore.select(MANY, 3, objective="represent").to_dict())
    )


OTHERS = {
    "x.txt": ("a b\n---\nc\nd\n---\na b\n", "a b\n---\nc\nd\n"),
    "x.smi": ("CCO ethanol\nCCCCCCN amine\nCCO again\n", "CCO ethanol\nCCCCCCN amine\n"),
    "x.jsonl": ('{"t":"a b"}\n{"t":"c"}\n{"t":"a b"}\n', '{"t":"a b"}\n{"t":"c"}\n'),
    "x.json": ('["a b","c","a b"]', '["a b",\n "c"]\n'),
}


@pytest.mark.parametrize("name", OTHERS)
def test_select_writes_what_the_file_had(run, save, name):
    if name.endswith("smi"):
        pytest.importorskip("rdkit")
    data, expected = OTHERS[name]
    sign = ("--split=---",) if name.endswith("txt") else ()
    assert run("select", save(name, data), "-n", 2, *sign, "--quiet") == (0, expected, "")


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_selected_rows_of_an_array_are_written_or_indexed_from_0(run, save, tmp_path, kind):
    X = np.array([[1, 0], [1, 0], [0, 1]], kind)
    np.save(out := io.BytesIO(), X)
    path, chosen = save("x.npy", out.getvalue()), tmp_path / "chosen.npy"
    for command in (("select", path, "-n", 2), ("dedup", path)):
        assert run(*command, "--quiet", "--indices") == (0, "0\n2\n", "")
        assert run(*command, "--quiet", "--output", chosen) == (0, "", "")
        assert np.load(chosen).dtype == kind
        np.testing.assert_array_equal(np.load(chosen), X[[0, 2]])
        result = json.loads(run(*command, "-f", "json")[1])
        assert (result["samples"], result["index"]) == ([1, 3], [0, 2])
        for more in ((), ("--rows",)):
            code, said, err = run(*command, *more)
            assert (code, said) == (2, "")
            assert "--indices" in err


def test_selected_vectors_keep_their_score(run, save, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 30))
    X[20:] = X[:20] + 0.01 * X[20:]
    np.save(out := io.BytesIO(), X)
    path, chosen = save("x.npy", out.getvalue()), tmp_path / "chosen.npy"
    indices = [*map(int, run("select", path, "-n", 20, "--indices")[1].split())]
    run("select", path, "-n", 20, "--output", chosen)
    expected = vendiscore.compute(X[indices], k="cosine")["VS"]
    assert float(run(chosen, "-b")[1]) == expected
    assert indices == json.loads(run("select", path, "-n", 20, "-f", "json")[1])["index"]
    assert {i % 20 for i in indices} == {*range(20)}  # one of each pair of near-copies


def test_selected_rows_of_parquet_are_rows(run, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"id": [7, 8, 9], "answer": ["a b", "a b", "c d"]})
    pq.write_table(table, path := tmp_path / "x.parquet")
    out = run("dedup", path, "--quiet")[1]
    assert [*map(json.loads, out.splitlines())] == table.take([0, 2]).to_pylist()
    run("dedup", path, "--output", tmp_path / "y.parquet")
    assert pq.read_table(tmp_path / "y.parquet").equals(table.take([0, 2]))
    assert run("dedup", path, "--indices")[1] == "0\n2\n"


def test_indices_count_samples_that_are_left_out(run, save):
    path = save("x.csv", 'id,text\n1,""\n2,a b\n3,a b\n4,c d\n')
    asked = ("dedup", path, "--on-error", "skip", "--quiet")
    assert run(*asked, "--indices")[1] == "1\n3\n"
    assert run(*asked, "--rows")[1] == "3\n5\n"
    result = json.loads(run(*asked, "-f", "json")[1])
    assert (result["samples"], result["index"]) == ([3, 5], [1, 3])


def test_selected_rows_are_written_into_a_file(run, answers, tmp_path):
    target = tmp_path / "chosen.csv"
    printed = run("select", answers, "-n", 2, "--pool")[1]
    assert run("select", answers, "-n", 2, "--pool", "--quiet", "--output", target) == (0, "", "")
    assert target.read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rows", "--indices"), "--rows and --indices contradict each other"),
        (("--rows", "-f", "json"), "-f json has row numbers and indices; remove --rows"),
        (("--output", "{x}"), "is the file that is read; name another one"),
        (("--output", "y.npy"), "cannot hold samples of"),
    ],
)
def test_outputs_of_select_that_contradict_are_refused(run, many, more, said):
    code, out, err = run("select", many, "-n", 2, *(each.format(x=many) for each in more))
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize("threshold", [0.95, 0.3])
def test_dedup_writes_the_rows_that_explain_keeps(run, answers, threshold):
    asked = ("dedup", answers, "--pool", "--threshold", threshold)
    kept = vendiscore.explain(["a b", "a b", "c, d", "e f"], threshold=threshold).kept
    code, out, err = run(*asked)
    with open(answers, encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    assert (code, out.splitlines()) == (0, [head, *(lines[i] for i in kept)])
    assert "3 of 4 samples are kept, without repeats (similarity" in err
    assert run(*asked, "--quiet", "--rows") == (0, "2\n4\n5\n", "")


def test_growth_has_a_row_for_each_size(run, many):
    found = vendiscore.growth(MANY, [5, 10, 40], level=0.9, q=2)
    asked = ("growth", many, "--sizes", "10,5,40", "--level", 0.9, "-q", 2)
    code, out, _ = run(*asked, "--signature")
    assert code == 0
    assert out.splitlines()[0] == found.sentence
    assert "|q=2|level=0.9|" in out.splitlines()[-1]
    assert json.loads(run(*asked, "-f", "json")[1]) == json.loads(json.dumps(found.to_dict()))
    rows = list(csv.DictReader(io.StringIO(run(*asked, "-f", "csv")[1])))
    assert [int(row["size"]) for row in rows] == [5, 10, 40]
    assert [float(row["score"]) for row in rows] == list(found.scores)
    few = json.loads(run("growth", many, "--sizes", 7, "-f", "json")[1])
    assert few["size"] == [7]


def test_growth_is_the_mean_over_prompts(run, save):
    rows = [f"word{i} of {i % 5},{'uvw'[i % 3]}" for i in range(20)]
    path = save("p.csv", "\n".join(["answer,prompt", *rows]))
    texts, prompts = zip(*(row.split(",") for row in rows), strict=True)
    found = vendiscore.growth(list(texts), prompts=list(prompts), given_prompt=False)
    out = run("growth", path, "--column", "answer", "--prompt", "prompt", "-f", "json")[1]
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))


def test_report_is_the_page_of_a_set(run, many):
    assert run("report", many) == run(many, "-f", "html")
    code, _, err = run("explain", many, many)
    assert (code, "explain takes one FILE, got 2" in err) == (2, True)


def test_explain_tells_duplicates_modes_and_what_adds(run, answers):
    code, out, _ = run("explain", answers, "--pool")
    found = vendiscore.explain(["a b", "a b", "c, d", "e f"])
    assert code == 0
    assert out.splitlines()[0] == found.sentence
    parts = dict(part.split(":\n") for part in out.split("\n\n")[1:4])
    assert parts["near-duplicates"].splitlines()[1].split() == ["2", "3", "a", "b"]
    assert parts["modes"].splitlines()[1].split()[0] == "0.5"
    assert parts["samples that add the most"].count("\n") >= 4


def test_explain_in_csv_has_a_row_a_sample(run, answers):
    out = run("explain", answers, "--pool", "-f", "csv", "--threshold", 0.9)[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    found = vendiscore.explain(["a b", "a b", "c, d", "e f"], threshold=0.9)
    assert [float(row["adds"]) for row in rows] == found.adds.tolist()
    assert [row["row"] for row in rows] == ["2", "3", "4", "5"]
    assert [row["redundant_of"] for row in rows] == ["", "2", "", ""]
    assert [row["sample"] for row in rows] == ["a b", "a b", "c, d", "e f"]


def test_explain_in_json_is_the_dict_of_the_explanation(run, answers):
    out = json.loads(run("explain", answers, "--pool", "-f", "json", "-q", 2)[1])
    assert out.pop("places") == [2, 3, 4, 5]
    found = vendiscore.explain(["a b", "a b", "c, d", "e f"], q=2)
    assert out == json.loads(json.dumps(found.to_dict(), allow_nan=False))


def test_explain_names_what_the_kernel_left_out(run, save):
    path = save("x.csv", 'text\na b\n""\nc d\n')
    code, out, err = run("explain", path, "--on-error", "skip", "-f", "csv")
    assert code == 0
    assert "row 3, column 'text' has no tokens" in err
    assert [row["row"] for row in csv.DictReader(io.StringIO(out))] == ["2", "4"]


def test_kernels_and_measures_are_listed(run):
    out = run("kernels")[1]
    listed = [kernel.name for kernel in vendiscore.list_kernels()]
    assert [line.split()[0] for line in out.splitlines()[1:]] == sorted(
        [*listed, "semantic", "static"]
    )
    out = run("measures")[1]
    assert [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]] == [
        measure.name for measure in vendiscore.list_measures()
    ]
    assert "-m text" in out.split("\n\n")[1]
    assert run("measures", "molecules")[1].startswith("-m molecules means VS, IntDiv. ")


def test_the_catalogue_names_the_encoder_in_use(run):
    lines = {line.split()[0]: line for line in run("kernels")[1].splitlines()}
    encoders = {
        "semantic": "sentence-transformers/all-MiniLM-L6-v2",
        "static": "wordllama",
        "text_embeddings": "SimCSE",
        "image_embeddings": "Inception v3",
    }
    for name, encoder in encoders.items():
        assert encoder in lines[name]
    for name in ("semantic", "static", "owner/model"):
        encoder = encoders.get(name, name)
        described = run("kernels", name)[1]
        assert described.startswith(f"k={name!r} is k='text_embeddings' with the model {encoder}.")
        assert f"model_path={encoder!r}" in described
        assert "simcse" not in described


def test_one_kernel_or_measure_is_told_whole(run):
    assert run("kernels", "rbf")[1] == f"{vendiscore.get_kernel('rbf').__doc__.strip()}\n"
    out = run("measures", "MagArea")[1]
    assert "n_scales=30" in out
    assert "area under the magnitude function" in out
    code, _, err = run("kernels", "rbff")
    assert code == 2
    assert "Did you mean 'rbf'?" in err


USAGE = [
    (["compare", "{x}"], "two or more different files"),
    (["compare", "{x}", "{x}"], "compare takes two or more different files"),
    (["compare", "{x}", "{y}", "--level", "2"], "--level must be a level from 0.5 to below 1"),
    (["compare", "{x}", "{y}", "--permutations", "5"], "--permutations must be"),
    (
        ["compare", "{x}", "{y}", "-q", "1,2"],
        "`-q` must be a number in [0, inf] or 'inf', got [1, 2]",
    ),
    (["compare", "{x}", "{y}", "-o", "sigm=1"], "unknown keyword `sigm`"),
    (["select", "{x}"], "select needs -n, the number of samples to choose"),
    (["select", "{x}", "-k", "3"], "as in -n 3; -k names a kernel"),
    (["model"], "arguments are required: download."),
    (["compare", "{x}", "{y}", "--test", "t"], "tests by permutations, with --group-by within"),
    (["{x}", "--field", "answer"], "Did you mean --column?"),
    (["{x}", "--groups", "prompt"], "Did you mean --group-by?"),
    (["explain", "{x}", "--by", "model"], "--by is an option of `vendiscore score`"),
    (["select", "{x}", "-n", "2", "--quota", "1"], "quota={label: count}) has quotas, in Python"),
    (["compare", "{x}", "{y}", "--within", "1"], "compare(a, b, within=0.05) asks whether"),
    (["{x}", "--clusters", "speaker"], "compute(samples, clusters=labels, ci=0.95) has the"),
    (["select", "{x}", "-n", "-2"], "expected a whole number"),
    (["explain", "{x}", "-k", "ngrm"], "unknown kernel"),
    (["explain", "{x}", "--threshold", "high"], "--threshold: invalid float value: 'high'"),
    (["page", "--port", "x"], "--port: expected a whole number of at least 0, got 'x'"),
]


@pytest.mark.parametrize(("argv", "said"), USAGE, ids=lambda value: " ".join(value).strip("{}"))
def test_a_command_that_cannot_be_meant_ends_with_2(run, many, few, argv, said):
    code, out, err = run(*(arg.format(x=many, y=few) for arg in argv))
    assert (code, out) == (2, "")
    assert said in err


def test_the_page_without_gradio_says_how_to_install_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    said = "the page needs the package 'gradio', which is not installed"
    wanted = f"vendiscore: error: {said}: pip install -e '.[app]' in a clone of the repository\n"
    assert run("page", "--port", 8000) == (1, "", wanted)


def test_more_than_there_are_cannot_be_selected(run, many):
    code, _, err = run("select", many, "-n", 21)
    assert code == 1
    assert "there are 20 samples" in err


@pytest.mark.filterwarnings("ignore:Intervals have no width")
def test_prompts_of_a_column_are_taken_out(run, save):
    texts, asked = [*MANY[:6], *FEW[:6]], [f"x{i % 3} what of a" for i in range(12)]
    rows = [
        {"answer": t, "prompt": u, "set": "mf"[i // 6]}
        for i, (t, u) in enumerate(zip(texts, asked, strict=True))
    ]
    file = save("p.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    how = ("--column", "answer", "--prompt", "prompt", "-f", "json")
    found = json.loads(run("explain", file, *how)[1])
    expected = vendiscore.explain(texts, prompts=asked, given_prompt=False)
    assert found["samples"]["adds"] == pytest.approx(expected.adds)
    told = json.loads(run("compare", file, "--by", "set", "--permutations", 99, *how)[1])
    by = [row["set"] for row in rows]
    sets = vendiscore.compare(texts, by=by, groups=asked, permutations=99)
    assert [each["score"] for each in told["sets"]] == pytest.approx([s.score for s in sets.sets])
    code, out, err = run("select", file, "-n", 3, *how)
    assert (code, out) == (2, "")
    assert "take the prompts out of similarities by --given-prompt" in err
    code, _, err = run("explain", file, "--pool", "--given-prompt")
    assert code == 2
    assert "--given-prompt needs the column of prompts: name it with --prompt" in err
    how = (*how, "--given-prompt")
    found = json.loads(run("explain", file, *how)[1])
    expected = vendiscore.explain(texts, prompts=asked, given_prompt=True)
    assert found["samples"]["adds"] == pytest.approx(expected.adds)
    chosen = json.loads(run("select", file, "-n", 3, *how)[1])
    assert (
        chosen["places"]
        == vendiscore.select(texts, 3, prompts=asked, given_prompt=True).places.tolist()
    )
    sets = vendiscore.compare(
        texts, by=[row["set"] for row in rows], prompts=asked, given_prompt=True, permutations=99
    )
    told = json.loads(run("compare", file, "--by", "set", "--permutations", 99, *how)[1])
    assert [each["score"] for each in told["sets"]] == pytest.approx([s.score for s in sets.sets])
    files = [
        save(f"{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in some))
        for name, some in (("m", rows[:6]), ("f", rows[6:]))
    ]
    for more in ((), ("--on-error", "skip")):
        told = json.loads(run("compare", *files, "--permutations", 99, *how, *more)[1])
        assert [s["score"] for s in told["sets"]] == pytest.approx([s.score for s in sets.sets])
