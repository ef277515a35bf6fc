"""Scores given the prompt, on the page and through its API: the numbers of the library."""

import json
import re

import pytest
from page_answers import (
    check_comparison,
    compare_as_json,
    json_round_trip,
    make_samples,
    score_as_json,
)

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import as_similarity, compare, compute
from vendiscore_page.answers import api, prompt_lists
from vendiscore_page.answers.sample_readout import UnusableError, read_answer
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import Asked, Given
from vendiscore_page.quotas import RefusedError

ANSWERS = ["a red apple fell", "a green apple rolled", "a pear", "three plums that fell"]
OTHERS = ["red cars", "a car that fell", "one red apple", "nothing that fell at all"]
PROMPT = "Name a red fruit that fell."
TWO = [PROMPT] * 4 + ["Name a car."] * 4
TABLE = "question,answer\n" + "\n".join(
    f"{q},{a}" for q, a in zip(TWO, ANSWERS + OTHERS, strict=True)
)


def table(**asked):
    return uploads.read(Given(files=[("a.csv", TABLE.encode())]), Asked(**asked))


def ran(code: str, capsys, answer, folder, monkeypatch):
    """Return what the lines print in the folder of the file that the page saves."""
    monkeypatch.chdir(folder)
    (folder / "vendiscore.json").write_text(json.dumps(answer))
    exec(code, {})
    return eval(capsys.readouterr().out.splitlines()[-1])


def test_single_prompt_matches_compute():
    answer = score_as_json(ANSWERS, prompts=PROMPT)
    right = compute(ANSWERS, prompts=PROMPT, given_prompt=True)["VS"]
    assert answer["VS"] == pytest.approx(right, rel=1e-12)
    assert answer["VS"] != pytest.approx(compute(ANSWERS)["VS"], rel=1e-3)
    assert answer["comparison"] == "n-grams of 1–4 words · given the prompt · q 1"
    assert "|prompts=given|" in answer["signature"]
    assert answer["sentence"].startswith("By the words they share, given the prompt, ")
    assert (answer["prompts"], answer["prompt"]) == ([PROMPT], [0])
    assert score_as_json(ANSWERS, prompts="  ")["VS"] == score_as_json(ANSWERS)["VS"]


def test_prompt_removes_typical_value():
    eight = [f"{text} in the old garden" for text in ANSWERS + OTHERS]
    assert score_as_json(eight)["typical"]
    assert score_as_json(eight)["scale"]
    assert score_as_json(eight, prompts=PROMPT)["typical"] == ""
    assert score_as_json(eight, prompts=PROMPT)["scale"] == []


def test_prompt_column_is_offered_and_conditions_each_text():
    offered = read_answer(table())
    assert (offered["column"], offered["prompt_column"]) == ("answer", "question")
    assert offered["prompts"] == 0
    read = table(prompts="question")
    assert read_answer(read)["prompts"] == 2
    everything = ANSWERS + OTHERS
    assert score_as_json(read)["VS"] == pytest.approx(
        compute(everything, prompts=TWO, given_prompt=True)["VS"], rel=1e-12
    )
    grouped = score_as_json(table(prompts="question", by="question"))
    right = compute(everything, groups=TWO, prompts=TWO, given_prompt=True)["VS"]
    assert grouped["VS"] == pytest.approx(right, rel=1e-12)


def test_row_without_prompt_is_rejected_or_dropped():
    data = (TABLE + "\n,an answer alone\n").encode()
    result = uploads.read(Given(files=[("a.csv", data)]), Asked(prompts="question"))
    with pytest.raises(UnusableError, match="no prompt"):
        score_as_json(result)
    assert score_as_json(result, leave_out=True)["n"] == 8


@pytest.mark.parametrize(
    "samples",
    [
        lambda: make_samples(ANSWERS),
        lambda: make_samples(ANSWERS * 2, prompts=TWO),
        lambda: make_samples(ANSWERS * 2, prompts=TWO, groups=TWO),
        lambda: make_samples(ANSWERS * 2, prompts=TWO, groups=["x", "y"] * 4),
        lambda: make_samples([f"{a} number {i}" for i in range(30) for a in ANSWERS]),
        lambda: make_samples(
            [f"{a} number {i}" for i in range(30) for a in ANSWERS], prompts=TWO * 15
        ),
        lambda: make_samples(
            [f"{a} number {i}" for i in range(30) for a in ANSWERS],
            prompts=TWO * 15,
            groups=["x", "y", "y", "x", "z", "z"] * 20,
        ),
    ],
)
def test_code_with_prompts_prints_same_score(samples, capsys, tmp_path, monkeypatch):
    answer = score_as_json(samples(), prompts=PROMPT)
    assert "prompts=" in answer["code"]
    assert len(answer["code"].splitlines()) == 3
    result = ran(answer["code"], capsys, answer, tmp_path, monkeypatch)
    assert result["VS"] == pytest.approx(answer["VS"], rel=1e-12)


@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("own", [False, True])
def test_comparison_is_conditioned_on_prompts(own, times):
    one = [f"{text} {i}" for i in range(times) for text in ANSWERS]
    two = [f"{text} {i}" for i in range(times) for text in OTHERS]
    prompts = [PROMPT, "Name a car.", PROMPT, "Name a plum."] * times
    sets = {"A": make_samples(one, prompts=prompts if own else ()), "B": two}
    answer = compare_as_json(sets, prompts=PROMPT)
    rows = {row["name"]: row for row in answer["rows"]}
    for name, texts, taken in zip("AB", (one, two), (prompts, PROMPT), strict=True):
        K = as_similarity(texts, prompts=taken if own else PROMPT, given_prompt=True)
        assert rows[name]["VS"] == pytest.approx(compute(K)["VS"], rel=1e-12)
    if not own:
        check_comparison(answer, compare({"A": one, "B": two}, prompts=PROMPT, given_prompt=True))
    assert "given the prompt" in answer["comparison"]
    assert "|prompts=given|" in answer["signature"]


def test_api_conditions_on_prompts():
    right = compute(ANSWERS, prompts=PROMPT, given_prompt=True)["VS"]
    assert api.vendi_score_texts(ANSWERS, prompts=[PROMPT])["VS"] == pytest.approx(right)
    lists = api.vendi_score_texts([ANSWERS, OTHERS], prompts=[PROMPT, "Name a car."])
    whole = compute([ANSWERS, OTHERS], prompts=[PROMPT, "Name a car."], given_prompt=True)["VS"]
    assert lists["VS"] == pytest.approx(whole)
    rows = [[1.0, 0.1], [0.3, 1.0], [1.0, 1.0]]
    ours = api.vendi_score_vectors(rows, prompts=[[1.0, 0.5]])["VS"]
    assert ours == pytest.approx(
        compute(rows, k="cosine", prompts=[[1.0, 0.5]], given_prompt=True)["VS"]
    )
    smiles = ["CCO", "CCC", "c1ccccc1"]
    ours = api.vendi_score_molecules(smiles, prompts=["CCCC"])["VS"]
    assert ours == pytest.approx(
        compute(smiles, k="morgan", prompts="CCCC", given_prompt=True)["VS"]
    )
    answer = json_round_trip(api.vendi_compare([ANSWERS, OTHERS], prompts=[PROMPT]))
    scores = [compute(each, prompts=PROMPT, given_prompt=True)["VS"] for each in (ANSWERS, OTHERS)]
    assert sorted(row["VS"] for row in answer["rows"]) == pytest.approx(sorted(scores))


def test_verbatim_repetition_of_prompt_is_noted():
    answer = score_as_json([*ANSWERS, PROMPT], prompts=PROMPT)
    right = compute([*ANSWERS, PROMPT], prompts=PROMPT, given_prompt=True)["VS"]
    assert answer["VS"] == pytest.approx(right)
    assert any("1 of 5 samples repeat their prompt" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: api.vendi_score_vectors([[1, 0], [0, 1]], "K", prompts=[[1, 0]]),
            "cannot condition on `prompts`: a similarity matrix contains no similarities",
        ),
        (
            lambda: api.vendi_score_texts(ANSWERS, prompts=["a", "b"]),
            "one prompt per sample, got 2 prompts for 4 samples",
        ),
        (lambda: api.vendi_score_texts(ANSWERS, prompts=["a", 1]), "must be a string"),
        (lambda: api.vendi_score_texts(ANSWERS, prompts={"a": 1}), "text or a list, got dict"),
        (lambda: api.vendi_score_texts(ANSWERS, prompts=["a" * 20_001]), "20,001 characters"),
        (
            lambda: compare_as_json({"A": make_samples(ANSWERS, prompts=TWO[:4]), "B": OTHERS}),
            "Set B has no ",
        ),
    ],
)
def test_invalid_prompts_are_rejected(call, said):
    with pytest.raises((ValueError, TypeError, RefusedError), match=re.escape(said)):
        call()


def test_equal_prompts_are_formatted_once():
    assert prompt_lists.written(["a", "a"]) == "'a'"
    assert prompt_lists.written(["a", "b"]) == "['a', 'b']"
    assert prompt_lists.written([[1.0, 2.0]]) == "[[1.0, 2.0]]"
