"""Scores conditioned on prompts in the web app and its API match the library."""

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
from vendiscore.resolve.sample_labels import parse_group_labels
from vendiscore_page.answers import api, prompt_lists
from vendiscore_page.answers.sample_readout import UnusableError, read_answer
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.quotas import RefusedError

ANSWERS = ["a red apple fell", "a green apple rolled", "a pear", "three plums that fell"]
OTHER_ANSWERS = ["red cars", "a car that fell", "one red apple", "nothing that fell at all"]
PROMPT = "Name a red fruit that fell."
TWO_PROMPTS = [PROMPT] * 4 + ["Name a car."] * 4
TABLE = "question,answer\n" + "\n".join(
    f"{q},{a}" for q, a in zip(TWO_PROMPTS, ANSWERS + OTHER_ANSWERS, strict=True)
)


def read_table(**options):
    return uploads.read(UserInput(files=[("a.csv", TABLE.encode())]), InputSettings(**options))


def run_code(code: str, capsys, answer, folder, monkeypatch):
    """Run code in a folder with the downloaded file; return the last printed value."""
    monkeypatch.chdir(folder)
    (folder / "vendiscore.json").write_text(json.dumps(answer))
    exec(code, {})
    return eval(capsys.readouterr().out.splitlines()[-1])


def test_single_prompt_matches_compute():
    answer = score_as_json(ANSWERS, prompts=PROMPT)
    expected = compute(ANSWERS, prompts=PROMPT, given_prompt=True)["VS"]
    assert answer["VS"] == pytest.approx(expected, rel=1e-12)
    assert answer["VS"] != pytest.approx(compute(ANSWERS)["VS"], rel=1e-3)
    assert answer["comparison"] == "n-grams of 1–4 words · conditioned on the prompt · q 1"
    assert "|prompts=given|" in answer["signature"]
    assert answer["sentence"].startswith("By the words they share, conditioned on the prompt, ")
    assert (answer["prompts"], answer["prompt"]) == ([PROMPT], [0])
    assert score_as_json(ANSWERS, prompts="  ")["VS"] == score_as_json(ANSWERS)["VS"]


def test_prompt_removes_typical_value():
    texts = [f"{text} in the old garden" for text in ANSWERS + OTHER_ANSWERS]
    assert score_as_json(texts)["typical"]
    assert score_as_json(texts)["scale"]
    assert score_as_json(texts, prompts=PROMPT)["typical"] == ""
    assert score_as_json(texts, prompts=PROMPT)["scale"] == []


def test_prompt_column_is_offered_and_conditions_each_text():
    preview = read_answer(read_table())
    assert (preview["column"], preview["prompt_column"]) == ("answer", "question")
    assert preview["prompts"] == 0
    samples = read_table(prompts="question")
    assert read_answer(samples)["prompts"] == 2
    all_answers = ANSWERS + OTHER_ANSWERS
    assert score_as_json(samples)["VS"] == pytest.approx(
        compute(all_answers, prompts=TWO_PROMPTS, given_prompt=True)["VS"], rel=1e-12
    )
    grouped = score_as_json(read_table(prompts="question", by="question"))
    expected = compute(all_answers, groups=TWO_PROMPTS, prompts=TWO_PROMPTS, given_prompt=True)[
        "VS"
    ]
    assert grouped["VS"] == pytest.approx(expected, rel=1e-12)


def test_row_without_prompt_is_rejected_or_dropped():
    data = (TABLE + "\n,an answer alone\n").encode()
    result = uploads.read(UserInput(files=[("a.csv", data)]), InputSettings(prompts="question"))
    with pytest.raises(UnusableError, match="no prompt"):
        score_as_json(result)
    assert score_as_json(result, leave_out=True)["n"] == 8


@pytest.mark.parametrize(
    "samples",
    [
        lambda: make_samples(ANSWERS),
        lambda: make_samples(ANSWERS * 2, prompts=TWO_PROMPTS),
        lambda: make_samples(ANSWERS * 2, prompts=TWO_PROMPTS, groups=TWO_PROMPTS),
        lambda: make_samples(ANSWERS * 2, prompts=TWO_PROMPTS, groups=["x", "y"] * 4),
        lambda: make_samples([f"{a} number {i}" for i in range(30) for a in ANSWERS]),
        lambda: make_samples(
            [f"{a} number {i}" for i in range(30) for a in ANSWERS], prompts=TWO_PROMPTS * 15
        ),
        lambda: make_samples(
            [f"{a} number {i}" for i in range(30) for a in ANSWERS],
            prompts=TWO_PROMPTS * 15,
            groups=["x", "y", "y", "x", "z", "z"] * 20,
        ),
    ],
)
def test_code_with_prompts_prints_same_score(samples, capsys, tmp_path, monkeypatch):
    answer = score_as_json(samples(), prompts=PROMPT)
    assert "prompts=" in answer["code"]
    assert len(answer["code"].splitlines()) == 3
    result = run_code(answer["code"], capsys, answer, tmp_path, monkeypatch)
    assert result["VS"] == pytest.approx(answer["VS"], rel=1e-12)


@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("has_prompt_column", [False, True])
def test_comparison_is_conditioned_on_prompts(has_prompt_column, times):
    first_texts = [f"{text} {i}" for i in range(times) for text in ANSWERS]
    second_texts = [f"{text} {i}" for i in range(times) for text in OTHER_ANSWERS]
    prompts = [PROMPT, "Name a car.", PROMPT, "Name a plum."] * times
    sets = {
        "A": make_samples(first_texts, prompts=prompts if has_prompt_column else ()),
        "B": second_texts,
    }
    answer = compare_as_json(sets, prompts=PROMPT)
    rows = {row["name"]: row for row in answer["rows"]}
    for name, texts, conditioning_prompts in zip(
        "AB", (first_texts, second_texts), (prompts, PROMPT), strict=True
    ):
        K = as_similarity(
            texts, prompts=conditioning_prompts if has_prompt_column else PROMPT, given_prompt=True
        )
        assert rows[name]["VS"] == pytest.approx(compute(K)["VS"], rel=1e-12)
    if not has_prompt_column:
        check_comparison(
            answer,
            compare({"A": first_texts, "B": second_texts}, prompts=PROMPT, given_prompt=True),
        )
    assert "conditioned on the prompt" in answer["comparison"]
    assert "|prompts=given|" in answer["signature"]


def test_api_conditions_on_prompts():
    expected = compute(ANSWERS, prompts=PROMPT, given_prompt=True)["VS"]
    assert api.vendi_score_texts(ANSWERS, prompts=[PROMPT])["VS"] == pytest.approx(expected)
    grouped_result = api.vendi_score_texts(
        [ANSWERS, OTHER_ANSWERS], prompts=[PROMPT, "Name a car."]
    )
    expected_of_groups = compute(
        [ANSWERS, OTHER_ANSWERS], prompts=[PROMPT, "Name a car."], given_prompt=True
    )["VS"]
    assert grouped_result["VS"] == pytest.approx(expected_of_groups)
    rows = [[1.0, 0.1], [0.3, 1.0], [1.0, 1.0]]
    score = api.vendi_score_vectors(rows, prompts=[[1.0, 0.5]])["VS"]
    assert score == pytest.approx(
        compute(rows, k="cosine", prompts=[[1.0, 0.5]], given_prompt=True)["VS"]
    )
    smiles = ["CCO", "CCC", "c1ccccc1"]
    score = api.vendi_score_molecules(smiles, prompts=["CCCC"])["VS"]
    assert score == pytest.approx(
        compute(smiles, k="morgan", prompts="CCCC", given_prompt=True)["VS"]
    )
    answer = json_round_trip(api.vendi_compare([ANSWERS, OTHER_ANSWERS], prompts=[PROMPT]))
    scores = [
        compute(answers, prompts=PROMPT, given_prompt=True)["VS"]
        for answers in (ANSWERS, OTHER_ANSWERS)
    ]
    assert sorted(row["VS"] for row in answer["rows"]) == pytest.approx(sorted(scores))


def test_verbatim_repetition_of_prompt_is_noted():
    answer = score_as_json([*ANSWERS, PROMPT], prompts=PROMPT)
    expected = compute([*ANSWERS, PROMPT], prompts=PROMPT, given_prompt=True)["VS"]
    assert answer["VS"] == pytest.approx(expected)
    assert any("1 of 5 samples repeat their prompt" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("call", "message"),
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
            lambda: compare_as_json(
                {"A": make_samples(ANSWERS, prompts=TWO_PROMPTS[:4]), "B": OTHER_ANSWERS}
            ),
            "Set B has no ",
        ),
    ],
)
def test_invalid_prompts_are_rejected(call, message):
    with pytest.raises((ValueError, TypeError, RefusedError), match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([], [], []),
        (["a"], ["a"], ["a"]),  # one prompt of all samples
        (["a"], ["b"], ["a", "a", "b", "b", "b"]),
        (["a"], ["b", "c", "b"], ["a", "a", "b", "c", "b"]),
        (["a", "b"], ["c"], ["a", "b", "c", "c", "c"]),
    ],
)
def test_prompts_of_sets_are_merged_in_order_of_samples(first, second, expected):
    assert prompt_lists.merge_prompts({"A": (first, 2), "B": (second, 3)}) == expected


@pytest.mark.parametrize("prompts", [["a", "b"], ["a", "a"]])
def test_equal_lists_of_prompts_are_concatenated(prompts):
    # Each set has its own samples, so the prompts of the first set are not those of all samples.
    merged = prompt_lists.merge_prompts({"A": (prompts, 2), "B": (prompts, 2)})
    assert merged == prompts * 2


@pytest.mark.parametrize("has_prompts", [(True, False), (False, True)])
@pytest.mark.parametrize("prompts", [["a"], ["a", "b"]])
def test_sets_without_prompts_cannot_be_merged_with_others(has_prompts, prompts):
    sets = {
        name: (prompts if present else [], 2)
        for name, present in zip("AB", has_prompts, strict=True)
    }
    name = "AB"[has_prompts.index(False)]
    with pytest.raises(RefusedError, match=f"Set {name} has no prompts"):
        prompt_lists.merge_prompts(sets)


def test_prompts_of_groups_are_assigned_to_their_samples():
    groups = parse_group_labels(["x", "y", "x"])
    assert prompt_lists.read_prompts(["a", "b"], 3, groups) == ["a", "b", "a"]
    assert prompt_lists.read_prompts(["a", "b", "c"], 3, groups) == ["a", "b", "c"]
    assert prompt_lists.read_prompts("a", 3, groups) == ["a"]
    # With as many groups as samples, prompts are those of the samples, in their order.
    groups = parse_group_labels(["y", "x"])
    assert prompt_lists.read_prompts(["a", "b"], 2, groups) == ["a", "b"]


def test_prompts_are_formatted_in_order_of_groups():
    groups = parse_group_labels(["x", "y", "x"])
    assert prompt_lists.format_prompts(["a", "b", "c"], groups) == "['a', 'c', 'b']"
    assert prompt_lists.format_prompts(["a", "b", "a"], groups) == "['a', 'b']"
    assert prompt_lists.format_prompts(["a"], groups) == "'a'"


def test_equal_prompts_are_formatted_once():
    assert prompt_lists.format_prompts(["a", "a"]) == "'a'"
    assert prompt_lists.format_prompts(["a", "b"]) == "['a', 'b']"
    assert prompt_lists.format_prompts([[1.0, 2.0]]) == "[[1.0, 2.0]]"
