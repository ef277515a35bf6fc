"""Comparison of a score with reference values of equal size, length, kernel and order."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_contract import CASES

from vendiscore import as_similarity, compute, explain, list_kernels, report
from vendiscore.scoring import typical
from vendiscore.scoring.typical import compare_with_typical, select_comparable_settings
from vendiscore.support.text_detection import are_proteins

ROOT = Path(__file__).resolve().parents[3]
TABLES = typical._load_tables()
CURVES = [(table, q, name) for table in TABLES for q in (1, 2) for name in table[str(q)]]
CAPTIONS = (ROOT / "examples" / "captions" / "middling.txt").read_text(encoding="utf-8").split("\n")
CAPTIONS = [line for line in CAPTIONS if line]
LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def make_samples(table: dict[str, Any], factor: float = 1.0) -> list[str]:
    """Return strings of the middle length of a table, times a factor."""
    length = round(factor * table["lengths"][1] / 2)
    if table["kind"] == "proteins":
        return [(LETTERS * length)[:length]]
    return [" ".join(["word"] * length)]


def compare_score(
    table: dict[str, Any],
    n: int,
    q: float,
    value: float = 1.5,
    samples: Any = None,
    **changed_settings: Any,
) -> dict[str, Any]:
    """Compare a score with typical values, with settings of a table and optional changes."""
    similarity = SimpleNamespace(settings={**table["settings"], **changed_settings}, dim=None)
    sample_set: Any = SimpleNamespace(similarity=similarity, p=None)
    return compare_with_typical(
        sample_set, n, q, value, make_samples(table) if samples is None else samples
    )


def get_reference_value(table: dict[str, Any], n: int, q: float, name: str) -> float | None:
    """Return the reference value of a source at size n, or None."""
    return dict(compare_score(table, n, q)["scale"]).get(name)


def test_comparison_appears_in_details_explain_report_and_command(tmp_path, run) -> None:
    assert len(CAPTIONS) == 20
    result = compute(CAPTIONS, details=True)
    sentence, strip = result["details"]["typical"], result["details"]["strip"]
    assert sentence.startswith("For 20 texts of about 10 words by n-grams, this is between ")
    names = re.findall(r"\(([\d.]+)\)", sentence)
    assert float(names[0]) <= result["VS"] <= float(names[1])
    explained = explain(CAPTIONS)
    assert explained.sentence.endswith(sentence)
    names = strip.split("\n")[1]
    assert f"<figcaption>{names.replace(chr(39), '&#x27;')}</figcaption>" in explained._repr_html_()
    html = report(CAPTIONS).html()
    assert sentence in html.replace("&#39;", "'").replace("&#x27;", "'")
    assert '<figure class="strip"><svg' in html
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(CAPTIONS), encoding="utf-8")
    code, out, _ = run(path)
    assert (code, sentence in out, strip in out) == (0, True, True)
    code, out, _ = run("explain", path)
    assert (code, sentence in out) == (0, True)
    assert sentence not in run(path, "-b")[1]


def test_strip_shows_the_interval_if_available(tmp_path, run) -> None:
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(CAPTIONS), encoding="utf-8")
    assert "━" not in run(path)[1]
    assert "━" in run(path, "--ci")[1]
    assert "━" in report(CAPTIONS).html()
    assert "━" in compute(CAPTIONS, ci=0.9, details=True)["details"]["strip"]


def test_texts_of_few_words_have_no_comparison() -> None:
    texts = ["Look, Jane.", "See Spot.", "See Spot run.", "See Jane run."]
    result = compute(texts, ns=[1, 2], details=True)["details"]
    assert (result["typical"], result["scale"], result["strip"]) == ("", [], "")


def test_texts_of_different_lengths_use_different_tables() -> None:
    """Truncated versions of the same texts are compared with texts of their own length."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    long_texts = [" ".join(rng.choice(words, 60)) for _ in range(12)]
    result = {}
    for length in (10, 40):
        truncated = [" ".join(text.split()[:length]) for text in long_texts]
        result[length] = compute(truncated, details=True)["details"]
        assert f" of about {length} words " in result[length]["typical"]
    scale_of_10, scale_of_40 = (dict(result[length]["scale"][:-1]) for length in (10, 40))
    shared = scale_of_10.keys() & scale_of_40.keys()
    assert len(shared) >= 3
    table = {t["lengths"][1] // 2: t for t in TABLES if t["about"].endswith("words by n-grams")}
    for length, scale in ((10, scale_of_10), (40, scale_of_40)):
        assert scale.keys() == {
            name for name in scale if get_reference_value(table[length], 12, 1, name) == scale[name]
        }
    assert sum(scale_of_10[name] != scale_of_40[name] for name in shared) >= 2


@pytest.mark.parametrize("table", [t for t in TABLES if t["kind"]], ids=lambda t: t["about"])
def test_lengths_beyond_a_factor_of_two_do_not_use_the_table(table) -> None:
    description_parts = table["about"].split("{")[0], table["about"].split("}")[1]
    tables = [t for t in TABLES if t["settings"] == table["settings"]]
    for factor in (0.5, 0.7, 1.0, 1.9):
        sentence = compare_score(table, 8, 1, samples=make_samples(table, factor))["typical"]
        assert description_parts[0] in sentence
        assert description_parts[1] in sentence
    for factor in (0.45, 2.2):
        scale = compare_score(table, 8, 1, samples=make_samples(table, factor))["scale"]
        similar_tables = [t for t in tables if t["kind"] == table["kind"] and t is not table]
        assert scale in [[], *(compare_score(t, 8, 1)["scale"] for t in similar_tables)]
    assert compare_score(table, 8, 1, samples=np.zeros((8, 2)))["scale"] == []
    assert compare_score(table, 8, 1, samples=[])["scale"] == []


def test_proteins_and_texts_by_letters_have_separate_tables() -> None:
    rng = np.random.default_rng(0)
    proteins = ["".join(rng.choice(list(LETTERS), 45)) for _ in range(10)]
    result = compute(proteins, analyzer="char", details=True)["details"]
    assert "For 10 proteins of about 45 residues by n-grams of letters, " in result["typical"]
    assert dict(result["scale"])["random amino acids"] == pytest.approx(
        compute(proteins, analyzer="char")["VS"], rel=0.05
    )
    texts = compute(CAPTIONS, analyzer="char", details=True)["details"]["typical"]
    assert texts.startswith("For 20 texts of about 10 words by n-grams of letters, ")
    assert (
        compute([text.lower() for text in proteins], analyzer="char", details=True)["details"][
            "typical"
        ]
        == ""
    )
    assert are_proteins([*proteins[:9], "word"])
    assert not are_proteins([*proteins[:8], "a word", "b"])


def test_web_app_returns_the_comparison_of_compute() -> None:
    pytest.importorskip("uvicorn")
    from page_answers import score_as_json

    result = compute(CAPTIONS, details=True)["details"]
    answer = score_as_json(CAPTIONS)
    assert answer["typical"] == result["typical"] != ""
    assert answer["scale"] == result["scale"] == json.loads(json.dumps(result["scale"]))
    assert score_as_json(CAPTIONS, q=3)["scale"] == []


@pytest.mark.parametrize(("table", "q", "name"), CURVES, ids=lambda x: str(x)[:20])
def test_curves_interpolate_only_within_measured_sizes(table, q, name) -> None:
    sizes, values = table[str(q)][name]
    assert sizes == sorted(sizes)
    assert len(sizes) == len(values) >= 1
    for n, value in zip(sizes, values, strict=True):
        assert get_reference_value(table, n, q, name) == value
        assert 1 <= value <= min(n, table["most"])
    for n in (sizes[0] - 1, sizes[-1] + 1):
        assert get_reference_value(table, n, q, name) is None
    for (first_size, low), (last_size, high) in zip(
        zip(sizes, values, strict=True), zip(sizes[1:], values[1:], strict=False), strict=False
    ):
        inner_sizes = np.unique(np.linspace(first_size, last_size, 9).round().astype(int)).tolist()
        inner_values = [get_reference_value(table, n, q, name) for n in inner_sizes]
        assert inner_values == sorted(inner_values, reverse=low > high)
        assert min(low, high) <= min(inner_values) <= max(inner_values) <= max(low, high)


@given(st.integers(1, 1200), st.sampled_from(CURVES), st.floats(0.5, 1200))
def test_sentence_contains_the_nearest_values_of_the_scale(n, curve, value) -> None:
    table, q, _ = curve
    result = compare_score(table, n, q, value)
    scale = result["scale"]
    assert bool(scale) == any(
        curve_points[0][0] <= n <= curve_points[0][-1] for curve_points in table[str(q)].values()
    )
    if not scale:
        return
    values = [x for _, x in scale]
    assert values == sorted(values)
    assert scale[-1] == ["the most possible", min(n, table["most"])]
    assert scale == json.loads(json.dumps(scale))
    values_in_sentence = [
        float(x) for x in re.findall(r"\(([\d.]+)\)", result["typical"].partition("this is")[2])
    ]
    below = [x for x in values[:-1] if x < value][-1:]
    above = [x for x in values[:-1] if x >= value][:1]
    assert values_in_sentence == below + above
    assert ("at q = 2" in result["typical"]) == (q == 2)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["about"])
def test_other_options_orders_or_weights_have_no_typical_values(table) -> None:
    settings = table["settings"]
    assert compare_score(table, 8, 1)["typical"]
    similarity: Any = SimpleNamespace(settings=settings, dim=None)
    weighted: Any = SimpleNamespace(similarity=similarity, p=np.full(8, 1 / 8))
    assert (
        compare_with_typical(weighted, 8, 1, 1.5, make_samples(table))
        == typical.empty_reference_scale()
    )
    for other_order in (0, 0.5, 1.001, 1.5, 3, np.inf):
        assert compare_score(table, 8, other_order) == typical.empty_reference_scale()
    for name, value in settings.items():
        for other_value in ("another", 17, [value], [1, 2, 3]):
            assert (
                compare_score(table, 8, 1, **{name: other_value}) == typical.empty_reference_scale()
            ), name
        assert compare_score(table, 8, 1, **{name: None}) == typical.empty_reference_scale()
    changed_settings: dict[str, Any]
    for changed_settings in (
        {"normalize": True},
        {"columns": 64},
        {"tokenizer": str.split},
        {"new": 1},
    ):
        assert compare_score(table, 8, 1, **changed_settings) == typical.empty_reference_scale()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["about"])
def test_settings_of_tables_match_settings_of_kernels(table) -> None:
    settings = dict(table["settings"])
    kernel = settings.pop("kernel")
    samples, required = CASES[kernel].samples, CASES[kernel].required
    if kernel == "text_embeddings":
        assert settings["model_path"] in ("sentence-transformers/all-MiniLM-L6-v2", "wordllama")
        return
    similarity = as_similarity(samples[:4], k=kernel, **required, **settings)
    assert select_comparable_settings(similarity.settings) == table["settings"]


@pytest.mark.parametrize("name", sorted(kernel.name for kernel in list_kernels()))
@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.filterwarnings("ignore")
def test_kernels_and_options_without_table_have_no_comparison(name, n) -> None:
    samples, required = CASES[name].samples, CASES[name].required
    options = [{}, *({key: value} for key, (value, _) in CASES[name].options.items() if value)]
    options += [{"normalize": True}] if name != "linear" else []
    for option in options:
        try:
            result = compute(samples[:n], k=name, psd="clip", details=True, **required, **option)
        except (TypeError, ValueError):  # options that require other options
            continue
        comparable = select_comparable_settings(
            as_similarity(samples[:n], k=name, **required, **option).settings
        )
        tables = [
            table for table in TABLES if table["settings"] == comparable and not table["kind"]
        ]
        scale = result["details"]["scale"]
        if not any(table["settings"] == comparable for table in TABLES):
            assert not scale, option
        elif tables:
            assert bool(scale) == (n >= 4), option


@pytest.mark.parametrize(("n", "d"), [(8, 384), (100, 384), (1000, 64), (384, 384), (8, 64)])
def test_typical_scores_of_noise_match_scores_of_random_vectors(n, d) -> None:
    """Within 0.2 % at the four sizes in the docstring, and within 1 % from 64 dimensions on."""
    rng = np.random.default_rng(0)
    draws = 60 if n < 100 else 4
    result = [compute(rng.normal(size=(n, d)), k="cosine", q=[1, 2]) for _ in range(draws)]
    (table,) = typical._build_noise_tables(n, d)
    for q in (1, 2):
        mean = np.mean([scores[f"VS_q{q}"] for scores in result])
        limit = 0.01 if max(n, d) < 384 and n < 100 else 0.002
        assert table[str(q)]["isotropic noise"][1][0] == pytest.approx(mean, rel=limit)


def test_vectors_are_compared_only_with_noise() -> None:
    X = np.random.default_rng(0).normal(size=(20, 100))
    result = compute(X + 0.5, k="cosine", details=True)["details"]
    assert result["typical"] == (
        "For 20 vectors of 100 dimensions by cosines, this is below isotropic noise (18.1)."
    )
    assert result["scale"] == [["isotropic noise", 18.1], ["the most possible", 20]]
    assert compute(X.T, k="cosine", details=True)["details"]["scale"][-1][1] == 20
    for unsupported in (X[:1], X[:, :30]):
        assert compute(unsupported, k="cosine", details=True)["details"]["scale"] == []
    for options in ({"k": "rbf"}, {"k": "cosine", "q": 3}, {"k": "cosine", "p": np.full(20, 0.05)}):
        assert compute(X, details=True, **options)["details"]["scale"] == []


def test_only_plain_vendi_scores_have_a_comparison() -> None:
    texts = CAPTIONS

    def describe(samples=texts, **options) -> str:
        return compute(samples, details=True, **options)["details"]["typical"]

    assert (
        describe() == describe(q=[2, 1]) == describe(measures=["IntDiv", "VS"]) == describe(p=None)
    )
    assert describe(q=[2, 3]) == describe(q=2) != describe()
    assert "at q = 2" in describe(q=2)
    assert describe(measures=["IntDiv"]) == ""
    assert describe(p=np.full(20, 0.05)) == ""
    assert describe(prompts="What happens on the beach?", given_prompt=True) == ""
    assert describe(k=lambda a, b: float(a == b)) == ""
    assert describe(k={"ngram_overlap": 0.5, "word_overlap": 0.5}) == ""
    assert describe(as_similarity(texts).dense(), score_K=True) == ""
    assert (
        describe(as_similarity(texts)) == ""
    )  # a Similarity has no texts, so their length is unknown
    assert describe(ns=2) == ""
    assert describe(analyzer="word") == describe()


def test_results_do_not_share_a_scale() -> None:
    first = compute(CAPTIONS[:3], details=True)["details"]["scale"]
    first.append(1)
    assert compute(CAPTIONS[:3], details=True)["details"]["scale"] == []


def test_groups_of_equal_size_are_compared_by_their_mean() -> None:
    groups = [CAPTIONS[:8], CAPTIONS[8:16]]
    result = compute(groups, details=True)
    sentence = result["details"]["typical"]
    assert sentence.startswith("For 8 texts of about 11 words by n-grams, this is ")
    mean = np.mean([compute(group)["VS"] for group in groups])
    neighbours = [float(x) for x in re.findall(r"\(([\d.]+)\)", sentence)]
    assert min(neighbours) <= mean <= max(neighbours)
    assert compute([*groups, CAPTIONS[:3]], details=True)["details"]["typical"] == ""


def test_comparison_depends_on_model_but_not_on_device() -> None:
    table = next(t for t in TABLES if t["settings"]["kernel"] == "text_embeddings")
    encoder_settings = {"device": "cuda:0", "batch_size": 7, "dims": 384, "revision": "c9745ed"}
    encoder_settings |= {"pooling_from": "given"}
    sentence = compare_score(table, 8, 1, 4.0, **encoder_settings)["typical"]
    assert sentence.startswith("For 8 texts of about 10 words by MiniLM, this is ")
    for changed_settings in (
        {"model_path": "BAAI/bge-small-en"},
        {"pooling": "cls"},
        {"max_length": 64},
    ):
        assert not compare_score(table, 8, 1, 4.0, **encoder_settings, **changed_settings)[
            "typical"
        ]


def test_packaged_values_match_benchmark_results_and_are_small() -> None:
    results = ROOT / "benchmarks" / "results" / "typical_values.json"
    rows = json.loads(results.read_text(encoding="utf-8"))["rows"]
    assert Path(typical.__file__).with_name("typical_values.json").stat().st_size < 60_000
    rows = [row for row in rows if row["kind"] != "vectors"]
    n_values = sum(len(table[q][name][0]) for table in TABLES for q in "12" for name in table[q])
    assert n_values == len(rows)
    for row in rows:
        description = f"{row['kind']} by {row['by']}"
        (table,) = (
            table
            for table in TABLES
            if table["settings"] == row["settings"]
            and re.sub(" of about .*? (words|residues)", "", table["about"]) == description
            and table["lengths"][1] == 2 * (row["length"] or 0)
        )
        sizes, values = table[str(row["q"])][row["source"]]
        assert values[sizes.index(row["n"])] == float(f"{row['VS']:.3g}")
        assert row["VS_low"] <= row["VS"] <= row["VS_high"]
    assert len({row["source"] for row in rows}) >= 20
    for kind in ("images", "molecules", "proteins"):
        assert len({row["source"] for row in rows if row["kind"] == kind}) >= 4


@pytest.mark.filterwarnings("ignore:.* is one word; ")
def test_value_of_people_matches_score_of_their_answers(answers) -> None:
    """Answers with a median of 5 to 20 words are unchanged, longer answers are cut to ten words."""
    (table,) = (
        t for t in TABLES if t["about"].endswith("words by n-grams") and t["lengths"] == [5, 20]
    )
    starts = [i for i, text in enumerate(answers) if text == "human"]
    starts = [i for i in starts if answers[i + 1].startswith("curated-")]
    assert len(starts) == 100
    sets = [answers[i + 3 : i + 11] for i in starts]  # after id and prompt
    selected = []
    for texts in sets:
        if not 5 <= np.median([len(text.split()) for text in texts]) <= 20:
            texts = [" ".join(text.split()[:10]) for text in texts if len(text.split()) >= 10]
        selected += [texts] if len(texts) == 8 else []
    result = compute(selected)["VS"]
    assert table["1"]["eight people"][1][1] == pytest.approx(result, rel=5e-3)


def test_wording_note_matches_benchmark_and_applies_only_to_ngrams():
    name = "n-grams of 1 to 4 words (the default)"
    path = ROOT / "benchmarks" / "results" / "people" / "human_scores.json"
    result = json.loads(path.read_text(encoding="utf-8"))["rows"]
    (row,) = (
        row
        for row in result
        if (row.get("name"), row.get("prompt"), row.get("measure")) == (name, False, "VS, q = 1")
    )
    accuracies = [label["accuracy"] for label in row["labels"] if label["test"] == "McDiv_nuggets"]
    assert [round(accuracy, 2) for accuracy in accuracies] == list(typical.HARD_SET_ACCURACIES)
    assert typical.describe_wording_limits({"kernel": "ngram_overlap"}) == typical.WORDING_NOTE
    assert typical.describe_wording_limits({"kernel": "ngram_overlap"}, "") == typical.NGRAM_LIMITS
    assert typical.describe_wording_limits({"kernel": "cosine"}) == ""
