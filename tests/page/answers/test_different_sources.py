"""The effective number of models in the web app and its API matches `sources`."""

import numpy as np
import pytest
from page_answers import compare_as_json, json_round_trip, make_clusters

pytest.importorskip("matplotlib")
from vendiscore import compute, sources
from vendiscore_page.answers import api
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.quotas import RefusedError

MODELS, PROMPTS = ("small", "large", "<b>$x^$"), [f"Question {i}?" for i in range(8)]
WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat"]
NS = {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}


def make_answer(model: int, prompt: int, repetition: int = 0) -> str:
    rng = np.random.default_rng([max(1, model), prompt, repetition])
    return " ".join(["so", *rng.permutation(WORDS)[:3], *(["indeed"] if model == 0 else [])])


ROWS = [
    (name, p, make_answer(m, i)) for m, name in enumerate(MODELS) for i, p in enumerate(PROMPTS)
]
REPEATED_ROWS = ROWS + [
    (name, p, make_answer(m, i, 1)) for m, name in enumerate(MODELS) for i, p in enumerate(PROMPTS)
]


def read_table(rows, column: str = "prompt", **options):
    text = f"model,{column},answer\n" + "".join(",".join(row) + "\n" for row in rows)
    return uploads.read(UserInput(text=text), InputSettings(by="model", column="answer", **options))


def compute_sources(rows, **options):
    names, prompts, answers = zip(*rows, strict=True)
    return sources(list(answers), by=names, prompts=prompts, **NS, **options)


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize(
    "rows", [ROWS, REPEATED_ROWS, ROWS[3:]], ids=["once", "twice", "some missing"]
)
def test_sources_of_table_match_library(rows, conditioned):
    page = compare_as_json({"A": read_table(rows, prompts="prompt" if conditioned else None)})
    expected = compute_sources(rows, given_prompt=conditioned)
    result, expected_dict = page["sources"], json_round_trip(expected.to_dict())
    assert result["VS"] == pytest.approx(expected.score, abs=1e-12)
    for name in ("VS_low", "VS_high", "VS_corrected"):
        assert result.get(name) == pytest.approx(expected_dict.get(name), abs=1e-9)
    np.testing.assert_allclose(result["similarity"], expected_dict["similarity"], atol=1e-12)
    assert result["sentence"] == expected.sentence
    assert [row["name"] for row in result["sources"]] == [row["name"] for row in page["rows"]]
    assert result["what"] == "models"
    scores = sorted(row["VS"] for row in expected_dict["prompts"])
    assert [row["VS"] for row in result["most"]] == pytest.approx(scores[:-4:-1])


def test_result_keys_contain_order_other_than_one():
    result = compare_as_json({"A": read_table(ROWS)}, q=2)["sources"]
    assert result["VS_q2"] == pytest.approx(compute_sources(ROWS, q=2).score, abs=1e-12)
    assert result["most"]
    assert all({*row} == {"prompt", "VS_q2"} for row in result["most"])
    assert not [key for key in result if key.startswith("VS") and not key.startswith("VS_q2")]


def test_answer_without_prompt_is_ignored():
    page = compare_as_json({"A": read_table([*ROWS, ("small", "", "nobody asked")])})
    assert page["sources"]["VS"] == pytest.approx(compute_sources(ROWS).score, abs=1e-12)


@pytest.mark.filterwarnings("ignore:intervals have width 0")  # at order 0
def test_sources_require_shared_prompts_and_positive_order():
    place_rows = [(name, p.replace("Question", "New York"), text) for name, p, text in ROWS]
    assert compare_as_json({"A": read_table(ROWS, column="place")})["sources"] is None
    assert (
        compare_as_json({"A": read_table(place_rows, column="place", prompt="")})["sources"] is None
    )
    rows_with_own_prompts = [(name, f"{name} {p}", text) for name, p, text in ROWS]
    assert compare_as_json({"A": read_table(rows_with_own_prompts)})["sources"] is None
    assert compare_as_json({"A": read_table(ROWS)}, q=0)["sources"] is None
    assert compare_as_json({"A": read_table(ROWS)}, prompts="Write a list.")["sources"] is None
    lists = {name: [text for m, _, text in ROWS if m == name] for name in MODELS}
    assert compare_as_json(lists)["sources"] is None


def test_sets_of_vectors_match_unaligned_sources():
    sets = {name: make_clusters(8, 2, seed).round(3) for seed, name in enumerate("AB")}
    page = compare_as_json(sets, "vectors", "rbf")["sources"]
    expected = sources(sets, aligned=False, k="rbf")
    assert page["VS"] == pytest.approx(expected.score)
    assert page["VS_corrected"] == pytest.approx(expected.corrected.value)
    assert page["what"] == "sets"
    assert page["most"] == []


def test_api_matches_sources_by_prompt():
    sets = [[text for m, _, text in ROWS if m == name] for name in MODELS]
    rows = [{"model": model, "prompt": prompt, "text": text} for model, prompt, text in ROWS]
    result = json_round_trip(api.vendi_compare(rows))
    assert result["sources"]["VS"] == pytest.approx(compute_sources(ROWS).score, abs=1e-12)
    assert result["within"] == 0
    conditioned = api.vendi_compare(sets, prompts=[PROMPTS] * 3)["sources"]
    assert conditioned["VS"] == pytest.approx(
        compute_sources(ROWS, given_prompt=True).score, abs=1e-12
    )
    assert api.vendi_compare(sets)["sources"] is None


def test_api_compares_models_within_repeated_prompts():
    rows = [
        {"model": model, "prompt": prompt, "text": text} for model, prompt, text in REPEATED_ROWS
    ]
    result = json_round_trip(
        api.vendi_compare([*rows, {"model": "small", "prompt": "", "text": "no"}])
    )
    assert result["within"] == len(PROMPTS)
    for row in result["rows"]:
        groups = [
            [text for m, p, text in REPEATED_ROWS if (m, p) == (row["name"], x)] for x in PROMPTS
        ]
        assert row["VS"] == pytest.approx(compute(groups)["VS"], abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"model": "a"}] * 8, 'or a row with "model", "text"'),
        ([{"model": "a", "text": "b"}, "text"], "Set 1 must be"),
        ([{"model": "a", "text": "b"}] * 8, "Two to 8 sets"),
        ([{"model": i % 2, "text": i} for i in range(8)], "must be a string"),
    ],
)
def test_api_rejects_rows_without_model_or_sample(rows, message):
    with pytest.raises(RefusedError, match=message):
        api.vendi_compare(rows)
