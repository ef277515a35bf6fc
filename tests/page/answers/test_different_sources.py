"""The effective number of different sets, on the page and through its API, is as in `sources`."""

import numpy as np
import pytest
from page_answers import compare_as_json, json_round_trip, make_clusters

pytest.importorskip("matplotlib")
from vendiscore import compute, sources
from vendiscore_page.answers import api
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import Asked, Given
from vendiscore_page.quotas import RefusedError

MODELS, PROMPTS = ("small", "large", "<b>$x^$"), [f"Question {i}?" for i in range(8)]
WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat"]
NS = {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}


def answer(m: int, i: int, again: int = 0) -> str:
    rng = np.random.default_rng([max(1, m), i, again])
    return " ".join(["so", *rng.permutation(WORDS)[:3], *(["indeed"] if m == 0 else [])])


ROWS = [(name, p, answer(m, i)) for m, name in enumerate(MODELS) for i, p in enumerate(PROMPTS)]
TWICE = ROWS + [
    (name, p, answer(m, i, 1)) for m, name in enumerate(MODELS) for i, p in enumerate(PROMPTS)
]


def grouped(rows, column: str = "prompt", **asked):
    text = f"model,{column},answer\n" + "".join(",".join(row) + "\n" for row in rows)
    return uploads.read(Given(text=text), Asked(by="model", column="answer", **asked))


def library(rows, **how):
    names, prompts, answers = zip(*rows, strict=True)
    return sources(list(answers), by=names, prompts=prompts, **NS, **how)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("rows", [ROWS, TWICE, ROWS[3:]], ids=["once", "twice", "some missing"])
def test_sources_of_table_match_library(rows, given):
    page = compare_as_json({"A": grouped(rows, prompts="prompt" if given else None)})
    right = library(rows, given_prompt=given)
    ours, theirs = page["sources"], json_round_trip(right.to_dict())
    assert ours["VS"] == pytest.approx(right.score, abs=1e-12)
    for name in ("VS_low", "VS_high", "VS_corrected"):
        assert ours.get(name) == pytest.approx(theirs.get(name), abs=1e-9)
    np.testing.assert_allclose(ours["similarity"], theirs["similarity"], atol=1e-12)
    assert ours["sentence"] == right.sentence
    assert [row["name"] for row in ours["sources"]] == [row["name"] for row in page["rows"]]
    assert ours["what"] == "models"
    ends = sorted(row["VS"] for row in theirs["prompts"])
    assert [row["VS"] for row in ours["most"]] == pytest.approx(ends[:-4:-1])


def test_result_keys_contain_order_other_than_one():
    result = compare_as_json({"A": grouped(ROWS)}, q=2)["sources"]
    assert result["VS_q2"] == pytest.approx(library(ROWS, q=2).score, abs=1e-12)
    assert result["most"]
    assert all({*row} == {"prompt", "VS_q2"} for row in result["most"])
    assert not [key for key in result if key.startswith("VS") and not key.startswith("VS_q2")]


def test_answer_without_prompt_is_ignored():
    page = compare_as_json({"A": grouped([*ROWS, ("small", "", "nobody asked")])})
    assert page["sources"]["VS"] == pytest.approx(library(ROWS).score, abs=1e-12)


@pytest.mark.filterwarnings("ignore:intervals have width 0")  # at order 0
def test_sources_require_shared_prompts_and_positive_order():
    places = [(name, p.replace("Question", "New York"), text) for name, p, text in ROWS]
    assert compare_as_json({"A": grouped(ROWS, column="place")})["sources"] is None
    assert compare_as_json({"A": grouped(places, column="place", prompt="")})["sources"] is None
    apart = [(name, f"{name} {p}", text) for name, p, text in ROWS]
    assert compare_as_json({"A": grouped(apart)})["sources"] is None
    assert compare_as_json({"A": grouped(ROWS)}, q=0)["sources"] is None
    assert compare_as_json({"A": grouped(ROWS)}, prompts="Write a list.")["sources"] is None
    lists = {name: [text for m, _, text in ROWS if m == name] for name in MODELS}
    assert compare_as_json(lists)["sources"] is None


def test_sets_of_vectors_match_unaligned_sources():
    sets = {name: make_clusters(8, 2, seed).round(3) for seed, name in enumerate("AB")}
    page = compare_as_json(sets, "vectors", "rbf")["sources"]
    right = sources(sets, aligned=False, k="rbf")
    assert page["VS"] == pytest.approx(right.score)
    assert page["VS_corrected"] == pytest.approx(right.corrected.value)
    assert page["what"] == "sets"
    assert page["most"] == []


def test_api_matches_sources_by_prompt():
    sets = [[text for m, _, text in ROWS if m == name] for name in MODELS]
    rows = [{"model": model, "prompt": prompt, "text": text} for model, prompt, text in ROWS]
    result = json_round_trip(api.vendi_compare(rows))
    assert result["sources"]["VS"] == pytest.approx(library(ROWS).score, abs=1e-12)
    assert result["within"] == 0
    given = api.vendi_compare(sets, prompts=[PROMPTS] * 3)["sources"]
    assert given["VS"] == pytest.approx(library(ROWS, given_prompt=True).score, abs=1e-12)
    assert api.vendi_compare(sets)["sources"] is None


def test_api_compares_models_within_repeated_prompts():
    rows = [{"model": model, "prompt": prompt, "text": text} for model, prompt, text in TWICE]
    result = json_round_trip(
        api.vendi_compare([*rows, {"model": "small", "prompt": "", "text": "no"}])
    )
    assert result["within"] == len(PROMPTS)
    for row in result["rows"]:
        own = [[text for m, p, text in TWICE if (m, p) == (row["name"], x)] for x in PROMPTS]
        assert row["VS"] == pytest.approx(compute(own)["VS"], abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"model": "a"}] * 8, 'or a row with "model", "text"'),
        ([{"model": "a", "text": "b"}, "text"], "Set 1 must be"),
        ([{"model": "a", "text": "b"}] * 8, "Two to 8 sets"),
        ([{"model": i % 2, "text": i} for i in range(8)], "must be a string"),
    ],
)
def test_api_rejects_rows_without_model_or_sample(rows, said):
    with pytest.raises(RefusedError, match=said):
        api.vendi_compare(rows)
