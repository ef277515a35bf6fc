"""`vendiscore select` and `vendiscore dedup` write the selected samples."""

import io
import json

import numpy as np
import pytest

import vendiscore

DISTINCT_TEXTS = [f"word{i} of {i}" for i in range(20)]
FILES_BEFORE_AND_AFTER = {
    "x.txt": ("a b\n---\nc\nd\n---\na b\n", "a b\n---\nc\nd\n"),
    "x.smi": ("CCO ethanol\nCCCCCCN amine\nCCO again\n", "CCO ethanol\nCCCCCCN amine\n"),
    "x.jsonl": ('{"t":"a b"}\n{"t":"c"}\n{"t":"a b"}\n', '{"t":"a b"}\n{"t":"c"}\n'),
    "x.json": ('["a b","c","a b"]', '["a b",\n "c"]\n'),
}


@pytest.fixture
def distinct_file(save):
    return save("many.txt", "\n".join(DISTINCT_TEXTS))


@pytest.fixture
def answers(save):
    rows = ["id,answer,model,score", "1,a b,x,0.9", "2,a b,y,0.1", '3,"c, d",x,0.5', "4,e f,y,0.7"]
    return save("a.csv", "\n".join(rows) + "\n")


def test_select_writes_selected_rows(run, answers):
    code, out, err = run("select", answers, "-n", 2, "--pool")
    assert (code, out) == (0, 'id,answer,model,score\n1,a b,x,0.9\n3,"c, d",x,0.5\n')
    assert "2 of 4 samples (objective='vendi'): VS (q=1) = 2." in err
    assert run("select", answers, "-n", 2, "--pool", "--rows", "--quiet")[1] == "2\n4\n"


def test_select_uses_quality_column(run, answers):
    options = ("--pool", "--quiet", "--rows")
    texts = ["a b", "a b", "c, d", "e f"]
    printed = run("select", answers, "-n", 2, "--quality", "score", *options)[1]
    notes = run("select", answers, "-n", 2, "--quality", "score", "--pool")[2]
    assert "4 texts of column 'answer'; left out: id, model\n" in notes
    result = vendiscore.select(texts, 2, quality=[0.9, 0.1, 0.5, 0.7])
    assert printed.split() == [str(index + 2) for index in result.places]


def test_select_json_contains_line_numbers_and_indices(run, distinct_file):
    result = json.loads(
        run("select", distinct_file, "-n", 3, "-f", "json", "--objective", "represent")[1]
    )
    assert result.pop("samples") == [index + 1 for index in result["places"]]
    assert result.pop("index") == result["places"]
    assert result == json.loads(
        json.dumps(vendiscore.select(DISTINCT_TEXTS, 3, objective="represent").to_dict())
    )


@pytest.mark.parametrize("name", FILES_BEFORE_AND_AFTER)
def test_select_writes_format_of_input_file(run, save, name):
    if name.endswith("smi"):
        pytest.importorskip("rdkit")
    data, expected = FILES_BEFORE_AND_AFTER[name]
    split_options = ("--split=---",) if name.endswith("txt") else ()
    assert run("select", save(name, data), "-n", 2, *split_options, "--quiet") == (0, expected, "")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_selected_array_rows_are_written_or_printed_as_indices(run, save, tmp_path, dtype):
    X = np.array([[1, 0], [1, 0], [0, 1]], dtype)
    np.save(out := io.BytesIO(), X)
    path, output_path = save("x.npy", out.getvalue()), tmp_path / "chosen.npy"
    for command in (("select", path, "-n", 2), ("dedup", path)):
        assert run(*command, "--quiet", "--indices") == (0, "0\n2\n", "")
        assert run(*command, "--quiet", "--output", output_path) == (0, "", "")
        assert np.load(output_path).dtype == dtype
        np.testing.assert_array_equal(np.load(output_path), X[[0, 2]])
        result = json.loads(run(*command, "-f", "json")[1])
        assert (result["samples"], result["index"]) == ([1, 3], [0, 2])
        for options in ((), ("--rows",)):
            code, printed, err = run(*command, *options)
            assert (code, printed) == (2, "")
            assert "--indices" in err


def test_selected_vectors_keep_score_after_writing(run, save, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 30))
    X[20:] = X[:20] + 0.01 * X[20:]
    np.save(out := io.BytesIO(), X)
    path, output_path = save("x.npy", out.getvalue()), tmp_path / "chosen.npy"
    indices = [*map(int, run("select", path, "-n", 20, "--indices")[1].split())]
    run("select", path, "-n", 20, "--output", output_path)
    expected = vendiscore.compute(X[indices], k="cosine")["VS"]
    assert float(run(output_path, "-b")[1]) == expected
    assert indices == json.loads(run("select", path, "-n", 20, "-f", "json")[1])["index"]
    assert {i % 20 for i in indices} == {*range(20)}  # one of each pair of near-copies


def test_dedup_writes_rows_of_parquet(run, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"id": [7, 8, 9], "answer": ["a b", "a b", "c d"]})
    pq.write_table(table, path := tmp_path / "x.parquet")
    out = run("dedup", path, "--quiet")[1]
    assert [*map(json.loads, out.splitlines())] == table.take([0, 2]).to_pylist()
    run("dedup", path, "--output", tmp_path / "y.parquet")
    assert pq.read_table(tmp_path / "y.parquet").equals(table.take([0, 2]))
    assert run("dedup", path, "--indices")[1] == "0\n2\n"


def test_indices_count_skipped_samples(run, save):
    path = save("x.csv", 'id,text\n1,""\n2,a b\n3,a b\n4,c d\n')
    command = ("dedup", path, "--on-error", "skip", "--quiet")
    assert run(*command, "--indices")[1] == "1\n3\n"
    assert run(*command, "--rows")[1] == "3\n5\n"
    result = json.loads(run(*command, "-f", "json")[1])
    assert (result["samples"], result["index"]) == ([3, 5], [1, 3])


def test_output_writes_selected_rows_to_file(run, answers, tmp_path):
    target = tmp_path / "chosen.csv"
    printed = run("select", answers, "-n", 2, "--pool")[1]
    assert run("select", answers, "-n", 2, "--pool", "--quiet", "--output", target) == (0, "", "")
    assert target.read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rows", "--indices"), "--rows and --indices are mutually exclusive"),
        (
            ("--rows", "-f", "json"),
            "-f json already contains row numbers and indices; remove --rows",
        ),
        (("--output", "{x}"), "--output must not be the input file"),
        (("--output", "y.npy"), "cannot store samples of"),
    ],
)
def test_select_rejects_conflicting_output_options(run, distinct_file, options, message):
    code, out, err = run(
        "select", distinct_file, "-n", 2, *(option.format(x=distinct_file) for option in options)
    )
    assert (code, out) == (2, "")
    assert message in err


def test_select_rejects_n_above_number_of_samples(run, distinct_file):
    code, _, err = run("select", distinct_file, "-n", 21)
    assert code == 1
    assert "there are 20 samples" in err


REPETITIVE_TEXTS = [f"as a model I like {word}" for word in ("red", "tea", "rain")] + ["no", "yes"]


def test_explain_lists_phrases_of_texts(run, save):
    path = save("x.txt", "\n".join(REPETITIVE_TEXTS))
    _, out, err = run("explain", path, "-q", 2, "-o", "ns=1,2")
    (row,) = vendiscore.phrases(REPETITIVE_TEXTS, q=2, ns=[1, 2]).rows
    assert out.partition("phrases that cost most:\n")[2].splitlines() == [
        "phrase             n_texts   cost",
        f"as a model I like        3  {row.cost:.4g}",
    ]
    assert err == run("explain", path, "-q", 2, "-o", "ns=1,2", "-f", "json")[2]


def test_explain_lists_no_phrases_with_other_kernels_or_many_texts(run, save, monkeypatch):
    path = save("x.txt", "\n".join(REPETITIVE_TEXTS))
    assert "phrases" not in run("explain", path, "-k", "word_overlap")[1]
    monkeypatch.setattr("vendiscore.tools.cli.command_samples._MAX_TEXTS_WITH_PHRASES", 4)
    assert "phrases" not in run("explain", path)[1]
