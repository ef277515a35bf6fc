"""`vendiscore phrases` lists the phrases of one set, or compares two sets."""

import json

import pytest

import vendiscore

A = [f"Sure, I can help with w{i} x{i}" for i in range(8)] + ["red dog", "blue cat"]
B = [f"y{i} z{i} is here" for i in range(8)] + ["red cat", "blue dog"]


@pytest.fixture
def a_file(save):
    return save("a.txt", "\n".join(A))


@pytest.fixture
def b_file(save):
    return save("b.txt", "\n".join(B))


@pytest.fixture
def answers(save):
    rows = [f"new,p{i % 2},{text!r}" for i, text in enumerate(A)]
    rows += [f"old,p{i % 2},{text!r}" for i, text in enumerate(B)]
    text = "\n".join(["model,prompt,answer", *rows]).replace("'", '"')
    return save("answers.csv", text + "\n")


def test_phrases_of_one_file_match_library(run, a_file):
    expected = vendiscore.phrases(A, n_phrases=2, q=2, ns=[1, 2], min_texts=3)
    command = ("phrases", a_file, "-n", 2, "-q", 2, "-o", "ns=1,2", "-o", "min_texts=3")
    assert json.loads(run(*command, "-f", "json")[1]) == json.loads(json.dumps(expected.to_dict()))
    code, out, _ = run(*command, "--signature")
    assert code == 0
    assert out.startswith(expected.sentence)
    assert "\nphrases:\nphrase " in out
    assert "phrases|kernel=ngram_overlap|ns=1,2|" in out
    csv = run(*command, "-f", "csv")[1]
    assert csv.splitlines()[0] == "phrase,n_texts,cost,share,cost_q2,overlaps"


def test_phrases_of_two_files_match_library(run, a_file, b_file):
    expected = vendiscore.phrases(A, B, permutations=99, seed=3)
    command = ("phrases", a_file, b_file, "--permutations", 99, "--seed", 3)
    result = json.loads(run(*command, "-f", "json")[1])
    assert (result.pop("a"), result.pop("b")) == (str(a_file), str(b_file))
    assert result == json.loads(json.dumps(expected.to_dict()))
    assert f"Set A is {a_file}, set B is {b_file}." in run(*command)[1]


def test_columns_of_sets_and_prompts_are_used(run, answers):
    prompts = [f"p{i % 2}" for i in range(10)]
    expected = vendiscore.phrases(A, B, prompts=[prompts, prompts])
    result = json.loads(run("phrases", answers, "-f", "json")[1])
    assert (result.pop("a"), result.pop("b")) == ("new", "old")
    assert result == json.loads(json.dumps(expected.to_dict()))
    pooled = json.loads(run("phrases", answers, "--pool", "-f", "json")[1])
    assert pooled == json.loads(json.dumps(vendiscore.phrases(A + B).to_dict()))


def test_unusable_texts_are_listed_by_row(run, save):
    path = save("c.csv", "answer\n" + "\n".join(f'"{text}"' for text in A) + '\n""\nx\n')
    code, _, err = run("phrases", path)
    assert code == 1
    assert "row 12, column 'answer' has no tokens" in err
    code, out, err = run("phrases", path, "--on-error", "skip", "-f", "json")
    assert code == 0, err
    assert json.loads(out)["n"] == 11


def test_costs_that_are_not_computed_are_replaced_by_those_at_order_2(run, a_file, monkeypatch):
    monkeypatch.setattr("vendiscore.tools.analysis.phrases.MAX_EXACT_SIZE", 1)
    monkeypatch.setattr("vendiscore.tools.analysis.phrases.MAX_TOP_SIZE", 1)
    assert "cost_q2" in run("phrases", a_file)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a.txt b.txt c.txt", "requires one or two FILEs, got 3"),
        ("a.txt --matrix", "do not support --matrix"),
        ("a.txt --given-prompt", "do not support --given-prompt"),
        ("a.txt -k labels", "phrases are computed with -k ngram_overlap, got -k labels"),
        ("a.txt -q 0", "must be an order above 0"),
        ("a.txt -n 0", "--size"),
        ("a.txt -o score_X=true", "phrases do not support -o score_X"),
        ("a.txt --seed 1", "--seed requires a second FILE"),
        ("a.txt --permutations 99", "--permutations requires a second FILE"),
        ("x.csv", "phrases requires texts, got vectors"),
        ("three.csv", "the samples are in 3 sets by column 'model'"),
        ("three.csv b.txt", "expected one set per file"),
    ],
)
def test_unsupported_files_and_flags_raise_errors(
    run, save, a_file, b_file, arguments, message, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    save("c.txt", "\n".join(B))
    save("x.csv", "0.1,0.2\n0.3,0.5\n0.2,0.9\n")
    rows = [f"m{i % 3},the answer is {i}" for i in range(12)]
    save("three.csv", "\n".join(["model,answer", *rows]))
    code, _, err = run("phrases", *arguments.split())
    assert code in (1, 2)
    assert message in err
