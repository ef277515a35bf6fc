"""Comparisons in the web app and its API match `vendiscore.compare`."""

import functools
import itertools
import json
import math
import re
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from page_answers import (
    check_comparison,
    compare_as_json,
    json_round_trip,
    make_clusters,
    make_samples,
)
from populations import draw_sentences

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import compare, compute
from vendiscore.result import key_at
from vendiscore.tools.analysis.comparison import Comparison, PairRow, SetRow
from vendiscore_page.answers import api, several_sets
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.inputs import examples, uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.quotas import RefusedError

RNG = np.random.default_rng(0)
SETS = {
    "old": draw_sentences(RNG, 40),
    "new": draw_sentences(RNG, 50),
    "narrow": draw_sentences(RNG, 60, concentration=0.8),
}
NS = {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}


@functools.cache
def default_comparison():
    """Return the cached comparison of SETS; tests must not change it."""
    return compare_as_json(SETS)


@pytest.mark.filterwarnings("ignore:intervals have width 0")  # at order 0 all have full rank
@pytest.mark.parametrize("q", [0, 1, math.inf])
def test_identical_sets_show_no_difference(q):
    texts = draw_sentences(np.random.default_rng(0), 20)
    answer = compare_as_json({"A": texts, "B": texts}, q=q)
    assert answer["pairs"][0]["verdict"] == "no difference shown"
    assert answer["sentence"].startswith("No difference shown between ")


def test_sets_of_same_population_rarely_differ():
    n_differences = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        answer = compare_as_json({"A": draw_sentences(rng, 20), "B": draw_sentences(rng, 30)})
        n_differences += answer["pairs"][0]["verdict"] in ("more diverse", "less diverse")
    assert n_differences <= 1


@pytest.mark.parametrize("n", [1, 3])
def test_comparison_rejects_small_sets(n):
    message = f"Set mine has too few samples for a comparison: {n}; "
    with pytest.raises(RefusedError, match=message):
        compare_as_json({"mine": [f"x{i}" for i in range(n)], "yours": ["same"] * 20})


def test_comparison_matches_library():
    answer = default_comparison()
    expected = compare(SETS, **NS)
    check_comparison(answer, expected)
    assert answer["matched_size"] == 40
    assert answer["sentence"] == "new and old are more diverse than narrow."
    assert answer["comparison"] == "n-grams of 1–4 words · q 1"
    verdicts = [pair["verdict"] for pair in answer["pairs"]]
    assert verdicts == ["no difference shown", "more diverse", "more diverse"]
    assert [row["name"] for row in answer["rows"]] == ["new", "old", "narrow"]
    assert answer["signature"].startswith("compare|kernel=ngram_overlap|")
    assert [picture["name"] for picture in answer["pictures"]] == ["matched"]


def test_api_matches_page_and_names_sets():
    answer = json_round_trip(api.vendi_compare(SETS))
    page = default_comparison()
    for name in ("sentence", "verdicts", "rows", "pairs", "signature", "matched_size", "level"):
        assert answer[name] == page[name]
    unnamed = api.vendi_compare([SETS["narrow"], SETS["old"]])
    assert [row["name"] for row in unnamed["rows"]] == ["B", "A"]
    assert unnamed["pairs"][0]["verdict"] == "more diverse"


def test_comparison_contains_all_pairs_of_sets():
    sets = {f"set {i}": make_clusters(12, 2, i) for i in range(5)}
    answer = compare_as_json(sets, "vectors", "cosine")
    assert len(answer["pairs"]) == 10
    assert answer["level"] == 0.95
    eight_sets_answer = compare_as_json(
        {f"{i}": make_clusters(4, 2, i) for i in range(8)}, "vectors", "rbf"
    )
    assert len(eight_sets_answer["rows"]) == 8
    bars = re.findall(
        r"stroke: (#\w+);[^\"]*stroke-width: 2\.5", eight_sets_answer["pictures"][0]["svg"]
    )
    assert len(set(bars)) == len(bars) == 8  # different colours


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.vendi_compare([["a"]]), "Two to 8 sets"),
        (lambda: api.vendi_compare([["a"]] * 9), "Two to 8 sets"),
        (lambda: api.vendi_compare("ab"), "Expected sets or rows"),
        (lambda: api.vendi_compare([["a"], "b"]), "Set 1 must be a list of texts"),
        (lambda: api.vendi_compare([["a"], ["b"]], kind="files"), "Unknown kind"),
        (lambda: api.vendi_compare([["a"], ["b"]]), "Set A has too few samples"),
        (lambda: api.vendi_compare([["a"] * 4] * 2, prompts=[["x"]]), "or 8 prompts"),
        (lambda: api.vendi_compare([["a"] * 1001] * 2), "More than 1,000"),
        (
            lambda: api.vendi_compare([[[1]] * 4, [[1, 2]] * 4], "vectors", "rbf"),
            "the same number of columns",
        ),
        (lambda: api.vendi_compare([np.eye(4).tolist()] * 2, "vectors", "K"), "matri"),
        (lambda: compare_as_json({"A": ["a"] * 4}), "Two to 8 sets"),
        (lambda: compare_as_json({"A": np.eye(4), "B": np.eye(4)}, "vectors", "K"), "matri"),
        (
            lambda: compare_as_json({"A": ["a"] * 4, "B": make_samples(["C"] * 4, "molecules")}),
            "same type of samples",
        ),
    ],
)
def test_comparison_rejects_invalid_sets(call, message):
    with pytest.raises(RefusedError) as caught:
        call()
    assert message in str(caught.value)


def test_unusable_samples_are_listed_by_set_or_dropped():
    sets = {"A": ["CCO", "CC", "CCC", "C"], "B": ["CO", "XX", "CC", "CCCC", "c1ccccc1"]}
    with pytest.raises(UnusableError) as caught:
        compare_as_json(sets, "molecules", "morgan")
    assert "B, line 2" in str(caught.value)
    answer = compare_as_json(sets, "molecules", "morgan", leave_out=True)
    assert {row["name"]: row["n"] for row in answer["rows"]} == {"A": 4, "B": 4}
    assert any(note.startswith("B: Not used: 1 of 5") for note in answer["notes"])
    assert ("B", 2) not in zip(answer["map"]["set"], answer["map"]["place"], strict=True)


def test_large_sets_are_subsampled_and_compared_at_size_100():
    sets = {"A": make_clusters(110, 3), "B": make_clusters(1_050, 3, 1)}
    answer = compare_as_json(sets, "vectors", "cosine")
    assert answer["matched_size"] == 100
    assert {row["name"]: row["n"] for row in answer["rows"]} == {"A": 110, "B": 1_000}
    assert answer["notes"][0].startswith("B: A random subset of 1,000 of 1,050 vectors")


def test_vector_sets_share_bandwidth():
    a, b = (np.array([[0.0], [1.0], [2.0], [3.0]]) * times for times in (1, 100))
    signature = api.vendi_compare([a.tolist(), b.tolist()], "vectors", "rbf")["signature"].split(
        "|"
    )
    pooled_signature = compute(np.concatenate([a, b]), k="rbf", details=True)["details"][
        "signature"
    ]
    assert next(
        entry for entry in signature if entry.startswith("sigma=")
    ) in pooled_signature.split("|")


def test_comparison_reports_progress_in_percent():
    sets = {
        name: make_samples(make_clusters(60, 80, seed), "vectors") for seed, name in enumerate("AB")
    }
    notes = list(several_sets.compare(sets, Settings("cosine")))
    assert notes[:2] == ["Comparing.", "Comparing: 0 % done."]
    assert 3 <= len(notes) <= 20


@pytest.mark.parametrize("pairing", examples.PAIRINGS, ids=lambda pairing: pairing["name"])
def test_comparison_examples_have_expected_sizes(pairing):
    kernel = {"texts": "ngram_overlap", "molecules": "morgan", "vectors": "rbf"}[pairing["kind"]]
    sets = {
        entry["name"]: uploads.read(
            UserInput(), InputSettings(kind=pairing["kind"], example=entry["example"])
        )
        for entry in pairing["sets"]
    }
    answer = compare_as_json(sets, pairing["kind"], kernel)
    sizes = {name: len(samples) for name, samples in sets.items()}
    if len(sets) == 1:  # one table contains the sets
        sizes = Counter(next(iter(sets.values())).sets)
    assert {row["name"]: row["n"] for row in answer["rows"]} == sizes


def read_table(sets: dict, extra_rows: str = "", **options):
    """Return samples of one table with shuffled rows and a column of set names."""
    rows = [(name, text) for name, texts in sets.items() for text in texts]
    rows = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    table = "model,answer\n" + "".join(f"{name},{text}\n" for name, text in rows) + extra_rows
    return uploads.read(
        UserInput(text=table), InputSettings(by="model", column="answer", **options)
    )


def test_groups_of_table_are_compared_as_sets():
    samples = read_table(SETS)
    answer = compare_as_json({"A": samples})
    check_comparison(answer, compare(samples.values, by=samples.groups, **NS))
    assert answer["notes"] == samples.result_notes
    text_of_row = dict(zip(samples.places, samples.values, strict=True))
    points = answer["map"]
    for name, row_number, text in zip(points["set"], points["place"], points["text"], strict=True):
        assert text_of_row[row_number] == text
        assert text in SETS[name]


def test_rows_without_group_are_rejected_or_dropped():
    small_sets = {name: texts[:15] for name, texts in SETS.items()}
    samples = read_table(small_sets, extra_rows=",nobody said this\nold,\n")
    with pytest.raises(UnusableError, match="2 of 47 texts cannot be used: row 47") as caught:
        compare_as_json({"A": samples})
    assert caught.value.rows == "rows 47 and 48"
    answer = compare_as_json({"A": samples}, leave_out=True)
    assert sum(row["n"] for row in answer["rows"]) == 45
    assert any("row 47" in note and "has no group" in note for note in answer["notes"])
    assert any(note.startswith("old: Not used") and "row 48" in note for note in answer["notes"])


def test_comparison_rejects_too_few_or_too_many_groups():
    message = r"Two to 8 sets or groups can be compared, got {}; add a set, or select the column"
    with pytest.raises(RefusedError, match=message.format("one set without groups")):
        compare_as_json({"A": SETS["old"]})
    with pytest.raises(RefusedError, match=message.format("1 in column 'model'")):
        compare_as_json({"A": read_table({"old": SETS["old"]})})
    with pytest.raises(RefusedError, match=message.format("9 in column 'model'")):
        compare_as_json({"A": read_table({f"m{i}": SETS["old"][:4] for i in range(9)})})
    with pytest.raises(RefusedError, match="Set few has too few samples for a comparison: 3"):
        compare_as_json({"A": read_table({"few": SETS["old"][:3], "many": SETS["new"]})})


@pytest.mark.parametrize("kind", ["molecules", "vectors"])
def test_groups_of_each_sample_type_are_compared_as_sets(kind):
    values = {
        "molecules": ["CCO", "CCC", "CCCO", "c1ccccc1", "CCN", "CCCl", "CC=O", "C1CC1"],
        "vectors": make_clusters(8),
    }[kind]
    samples = make_samples(values, kind, groups=[*"aabbabab"])
    answer = compare_as_json({"A": samples}, kind, "morgan" if kind == "molecules" else "cosine")
    assert sorted((row["name"], row["n"]) for row in answer["rows"]) == [("a", 4), ("b", 4)]


def test_pasted_nested_lists_are_compared_as_sets():
    text = json.dumps([SETS["old"], SETS["new"]])
    answer = compare_as_json({"A": uploads.read(UserInput(text=text))})
    assert {row["name"]: row["n"] for row in answer["rows"]} == {"element 1": 40, "element 2": 50}


def test_standing_describes_differences_in_words():
    rows = {name: SetRow(name, 9, *[1.0] * 3, 1.0, 9, *[1.0] * 4) for name in "ABCD"}

    def describe_standing(**differences: float) -> str:
        pairs = [
            PairRow(
                *pair,
                difference := differences.get("".join(pair), 0.0),
                difference,
                difference,
                0,
                0.01,
                99,
            )
            for pair in itertools.combinations(rows, 2)
        ]
        pairs = [replace(row, high=3.0) if abs(row.difference) == 0.5 else row for row in pairs]
        result = Comparison(tuple(rows.values()), tuple(pairs), 1.0, 0.95)
        return several_sets.describe_ranking(result)

    assert describe_standing() == "No difference shown between A, B, C and D."
    assert describe_standing(AB=1) == "A is more diverse than B."
    assert describe_standing(AB=-1, BC=1) == "B is more diverse than A and C."
    assert describe_standing(AC=1, BC=1, AD=1, BD=1) == "A and B are more diverse than C and D."
    unclear = "but the data do not show which is more diverse."
    assert describe_standing(AB=-0.5) == f"A and B differ, {unclear}"
    assert describe_standing(AB=-0.5, AC=-0.5) == f"A differs from B and C, {unclear}"
    assert (
        describe_standing(AB=1, CD=-0.5) == f"A is more diverse than B; C and D differ, {unclear}"
    )
    assert describe_standing(AB=1, CD=-2) == "A is more diverse than B; D is more diverse than C."


def make_graded_rows(n_models: int = 3, n_prompts: int = 6, missing: int = 0):
    """Return models, prompts, answers and whether they are correct; some cells are missing."""
    rng = np.random.default_rng(3)
    rows = [
        (f"m{model}", f"p{prompt}", draw_sentences(rng, 1)[0], bool(rng.random() < 0.8))
        for prompt in range(n_prompts)
        for model in range(n_models)
        for _ in range(6)
        if (prompt * n_models + model) % 5 or not missing
    ]
    rng.shuffle(rows)
    models, prompts, texts, correct = zip(*rows, strict=True)
    return (
        list(map(str, models)),
        list(map(str, prompts)),
        list(map(str, texts)),
        [str(each) == "True" for each in correct],
    )


@pytest.mark.parametrize("q", [1, 2])
def test_incomplete_table_matches_library(q):
    models, prompts, texts, _ = make_graded_rows(missing=1)
    samples = make_samples(texts, sets=models, groups=prompts)
    answer = compare_as_json({"A": samples}, q=q)
    with pytest.warns(UserWarning, match=r"cells \(set × prompt\) are missing"):
        expected = compare(texts, by=models, groups=prompts, q=q, **NS)
    if q == 1:
        check_comparison(answer, expected)
    differences = sorted(abs(pair["difference"]) for pair in answer["pairs"])
    expected_differences = sorted(abs(row.difference) for row in expected.pairs)
    assert differences == pytest.approx(expected_differences)
    assert answer["missing_cells"] == expected.missing_cells == 4
    assert answer["within"] == 6
    assert any(
        note.startswith("4 of 18 cells (set × prompt) are missing") for note in answer["notes"]
    )
    assert sum(value is None for row in answer["matrix"][key_at(q)] for value in row) == 4


def test_complete_table_has_no_missing_cells():
    models, prompts, texts, _ = make_graded_rows()
    answer = compare_as_json({"A": make_samples(texts, sets=models, groups=prompts)})
    assert answer["missing_cells"] == 0
    assert answer["notes"] == []


@pytest.mark.parametrize("missing", [0, 1])
def test_correct_answers_match_library(missing):
    models, prompts, texts, correct = make_graded_rows(missing=missing)
    samples = make_samples(texts, sets=models, groups=prompts, correct=correct, correct_by="passed")
    answer = compare_as_json({"A": samples})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = compare(texts, by=models, groups=prompts, correct=correct, **NS)
    rows = {frozenset((row.a, row.b)): row for row in expected.quality_parts}
    assert answer["quality"]["column"] == "passed"
    assert [(row["a"], row["b"]) for row in answer["quality"]["parts"]] == [
        (pair["a"], pair["b"]) for pair in answer["pairs"]
    ]
    for entry in answer["quality"]["parts"]:
        row = rows.pop(frozenset((entry["a"], entry["b"])))
        sign = 1 if row.a == entry["a"] else -1
        for name in ("total", "among_correct", "from_failures"):
            value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
            values = [entry[name], entry[f"{name}_low"], entry[f"{name}_high"]]
            assert values == pytest.approx([sign * value, *sorted([sign * low, sign * high])])
        assert (entry["size"], entry["prompts"]) == (row.size, row.prompts)
        assert entry["sentence"].startswith(("Among correct answers, ", "No difference in "))
        if sign == 1:
            assert entry["sentence"] == row.sentence


def test_too_few_correct_answers_are_reported_with_comparison():
    models, prompts, texts, correct = make_graded_rows()
    samples = make_samples(texts, sets=models, groups=prompts, correct=[False] * len(correct))
    answer = compare_as_json({"A": samples})
    assert answer["quality"]["parts"] == []
    assert (
        "requires at least 3 prompts with at least 2 correct answers"
        in answer["quality"]["problem"]
    )
    assert len(answer["pairs"]) == 3


def test_correct_answers_without_prompts_are_not_compared():
    models, _, texts, correct = make_graded_rows()
    answer = compare_as_json({"A": make_samples(texts, sets=models, correct=correct)})
    assert answer["quality"] is None
    assert any(note.startswith("Correct answers are not compared, ") for note in answer["notes"])


def test_api_compares_correct_answers_of_rows():
    rows = [
        {"model": model, "prompt": prompt, "text": text, "correct": correct}
        for model, prompt, text, correct in zip(*make_graded_rows(missing=1), strict=True)
    ]
    answer = json_round_trip(api.vendi_compare(rows))
    models, prompts, texts, correct = make_graded_rows(missing=1)
    page = compare_as_json({"A": make_samples(texts, sets=models, groups=prompts, correct=correct)})
    assert answer["missing_cells"] == 4
    assert answer["quality"]["parts"] == page["quality"]["parts"]
    assert len(answer["quality"]["parts"]) == 3
    with pytest.raises(RefusedError, match='"correct" must be true or false in all rows'):
        api.vendi_compare([*rows[:-1], {**rows[-1], "correct": "yes"}])
    with pytest.raises(RefusedError, match='"correct" must be true or false in all rows'):
        api.vendi_compare([*rows[:-1], {**rows[-1], "correct": None}])
    with pytest.raises(RefusedError, match='"correct" requires rows with prompts'):
        api.vendi_compare([{**row, "prompt": ""} for row in rows])
